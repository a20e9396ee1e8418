"""Hadamard randomized response: the strategy from its definition, and the transform against it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism, Mechanism, hrr

SIZES = [2, 3, 5, 7, 8, 30, 100]


def defined_strategy(n, epsilon):
    """Outputs (coefficient 1, plus), (1, minus), (2, plus), ... from SciPy's Hadamard matrix."""
    order = 2 ** math.ceil(math.log2(n))
    H, E = hadamard(order), math.exp(epsilon)
    rows = [np.where(sign * H[j, :n] > 0, E, 1) for j in range(1, order) for sign in (1, -1)]
    return np.array(rows) / ((order - 1) * (E + 1))


@pytest.mark.parametrize("n", SIZES)
def test_the_strategy_is_the_definition(n):
    for reconstruction in ("optimal", "transform"):
        mechanism = hrr.build(n, 0.8, reconstruction)
        assert isinstance(mechanism, Mechanism)
        assert mechanism.strategy == pytest.approx(defined_strategy(n, 0.8), rel=1e-12)
        assert mechanism.bits_per_report == math.ceil(math.log2(len(mechanism.strategy)))
        assert mechanism.name == "hrr"
        assert len(mechanism.explain()) > 40


@settings(max_examples=40)
@given(st.integers(2, 40), st.floats(0.001, 20))
def test_audit_is_within_epsilon_and_spends_it(n, epsilon):
    for reconstruction in ("optimal", "transform"):
        audit = hrr.build(n, epsilon, reconstruction).audit()
        assert audit.epsilon <= epsilon
        assert audit.epsilon == pytest.approx(epsilon, rel=1e-6)  # small probabilities are whole steps of 2^-53


@pytest.mark.parametrize("n", SIZES)
def test_the_transform_is_unbiased_with_exact_variances(n):
    """Every output in turn: means, profile, covariance and information from the strategy and the estimates of one report."""
    mechanism, Q = hrr.build(n, 0.8, "transform"), defined_strategy(n, 0.8)
    R = np.array([mechanism.estimate(mechanism.aggregate(np.array([y]))).counts() for y in range(len(Q))])
    assert pytest.approx(np.eye(n), abs=1e-9) == Q.T @ R
    counts = np.arange(n) + 1
    for workload in (workloads.histogram(n), workloads.prefix(n), workloads.all_range(n)):
        expected = Q.T @ workload.quadratic(R) - workload.gram_diag
        assert mechanism.variance_profile(workload) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    expected = R.T @ ((Q @ counts)[:, None] * R) - np.diag(counts)
    assert mechanism.covariance(counts) == pytest.approx(expected, abs=1e-7)
    assert mechanism.information() == pytest.approx((Q.T / Q.sum(axis=1)) @ Q)


@pytest.mark.parametrize("n", [2, 8, 64])
def test_at_powers_of_two_the_transform_is_optimal(n):
    workload = workloads.prefix(n)
    optimal, transform = (hrr.build(n, 1.0, name) for name in ("optimal", "transform"))
    assert transform.variance_profile(workload) == pytest.approx(optimal.variance_profile(workload))
    counts = np.arange(n)
    reports = transform.simulate(counts, np.random.default_rng(0))
    other = optimal.simulate(counts, np.random.default_rng(0))
    mine = transform.estimate(reports).counts()
    same = optimal.estimate(type(other)(optimal.digest, reports.users, reports.data)).counts()
    assert mine == pytest.approx(same, abs=1e-9 * n * n)


@pytest.mark.parametrize("n", [3, 5, 30])
def test_elsewhere_the_optimal_reconstruction_is_better(n):
    workload = workloads.histogram(n)
    optimal, transform = (hrr.build(n, 1.0, name).variance_profile(workload).mean() for name in hrr.RECONSTRUCTIONS)
    assert optimal < transform


COUNTS = {"few users a cell": [3, 0, 9, 1, 0], "many": [300, 0, 907, 61, 400]}


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("per_user", [True, False], ids=["privatize", "simulate"])
def test_tallies_have_the_mean_and_covariance_of_a_sum_over_users(counts, per_user, monkeypatch):
    """Both branches of the simulation and the reports of single users."""
    monkeypatch.setattr(hrr, "_USERS_AT_ONCE", 4)
    monkeypatch.setattr(hrr, "_CELLS_AT_ONCE", 10)
    counts, trials, rng = np.array(counts), 3000, np.random.default_rng(4)
    mechanism, Q = hrr.build(5, 1.0, "transform"), defined_strategy(5, 1.0)
    values = np.repeat(np.arange(5), counts)
    tallies = []
    for _ in range(trials):
        reports = mechanism.aggregate(mechanism.privatize(values, rng)) if per_user else mechanism.simulate(counts, rng)
        assert reports.users == counts.sum() == reports.data.sum()
        tallies.append(reports.data)
    tallies = np.array(tallies)
    covariance = np.diag(Q @ counts) - Q @ np.diag(counts) @ Q.T
    error = np.sqrt(np.diag(covariance) / trials)
    assert np.all(np.abs(tallies.mean(axis=0) - Q @ counts) <= 5 * error)
    spread = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / trials)
    assert np.all(np.abs(np.cov(tallies.T) - covariance) <= 5.5 * spread + 0.02)


def test_a_thousand_million_users_are_no_loop_over_users():
    mechanism, counts = hrr.build(100, 1.0, "transform"), np.zeros(100, dtype=np.int64)
    counts[[3, 40]] = 5 * 10**8
    reports = mechanism.simulate(counts, np.random.default_rng(0))
    assert reports.data.sum() == 10**9
    variance = mechanism.query_variances(workloads.histogram(100), counts)
    assert np.all(np.abs(mechanism.estimate(reports).counts() - counts) <= 6 * np.sqrt(variance))


def test_size_decides_the_reconstruction_and_large_domains_work():
    assert isinstance(hrr.build(64, 1.0), ExplicitMechanism)
    large = hrr.build(2**17, 3.0)
    assert large.parameters == {"reconstruction": "transform"}
    counts = np.zeros(2**17, dtype=np.int64)
    counts[[5, 2**17 - 1]] = 200_000, 100_000
    estimate = large.estimate(large.simulate(counts, np.random.default_rng(0))).counts()
    own = large.variance_profile(workloads.histogram(2**17)) / 2**17
    assert np.abs(estimate - counts).max() < 7 * math.sqrt(counts.sum() * own.max())
    for view in (large.information, lambda: large.covariance(counts)):
        with pytest.raises(ValueError, match="too large"):
            view()
    with pytest.raises(ValueError, match='Use reconstruction "transform"'):
        hrr.build(2**17, 1.0, "optimal")
    with pytest.raises(ValueError, match="Unknown reconstruction 'best'"):
        mechanisms.create("hrr", 8, 1.0, reconstruction="best")


def test_foreign_and_bad_reports_are_refused():
    mechanism = hrr.build(8, 1.0, "transform")
    with pytest.raises(ValueError, match="made by another mechanism"):
        mechanism.estimate(hrr.build(8, 1.0, "optimal").simulate(np.arange(8), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="from 0 to 13"):
        mechanism.aggregate(np.array([14]))
    with pytest.raises(ValueError, match="from 0 to 7"):
        mechanism.privatize(np.array([8]), np.random.default_rng(0))
