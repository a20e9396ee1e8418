"""Bounds of few questions by the types that they distinguish: against all types, against
mechanisms, and against forgers."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import bounds, optimize
from ldp_core.bounds.general.certificate import general_certificate
from ldp_core.bounds.general.merged import MergedCertificate, scaled
from ldp_core.run import Budget, Interrupted
from ldp_core.workloads import Custom, Prefix, Union
from ldp_core.workloads.predicates import Predicates
from ldp_core.workloads.quotient import RoundedQueries, distinguished, quotient
from ldp_core.workloads.surveyed import by_tables
from ldp_core.workloads.surveys import Group, Survey, marginal
from tests.declared import ADULT as SHAPE


@cache
def conditions(count, seed=2):
    """Conditions about two of eleven columns each, at random, some with common columns."""
    rng = np.random.default_rng(seed)
    chosen = [sorted(rng.choice(11, 2, replace=False).tolist()) for _ in range(count)]
    predicates = [[((i,), np.arange(SHAPE[i]) < max(1, SHAPE[i] // 2)) for i in columns] for columns in chosen]
    return by_tables(Predicates(SHAPE, predicates), SHAPE)


@cache
def proved():
    return bounds.certificate(conditions(4), 1.0, None)


@st.composite
def surveys(draw):
    """Surveys of up to 120 types, with entries of few values, so that some types are alike."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        places = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
        cells = int(np.prod([shape[i] for i in places]))
        if cells < 2:
            continue
        entries = st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.1]), min_size=cells, max_size=cells)
        rows = draw(st.lists(entries.filter(any), min_size=1, max_size=2))
        base = Custom(np.array(rows))
        if draw(st.booleans()):
            base = Union([base, Prefix(cells)], [draw(st.sampled_from([0.5, 1.0, 3.3])), 1.0])
        groups.append(Group(places, base, draw(st.sampled_from([1.0, 0.7, 2.0]))))
    return Survey(shape, groups) if groups else None


@given(surveys())
def test_merged_types_are_those_whose_answers_are_all_the_same(survey):
    if survey is None:
        return
    answers = survey.rows(np.arange(survey.num_queries)).T + 0.0
    counts = Counter(map(bytes, np.round(answers, 12) + 0.0))
    found = quotient(survey, survey.n)
    assert (found is None) == (not 2 <= len(counts) < survey.n)
    assert found is None or quotient(survey, len(counts)) is not None
    assert quotient(survey, len(counts) - 1) is None
    if found is not None:
        queries = found.workload.rows(np.arange(found.workload.num_queries))
        shares = {bytes(np.round(one, 12) + 0.0): p for one, p in zip(queries.T, found.even, strict=True)}
        assert shares == {key: float(Fraction(count, survey.n)) for key, count in counts.items()}
        assert np.isclose(found.even @ found.workload.gram_diag, survey.trace / survey.n, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_the_bound_is_no_less_than_that_for_all_types(epsilon):
    shape = (2, 3, 4)
    rows = [np.outer([1, 0], [1, 0, 0]), np.outer([1, 1], [1, 1, 0])]
    survey = Survey(shape, [Group((0, 1), Custom(np.reshape(rows, (2, 6)))), Group((2,), Custom([[1, 0, 0, 1]]), 1.5)])
    even = np.full(survey.n, 1 / survey.n)
    every = general_certificate(survey, epsilon, even, Budget())
    found = quotient(survey, 24)
    assert found.workload.n == 6
    few = general_certificate(found.workload, epsilon, found.even, Budget())
    proof = MergedCertificate(survey, epsilon, scaled(survey, few), few)
    assert proof.verify()
    assert 1 - 2e-3 < proof.value / every.value < 1.05  # merged, every set of types is one of merged types
    assert abs(proof.variance - few.variance) < 1e-9 * few.variance
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=20, seed=0)
    assert proof.value <= design.objective


def test_conditions_that_share_columns_are_bounded_near_what_they_cost():
    proof, survey = proved(), conditions(4)
    assert isinstance(proof, MergedCertificate)
    assert proof.verify()
    assert 4 <= proof.types.workload.n <= 16
    best = optimize.design(proof.types.workload, 1.0, None, None, prior=proof.types.prior)
    # A mechanism for the merged types costs the same for all types.
    cost = best.objective / best.strategy.shape[1]
    assert 0.95 * cost < proof.value / survey.n <= cost
    assert proof.value <= optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=1, seed=0).objective


def test_what_nobody_asks_about_does_not_count_however_large():
    shape = (6, *[1000] * 30, 4)
    asked = [Group((0,), Prefix(6)), marginal(shape, (31,))]
    proof = bounds.certificate(Survey(shape, asked), 1.0, None)
    small = bounds.certificate(Survey((6, 50, 4), [asked[0], Group((2,), asked[1].base)]), 1.0, None)
    assert isinstance(proof, MergedCertificate)
    assert proof.verify()
    assert abs(proof.variance / small.variance - 1) < 1e-6


def test_many_types_without_columns_are_merged_as_well():
    """Past what a matrix is formed for."""
    n = 9_000
    rows = [np.arange(n) < 100, np.arange(n) % 2 == 0, np.arange(n) >= 50]
    proof = bounds.certificate(Custom(np.array(rows, dtype=float)), 1.0, None)
    assert isinstance(proof, MergedCertificate)
    assert proof.verify()
    assert np.isclose(sorted(proof.types.prior * n), sorted([25, 25, 25, 25, 4450, 4450])).all()


def test_looking_through_types_ends_when_the_time_is_over():
    told = []

    def check():
        told.append(None)
        if len(told) > 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        quotient(conditions(4), 512, check)
    proof = bounds.certificate(conditions(4), 1.0, None, cancel=lambda: True)
    assert proof.verify()


def test_forged_proofs_are_refused():
    proof, survey = proved(), conditions(4)
    types = proof.types
    assert not replace(proof, value=proof.value * (1 + 1e-7)).verify()
    assert not replace(proof, epsilon=1.01).verify()
    assert replace(proof, epsilon=0.99).verify()
    assert not replace(proof, workload=conditions(5)).verify()
    lighter = Survey(SHAPE, [replace(group, weight=0.99) for group in survey.groups])
    assert not replace(proof, workload=lighter).verify()
    assert not replace(proof, types=replace(types, value=types.value * 1.001), value=proof.value).verify()
    tilted = types.prior[::-1]
    assert not replace(proof, types=replace(types, prior=tilted)).verify()
    easy = Custom(100 * types.workload.rows(np.arange(types.workload.num_queries)))
    assert replace(proof, types=replace(types, workload=easy)).verify()  # the questions are recomputed
    assert not replace(
        proof, types=replace(types, workload=easy, value=1e4 * types.value), value=1e4 * proof.value
    ).verify()
    for damage in (None, 3, survey, np.zeros(3)):
        assert not replace(proof, types=damage).verify()


def test_rounded_entries_are_allowed_for():
    matrix = np.array([[0.1, 0.7], [0.3, 0.2]])
    assert RoundedQueries(matrix, 2).gram_roundings == Custom(matrix).gram_roundings + 6
    base = Union([Custom(matrix), Custom(matrix)], [0.3, 1.0])
    found = quotient(Survey((2, 3), [Group((0,), base, 0.7)]), 5)
    assert found.workload.rounded == 3
    exact = [[Fraction(x) * Fraction(w) for x in row] for w in (0.3 * 1.0 * 0.7, 0.7) for row in matrix.tolist()]
    true = [[sum(row[i] * row[j] for row in exact) for j in range(2)] for i in range(2)]
    gram = found.workload.gram_dense()
    for i, j in product(range(2), range(2)):
        off = abs(Fraction(gram[i, j]) - true[i][j])
        assert off <= Fraction(found.workload.gram_roundings, 2**53) * Fraction(
            np.sqrt(gram[i, i] * gram[j, j]) * 1.001
        )


# --- the worst case -----------------------------------------------------------------------------

FEW = Custom(
    (np.random.default_rng(7).random((4, 6)) < 0.5).astype(float)[:, np.repeat(np.arange(6), [1, 2, 3, 9, 5, 4])]
)


@cache
def worst():
    return bounds.worst_case(FEW, 1.0, None)


def test_the_worst_type_is_bounded_over_merged_types():
    proof, few = worst(), distinguished(FEW)
    assert isinstance(proof, MergedCertificate)
    assert not proof.even
    assert proof.verify()
    assert proof.variance >= bounds.certificate(FEW, 1.0, None).variance
    made = optimize.worst_case_design(FEW, 1.0, optimize.SearchLimits(None, max_rounds=15))
    assert 1 <= made.worst_case_variance / proof.variance < 1.05
    best = optimize.exact(
        FEW, 1.0, few.spread(proof.types.prior)
    )  # no bound for these people is larger than what they cost
    assert proof.variance <= best.variance * (1 + 1e-6) <= made.worst_case_variance * (1 + 2e-6)


@pytest.mark.parametrize(
    "forged",
    [
        lambda proof: replace(proof, even=True),
        lambda proof: replace(proof, value=proof.value * 1.001),
        lambda proof: replace(proof, types=replace(proof.types, prior=proof.types.prior * 1.01)),
        lambda proof: replace(proof, types=replace(proof.types, value=proof.types.value * 1.001)),
        lambda proof: replace(proof, workload=Prefix(24)),
    ],
)
def test_a_worst_case_that_is_not_proved_is_refused(forged):
    assert not forged(worst()).verify()
