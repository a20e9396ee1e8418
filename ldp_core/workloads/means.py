"""Averages and totals of a numeric attribute: one real-valued query, answered in the attribute's own unit."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from ldp_core import wording
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.grouped import placed, places_of
from ldp_core.workloads.part import Name, Part
from ldp_core.workloads.ratios import AVERAGES_COUNTED, Ratio, Sides, sides


@dataclass(frozen=True)
class Unit:
    """The unit of an answer that does not count people, that of the numeric attribute ``name``.

    Its query gives people a number from 0, at the value ``low``, to 1, at ``low`` + ``span``, so that the share of an answer is the place
    of the average between these, and errors of shares are shares of ``span``. ``total``: of all people together, no average. ``off``: how far
    the middle of a bin may be from the number of somebody in it. ``grouped``: of a group of people, were all groups equally large; numbers of its
    query are then from -g/2 to g/2 among g groups, and those of other people 0.
    """

    name: str
    low: float
    span: float
    total: bool = False
    off: float = 0.0
    grouped: bool = False

    def bins_in_words(self, users: float) -> str:
        """What bins may add to the error of an answer, in a sentence; empty where nothing."""
        most = wording.significant(self.off * (users if self.total else 1.0))
        return f" Bins may add up to {most} to that: values count as their middles." if self.off else ""

    def value(self, share: float, users: float) -> float:
        """An answer that is this ``share`` of ``users``, in the unit."""
        return (self.low + self.span * (share + self.grouped / 2)) * (users if self.total else 1.0)

    def error(self, share: float, users: float) -> float:
        """A difference of shares in the unit."""
        return self.span * share * (users if self.total else 1.0)

    @property
    def scale(self) -> str:
        """What shares of an answer are shares of."""
        ends = f"from {wording.significant(self.low)} to {wording.significant(self.low + self.span)}"
        return f"{ends}, counted from its middle" if self.grouped else ends

    def errors(self, users: float) -> wording.Scale:
        """How errors of this answer are written."""
        name = shortened(self.name)
        return wording.Scale(self.error(1.0, users), name, f"in {name}")

    def error_in_words(self, share: float, users: float) -> str:
        """An error with its unit: "± 12.5 in salary"."""
        return f"±\N{NO-BREAK SPACE}{self.errors(users).text(share)} in {shortened(self.name)}, {wording.share(share)} of its range"


class Mean(Custom):
    """Queries that give every type a number: ``unit`` says what of."""

    title = "Average"
    meaning = "The average or total of a numeric attribute."

    def __init__(self, rows: np.ndarray, names: Sequence[str], unit: Unit):
        super().__init__(rows, list(names))
        self._unit = unit

    def unit(self, query: int) -> Unit:
        return self._unit


# Values count as the middle of their bin, and devices do not round them at random to the edges beside them: types are the bins that all
# questions share, a histogram too, and a rounding of its own would cost such questions a type for each edge and the average up to a quarter
# of a bin's width squared for each person. What middles may be off by is said instead; finer bins make it as small as one likes.
def middles(axis: Axis) -> tuple[np.ndarray, float, float, float]:
    """(ordinary,) what values count as, the middle of their bin; the lowest and highest value; and the most that a middle is off by,
    half of the widest bin."""
    edges = np.asarray(axis.edges, dtype=float)
    low, high = edges[:-1], edges[1:]
    if axis.integer:
        low, high = np.ceil(low), np.append(np.ceil(high[:-1]) - 1, np.floor(high[-1]))
    return (low + high) / 2, float(low[0]), float(high[-1]), float((high - low).max() / 2)


def averageable(axis: Axis) -> bool:
    """True if everybody has a number: it has bins of numbers, and no types for other or missing values."""
    return len(axis.edges) > 0 and axis.ordinary == axis.size


def summable(axis: Axis) -> bool:
    """True if an attribute has bins of numbers that differ."""
    return len(axis.edges) > 0 and axis.size > 1


class _NumberPart(Part):
    attribute: Name
    _what: ClassVar[str]
    _total: ClassVar[bool]

    @property
    def _summary(self) -> str:
        return f"{wording.capital(self._what)} of {self.attribute}"

    @abstractmethod
    def _check(self, axis: Axis) -> None:
        """ValueError where the question does not fit."""

    def _build(self, axes: Sequence[Axis]) -> Workload:
        axis = self._axis(axes)
        self._check(axis)
        values, low, high, off = self._numbers(axis)
        groups = [axes[i] for i in places_of(axes, [*self.by, self.attribute])[:-1]]
        many = math.prod(group.size for group in groups)
        if many**2 * axis.size > MOST_STRATEGY_ENTRIES:
            raise ValueError(f"There are {many:,} groups, which are too many for a {self._what} of each.")
        rows = np.full((many, many, axis.size), (0.0 - low) / (high - low))
        rows[np.arange(many), np.arange(many)] = (values - low) / (high - low)
        unit, called = Unit(axis.name, low, high - low, self._total, off), f"{self._what} of {axis.name}"
        named = product(*([f"{group.name} = {label}" for label in group.labels] for group in groups))
        names = [", ".join([called, *each]) for each in named]
        base = Mean(rows.reshape(many, -1), names, unit)
        return placed(axes, places_of(axes, [*self.by, self.attribute]), base)

    def _numbers(self, axis: Axis) -> tuple[np.ndarray, float, float, float]:
        """`middles`, where who has no number, or is in another group, counts as 0."""
        values, low, high, off = middles(axis)
        if self.by or axis.ordinary < axis.size:
            low, high = min(low, 0.0), max(high, 0.0)
        return np.append(values, np.zeros(axis.size - axis.ordinary)), low, high, off

    def _axis(self, axes: Sequence[Axis]) -> Axis:
        axis = axes[places_of(axes, [self.attribute])[0]]
        if not summable(axis):
            raise ValueError(
                f"{shortened(self.attribute)} is not made of two or more bins of numbers, so it has no {self._what}; choose a numeric "
                "attribute, or ask for its histogram."
            )
        return axis

    def caveat(self, attributes: Any) -> str:
        """How answers are to be read, in sentences: how far the middles of bins may be off, and what errors are shares of."""
        axis = self._axis(axes_of(attributes))
        _, low, high, off = self._numbers(axis)
        most = f"by up to {wording.significant(off)}{' for each person' if self._total else ''}"
        exact = "Each bin holds one number, so nothing is lost by bins."
        said = (
            f"Values count as the middle of their bin, so the {self._what} may be off {most}, half of the widest bin."
        )
        if axis.ordinary < axis.size:
            said, exact = (f"{text} {' and '.join(axis.labels[axis.ordinary :])} count as 0." for text in (said, exact))
        scale = Unit(axis.name, low, high - low, self._total).scale
        if self.by and not self._total:
            return f"{said if off else exact} {AVERAGES_COUNTED}"
        return f"{said if off else exact} Errors in per cent or percentage points are parts of the range {scale}."


class MeanPart(_NumberPart):
    """The average of a numeric attribute, each person at the middle of their bin: of all people, whose number is known, or of those in each
    group of the attributes ``by``, a ratio where it is secret who is in them (`ldp_core.workloads.ratios`)."""

    kind: Literal["mean"] = "mean"
    _what = "average"
    _total = False

    def _check(self, axis: Axis) -> None:
        if not averageable(axis):
            raise ValueError(
                f"{shortened(axis.name)} has people without a number, {' and '.join(axis.labels[axis.ordinary :])}, and how many there are is "
                "not known; ask for its total, where they count as 0, or leave them out on the Data page."
            )

    def summed(self, axes: Sequence[Axis], groups: int) -> tuple[Workload, Ratio]:
        if self.by:
            raise ValueError("An average within groups is not divided once more; compare averages of all instead.")
        axis = self._axis(axes)
        self._check(axis)
        values, low, high, off = middles(axis)
        middle, span = (low + high) / 2, high - low
        row = groups * (values - middle) / span  # errors are then those of averages, were all groups equally large
        named = [f"average of {axis.name} (groups of equal size)"]
        base = Mean(row[None], named, Unit(axis.name, low, span, off=off, grouped=True))
        return placed(axes, places_of(axes, [self.attribute]), base), Ratio(middle, span / groups, axis.name, groups)

    def sides(self, axes: Sequence[Axis]) -> Sides | None:
        return sides(self.model_copy(update={"by": ()}), axes, self.by) if self.by else None


class TotalPart(_NumberPart):
    """The total of a numeric attribute over all people, or those of each group of the attributes ``by``, each at the middle of their bin; those
    without a number count as 0."""

    kind: Literal["total"] = "total"
    _what = "total"
    _total = True

    def build(self, attributes: Any) -> Workload:
        return self._build(axes_of(attributes))  # who is in another group counts as well: as 0

    def _check(self, axis: Axis) -> None:
        pass

    def summed(self, axes: Sequence[Axis], groups: int) -> tuple[Workload, Ratio]:
        raise ValueError("A total has no share of a group; ask for the average.")
