"""Groups of questions with reports of their own: strategies on the tables of a few attributes, and scrambled patterns for the rest.

Questions that follow an order, or single out values, do not treat the values of an attribute alike, and scrambled patterns must.
Here each person takes part in one of several designs, drawn with probabilities a_k whatever their values are: in one of some strategies
Q_k on the table of the attributes B_k, or in scrambled patterns. A query is the sum of its mean and of two orthogonal parts: what is a
sum of functions of the B_k is answered by the reports of all strategies together (`ldp_core.mechanisms.surveys.combined`), the rest from
the patterns alone, 1/a_k times what they add up to, and the mean by the known number of people.

How many people each design gets is random, and what their reports add is weighted by the probability a_k, not by the share that came
about: so the answers are sums over independent people, unbiased, with the exact variance of a person with record u

    sum_k a_k E_k[c_k(y)^2 | u]  -  (r_u - mean r)^2        (c_k(y): what a report y of design k adds to the query r).

Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import wording
from ldp_core.anova import Set
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import Reports, by_number, check_reports
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.files import STRATEGIES, MechanismFile
from ldp_core.mechanisms.moments import Ends, Moments, Rows
from ldp_core.mechanisms.parts import drawn
from ldp_core.mechanisms.surveys.combined import Combined, Strategies, together
from ldp_core.mechanisms.surveys.drawn import DrawnSets
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate, as_survey
from ldp_core.mechanisms.surveys.face import from_agreement
from ldp_core.mechanisms.surveys.largest import at_most
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns, batches, patterns_file
from ldp_core.mechanisms.surveys.sets import given_shares
from ldp_core.people import Counts, Tables, people_of
from ldp_core.workloads import Group, Survey, Workload
from ldp_core.workloads.restricted import cells_of, divided

_ENTRIES = 2**22  # of queries written out at once


@dataclass(frozen=True)
class GroupTable:
    """A strategy of its own on the table of ``attributes``, in increasing order: its cells are the types of the ``mechanism``."""

    attributes: Set
    mechanism: ExplicitMechanism


class SplitSurvey(DrawnSets):
    """People take part in one of the strategies on ``tables`` or, last, in ``rest``, with probabilities in proportion to ``shares`` (K,).

    ValueError for no design, one that does not fit ``sizes`` or has another epsilon, and shares that are not positive.
    """

    part_name, guarantee = "a design", "{}; the design is drawn whatever the value"

    def __init__(
        self,
        name: str,
        sizes: Sequence[int],
        epsilon: float,
        tables: Sequence[GroupTable],
        rest: ScrambledPatterns | None,
        shares: Sequence[float] | np.ndarray,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        super().__init__(name, sizes, epsilon, parameters or {}, explanation)
        self.tables, self.rest = tuple(tables), rest
        self.sets = tuple(group.attributes for group in self.tables)
        self.parts = (*(group.mechanism for group in self.tables), *([] if rest is None else [rest]))
        for group in self.tables:
            if list(group.attributes) != sorted(set(group.attributes)) or group.mechanism.n != self._cells(
                group.attributes
            ):
                raise ValueError(
                    f"A strategy on {group.mechanism.n:,} types does not fit attributes {group.attributes}."
                )
        if rest is not None and rest.sizes != self.sizes:
            raise ValueError(f"The patterns are for attributes of sizes {list(rest.sizes)}, not {list(self.sizes)}.")
        if not self.parts or any(design.epsilon != self.epsilon for design in self.parts):
            raise ValueError(f"There must be a design to take part in, and all need epsilon {self.epsilon:g}.")
        self.shares = given_shares(np.asarray(shares, dtype=float).tolist(), len(self.parts))

    @property
    def split(self) -> SplitSurvey:
        return self

    @property
    def scrambled(self) -> ScrambledPatterns | None:
        return self.rest

    @property
    def bytes_held(self) -> int:
        """What its designs hold."""
        return sum(design.bytes_held for design in self.parts)

    def files(self) -> tuple[MechanismFile, ...]:
        """The patterns with the shares of all designs, and the strategies on single tables."""
        strategies = {str(k): group.mechanism.strategy for k, group in enumerate(self.tables)}
        entries = sum(strategy.size for strategy in strategies.values())
        if entries > MOST_STRATEGY_ENTRIES:
            raise ValueError(
                f"The strategies on single tables have {entries:,} probabilities together, and at most {MOST_STRATEGY_ENTRIES:,} are kept in a file: "
                "use coarser bins."
            )
        patterns = patterns_file(0 if self.rest is None else len(self.rest.patterns), self._document)
        several = f"{len(self.tables)} strategies on their tables" if len(self.tables) != 1 else "strategy on its table"
        about = f"the probabilities of the {several}, plain numbers only"
        beside = MechanismFile(STRATEGIES, "strategies", {}, about, lambda: strategies)
        return (patterns, beside) if strategies else (patterns,)

    def _document(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"epsilon": self.epsilon, "sizes": list(self.sizes), "tables": [], "patterns": []}
        shares = self.shares.tolist()
        tables = [
            {"attributes": list(members), "share": share} for members, share in zip(self.sets, shares, strict=False)
        ]
        sent = empty if self.rest is None else self.rest.document()
        return {**sent, "own": tables, "rest": None if self.rest is None else shares[-1]}

    def _content(self) -> bytes:
        written = [repr(self.sets), *(design.digest for design in self.parts)]
        return " ".join(written).encode() + self.shares.tobytes()

    def _cells(self, attributes: Iterable[int]) -> int:
        return math.prod(self.sizes[i] for i in attributes)

    def _from_tables(self, members: Set) -> bool:
        """True if the component of the set ``members`` comes from strategies on tables."""
        return any(set(members) <= set(set_of_table) for set_of_table in self.sets)

    @cached_property
    def combined(self) -> tuple[Combined, ...]:
        """The strategies on tables, in groups whose reports are put together."""
        return tuple(
            Combined(
                Strategies(tables, [self.tables[k].mechanism.strategy for k in tables.numbers]),
                self.shares[list(tables.numbers)],
            )
            for tables in together(self.sizes, self.sets)
        )

    # --- what reports tell --------------------------------------------------------------------------------------

    @cached_property
    def inflation(self) -> dict[Set, float]:
        """{A: tr(P_A M^-1) / dim_A}, the mean over the component where strategies do not treat its dimensions alike."""
        inflation = {
            members: value for combination in self.combined for members, value in combination.inflation.items()
        }
        if self.rest is not None:
            for members, value in self.rest.inflation.items():
                if not self._from_tables(members):
                    inflation[members] = value / float(self.shares[-1])
        return inflation

    def second_moments(self, questions: Rows, columns: Set) -> Moments:
        """Those of every design that says something about the questions, times the probability that there is a report in it."""
        moments = [
            (self.sets[k], values**2 @ self.tables[k].mechanism.strategy * self.shares[k])
            for k, values in self._contributed(questions.rows, columns)
        ]
        return [*moments, *self._pattern_moments(questions.rows, columns)]

    def _contributed(self, rows: np.ndarray, attributes: Set) -> Iterator[tuple[int, np.ndarray]]:
        """The contributions of the reports of each relevant strategy to ``rows``: its number, and
        (q, m) over its outputs."""
        for combination in self.combined:
            if set(combination.tables.attributes) & set(attributes):
                yield from zip(combination.tables.numbers, combination.added(rows, attributes), strict=True)

    def _for_patterns(self, rows: np.ndarray, attributes: Set) -> np.ndarray:
        """(q, cells) the part of ``rows`` that patterns answer: no strategy is asked it."""
        return divided(rows.reshape(len(rows), *self._shape_of(attributes)), attributes, self.sets)[-1].reshape(
            rows.shape
        )

    def _pattern_moments(self, rows: np.ndarray, attributes: Set) -> Moments:
        """The mean squares of what patterns add to ``rows``, as `second_moments` has them, where they say something of them."""
        remaining = self._for_patterns(rows, attributes)
        if self.rest is None or np.abs(remaining).max(initial=0.0) <= 1e-11 * np.abs(rows).max(initial=0.0):
            return []
        moments = self.rest.second_moments(Rows(remaining), attributes)
        return [(members, squares / self.shares[-1]) for members, squares in moments]

    def ends(self, questions: Rows, columns: Set) -> Ends:
        """The least and the most over all designs."""
        rows, attributes = questions.rows, columns
        low, high = np.zeros((2, len(rows)))
        for _, values in self._contributed(rows, attributes):
            low, high = np.minimum(low, values.min(axis=1)), np.maximum(high, values.max(axis=1))
        if self.rest is not None:
            ends = self.rest.ends(Rows(self._for_patterns(rows, attributes)), attributes)
            low, high = np.minimum(low, ends[0] / self.shares[-1]), np.maximum(high, ends[1] / self.shares[-1])
        mean = rows.mean(axis=1)
        return Ends(mean + low, mean + high)

    # --- exact variances ----------------------------------------------------------------------------------------

    def profile_of(self, workload: Workload) -> np.ndarray:
        """As for all mechanisms for surveys. If strategies connect too many attributes to find the
        worst type, a bound: the sum of the worst of each table."""
        try:
            return super().profile_of(workload)
        except ValueError:
            return np.array([at_most(self.sizes, self._profiles(as_survey(workload, self.sizes)))])

    def _profiles(self, survey: Survey) -> list[tuple[Set, np.ndarray]]:
        """The mean squares of what the reports about each strategy add to all queries, and what patterns add."""
        profiles = super()._profiles(survey)
        for combination in self.combined:
            numbers, gram = combination.tables.numbers, combination.tables.gram(survey)
            for k, squares in zip(numbers, combination.squares(gram), strict=True):
                profiles.append((self.sets[k], squares @ self.tables[k].mechanism.strategy * self.shares[k]))
        return profiles

    def _added(self, members: Set) -> float:
        """But for what strategies add, which is counted for all queries together."""
        return -1.0 if self._from_tables(members) else super()._added(members)

    def _group_profiles(self, group: Group) -> Moments:
        rows, members = group.base.gram_root, group.attributes
        known = -((rows - rows.mean(axis=1, keepdims=True)) ** 2)
        moments = [(members, known), *self._pattern_moments(rows, members)]
        return [(place, part.sum(axis=0)) for place, part in moments]

    @property
    def dimensions(self) -> int:
        """Those of tables whose reports are put together."""
        return max((combination.tables.dimensions for combination in self.combined), default=0)

    def cell_variances(self, attributes: Set, people: Tables) -> np.ndarray:
        """(cells,) exact variance of the count of each cell of the table of ``attributes``."""
        sizes, table = self._shape_of(attributes), people.table(attributes).astype(float)
        cells, users = len(table), float(table.sum())
        variances = -(users / cells**2 + table * (1 - 2 / cells))
        for combination in self.combined:
            common = tuple(i for i in attributes if i in combination.tables.attributes)
            if common:  # cells that have the same values of these have the same
                squares = self._cell_squares(combination, common, people) * (self._cells(common) / cells) ** 2
                variances += squares[cells_of(sizes, attributes, common)]
        if self.rest is not None:  # patterns treat all values alike: it depends on what a person and the cell agree in
            remaining = self._for_patterns(np.eye(1, cells), attributes)
            ((_, squares),) = self.rest.second_moments(Rows(remaining), attributes)
            agreement = squares.reshape(sizes)[np.ix_(*[(0, min(1, size - 1)) for size in sizes])]
            variances += from_agreement(agreement / self.shares[-1], table.reshape(sizes))
        return np.maximum(variances, 0.0)

    def _cell_squares(self, combination: Combined, attributes: Set, people: Tables) -> np.ndarray:
        """(cells,) the mean square of what reports about the tables of ``combination`` add to the count of each cell of that of ``attributes``."""
        cells = self._cells(attributes)
        squares, step = np.zeros(cells), max(1, _ENTRIES // max(cells, combination.tables.dimensions))
        sent = {
            k: self.tables[k].mechanism.strategy @ people.table(self.sets[k]) * self.shares[k]
            for k in combination.tables.numbers
        }
        for start in range(0, cells, step):
            rows = np.eye(min(step, cells - start), cells, start)
            for k, values in zip(combination.tables.numbers, combination.added(rows, attributes), strict=True):
                squares[start : start + step] += values**2 @ sent[k]
        return squares

    # --- reports ------------------------------------------------------------------------------------------------

    @property
    def bits_per_report(self) -> float:
        """Whole bits for the number of the design and for the report."""
        bits = [design.bits_per_report for design in self.parts]
        return float(math.ceil(max(bits) + math.log2(math.fsum(2.0 ** (length - max(bits)) for length in bits)) - 1e-9))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of people, records (users, d), or counts (n,) of all types. Simulation only."""
        tables = [np.zeros(group.mechanism.n, dtype=np.int64) for group in self.tables]
        remaining = [] if self.rest is None else [self.rest.simulate(np.zeros((0, len(self.sizes)), dtype=int), rng)]
        for records in batches(people_of(counts, self.sizes)):
            for k, users in by_number(drawn(len(records), self.shares, rng)):
                some = self._taken(k, records[users])
                if k < len(self.tables):
                    tables[k] += np.bincount(some, minlength=len(tables[k]))
                elif self.rest is not None:
                    remaining[0] += self.rest.simulate(some, rng)
        reports_by_design = [
            group.mechanism.simulate(table, rng) for group, table in zip(self.tables, tables, strict=True)
        ]
        return self._joined([*reports_by_design, *remaining])

    def estimate(self, reports: Reports) -> ComponentEstimate:
        """Unbiased tables that agree in what they share, and add up to the known number of people."""
        check_reports(reports, self.digest)
        reports_by_design, components = self.reports_of(reports), dict[Set, np.ndarray]()
        for combination in self.combined:
            components.update(
                combination.components([reports_by_design[k].arrays[0] for k in combination.tables.numbers])
            )
        if self.rest is not None:
            for members, part in self.rest.estimate(reports_by_design[-1]).components.items():
                if not self._from_tables(members):
                    components[members] = part / self.shares[-1]
        return ComponentEstimate(unbiased=True, sizes=self.sizes, users=float(reports.users), components=components)

    # --- what is said of it -------------------------------------------------------------------------------------

    def explain_with(self, names: Sequence[str]) -> str:
        return self.explain(names)

    def explain(self, names: Sequence[str] | None = None) -> str:
        """The explanation with the ``names`` of the attributes, or else with their numbers."""
        if self._explanation:
            return self._explanation
        names = names or [f"column {i + 1}" for i in range(len(self.sizes))]
        columns = [_listed([names[i] for i in members]) for members in self.sets]
        named = [
            f"about {what} ({wording.share(share)})" for what, share in zip(columns, self.shares.tolist(), strict=False)
        ]
        first = f"Each person takes part in one of {len(self.parts)} designs, drawn whatever their values are. "
        if len(self.parts) == 1:
            first = ""
        if named:
            first += f"Reports {', '.join(named)} are of a strategy fitted to the questions there, which follow an order or single out values."
        return (
            first
            if self.rest is None
            else f"{first} For everything else ({wording.share(float(self.shares[-1]))}): {self.rest.explain()}"
        )


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
