"""Confidence intervals: coverage by simulation, the variance behind them, and domains too large for a matrix."""

import numpy as np
import pytest

from ldp_core import estimators, library, mechanisms, workloads
from ldp_core.mechanisms.base import Estimate
from ldp_core.mechanisms.trees.levels import RawTreeEstimate
from tests.refused import refused

N_TYPES = 12
COUNTS = np.array([900, 0, 0, 40, 350, 0, 1200, 5, 80, 0, 400, 25])
TREE = {"branching": 3, "oracle": "oue"}
CASES = {
    "randomized_response": {},
    "subset_selection": {},
    "oue": {},
    "hadamard": {},
    "hrr": {"reconstruction": "transform"},
    "haar": {},
    "hierarchical": {**TREE, "reconstruction": "consistent"},
    "hierarchical raw": {**TREE, "reconstruction": "raw"},
    "matrix_l1": {"max_rounds": 3},
    "matrix_l2": {"max_rounds": 3},
    "rejection_gaussian": {},
}


def built(case, workload, epsilon=1.0):
    name = case.split()[0]
    fitted = {"workload": workload} if library.spec(name).needs_workload else {"n": workload.n}
    return mechanisms.create(name, epsilon=epsilon, **fitted, **CASES[case])


@pytest.mark.crossed
@pytest.mark.parametrize("trials", [200, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_95_per_cent_and_little_more(case, trials):
    """The share covered in 200 trials has a standard error of sqrt(0.95 * 0.05/200) = 1.5 %, in 4,000 trials of 0.3 %."""
    workload = workloads.all_range(N_TYPES)
    mechanism, queries = built(case, workload), np.array([0, 4, 11, 30, 47, 77])
    rng, truth = np.random.default_rng(7), workload.answers(COUNTS, queries)
    covered = np.zeros(queries.size)
    for _ in range(trials):
        estimate = mechanism.estimate(mechanism.simulate(COUNTS, rng))
        low, high = estimators.intervals(mechanism, workload, estimate, queries=queries, users=COUNTS.sum()).ends.T
        covered += (low <= truth) & (truth <= high)
    known = np.isclose(mechanism.query_variances(workload, COUNTS, queries), 0, atol=1e-6)
    assert known.sum() <= 1  # only the number of users
    tolerance = 4.1 * np.sqrt(0.95 * 0.05 / trials)
    assert covered[~known].min() / trials >= 0.95 - tolerance
    assert np.median(covered[~known]) / trials < 0.99


@pytest.mark.crossed
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("level", [0.5, 0.99])
def test_with_ten_million_people_width_follows_from_the_exact_covariance(case, level):
    workload, counts = workloads.all_range(N_TYPES), 3000 * COUNTS + 10_000
    mechanism = built(case, workload)
    estimate = Estimate(counts.astype(float), unbiased=True)
    if "raw" in case:
        levels = tuple(mechanism.tree.aggregate(counts))
        estimate = RawTreeEstimate(counts, unbiased=True, users=counts.sum(), tree=mechanism.tree, levels=levels)
    found = estimators.intervals(mechanism, workload, estimate, level)
    assert found.ends.shape == (workload.num_queries, 2)
    assert found.methods.shape == (workload.num_queries,)
    exact = mechanism.query_variances(workload, counts)
    inside = (exact > 1) & (found.ends[:, 0] > 0) & (found.ends[:, 1] < counts.sum())
    assert inside.sum() >= 0.9 * workload.num_queries  # the others are cut off at all people
    assert set(found.methods[inside]) == {"exact" if case.startswith("matrix") else "normal"}
    assert found.ends.mean(axis=1)[inside] == pytest.approx(workload.answers(counts)[inside], abs=100)
    multiple = {0.5: 0.67449, 0.99: 2.57583}[level]
    ratios = np.diff(found.ends)[inside, 0] / (2 * multiple * np.sqrt(exact[inside]))
    assert ratios.min() > 1 - 1e-4
    assert ratios.max() < 1.02
    queries = np.array([70, 3])
    some = estimators.intervals(mechanism, workload, estimate, level, queries)
    assert some.ends == pytest.approx(found.ends[queries], rel=1e-9, abs=1e-3)


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("haar", {}),
        ("hrr", {"reconstruction": "transform"}),
        ("hierarchical", {"reconstruction": "consistent"}),
        ("hierarchical", {"reconstruction": "raw"}),
        ("hierarchical", {"reconstruction": "raw", "oracle": "hrr"}),
        ("oue", {}),
    ],
)
@pytest.mark.parametrize("make", [workloads.prefix, workloads.all_range, workloads.histogram])
def test_large_domains_need_no_matrix(name, parameters, make):
    n = 2**16
    workload, mechanism = make(n), mechanisms.create(name, n, 1.0, **parameters)
    counts = np.random.default_rng(0).multinomial(2**22, np.full(n, 1 / n))
    queries = np.array([0, workload.num_queries // 3, workload.num_queries - 2])
    estimate = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(1)))
    low, high = estimators.intervals(mechanism, workload, estimate, 0.99999, queries, users=2**22).ends.T
    truth = workload.answers(counts, queries)
    assert np.all(low <= truth)
    assert np.all(truth <= high)
    assert np.all(high - low < 2 * counts.sum())
    assert np.all(high > low)


def test_variances_are_taken_at_the_known_number_of_users():
    """The leaves of a raw tree hardly tell it: their sum is noise."""
    n, users = 2**12, 20_000
    workload, queries = workloads.all_range(n), np.arange(0, 10**6, 2500)
    counts = np.random.default_rng(0).multinomial(users, np.full(n, 1 / n))
    truth = workload.answers(counts, queries)
    raw = mechanisms.create("hierarchical", n, 1.0, reconstruction="raw", oracle="oue")
    plain = mechanisms.create("oue", n, 1.0, reconstruction="standard")
    for mechanism in (raw, plain):
        estimate = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(3)))
        assert abs(estimate.estimated_counts.sum() - users) > 0.5 * users
        found = estimators.intervals(mechanism, workload, estimate, 0.95, queries, users=users)
        (low, high), answers = found.ends.T, estimate.answers(workload, queries)
        assert set(found.methods) == {"normal"}
        known = np.sqrt(mechanism.query_variances(workload, counts, queries))
        half = np.concatenate(
            [(answers - low)[low > 0] / known[low > 0], (high - answers)[high < users] / known[high < users]]
        )
        assert half.size > 50
        assert half.min() > 0.97 * 1.95996
        assert np.median(half) < 1.1 * 1.95996
    low, high = estimators.intervals(
        raw, workload, raw.estimate(raw.simulate(counts, np.random.default_rng(3))), 0.95, queries
    ).ends.T
    assert np.mean((low <= truth) & (truth <= high)) > 0.9


@pytest.mark.parametrize("level", [0, 95, float("nan")])
def test_impossible_levels_are_refused(level):
    mechanism, workload = mechanisms.create("oue", 4, 1.0), workloads.prefix(4)
    refused(
        "between 0 and 1", lambda: estimators.intervals(mechanism, workload, Estimate(np.ones(4), unbiased=True), level)
    )


def test_biased_answers_have_no_such_intervals():
    mechanism, workload = mechanisms.create("oue", 4, 1.0), workloads.prefix(4)
    refused("unbiased answers", lambda: estimators.intervals(mechanism, workload, Estimate(np.ones(4), unbiased=False)))


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e5])
@pytest.mark.parametrize("case", CASES)
def test_answers_in_another_unit_have_the_same_intervals_in_that_unit(case, size):
    rows = np.random.default_rng(5).normal(size=(4, N_TYPES))
    rows[0] = 1.0  # known
    plain, scaled = workloads.custom(rows), workloads.custom(size * rows)
    mechanism = built(case, plain)
    estimate = mechanism.estimate(mechanism.simulate(COUNTS, np.random.default_rng(6)))
    for drawn in (False, True):
        found, again = (
            estimators.intervals(mechanism, questions, estimate, users=COUNTS.sum(), drawn=drawn)
            for questions in (plain, scaled)
        )
        np.testing.assert_array_equal(again.methods, found.methods)
        np.testing.assert_allclose(again.ends / size, found.ends, rtol=1e-6, atol=1e-6 * COUNTS.sum())
        np.testing.assert_allclose(again.most / size, found.most, rtol=1e-6, atol=1e-6 * COUNTS.sum())
