"""Answers within groups of people: shares of a group, its averages, and how these differ between two groups.

Each is a sum over the people of a group by their number, and no linear query where that number is secret too. What is asked, and
what designs are for, are the linear queries that it is made of: the sums, and the sizes of secret groups with the weight `SIZES`. By the delta
method the error of a ratio R = a/b is that of ``(a - R b)/b``. R is not known before, so errors of a and b both count; values of an average are taken
from the middle of their range first, so that R lies between -1/2 and 1/2. How ratios are estimated: `ldp_core.estimators.ratios`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldp_core.limits import MOST_SHOWN_QUERIES, MOST_WORKLOAD_ENTRIES
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Union
from ldp_core.workloads.grouped import Grouped, placed, places_of, two_values, within
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.shown import spread
from ldp_core.workloads.surveyed import groups
from ldp_core.workloads.surveys import Group, Survey

if TYPE_CHECKING:
    from ldp_core.workloads.part import Part

SIZES = 0.3
"""The weight of a group's size beside the sums in it: the average of R^2 is 1/12 for averages anywhere in their range. Of 0.1, 0.3, 0.5, 1 and 2 it is at most
8 % of variance from the best for averages, histograms, running totals and conditions within three groups of random people."""

SHARES_COUNTED = (
    "The verdict counts the people behind each share, as parts of all: in a group of a quarter of them, the share itself is off by about four times as "
    "much. Simulate and Collect tell the error of each."
)
AVERAGES_COUNTED = "The verdict counts averages as if all groups were equally large. Simulate and Collect tell each by the size of its group, with its error."
"""What is counted of such answers while sizes are not known."""


@dataclass(frozen=True)
class Ratio:
    """How a sum over the people of a group, by their number, is told: ``middle + span * ratio`` in the ``unit``; ``of`` is what it is an average of,
    None for shares. ``scale``: of the numbers summed, so that sizes weigh as much."""

    middle: float = 0.0
    span: float = 100.0
    of: str | None = None
    scale: float = 1.0

    @property
    def unit(self) -> str:
        """Per cent of the people in the group, or the attribute that is averaged."""
        return self.of or "%"


@dataclass(frozen=True, eq=False)
class Sides:
    """What a recipe divides: each query of ``sums``, by the size of the group of attributes at the places ``groups`` that it is about. Two
    workloads, query by query, are compared."""

    sums: Sequence[Workload]
    groups: Sequence[int]
    sizes: Workload
    told: Ratio

    def known(self, axes: Sequence[Axis]) -> bool:
        """True if the collector knows the sizes."""
        return all(axes[i].known for i in self.groups)

    def asked(self, axes: Sequence[Axis]) -> Workload:
        """The linear queries."""
        if self.known(axes):
            return self.sums[0] if len(self.sums) == 1 else Union(self.sums)
        return Union([*self.sums, self.sizes], [*(1.0 for _ in self.sums), SIZES * self.told.scale])


def sides(of: Part, axes: Sequence[Axis], names: Sequence[str], pair: tuple[str, str] | None = None) -> Sides:
    """The answers to ``of`` within each group of the named attributes; or within the two values ``pair`` of the first of these.
    ValueError where they do not fit the attributes."""
    places = places_of(axes, [*of.mentions, *names])[-len(names) :]
    others = [axis for i, axis in enumerate(axes) if i not in places]
    if not others:
        raise ValueError("Groups by every attribute leave nothing to ask within them; leave one out.")
    base, told = of.summed(others, math.prod(axes[i].size for i in places))
    factors: list[Workload] = [Histogram(axes[i].size, [axes[i]]) for i in places]
    if pair is None:
        sizes = placed(axes, places, _everybody(factors))
        return Sides([within(base, axes, places, factors)], places, sizes, told)
    axis, rest = axes[places[0]], factors[1:]
    values = two_values(axis, *pair)
    rows, named = np.eye(axis.size)[list(values)], [axis.at(value) for value in values]
    sums = [within(base, axes, places, [Custom(rows[k : k + 1], [named[k]]), *rest]) for k in (0, 1)]
    return Sides(sums, places, placed(axes, places, _everybody([Custom(rows, named), *rest])), told)


def _everybody(factors: Sequence[Workload]) -> Workload:
    """Everybody in each group."""
    return factors[0] if len(factors) == 1 else Grouped(factors)


@dataclass(frozen=True, eq=False)
class Ratios:
    """q answers ``middle + span * a/b``, or ``span * (a/b - a'/b')`` of two sides (see `Ratio`).

    ``rows`` (2, s, q, cells): the queries a, and b, of each side, on the types of the table that ``place`` brings rows of to those of the domain.
    ``known``: whether the collector knows all b.
    """

    names: tuple[str, ...]
    rows: np.ndarray
    place: Callable[[Workload], Workload]
    told: Ratio
    known: bool

    @property
    def linear(self) -> Workload:
        """(2 s q queries) all a, then all b."""
        return self.queries(self.rows)

    def queries(self, rows: np.ndarray) -> Workload:
        """The queries ``rows`` (..., cells), one after the other."""
        return self.place(Custom(rows.reshape(-1, rows.shape[-1])))

    def parts(self, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., s, q) a and b in ``answers`` (..., 2 s q) to `linear`."""
        a, b = np.moveaxis(answers.reshape(*answers.shape[:-1], *self.rows.shape[:3]), -3, 0)
        return a, b

    def values(self, answers: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
        """(..., q) the ratios, in their unit, from ``answers`` (..., 2 s q) to `linear`; NaN where a group has nobody, or fewer. ``sizes``: b (s, q), where
        these are known: estimates that are biased do not keep to what is not asked."""
        a, b = self.parts(answers)
        b = b if sizes is None else sizes
        ratios = a / np.where(b > 0, b, np.nan)
        return self.in_unit(ratios[..., 0, :] - ratios[..., 1, :] if ratios.shape[-2] == 2 else ratios[..., 0, :])

    def in_unit(self, ratios: np.ndarray) -> np.ndarray:
        """(..., q) ratios, or their differences, in their unit."""
        return (self.told.middle if len(self.rows[0]) == 1 else 0.0) + self.told.span * ratios

    def errors(self, answers: np.ndarray) -> Workload:
        """(q queries) whose error, of answers without weights, is that of the ratios in their unit by the delta method."""
        a, b = self.parts(answers)
        size = np.where(b > 0, b, np.nan)[..., None]
        each = (self.rows[0] - (a[..., None] / size) * self.rows[1]) / size
        return self.queries(self.told.span * np.nan_to_num(each[0] - each[1] if len(each) == 2 else each[0]))

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, q) each: the least and the most that a ratio can be."""
        inside = self.rows[1] > 0
        return np.where(inside, self.rows[0], np.inf).min(-1), np.where(inside, self.rows[0], -np.inf).max(-1)


def ratios_of(
    parts: Sequence[Part], attributes: Any, workload: Workload | None = None, most: int = MOST_SHOWN_QUERIES
) -> list[Ratios]:
    """The shares and averages within groups that ``parts`` ask for on ``attributes``, a `Domain` or a sequence of attributes: at most about ``most``,
    evenly spread. ``workload``: what `over_attributes` made of them; where it is a `Survey`, ratios are answered from its tables as well."""
    axes, found = axes_of(attributes), list[tuple[Sides, tuple[Group, ...]]]()
    shape, by_table = tuple(axis.size for axis in axes), workload is not None and workload.survey is not None
    for part in parts:
        if (own := part.sides(axes)) is not None:
            found += [(own, tables) for tables in zip(*(groups(sums, shape, axes) for sums in own.sums), strict=True)]
    return [_ratios(own, tables, axes, by_table, max(1, most // len(found))) for own, tables in found]


def _ratios(own: Sides, tables: Sequence[Group], axes: Sequence[Axis], by_table: bool, most: int) -> Ratios:
    attributes = tables[0].attributes
    sizes = [axes[i].size for i in attributes]
    value = np.indices(sizes).reshape(len(sizes), -1)
    of = [value[attributes.index(i)] for i in own.groups]
    group = np.ravel_multi_index(of, [axes[i].size for i in own.groups])  # of each cell
    room = max(1, MOST_WORKLOAD_ENTRIES // (4 * len(tables) * value.shape[1]))
    queries = spread([tables[0].base.num_queries], min(most, room))[0]
    sums = np.stack([table.base.rows(queries) for table in tables])
    first = np.abs(sums).argmax(axis=-1)  # a query is about people of one group only
    everybody = (group == group[first][..., None]).astype(float)

    def name(k: int) -> str:
        where = [", ".join(axes[i].at(v[cells[k]]) for i, v in zip(own.groups, of, strict=True)) for cells in first]
        asked = tables[0].base.query_name(int(queries[k]))
        asked = f"{asked} as a share of" if own.told.of is None else f"average of {own.told.of},"
        return f"{asked} {' less '.join(where)}"

    def place(base: Workload) -> Workload:
        shape = [axis.size for axis in axes]
        return Survey(shape, [Group(attributes, base)]) if by_table else placed(axes, attributes, base)

    named = tuple(map(name, range(len(queries))))
    return Ratios(named, np.stack([sums, everybody]), place, own.told, own.known(axes))
