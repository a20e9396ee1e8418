"""Answers about two or more attributes as tables, whose cells are queries that stand one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.wording import shortened
from ldp_core.workloads.answers import Questionnaire
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Product
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.surveyed import groups_of

FEW = 6
"""Answers of a question that are better read one below the other."""
BESIDE = 8
"""Groups whose answers to a question about one attribute are read side by side, not in a table."""
WIDE = {"answer": "", "standard_error": " ±", "true": " true", "verdict": " verdict"}
"""What a table of rows and columns has of each answer, and what that adds to the heading of a column."""
Side = tuple[str, Sequence[str]]
"""An attribute, and the labels along it."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """The answers to the queries of a line from ``first`` on: one for each combination of labels of the ``sides``, the last of which runs fastest."""

    line: int
    first: int
    sides: tuple[Side, ...]

    @property
    def drawn(self) -> tuple[int, int]:
        """Which sides go down and across: of the first two the longer one goes down, as a telephone has it."""
        return (0, 1) if len(self.sides[0][1]) >= len(self.sides[1][1]) else (1, 0)

    def title(self, most: int = 90) -> str:
        """Its attributes, the name of each in at most ``most`` characters."""
        return " x ".join(shortened(name, most) for name, _ in self.sides)

    def cells(self, found: pd.DataFrame, at: Mapping[int, int]) -> pd.DataFrame:
        """The rows of ``found``, with columns ``line`` and ``query``, that are answers in it where the sides ``at`` have these labels. Added are ``row`` and
        ``column``, the labels `down` and across, in order."""
        shape = [len(labels) for _, labels in self.sides]
        cell = found["query"].to_numpy() - self.first
        here = (found["line"] == self.line) & (cell >= 0) & (cell < math.prod(shape))
        places = np.array(np.unravel_index(np.where(here, cell, 0), shape))
        here &= (places[list(at)] == np.reshape(list(at.values()), (-1, 1))).all(axis=0)
        down, across = (pd.Categorical.from_codes(places[k], list(self.sides[k][1]), ordered=True) for k in self.drawn)
        return found.assign(row=down, column=across)[here]

    def wide(self, cells: pd.DataFrame) -> pd.DataFrame:
        """`cells` in rows and columns: of each column the answers, their standard errors and verdicts."""
        columns = [
            answers.set_index("row")[column].rename(f"{label}{WIDE[column]}")
            for label, answers in cells.groupby("column", observed=True)
            for column in WIDE
            if column in cells
        ]
        return pd.concat(columns, axis=1).rename_axis(self.sides[self.drawn[0]][0]).reset_index()


def answer_tables(questionnaire: Questionnaire) -> list[AnswerTable]:
    """The tables in the answers to questions about two or more attributes, such as joint counts, also within groups, or within many groups."""
    found, shape = [], tuple(axis.size for axis in questionnaire.axes)
    for k, line in enumerate(questionnaire.lines):
        first, by, within = 0, list[Side](), line.group_question
        whole = line.workload.without_strata
        listed = groups_of(whole, shape, questionnaire.axes) if whole.survey is None else whole.survey.groups
        if within is not None:
            listed, by = within.tables, list(line.sides)
        for table in listed if shape else ():
            sides = tuple(side for side in [*_sides(table.base), *by] if len(side[1]) > 1)
            beside = math.prod(len(labels) for _, labels in line.sides) <= BESIDE and len(sides) - len(line.sides) < 2
            count = table.base.num_queries * math.prod(len(labels) for _, labels in by)
            if (
                len(sides) > 1
                and not beside
                and math.prod(len(labels) for _, labels in sides) == count
                and line.workload.num_queries > FEW
            ):
                found.append(AnswerTable(k, first, sides))
            first += count
    return found


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
