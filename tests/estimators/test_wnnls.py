"""WNNLS against a convex solver, its optimality conditions and its promise."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import estimators, mechanisms, workloads
from ldp_core.estimators import wnnls
from tests.refused import refused

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


@settings(max_examples=60)
@given(st.sampled_from(sorted(MAKERS)), st.integers(2, 30), st.floats(-3, 7), st.integers(0, 2**32 - 1))
def test_it_is_optimal_and_never_moves_away_from_the_truth(kind, n, magnitude, seed):
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


# --- with the known total -----------------------------------------------------------------------------------------

EIGHT = [
    workloads.histogram(8),
    workloads.prefix(8),
    workloads.all_range(8),
    workloads.width_range(8, 3),
    workloads.all_marginals(3),
    workloads.k_way_marginals(3, 1),
    workloads.parity(3, 1),
    workloads.union([workloads.prefix(8), workloads.histogram(8)], weights=[1.0, 3.0]),
    workloads.custom(np.random.default_rng(1).normal(size=(5, 8))),
    Dense(8),
]


def oracle_with_total(workload, counts, users):
    x = cp.Variable(workload.n, nonneg=True)
    scale = max(np.abs(counts).max(), users)
    difference = cp.sum_squares(workload.matrix @ (x - counts / scale))
    problem = cp.Problem(cp.Minimize(difference), [cp.sum(x) == users / scale])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value * scale**2


@pytest.mark.crossed
@pytest.mark.parametrize("workload", EIGHT, ids=repr)
@pytest.mark.parametrize("users", [None, 2.0, 40.0, 3000.0])
def test_every_workload_equals_a_convex_solver(workload, users):
    rng = np.random.default_rng(4)
    for spread in (1.0, 10.0, 300.0):
        counts = rng.normal(5, spread, 8)
        found = wnnls.project(workload, counts, users)
        best = oracle(workload, counts)[0] if users is None else oracle_with_total(workload, counts, users)
        assert found.min() >= 0
        assert users is None or found.sum() == pytest.approx(users, rel=1e-9)
        assert distance(workload, found, counts) <= best * (1 + 1e-6) + 1e-7 * workload.quadratic(counts)


@settings(max_examples=80)
@given(st.sampled_from(["prefix", "all_range"]), st.integers(2, 40), st.floats(-3, 5), st.integers(0, 2**32 - 1))
def test_running_totals_meet_the_optimality_conditions_with_a_total(kind, n, magnitude, seed):
    """With G x for the slopes: one multiplier for all positive counts, and no smaller slope where a count is 0."""
    workload, rng, scale = MAKERS[kind](n), np.random.default_rng(seed), 10.0**magnitude
    counts, users = scale * rng.normal(0.5, 1.0, n), scale * n * rng.exponential()
    found = wnnls.project(workload, counts, users)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(users)
    slope = workload.apply_gram(found - counts)
    tolerance = 1e-8 * np.abs(workload.gram_dense()).sum() * max(scale, users)
    on = found > 1e-9 * users
    multiplier = slope[on].mean()
    assert np.abs(slope[on] - multiplier).max() <= tolerance
    assert slope.min() >= multiplier - tolerance


@pytest.mark.parametrize("kind", MAKERS)
def test_ordered_workloads_are_projected_at_any_size(kind):
    n = 2**17
    workload, rng = MAKERS[kind](n), np.random.default_rng(0)
    truth = rng.multinomial(10**6, np.full(n, 1 / n)).astype(float)
    counts = truth + rng.normal(0, 50, n)
    for users in (None, 10**6):
        found = wnnls.project(workload, counts, users)
        assert found.min() >= 0
        assert users is None or found.sum() == pytest.approx(users)
        assert workload.quadratic(found - truth) < workload.quadratic(counts - truth)
        slope = workload.apply_gram(found - counts)
        multiplier = 0.0 if users is None else slope[found > 1e-6].mean()
        size = np.abs(slope).max()
        assert slope.min() >= multiplier - 1e-6 * size
        assert np.abs(slope[found > 1e-6] - multiplier).max() <= 1e-6 * size


def test_impossible_totals_and_sizes_are_refused_in_words():
    counts = np.ones(4)
    for users in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite and not negative"):
            wnnls.project(workloads.prefix(4), counts, users)
    assert wnnls.project(workloads.prefix(4), counts, 0.0).tolist() == [0.0] * 4
    large = workloads.width_range(5000, 3)
    refused("histograms, prefixes and all ranges only", wnnls.project, large, np.ones(5000))
    mechanism = mechanisms.create("haar", 5000, 1.0)
    assert "all ranges only" in estimators.spec("wnnls").unsuitable(mechanism, large)
    assert estimators.spec("wnnls").unsuitable(mechanism, workloads.prefix(5000)) is None
