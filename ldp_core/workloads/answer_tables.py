"""Answers about two or more attributes as tables: the cells of each are queries that stand one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.workloads.answers import Answers, Line
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Product
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.surveyed import groups

FEW = 6
"""Answers of a question that are better read one below the other."""
WIDE = {"answer": "", "standard_error": " ±", "true": " true", "verdict": " verdict"}
"""What a table to download has of each column, and what is added to its heading."""

Side = tuple[str, Sequence[str]]
"""An attribute, and the labels along it."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """The answers to the queries ``first``, ``first + 1``, ... of a line: one for each combination of labels of the ``sides``, the last of which
    runs fastest."""

    line: int
    title: str
    first: int
    sides: tuple[Side, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of labels of each side."""
        return tuple(len(labels) for _, labels in self.sides)

    def holds(self, found: pd.DataFrame) -> pd.Series:
        """Which rows of ``found``, with columns ``line`` and ``query``, are cells of it."""
        return (found["line"] == self.line) & found["query"].between(self.first, self.first + math.prod(self.shape) - 1)

    @property
    def drawn(self) -> tuple[int, int]:
        """The two sides that are drawn: the longer one goes down."""
        return (1, 0) if self.shape[1] > self.shape[0] else (0, 1)

    def cells(self, found: pd.DataFrame, at: Mapping[int, int]) -> pd.DataFrame:
        """The rows of ``found`` in it where each further side has its label ``at``, with columns ``row`` and ``column``: their labels, in order."""
        own = found[self.holds(found)]
        places = np.unravel_index(own["query"].to_numpy() - self.first, self.shape)
        here = np.all([places[side] == label for side, label in at.items()], axis=0) | np.zeros(len(own), dtype=bool)
        down, across = (
            pd.Categorical.from_codes(places[side][here], list(self.sides[side][1]), ordered=True)
            for side in self.drawn
        )
        return own[here].assign(row=down, column=across)


def wide(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """`AnswerTable.cells` as rows and columns, the first column called ``name``: of each column the answer, its standard error and its verdict."""
    kept = [column for column in WIDE if column in cells]
    pivoted = cells.pivot(index="row", columns="column", values=kept)
    labels = pivoted.columns.unique("column")
    ordered = pivoted[[(column, label) for label in labels for column in kept]]
    headed = ordered.set_axis([f"{label}{WIDE[column]}" for column, label in ordered.columns], axis=1)
    return headed.rename_axis(name).reset_index()


def answer_tables(asked: Answers) -> list[AnswerTable]:
    """The tables in the answers to questions about two or more attributes, such as joint counts, also within groups."""
    found = []
    for k, line in enumerate(asked.lines):
        first, own = 0, list[AnswerTable]()
        for base, by in _listed(line, asked):
            sides = [side for side in [*_sides(base), *by] if len(side[1]) > 1]
            count = base.num_queries * math.prod(len(labels) for _, labels in by)
            table = AnswerTable(k, " x ".join(name for name, _ in sides), first, tuple(sides))
            if len(sides) > 1 and math.prod(table.shape) == count > FEW:
                own.append(table)
            first += count
        found += own
    return found


def _listed(line: Line, asked: Answers) -> list[tuple[Workload, list[Side]]]:
    """The queries of a line table by table, and the sides of the groups that each is asked in."""
    if line.asked is not None:
        by = [line.asked.axes[i] for i in line.asked.groups[line.asked.pair is not None :]]
        return [(table.base, [(axis.name, axis.labels) for axis in by]) for table in line.asked.tables]
    whole = line.told.without_strata
    shape = tuple(axis.size for axis in asked.axes)
    listed = groups(whole, shape, asked.axes) if whole.survey is None else whole.survey.groups
    return [(table.base, []) for table in listed] if shape else []


def _sides(base: Workload) -> list[Side]:
    """What the queries go along; nothing that has more labels than are shown."""
    if isinstance(base, OnAttributes):
        return _sides(base.base)
    if isinstance(base, Product):
        return [side for factor in base.factors for side in _sides(factor)]
    if isinstance(base, Histogram) and base.axes is not None:
        return [(axis.name, axis.labels) for axis in base.axes if axis.size <= MOST_SHOWN_QUERIES]
    if base.num_queries > MOST_SHOWN_QUERIES:
        return []
    name = base.axes[0].name if base.axes else ""
    return [(name, [base.query_name(query).removeprefix(f"{name} ") for query in range(base.num_queries)])]
