"""WNNLS against a convex solver, its optimality conditions and its promise."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import estimators, mechanisms, workloads
from ldp_core.estimators import wnnls
from ldp_core.mechanisms.base import Estimate

MAKERS = {"histogram": workloads.histogram, "prefix": workloads.prefix, "all_range": workloads.all_range}


class Dense(workloads.Prefix):
    """Random queries with one linear dependence among the types: a Gram matrix without any structure or full rank."""

    kind = "dense"

    def __init__(self, n):
        super().__init__(n)
        self.queries = np.random.default_rng(3).normal(size=(2 * n, n))
        self.queries[:, -1] = self.queries[:, 0]

    @property
    def num_queries(self):
        return len(self.queries)

    def apply_gram(self, x):
        return x @ self.queries.T @ self.queries

    @property
    def gram_diag(self):
        return (self.queries**2).sum(axis=0)

    def rows(self, queries):
        return self.queries[queries]


def oracle(workload, counts):
    x = cp.Variable(workload.n, nonneg=True)
    scale = np.abs(counts).max()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(workload.matrix @ (x - counts / scale))))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value * scale**2, x.value * scale


def distance(workload, x, counts):
    return ((workload.matrix @ (x - counts)) ** 2).sum()


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("n", [2, 5, 24])
def test_equals_a_convex_solver(kind, n, scale):
    workload = MAKERS[kind](n)
    counts = scale * np.random.default_rng(n).normal(0.3, 1.0, n)
    counts[0] = -scale  # at least one bound is active
    found = wnnls.project(workload, counts)
    best, solution = oracle(workload, counts)
    assert found.min() >= 0
    assert distance(workload, found, counts) <= best * (1 + 1e-6)
    assert found == pytest.approx(solution, abs=1e-4 * scale)


def test_a_workload_without_structure_is_projected_in_its_own_norm():
    workload = Dense(8)
    counts = np.random.default_rng(5).normal(size=8)
    found = wnnls.project(workload, counts)
    best, _ = oracle(workload, counts)
    assert found.min() >= 0
    assert best > 1e-3
    assert distance(workload, found, counts) == pytest.approx(best, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(MAKERS)), st.integers(2, 30), st.floats(-3, 7), st.integers(0, 2**32 - 1))
def test_meets_the_optimality_conditions_and_never_moves_away_from_the_truth(kind, n, magnitude, seed):
    workload, rng, scale = MAKERS[kind](n), np.random.default_rng(seed), 10.0**magnitude
    truth = scale * rng.exponential(size=n) * (rng.random(n) < 0.5)
    counts = truth + scale * rng.normal(size=n)
    found = wnnls.project(workload, counts)
    slope = workload.apply_gram(found - counts)
    tolerance = 1e-8 * np.abs(workload.gram_dense()).sum() * scale
    assert found.min() >= 0
    assert slope.min() >= -tolerance
    assert np.abs(slope[found > 1e-9 * scale]).max(initial=0) <= tolerance
    assert workload.quadratic(found - truth) <= workload.quadratic(counts - truth) * (1 + 1e-9)


@pytest.mark.parametrize("kind", MAKERS)
def test_leaves_possible_counts_alone(kind):
    counts = np.array([3.0, 0.0, 12.5, 7.0, 0.0])
    assert wnnls.project(MAKERS[kind](5), counts) == pytest.approx(counts, abs=1e-9)
    assert wnnls.project(MAKERS[kind](5), np.zeros(5)).tolist() == [0.0] * 5


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hierarchical"])
@pytest.mark.parametrize("kind", MAKERS)
def test_never_has_the_larger_error_in_any_trial(kind, name):
    workload, rng = MAKERS[kind](12), np.random.default_rng(2)
    mechanism = mechanisms.create(name, 12, 0.5)
    counts = np.array([0, 0, 300, 0, 5, 0, 0, 100, 0, 1, 0, 0])
    smaller = 0
    for _ in range(40):
        reports = mechanism.simulate(counts, rng)
        unbiased, better = (estimators.apply(e, reports, mechanism, workload) for e in ("unbiased", "wnnls"))
        assert (unbiased.unbiased, better.unbiased) == (True, False)
        before, after = (e.squared_error(workload, counts) for e in (unbiased, better))
        assert after <= before * (1 + 1e-9)
        smaller += after < 0.9 * before
    assert smaller > 20


def test_larger_domains_are_solved():
    workload, rng = workloads.all_range(256), np.random.default_rng(0)
    truth = rng.multinomial(5000, rng.dirichlet(np.full(256, 0.1)))
    counts = truth + rng.normal(0, 200, 256)
    found = wnnls.project(workload, counts)
    slope = workload.apply_gram(found - counts)
    assert found.min() >= 0
    assert slope.min() >= -1e-6 * np.abs(workload.apply_gram(counts)).max()
    assert abs(slope @ found) <= 1e-6 * workload.quadratic(counts)


def test_the_registry_knows_its_estimators():
    assert {"unbiased", "wnnls"} <= set(estimators.names())
    for name in estimators.names():
        assert estimators.spec(name).name == name
        assert estimators.spec(name).title
        assert estimators.spec(name).meaning
    unbiased = Estimate(np.array([-1.0, 4.0]), unbiased=True)
    assert estimators.improve("unbiased", unbiased, workloads.histogram(2)) is unbiased
    with pytest.raises(ValueError, match="Unknown estimator 'best'; choose one of unbiased"):
        estimators.improve("best", unbiased, workloads.histogram(2))


def test_answers_and_squared_error_follow_the_counts():
    workload = workloads.all_range(4)
    estimate, truth = Estimate(np.array([1.5, -2.0, 3.0, 0.5]), unbiased=True), np.array([1, 0, 3, 1])
    W = workload.matrix
    assert estimate.answers(workload) == pytest.approx(W @ estimate.counts())
    assert estimate.answers(workload, np.array([5, 0])) == pytest.approx(W[[5, 0]] @ estimate.counts())
    expected = ((W @ (estimate.counts() - truth)) ** 2).sum()
    assert estimate.squared_error(workload, truth) == pytest.approx(expected)
