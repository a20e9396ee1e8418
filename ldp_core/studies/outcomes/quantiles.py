"""Quantiles read off noisy running totals, and how wrong they are (Cormode et al. 2019, Section 4.7 and Figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core import wording
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
    """(..., k) quantile errors, shares with a sign, of the types ``places`` (..., k) when they are taken for the ``quantiles`` of
    users ``counts`` (n,).

    A type is the right answer for every share from that of the users below it to that of the users up to it. Its error is 0
    there; elsewhere it is the nearer of these two less the share asked for: positive where the type is too high.
    """
    up_to = np.cumsum(counts) / np.sum(counts)
    below = np.concatenate([[0.0], up_to[:-1]])
    asked = np.asarray(quantiles)
    return np.maximum(below[places] - asked, 0.0) + np.minimum(up_to[places] - asked, 0.0)


@dataclass(frozen=True, eq=False)
class Scale:
    """An order of the types, or of the values of one attribute.

    Attributes:
        values: (k,) increasing numbers that stand for them.
        unit: of these numbers.
        totals: the workload of running totals along them.
        of: what they are values of.
        labels: their names (None: those of the types).
    """

    values: np.ndarray
    unit: str
    totals: Workload
    of: str = "type"
    labels: Sequence[str] | None = None

    def __repr__(self) -> str:
        return f"<Scale: {len(self.values):,} values of {wording.shortened(self.of, 40)}, in {wording.shortened(self.unit, 40)}>"


def scale_of(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order along which ``workload`` has quantiles, given the attributes of its types; None where it has none.

    Running totals and ranges have the order that they go along, histograms that of their attribute; a union has that of
    the first part that has any. The value of a bin is its middle, that of any other type its number.
    """
    if isinstance(workload, Union):
        return next((found for part in workload.parts if (found := scale_of(part, axes)) is not None), None)
    axis = axes[0] if len(axes) == 1 else None
    base: Workload = workload
    totals: Workload = Prefix(workload.n)
    if isinstance(workload, OnAttributes):
        if len(workload.kept) != 1 or workload.used[0] < workload.shape[workload.kept[0]]:
            return None  # quantiles of everybody need everybody to have a place in the order
        base, axis = workload.base, axes[workload.kept[0]]
        totals = OnAttributes(workload.shape, workload.kept, Prefix(base.n))
    in_order = axis is not None and axis.size == base.n and axis.ordered and axis.ordinary == axis.size
    if not isinstance(base, Prefix | AllRange | WidthRange) and not (isinstance(base, Histogram) and in_order):
        return None
    of, labels, edges = ("type", None, ()) if axis is None else (axis.name, axis.labels, axis.edges)
    if in_order and len(edges):
        ends = np.asarray(edges)
        return Scale(ends[:-1] + np.diff(ends) / 2, of, totals, of, labels)
    return Scale(np.arange(base.n, dtype=float), "types", totals, of, labels)
