"""Recipes for queries over a domain of several attributes, as people think of them.

A recipe (`WorkloadPart`) names attributes, so that it survives changes of their bins, and is built for a domain by
`build`; `over_attributes` makes one workload of several, each with its weight. All are frozen pydantic models that can be
saved as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, Strict, field_validator

from ldp_core import limits
from ldp_core.limits import MOST_CONDITIONS, MOST_SETS_IN_A_PART
from ldp_core.people import Counts, Tables, people_of
from ldp_core.workloads import expressions
from ldp_core.workloads.answers import Answers, Asked, default_targets
from ldp_core.workloads.axes import Axis, axes_of, yes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.before_part import BeforePart
from ldp_core.workloads.comparisons import quoted, shortened
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.days_part import DaysPart
from ldp_core.workloads.grouped import placed, places_of, two_values, within
from ldp_core.workloads.items_part import ItemsPart, NumberOfItemsPart
from ldp_core.workloads.matrix_part import MatrixPart
from ldp_core.workloads.mean_rank_part import MeanRankPart
from ldp_core.workloads.means import MeanPart, TotalPart, averageable, middles
from ldp_core.workloads.ordered import AllRange, Histogram, Prefix, WidthRange
from ldp_core.workloads.pairs_of_items_part import PairsOfItemsPart
from ldp_core.workloads.part import Frozen, Name, Names, Part
from ldp_core.workloads.predicates import Predicates
from ldp_core.workloads.ratios import Rates
from ldp_core.workloads.regression import Regression
from ldp_core.workloads.secret import partly_secret
from ldp_core.workloads.strata import stratified
from ldp_core.workloads.subsets import AllMarginals, KWayMarginals, Parity
from ldp_core.workloads.surveyed import surveyed
from ldp_core.workloads.types_part import TypesPart
from ldp_core.workloads.units import LEAST_TARGET, OF_GROUP, Detect, Target, Unit


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
    """All intervals of one ordered attribute together with all intervals of another, or of two others: every rectangle, or box, of
    their table."""

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
    """A condition in the language of `ldp_core.workloads.expressions`, and what to call it (the condition itself if
    None)."""

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
                raise ValueError(f"Condition {i}, {title}: {_uncapitalised(str(error))}") from None
            rows.append(factors)
        mentioned = sorted({i for factors in rows for on, _ in factors for i in on}) or list(range(len(axes)))
        moved = [[(tuple(mentioned.index(i) for i in on), table) for on, table in factors] for factors in rows]
        titles = [predicate.title for predicate in self.predicates]
        return placed(axes, mentioned, Predicates([shape[i] for i in mentioned], moved, titles))


class MomentsPart(Part):
    """The averages, squares and products of columns of numbers, each from -1 to 1 over its range: slopes and correlations follow from
    them where all are secret (`ldp_core.deploy.collector.associating`)."""

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
        own = [
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
        return Union([*own, *pairs], [0.5] * len(own) + [1.0] * len(pairs))

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


class _Compared(Part):
    of: Question

    @property
    def question(self) -> Any:
        return self.of


class DifferencePart(_Compared):
    """The answers to a question among the people who have the value ``first`` of an attribute, less those among the people who have
    ``second``, both by their labels; with ``shares``, of the share of each group, or its average."""

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

    def asked(self, axes: Sequence[Axis]) -> Asked | None:
        if not self.shares:
            return None
        unit = self.of.measured(axes, None)[0]
        unit = unit if self.of.averages else replace(unit, name=OF_GROUP)
        return self.of.asked_within(axes, self.groups_by, unit, (self.first, self.second))

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
    """The answers to a question as shares of the people in each group of the attributes ``within``: a ratio where it is secret who is in
    them (`ldp_core.workloads.answers`)."""

    kind: Literal["share"] = "share"
    within: Annotated[Names, Field(min_length=1)]

    @property
    def _summary(self) -> str:
        return f"{self.of.summary}, as shares of each {' x '.join(self.within)}"

    @property
    def groups_by(self) -> tuple[str, ...]:
        return (*self.within, *self.by)

    def asked(self, axes: Sequence[Axis]) -> Asked:
        if self.of.averages:
            raise ValueError("An average has no share of a group; ask for the average within each group.")
        unit = replace(self.of.measured(axes, None)[0], name=OF_GROUP)
        return self.of.asked_within(axes, self.groups_by, unit)

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return self.line(axes, None).told  # for people spread evenly


class SlopePart(Part):
    """How the answer ``of`` a column changes with columns ``on`` that the collector knows: the coefficients of a linear regression with an
    intercept (`ldp_core.workloads.regression`). A column of numbers is averaged; of two values the share of one is taken."""

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

    def asked(self, axes: Sequence[Axis]) -> Asked:
        if self.by:
            raise ValueError("A regression is not asked within groups; add their columns to those that it is on.")
        within = self._outcome(axes).asked_within(axes, self.on, self.measured(axes, None)[0])
        if secret := [axes[i].name for i in within.groups if not axes[i].known]:
            raise ValueError(
                f"The collector does not know {shortened(secret[0])}; a slope is on columns that it knows."
            )
        return Regression(**vars(within))

    def _build(self, axes: Sequence[Axis]) -> Workload:
        return self.line(axes, None).told  # for people spread evenly


WorkloadPart = Annotated[Question | DifferencePart | SharePart | SlopePart, Field(discriminator="kind")]


def over_attributes(
    parts: Sequence[WorkloadPart],
    attributes: Any,
    targets: Mapping[str, Target] | None = None,
    counts: Counts | Sequence[Rates | None] | None = None,
    check: Callable[[], None] = lambda: None,
    people: Counts | None = None,
) -> Workload:
    """One workload of the answers to all ``parts``, for designs; what was asked is kept in its `asked`.

    Parameters
    ----------
    parts : questions, each with its weight.
    attributes : a `Domain`, or a sequence of attributes.
    targets : {unit of answers: standard error in it, or `Detect`}; by default those of `default_targets`.
    counts : (n,) planning data, or `People`, of which shares, averages and sizes of groups are taken; or these, for each part; None for people who
        are evenly spread.
    check : called between parts, and may raise to stop it.
    people : planning data of which targets are taken by themselves, by default ``counts``.

    Returns
    -------
    Workload
        A single question about everybody as it is; else a `Union`, or a `Survey` where that serves better (see `surveyed`); with `strata`
        where the collector knows some attributes.

    Raises
    ------
    ValueError
        One sentence, naming the part where there are several, when one does not fit.
    """
    if not parts:
        raise ValueError("There is nothing to ask yet; add at least one group of queries.")
    axes, lines = axes_of(attributes), []
    taken = counts if isinstance(counts, Sequence) else [None] * len(parts)
    planned = people if isinstance(counts, Sequence) else counts
    known = None if planned is None else people_of(planned, [axis.size for axis in axes])
    for i, part in enumerate(parts, start=1):
        check()
        try:
            lines.append(part.line(axes, known, taken[i - 1]))
        except ValueError as error:
            if len(parts) == 1:
                raise
            raise ValueError(f"Group {i} of the queries: {_uncapitalised(str(error))}") from None
    answered = [replace(line, told=_as_known(line.told, axes)) for line in lines]
    chosen = default_targets(answered, known) | dict(targets or {})
    lines = [replace(line, target=chosen[line.key]) for line in lines]
    if wrong := [line for line in lines if not LEAST_TARGET <= line.standard_error < math.inf]:
        raise ValueError(
            f"The target for {wrong[0].key} must be at least {LEAST_TARGET:g}; got {wrong[0].standard_error:g}."
        )
    scale = lines[0].scale
    design = [(workload, weight * line.scale / scale) for line in lines for workload, weight in line.design]
    told = [(line.told, line.scale / scale) for line in lines]
    whole = assembled(design, axes)
    answers = whole if told == design else assembled(told, axes)
    if len(told) == 1 and answers is whole:
        answered = [replace(answered[0], told=whole)]
    named = tuple(replace(line, target=chosen[line.key]) for line in answered)
    squares = [line.weight**2 * (line.told.num_queries if isinstance(line.target, Detect) else 1) for line in lines]
    whole.asked = Answers(named, answers, math.fsum(squares) / scale**2, axes)
    return whole


def rates_of(parts: Sequence[WorkloadPart], attributes: Any, people: Counts | None) -> list[Rates | None]:
    """What a design takes of planning data, for each part, two significant digits of each: see `Rates`."""
    axes = axes_of(attributes)
    counted = None if people is None else people_of(people, [axis.size for axis in axes])
    taken = [part.rates(axes, counted) for part in parts]
    units = [None if asked is None else asked.unit for asked in (part.asked(axes) for part in parts)]
    return [None if own is None or unit is None else own.rounded(unit) for own, unit in zip(taken, units, strict=True)]


def assembled(parts: Sequence[tuple[Workload, float]], axes: Sequence[Axis]) -> Workload:
    """One workload of several with weights, in the form that designs take. ValueError where no report tells anything about them."""
    workloads, weights = zip(*parts, strict=True)
    whole = workloads[0] if len(parts) == 1 else Union(workloads, weights)
    if any(axis.known for axis in axes):
        return stratified(partly_secret(whole, axes), axes)
    return partly_secret(surveyed(whole, axes), axes)


def _as_known(told: Workload, axes: Sequence[Axis]) -> Workload:
    """The answers to one question as mechanisms take them. What the collector knows without a report has no strata."""
    if not any(axis.known for axis in axes):
        return partly_secret(surveyed(told, axes), axes)
    try:
        return stratified(partly_secret(told, axes), axes)
    except ValueError:
        return surveyed(told, axes)


def default_parts(attributes: Any) -> tuple[WorkloadPart, ...]:
    """The questions of a new design. A single attribute gets running totals if it has an order,
    else a histogram; several attributes get the joint counts of every two, or where values are combinations each a question of its own. The attributes that the collector knows make groups: each of the others
    is asked about by itself, as shares within each group, and two groups are compared, the second with the first."""
    axes = axes_of(attributes)
    if known := [axis for axis in axes if axis.known and axis.size > 1]:
        secret = [axis for axis in axes if not axis.known]
        asked: tuple[Any, ...] = tuple(map(share_of, [axis for axis in secret if axis.size > 1] or secret))
        names = tuple(axis.name for axis in known)
        within_each: tuple[WorkloadPart, ...] = tuple(
            part.model_copy(update={"by": names}) if part.averages else SharePart(of=part, within=names)
            for part in asked
        )
        if len(known) > 1 or known[0].size > 2:
            return within_each
        name, (second, first) = known[0].name, known[0].labels
        return within_each + tuple(
            DifferencePart(of=part, attribute=name, first=first, second=second) for part in asked
        )
    telling = [axis for axis in axes if axis.size > 1]
    if len(telling) > 1 and any(axis.combined for axis in telling):
        return tuple(map(_of_one, telling))
    if len(telling) > 1:
        return (KWayMarginalsPart(k=2),)
    return (_of_one(max(axes, key=lambda axis: axis.size)),)


def _of_one(axis: Axis) -> Any:
    if axis.combined is not None:
        return next(kind for kind in (MeanRankPart, ItemsPart, DaysPart) if kind.fits(axis))(attribute=axis.name)
    kind = PrefixPart if axis.ordered and axis.ordinary > 1 else HistogramPart
    return kind(attribute=axis.name)


def share_of(axis: Axis) -> Any:
    """What to ask first about shares of one attribute: of two values the second, "yes", as the other is its mirror."""
    yes = f"{quoted(axis.name)} = {quoted(axis.labels[-1])}"
    if axis.size != 2 or len(yes) > limits.MOST_CONDITION_CHARACTERS:
        return _of_one(axis)
    return PredicatesPart(predicates=(Predicate(expression=yes, name=f"{axis.name} {axis.labels[-1]}"),))


def _uncapitalised(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


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
    """The ordinary types of an ordered attribute. ValueError for one without an order, or with a single type that has a place."""
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
