"""From a column of numbers to bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import Missing, NumericAttribute, RangeAttribute, attained_bins, build, whole_ends
from ldp_core.data.population import check_types, checked_bins, checked_name, whole_edges
from ldp_core.data.tables.summary import whole
from ldp_core.limits import MOST_BINS


def numeric_attribute(
    series: pd.Series,
    *,
    method: Literal["equal_width", "equal_count", "own_edges"] = "equal_width",
    bins: int = 32,
    edges: Iterable[float] | None = None,
    missing: Missing = "drop",
    outside: Literal["other", "clamp", "refuse"] = "refuse",
    non_numbers: Literal["refuse", "missing"] = "refuse",
    integer: bool | None = None,
    weights: np.ndarray | None = None,
    no_answer: tuple[float, ...] = (),
) -> NumericAttribute:
    """Bins for a column of numbers.

    Args:
        method: "equal_width" (its edges are rounded to a hundredth of a bin), "equal_count" (cuts between neighbouring values),
            or "own_edges" (`edges`, which are declared; `bins` is then unused).
        bins: the number of bins wanted. There are fewer when whole numbers do not divide evenly, and in "equal_count"
            when one value fills several bins.
        non_numbers: whether texts that are not numbers are an error or missing values, now and when encoding.
        integer: the numbers are whole; by default when those in the column are.
        weights: (rows,) people a row stands for; one each by default.
        no_answer: numbers that count as missing.

    Raises:
        ValueError: texts that are not numbers, no number or only one, an unusable number of bins, bad edges.
    """
    column = columns.parse(series, weights)
    finite = _finite(column, non_numbers, no_answer)
    numbers = column.numbers[finite]
    integer = whole(numbers) if integer is None else integer
    if method == "own_edges":
        if edges is None:
            raise ValueError("own edges were chosen but none were given: list at least two increasing numbers.")
        bin_edges = _own_edges(edges)
        if bin_edges.size < 2:
            raise ValueError(
                "own edges were chosen but fewer than two were given: list at least two increasing numbers."
            )
        integer = integer and bool(np.less_equal(*whole_ends(bin_edges)).all())
    else:
        _check_spread(numbers, column.name)
        bins = checked_bins(bins)
        if method == "equal_count":
            bin_edges = _equal_count(numbers, column.rows_per_text[finite], bins, integer)
        elif method == "equal_width":
            bin_edges = whole_edges(numbers.min(), numbers.max(), bins) if integer else _equal_width(numbers, bins)
        else:
            raise ValueError(f'the method "{method}" is unknown: use "equal_width", "equal_count" or "own_edges".')
    attribute = build(
        NumericAttribute,
        name=checked_name(column.name),
        edges=tuple(bin_edges.tolist()),
        binning=method,
        integer=integer,
        non_numbers=non_numbers,
        missing=missing,
        outside=outside,
        no_answer=no_answer,
        origin="declared" if method == "own_edges" else "data",
    )
    return check_types(attribute)


def range_attribute(
    series: pd.Series | None,
    *,
    bins: int = 32,
    low: float | None = None,
    high: float | None = None,
    name: str | None = None,
    integer: bool | None = None,
    missing: Missing = "drop",
    outside: Literal["other", "clamp", "refuse"] = "refuse",
    non_numbers: Literal["refuse", "missing"] = "refuse",
    no_answer: tuple[float, ...] = (),
) -> RangeAttribute:
    """Bins of one width, up to `MOST_BINS` of them, kept as two ends and a number of bins.

    Args:
        series: the column; not needed when both ends are given.
        bins: the number of bins wanted. There are fewer if whole numbers do not divide evenly.
        Numbers that need not be whole, between given whole ends, also get fewer bins if that makes
        edges whole: [18, 21) rather than [18, 20.25).
        low, high: the ends, both included; where they are not given they are taken from the column.
        name: of the attribute, by default that of the column.
        integer: the numbers are whole; by default when those in the column are, or, without one, when both ends are.

    Raises:
        ValueError: an end neither given nor to be found, ends out of order, an unusable number of bins, texts that are
            not numbers.
    """
    if series is None and (low is None or high is None):
        raise ValueError("a range without data needs its lowest and its highest value: give both, or load the data.")
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= MOST_BINS:
        raise ValueError(f"{bins!r} bins are not possible: choose a whole number from 2 to {MOST_BINS:,}.")
    numbers = np.array([end for end in (low, high) if end is not None], dtype=float)
    if series is not None:
        column = columns.parse(series)
        name = column.name if name is None else name
        numbers = np.concatenate([numbers, column.numbers[_finite(column, non_numbers, no_answer)]])
    integer = whole(numbers) if integer is None else integer
    declared = low is not None and high is not None
    if low is None or high is None:
        _check_spread(numbers, str(name))
        ends = (numbers.min(), numbers.max()) if integer else _rounded_ends(numbers, int(bins))
        low, high = ends[0] if low is None else low, ends[1] if high is None else high
    if integer and float(low).is_integer() and float(high).is_integer() and low <= high:
        bins = attained_bins(low, high, int(bins))
    elif declared and not integer:
        bins = _with_whole_edges(low, high, int(bins))
    return build(
        RangeAttribute,
        name=checked_name(name),
        low=float(low),
        high=float(high),
        bins=int(bins),
        integer=integer,
        non_numbers=non_numbers,
        missing=missing,
        outside=outside,
        no_answer=no_answer,
        origin="declared" if declared else "data",
    )


def _with_whole_edges(low: float, high: float, bins: int) -> int:
    """The largest number of bins, at most `bins` and at least three quarters of them, that all begin at whole numbers; else `bins`."""
    if not (low.is_integer() and high.is_integer() and bins <= high - low < 2.0**51):
        return bins
    span = int(high - low)
    return next((fewer for fewer in range(bins, -(-3 * bins // 4) - 1, -1) if span % fewer == 0), bins)


def _finite(column: columns.Column, non_numbers: str, no_answer: tuple[float, ...]) -> np.ndarray:
    """(distinct,) mask of the finite numbers that are answers; texts that are not numbers are refused unless they count as missing."""
    unread = np.isnan(column.numbers) & ~column.missing
    if non_numbers == "refuse" and unread.any():
        raise ValueError(columns.not_numbers(column, unread))
    return np.isfinite(column.numbers) & ~np.isin(column.numbers, no_answer)


def _check_spread(numbers: np.ndarray, name: str) -> None:
    if numbers.size == 0:
        raise ValueError(f"{name} holds no numbers: use its values as categories, or choose another column.")
    if numbers.min() == numbers.max():
        raise ValueError(
            f"{name} has only one value, {numbers[0]:g}, so there is nothing to learn: choose another column, or give "
            "your own edges."
        )
    if np.abs(numbers).max() > 1e300:
        raise ValueError(f"{name} holds numbers beyond 1e300, which cannot be binned: rescale or remove them.")


def _own_edges(edges: Iterable[float]) -> np.ndarray:
    try:
        return np.array([float(edge) for edge in edges])
    except (TypeError, ValueError) as error:
        raise ValueError("bin edges must be numbers: list them in increasing order, such as 0, 18, 65, 120.") from error


def _equal_width(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Edges around `numbers`, rounded to a hundredth of a bin so that labels are short yet exact."""
    first, last = _rounded_ends(numbers, bins)
    decimals = _decimals(numbers, bins)
    edges = np.array([round(edge, decimals) for edge in np.linspace(first, last, bins + 1).tolist()])
    if not (np.diff(edges) > 0).all():
        raise ValueError(_too_close(numbers, bins))
    return edges


def _rounded_ends(numbers: np.ndarray, bins: int) -> tuple[float, float]:
    """Ends around `numbers`, rounded to a hundredth of a bin."""
    low, high = float(numbers.min()), float(numbers.max())
    decimals = _decimals(numbers, bins)
    first, last = round(low, decimals), round(high, decimals)
    first = round(first - 10.0**-decimals, decimals) if first > low else first
    last = round(last + 10.0**-decimals, decimals) if last < high else last
    return first, last


def _decimals(numbers: np.ndarray, bins: int) -> int:
    step = (float(numbers.max()) - float(numbers.min())) / bins
    if step == 0:
        raise ValueError(_too_close(numbers, bins))
    return 2 - math.floor(math.log10(step))


def _too_close(numbers: np.ndarray, bins: int) -> str:
    low, high = float(numbers.min()), float(numbers.max())
    return f"the numbers from {low!r} to {high!r} lie too close together for {bins:,} bins: use fewer."


def _equal_count(numbers: np.ndarray, users: np.ndarray, bins: int, integer: bool) -> np.ndarray:
    """Edges between neighbouring values, each where the users so far come nearest to their share."""
    values, position = np.unique(numbers, return_inverse=True)
    so_far = np.cumsum(np.bincount(position, weights=users))
    cuts = so_far[:-1]
    shares = so_far[-1] * np.arange(1, bins) / bins
    above = np.clip(np.searchsorted(cuts, shares), 0, cuts.size - 1)
    below = np.maximum(above - 1, 0)
    nearest = np.unique(np.where(shares - cuts[below] < cuts[above] - shares, below, above))
    if integer:
        return np.concatenate([[values[0] - 0.5], values[nearest] + 0.5, [values[-1] + 0.5]])
    middles = values[nearest] + (values[nearest + 1] - values[nearest]) / 2
    return np.unique(np.concatenate([values[:1], middles, values[-1:]]))
