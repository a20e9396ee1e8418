"""Estimates from reports of surveys: tables of a few attributes each, without a number for every
type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.mechanisms.base import Estimate
from ldp_core.people import Counts, check_cells, people_of
from ldp_core.wording import magnitude
from ldp_core.workloads import Group, Survey, Workload
from ldp_core.workloads.surveyed import by_tables


@lru_cache(maxsize=64)
def as_survey(workload: Workload, sizes: tuple[int, ...]) -> Survey:
    """The ``workload`` on attributes of ``sizes`` as a survey: itself, a single group about all attributes, or past `MOST_MATRIX_TYPES` types a group
    for each table asked about. ValueError for other types, and for tables that are too large."""
    if (survey := workload.survey) is not None:
        if survey.shape != sizes:
            raise ValueError(f"The mechanism has attributes of sizes {list(sizes)}, the workload {list(survey.shape)}.")
        return survey
    if workload.n != math.prod(sizes):
        raise ValueError(
            f"The mechanism has {magnitude(math.prod(sizes))} types, the workload {magnitude(workload.n)}."
        )
    if workload.n <= MOST_MATRIX_TYPES:
        return Survey(sizes, [Group(tuple(range(len(sizes))), workload)])
    as_tables = by_tables(workload, sizes)
    if any(group.base.n > MOST_MATRIX_TYPES for group in as_tables.groups):
        raise ValueError(
            f"Questions about all {len(sizes)} attributes at once are answered for at most {MOST_MATRIX_TYPES:,} types; there are "
            f"{magnitude(workload.n)}. Ask about a few attributes at a time."
        )
    return as_tables


@dataclass(frozen=True, repr=False)
class SurveyEstimate(Estimate):
    """Estimated tables over some of the attributes of ``sizes``, of ``users`` people: a `Tables`. There is no vector of counts of
    all types. Subclasses say where their tables come from."""

    estimated_counts: np.ndarray = field(default_factory=lambda: np.zeros(0), init=False)
    identified: bool = field(default=False, init=False)
    unbiased: bool = field(kw_only=True)
    sizes: tuple[int, ...] = field(kw_only=True)
    users: float = field(kw_only=True)

    @property
    def total(self) -> float:
        return self.users

    @property
    def survey(self) -> SurveyEstimate:
        return self

    def counts(self) -> None:
        """None: what is estimated are tables."""
        return None

    def table(self, attributes: Sequence[int]) -> np.ndarray:
        """(cells,) estimated users by the values of the attributes at these places, in row-major order of the places as given.
        ValueError for a table that is too large, or that this estimate does not hold."""
        places = tuple(map(int, attributes))
        if len(set(places)) < len(places) or not set(places) <= set(range(len(self.sizes))):
            raise ValueError(f"A table is of different attributes, from 0 to {len(self.sizes) - 1}; got {places}.")
        check_cells(self.sizes, places)
        members = tuple(sorted(places))
        table = self._table(members).reshape([self.sizes[i] for i in members])
        return table.transpose([members.index(i) for i in places]).ravel()

    def _table(self, members: Set) -> np.ndarray:
        """The table of increasing places."""
        raise NotImplementedError

    def improved(self, workload: Workload, users: float | None, improve: Improve) -> SurveyEstimate:
        """The estimate improved for a ``workload`` about ``users`` people, None where their number is not looked at."""
        return improve(self, as_survey(workload, self.sizes), users)

    def on(self, attributes: Sequence[int], identified: bool) -> Estimate:
        """The estimated counts of the cells of a table, all of which the reports tell where ``identified``."""
        return Estimate(self.table(attributes), unbiased=True, identified=identified)

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        return as_survey(workload, self.sizes).answers(self, queries)

    def fitted(self, workload: Workload) -> np.ndarray:
        raise ValueError("Tables of a few attributes are estimated here, not counts of all types.")

    def squared_error(self, workload: Workload, counts: Counts) -> float:
        """Squared error summed over all queries (squared users); ``counts`` are people, as `people_of` takes them."""
        return as_survey(workload, self.sizes).squared_distance(self, people_of(counts, self.sizes))

    def __repr__(self) -> str:
        bias = "unbiased" if self.unbiased else "biased"
        return f"<{type(self).__name__}: {len(self.sizes)} attributes, {self.users:,.0f} users, {bias}>"


Improve = Callable[[SurveyEstimate, Survey, "float | None"], SurveyEstimate]
"""A better estimate of tables for the questions of a survey, and a number of people."""


@dataclass(frozen=True, repr=False)
class ComponentEstimate(SurveyEstimate):
    """Tables that are sums of ``components`` {A: table of the attributes A, zero along each of
    them}, in users. All tables agree on the parts that they share, and add up to the users.
    Components without any report are left out."""

    components: dict[Set, np.ndarray] = field(kw_only=True)

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[Set, np.ndarray],
        information: Mapping[Set, float],
        sizes: tuple[int, ...],
        users: int,
    ) -> ComponentEstimate:
        """The unbiased estimate from what reports add up to.

        Parameters
        ----------
        tables : for the reports about each set B of attributes, a table on B, with an axis for each, whose component on any A in B has the
            mean of the information of these reports times n_A and the component of the people.
        information : m_A of each component A that is told.
        sizes : of all attributes.
        users : how many people reported.
        """
        components: dict[Set, np.ndarray] = {}
        for attributes, table in tables.items():
            for axes in anova.subsets(range(table.ndim)):
                members = tuple(attributes[axis] for axis in axes)
                if members in information:
                    part = anova.component(table, axes)
                    components[members] = components.get(members, 0) + part / (part.size * information[members])
        return cls(unbiased=True, sizes=sizes, users=float(users), components=components)

    def _table(self, members: Set) -> np.ndarray:
        sizes = [self.sizes[i] for i in members]
        table = np.full(sizes, self.users / math.prod(sizes))
        for part in anova.subsets(i for i in members if self.sizes[i] > 1):
            if part in self.components:
                component = self.components[part].reshape([self.sizes[i] if i in part else 1 for i in members])
                table += component * (component.size / table.size)
        return table.ravel()


@dataclass(frozen=True, repr=False)
class FittedEstimate(SurveyEstimate):
    """``tables`` {attributes in increasing order: (cells,) users}; those of fewer attributes are their sums."""

    tables: dict[Set, np.ndarray] = field(kw_only=True)

    def _table(self, members: Set) -> np.ndarray:
        if members in self.tables:
            return self.tables[members]
        holding = [known for known in self.tables if set(members) <= set(known)]
        if not holding:
            names = ", ".join(str(i + 1) for i in members)
            raise ValueError(f"No table of this estimate holds the attributes {names} together.")
        known = min(holding, key=lambda members: (self.tables[members].size, members))
        others = tuple(k for k, i in enumerate(known) if i not in members)
        return self.tables[known].reshape([self.sizes[i] for i in known]).sum(axis=others).ravel()


@dataclass(frozen=True, repr=False)
class SeparateEstimate(FittedEstimate):
    """Tables that were fixed one by one: what two of them have in common need not agree."""

    adds_up: ClassVar[bool] = False
