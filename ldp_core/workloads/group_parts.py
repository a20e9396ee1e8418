"""Questions that compare groups of people: differences, shares of a group, slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ldp_core.people import Tables
from ldp_core.workloads.answers import GroupQuestion
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.grouped import places_of, two_values, within
from ldp_core.workloads.means import MeanPart, averageable
from ldp_core.workloads.part import Name, Names, Part
from ldp_core.workloads.parts import HistogramPart, Question
from ldp_core.workloads.regression import Regression
from ldp_core.workloads.units import OF_GROUP, Unit


class _Compared(Part):
    of: Question

    @property
    def question(self) -> Any:
        return self.of


class DifferencePart(_Compared):
    """The answers to a question among the people who have the value ``first`` of an attribute, less
    those among the people who have ``second``, both by their labels; with ``shares``, of the share
    of each group, or its average."""

    kind: Literal["difference"] = "difference"
    attribute: Name
    first: Name
    second: Name
    shares: bool = Field(default=True, exclude_if=lambda shares: shares)

    @property
    def _summary(self) -> str:
        counted = (
            "" if self.of.averages or self.of.kind == "total" else ", shares" if self.shares else ", numbers of people"
        )
        return f"{self.of.summary}, {self.attribute} {self.first} minus {self.second}{counted}"

    @property
    def groups_by(self) -> tuple[str, ...]:
        return (self.attribute, *self.by) if self.shares else ()

    def group_question(self, axes: Sequence[Axis]) -> GroupQuestion | None:
        if not self.shares:
            return None
        unit = self.of.measured(axes, None)[0]
        unit = unit if self.of.averages else replace(unit, name=OF_GROUP)
        return self.of.question_within(axes, self.groups_by, unit, (self.first, self.second))

    def _build(self, axes: Sequence[Axis]) -> Workload:
        (place,) = places_of(axes, [self.attribute])
        axis, others = axes[place], [other for i, other in enumerate(axes) if i != place]
        first, second = two_values(axis, self.first, self.second)
        if self.of.averages:
            raise ValueError("An average of a group is no number of people in it: compare averages with shares=True.")
        if not others:
            raise ValueError(f"There is nothing to compare by {shortened(axis.name)} alone; add another attribute.")
        row = np.zeros((1, axis.size))
        row[0, [first, second]] = 1.0, -1.0
        compared = Custom(row, [f"{axis.at(first)} minus {axis.at(second)}"])
        return within(self.of.build(others), axes, [place], [compared])


class SharePart(_Compared):
    """The answers to a question as shares of the people in each group of the attributes ``within``:
    a ratio where it is secret who is in them (`ldp_core.workloads.answers`)."""

    kind: Literal["share"] = "share"
    within: Annotated[Names, Field(min_length=1)]

    @property
    def _summary(self) -> str:
        return f"{self.of.summary}, as shares of each {' x '.join(self.within)}"

    @property
    def groups_by(self) -> tuple[str, ...]:
        return (*self.within, *self.by)

    def group_question(self, axes: Sequence[Axis]) -> GroupQuestion:
        if self.of.averages:
            raise ValueError("An average has no share of a group; ask for the average within each group.")
        unit = replace(self.of.measured(axes, None)[0], name=OF_GROUP)
        return self.of.question_within(axes, self.groups_by, unit)

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return self.line(axes, None).workload  # for people spread evenly


class SlopePart(Part):
    """How the answer ``of`` a column changes with columns ``on`` that the collector knows: the
    coefficients of a linear regression with an intercept (`ldp_core.workloads.regression`). A
    column of numbers is averaged; of two values the share of one is taken."""

    kind: Literal["slope"] = "slope"
    of: Name
    on: Annotated[Names, Field(min_length=1)]

    @property
    def _summary(self) -> str:
        return f"How {self.of} changes with {' and '.join(self.on)}"

    @property
    def mentions(self) -> tuple[str, ...]:
        return self.of, *self.on

    @property
    def groups_by(self) -> tuple[str, ...]:
        return self.on

    def _outcome(self, axes: Sequence[Axis]) -> HistogramPart | MeanPart:
        axis = axes[places_of(axes, [self.of])[0]]
        if averageable(axis):
            return MeanPart(attribute=self.of)
        if axis.size > 2:
            raise ValueError(
                f"{shortened(self.of)} has {axis.size} values and is not made of bins of numbers alone; a slope is of numbers, or of two values."
            )
        return HistogramPart(attribute=self.of)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        unit, spread = self._outcome(axes).measured(axes, people)
        return unit if unit.name == self.of else replace(unit, name=OF_GROUP), spread

    def group_question(self, axes: Sequence[Axis]) -> GroupQuestion:
        if self.by:
            raise ValueError("A regression is not asked within groups; add their columns to those that it is on.")
        groups = self._outcome(axes).question_within(axes, self.on, self.measured(axes, None)[0])
        if secret := [axes[i].name for i in groups.groups if not axes[i].known]:
            raise ValueError(
                f"The collector does not know {shortened(secret[0])}; a slope is on columns that it knows."
            )
        return Regression(**vars(groups))

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return self.line(axes, None).workload  # for people spread evenly


WorkloadPart = Annotated[Question | DifferencePart | SharePart | SlopePart, Field(discriminator="kind")]
