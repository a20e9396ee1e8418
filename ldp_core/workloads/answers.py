"""What was asked: each answer in its own unit, as a row over the types.

An answer is a number of people, a share of everybody or of a group, an average, a total, or the difference of two. One
that is a ratio R = a/b, of a sum a over the people of a group by their number b, has to first order the error of the
linear query ``(a - R b)/b`` about everybody (Taylor linearisation, the delta method of survey sampling). So every
answer *is* a row over the types, and designs, errors, bounds and proofs speak of it directly. Where the collector knows
the group, b is a known number and the row is exactly a/b. R and b come from planning data, two digits of each; else
people are spread evenly.

Rows are divided by the *target* of their answer, a standard error in its unit, so that errors are measured in targets.
The rows of a line of p answers with weight w are multiplied by w/sqrt(p): a design minimises the sum over lines of w^2
times the mean squared error of a line in targets. Rows alone tell neither a nor b of a secret group: sizes are asked
beside them (`SIZES`), and for a difference the answers of both groups.

Source: Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 5; weights and floors of this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ldp_core.limits import MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES
from ldp_core.people import Counts, People, users_of
from ldp_core.wording import capital
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.grouped import placed
from ldp_core.workloads.shown import shown_queries, spread
from ldp_core.workloads.surveys import Group, Survey

POINTS = "points"
OF_GROUP = "points of the group"
"""Units of shares: percentage points of everybody, and of the people in a group."""
SIZES = 0.1
"""The weight of a secret group's size, as a share of itself, beside the answers in it: with a wrong R a third of it costs up to
1.8 times the people."""
LARGEST_SIZE_ERROR = 0.2
"""The relative error of a secret group's size up to which answers in it can be used: Fieller's intervals have ends by far."""
DIGITS = 2
"""Significant digits that a design takes of shares and averages in planning data."""
LEAST_TARGET = 1e-50
"""Rows are divided by targets and then squared."""
POWER, LEVEL = 0.8, 0.05
"""The chance to find a difference that is there, and to find one that is not, where no one says."""


@dataclass(frozen=True)
class Unit:
    """The unit of answers: one is ``middle + factor * a / b``, a the sum over the people of a group and b their number.

    Attributes
    ----------
    name : `POINTS`, `OF_GROUP`, or the numeric attribute that is averaged or added up.
    span : length of the interval that the numbers added up for one person lie in; ``least`` is the least answer.
    total : whether the answer is a sum over everybody, not divided by their number.
    off : the most that bins add to the error of an average: numbers count as the middles of these.
    """

    name: str = POINTS
    factor: float = 100.0
    middle: float = 0.0
    span: float = 1.0
    least: float = 0.0
    total: bool = False
    off: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that a/b can be."""
        least = (self.least - self.middle) / self.factor
        return least, least + self.span


@dataclass(frozen=True)
class Detect:
    """A difference, in the unit of an answer, that is to be found with this power by a two-sided test at this level."""

    difference: float
    power: float = POWER
    level: float = LEVEL


Target = float | Detect
"""A standard error in the unit of an answer, or a difference to detect."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What a part asks within groups of people.

    Attributes
    ----------
    tables : the question, on tables of the attributes that make up no groups.
    groups : places of those that do. pair : two values of the first of these, whose answers are compared.
    axes : all attributes.
    """

    tables: tuple[Group, ...]
    groups: tuple[int, ...]
    pair: tuple[int, int] | None
    unit: Unit
    axes: tuple[Axis, ...]

    @property
    def known(self) -> bool:
        """True if the collector knows how many people are in each group."""
        return all(self.axes[i].known for i in self.groups)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each of the attributes has that make up groups."""
        return tuple(self.axes[i].size for i in self.groups)

    @property
    def group_of_types(self) -> np.ndarray:
        """(n,) the cell of the table of `groups` that each type is in."""
        values = np.indices([axis.size for axis in self.axes]).reshape(len(self.axes), -1)
        return np.ravel_multi_index([values[i] for i in self.groups], self.shape)

    @property
    def cells(self) -> np.ndarray:
        """(s, g) the cells of the table of `groups` that each of g answers to one query is about, for each of its s sides."""
        shape = self.shape
        table = np.arange(math.prod(shape)).reshape(shape[0], -1)
        return table.reshape(1, -1) if self.pair is None else table[list(self.pair)]

    def rates(self, people: People | None, spread: float) -> Rates:
        """The answers, and the sizes of their groups, of ``people`` (None: spread evenly); those to each query stand together."""
        cells, ratios, sizes = self.cells, list[np.ndarray](), list[np.ndarray]()
        averaged = [i for i, axis in enumerate(self.axes) if axis.name == self.unit.name]
        added = people.added(averaged[0], self.groups) if people is not None and averaged else None
        for table in self.tables:
            attributes = (*table.attributes, *self.groups)
            shape = (table.base.n, math.prod(self.shape))
            counts = np.ones(shape) if people is None else people.table(attributes).reshape(shape).astype(float)
            own = counts.T[cells] / counts.sum()  # (s, g, cells)
            size = own.sum(axis=2)
            sums = table.base.answers(own) / _positive(size, np.nan)[..., None]  # (s, g, q)
            if added is not None:  # of numbers themselves, not of the middles of their bins
                sums = (added[cells] / counts.sum() / _positive(size, np.nan) - self.unit.middle)[..., None]
            ratios.append(sums.swapaxes(1, 2).reshape(len(cells), -1))
            sizes.append(np.tile(size, table.base.num_queries))
        return Rates(np.concatenate(ratios, axis=1), np.concatenate(sizes, axis=1), spread)

    def names(self) -> list[str]:
        """(g,) what is added to the name of a query: " in arm new", or ", new minus control"."""
        axes, found = self.axes, []
        for cell in self.cells[0]:
            values = np.unravel_index(int(cell), self.shape)
            labels = [axes[i].at(int(v)) for i, v in zip(self.groups, values, strict=True)]
            if self.pair is not None:
                first, second = (axes[self.groups[0]].labels[value] for value in self.pair)
                labels = labels[1:]
            inside = f" in {', '.join(labels)}" if labels else ""
            found.append(inside if self.pair is None else f"{inside}, {first} minus {second}")
        return found

    def on_table(self, table: Group, survey: bool, most: int | None) -> Ratios:
        """The answers to the question on one table, to about ``most`` of its queries."""
        return _on_table(self, table, survey, most)

    def line(self, question: str, weight: float, rates: Rates) -> Line:
        """The line of a ``question`` that is asked within groups."""
        return _within_groups(question, weight, self, rates)


@dataclass(frozen=True, eq=False)
class Ratios:
    """q answers ``middle + factor * a/b``, or ``factor * (a/b - a'/b')`` of two sides (see `Unit`).

    Attributes
    ----------
    attributes : places of the attributes that they are about.
    sums, inside : (s, q, cells) the queries a, and b, of each side, on the table of these attributes.
    group : (s, q) the cell of the attributes that make up the groups.
    known : whether the collector knows all b.
    queries_of : (q,) their numbers among the answers of the question.
    place : brings queries on that table to the types of the domain.
    """

    attributes: tuple[int, ...]
    names: tuple[str, ...]
    sums: np.ndarray
    inside: np.ndarray
    group: np.ndarray
    unit: Unit
    known: bool
    queries_of: np.ndarray
    place: Callable[[Workload], Workload]

    @property
    def linear(self) -> Workload:
        """(2 s q queries) all a, then all b."""
        return self.queries(np.stack([self.sums, self.inside]))

    def queries(self, rows: np.ndarray, names: Sequence[str] | None = None) -> Workload:
        """The queries ``rows`` (..., cells), one after the other."""
        return self.place(Custom(rows.reshape(-1, rows.shape[-1]), names))

    def parts(self, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., s, q) a and b in ``answers`` (..., 2 s q) to `linear`."""
        a, b = np.moveaxis(answers.reshape(*answers.shape[:-1], 2, *self.sums.shape[:2]), -3, 0)
        return a, b

    def values(self, answers: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
        """(..., q) the ratios, in their unit, from ``answers`` (..., 2 s q) to `linear`; NaN where a group has nobody, or fewer. ``sizes``: b (s, q), where
        these are known: estimates that are biased do not keep to what is not asked."""
        a, b = self.parts(answers)
        b = b if sizes is None else sizes
        return self.in_unit(a / np.where(b > 0, b, np.nan))

    def in_unit(self, ratios: np.ndarray) -> np.ndarray:
        """(..., q) the answers in their unit, from the ratios (..., s, q) of their sides."""
        two = ratios.shape[-2] == 2
        return (
            self.unit.factor * (ratios[..., 0, :] - ratios[..., 1, :])
            if two
            else self.unit.middle + self.unit.factor * ratios[..., 0, :]
        )

    def rows(self, ratios: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """(q, cells) the rows ``(a - R b)/b``, one side less the other, with R ``ratios`` (s, q) and b ``sizes`` (s, q)."""
        each = self.each(ratios, sizes)
        return each[0] - each[1] if len(each) == 2 else each[0]

    def each(self, ratios: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """(s, q, cells) the `rows` of each side."""
        return (self.sums - ratios[..., None] * self.inside) / sizes[..., None]

    def errors(self, answers: np.ndarray) -> Workload:
        """(q queries) whose error, of answers without weights, is that of the ratios in their unit by the delta method."""
        a, b = self.parts(answers)
        size = np.where(b > 0, b, np.nan)
        return self.queries(self.unit.factor * np.nan_to_num(self.rows(a / size, size)))

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, q) each: the least and the most that a ratio can be."""
        inside = self.inside > 0
        return np.where(inside, self.sums, np.inf).min(-1), np.where(inside, self.sums, -np.inf).max(-1)

    def by_size(self, sizes: np.ndarray) -> np.ndarray:
        """(s, q, cells) the rows whose answers are the ratios of each side, in groups of known ``sizes`` (s, q)."""
        return self.sums / np.where(sizes > 0, sizes, 1.0)[..., None]

    def there(self, sizes: np.ndarray) -> np.ndarray:
        """(q,) whether there are people enough for each answer."""
        return np.all(sizes > 0, axis=0)

    def possible(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q,) each: the least and the most that the answers can be, divided by their factor."""
        least, most = self.ends
        return (least[0] - most[1], most[0] - least[1]) if len(least) == 2 else (least[0], most[0])


def ratios_of(asked: Asked, survey: bool, most: int | None = None) -> list[Ratios]:
    """The answers within groups, table by table; of each query about ``most`` in all, evenly spread. ValueError where there are too many."""
    many, begin, found = asked.cells.shape[1], 0, []
    for table in asked.tables:
        own = asked.on_table(table, survey, most and max(1, most // len(asked.tables)))
        found.append(replace(own, queries_of=begin + own.queries_of))
        begin += table.base.num_queries * many
    return found


def _on_table(asked: Asked, table: Group, survey: bool, most: int | None) -> Ratios:
    axes, attributes, cells = asked.axes, (*table.attributes, *asked.groups), asked.cells
    count, many = table.base.num_queries * cells.shape[1], math.prod(asked.shape)
    answers = np.arange(count) if most is None else spread([count], most)[0]
    if 2 * cells.shape[0] * len(answers) * table.base.n * many > MOST_WORKLOAD_ENTRIES:
        raise ValueError(
            f"There are {len(answers):,} answers within secret groups on {table.base.n * many:,} combinations of values, too many to write out: ask "
            "fewer questions of each group, use coarser bins, or groups that the collector knows."
        )
    query, place = np.divmod(answers, cells.shape[1])
    own = table.base.rows(query)[None, :, :, None]  # (1, q, cells of the table, 1)
    here = np.eye(many)[cells[:, place]][:, :, None]  # (s, q, 1, groups)
    order = np.argsort(attributes)
    shape = [axes[i].size for i in attributes]

    def placed_rows(rows: np.ndarray) -> np.ndarray:
        shaped = rows.reshape(*rows.shape[:2], *shape).transpose(0, 1, *(2 + order))
        return np.ascontiguousarray(shaped).reshape(*rows.shape[:2], -1)

    added = asked.names()
    named = "" if asked.unit.name != OF_GROUP else "share "
    names = [f"{named}{table.base.query_name(int(q))}{added[g]}" for q, g in zip(query, place, strict=True)]
    increasing = tuple(attributes[k] for k in order)

    def place_queries(base: Workload) -> Workload:
        if survey:
            return Survey([axis.size for axis in axes], [Group(increasing, base)])
        return placed(axes, increasing, base)

    sums, inside = placed_rows(own * here), placed_rows(np.ones_like(own) * here)
    return Ratios(increasing, tuple(names), sums, inside, place, asked.unit, asked.known, answers, place_queries)


@dataclass(frozen=True, eq=False)
class Rates:
    """What a design takes of planning data for one question: of each answer the ratio a/b (s, p), NaN in groups without people, and the
    sizes b (s, p) of its groups as shares of everybody; and the standard deviation of the numbers averaged."""

    ratios: np.ndarray
    sizes: np.ndarray
    spread: float = 0.0

    def rounded(self, unit: Unit) -> Rates:
        """Two significant digits of each."""
        ratios = (two_digits(unit.middle + unit.factor * self.ratios) - unit.middle) / unit.factor
        return Rates(ratios, two_digits(self.sizes), float(two_digits(np.array(self.spread))))


@dataclass(frozen=True, eq=False)
class Line:
    """One question and its p answers, all in one unit.

    Attributes
    ----------
    question : the question in a few words.
    told : workload whose answers, as shares of everybody and times the factor of the `unit`, have the errors of the answers.
    design : what a design is made for instead, with weights: smallest groups count as larger, and their sizes are asked.
    rates : of answers within groups; None where they are about everybody.
    spread : standard deviation of the numbers averaged or added up, 0 where it is not known.
    shift : (1,) or (p,) how far numbers themselves are from the middles of their bins, on average over everybody in the planning data.
    cells : (s, p) which cells of the attributes that make up groups answers are about, where these are secret.
    group_sizes : queries for the number of people in each of these cells.
    weight : how much errors count in a design. target : what answers are for.
    sides : the attributes that make up the groups which it is asked in, each with its labels: queries about them run fastest, the last one first.
    """

    question: str
    unit: Unit
    told: Workload
    design: tuple[tuple[Workload, float], ...]
    rates: Rates | None = field(default=None, repr=False)
    asked: Asked | None = field(default=None, repr=False)
    cells: np.ndarray | None = field(default=None, repr=False)
    group_sizes: Workload | None = field(default=None, repr=False)
    difference: bool = False
    spread: float = 0.0
    shift: np.ndarray = field(default_factory=lambda: np.zeros(1), repr=False)
    weight: float = 1.0
    target: Target = 1.0
    sides: tuple[tuple[str, Sequence[str]], ...] = field(default=(), repr=False)

    @property
    def title(self) -> str:
        """The question in a person's words: the name of a single answer."""
        return capital(self.question if self.told.num_queries > 1 else self.told.query_name(0))

    def groups_of(self, queries: np.ndarray) -> list[str]:
        """(q,) the group that each answer is in, such as "North"; "" where there are none."""
        shape = tuple(len(labels) for _, labels in self.sides)
        if not shape:
            return [""] * len(queries)
        places = np.unravel_index(np.asarray(queries) % math.prod(shape), shape)
        named = [[labels[k] for k in own] for (_, labels), own in zip(self.sides, places, strict=True)]
        return [", ".join(labels) for labels in zip(*named, strict=True)]

    @property
    def key(self) -> str:
        """What answers with the same target have in common."""
        what = f"total {self.unit.name}" if self.unit.total else self.unit.name
        return f"difference of {what}" if self.difference else what

    @property
    def standard_error(self) -> float:
        """The standard error in the unit that answers are for: where a difference is to be detected, that which finds it."""
        return self.target.difference / reach(self.target) if isinstance(self.target, Detect) else self.target

    @property
    def goal(self) -> float:
        """The target as a number: a standard error, or a difference, in the unit of the answers, of totals for each person."""
        return self.target.difference if isinstance(self.target, Detect) else self.target

    def off_for(self, part: float) -> float:
        """How far middles of bins may be from numbers where bins are to add this ``part`` of the target."""
        return self.unit.off / self.bins * self.goal * part

    @property
    def scale(self) -> float:
        """What the rows of `told` are multiplied by in a design, so that their errors are in targets and count as they should."""
        each = 1 if isinstance(self.target, Detect) else math.sqrt(self.told.num_queries)
        return self.weight * self.unit.factor / (self.standard_error * each)

    def values(self, people: Counts | None, queries: np.ndarray) -> np.ndarray:
        """(q,) answers of planning data (None: people spread evenly), of totals for each person; NaN in groups without people. What is
        asked within groups has the values of its `rates`."""
        if self.rates is not None:
            first, *second = self.rates.ratios[:, queries]
            return self.unit.factor * (first - second[0]) if second else self.unit.middle + self.unit.factor * first
        if people is None and self.told.n > MOST_TABLE_CELLS:
            return np.full(len(queries), np.nan)
        shift = np.broadcast_to(0.0 if people is None else self.shift, self.told.num_queries)[queries]
        if people is None:
            people = np.full(self.told.n, 1 / self.told.n)
        shares = self.told.answers(people, queries) / users_of(people)
        return self.unit.middle + self.unit.factor * shares / self.told.query_weights(queries) + shift

    @property
    def by_group(self) -> bool:
        """Whether each answer is one of the `rates`, or the difference of two."""
        return self.rates is not None

    @property
    def answered(self) -> np.ndarray:
        """(a,) the answers that have a value: all but those in groups without people, or all where each is in one."""
        queries = np.arange(self.told.num_queries)
        told = queries if self.rates is None else np.flatnonzero(np.isfinite(self.rates.ratios).all(axis=0))
        return told if len(told) else queries

    @property
    def bins(self) -> float:
        """The most that middles of bins add to an error, of totals for each person: to that of both averages of a difference."""
        return self.unit.off * (2 if self.difference and not self.unit.total else 1)

    @property
    def possible(self) -> tuple[float, float]:
        """The least and the most that an answer can be, of totals for each person."""
        span, least = self.unit.factor * self.unit.span, self.unit.least
        if self.difference and self.rates is None:  # of two groups of any size
            span = max(abs(least), abs(least + span))
        return (-span, span) if self.difference else (least, least + span)

    @property
    def drawn(self) -> np.ndarray:
        """(s, p) the variance of each side's answer by the chance of who takes part, a person of all, in squared units. That of shares follows
        from these (of other numbers it is the most; Bhatia and Davis 2000); numbers averaged are spread evenly where no one knows them."""
        assert self.rates is not None
        sizes, (least, most) = np.where(self.rates.sizes > 0, self.rates.sizes, np.inf), self.unit.ends
        ratios = np.clip(np.nan_to_num(self.rates.ratios, nan=least), least, most)
        each = (most - ratios) * (ratios - least)
        if self.unit.name != OF_GROUP:
            each = np.full(ratios.shape, self.spread**2 or self.unit.span**2 / 12)
        return self.unit.factor**2 * each / sizes


def reach(target: Detect) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have."""
    return float(ndtri(1 - target.level / 2) + ndtri(target.power))


def _within_groups(question: str, weight: float, asked: Asked, rates: Rates) -> Line:
    """The line of a ``question`` that is asked within groups."""
    unit, two, ratios, sizes = asked.unit, len(rates.ratios) == 2, rates.ratios, rates.sizes
    given: dict[str, Any] = {"rates": rates, "asked": asked, "difference": two, "spread": rates.spread}
    given["sides"] = sides_of(asked.axes, asked.groups[two:])
    # Nothing is told of groups without people; where each has none, as if all had some.
    there = np.isfinite(ratios).all(axis=0)
    there |= not there.any()
    if asked.known:
        known = _divided(asked, sizes)
        told = known if there.all() else _divided(asked, sizes, there)
        return Line(question, unit, told, ((known, 1.0),), weight=weight, **given)
    many = math.prod(asked.shape)
    least = 0.1 if many <= 5 else 1 / (2 * many)
    taken = rates.rounded(unit)
    middle = np.nan_to_num(taken.ratios, nan=sum(unit.ends) / 2)
    lines, design, sides, begin = list[Workload](), list[tuple[Workload, float]](), list[tuple[Workload, float]](), 0
    for own in ratios_of(asked, False):
        here = slice(begin, begin := begin + len(own.names))
        rows = own.rows(
            np.where(np.isfinite(ratios[:, here]), ratios[:, here], middle[:, here]),
            _positive(sizes[:, here], 1 / many),
        )
        lines.append(own.queries(rows * there[here, None], own.names))
        each = own.each(middle[:, here], np.maximum(taken.sizes[:, here], least))
        design.append((own.queries(each[0] - each[1] if two else each[0], own.names), 1.0))
        if two:  # a difference does not tell its two sides
            sides.append((own.queries(each, own.names * 2), SIZES))
    cells = np.concatenate([np.tile(asked.cells, table.base.num_queries) for table in asked.tables], axis=1)
    about, first = np.unique(cells, return_index=True)
    inverse = 1 / np.maximum(taken.sizes.ravel()[first], least)
    counted = _queries(np.eye(many)[about] * inverse[:, None], asked.groups, asked.axes)
    design += [*sides, (counted, SIZES * unit.span * math.sqrt(cells.shape[1] / len(about)))]
    whole = lines[0] if len(lines) == 1 else Union(lines)
    given |= {"cells": cells, "group_sizes": _queries(np.eye(many), asked.groups, asked.axes)}
    return Line(question, unit, whole, tuple(design), weight=weight, **given)


def sides_of(axes: Sequence[Axis], places: Sequence[int]) -> tuple[tuple[str, Sequence[str]], ...]:
    """Attributes by their places, each with its labels."""
    return tuple((axes[i].name, axes[i].labels) for i in places)


def _queries(rows: np.ndarray, attributes: Sequence[int], axes: Sequence[Axis]) -> Workload:
    """The queries ``rows`` (q, cells) on the table of ``attributes``, in any order."""
    order = np.argsort(attributes)
    shaped = rows.reshape(-1, *(axes[i].size for i in attributes)).transpose(0, *(1 + order))
    return placed(axes, [attributes[k] for k in order], Custom(shaped.reshape(len(rows), -1)))


def _divided(asked: Asked, sizes: np.ndarray, told: np.ndarray | None = None) -> Workload:
    """The sums divided by the known ``sizes`` (s, p), one side less the other; groups without people have even ones. Answers that are not ``told``
    (p,) are left 0."""
    cells, added = asked.cells, asked.names()
    many = math.prod(asked.shape)
    own = sizes[:, : cells.shape[1]]
    matrix = np.zeros((cells.shape[1], many))
    for sign, places, size in zip((1, -1), cells, own, strict=False):
        matrix[np.arange(len(matrix)), places] = sign / _positive(size, 1 / many)
    if told is not None:
        matrix *= told[: len(matrix), None]
    parts = []
    for table in asked.tables:
        attributes = (*table.attributes, *asked.groups)
        base = Within([table.base, Custom(matrix, added)], asked.unit.name == OF_GROUP)
        parts.append(placed(asked.axes, attributes, base))
    return parts[0] if len(parts) == 1 else Union(parts)


class Within(Product):
    """Every query of the first factor within each group, or comparison of groups, of the second."""

    def __init__(self, factors: Sequence[Workload], shares: bool = False):
        super().__init__(factors)
        self._shares = shares

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        own, group = divmod(query, self.factors[1].num_queries)
        return ("share " if self._shares else "") + self.factors[0].query_name(own) + self.factors[1].query_name(group)


def _positive(sizes: np.ndarray, otherwise: float) -> np.ndarray:
    return np.where(sizes > 0, sizes, otherwise)


def two_digits(numbers: np.ndarray) -> np.ndarray:
    """Two significant digits of each, which is what a design takes of planning data."""
    return np.array([float(f"{x:.{DIGITS}g}") for x in numbers.ravel()]).reshape(numbers.shape)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a workload of several questions is for: ``lines``, and the queries ``told`` of all of them, scaled as in a design.

    ``norm``: a total variance a person of `told`, divided by it, is the number of people with which the mean squared error in targets,
    over the lines and with their squared weights, is 1.
    """

    lines: tuple[Line, ...]
    told: Workload
    norm: float
    axes: tuple[Axis, ...] = ()

    @property
    def coarse(self) -> list[str]:
        """The questions whose answers bins alone may move by more than the target, however many people there are."""
        return [line.question for line in self.lines if line.bins > line.goal]


def default_targets(lines: Sequence[Line], people: Counts | None) -> dict[str, Target]:
    """{key of a line: its target by itself}: for shares a quarter of a typical answer, for averages and totals a tenth of the spread of values where
    people are known, else 2 % of their range; a difference to detect is of 5 percentage points, or of a quarter of that spread."""
    found: dict[str, Target] = {}
    for key in dict.fromkeys(line.key for line in lines):
        alike = [line for line in lines if line.key == key]
        unit, spread = alike[0].unit, max(line.spread for line in alike)
        if unit.name in (POINTS, OF_GROUP):
            found[key] = Detect(5.0) if alike[0].difference else 100 * _typical(alike, people)
        elif alike[0].difference:
            found[key] = Detect(_two(spread / 4 or unit.span / 20))
        else:
            found[key] = _two(spread / 10 or unit.span / 50)
    return found


def _typical(lines: Sequence[Line], people: Counts | None) -> float:
    """A quarter of a typical answer, as a share: their root mean square, each or what it lacks to everyone where that is less; 10 percentage points,
    which the papers' alpha stands for, where there is none."""
    sizes = np.concatenate([np.abs(line.values(people, shown_queries(line.told))) / 100 for line in lines])
    sizes = np.where(sizes <= 1, np.minimum(sizes, 1 - sizes), sizes)
    sizes = sizes[sizes > 1e-9]
    if not len(sizes):
        return 0.1
    return min(max(float(f"{math.sqrt(float(np.mean(sizes**2))) / 2:.0e}") / 2, 1e-4), 1.0)


def _two(number: float) -> float:
    return float(two_digits(np.array(number)))
