"""One random set of columns: each person draws a set of attributes and reports the joint value
there by a histogram mechanism.

This is what practitioners do with surveys. Sets B are drawn with probabilities a_B, whatever the
person's value. A histogram mechanism that treats all cells of the table over B alike adds a vector
c with E[(r c)^2] = alpha |r|^2 + beta r_u^2 to the counts of the cells, for a person in cell u and
any query r that sums to 0. A report on B has n_B cells, and gives the same information on all
components A inside B (`ldp_core.anova`); all reports together give

    m_B = 1 / (alpha n_B + beta),    m_A = sum over B that hold A of a_B m_B.

In the best linear reconstruction, which knows the number of people, a report on B has the weight
m_B / m_A in component A. Source: this project; subset selection is the best histogram mechanism
there (Ye and Barg 2018). The sets are those asked about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.arguments import check_choice
from ldp_core.mechanisms.base import Reports, by_number, check_counts, check_reports, runs
from ldp_core.mechanisms.moments import TYPES, Ends, Moments, Rows
from ldp_core.mechanisms.parts import drawn
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.drawn import DrawnSets
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate
from ldp_core.mechanisms.surveys.sets import given_shares, maximal_sets, only_survey, shares_of_all
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.people import Counted, Counts, People, people_of
from ldp_core.workloads import Survey, Workload

Oracle = RandomizedResponse | SubsetSelection | UnaryEncoding
ORACLES: dict[str, tuple[str, Callable[[int, float], Oracle]]] = {
    "subset_selection": ("subset selection", SubsetSelection),
    "oue": ("optimised unary encoding", lambda n, epsilon: UnaryEncoding("oue", n, epsilon)),
    "randomized_response": ("randomized response", RandomizedResponse),
}
"""Histogram mechanisms for the joint value of a few attributes: the name of each in a sentence, and
its constructor."""
SHARES = ("even", "fitted")
"""How often each set is asked: alike, or so that the total variance is least."""


class SampledSets(DrawnSets):
    """``oracle`` reports the joint value of one of the sets asked about, drawn with probabilities
    ``shares``: "even", "fitted" to make the total variance least, or a number for each of them.
    Raises ValueError for anything else.
    """

    part_name, guarantee = "a set", "{}; the set is drawn whatever the value"

    def __init__(
        self,
        survey: Survey,
        epsilon: float,
        oracle: str = "subset_selection",
        shares: str | Sequence[float] | np.ndarray = "even",
    ):
        stated = shares if isinstance(shares, str) else [float(share) for share in shares]
        parameters = {"oracle": oracle, "shares": stated}
        for (word, chosen), known in zip(parameters.items(), (ORACLES, SHARES), strict=True):
            if isinstance(chosen, str):
                check_choice(word, chosen, known)
        super().__init__("sampled_sets", survey.shape, epsilon, parameters)
        self.sets = maximal_sets(survey)
        self._cells = np.array([math.prod(self.sizes[i] for i in members) for members in self.sets])
        self._title, make = ORACLES[oracle]
        self.oracles = {cells: make(cells, self.epsilon) for cells in np.unique(self._cells).tolist()}
        self._moments = {cells: held_oracle.centred_moments() for cells, held_oracle in self.oracles.items()}
        alpha, beta = np.array([self._moments[cells] for cells in self._cells.tolist()]).T
        self.information_of_sets = 1 / (alpha * self._cells + beta)
        """(K,) m_B of each of ``sets``."""
        if stated == "fitted":
            self.shares = shares_of_all(survey, self.sets, self.information_of_sets)
        else:
            self.shares = given_shares([1.0] * len(self.sets) if isinstance(stated, str) else stated, len(self.sets))
        self.parts = tuple(self.oracles[cells] for cells in self._cells.tolist())
        kept = [made.n if made.channel is None else made.channel.shape[0] for made in self.parts]
        self.starts = np.concatenate([[0], np.cumsum(kept)])

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "sets": self.sets}

    def _content(self) -> bytes:
        return self.shares.tobytes()

    # --- what reports tell --------------------------------------------------------------------------------------

    @cached_property
    def component_information(self) -> dict[Set, float]:
        """{A: m_A} of the non-empty sets inside those that are drawn."""
        information: dict[Set, float] = {}
        for members, weight in zip(self.sets, (self.shares * self.information_of_sets).tolist(), strict=True):
            for within in anova.subsets(members):
                if within:
                    information[within] = information.get(within, 0.0) + weight
        return information

    @cached_property
    def _holds(self) -> np.ndarray:
        """(K, d) whether each set has each attribute."""
        holds = np.zeros((len(self.sets), len(self.sizes)), dtype=bool)
        for k, members in enumerate(self.sets):
            holds[k, list(members)] = True
        return holds

    def sources(self, attributes: Set) -> list[tuple[Set, np.ndarray]]:
        """The sets that answer queries on ``attributes``: for each non-empty part of them (numbered
        from 0 within them), the sets that share exactly that part with them."""
        codes = self._holds[:, list(attributes)] @ (1 << np.arange(len(attributes)))
        sources = []
        for part in anova.subsets(range(len(attributes))):
            sets = np.flatnonzero(codes == sum(1 << i for i in part))
            if part and len(sets):
                sources.append((part, sets))
        return sources

    def _weighed(self, parts: dict[Set, np.ndarray], shared: Set, attributes: Set) -> np.ndarray:
        """(q, ...) what a report on a set that has ``shared`` in common with ``attributes`` is
        weighed with, but for the factor of the set."""
        total = np.zeros(1)
        for within in anova.subsets(shared):
            if within:
                total = total + parts[within] / self.component_information[tuple(attributes[i] for i in within)]
        return total

    def _components(self, rows: np.ndarray, attributes: Set) -> dict[Set, np.ndarray]:
        return anova.components(np.asarray(rows, dtype=float).reshape(len(rows), *self._shape_of(attributes)))

    def second_moments(self, questions: Rows, columns: Set) -> Moments:
        attributes, rows = self._several(columns), questions.rows
        parts = self._components(rows, attributes)
        moments = np.zeros((len(rows), *self._shape_of(attributes)))
        for shared, sets in self.sources(attributes):
            squares, cells = self._weighed(parts, shared, attributes) ** 2, self._cells[sets]
            alpha, beta = np.array([self._moments[size] for size in cells.tolist()]).T
            weights = self.shares[sets] * self.information_of_sets[sets] ** 2
            spread = weights @ (alpha * (cells / math.prod(self.sizes[attributes[i]] for i in shared)))
            moments += spread * squares.sum(axis=tuple(range(1, squares.ndim)), keepdims=True)
            moments += (weights @ beta) * squares
        return [(attributes, moments.reshape(rows.shape))]

    def ends(self, questions: Rows, columns: Set) -> Ends:
        attributes, rows = self._several(columns), questions.rows
        parts, sources = self._components(rows, attributes), self.sources(attributes)
        some_say_nothing = sum(len(sets) for _, sets in sources) < len(self.sets)
        low, high = (np.full(len(rows), 0.0 if some_say_nothing else end) for end in (math.inf, -math.inf))
        for shared, sets in sources:
            weights = self._weighed(parts, shared, attributes)
            weights = weights.reshape(len(rows), math.prod(weights.shape[1:]))
            factors = self.information_of_sets[sets].tolist()
            for n, factor in {(self.parts[k].n, f) for k, f in zip(sets.tolist(), factors, strict=True)}:
                for here in runs(len(rows), 2**22 // n):  # queries written out at once
                    spread = np.repeat(factor * weights[here], n // weights.shape[1], axis=1)
                    least, most, _ = self.oracles[n].ends(Rows(spread), TYPES)
                    low[here], high[here] = np.minimum(low[here], least), np.maximum(high[here], most)
        mean = rows.mean(axis=1)
        return Ends(low + mean, high + mean)

    # --- reports ------------------------------------------------------------------------------------------------

    @property
    def bits_per_report(self) -> float:
        """Whole bits for the number of the set, and for the longest report on a set."""
        return math.ceil(math.log2(len(self.sets))) + max(oracle.bits_per_report for oracle in self.oracles.values())

    def _joined(self, reports: Sequence[Reports]) -> Reports:
        """How many reported on each set (K,), and what their reports add up to, one set after the
        other, in one array."""
        users = np.array([part.users for part in reports], dtype=np.int64)
        return Reports(self.digest, int(users.sum()), (users, np.concatenate([part.arrays[0] for part in reports])))

    def reports_of(self, reports: Reports) -> list[Reports]:
        users, sums = reports.arrays
        each = zip(self.parts, users.tolist(), np.split(sums, self.starts[1:-1]), strict=True)
        return [Reports(oracle.digest, number, part) for oracle, number, part in each]

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Everyone draws a set; the people of one set are then simulated by their cells. Simulation
        only."""

        def sent(oracle: Oracle, table: np.ndarray) -> Reports:
            if table.sum() >= 1_000:  # fewer are simulated one by one, which is then quicker
                return oracle.simulate(table, rng)
            return oracle.aggregate(oracle.privatize(np.repeat(np.arange(len(table)), table), rng))

        tables = self._drawn(people_of(counts, self.sizes), rng)
        return self._joined([sent(oracle, table) for oracle, table in zip(self.parts, tables, strict=True)])

    def _drawn(self, people: People, rng: np.random.Generator) -> list[np.ndarray]:
        """How many people with each combination of values of a set have drawn it, for each set.
        Simulation only."""
        starts = np.concatenate([[0], np.cumsum(self._cells)])
        counts = np.zeros(starts[-1], dtype=np.int64)
        if people.by_type is not None:  # those who are left draw the next set with its share of what is left
            left, rest = check_counts(people.by_type, self.n), np.cumsum(self.shares[::-1])[::-1]
            for k, members in enumerate(self.sets):
                took = rng.binomial(left, min(1.0, self.shares[k] / rest[k]))
                left = left - took
                counts[starts[k] : starts[k + 1]] = Counted(took, self.sizes).table(members)
            return np.split(counts, starts[1:-1])
        for records in people.chunks():
            for k, some in by_number(drawn(len(records), self.shares, rng)):
                cells = self._cells_of(records[some], self.sets[k])
                counts[starts[k] : starts[k + 1]] += np.bincount(cells, minlength=int(self._cells[k]))
        return np.split(counts, starts[1:-1])

    def estimate(self, reports: Reports) -> ComponentEstimate:
        """Unbiased tables with the known number of people as their total."""
        check_reports(reports, self.digest)
        tables, each = {}, zip(self.sets, self.parts, self.reports_of(reports), self.information_of_sets, strict=True)
        for members, oracle, sent, information in each:
            counts = oracle.estimate(sent).estimated_counts
            tables[members] = (information * oracle.n * counts).reshape(self._shape_of(members))
        return ComponentEstimate.of_tables(tables, self.component_information, self.sizes, reports.users)

    # --- what is said of it -------------------------------------------------------------------------------------

    def explain(self) -> str:
        often = "each as often as any other" if np.ptp(self.shares) < 1e-9 else "some more often than others"
        return (
            f"Each person draws one of {len(self.sets):,} sets of columns, {often}, and reports the values they have there as a single "
            f"value among up to {self._cells.max():,}, by {self._title}. The collector puts the reports on all sets together in the best linear way, "
            "so that all tables agree."
        )


def build(workload: Workload, epsilon: float, oracle: str = "subset_selection", shares: str = "even") -> SampledSets:
    """The mechanism for a survey. ValueError for another workload."""
    return SampledSets(only_survey(workload), epsilon, oracle, shares)
