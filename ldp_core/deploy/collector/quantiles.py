"""Quantiles along the orders that a design asks about, with intervals that hold together.

The running totals T along an order have intervals at a level of 1 - (1 - p)/k each, k their number, and all of them hold together with a
probability of p (Bonferroni). True totals rise, so that ends do as well. A quantile is the first value whose total
reaches its share of everybody with a place in the order: it lies from the first value where the upper end reaches that to the first where the
lower end does, for all shares at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.deploy.collector.answering import KINDS
from ldp_core.deploy.collector.collection import Collection
from ldp_core.limits import MOST_EXACT_TYPES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.studies.outcomes import positions, scales_of
from ldp_core.workloads import Workload, axes_of

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Of the quantiles that are given."""
MEANING = "The intervals of these quantiles hold all together."


def quantiles(
    collection: Collection,
    mechanism: Mechanism,
    workload: Workload,
    attributes: Any,
    level: float = 0.95,
    kind: str = "fixed",
    drawn: bool = False,
) -> pd.DataFrame:
    """Quantiles from the unbiased running totals, of those who reported.

    Parameters
    ----------
    collection, mechanism, attributes
        As of `associating.associations`.
    workload : Workload
        The questions.
    level, kind, drawn : float, str, bool
        Of the intervals: see `answers`.

    Returns
    -------
    DataFrame
        ``of`` (the column), ``share``, and the labels ``value``, ``low`` and ``high``; no row where running totals do not follow from the
        questions, or have more than `MOST_EXACT_TYPES` values.
    """
    found, estimate = [], mechanism.estimate(collection.reports)
    for scale in scales_of(workload.without_strata, axes_of(attributes)):
        k, wanted = len(scale.values), np.array(SHARES)[:, None] * (1 - 1e-9)
        if k > MOST_EXACT_TYPES or mechanism.supports(scale.totals) is not None:
            continue
        given = (mechanism, scale.totals, estimate, 1 - (1 - level) / k, np.arange(k), collection.users, drawn)
        low, high = KINDS[kind](*given).ends.T
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        totals, users = estimate.answers(scale.totals), collection.users
        least, whole, most = (low[-1], totals[-1], high[-1]) if scale.left_out else (users,) * 3
        ends = [(np.append(end, np.inf) >= wanted * all_).argmax(axis=1) for end, all_ in ((high, least), (low, most))]
        columns = {"value": positions(totals, whole, SHARES), "low": ends[0], "high": np.minimum(ends[1], k - 1)}
        names = np.arange(k).astype(str) if scale.labels is None else np.array(scale.labels[:k])
        named = {name: names[np.minimum(places, k - 1)] for name, places in columns.items()}
        found.append(pd.DataFrame({"of": scale.of, "share": SHARES, **named}))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def table(found: pd.DataFrame) -> pd.DataFrame:
    """The quantiles as they are shown."""
    shown = found.assign(share=[wording.share(share) for share in found["share"]])
    return shown.set_axis(["Quantile of", "People up to it", "Value", "Low", "High"], axis=1)
