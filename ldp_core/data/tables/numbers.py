"""From a column of numbers to bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldp_core.data import columns
from ldp_core.data.domain import NumericAttribute, RangeAttribute, attained_bins, build, whole_ends
from ldp_core.data.tables.recipes import NumericRecipe, check_types
from ldp_core.data.tables.summary import whole
from ldp_core.limits import MOST_BINS, MOST_LISTED_TYPES


def numeric_attribute(recipe: NumericRecipe, column: columns.Column | None) -> NumericAttribute | RangeAttribute:
    """The bins that a recipe describes; the column is only needed where the recipe is not `declared`.

    Edges of equal widths are rounded to a hundredth of a bin; those of equal counts lie between neighbouring values. There are fewer
    bins than wanted when whole numbers do not divide evenly, or when one value fills several bins of equal counts.

    Raises
    ------
    ValueError
        Texts that are not numbers, no number or only one, an unusable number of bins, bad edges or
        ends.
    """
    column = column and columns.in_unit(column, recipe.unit, recipe.decimal)
    numbers, users = _answers(recipe, column)
    most = MOST_BINS if recipe.method == "range" else MOST_LISTED_TYPES
    if recipe.method != "own_edges" and not 2 <= recipe.bins <= most:
        raise ValueError(f"{recipe.bins:,} bins are not possible: choose a number from 2 to {most:,}.")
    same = recipe.shared("non_numbers", "no_answer", "unit", "decimal")
    if recipe.method == "range":
        regular = _regular(recipe, numbers)
        if (even := _even_edges(recipe, **regular)) is not None:
            return build(NumericAttribute, edges=even, binning="equal_width", integer=True, **same)
        return build(RangeAttribute, **regular, **same)
    known = recipe.edges if column is None else numbers
    integer = whole(np.array(known)) if recipe.integer is None else recipe.integer
    if recipe.method == "own_edges":
        edges = np.array(recipe.edges)
        if edges.size < 2:
            raise ValueError(
                "own edges were chosen but fewer than two were given: list at least two increasing numbers."
            )
        integer = integer and bool(np.less_equal(*whole_ends(edges)).all())
    else:
        _check_spread(numbers, recipe.column)
        if recipe.method == "equal_count":
            edges = _equal_count(numbers, users, recipe.bins, integer)
        else:
            edges = _whole_edges(numbers, recipe.bins) if integer else _equal_width(numbers, recipe.bins)
    binned = {"edges": tuple(edges.tolist()), "binning": recipe.method, "integer": integer}
    return check_types(build(NumericAttribute, **binned, **same))


def _regular(recipe: NumericRecipe, numbers: np.ndarray) -> dict[str, Any]:
    """Bins of one width, as two ends and their number; ends that are not given are taken from the data.

    Numbers that need not be whole, between given whole ends, also get fewer bins if that makes edges whole: [18, 21) rather than
    [18, 20.25).
    """
    low, high, bins = recipe.low, recipe.high, recipe.bins
    numbers = np.concatenate([[end for end in (low, high) if end is not None], numbers])
    integer = whole(numbers) if recipe.integer is None else recipe.integer
    if low is None or high is None:
        _check_spread(numbers, recipe.column)
        first, last = (float(numbers.min()), float(numbers.max())) if integer else _rounded_ends(numbers, bins)
        low, high = first if low is None else low, last if high is None else high
    if integer and low.is_integer() and high.is_integer() and low <= high:
        bins = attained_bins(low, high, bins)
    elif recipe.declared and not integer:
        bins = _with_whole_edges(low, high, bins)
    return {"low": low, "high": high, "bins": bins, "integer": integer}


def _even_edges(recipe: NumericRecipe, low: float, high: float, bins: int, integer: bool) -> tuple[float, ...] | None:
    """Edges of whole numbers between given ends that the number of bins asked for divides: 10-19, ..., 80-90 for 10 to 90 in 8 bins, where bins
    of equally many numbers would be 10-20, ..., 87-90. None for other ends, where the last bin would be more than a fifth wider, and for more
    bins than a list may have."""
    span = high - low
    if not (integer and recipe.declared and recipe.bins <= MOST_LISTED_TYPES):
        return None
    if span % recipe.bins or span < 5 * recipe.bins or ((span + 1) % recipe.bins == 0 and bins == recipe.bins):
        return None
    edges = low - 0.5 + span / recipe.bins * np.arange(recipe.bins + 1.0)
    return (*edges[:-1].tolist(), high + 0.5)


def _with_whole_edges(low: float, high: float, bins: int) -> int:
    """The largest number of bins, at most `bins` and at least three quarters of them, that all begin at whole numbers; else `bins`."""
    if not (low.is_integer() and high.is_integer() and bins <= high - low < 2.0**51):
        return bins
    span = int(high - low)
    return next((fewer for fewer in range(bins, -(-3 * bins // 4) - 1, -1) if span % fewer == 0), bins)


def _answers(recipe: NumericRecipe, column: columns.Column | None) -> tuple[np.ndarray, np.ndarray]:
    """The distinct finite numbers that are answers, and the users of each; texts that are not numbers are refused unless they
    count as missing."""
    if column is None:
        return np.zeros(0), np.zeros(0)
    unread = np.isnan(column.numbers) & ~column.missing
    if recipe.non_numbers == "refuse" and unread.any():
        raise ValueError(columns.not_numbers(column, unread))
    answers = np.isfinite(column.numbers) & ~np.isin(column.numbers, recipe.no_answer)
    return column.numbers[answers], column.rows_per_text[answers]


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


def bins_of(numbers: np.ndarray, integer: bool, bins: int = NumericRecipe.model_fields["bins"].default) -> int:
    """How many bins there will be of at most `bins`: bins of whole numbers have one width, and may be fewer."""
    finite = numbers[np.isfinite(numbers)]
    if not integer or np.abs(finite).max() >= 2.0**51:
        return bins
    edges = _whole_edges(finite, bins)
    return edges.size - 1 if np.array_equal(edges, _whole_edges(finite, edges.size - 1)) else bins


def _whole_edges(numbers: np.ndarray, bins: int) -> np.ndarray:
    """Half-integer edges of at most `bins` bins, all of the same number of whole numbers, around `numbers`.

    Equal widths come before the exact number of bins: widths of 2 and 3 in turn would show as a false comb in every
    histogram. Widths of 100 and more keep two significant digits, and the start is rounded down to suit.
    """
    low, high = int(numbers.min()), int(numbers.max())
    width = -(-(high - low + 1) // bins)
    unit = 10 ** max(0, len(str(width)) - 2)
    low = low // unit * unit
    width = -(-(high - low + 1) // (bins * unit)) * unit
    return np.arange(low, high + width + 1, width) - 0.5


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
