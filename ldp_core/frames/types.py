"""Types: how many people have them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ldp_core import workloads
from ldp_core.people import Counts, people_of


def per_attribute(domain: Any, counts: Counts) -> pd.DataFrame:
    """attribute, type, users, share: the marginal of each attribute of ``domain``, from counts (n,) of its types or people.

    ``type`` is the label. ValueError for counts of another shape.
    """
    axes = workloads.axes_of(domain)
    everybody = people_of(counts, [axis.size for axis in axes])
    users, parts = max(float(everybody.users), 1.0), []
    for i, axis in enumerate(axes):
        marginal = everybody.table([i])
        columns = {"attribute": axis.name, "type": axis.labels[:], "users": marginal, "share": marginal / users}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
