"""The common part of all recipes for queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, Strict

from ldp_core.people import People, Tables
from ldp_core.workloads.answers import GroupQuestion, Line, sides_of
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.grouped import by_groups, places_of, two_values
from ldp_core.workloads.ratios import Rates
from ldp_core.workloads.surveyed import groups_of
from ldp_core.workloads.surveys import Group
from ldp_core.workloads.units import Unit

Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], Strict(False)]  # a list from a widget is welcome


class Frozen(BaseModel):
    """Frozen; unknown keys, NaN and "3" for 3 refused, so that one meaning has one spelling."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Part(Frozen):
    """The common part of all recipes: ``weight`` scales the queries, and the importance of their
    errors by its square; they are asked within each group of the attributes ``by``."""

    weight: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    by: Names = Field(default=(), exclude_if=lambda by: not by)
    averages: ClassVar[bool] = False
    """True if answers are averages, which have no shares."""

    def build(self, attributes: Any) -> Workload:
        """The queries, without the weight, on the types of ``attributes``: a `Domain`, or a
        sequence of its attributes.

        ValueError, one sentence, where the recipe does not fit the attributes.
        """
        axes = axes_of(attributes)
        if not self.by:
            return self._build(axes)
        by, others = _apart(axes, self.model_copy(update={"by": ()}).mentions, self.by)
        return by_groups(self._build([axes[i] for i in others]), axes, by)

    @abstractmethod
    def _build(self, axes: Sequence[Axis]) -> Workload:
        """`build` on the attributes that do not make up the groups."""

    def numbers(self, axes: Sequence[Axis]) -> Workload:
        """What is added up over the people of each group, where answers are shares of these or
        their averages."""
        return self.build(axes)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        """The unit of the answers, and how far the numbers averaged are spread among ``people`` (0
        where that is not known)."""
        return Unit(), 0.0

    def shift(self, axes: Sequence[Axis], people: People | None) -> np.ndarray:
        """(1,) or (p,): how far the answers of ``people``, for each person, are from those that the
        queries count."""
        return np.zeros(1)

    @property
    def groups_by(self) -> tuple[str, ...]:
        """The attributes that make up the groups which answers are shares or averages of; none
        where answers are about everybody."""
        return ()

    def group_question(self, axes: Sequence[Axis]) -> GroupQuestion | None:
        """The question within groups; None where answers are about everybody."""
        return None

    def question_within(
        self, axes: Sequence[Axis], names: Sequence[str], unit: Unit, pair: tuple[str, str] | None = None
    ) -> GroupQuestion:
        """The question within each group of the attributes ``names``, or in a ``pair`` of values of
        the first of these. ValueError where it does not fit."""
        places, others = _apart(axes, self.mentions, names)
        chosen = [axes[i] for i in others]
        tables = groups_of(self.numbers(chosen), tuple(axis.size for axis in chosen), chosen)
        moved = (Group(tuple(others[i] for i in table.attributes), table.base, table.weight) for table in tables)
        return GroupQuestion(
            tuple(moved), tuple(places), pair and two_values(axes[places[0]], *pair), unit, tuple(axes)
        )

    def rates(self, axes: Sequence[Axis], people: People | None) -> Rates | None:
        """What a design takes of planning data for the question (None: people spread evenly); None
        where answers are about everybody."""
        question = self.group_question(axes)
        return None if question is None else question.rates(people, self.question.measured(axes, people)[1])

    def line(self, axes: Sequence[Axis], people: People | None, rates: Rates | None = None) -> Line:
        """The answers to the question, for the planning data ``people``, or the ``rates`` taken of
        these. ValueError, one sentence, where it does not fit the attributes."""
        question = self.group_question(axes)
        if question is None:
            workload, (unit, spread) = self.build(axes), self.question.measured(axes, people)
            compared = getattr(self, "shares", None) is not None  # numbers of people in two groups
            numbers: dict[str, Any] = {"spread": spread, "shift": self.shift(axes, people), "weight": self.weight}
            sides = sides_of(axes, places_of(axes, self.by))
            return Line(self.summary, unit, workload, ((workload, 1.0),), difference=compared, sides=sides, **numbers)
        measured = self.rates(axes, people if rates is None else None)
        assert measured is not None
        if rates is not None and rates.ratios.shape != measured.ratios.shape:
            raise ValueError(
                "The rates taken of planning data are about other questions: take them again, or spread people evenly."
            )
        return question.line(self.summary, self.weight, rates or measured)

    def about(self, before: str, name: str) -> Self:
        """The same queries where the attribute ``before`` is called ``name``, for recipes that are
        about one attribute."""
        fits = getattr(self, "attribute", None) == before
        return self.model_copy(update={"attribute": name}) if fits else self

    @property
    def mentions(self) -> tuple[str, ...]:
        """The attributes that the recipe names, each once. Conditions are text, which is not looked
        into."""
        about = [
            getattr(self, "attribute", None),
            *(getattr(self, "attributes", None) or ()),
            *getattr(self, "within", ()),
        ]
        compared = () if self.question is self else self.question.mentions
        listed = [about, *getattr(self, "groups", ()), compared, self.by]
        return tuple(dict.fromkeys(name for names in listed for name in names if name))

    @property
    def question(self) -> Any:
        """The recipe that it compares or divides; itself for all others."""
        return self

    @property
    def summary(self) -> str:
        """The recipe in a few words, for lists: "Running totals along age, within each sex"."""
        return self._summary + (f", within each {' x '.join(self.by)}" if self.by else "")

    @property
    @abstractmethod
    def _summary(self) -> str:
        """`summary` without the groups."""


class AveragePart(Part):
    """Averages of everybody, or of those in each group of the attributes ``by``, where they are
    ratios."""

    averages = True
    _names: ClassVar[tuple[str, str]] = ("An average", "averages")
    """One of them and several, in words."""

    @abstractmethod
    def _axis(self, axes: Sequence[Axis]) -> Axis:
        """The attribute that is averaged."""

    @abstractmethod
    def _unit(self, axis: Axis) -> Unit:
        """The unit of the answers."""

    def numbers(self, axes: Sequence[Axis]) -> Workload:
        if self.by:
            one, several = self._names
            raise ValueError(f"{one} within groups is not divided once more; compare {several} of all instead.")
        return self._build(axes)

    @property
    def groups_by(self) -> tuple[str, ...]:
        return self.by

    def group_question(self, axes: Sequence[Axis]) -> GroupQuestion | None:
        alone = self.model_copy(update={"by": ()})
        return alone.question_within(axes, self.by, self._unit(self._axis(axes))) if self.by else None


def _apart(axes: Sequence[Axis], mentioned: Sequence[str], names: Sequence[str]) -> tuple[list[int], list[int]]:
    """The places of the attributes ``names``, which make up groups, and of all others. ValueError
    where none is left."""
    places = places_of(axes, [*mentioned, *names])[-len(names) :]
    others = [i for i in range(len(axes)) if i not in places]
    if not others:
        raise ValueError("Groups by every attribute leave nothing to ask within them; leave one out.")
    return places, others
