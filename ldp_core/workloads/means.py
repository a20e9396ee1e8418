"""Averages and totals of a numeric attribute: one real-valued query, answered in the attribute's own unit."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ldp_core import wording
from ldp_core.limits import MOST_EXACT_TYPES
from ldp_core.people import People, Tables
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.grouped import placed, places_of
from ldp_core.workloads.part import AveragePart, Name, Part
from ldp_core.workloads.units import Unit


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


def bins_for(axis: Axis, off: float) -> int:
    """How many bins of one width have middles that are off by at most so much; where ends are whole, edges are whole too if enough bins can have that."""
    _, low, high, _ = middles(axis)
    span, whole = high - low + axis.integer, axis.integer or (low.is_integer() and high.is_integer())
    least = math.ceil(span / (2 * off + axis.integer))
    fitting = (bins for bins in range(least, MOST_EXACT_TYPES + 1) if whole and span % bins == 0)
    return next(fitting, int(span) if axis.integer else least)


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
        values = np.append(middles(axis)[0], np.zeros(axis.size - axis.ordinary)) - self._unit(axis).middle
        return placed(axes, places_of(axes, [self.attribute]), Custom(values[None], [f"{self._what} of {axis.name}"]))

    def _unit(self, axis: Axis) -> Unit:
        """The unit of answers. Who has no number counts as 0."""
        _, low, high, off = middles(axis)
        if axis.ordinary < axis.size:
            low, high = min(low, 0.0), max(high, 0.0)
        middle = 0.0 if self._total else (low + high) / 2
        return Unit(axis.name, 1.0, middle, high - low, low, self._total, off)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        unit = self._unit(self._axis(axes))
        if people is None:
            return unit, 0.0
        (place,) = places_of(axes, [self.attribute])
        counts, values = people.table((place,))[: axes[place].ordinary], middles(axes[place])[0]
        users = max(1, counts.sum())
        return unit, float(np.sqrt(counts @ (values - counts @ values / users) ** 2 / users))

    def shift(self, axes: Sequence[Axis], people: People | None) -> np.ndarray:
        place, *by = places_of(axes, [self.attribute, *self.by])
        added = None if people is None else people.added(place, by)
        if people is None or added is None:
            return np.zeros(1)
        counts = people.table((place, *by)).reshape(axes[place].size, -1)[: axes[place].ordinary]
        return np.asarray((added - middles(axes[place])[0] @ counts) / people.users)

    def _axis(self, axes: Sequence[Axis]) -> Axis:
        axis = axes[places_of(axes, [self.attribute])[0]]
        if not summable(axis):
            raise ValueError(
                f"{shortened(self.attribute)} is not made of two or more bins of numbers, so it has no {self._what}; choose a numeric "
                "attribute, or ask for its histogram."
            )
        return axis

    def caveat(self, attributes: Any) -> str:
        """How answers are to be read, in sentences: how far the middles of bins may be off."""
        axis = self._axis(axes_of(attributes))
        off = self._unit(axis).off
        most = f"by up to {wording.significant(off)}{' for each person' if self._total else ''}"
        said = "Each bin holds one number, so nothing is lost by bins."
        if off:
            said = f"Values count as the middle of their bin, so the {self._what} may be off {most}, half of the widest bin."
        if axis.ordinary < axis.size:
            said += f" {' and '.join(axis.labels[axis.ordinary :])} count as 0."
        return said


class MeanPart(_NumberPart, AveragePart):
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


class TotalPart(_NumberPart):
    """The total of a numeric attribute over all people, or those of each group of the attributes ``by``, each at the middle of their bin; those
    without a number count as 0."""

    kind: Literal["total"] = "total"
    _what = "total"
    _total = True

    def _check(self, axis: Axis) -> None:
        pass

    def numbers(self, axes: Sequence[Axis]) -> Workload:
        raise ValueError("A total has no share of a group; ask for the average.")
