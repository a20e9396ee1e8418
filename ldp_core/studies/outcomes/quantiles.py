"""Quantiles taken from noisy running totals, and how wrong they are (Cormode et al. 2019, Section 4.7 and Figure 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldp_core import wording
from ldp_core.limits import MOST_QUANTILE_COLUMNS
from ldp_core.workloads import (
    AllRange,
    Histogram,
    OnAttributes,
    Prefix,
    Product,
    Survey,
    Union,
    WidthRange,
    Workload,
    spans,
)
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.surveys import Group

QUANTILES = tuple(k / 10 for k in range(1, 10))
LEAST_VALUES = 3
"""A distribution over fewer values says no more than a share does."""


def positions(totals: np.ndarray, users: float | np.ndarray, quantiles: Sequence[float] = QUANTILES) -> np.ndarray:
    """(..., k) types (from 0) at which the running ``totals`` (..., n) of ``users`` people, a number or (..., 1), reach the given shares.

    By bisection, as in the paper: noise makes totals go up and down, and bisection meets one of the crossings without
    favouring the first.
    """
    n, wanted = totals.shape[-1], np.asarray(quantiles) * users
    wanted = wanted - 1e-9 * users  # a share reached exactly must not be missed by rounding
    low = np.zeros((*totals.shape[:-1], len(quantiles)), dtype=np.int64)
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
    shares = np.asarray(quantiles)
    return np.maximum(below[places] - shares, 0.0) + np.minimum(up_to[places] - shares, 0.0)


@dataclass(frozen=True, eq=False)
class Scale:
    """An order of the types, or of the values of one attribute.

    Attributes:
        values: (k,) increasing numbers that stand for them.
        unit: of these numbers.
        totals: the workload of running totals along them.
        of: what they are values of.
        labels: their names (None: those of the types).
        left_out: the names of what has no place in the order, such as "(missing)": no one with it is in a total.
    """

    values: np.ndarray
    unit: str
    totals: Workload
    of: str = "type"
    labels: Sequence[str] | None = None
    left_out: tuple[str, ...] = ()

    def positions(self, totals: np.ndarray, users: float) -> np.ndarray:
        """(..., k) where the running ``totals`` (..., n) of ``users`` people, but for those left out, reach the shares `QUANTILES`."""
        return positions(totals, np.maximum(totals[..., -1:], 0.0) if self.left_out else users)

    def __repr__(self) -> str:
        return f"<Scale: {len(self.values):,} values of {wording.shortened(self.of, 40)}, in {wording.shortened(self.unit, 40)}>"


def scales_of(workload: Workload, axes: Sequence[Axis]) -> tuple[Scale, ...]:
    """The orders along which ``workload`` has quantiles, given the attributes of its types: one or none, and for surveys one for every
    column, at most `MOST_QUANTILE_COLUMNS`.

    Running totals and ranges have the order that they go along, histograms that of their attribute; a union has that of
    the first part that has any. Other questions, such as running totals within groups, have the order of the first attribute whose
    running totals of everyone follow from them: those in their row space. Surveys have those of the attributes whose running
    totals are asked for, or follow from a table. Values without a place in the order are left out. The value of a bin is its
    middle, that of any other type its number.
    """
    if workload.survey is not None:
        return _orders_of_tables(workload.survey, axes)
    scale = _order(workload, axes)
    return () if scale is None else (scale,)


def _order(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order of questions that are no survey."""
    if isinstance(workload, Union):
        scale = next((scale for part in workload.parts if (scale := _order(part, axes)) is not None), None)
    else:
        scale = _own_order(workload, axes)
    return _order_that_follows(workload, axes) if scale is None else scale


def _orders_of_tables(survey: Survey, axes: Sequence[Axis]) -> tuple[Scale, ...]:
    """The orders of attributes of a survey whose running totals come from a table of them or of more attributes; first those that are asked
    for."""
    along, scales = (Prefix, AllRange, WidthRange), dict[int, Scale]()
    for group in sorted(survey.groups, key=lambda group: not isinstance(group.base, along)):
        sizes = tuple(survey.shape[i] for i in group.attributes)
        for place, i in enumerate(group.attributes):
            axis = axes[i]
            if i in scales or not axis.ordered or axis.ordinary < LEAST_VALUES:
                continue
            if len(scales) < MOST_QUANTILE_COLUMNS and _totals_follow(group.base, sizes, place, axis.ordinary):
                scales[i] = _scale(
                    axis, Survey(survey.shape, [Group((i,), _totals_of((axis.size,), 0, axis.ordinary))], axes)
                )
    return tuple(scales.values())


def _own_order(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order that questions go along themselves."""
    shape: tuple[int, ...] = (workload.n,)
    place, base = 0, workload
    if isinstance(workload, OnAttributes):
        if len(workload.kept) != 1:
            return None
        shape, place, base = workload.shape, workload.kept[0], workload.base
    along = isinstance(base, Prefix | AllRange | WidthRange)
    axis = axes[place] if len(shape) == len(axes) else None
    values = 0 if axis is None else axis.ordinary if along else axis.size if isinstance(base, Histogram) else 0
    if axis is not None and axis.ordered and base.n == values:
        return _scale(axis, _totals_of(shape, place, axis.ordinary))
    if not along or base.n < shape[place]:
        return None
    of, labels = ("type", None) if axis is None else (axis.name, axis.labels)
    return Scale(np.arange(base.n, dtype=float), "types", _totals_of(shape, place, base.n), of, labels)


def _totals_of(shape: Sequence[int], place: int, values: int) -> Workload:
    """Running totals along the first ``values`` of the attribute at ``place``; those after them are in no total."""
    if len(shape) == 1 and values == shape[0]:
        return Prefix(values)
    return OnAttributes(shape, (place,), Prefix(values), used=(values,))


def _scale(axis: Axis, totals: Workload) -> Scale:
    """The values of an attribute that have a place in its order."""
    left_out = tuple(axis.labels[i] for i in range(axis.ordinary, axis.size))
    if not len(axis.edges):
        return Scale(np.arange(axis.ordinary, dtype=float), "types", totals, axis.name, axis.labels, left_out)
    ends = np.asarray(axis.edges)
    return Scale(ends[:-1] + np.diff(ends) / 2, axis.name, totals, axis.name, axis.labels, left_out)


def _order_that_follows(workload: Workload, axes: Sequence[Axis]) -> Scale | None:
    """The order of the first attribute whose running totals of everyone with a place in it are sums of answers."""
    shape, kept, base = tuple(axis.size for axis in axes), tuple(range(len(axes))), workload
    used = shape
    if isinstance(workload, OnAttributes):
        shape, kept, base, used = workload.shape, workload.kept, workload.base, workload.used
    if len(shape) != len(axes) or math.prod(used) != base.n:
        return None
    for place, i in enumerate(kept):
        values = axes[i].ordinary
        all_others = all(used[j] == shape[kept[j]] for j in range(len(kept)) if j != place)
        if not axes[i].ordered or not LEAST_VALUES <= values <= used[place] or not all_others:
            continue
        if _totals_follow(base, used, place, values):
            return _scale(axes[i], _totals_of(shape, i, values))
    return None


@lru_cache(maxsize=64)
def _totals_follow(workload: Workload, sizes: tuple[int, ...], place: int, values: int) -> bool:
    """True if the running totals along the first ``values`` of one attribute, of a table of ``sizes``, lie in the row space of a workload.
    A product of queries holds a product of rows where each factor holds its own."""
    if isinstance(workload, Product) and tuple(factor.n for factor in workload.factors) == sizes:
        return all(
            spans(factor, np.tri(values, factor.n) if i == place else np.ones((1, factor.n)))
            for i, factor in enumerate(workload.factors)
        )
    totals = OnAttributes(sizes, (place,), Prefix(values), used=(values,))
    return spans(workload, lambda: totals.rows(np.arange(values)))
