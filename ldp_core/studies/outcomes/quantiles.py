"""Quantiles read off noisy running totals, and how wrong they are (Cormode et al. 2019, Section 4.7 and Figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.workloads import AllRange, Histogram, OnAttributes, Prefix, Union, WidthRange, Workload
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
    there; elsewhere it is the nearer of these two less the share asked for: positive where the type is too high.
    """
    up_to = np.cumsum(counts) / np.sum(counts)
    below = np.concatenate([[0.0], up_to[:-1]])
    asked = np.asarray(quantiles)
    return np.maximum(below[places] - asked, 0.0) + np.minimum(up_to[places] - asked, 0.0)


@dataclass(frozen=True, eq=False)
class Scale:
    """An order of the types, or of the values of one attribute: numbers ``values`` (k,) that stand for them, increasing, and the
    ``unit`` of these; what they are values of; their ``labels`` (None: those of the types); and the workload of running
    ``totals`` along them."""

    values: np.ndarray
    unit: str
    of: str = "type"
    labels: Sequence[str] | None = None
    totals: Workload | None = None

    def __post_init__(self):
        if self.totals is None:
            object.__setattr__(self, "totals", Prefix(len(self.values)))


def scale_of(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order along which ``workload`` has quantiles, given the attributes of its types; None where it has none.

    Running totals and ranges have the order that they go along, histograms that of their attribute; a union has that of
    the first part that has any. Bins are stood for by their middles, other types by their numbers.
    """
    if isinstance(workload, Union):
        return next((found for part in workload.parts if (found := scale_of(part, axes)) is not None), None)
    base, totals, axis = workload, Prefix(workload.n), axes[0] if len(axes) == 1 else None
    if isinstance(workload, OnAttributes):
        if len(workload.kept) != 1 or workload.used[0] < workload.shape[workload.kept[0]]:
            return None  # quantiles of everybody need everybody to have a place in the order
        base, axis = workload.base, axes[workload.kept[0]]
        totals = OnAttributes(workload.shape, workload.kept, Prefix(base.n))
    plain = axis is not None and axis.size == base.n and axis.ordered and axis.ordinary == axis.size
    if not isinstance(base, Prefix | AllRange | WidthRange) and not (isinstance(base, Histogram) and plain):
        return None
    of, labels = ("type", None) if axis is None else (axis.name, axis.labels)
    if plain and len(axis.edges):
        edges = np.asarray(axis.edges)
        return Scale(edges[:-1] + np.diff(edges) / 2, axis.name, of, labels, totals)
    return Scale(np.arange(base.n, dtype=float), "types", of, labels, totals)
