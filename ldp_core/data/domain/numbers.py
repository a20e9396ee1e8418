"""Attributes of numbers in bins: with listed edges, or regular ones described by their ends."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from ldp_core.data import columns
from ldp_core.data.domain.attributes import MISSING, OUTSIDE, BaseAttribute, Placed
from ldp_core.limits import MOST_BINS, MOST_COLUMN_NAME

_LEFT_EDGE = re.compile(r"\[?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
"""The number that a label of a bin begins with."""
# The bound keeps differences of edges finite.
Edge = Annotated[float, Field(ge=-1e300, le=1e300, allow_inf_nan=False)]


class BinnedAttribute(BaseAttribute):
    """A column of numbers in bins [e_i, e_{i+1}), the last one closed, however their edges are described.

    Attributes:
        integer: the data are whole numbers, so that labels read "20-29". Bins of whole numbers have half-integer edges (19.5, 29.5,
            ...): no whole number lies on an edge.
        non_numbers: what a text that is not a number counts as: an error, or a missing value.
        missing: what becomes of missing values.
        outside: what becomes of numbers outside the edges, infinities included: one "(other)" type, the nearest bin
            ("clamp"), or an error.
        no_answer: numbers that are codes for a missing value, such as 999; left out of files where there are none.
        unit, decimal: what is written beside the numbers, such as "$", and their decimal sign then: see `columns.in_unit`.
        origin: whether the edges were declared, or taken from the data (and so reveal something about it).
    """

    integer: bool = False
    non_numbers: Literal["refuse", "missing"] = "refuse"
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    no_answer: tuple[Edge, ...] = Field(default=(), exclude_if=lambda codes: not codes)
    unit: str = Field(default="", max_length=MOST_COLUMN_NAME, exclude_if=lambda unit: not unit)
    decimal: Literal[".", ","] = Field(default=".", exclude_if=lambda sign: sign == ".")
    if TYPE_CHECKING:

        @property
        def edges(self) -> tuple[float, ...] | np.ndarray: ...

    def _ordinary_labels(self, which: np.ndarray) -> list[str]:
        return list(bin_labels(self.edges, self.integer, which))

    def _ordinary_size(self) -> int:
        return len(self.edges) - 1

    def _refuse_unread(self, column: columns.Column, unread: np.ndarray) -> None:
        if self.non_numbers == "refuse" and unread.any():
            raise ValueError(columns.not_numbers(column, unread))

    def _numbers(self, column: columns.Column) -> np.ndarray:
        return np.clip(columns.in_unit(column, self.unit, self.decimal).numbers, self.edges[0], self.edges[-1])

    def _place(self, column: columns.Column) -> Placed:
        edges, column = np.asarray(self.edges), columns.in_unit(column, self.unit, self.decimal)
        numbers = column.numbers
        types = np.searchsorted(edges, numbers, side="right") - 1
        types = np.clip(types, 0, edges.size - 2).astype(np.int64)
        outside = (numbers < edges[0]) | (numbers > edges[-1])
        if self.outside != "clamp":
            types[outside] = OUTSIDE
        unanswered = np.isin(numbers, self.no_answer)
        types[np.isnan(numbers) | unanswered], outside[unanswered] = MISSING, False
        unread = np.isnan(numbers) & ~column.missing
        types[unread] = self._own_labels(column.texts[unread], edges)
        return types, outside, unread & (types == MISSING)

    def _own_labels(self, texts: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The bins that have `texts` as labels, `MISSING` for other texts."""
        begin = [_LEFT_EDGE.match(text) for text in texts]
        starts = np.array([math.nan if number is None else float(number[1]) for number in begin], dtype=float)
        types = np.full(texts.size, MISSING, dtype=np.int64)
        read = np.flatnonzero(np.isfinite(starts))
        # A label rounds its left edge by far less than a bin, so the bin is the one found or a neighbour.
        bins_read = np.searchsorted(edges, starts[read], side="right") - 1
        for shift in (0, 1, -1):
            bins = np.clip(bins_read + shift, 0, edges.size - 2)
            labels = np.array(bin_labels(self.edges, self.integer, bins), dtype=object)
            same = labels == texts[read]
            types[read[same]] = bins[same]
        return types


class NumericAttribute(BinnedAttribute):
    """Bins with listed edges, k+1 strictly increasing numbers of magnitude 1e300 at most; ``binning`` says how they were chosen."""

    kind: Literal["numeric"] = "numeric"
    edges: tuple[Edge, ...]
    binning: Literal["equal_width", "equal_count", "own_edges"] = "own_edges"

    @model_validator(mode="after")
    def _check_edges(self) -> NumericAttribute:
        edges = np.array(self.edges)
        if edges.size < 2:
            raise ValueError(f"bins need at least two edges and there are {edges.size}: give the ends of the range.")
        if not (np.diff(edges) > 0).all():
            wrong = int(np.argmin(np.diff(edges) > 0))
            raise ValueError(
                f"bin edges must increase, and {edges[wrong]:g} is followed by {edges[wrong + 1]:g}: "
                "sort them and remove repeated ones."
            )
        if self.integer:
            low, high = whole_ends(edges)
            if (low > high).any():
                wrong = int(np.argmax(low > high))
                raise ValueError(
                    f"every bin of whole numbers must hold one, and none lies between {edges[wrong]:g} and "
                    f"{edges[wrong + 1]:g}: widen that bin or use integer=False."
                )
        return self


class RangeAttribute(BinnedAttribute):
    """Numbers from `low` to `high`, both included, in `bins` bins of one width: in a file, a million bins take no more
    space than two.

    Bins of whole numbers (`integer`) hold ceil((high - low + 1) / bins) numbers each, the last one possibly fewer,
    provided that every bin holds one: 0 to 9 fits 4 bins (0-2, 3-5, 6-8, 9) but not 7.

    Attributes: `low`, `high` of magnitude 1e300 at most (whole numbers below 2^51 where `integer`), `bins` from 1 to
    `MOST_BINS`.
    """

    kind: Literal["range"] = "range"
    low: Edge
    high: Edge
    bins: int = Field(ge=1, le=MOST_BINS)

    @model_validator(mode="after")
    def _check_range(self) -> RangeAttribute:
        if not self.low <= self.high or (self.low == self.high and not self.integer):
            raise ValueError(f"a range cannot go from {self.low:g} to {self.high:g}: give the lower end first.")
        if not self.integer:
            if not (np.diff(regular_edges(self.low, self.high, self.bins, False)) > 0).all():
                raise ValueError(
                    f"{self.low!r} and {self.high!r} lie too close together for {self.bins:,} bins: use fewer."
                )
            return self
        if not (self.low.is_integer() and self.high.is_integer() and max(-self.low, self.high) < 2.0**51):
            raise ValueError(
                f"the range {self.low:g} to {self.high:g} of whole numbers must have whole ends below 2^51."
            )
        held = attained_bins(self.low, self.high, self.bins)
        if held != self.bins:
            raise ValueError(
                f"{self.low:g} to {self.high:g} cannot be cut into {self.bins:,} bins of equally many whole numbers: "
                f"use {held:,} or change an end."
            )
        return self

    @property
    def binning(self) -> Literal["equal_width"]:
        """How the edges were chosen."""
        return "equal_width"

    @property
    def edges(self) -> np.ndarray:
        """(bins + 1,) increasing numbers, half-integers where `integer`; read-only."""
        return regular_edges(self.low, self.high, self.bins, self.integer)


def attained_bins(low: float, high: float, bins: int) -> int:
    """The number of bins, at most `bins`, that cover low..high when each holds the same number of whole numbers, only the
    last one possibly fewer."""
    count = int(high) - int(low) + 1
    width = -(-count // bins)
    return -(-count // width)


@lru_cache(maxsize=16)
def regular_edges(low: float, high: float, bins: int, integer: bool) -> np.ndarray:
    """(bins + 1,) edges of a `RangeAttribute`, read-only."""
    if integer:
        width = -(-(int(high) - int(low) + 1) // bins)
        edges = np.minimum(low - 0.5 + width * np.arange(bins + 1.0), high + 0.5)
    else:
        edges = np.linspace(low, high, bins + 1)
    edges.flags.writeable = False
    return edges


def bin_labels(
    edges: tuple[float, ...] | np.ndarray, integer: bool, which: np.ndarray | None = None
) -> tuple[str, ...]:
    """Unique labels of the bins between `edges`: "20-29" for whole numbers, "[0.25, 0.5)" otherwise.

    Edges are shown to a hundredth of the narrowest bin, in as few digits as that takes. `which` picks bins by position.
    """
    edges = np.asarray(edges)
    which = np.arange(edges.size - 1) if which is None else which
    left, right = edges[which], edges[which + 1]
    if integer:
        dash = " to " if math.ceil(edges[0]) < 0 else "-"
        last = np.where(which == edges.size - 2, np.floor(right), np.ceil(right) - 1).tolist()
        pairs = ((math.ceil(low), int(high)) for low, high in zip(left.tolist(), last, strict=True))
        return tuple(str(low) if low == high else f"{low}{dash}{high}" for low, high in pairs)
    decimals = max(0, math.ceil(-math.log10(np.diff(edges).min())) + 2)
    rounded = decimals <= 15 and np.abs(edges).max() < 1e15

    def text(edge: float) -> str:
        if not rounded:
            return f"{edge:.17g}"
        shown = f"{edge:.{decimals}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        return "0" if shown == "-0" else shown

    closing = np.where(which == edges.size - 2, "]", ")").tolist()
    return tuple(
        f"[{text(low)}, {text(high)}{end}"
        for low, high, end in zip(left.tolist(), right.tolist(), closing, strict=True)
    )


def whole_ends(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last whole number of each bin, as Python integers (floats past 2^63 do not fit an int64)."""
    low = np.array([math.ceil(edge) for edge in edges[:-1]], dtype=object)
    high = np.array([*(math.ceil(edge) - 1 for edge in edges[1:-1]), math.floor(edges[-1])], dtype=object)
    return low, high
