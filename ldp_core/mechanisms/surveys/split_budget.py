"""Every column, with the budget split: each person reports each of d attributes by randomized response with epsilon / d.

Many surveys do this. The reports on different attributes are independent given the person, so the
product of the inverses along each attribute is an unbiased estimate of joint counts. The reports of
d attributes together are epsilon-private. The contribution of a report to the table of attributes A
is a product of vectors v_i, with ``t_i = E|v_i|^2 - 1/n_i`` the same for every value. In the terms
of `ldp_core.workloads.surveys`, every component A therefore has the variance of m_A = prod over i
in A of (n_i - 1) / (n_i t_i): it falls exponentially in the size of A. Source: this project, on
randomized response (Warner 1965; Kairouz et al. 2016).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.mechanisms.base import Audit, Mechanism, Reports, check_counts, check_reports
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate
from ldp_core.mechanisms.surveys.face import OnTable, SurveyMechanism, from_agreement
from ldp_core.mechanisms.surveys.sets import maximal_sets, only_survey
from ldp_core.people import Counted, Counts, People, check_records, people_of, records_of
from ldp_core.privacy import MIN_EPSILON, check_epsilon, log_ratio
from ldp_core.wording import significant
from ldp_core.workloads import Survey, Workload


class SplitBudget(SurveyMechanism):
    """Randomized response on each of the attributes that ``survey`` asks about, all with the same part of epsilon. ValueError where
    that part is too small."""

    def __init__(self, survey: Survey, epsilon: float):
        if reason := too_little(survey, check_epsilon(epsilon)):
            raise ValueError(reason)
        super().__init__("split_budget", survey.shape, epsilon, {})
        self.sets = maximal_sets(survey)
        self.attributes = asked_about(survey)
        each = self.epsilon / len(self.attributes)
        self.responses = {i: RandomizedResponse(self.sizes[i], each) for i in self.attributes}
        self._cells = [math.prod(self.sizes[i] for i in members) for members in self.sets]
        self._starts = np.concatenate([[0], np.cumsum(self._cells)])

    def _identity(self) -> dict[str, Any]:
        return {**super()._identity(), "sets": self.sets}

    @property
    def table_reports(self) -> Sequence[tuple[Set, float, Mechanism]]:
        """Everyone's randomized response on each attribute."""
        return [((i,), 1.0, response) for i, response in self.responses.items()]

    # --- what reports tell --------------------------------------------------------------------------------------

    @cached_property
    def inflation(self) -> Mapping[Set, float]:
        inflation = {}
        for i, response in self.responses.items():
            alpha, beta = response.centred_moments()
            inflation[i] = alpha * response.n + beta
        return {
            within: math.prod(inflation[i] for i in within)
            for members in self.sets
            for within in anova.subsets(members)
            if within
        }

    def seen_on(self, attributes: Set) -> OnTable:
        several = self._several(attributes)
        return _ResponsesMarginal([self.responses[i] for i in several], [self.sizes[i] for i in several])

    # --- collecting ---------------------------------------------------------------------------------------------

    @property
    def bits_per_report(self) -> float:
        return math.fsum(response.bits_per_report for response in self.responses.values())

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, d) reported values of ``attributes`` for records ``values``, which have all. Simulation only: a client needs a
        secure random source."""
        records = records_of(values, self.sizes)
        raw = np.empty((len(records), len(self.attributes)), dtype=np.int64)
        for column, (i, response) in enumerate(self.responses.items()):
            raw[:, column] = response.privatize(records[:, i], rng)
        return raw

    def aggregate(self, raw: np.ndarray) -> Reports:
        """How many reported each combination of values of each of ``sets``, one after the other."""
        raw = check_records(raw, [self.sizes[i] for i in self.attributes])
        return Reports(self.digest, len(raw), self._counted(raw))

    def _counted(self, raw: np.ndarray) -> np.ndarray:
        columns = {i: raw[:, column] for column, i in enumerate(self.attributes)}
        counts = np.empty(self._starts[-1], dtype=np.int64)
        for k, members in enumerate(self.sets):
            cells = columns[members[0]]
            for i in members[1:]:
                cells = cells * self.sizes[i] + columns[i]
            counts[self._starts[k] : self._starts[k + 1]] = np.bincount(cells, minlength=int(self._cells[k]))
        return counts

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Person by person; counts of all types an attribute at a time, however many people. Simulation only."""
        people = people_of(counts, self.sizes)
        if people.by_type is not None:
            return Reports(self.digest, people.users, self._tables_of(self._responded(people.by_type, rng)))
        tallies = np.zeros(self._starts[-1], dtype=np.int64)
        for records in people.chunks():
            tallies += self._counted(self.privatize(records, rng))
        return Reports(self.digest, people.users, tallies)

    def _responded(self, counts: np.ndarray, rng: np.random.Generator) -> Counted:
        """The reported types of ``counts`` (n,): along each attribute some tell the truth, and all others are spread evenly. Simulation only."""
        table = check_counts(counts, self.n).reshape(self.sizes)
        for i, response in self.responses.items():
            truthful = rng.binomial(table, response.truthful)
            others = (table - truthful).sum(axis=i)
            table = truthful + np.moveaxis(rng.multinomial(others, np.full(response.n, 1 / response.n)), -1, i)
        return Counted(table.ravel(), self.sizes)

    def _tables_of(self, people: People) -> np.ndarray:
        return np.concatenate([people.table(members) for members in self.sets])

    def estimate(self, reports: Reports) -> ComponentEstimate:
        """Unbiased tables with the known number of people as their total."""
        check_reports(reports, self.digest)
        components: dict[Set, np.ndarray] = {}
        for members, sent in zip(self.sets, np.split(reports.arrays[0], self._starts[1:-1]), strict=True):
            shaped = sent.reshape(1, *[self.sizes[i] for i in members]).astype(float)
            table = inverted(shaped, [self.responses[i] for i in members])[0]
            for within in anova.subsets(range(len(members))):
                kept = tuple(members[i] for i in within)
                if within and kept not in components:  # the tables of all sets agree in what they have in common
                    part = anova.component(table, within)
                    components[kept] = part * (table.size // part.size)
        return ComponentEstimate(unbiased=True, sizes=self.sizes, users=float(reports.users), components=components)

    def audit(self) -> Audit:
        """The product over the attributes: two people may differ in all of them, and be distinguished in each."""
        ratios = [response.likelihood_ratio() for response in self.responses.values()]
        other = sum(math.prod(self.sizes[i + 1 :]) for i in self.attributes)  # the second value of each of them
        return Audit(
            log_ratio(math.prod(ratios, start=Fraction(1)), Fraction(1)),
            0.0,
            "exact: the product of the largest ratios of all attributes, which one report can reach together",
            (0, other),
        )

    def explain(self) -> str:
        d = len(self.attributes)
        chances = [response.p for response in self.responses.values()]
        return (
            f"Each person reports all {d:,} attributes in the questions, each by randomized response with 1/{d:,} of epsilon. The "
            f"report is the true value with a probability of {significant(min(chances))} to {significant(max(chances))}, otherwise any other value. Tables over several "
            "attributes are computed from the joint reports."
        )


def build(workload: Workload, epsilon: float) -> SplitBudget:
    """The mechanism for a survey. ValueError for anything else."""
    return SplitBudget(only_survey(workload), epsilon)


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why epsilon cannot be split, None where it can (or the workload is not known yet)."""
    survey = None if workload is None else workload.survey
    return None if survey is None else too_little(survey, epsilon)


@dataclass(frozen=True)
class _ResponsesMarginal:
    """Independent ``responses`` about attributes of ``sizes``, seen on their table."""

    responses: list[RandomizedResponse]
    sizes: list[int]

    def variances(self, rows: np.ndarray) -> np.ndarray:
        """The mean over a person's reports of the square of what they add, less the square of its mean."""
        shaped = np.asarray(rows, dtype=float).reshape(-1, *self.sizes)
        squares = inverted(shaped, self.responses) ** 2
        for axis, response in enumerate(self.responses, start=1):
            squares = (response.p - response.q) * squares + response.q * squares.sum(axis=axis, keepdims=True)
        return np.maximum(squares - shaped**2, 0.0).reshape(rows.shape)

    def cell_variances(self, people: np.ndarray) -> np.ndarray:
        """By agreement: `from_agreement`."""
        variances = self.variances(np.eye(1, len(people))).reshape(self.sizes)
        return from_agreement(variances[np.ix_(*[(0, 1)] * variances.ndim)], people.reshape(self.sizes))

    def ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        adds = inverted(np.asarray(rows, dtype=float).reshape(-1, *self.sizes), self.responses).reshape(rows.shape)
        return adds.min(axis=1), adds.max(axis=1)


def inverted(tables: np.ndarray, responses: Sequence[RandomizedResponse]) -> np.ndarray:
    """``tables`` (q, n_1, ..., n_k) of reported values turned into those of true ones; and queries about true values into what each
    report adds to their answers: the same map, as it is symmetric."""
    for axis, response in enumerate(responses, start=1):
        tables = (tables - response.q * tables.sum(axis=axis, keepdims=True)) / (response.p - response.q)
    return tables


def asked_about(survey: Survey) -> Set:
    """The attributes of more than one value that some question is about."""
    return tuple(sorted({i for group in survey.groups for i in group.attributes if survey.shape[i] > 1}))


def too_little(survey: Survey, epsilon: float) -> str | None:
    """Why epsilon cannot be split among the attributes, None where it can."""
    d = max(1, len(asked_about(survey)))
    if epsilon / d >= MIN_EPSILON:
        return None
    return (
        f"Split among {d:,} attributes, epsilon {epsilon:g} leaves {epsilon / d:.2g} for each, and the least is {MIN_EPSILON:g}: ask "
        f"about fewer attributes, or use an epsilon of at least {d * MIN_EPSILON:g}."
    )
