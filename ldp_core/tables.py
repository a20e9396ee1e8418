"""Tables to domains and counts: the only place that sees raw rows. Nothing is written to disk or kept.

table = read(content, "survey.csv")
age = numeric_attribute(table["age"], bins=16)
counts = tally(table, Domain(attributes=(age,))).counts
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from . import columns
from .domain import MAX_TYPES, CategoricalAttribute, Domain, Missing, NumericAttribute, build, whole_ends
from .population import (
    check_types,
    checked_bins,
    checked_name,
    declare_categories,
    declare_range,
    expected_counts,
    whole_edges,
)
from .reading import UnreadableTable, read

__all__ = [
    "ColumnSummary",
    "Tally",
    "UnreadableTable",
    "categorical_attribute",
    "declare_categories",
    "declare_range",
    "expected_counts",
    "numeric_attribute",
    "read",
    "summarise",
    "tally",
]

LARGEST_TALLY = 2**26
"""Most types `tally` counts into an array: half a gigabyte."""

# Below this many distinct numbers a column is rather a code or a score than a measurement.
_FEW_NUMBERS = 20
_MOSTLY = 0.9


@dataclass(frozen=True)
class ColumnSummary:
    """What a column holds, before any choice is made; what counts as missing or a number: `ldp_core.columns`.

    Attributes:
        rows: all rows.
        distinct: different texts, missing ones apart.
        missing: rows without a value.
        numbers: rows with a finite number.
        integer: there are numbers, and all are whole.
        minimum, maximum: of the finite numbers; None when there are none.
        examples: up to three texts that are not numbers.
        suggested: treatment to offer first.
    """

    name: str
    rows: int
    distinct: int
    missing: int
    numbers: int
    integer: bool
    minimum: float | None
    maximum: float | None
    examples: tuple[str, ...]
    suggested: Literal["categorical", "numeric"]


@dataclass(frozen=True)
class Tally:
    """Users of each type.

    Attributes:
        counts: (n,) int64.
        users: their sum.
        dropped: rows left out for a missing value.
        outside: rows with a value outside the domain, counted in "(other)" or clamped.
    """

    counts: np.ndarray
    users: int
    dropped: int
    outside: int


def summarise(series: pd.Series) -> ColumnSummary:
    """Look at a column of any dtype; numeric is suggested when nine in ten values are numbers and over 20 differ."""
    column = columns.parse(series)
    finite = np.isfinite(column.numbers)
    numbers = column.numbers[finite]
    rows, users = column.codes.size, column.rows_per_text
    present = int(users[~column.missing].sum())
    count = int(users[finite].sum())
    looks_numeric = count >= _MOSTLY * present and np.unique(numbers).size > _FEW_NUMBERS
    return ColumnSummary(
        name=column.name,
        rows=rows,
        distinct=int((~column.missing).sum()),
        missing=rows - present,
        numbers=count,
        integer=bool(count and _whole(numbers)),
        minimum=float(numbers.min()) if count else None,
        maximum=float(numbers.max()) if count else None,
        examples=tuple(column.texts[~finite & ~column.missing][:3].tolist()),
        suggested="numeric" if looks_numeric else "categorical",
    )


def categorical_attribute(
    series: pd.Series,
    *,
    missing: Missing = "drop",
    rare_below: int = 0,
    values: Iterable[object] | None = None,
    outside: Literal["other", "refuse"] | None = None,
) -> CategoricalAttribute:
    """The categories of a column, in the order of their numbers when all have one, else alphabetical ("a2" < "a10").

    Args:
        rare_below: values held by fewer rows than this are merged into "(other)".
        values: a declared list, kept in its order; what else the column holds is outside.
        outside: by default "other" when rare values were merged, else "refuse".

    Raises:
        ValueError: fewer than two types or more than `MAX_TYPES`, repeated or blank declared values, contradictory
            choices.
    """
    if rare_below < 0:
        raise ValueError(
            f"rare_below is {rare_below}: use 0 to keep all values, or the fewest users a category may have."
        )
    if values is not None and rare_below:
        raise ValueError("rare values are merged only when the categories are read off the data: drop one of the two.")
    column = columns.parse(series)
    if values is not None:
        values, origin = tuple(str(value) for value in values), "declared"
    else:
        kept = ~column.missing & (column.rows_per_text >= rare_below)
        _check_kept(column, kept, rare_below)
        values, origin = _in_order(column.texts[kept], column.numbers[kept]), "data"
        if kept.sum() < (~column.missing).sum():
            if outside == "refuse":
                raise ValueError('merging rare values needs outside="other": choose that, or keep all values.')
            outside = "other"
    numbers = columns.to_numbers(np.array(values, dtype=object))
    attribute = build(
        CategoricalAttribute,
        name=checked_name(column.name),
        values=values,
        ordered=bool(np.isfinite(numbers).all() and (np.diff(numbers) >= 0).all()),
        missing=missing,
        outside=outside or "refuse",
        origin=origin,
    )
    return check_types(attribute)


def numeric_attribute(
    series: pd.Series,
    *,
    method: Literal["equal_width", "equal_count", "own_edges"] = "equal_width",
    bins: int = 32,
    edges: Iterable[float] | None = None,
    missing: Missing = "drop",
    outside: Literal["other", "clamp", "refuse"] = "refuse",
    non_numbers: Literal["refuse", "missing"] = "refuse",
) -> NumericAttribute:
    """Bins for a column of numbers.

    Args:
        method: "equal_width" (edges rounded to a hundredth of a bin), "equal_count" (cuts between neighbouring values),
            or "own_edges" (`edges`, which are declared; `bins` is then unused).
        bins: bins wanted. There are fewer when whole numbers do not divide evenly, and in "equal_count" when one value
            fills several bins.
        non_numbers: texts that are not numbers are an error or missing values, now and when encoding.

    Raises:
        ValueError: texts that are not numbers, no or only one number, an unusable number of bins, bad edges.
    """
    column = columns.parse(series)
    unread = np.isnan(column.numbers) & ~column.missing
    if non_numbers == "refuse" and unread.any():
        raise ValueError(columns.not_numbers(column, unread))
    finite = np.isfinite(column.numbers)
    numbers = column.numbers[finite]
    integer = _whole(numbers)
    if method == "own_edges":
        if edges is None:
            raise ValueError("own edges were chosen and none given: list at least two increasing numbers.")
        found = _own_edges(edges)
        if found.size < 2:
            raise ValueError("own edges were chosen and fewer than two given: list at least two increasing numbers.")
        integer = integer and bool(np.less_equal(*whole_ends(found)).all())
    else:
        _check_spread(numbers, column.name)
        bins = checked_bins(bins)
        if method == "equal_count":
            found = _equal_count(numbers, column.rows_per_text[finite], bins, integer)
        elif method == "equal_width":
            found = whole_edges(numbers.min(), numbers.max(), bins) if integer else _equal_width(numbers, bins)
        else:
            raise ValueError(f'the method "{method}" is unknown: use "equal_width", "equal_count" or "own_edges".')
    attribute = build(
        NumericAttribute,
        name=checked_name(column.name),
        edges=tuple(found.tolist()),
        binning=method,
        integer=integer,
        non_numbers=non_numbers,
        missing=missing,
        outside=outside,
        origin="declared" if method == "own_edges" else "data",
    )
    return check_types(attribute)


def tally(table: pd.DataFrame | pd.Series, domain: Domain | CategoricalAttribute | NumericAttribute) -> Tally:
    """Count the users of each type; a user is a row.

    Args:
        table: a table with the domain's columns, or one column for a single attribute.

    Raises:
        ValueError: no users are left, a value the domain refuses, a lacking column.
    """
    if not isinstance(domain, Domain):
        domain = Domain(attributes=(domain,))
    if isinstance(table, pd.Series):
        if len(domain.attributes) > 1:
            raise ValueError("a single column cannot fill several attributes: pass the whole table.")
        table = table.to_frame(domain.attributes[0].name)
    if domain.size > LARGEST_TALLY:
        raise ValueError(
            f"{domain.size:,} types are too many to count one by one: use coarser bins or fewer attributes."
        )
    encoding = domain.encode(table)
    kept = encoding.codes[encoding.codes >= 0]
    if kept.size == 0:
        raise ValueError(
            f"no users are left of {len(table):,} rows, since all have missing values: "
            "choose another column, or make missing values a category."
        )
    counts = np.bincount(kept, minlength=domain.size).astype(np.int64)
    return Tally(counts, int(kept.size), int(len(table) - kept.size), encoding.outside)


def _check_kept(column: columns.Column, kept: np.ndarray, rare_below: int) -> None:
    """Refuse, with what would help, when the categories `kept` (mask over the distinct texts) are none or too many."""
    if kept.sum() > MAX_TYPES:
        # Room for "(other)" and "(missing)" beside the values that remain.
        users = np.sort(column.rows_per_text[kept])[::-1]
        enough = int(users[MAX_TYPES - 2]) + 1
        way = (
            f"merge values with fewer than {enough:,} users into (other)"
            if users[0] >= enough
            else "choose another column"
        )
        raise ValueError(
            f"{kept.sum():,} distinct values in {column.name}, and a domain holds at most {MAX_TYPES:,}: "
            f"bin it as numbers, or {way}."
        )
    if kept.any():
        return
    if column.missing.all():
        raise ValueError(f"all {column.codes.size:,} values of {column.name} are missing: choose another column.")
    raise ValueError(f"no value of {column.name} has {rare_below:,} users: merge fewer values by a lower number.")


def _in_order(texts: np.ndarray, numbers: np.ndarray) -> tuple[str, ...]:
    """Texts by their numbers when all have one, else in natural order."""
    if np.isfinite(numbers).all():
        return tuple(text for _, text in sorted(zip(numbers.tolist(), texts, strict=True)))
    return tuple(sorted(texts, key=_natural))


def _natural(text: str) -> tuple[list[object], str]:
    # Pieces alternate between text and digits, so like is compared with like; 18 digits keep int() cheap.
    pieces = re.split(r"(\d{1,18})", text.casefold())
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], text


def _whole(numbers: np.ndarray) -> bool:
    # Past 2^51 a float64 cannot hold the half-integer edges of whole numbers.
    return bool(numbers.size and (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2.0**51)


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
    """Edges around `numbers`, rounded to a hundredth of a bin so that labels are short and yet exact."""
    low, high = float(numbers.min()), float(numbers.max())
    step = (high - low) / bins
    if step > 0:
        decimals = 2 - math.floor(math.log10(step))
        first, last = round(low, decimals), round(high, decimals)
        first = round(first - 10.0**-decimals, decimals) if first > low else first
        last = round(last + 10.0**-decimals, decimals) if last < high else last
        edges = np.array([round(edge, decimals) for edge in np.linspace(first, last, bins + 1).tolist()])
    if step == 0 or not (np.diff(edges) > 0).all():
        raise ValueError(f"the numbers from {low!r} to {high!r} lie too close together for {bins:,} bins: use fewer.")
    return edges


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
