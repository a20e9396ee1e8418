"""Vectors plus noise: closed forms, densities and Monte Carlo for the additive family and the matrix mechanism."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from written_out import within

from ldp_core import workloads
from ldp_core.library.matrix import build_l1, build_l2
from ldp_core.mechanisms.noise.additive import AdditiveMechanism, GaussianNoise, LaplaceNoise
from tests.refused import refused

COUNTS = np.array([40, 0, 7, 25, 3])
NOISES = {"laplace": LaplaceNoise(1.3), "gaussian": GaussianNoise(1.3)}


def mechanism(noise, k=6, n=5, seed=1, **options):
    vectors = np.random.default_rng(seed).normal(size=(k, n))
    return AdditiveMechanism("trial", vectors, NOISES[noise], 1.0, **options)


@pytest.mark.parametrize("noise", NOISES)
def test_profile_is_the_closed_form(noise):
    m, workload = mechanism(noise), workloads.prefix(5)
    P = np.eye(5) - 1 / 5
    variance = {"laplace": 2 * 1.3**2, "gaussian": 1.3**2}[noise]
    expected = variance * np.linalg.norm(workload.matrix @ P @ np.linalg.pinv(m.vectors @ P, rcond=1e-10), "fro") ** 2
    assert m.variance_profile(workload) == pytest.approx(np.full(5, expected))
    assert m.query_variances(workload, COUNTS).sum() == pytest.approx(COUNTS.sum() * expected)


@pytest.mark.parametrize("noise", NOISES)
def test_simulated_sums_have_the_distribution_of_added_reports(noise):
    m, rng, few = mechanism(noise, k=3), np.random.default_rng(3), np.array([1, 0, 2, 0, 0])
    simulated = np.array([m.simulate(few, rng).data for _ in range(4000)])
    added = np.array([m.aggregate(m.privatize(np.array([0, 2, 2]), rng)).data for _ in range(4000)])
    for coordinate in range(3):
        assert stats.ks_2samp(simulated[:, coordinate], added[:, coordinate]).pvalue > 1e-4
    exact = {"laplace": 3 * 2 * 1.3**2, "gaussian": 3 * 1.3**2}[noise]
    assert within((simulated - m.vectors @ few) ** 2, exact)


def test_single_reports_follow_their_density():
    m, rng = mechanism("laplace", k=2), np.random.default_rng(2)
    noise = m.privatize(np.full(20000, 3), rng) - m.vectors[:, 3]
    assert stats.kstest(noise.ravel(), stats.laplace(scale=1.3).cdf).pvalue > 1e-4


@settings(max_examples=30)
@given(st.integers(1, 3), st.integers(2, 5), st.integers(0, 10**6))
def test_laplace_audit_is_the_largest_log_ratio_of_densities(k, n, seed):
    m = mechanism("laplace", k=k, n=n, seed=seed)
    A, audit = m.vectors, m.audit()
    # The log-ratio |y - a_v|_1/b - |y - a_u|_1/b is piecewise linear in each coordinate: largest at one of the corners.
    corners = np.stack(np.meshgrid(*[np.append(row, [row.min() - 1, row.max() + 1]) for row in A]), -1).reshape(-1, k)
    logs = -np.abs(corners[:, :, None] - A).sum(axis=1) / 1.3
    assert audit.epsilon == pytest.approx((logs.max(axis=1) - logs.min(axis=1)).max())
    u, v = audit.worst_pair
    assert np.abs(A[:, u] - A[:, v]).sum() / 1.3 == pytest.approx(audit.epsilon)


def test_what_is_not_told_apart_is_not_answered():
    vectors = np.array([[1.0, 1, 0, 0], [0, 0, 1, 0]])  # types 0 and 1 alike
    m = AdditiveMechanism("blind", vectors, GaussianNoise(1.0), 1.0)
    assert "cannot answer" in m.supports(workloads.histogram(4))
    refused("cannot answer", lambda: m.variance_profile(workloads.histogram(4)))
    together = workloads.custom(np.array([[1.0, 1, 0, 0], [2, 2, 5, 2]]))
    assert m.supports(together) is None
    rng, counts = np.random.default_rng(1), np.array([5, 9, 30, 2])
    estimates = [m.estimate(m.simulate(counts, rng)) for _ in range(2000)]
    assert estimates[0].counts() is None
    answers = np.array([estimate.answers(together) for estimate in estimates])
    assert within(answers, together.answers(counts))
    assert within((answers - together.answers(counts)) ** 2, m.query_variances(together, counts))
    assert "4 types, the workload 5" in m.supports(workloads.histogram(5))


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        (np.ones((2, 4)), "nothing to learn"),
        (np.full((1, 3), np.nan), "finite"),
        (np.broadcast_to(np.arange(5000.0), (1, 5000)), "at most 4,096"),
    ],
)
def test_useless_vectors_are_refused(vectors, sentence):
    refused(sentence, lambda: AdditiveMechanism("trial", vectors, GaussianNoise(1.0), 1.0))


# --- the matrix mechanism -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workload", [workloads.prefix(16), workloads.parity(3, 2), workloads.k_way_marginals(4, 2)], ids=repr
)
def test_matrix_mechanisms_spend_all_of_their_promise(workload):
    """They keep it, and predict their errors, with all others in test_library.py."""
    pure, noisy = build_l1(workload, 0.8, max_rounds=80).audit(), build_l2(workload, 0.8, delta=1e-5).audit()
    assert (pure.epsilon, pure.delta) == (pytest.approx(0.8, rel=1e-9), 0)
    assert (noisy.epsilon, noisy.delta) == (0.8, pytest.approx(1e-5, rel=1e-6))


@pytest.mark.parametrize(
    ("build", "options", "sentence"),
    [
        (build_l1, {"epsilon": 0}, "out of range"),
        (build_l2, {"epsilon": 1.0, "delta": 0.5}, "at most 0.1"),
        (build_l2, {"epsilon": math.nan}, "out of range"),
    ],
)
def test_bad_parameters_are_refused(build, options, sentence):
    refused(sentence, lambda: build(workloads.prefix(4), **options))
