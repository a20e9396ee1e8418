"""Recipes for queries over a domain of several attributes, as people think of them.

A recipe (`WorkloadPart`) names attributes, so that it survives changes of their bins, and is built
for a domain by `build`; `over_attributes` makes one workload of several, each with its weight. All
are frozen pydantic models that can be saved as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, Strict, field_validator

from ldp_core import limits, wording
from ldp_core.limits import MOST_CONDITIONS, MOST_SETS_IN_A_PART
from ldp_core.people import Tables
from ldp_core.workloads import expressions
from ldp_core.workloads.axes import Axis, yes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.before_part import BeforePart
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.days_part import DaysPart
from ldp_core.workloads.grouped import placed, places_of
from ldp_core.workloads.items_part import ItemsPart, NumberOfItemsPart
from ldp_core.workloads.matrix_part import MatrixPart
from ldp_core.workloads.mean_rank_part import MeanRankPart
from ldp_core.workloads.means import MeanPart, TotalPart, averageable, middles
from ldp_core.workloads.ordered import AllRange, Histogram, Prefix, WidthRange
from ldp_core.workloads.pairs_of_items_part import PairsOfItemsPart
from ldp_core.workloads.part import Frozen, Name, Names, Part
from ldp_core.workloads.predicates import Predicates
from ldp_core.workloads.subsets import AllMarginals, KWayMarginals, Parity
from ldp_core.workloads.types_part import TypesPart
from ldp_core.workloads.units import Unit


class HistogramPart(Part):
    """How many people have each value of one attribute."""

    kind: Literal["histogram"] = "histogram"
    attribute: Name

    @property
    def _summary(self) -> str:
        return f"Histogram of {self.attribute}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return _joint(axes, places_of(axes, [self.attribute]))

    def numbers(self, axes: Sequence[Axis]) -> Workload:
        """One of two values alone: the share of the other mirrors it."""
        (place,) = places_of(axes, [self.attribute])
        axis = axes[place]
        if axis.size > 2 or self.by:
            return self.build(axes)
        value = yes_of(axis.labels)
        return placed(axes, [place], Custom(np.eye(1, 2, value), [axis.at(value)]))


class JointHistogramPart(Part):
    """How many people are of each type: every combination of values of all attributes."""

    kind: Literal["joint_histogram"] = "joint_histogram"

    @property
    def _summary(self) -> str:
        return "Joint histogram of all attributes"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return _joint(axes, range(len(axes)))


class PrefixPart(Part):
    """Running totals along an ordered attribute (its distribution function)."""

    kind: Literal["prefix"] = "prefix"
    attribute: Name
    by: Names = ()  # written even if empty, here and below: digests recorded in files cover it

    @property
    def _summary(self) -> str:
        return f"Running totals along {self.attribute}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return _along(axes, self.attribute, lambda n, axis: Prefix(n, [axis]))


class RangesPart(Part):
    """All intervals of an ordered attribute, or those of at most ``width`` types."""

    kind: Literal["ranges"] = "ranges"
    attribute: Name
    width: Annotated[int, Field(ge=1)] | None = None
    by: Names = ()

    @property
    def _summary(self) -> str:
        wide = "All ranges" if self.width is None else f"Ranges of at most {self.width:,} types"
        return f"{wide} along {self.attribute}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        def ranges(n: int, axis: Axis) -> Workload:
            return AllRange(n, [axis]) if self.width is None else WidthRange(n, min(self.width, n), [axis])

        return _along(axes, self.attribute, ranges)


class RectanglesPart(Part):
    """All intervals of one ordered attribute together with all intervals of another, or of two
    others: every rectangle, or box, of their table."""

    kind: Literal["rectangles"] = "rectangles"
    attributes: Annotated[tuple[Name, ...], Strict(False), Field(min_length=2, max_length=3)]

    @property
    def _summary(self) -> str:
        *others, last = self.attributes
        return f"All ranges over {', '.join(others)} and {last} together"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        places = sorted(places_of(axes, self.attributes))
        lines = [_line(axes[i]) for i in places]
        base = Product([AllRange(line.size, [line]) for line in lines])
        whole = all(axes[i].size == line.size for i, line in zip(places, lines, strict=True))
        return placed(axes, places, base, None if whole else [line.size for line in lines])


class MarginalsPart(Part):
    """The joint counts of chosen groups of attributes, such as pairs or triples."""

    kind: Literal["marginals"] = "marginals"
    groups: Annotated[tuple[Names, ...], Strict(False), Field(min_length=1, max_length=MOST_SETS_IN_A_PART)]

    @field_validator("groups")
    @classmethod
    def _check_groups(cls, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if not all(groups):
            raise ValueError("a group of attributes is empty: choose at least one attribute.")
        if len({frozenset(group) for group in groups}) < len(groups):
            raise ValueError("a group of attributes is there more than once: keep it once, and give it a weight.")
        return groups

    @property
    def _summary(self) -> str:
        named = [" x ".join(group) for group in self.groups[:3]]
        more = len(self.groups) - len(named)
        return f"Joint counts of {', '.join(named)}{f' and {more:,} more groups' if more else ''}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        tables = [_joint(axes, places_of(axes, group)) for group in self.groups]
        return tables[0] if len(tables) == 1 else Union(tables)


class KWayMarginalsPart(Part):
    """The joint counts of every group of exactly ``k`` attributes."""

    kind: Literal["k_way_marginals"] = "k_way_marginals"
    k: Annotated[int, Field(ge=1)]

    @property
    def _summary(self) -> str:
        return f"Joint counts of every {self.k} attributes" if self.k > 1 else "Histograms of every attribute"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        places, shape, chosen = _telling(axes)
        if self.k > len(places):
            raise ValueError(
                f"Groups of {self.k} attributes need at least {self.k} that have 2 types or more; there are {len(places)}."
            )
        return placed(axes, places, KWayMarginals(shape, self.k, chosen))


class AllMarginalsPart(Part):
    """The joint counts of every group of attributes, from everyone to all of them."""

    kind: Literal["all_marginals"] = "all_marginals"

    @property
    def _summary(self) -> str:
        return "Joint counts of every group of attributes"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        places, shape, chosen = _telling(axes)
        return placed(axes, places, AllMarginals(shape, chosen))


class ParityPart(Part):
    """Parities of groups of up to ``max_weight`` attributes of two types (all such groups, or those
    named): the people who have the second value of an even number of them, less those of an odd
    number."""

    kind: Literal["parity"] = "parity"
    attributes: Names | None = None
    max_weight: Annotated[int, Field(ge=0)] | None = None

    @property
    def _summary(self) -> str:
        of = "all attributes of two types" if self.attributes is None else ", ".join(self.attributes)
        return f"Parities of {of}{'' if self.max_weight is None else f', at most {self.max_weight} at once'}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        if self.attributes is None:
            places = [i for i, axis in enumerate(axes) if axis.size == 2]
        else:
            places = places_of(axes, self.attributes)
        many = [axes[i] for i in places if axes[i].size != 2]
        if many or not places:
            reason = f"{shortened(many[0].name)} has {many[0].size}" if many else "no attribute has just two"
            raise ValueError(f"Parity asks about attributes of two types; {reason}.")
        weight = None if self.max_weight is None else min(self.max_weight, len(places))
        return placed(axes, places, Parity(len(places), weight, [axes[i] for i in places]))

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        return Unit(span=2.0, least=-100.0), 0.0


class Predicate(Frozen):
    """A condition in the language of `ldp_core.workloads.expressions`, and what to call it (the
    condition itself if None)."""

    expression: Annotated[str, Field(max_length=limits.MOST_CONDITION_CHARACTERS)]
    name: Name | None = None

    @property
    def title(self) -> str:
        """The name that estimates are shown under."""
        return self.name or " ".join(self.expression.split())


class PredicatesPart(Part):
    """How many people fulfil each of some conditions."""

    kind: Literal["predicates"] = "predicates"
    predicates: Annotated[tuple[Predicate, ...], Strict(False), Field(min_length=1, max_length=MOST_CONDITIONS)]

    @property
    def _summary(self) -> str:
        many = len(self.predicates)
        return f"{many:,} conditions" if many > 1 else self.predicates[0].title

    def _build(self, axes: Sequence[Axis]) -> Workload:
        shape = [axis.size for axis in axes]
        rows = []
        for i, predicate in enumerate(self.predicates, start=1):
            try:
                factors = expressions.factors(expressions.parse(predicate.expression, axes), shape)
                if not all(table.any() for _, table in factors):
                    raise ValueError("it is true for no type; loosen it, or leave it out.")
            except ValueError as error:
                title = shortened(predicate.title)
                raise ValueError(f"Condition {i}, {title}: {wording.uncapitalised(str(error))}") from None
            rows.append(factors)
        mentioned = sorted({i for factors in rows for on, _ in factors for i in on}) or list(range(len(axes)))
        moved = [[(tuple(mentioned.index(i) for i in on), table) for on, table in factors] for factors in rows]
        titles = [predicate.title for predicate in self.predicates]
        return placed(axes, mentioned, Predicates([shape[i] for i in mentioned], moved, titles))


class MomentsPart(Part):
    """The averages, squares and products of columns of numbers, each from -1 to 1 over its range:
    slopes and correlations follow from them where all are secret
    (`ldp_core.deploy.collector.associating`)."""

    kind: Literal["moments"] = "moments"
    attributes: Annotated[tuple[Name, ...], Strict(False), Field(min_length=2, max_length=10)]

    @property
    def _summary(self) -> str:
        return f"Averages, squares and products of {', '.join(self.attributes)}"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        places = sorted(places_of(axes, self.attributes))
        if unlike := [axes[i].name for i in places if not averageable(axes[i])]:
            raise ValueError(f"{shortened(unlike[0])} is not made of bins of numbers alone, so it has no square.")
        found = {i: middles(axes[i])[:3] for i in places}
        u = {i: (2 * at - low - high) / (high - low) for i, (at, low, high) in found.items()}
        singles = [
            placed(
                axes,
                [i],
                Custom(np.stack([u[i], u[i] ** 2]), [f"average of {axes[i].name}", f"square of {axes[i].name}"]),
            )
            for i in places
        ]
        pairs = [
            placed(axes, [i, j], Custom(np.outer(u[i], u[j]).reshape(1, -1), [f"{axes[i].name} times {axes[j].name}"]))
            for i, j in combinations(places, 2)
        ]
        return Union([*singles, *pairs], [0.5] * len(singles) + [1.0] * len(pairs))

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        return Unit(span=2.0, least=-100.0), 0.0


Question = Annotated[
    HistogramPart
    | JointHistogramPart
    | PrefixPart
    | RangesPart
    | RectanglesPart
    | MarginalsPart
    | KWayMarginalsPart
    | AllMarginalsPart
    | ParityPart
    | PredicatesPart
    | MeanPart
    | TotalPart
    | MomentsPart
    | ItemsPart
    | NumberOfItemsPart
    | PairsOfItemsPart
    | MeanRankPart
    | BeforePart
    | DaysPart
    | MatrixPart
    | TypesPart,
    Field(discriminator="kind"),
]


def _telling(axes: Sequence[Axis]) -> tuple[list[int], tuple[int, ...], list[Axis]]:
    """The attributes that tell people apart: their places, sizes and axes."""
    places = [i for i, axis in enumerate(axes) if axis.size > 1]
    if not places:
        raise ValueError("Every attribute has one type only, so there is nothing to ask; add an attribute.")
    return places, tuple(axes[i].size for i in places), [axes[i] for i in places]


def _joint(axes: Sequence[Axis], places: Sequence[int]) -> Workload:
    chosen = [axes[i] for i in places]
    return placed(axes, places, Histogram(math.prod(axis.size for axis in chosen), chosen))


def _along(axes: Sequence[Axis], name: str, ordered: Any) -> Workload:
    """``ordered(n, axis)`` along the ordinary types of an attribute."""
    (place,) = places_of(axes, [name])
    ordinary = _line(axes[place])
    used = [ordinary.size] if ordinary.size < axes[place].size else None
    return placed(axes, [place], ordered(ordinary.size, ordinary), used)


def _line(axis: Axis) -> Axis:
    """The ordinary types of an ordered attribute. ValueError for one without an order, or with a
    single type that has a place."""
    if not axis.ordered:
        raise ValueError(
            f"{shortened(axis.name)} has no order, so nothing goes up to or between its values; ask for its histogram, or say on "
            "the Data page that it is ordered."
        )
    if axis.ordinary < 2:
        raise ValueError(
            f"{shortened(axis.name)} has a single value besides (other) and (missing); ask for its histogram."
        )
    return axis.first(axis.ordinary)
