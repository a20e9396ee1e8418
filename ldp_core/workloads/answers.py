"""The questions of a workload: each answer in its own unit, as a row over the types.

An answer is a number of people, a share of everybody or of a group, an average, a total, or the
difference of two. Those that are ratios are rows to first order (`ldp_core.workloads.ratios`). So
every answer *is* a row over the types, and designs, errors, bounds and proofs speak of it directly.
Ratios and sizes of groups come from planning data, two digits of each; else people are spread
evenly.

Rows are divided by the *target* of their answer, a standard error in its unit, so that errors are
measured in targets. The rows of a line of p answers with weight w are multiplied by w/sqrt(p): a
design minimises the sum over lines of w^2 times the mean squared error of a line in targets. Rows
alone give neither a nor b of a secret group: its size is asked beside them (`SIZES`), and for a
difference the answers of both groups.

Weights and floors are this project's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ldp_core.limits import MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES
from ldp_core.people import Counts, People, users_of
from ldp_core.wording import capital
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.grouped import placed
from ldp_core.workloads.ratios import Rates, Ratios, compared, two_digits
from ldp_core.workloads.shown import shown_queries, spread
from ldp_core.workloads.surveys import Group, Survey
from ldp_core.workloads.units import OF_GROUP, POINTS, Detect, Target, Unit, reach

SIZES = 0.1
"""The weight of a secret group's size, as a share of itself, beside the answers in it: with a wrong
R a third of it costs up to 1.8 times the people."""
LARGEST_SIZE_ERROR = 0.2
"""The relative error of a secret group's size up to which answers in it can be used: Fieller's
intervals have ends by far."""


@dataclass(frozen=True, eq=False)
class GroupQuestion:
    """A question that is asked within groups of people.

    Attributes
    ----------
    tables : tuple of Group
        The question, on tables of the attributes that make up no groups.
    groups : tuple of int
        Places of the attributes that make up groups.
    pair : tuple of int, optional
        Two values of the first of these, whose answers are compared.
    unit : Unit
        Of the answers.
    axes : tuple of Axis
        All attributes.
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
        """(s, g) the cells of the table of `groups` that each of g answers to one query is about,
        for each of its s sides."""
        shape = self.shape
        table = np.arange(math.prod(shape)).reshape(shape[0], -1)
        return table.reshape(1, -1) if self.pair is None else table[list(self.pair)]

    def rates(self, people: People | None, deviation: float) -> Rates:
        """The answers, and the sizes of their groups, of ``people`` (None: spread evenly); those to
        each query stand together. The numbers averaged have the standard ``deviation``."""
        cells, ratios, sizes = self.cells, list[np.ndarray](), list[np.ndarray]()
        averaged = [i for i, axis in enumerate(self.axes) if axis.name == self.unit.name]
        added = people.added(averaged[0], self.groups) if people is not None and averaged else None
        for table in self.tables:
            shape = (table.base.n, math.prod(self.shape))
            counts = np.ones(shape)
            if people is not None:
                counts = people.table((*table.attributes, *self.groups)).reshape(shape).astype(float)
            shares = counts.T[cells] / counts.sum()  # (s, g, cells)
            size = shares.sum(axis=2)
            sums = table.base.answers(shares) / _positive(size, np.nan)[..., None]  # (s, g, q)
            if added is not None:  # of numbers themselves, not of the middles of their bins
                sums = (added[cells] / counts.sum() / _positive(size, np.nan) - self.unit.middle)[..., None]
            ratios.append(sums.swapaxes(1, 2).reshape(len(cells), -1))
            sizes.append(np.tile(size, table.base.num_queries))
        return Rates(np.concatenate(ratios, axis=1), np.concatenate(sizes, axis=1), deviation)

    def names(self) -> list[str]:
        """(g,) what is added to the name of a query: " in arm new", or ", new minus control"."""
        names, compares = [], ""
        if self.pair is not None:
            compares = ", {} minus {}".format(*(self.axes[self.groups[0]].labels[value] for value in self.pair))
        for cell in self.cells[0]:
            values = np.unravel_index(int(cell), self.shape)
            labels = [self.axes[i].at(int(v)) for i, v in zip(self.groups, values, strict=True)]
            labels = labels[self.pair is not None :]
            names.append((f" in {', '.join(labels)}" if labels else "") + compares)
        return names

    def on_table(self, table: Group, survey: bool, most: int | None) -> Ratios:
        """The answers to the question on one table, to about ``most`` of its queries."""
        axes, attributes, cells = self.axes, (*table.attributes, *self.groups), self.cells
        count, groups = table.base.num_queries * cells.shape[1], math.prod(self.shape)
        answers = np.arange(count) if most is None else spread([count], most)[0]
        if 2 * cells.shape[0] * len(answers) * table.base.n * groups > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"There are {len(answers):,} answers within secret groups on {table.base.n * groups:,} combinations of values, too many to write out: ask "
                "fewer questions of each group, use coarser bins, or groups that the collector knows."
            )
        query, group = np.divmod(answers, cells.shape[1])
        rows = table.base.rows(query)[None, :, :, None]  # (1, q, cells of the table, 1)
        inside = np.eye(groups)[cells[:, group]][:, :, None]  # (s, q, 1, groups)
        sums, sizes = (_in_order(each * inside, 2, attributes, axes) for each in (rows, np.ones_like(rows)))
        share, added = "share " if self.unit.name == OF_GROUP else "", self.names()
        names = (f"{share}{table.base.query_name(int(q))}{added[g]}" for q, g in zip(query, group, strict=True))
        increasing = tuple(sorted(attributes))

        def place(base: Workload) -> Workload:
            if survey:
                return Survey([axis.size for axis in axes], [Group(increasing, base)])
            return placed(axes, increasing, base)

        return Ratios(increasing, tuple(names), sums, sizes, self.unit, self.known, answers, place)

    def line(self, question: str, weight: float, rates: Rates) -> Line:
        """The line of a ``question`` that is asked within groups."""
        unit, ratios, sizes = self.unit, rates.ratios, rates.sizes
        difference = len(ratios) == 2
        given: dict[str, Any] = {
            "rates": rates,
            "group_question": self,
            "difference": difference,
            "spread": rates.spread,
            "sides": sides_of(self.axes, self.groups[difference:]),
            "weight": weight,
        }
        # Groups without people have no answers; where no group has people, all count as if they had some.
        there = np.isfinite(ratios).all(axis=0)
        there |= not there.any()
        if self.known:
            divided = self._divided(sizes, np.ones(len(there)))
            answered = divided if there.all() else self._divided(sizes, there)
            return Line(question, unit, answered, ((divided, 1.0),), **given)
        groups = math.prod(self.shape)
        least = 0.1 if groups <= 5 else 1 / (2 * groups)
        taken = rates.rounded(unit)
        middle = np.nan_to_num(taken.ratios, nan=sum(unit.ends) / 2)
        filled, filled_sizes = np.where(np.isfinite(ratios), ratios, middle), _positive(sizes, 1 / groups)
        tables, design, sides = list[Workload](), list[tuple[Workload, float]](), list[tuple[Workload, float]]()
        for table in ratios_of(self, False):
            here = table.queries_of
            rows = compared(table.each(filled[:, here], filled_sizes[:, here]))
            tables.append(table.queries(rows * there[here, None], table.names))
            each = table.each(middle[:, here], np.maximum(taken.sizes[:, here], least))
            design.append((table.queries(compared(each), table.names), 1.0))
            if difference:  # its two sides do not follow from it
                sides.append((table.queries(each, table.names * 2), SIZES))
        cells = np.concatenate([np.tile(self.cells, table.base.num_queries) for table in self.tables], axis=1)
        about, first = np.unique(cells, return_index=True)
        inverse = 1 / np.maximum(taken.sizes.ravel()[first], least)
        counted = self._sizes(np.eye(groups)[about] * inverse[:, None])
        design += [*sides, (counted, SIZES * unit.span * math.sqrt(cells.shape[1] / len(about)))]
        given |= {"cells": cells, "group_sizes": self._sizes(np.eye(groups))}
        return Line(question, unit, tables[0] if len(tables) == 1 else Union(tables), tuple(design), **given)

    def _sizes(self, rows: np.ndarray) -> Workload:
        """The queries ``rows`` (q, cells) on the table of `groups`."""
        return placed(self.axes, sorted(self.groups), Custom(_in_order(rows, 1, self.groups, self.axes)))

    def _divided(self, sizes: np.ndarray, answered: np.ndarray) -> Workload:
        """The sums divided by the known ``sizes`` (s, p), one side less the other; groups without
        people have even ones. Queries that are not ``answered`` (p,) are 0."""
        cells, groups = self.cells, math.prod(self.shape)
        matrix = np.zeros((cells.shape[1], groups))
        for sign, places, size in zip((1, -1), cells, sizes[:, : len(matrix)], strict=False):
            matrix[np.arange(len(matrix)), places] = sign / _positive(size, 1 / groups)
        of_groups, shares = Custom(matrix * answered[: len(matrix), None], self.names()), self.unit.name == OF_GROUP
        parts = [
            placed(self.axes, (*table.attributes, *self.groups), Within([table.base, of_groups], shares))
            for table in self.tables
        ]
        return parts[0] if len(parts) == 1 else Union(parts)


def ratios_of(question: GroupQuestion, survey: bool, most: int | None = None) -> list[Ratios]:
    """The answers within groups, table by table.

    Parameters
    ----------
    question : GroupQuestion
    survey : bool
        Whether queries are to be those of a survey, for any number of types.
    most : int, optional
        About how many answers there are in all, evenly spread; all by default.

    Returns
    -------
    list of Ratios

    Raises
    ------
    ValueError
        Where there are too many.
    """
    begin, found = 0, []
    for table in question.tables:
        ratios = question.on_table(table, survey, most and max(1, most // len(question.tables)))
        found.append(replace(ratios, queries_of=begin + ratios.queries_of))
        begin += table.base.num_queries * question.cells.shape[1]
    return found


def _in_order(rows: np.ndarray, leading: int, attributes: Sequence[int], axes: Sequence[Axis]) -> np.ndarray:
    """Functions on the table of ``attributes``, with the places of these increasing, (..., cells):
    ``rows`` has ``leading`` axes before the table."""
    shaped = rows.reshape(*rows.shape[:leading], *(axes[i].size for i in attributes))
    shaped = shaped.transpose(*range(leading), *(leading + np.argsort(attributes)))
    return np.ascontiguousarray(shaped).reshape(*rows.shape[:leading], -1)


@dataclass(frozen=True, eq=False)
class Line:
    """One question and its p answers, all in one unit.

    Attributes
    ----------
    question : str
        The question in a few words.
    unit : Unit
        Of the answers.
    workload : Workload
        Queries whose answers, as shares of everybody and times the factor of the `unit`, have the
        errors of the answers.
    design : tuple of (Workload, float)
        What a design is made for instead, with weights: smallest groups count as larger, and their
        sizes are asked.
    rates : Rates, optional
        Of answers within groups; None where they are about everybody.
    group_question : GroupQuestion, optional
        The question, where it is asked within groups.
    cells : ndarray (s, p), optional
        Which cells of the attributes that make up groups answers are about, where these are secret.
    group_sizes : Workload, optional
        The number of people in each of these cells.
    difference : bool
        Whether answers compare two groups.
    spread : float
        Standard deviation of the numbers averaged or added up, 0 where it is not known.
    shift : ndarray (1,) or (p,)
        How far numbers themselves are from the middles of their bins, on average over everybody in
        the planning data.
    weight : float
        How much errors count in a design.
    target : Target
        What answers are for.
    sides : tuple of (name, labels)
        The attributes that make up the groups which it is asked in: queries about them run fastest,
        the last one first.
    """

    question: str
    unit: Unit
    workload: Workload
    design: tuple[tuple[Workload, float], ...]
    rates: Rates | None = field(default=None, repr=False)
    group_question: GroupQuestion | None = field(default=None, repr=False)
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
        return capital(self.question if self.workload.num_queries > 1 else self.workload.query_name(0))

    def groups_of(self, queries: np.ndarray) -> list[str]:
        """(q,) the group that each answer is in, such as "North"; "" where there are none."""
        shape = tuple(len(labels) for _, labels in self.sides)
        if not shape:
            return [""] * len(queries)
        places = np.unravel_index(np.asarray(queries) % math.prod(shape), shape)
        named = [[labels[k] for k in side] for (_, labels), side in zip(self.sides, places, strict=True)]
        return [", ".join(labels) for labels in zip(*named, strict=True)]

    @property
    def key(self) -> str:
        """What answers with the same target have in common."""
        what = f"total {self.unit.name}" if self.unit.total else self.unit.name
        return f"difference of {what}" if self.difference else what

    @property
    def standard_error(self) -> float:
        """The standard error in the unit that answers are for: where a difference is to be
        detected, that which finds it."""
        return self.target.difference / reach(self.target) if isinstance(self.target, Detect) else self.target

    @property
    def goal(self) -> float:
        """The target as a number: a standard error, or a difference, in the unit of the answers, of
        totals for each person."""
        return self.target.difference if isinstance(self.target, Detect) else self.target

    def off_for(self, part: float) -> float:
        """How far middles of bins may be from numbers where bins are to add this ``part`` of the
        target."""
        return self.unit.off / self.bins * self.goal * part

    @property
    def scale(self) -> float:
        """The factor of the rows of `workload` in a design: their errors are then in targets, and
        count by the weight."""
        each = 1 if isinstance(self.target, Detect) else math.sqrt(self.workload.num_queries)
        return self.weight * self.unit.factor / (self.standard_error * each)

    def values(self, people: Counts | None, queries: np.ndarray) -> np.ndarray:
        """(q,) answers of planning data (None: people spread evenly), of totals for each person;
        NaN in groups without people. A question within groups has the values of its `rates`."""
        if self.rates is not None:
            return self.unit.answers(self.rates.ratios[:, queries])
        workload = self.workload
        if people is None and workload.n > MOST_TABLE_CELLS:
            return np.full(len(queries), np.nan)
        shift = np.broadcast_to(0.0 if people is None else self.shift, workload.num_queries)[queries]
        if people is None:
            people = np.full(workload.n, 1 / workload.n)
        shares = workload.answers(people, queries) / users_of(people)
        return self.unit.middle + self.unit.factor * shares / workload.query_weights(queries) + shift

    @property
    def by_group(self) -> bool:
        """Whether each answer is one of the `rates`, or the difference of two."""
        return self.rates is not None

    @property
    def answered(self) -> np.ndarray:
        """(a,) the answers that have a value: all but those in groups without people, or all where
        each is in one."""
        queries = np.arange(self.workload.num_queries)
        finite = queries if self.rates is None else np.flatnonzero(np.isfinite(self.rates.ratios).all(axis=0))
        return finite if len(finite) else queries

    @property
    def bins(self) -> float:
        """The most that middles of bins add to an error, of totals for each person: to that of both
        averages of a difference."""
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
        """(s, p) the variance of each side's answer by the chance of who takes part, a person of
        all, in squared units. That of shares follows from these (of other numbers it is the most;
        Bhatia and Davis 2000); numbers averaged are spread evenly where no one knows them."""
        assert self.rates is not None
        sizes, (least, most) = np.where(self.rates.sizes > 0, self.rates.sizes, np.inf), self.unit.ends
        ratios = np.clip(np.nan_to_num(self.rates.ratios, nan=least), least, most)
        each = (most - ratios) * (ratios - least)
        if self.unit.name != OF_GROUP:
            each = np.full(ratios.shape, self.spread**2 or self.unit.span**2 / 12)
        return self.unit.factor**2 * each / sizes


class Within(Product):
    """Every query of the first factor within each group, or comparison of groups, of the second."""

    def __init__(self, factors: Sequence[Workload], shares: bool = False):
        super().__init__(factors)
        self._shares = shares

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        name, group = divmod(query, self.factors[1].num_queries)
        return ("share " if self._shares else "") + self.factors[0].query_name(name) + self.factors[1].query_name(group)


def sides_of(axes: Sequence[Axis], places: Sequence[int]) -> tuple[tuple[str, Sequence[str]], ...]:
    """Attributes by their places, each with its labels."""
    return tuple((axes[i].name, axes[i].labels) for i in places)


def _positive(sizes: np.ndarray, otherwise: float) -> np.ndarray:
    return np.where(sizes > 0, sizes, otherwise)


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """The questions that a workload was made of, and what their answers are for.

    Attributes
    ----------
    lines : tuple of Line
        One a question.
    workload : Workload
        The queries of all of them, scaled as in a design.
    norm : float
        A total variance a person of `workload`, divided by it, is the number of people with which
        the mean squared error in targets, over the lines and with their squared weights, is 1.
    axes : tuple of Axis
        The attributes.
    """

    lines: tuple[Line, ...]
    workload: Workload
    norm: float
    axes: tuple[Axis, ...] = ()

    @property
    def coarse(self) -> list[str]:
        """The questions whose answers bins alone may move by more than the target, however many
        people there are."""
        return [line.question for line in self.lines if line.bins > line.goal]


def default_targets(lines: Sequence[Line], people: Counts | None) -> dict[str, Target]:
    """The targets of answers where no one says.

    Parameters
    ----------
    lines : sequence of Line
        The questions.
    people : Counts, optional
        Planning data; people who are spread evenly by default.

    Returns
    -------
    dict of str to Target
        By the `Line.key`: for shares a quarter of a typical answer, for averages and totals a tenth
        of the spread of values where people are known, else 2 % of their range; a difference to
        detect is of 5 percentage points, or of a quarter of that spread.
    """
    found: dict[str, Target] = {}
    for key in dict.fromkeys(line.key for line in lines):
        alike = [line for line in lines if line.key == key]
        unit, deviation = alike[0].unit, max(line.spread for line in alike)
        if unit.name in (POINTS, OF_GROUP):
            found[key] = Detect(5.0) if alike[0].difference else 100 * _typical(alike, people)
        elif alike[0].difference:
            found[key] = Detect(float(two_digits(deviation / 4 or unit.span / 20)))
        else:
            found[key] = float(two_digits(deviation / 10 or unit.span / 50))
    return found


def _typical(lines: Sequence[Line], people: Counts | None) -> float:
    """A quarter of a typical answer, as a share: their root mean square, each or what it lacks to
    everyone where that is less; 10 percentage points, which the papers' alpha stands for, where
    there is none."""
    sizes = np.concatenate([np.abs(line.values(people, shown_queries(line.workload))) / 100 for line in lines])
    sizes = np.where(sizes <= 1, np.minimum(sizes, 1 - sizes), sizes)
    sizes = sizes[sizes > 1e-9]
    if not len(sizes):
        return 0.1
    return min(max(float(f"{math.sqrt(float(np.mean(sizes**2))) / 2:.0e}") / 2, 1e-4), 1.0)
