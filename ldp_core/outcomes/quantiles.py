"""Quantiles read off noisy running totals, and how wrong they are (Cormode et al. 2019, Section 4.7 and Figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.workloads import Workload
from ldp_core.workloads.axes import Axis

QUANTILES = tuple(k / 10 for k in range(1, 10))


def positions(totals: np.ndarray, users: float, quantiles: Sequence[float] = QUANTILES) -> np.ndarray:
    """(..., k) types (from 0) at which the running ``totals`` (..., n) of ``users`` people reach the given shares.

    By bisection, as in the paper: noise makes totals go up and down, and bisection meets one of the crossings without
    favouring the first.
    """
    n, wanted = totals.shape[-1], np.asarray(quantiles) * users
    wanted = wanted - 1e-9 * users  # a share reached exactly must not be missed by rounding
    low = np.zeros((*totals.shape[:-1], len(wanted)), dtype=np.int64)
    high = np.full_like(low, n - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        reached = np.take_along_axis(totals, middle, axis=-1) >= wanted
        # A search that has ended (low = high) stays where it is while others go on.
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    return low


def rank_errors(places: np.ndarray, counts: np.ndarray, quantiles: Sequence[float] = QUANTILES) -> np.ndarray:
    """(..., k) quantile errors, shares with a sign, of types ``places`` (..., k) said to be the ``quantiles`` of users
    ``counts`` (n,).

    A type is the right answer for every share from that of the users below it to that of the users up to it. Its error is 0
    there; else the nearer of these two less the share asked for: positive where the type is too high.
    """
    up_to = np.cumsum(counts) / np.sum(counts)
    below = np.concatenate([[0.0], up_to[:-1]])
    asked = np.asarray(quantiles)
    return np.maximum(below[places] - asked, 0.0) + np.minimum(up_to[places] - asked, 0.0)


@dataclass(frozen=True, eq=False)
class Scale:
    """An order of the types: numbers ``values`` (n,) that stand for them, increasing, and the ``unit`` of these."""

    values: np.ndarray
    unit: str


def scale_of(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order along which ``workload`` has quantiles, given the attributes of its types; None where it has none.

    Running totals and ranges have the order that they go along, histograms that of their attribute. Bins are stood for by
    their middles, other types by their numbers.
    """
    axis = axes[0] if len(axes) == 1 and axes[0].size == workload.n else None
    plain = axis is not None and axis.ordered and axis.ordinary == axis.size
    if workload.kind not in ("prefix", "all_range", "width_range") and not (workload.kind == "histogram" and plain):
        return None
    if plain and axis.edges is not None:
        edges = np.asarray(axis.edges)
        return Scale(edges[:-1] + np.diff(edges) / 2, axis.name)
    return Scale(np.arange(workload.n, dtype=float), "types")
