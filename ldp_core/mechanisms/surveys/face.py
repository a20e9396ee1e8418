"""The face of mechanisms for surveys: what follows from what their reports tell of the table of a
few attributes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.limits import MOST_MATRIX_TYPES, MOST_TABLE_CELLS
from ldp_core.mechanisms.base import Mechanism, Reports
from ldp_core.mechanisms.moments import EVERYBODY, TYPES, Contributions, Moments, Rows, squared_means
from ldp_core.mechanisms.surveys.estimates import SurveyEstimate, as_survey
from ldp_core.mechanisms.surveys.largest import at_all_types, largest
from ldp_core.people import Counted, Counts, Records, Tables, people_of
from ldp_core.wording import magnitude
from ldp_core.workloads import Group, Histogram, Survey, Workload, in_chunks


class SurveyMechanism(Mechanism):
    """A mechanism on the product of attributes of ``sizes``, whose answers are consistent tables of
    a few attributes, with nothing of the size of the product. Its estimates add ``1/m_A`` per
    person and dimension to the second moment of the component of each set A of attributes (see
    `ldp_core.anova`): `inflation`."""

    def __init__(
        self, name: str, sizes: Sequence[int], epsilon: float, parameters: Mapping[str, Any], explanation: str = ""
    ):
        self.name, self._shape = name, tuple(map(int, sizes))
        super().__init__(math.prod(self._shape), epsilon, parameters, explanation)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self._shape

    @property
    def survey(self) -> SurveyMechanism:
        return self

    @property
    def split(self) -> Any:
        """The mechanism as one whose people are split among several designs, an
        `ldp_core.mechanisms.surveys.split_survey.SplitSurvey`, where it is one; None for others."""
        return None

    @property
    def scrambled(self) -> Any:
        """The `ldp_core.mechanisms.surveys.scrambled.ScrambledPatterns` that everyone sends, or
        everyone without a strategy on a table; None where there are none."""
        return None

    @property
    def component_information(self) -> Mapping[Set, float] | None:
        """{A: m_A} for sets A of attributes, where reports have nothing but these: see
        `ldp_core.anova`."""
        return None

    @property
    def table_reports(self) -> Sequence[tuple[Set, float, Mechanism]]:
        """(attributes, share of people, mechanism) of the reports that are about the table of some
        attributes, by a mechanism on its cells; none where reports are something else."""
        return ()

    def fits(self, shape: Sequence[int]) -> bool:
        return tuple(shape) == self._shape

    def people(self, counts: Counts) -> Counted | Records:
        return people_of(counts, self.sizes)

    @property
    def promised(self) -> np.ndarray:
        """(1,) for all types, however many they are."""
        return np.ones(1, dtype=bool)

    def inputs(self, records: np.ndarray) -> np.ndarray:
        return records

    def __repr__(self) -> str:
        plain = [f"{key} {value}" for key, value in self.parameters.items() if isinstance(value, (str, int, float))]
        facts = [f"{len(self.sizes)} attributes", f"{magnitude(self.n)} types", f"epsilon {self.epsilon:g}", *plain]
        return f"<{self.name} mechanism: {', '.join(facts)}>"

    def _identity(self) -> dict[str, Any]:
        return {"sizes": self.sizes, **self.parameters}

    @cached_property
    def inflation(self) -> Mapping[Set, float]:
        """{A: 1 / m_A} for the non-empty sets A with any information in the reports; none of their
        attributes has one value only."""
        return {members: 1 / value for members, value in (self.component_information or {}).items()}

    @abstractmethod
    def privatize(self, records: np.ndarray, rng: np.random.Generator, /) -> np.ndarray:
        """One report for each of the people with value indices ``records`` (users, d), or types
        (users,) if these have numbers. Simulation only."""

    @abstractmethod
    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of people, records (users, d), or counts (n,) of all types. Simulation only."""

    @abstractmethod
    def estimate(self, reports: Reports) -> SurveyEstimate: ...

    def knows(self, attributes: Sequence[int]) -> bool:
        """True if the reports tell all of the table of ``attributes``."""
        return all(members in self.inflation for members in anova.subsets(self._several(attributes)) if members)

    # --- questions ----------------------------------------------------------------------------------------------

    def supports(self, workload: Workload) -> str | None:
        """None, or why the workload cannot be answered: it has other types, or asks for what
        reports do not tell."""
        try:
            survey = as_survey(workload, self.sizes)
        except ValueError as error:
            return str(error)
        each = zip(survey.groups, survey.spectra, strict=True)
        used = (members for group, values in each for members in self._used_sets(group, values))
        lost = next((members for members in used if members not in self.inflation), None)
        if lost is None:
            return None
        axes = survey.axes
        named = [f"attribute {i + 1}" if axes is None else axes[i].name for i in lost]
        what = (
            f"the values of {named[0]}"
            if len(lost) == 1
            else f"how {', '.join(named[:-1])} and {named[-1]} go together"
        )
        return f"The reports of this mechanism say nothing about {what}, which the questions ask for."

    def _used_sets(self, group: Group, values: dict[Set, float] | None) -> list[Set]:
        """The non-empty sets A whose components the queries of ``group``, with the eigenvalues
        ``values``, may depend on."""
        several = self._several(group.attributes)
        if values is None and group.base.n > MOST_MATRIX_TYPES:
            return [members for members in anova.subsets(several) if members]
        if values is None:  # squared lengths of the components of the queries
            tables = group.base.gram_root.reshape(-1, *[self.sizes[i] for i in group.attributes])
            squares = anova.squared_norms(tables).sum(axis=0).reshape((2,) * len(group.attributes))
            values = {
                members: float(squares[tuple(int(i in members) for i in group.attributes)])
                for members in anova.subsets(several)
            }
        rounding = 1e-12 * max(values.values())
        return [members for members, value in values.items() if members and value > rounding]

    def surveys(self, workload: Workload) -> list[Survey]:
        """The surveys whose tables are estimated on their own: one, but where the collector knows
        groups of people."""
        return [as_survey(workload, self.sizes)]

    def _shape_of(self, attributes: Iterable[int]) -> list[int]:
        """How many values each of the attributes has."""
        return [self.sizes[i] for i in attributes]

    def _several(self, attributes: Sequence[int]) -> Set:
        """Those of the attributes that have more than one value."""
        return tuple(i for i in attributes if self.sizes[i] > 1)

    def _cells_of(self, records: np.ndarray, attributes: Set) -> np.ndarray:
        """(users,) the cells of the table of ``attributes`` that people with ``records`` (users, d)
        are in."""
        return np.ravel_multi_index(tuple(records[:, i] for i in attributes), tuple(self.sizes[i] for i in attributes))

    # --- exact variances ----------------------------------------------------------------------------------------

    def central_moments(self, questions: Rows, columns: Set) -> Moments:
        """As `second_moments` of what reports add, each person adding the mean of a question by
        being counted."""
        cells = questions.rows.shape[1]
        known = squared_means(questions, np.full(cells, 1 / cells))
        return [*self.second_moments(questions, columns), (columns, -known)]

    def by_type(self, moments: Moments, columns: Any = TYPES) -> np.ndarray:
        """For each cell of the table of ``columns``; the most over the values of others, table by
        table."""
        total = np.zeros(())
        for members, part in moments:
            shaped = part.reshape(len(part), *self._shape_of(members))
            outside = tuple(1 + axis for axis, i in enumerate(members) if i not in columns)
            inside = [self.sizes[i] if i in members else 1 for i in columns]
            total = total + shaped.max(axis=outside).reshape(len(part), *inside)
        return total.reshape(len(total), math.prod(self._shape_of(columns)))

    def cells(self, counts: Counts) -> Callable[[Set], np.ndarray]:
        return people_of(counts, self.sizes).table

    def cell_variances(self, columns: Set, people: Tables) -> np.ndarray:
        """Exact variances of all counts of a table, by mechanisms that treat all values of a column
        alike: what a person adds depends on the columns in which they agree with the cell alone.

        Parameters
        ----------
        columns : of the table.
        people : who takes part.

        Returns
        -------
        (cells,) in squared users.
        """
        table = people.table(columns).reshape(self._shape_of(columns))
        first = self.variances_by_type(np.eye(1, table.size), columns).reshape(table.shape)
        return from_agreement(first[np.ix_(*((0, min(1, size - 1)) for size in table.shape))], table)

    def profile_of(self, workload: Workload) -> np.ndarray:
        """(1,) for surveys that treat the values of each attribute alike: everyone then adds the
        same, ``sum_A dim_A g_A (1/m_A - 1) / n`` over the non-empty sets A. Other workloads give
        (n,) if the types are few, else (1,) for the worst type. ValueError if the worst type cannot
        be found.
        """
        survey = as_survey(workload, self.sizes)
        profiles = self._profiles(survey)
        if all(profile.size == 1 for _, profile in profiles):
            total = math.fsum(float(profile[0]) for _, profile in profiles)
            return np.array([total]) if workload.survey is not None else np.full(self.n, total)
        return (
            at_all_types(self.sizes, profiles)
            if self.n <= MOST_TABLE_CELLS
            else np.array([largest(self.sizes, profiles)])
        )

    def totals(self, workload: Workload) -> Moments:
        self.check_supports(workload)
        return self._profiles(as_survey(workload, self.sizes))

    def _profiles(self, survey: Survey) -> list[tuple[Set, np.ndarray]]:
        """Functions (cells,) of the tables of a few attributes each whose sum is what people add to
        all queries."""
        profiles, alike = list[tuple[Set, np.ndarray]](), [0.0]
        for group, values in zip(survey.groups, survey.spectra, strict=True):
            if values is None:
                profiles += [(members, group.weight**2 * part) for members, part in self._group_profiles(group)]
                continue
            for members, value in values.items():
                if members and value > 0:
                    share = group.weight**2 * value / group.base.n
                    alike.append(share * anova.dimensions(self.sizes, members) * self._added(members))
        return [*profiles, (EVERYBODY, np.array([math.fsum(alike)]))]

    def _added(self, members: Set) -> float:
        """The variance that a person adds to a question of length 1 on the component of the set
        ``members``."""
        return self.inflation[members] - 1

    def _group_profiles(self, group: Group) -> Moments:
        """What people add to the queries of a ``group``, without its weight, that does not treat
        the values of a column alike."""
        return [(group.attributes, self.variances_by_type(group.base.gram_root, group.attributes).sum(axis=0))]

    def query_variances(self, workload: Workload, counts: Counts, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query, or to those with the
        given indices, when the people are ``counts``: people, counts of all types, or records, as
        `people_of` takes them."""
        self.check_supports(workload)
        survey, people = as_survey(workload, self.sizes), people_of(counts, self.sizes)
        if queries is None:
            parts = [g.weight**2 * self._variances(g, people, None) for g in survey.groups]
            return np.concatenate(parts)
        return survey.gathered(
            np.asarray(queries, dtype=np.int64),
            lambda k, local: survey.weights[k] ** 2 * self._variances(survey.groups[k], people, local),
        )

    def _variances(self, group: Group, people: Tables, queries: np.ndarray | None) -> np.ndarray:
        if isinstance(group.base, Histogram):
            cells = self.cell_variances(group.attributes, people)
            return cells if queries is None else cells[queries]
        chosen = np.arange(group.base.num_queries) if queries is None else queries
        chunks = in_chunks(chosen, max(group.base.n, self.dimensions))
        each = (self.linear_variances(group.base.rows(some), people, group.attributes) for some in chunks)
        return np.concatenate([np.zeros(0), *each])

    @property
    def dimensions(self) -> int:
        """How many numbers a query goes through besides its own."""
        return 0

    def cost_dimension(self, workload: Workload) -> int:
        """How many numbers the errors of each query go through: the cells of the largest table that
        is asked about, or `dimensions`."""
        return max(workload.working_types, self.dimensions)

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions:
        """The contribution of a report to the answers of a few ``queries`` (q,). The types are the
        cells of the table that a query is about; those of smaller tables are followed by copies of
        their last."""
        survey, chosen = as_survey(workload, self.sizes), np.asarray(queries, dtype=np.int64)
        parts: list[tuple[np.ndarray, Contributions]] = []
        for k, here, local in survey.located(chosen):
            group = survey.groups[k]
            parts.append((here, self.contributions(group.weight * group.base.rows(local), group.attributes)))
        most = max((adds.means.shape[1] for _, adds in parts), default=1)
        means, variances = np.zeros((2, len(chosen), most))
        up, down = np.zeros((2, len(chosen)))
        for here, adds in parts:
            extra = ((0, 0), (0, most - adds.means.shape[1]))
            means[here], variances[here] = (np.pad(part, extra, mode="edge") for part in (adds.means, adds.variances))
            up[here], down[here] = adds.up, adds.down
        nothing = np.full(len(chosen), np.nan)
        return Contributions(means, variances, up, down, nothing, nothing)

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        raise ValueError("This mechanism estimates tables of a few attributes; ask for the variances of queries.")


def from_agreement(by_agreement: np.ndarray, people: np.ndarray) -> np.ndarray:
    """(cells,) variances of the counts of all cells for ``people`` (n_1, ..., n_k), from those that
    one person adds (2, ..., 2), by whether their value of each attribute agrees with the cell's (0)
    or not (1): sums of ``people`` for all cells at once."""
    for axis in range(people.ndim):  # agreeing people weigh what they add beyond others, and everyone what others add
        agree, other = np.split(by_agreement, 2, axis=axis)
        by_agreement = np.concatenate([agree - other, other], axis=axis)
    matrix = np.zeros(people.shape)
    for summed in anova.subsets(range(people.ndim)):
        factor = by_agreement[tuple(int(axis in summed) for axis in range(people.ndim))]
        matrix += factor * people.sum(axis=summed, keepdims=True)
    return np.maximum(matrix, 0.0).ravel()
