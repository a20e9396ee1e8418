"""The designed strategy and the certificate that bounds every other: exact optima, gaps, and proofs that cannot be forged."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import design

# Found by enumerating all 2^8 rows.
EXACT = {"histogram": 181.891, "prefix": 220.251, "all_range": 1220.18}
MAKERS = {"histogram": workloads.histogram, "prefix": workloads.prefix, "all_range": workloads.all_range}


def objective(strategy, workload, epsilon):
    return analysis.objective(ExplicitMechanism("designed", strategy, epsilon), workload)


@pytest.mark.parametrize("kind", EXACT)
def test_small_designs_are_the_exact_optimum(kind):
    workload = MAKERS[kind](8)
    found = design(workload, 1.0)
    assert found.objective == pytest.approx(EXACT[kind], rel=1e-3)
    assert objective(found.strategy, workload, 1.0) == pytest.approx(found.objective, rel=1e-6)
    proof = bounds.certificate(workload, 1.0)
    assert proof.verify()
    assert 0.99 * EXACT[kind] < proof.value < EXACT[kind] * (1 + 1e-5)


@pytest.mark.parametrize(
    ("workload", "epsilon"),
    [
        (workloads.prefix(16), 1.0),
        pytest.param(workloads.prefix(32), 1.0, marks=pytest.mark.slow),
        pytest.param(workloads.all_range(32), 3.0, marks=pytest.mark.slow),
        (workloads.k_way_marginals(4, 2), 1.0),
        pytest.param(workloads.k_way_marginals(5, 3), 1.0, marks=pytest.mark.slow),
        pytest.param(workloads.histogram(32), 0.5, marks=pytest.mark.slow),
        pytest.param(workloads.all_marginals(5), 2.0, marks=pytest.mark.slow),
        pytest.param(workloads.parity(5), 4.0, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_designs_are_proven_within_half_a_per_cent(workload, epsilon):
    found, proof = design(workload, epsilon), bounds.certificate(workload, epsilon)
    assert proof.verify()
    assert proof.value <= found.objective <= 1.005 * proof.value
    assert np.abs(found.strategy.sum(axis=0) - 1).max() < 1e-12
    assert np.log(found.strategy.max(axis=1) / found.strategy.min(axis=1)).max() <= epsilon


@given(
    st.sampled_from(list(MAKERS)), st.integers(2, 7), st.sampled_from([0.3, 1.0, 2.0, 4.0]), st.integers(0, 2**32 - 1)
)
@settings(max_examples=15)
def test_no_strategy_beats_the_certificate(kind, n, epsilon, seed):
    workload = MAKERS[kind](n)
    proof = bounds.certificate(workload, epsilon)
    assert proof.verify()
    rng = np.random.default_rng(seed)
    # Two-valued rows with random weights, then columns balanced by one more row each: any such matrix is a strategy.
    rows = np.where(rng.random((4 * n, n)) < 1 / (1 + np.exp(epsilon)), np.exp(epsilon), 1.0) * rng.random((4 * n, 1))
    rows = np.vstack([rows, 0.1 * np.eye(n) * (np.exp(epsilon) - 1) + 0.1])
    strategy = rows / rows.sum(axis=0)
    granted = np.log(strategy.max(axis=1) / strategy.min(axis=1)).max()
    if granted > epsilon:  # uneven columns cost some epsilon: compare with the bound for what they really grant
        proof = bounds.certificate(workload, float(granted))
    assert proof.value <= objective(strategy, workload, float(granted)) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hadamard", "hierarchical", "oue", "haar"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_certificate_lies_below_the_library(name, epsilon):
    for maker in MAKERS.values():
        workload = maker(16)
        mechanism = mechanisms.create(name, 16, epsilon)
        assert bounds.certificate(workload, epsilon).value <= analysis.objective(mechanism, workload) * (1 + 1e-9)


def test_a_forged_certificate_is_not_verified():
    proof = bounds.certificate(workloads.prefix(8), 2.0)
    assert proof.verify()
    forged = {
        "value": proof.value * (1 + 1e-6),
        "epsilon": 1.9,
        "inverse": proof.inverse * np.linspace(0.9, 1.1, 8),
        "multipliers": proof.multipliers * 0.99,
        "diagonal": proof.diagonal + 1e-3 * np.abs(proof.diagonal).max() * np.arange(8),
        "pairs": proof.pairs - 1e-6,
        "workload": workloads.histogram(8),
    }
    for field, value in forged.items():
        tampered = replace(proof, **{field: value})
        # A changed proof may still prove something, but never more than it says, nor more than is true.
        truth = design(tampered.workload, tampered.epsilon).objective
        assert tampered.proven() <= truth * (1 + 1e-9), field
    assert not replace(proof, value=forged["value"]).verify()
    assert not replace(proof, multipliers=forged["multipliers"]).verify()
    assert not replace(proof, inverse=forged["inverse"]).verify()
    assert not replace(proof, pairs=forged["pairs"]).verify()
    assert not replace(proof, workload=forged["workload"]).verify()
    assert not replace(proof, inverse=np.full((8, 8), np.nan)).verify()


def test_designs_are_deterministic_and_can_be_stopped_at_any_moment():
    workload = workloads.prefix(24)
    first, second = (design(workload, 1.0, time_limit=None, max_rounds=6, seed=3) for _ in range(2))
    assert np.array_equal(first.strategy, second.strategy)
    assert first.rounds == 6
    at_once = design(workload, 1.0, cancel=lambda: True)
    assert at_once.stopped == "cancelled"
    for found in (first, at_once):
        assert ExplicitMechanism("designed", found.strategy, 1.0).audit().epsilon <= 1.0
        assert np.abs(found.strategy.sum(axis=0) - 1).max() < 1e-12
    best = [value for _, _, value in first.history]
    assert best == sorted(best, reverse=True)


def test_a_prior_is_designed_for():
    workload, rng = workloads.prefix(10), np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(10))
    fitted = design(workload, 1.0, prior=prior)
    plain = design(workload, 1.0)
    assert np.abs(fitted.strategy.sum(axis=0) - 1).max() < 1e-12

    def expected(strategy):
        """n tr(M_p^-1 G)/n on the scale of L: M_p = sum q q'/(n q'p)."""
        scaled = strategy / np.sqrt(10 * strategy @ prior)[:, None]
        return np.trace(np.linalg.solve(scaled.T @ scaled, workload.gram_dense()))

    assert expected(fitted.strategy) < expected(plain.strategy)
    assert fitted.objective == pytest.approx(expected(fitted.strategy), rel=1e-6)
    proof = bounds.certificate(workload, 1.0, prior=prior)
    assert proof.verify()
    assert proof.value <= expected(fitted.strategy)


def test_the_registered_mechanism_wraps_the_design():
    workload = workloads.prefix(8)
    mechanism = mechanisms.create("optimized", n=8, epsilon=1.0, workload=workload, seed=0)
    gradient = mechanisms.create("optimized_gradient", n=8, epsilon=1.0, workload=workload, seed=0)
    assert analysis.objective(mechanism, workload) < analysis.objective(gradient, workload)
    assert mechanism.audit().epsilon <= 1.0
