"""HaarHRR against the Haar matrix written out, and every possible report one by one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from ldp_core import workloads
from ldp_core.mechanisms import FiniteOutput, Mechanism
from ldp_core.mechanisms.trees.haar import Haar

SIZES = [2, 3, 5, 7, 8, 30, 32]


def haar_levels(n):
    """(blocks, n) of each level, finest first: +1 on the left half of a block, -1 on the right, 0 elsewhere."""
    levels, half = [], 1
    order = 2 ** math.ceil(math.log2(n))
    while half < order:
        matrix = np.zeros((order // (2 * half), order))
        for block in range(len(matrix)):
            start = 2 * half * block
            matrix[block, start : start + half], matrix[block, start + half : start + 2 * half] = 1, -1
        levels.append(matrix[:, :n])
        half *= 2
    return levels


def reports_of(n, epsilon):
    """Every raw report (level, output) and its probability for each type, from the definition."""
    raws, rows, E = [], [], math.exp(epsilon)
    levels = haar_levels(n)
    for level, matrix in enumerate(levels):
        signs = hadamard(len(matrix)) @ matrix
        for j, row in enumerate(signs):
            for minus in (0, 1):
                raws.append((level, 2 * j + minus))
                rows.append(np.where(row * (1 - 2 * minus) > 0, E, 1) / ((E + 1) * len(matrix) * len(levels)))
    return np.array(raws), np.array(rows)


@pytest.mark.parametrize("n", SIZES)
def test_unbiased_with_exact_variances_report_by_report(n):
    mechanism = Haar(n, 0.9)
    assert isinstance(mechanism, Mechanism)
    assert not isinstance(mechanism, FiniteOutput)
    raws, Q = reports_of(n, 0.9)
    assert Q.sum(axis=0) == pytest.approx(np.ones(n))
    assert mechanism.bits_per_report == math.ceil(math.log2(len(Q)))
    R = np.array([mechanism.estimate(mechanism.aggregate(raw[None])).counts() for raw in raws])
    assert pytest.approx(np.eye(n), abs=1e-9) == Q.T @ R
    counts = np.random.default_rng(n).integers(50, size=n)
    covariance = R.T @ ((Q @ counts)[:, None] * R) - np.diag(counts)
    assert mechanism.covariance(counts) == pytest.approx(covariance, abs=1e-7)
    for workload in (workloads.histogram(n), workloads.prefix(n), workloads.all_range(n)):
        profile = Q.T @ workload.quadratic(R) - workload.gram_diag
        assert mechanism.variance_profile(workload) == pytest.approx(profile, rel=1e-9, abs=1e-9)
        each = np.einsum("qi,ij,qj->q", workload.matrix, covariance, workload.matrix)
        assert mechanism.query_variances(workload, counts) == pytest.approx(each, abs=1e-6)


@pytest.mark.parametrize(
    ("users", "per_user"),
    [(40, True), (400, True), (40, False), (4000, False)],
    ids=["40-privatize", "400-privatize", "40-simulate", "4000-simulate"],
)
def test_tallies_have_the_mean_and_covariance_of_a_sum_over_users(users, per_user):
    n, trials, rng = 5, 2500, np.random.default_rng(8)
    counts = np.array([users // 2, 0, users // 4, users // 8, users // 8])
    mechanism, (_, Q) = Haar(n, 1.0), reports_of(n, 1.0)
    values = np.repeat(np.arange(n), counts)
    tallies = []
    for _ in range(trials):
        reports = mechanism.aggregate(mechanism.privatize(values, rng)) if per_user else mechanism.simulate(counts, rng)
        assert reports.users == users
        tallies.append(np.concatenate(reports.data))
    tallies = np.array(tallies)
    assert np.all(tallies.sum(axis=1) == users)
    covariance = np.diag(Q @ counts) - Q @ np.diag(counts) @ Q.T
    assert np.all(np.abs(tallies.mean(axis=0) - Q @ counts) <= 5 * np.sqrt(np.diag(covariance) / trials))
    spread = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / trials)
    assert np.all(np.abs(np.cov(tallies.T) - covariance) <= 5.5 * spread + 0.02)


@settings(max_examples=60)
@given(st.integers(2, 40), st.floats(0.001, 20))
def test_audit_is_within_epsilon_and_spends_it(n, epsilon):
    audit = Haar(n, epsilon).audit()
    assert audit.epsilon <= epsilon
    assert audit.epsilon == pytest.approx(epsilon, rel=1e-6)  # small probabilities are whole steps of 2^-53
    if n <= 16:
        Q = reports_of(n, epsilon)[1]
        one, other = audit.worst_pair
        assert np.abs(np.log(Q[:, one] / Q[:, other])).max() == pytest.approx(epsilon)


def test_counts_sum_to_the_users_on_powers_of_two_and_reports_merge():
    mechanism, rng = Haar(32, 0.5), np.random.default_rng(0)
    one, other = (mechanism.simulate(rng.integers(90, size=32), rng) for _ in range(2))
    both = one + other
    total = mechanism.estimate(both).counts()
    assert total == pytest.approx(mechanism.estimate(one).counts() + mechanism.estimate(other).counts())
    assert total.sum() == pytest.approx(both.users)
    raw = mechanism.privatize(rng.integers(32, size=500), rng)
    split = mechanism.aggregate(raw[:200]) + mechanism.aggregate(raw[200:])
    for joined, whole in zip(split.data, mechanism.aggregate(raw).data, strict=True):
        assert np.array_equal(joined, whole)


def test_a_large_domain_answers_ranges_and_quantiles_and_says_what_it_cannot():
    n, users = 2**17 - 3, 10**7
    counts = np.full(n, users // n)
    counts[: users - counts.sum()] += 1
    mechanism, workload = Haar(n, 3.0), workloads.all_range(n)
    estimate = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(1)))
    queries = np.random.default_rng(0).integers(workload.num_queries, size=500)
    error = estimate.answers(workload, queries) - workload.answers(counts, queries)
    # A long range cuts two blocks a level, each with mean squared weight 1/12 (002, Section 4.6, averaged over ends).
    predicted = math.sqrt(users * 17 * 17 / (6 * math.tanh(1.5) ** 2))
    assert np.sqrt(np.mean(error**2)) < 2 * predicted
    assert estimate.quantile([0.25, 0.5]) == pytest.approx([n / 4, n / 2], abs=5 * predicted / users * n)
    for view in (lambda: mechanism.variance_profile(workload), lambda: mechanism.covariance(counts)):
        with pytest.raises(ValueError, match=r"needs an n x n matrix.*131,069"):
            view()


def test_bad_input_is_refused():
    mechanism = Haar(8, 1.0)
    for raw, words in (
        (np.zeros(3, dtype=int), "a level and an output"),
        (np.array([[3, 0]]), "from 0 to 2"),
        (np.array([[2, 2]]), "from 0 to 1"),
        (np.array([[0.5, 0]]), "whole-number"),
    ):
        with pytest.raises(ValueError, match=words):
            mechanism.aggregate(raw)
    with pytest.raises(ValueError, match="made by another mechanism"):
        mechanism.estimate(Haar(8, 1.1).simulate(np.arange(8), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="at least 2 types"):
        Haar(1, 1.0)
    with pytest.raises(ValueError, match="out of range"):
        Haar(8, 0)
    assert "8 types, the workload 9" in mechanism.supports(workloads.prefix(9))
    with pytest.raises(ValueError, match="8 types"):
        mechanism.variance_profile(workloads.prefix(9))
    assert "3 times" in mechanism.explain()
