"""Types: how many people have them, and which of them share a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
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


def reports(strategy: np.ndarray, labels: Sequence[str], prior: np.ndarray | None = None) -> pd.DataFrame:
    """probability, types, high, low, group of every report of ``strategy`` (m, n), the commonest first.

    ``probability`` that somebody sends it, types weighted by ``prior`` (evenly for None); ``group`` names the ``types`` that
    send it more often (nearer its highest probability ``high`` than its lowest ``low``, on the scale of the logarithm).
    """
    n = strategy.shape[1]
    shares = strategy @ (np.full(n, 1 / n) if prior is None else prior)
    high, low = strategy.max(axis=1), strategy.min(axis=1)
    inside = strategy > np.sqrt(high * low)[:, None]
    frame = pd.DataFrame(
        {
            "probability": shares,
            "types": inside.sum(axis=1),
            "high": high,
            "low": low,
            "group": [group_name(np.flatnonzero(row), labels) for row in inside],
        }
    )
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def group_name(types: np.ndarray, labels: Sequence[str]) -> str:
    """The names of types (indices, increasing), neighbours as "first to last": "[0, 5) to [20, 25); [40, 45)"."""
    if not len(types):
        return "nobody in particular"
    runs = np.split(types, np.flatnonzero(np.diff(types) > 1) + 1)
    names = [labels[run[0]] if len(run) == 1 else f"{labels[run[0]]} to {labels[run[-1]]}" for run in runs]
    return "; ".join(names)
