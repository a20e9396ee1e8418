"""Norm-Sub and the polytope projection against a convex solver and their promises; projected Hadamard response."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ldp_core import estimators, workloads
from ldp_core.estimators import norm_sub, polytope
from ldp_core.mechanisms import hadamard
from ldp_core.mechanisms.noise import gaussian
from tests.refused import refused

VECTORS = arrays(float, st.integers(2, 8), elements=st.floats(-1e4, 1e4))


@settings(max_examples=150)
@given(VECTORS, st.just(0.0) | st.floats(1e-3, 1e5))
def test_norm_sub_meets_the_conditions_of_the_nearest_point(counts, users):
    x = norm_sub.project(counts, users)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(users)
    # Nearest point of a simplex: one shift for all positive entries, at least that shift for the others.
    if users > 0:
        shifts = counts - x
        shift = shifts[x > 0].min()
        scale = 1e-9 * (np.abs(counts).max() + users)
        assert shifts[x > 0] == pytest.approx(np.full((x > 0).sum(), shift), abs=scale)
        assert np.all(shifts <= shift + scale)


@pytest.mark.parametrize("users", [-1, math.nan])
def test_impossible_totals_are_refused(users):
    refused("not negative", norm_sub.project, np.ones(3), users)


@settings(max_examples=60)
@given(VECTORS, st.floats(1, 1e4))
def test_the_histogram_polytope_is_the_l1_ball(counts, users):
    x = polytope.project(workloads.histogram(len(counts)), counts, users)
    assert np.abs(x).sum() <= users * (1 + 1e-9) or np.array_equal(x, counts)
    assert np.all(x * counts >= 0)
    general = polytope.project(workloads.custom(np.eye(len(counts))), counts, users)
    assert general == pytest.approx(x, abs=1e-6 * users)


FULL_RANK = [
    workloads.prefix(8),
    workloads.all_range(6),
    workloads.custom(np.random.default_rng(1).normal(size=(9, 5))),
]
DEFICIENT = [workloads.parity(3, 1), workloads.k_way_marginals([2, 3], 1)]


@pytest.mark.crossed
@pytest.mark.parametrize("workload", FULL_RANK + DEFICIENT, ids=repr)
@pytest.mark.parametrize("spread", [5, 60, 2000])
def test_the_polytope_projection_agrees_with_a_convex_solver(workload, spread):
    counts = np.random.default_rng(spread).normal(10, spread, workload.n)
    W, users = workload.matrix, 100.0
    x = cp.Variable(workload.n)
    scale = max(1.0, np.linalg.norm(W @ counts))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W @ (x - counts) / scale)), [cp.norm1(x) <= users])
    problem.solve(solver=cp.CLARABEL)
    found = polytope.project(workload, counts, users)
    assert np.abs(found).sum() <= users * (1 + 1e-9)
    assert np.linalg.norm(W @ (found - counts)) <= np.linalg.norm(W @ (x.value - counts)) * (1 + 1e-6) + 1e-6 * scale


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["norm_sub", "polytope", "wnnls"])
@pytest.mark.parametrize("users", [60, 5000])
def test_projections_onto_sets_with_the_truth_in_them_never_hurt(name, users):
    """In the norm they minimise: counts for Norm-Sub, answers for the others."""
    workload, rng = workloads.prefix(10), np.random.default_rng(0)
    counts = rng.multinomial(users, np.full(10, 0.1))
    m = gaussian.build(workload, 1.0)
    norm = workloads.histogram(10) if name == "norm_sub" else workload
    for _ in range(20):
        reports = m.simulate(counts, rng)
        before, after = m.estimate(reports), estimators.apply(name, reports, m, workload)
        assert after.squared_error(norm, counts) <= before.squared_error(norm, counts) * (1 + 1e-9)
        assert not after.unbiased
        if name == "norm_sub":
            assert after.counts().sum() == pytest.approx(users)


def test_answers_without_counts():
    workload = workloads.parity(3, 1)
    m = gaussian.build(workload, 1.0)
    reports = m.simulate(np.arange(8) * 4, np.random.default_rng(0))
    assert m.estimate(reports).counts() is None
    for name in ("polytope", "wnnls"):
        mended = estimators.apply(name, reports, m, workload)
        assert mended.counts() is None
        assert mended.answers(workload).shape == (4,)
    refused("only give the answers", estimators.apply, "norm_sub", reports, m, workload)


# --- projected Hadamard response ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_projected_hadamard_has_one_block_at_every_epsilon(epsilon):
    n, E = 11, math.exp(epsilon)
    m = hadamard.build_projected(n, epsilon)
    Q = m.strategy
    assert Q.shape == (16, n)
    assert np.isclose(Q, E / (8 * (E + 1))).sum(axis=0) == pytest.approx(np.full(n, 8))
    assert np.isclose(Q, 1 / (8 * (E + 1))).sum(axis=0) == pytest.approx(np.full(n, 8))
    likely = (Q / Q.min() > 1 + 1e-9).astype(int)
    assert likely.T @ likely == pytest.approx(
        4 * np.ones((n, n)) + 4 * np.eye(n)
    )  # any two types share half their outputs
    assert m.audit().epsilon == pytest.approx(epsilon)
    assert m.audit().epsilon <= epsilon
    assert m.name == "projected_hadamard"
    assert "Norm-Sub" in m.explain()
    assert np.array_equal(Q, hadamard.build(n, epsilon, blocks=1).strategy)
    assert hadamard.build(n, epsilon).parameters == {}
    counts = np.arange(n) * 3
    reports = m.simulate(counts, np.random.default_rng(0))
    projected = estimators.apply("norm_sub", reports, m, workloads.histogram(n)).counts()
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(counts.sum())


@pytest.mark.parametrize("blocks", [0, 3, 16])
def test_bad_numbers_of_blocks_are_refused(blocks):
    refused("power of two from 1 to 8", hadamard.build, 8, 1.0, blocks=blocks)


@pytest.mark.parametrize("blocks", [1, 4])
def test_any_number_of_blocks_is_a_valid_mechanism(blocks):
    m = hadamard.build(7, 2.0, blocks=blocks)
    assert m.strategy.sum(axis=0) == pytest.approx(np.ones(7))
    assert m.audit().epsilon == pytest.approx(2.0)
    assert m.supports(workloads.histogram(7)) is None
    assert m.parameters == {"blocks": blocks}
