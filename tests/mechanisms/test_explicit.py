"""Explicit strategies against the definitions, computed naively."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.mechanisms import ExplicitMechanism, Reports
from ldp_core.run import Interrupted
from tests.refused import refused

MAKERS = [workloads.histogram, workloads.prefix, workloads.all_range]


def random_strategy(seed, m, n, epsilon=1.0):
    """(m, n) columns sum to one; ratios within a row stay well inside a factor e^epsilon of their share."""
    Q = np.random.default_rng(seed).uniform(1, math.exp(epsilon / 2), (m, n))
    return Q / Q.sum(axis=0)


def mechanism_of(Q, epsilon=1.0):
    return ExplicitMechanism("custom", Q, epsilon)


@settings(max_examples=40)
@given(st.integers(2, 7), st.integers(0, 5), st.integers(0, 2**32 - 1), st.sampled_from(MAKERS))
def test_information_reconstruction_and_profile_follow_the_definitions(n, more, seed, maker):
    Q = random_strategy(seed, n + more, n, epsilon=3.0)
    D = np.diag(Q.sum(axis=1))
    M = Q.T @ np.linalg.inv(D) @ Q
    if np.linalg.cond(M) > 1e8:  # a nearly singular draw would compare rounding errors
        return
    R = np.linalg.inv(M) @ Q.T @ np.linalg.inv(D)
    mechanism, workload = mechanism_of(Q, 3.0), maker(n)
    assert mechanism.information() == pytest.approx(M)
    assert mechanism.reconstruction == pytest.approx(R, rel=1e-5, abs=1e-6)
    assert mechanism.reconstruction @ Q == pytest.approx(np.eye(n), abs=1e-7)
    V = workload.matrix @ R
    profile = [sum(Q[y, u] * V[:, y] @ V[:, y] for y in range(n + more)) - workload.gram_diag[u] for u in range(n)]
    assert mechanism.variance_profile(workload) == pytest.approx(np.array(profile), rel=1e-5)


@pytest.mark.parametrize("prior", [None, np.array([0.5, 0.25, 0.125, 0.125, 0.0])])
def test_a_profile_can_be_stopped_at_every_part_and_resumed(lower, prior):
    Q, workload = random_strategy(4, 10, 5), workloads.prefix(5)
    whole = ExplicitMechanism("custom", Q, 1.0, prior=prior)
    expected = whole.variance_profile(workload)
    lower(_STEP_ENTRIES=15)  # of 50: three outputs at once, and one that is left
    steps = 3 * 4 + 1  # the information matrix, its inverse, the reconstruction, the errors
    for allowed in range(steps + 1):
        mechanism, passed = ExplicitMechanism("custom", Q, 1.0, prior=prior), iter(range(allowed))

        def check(passed=passed):
            if next(passed, None) is None:
                raise Interrupted

        if allowed < steps:
            with pytest.raises(Interrupted):
                mechanism.variance_profile(workload, check)
        else:
            assert mechanism.variance_profile(workload, check) == pytest.approx(expected, rel=1e-12)
        assert mechanism.variance_profile(workload) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(mechanism.reconstruction, whole.reconstruction, rtol=1e-12, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(MAKERS))
def test_no_unbiased_reconstruction_has_a_smaller_average(n, more, seed, maker):
    Q, workload = random_strategy(seed, n + more, n), maker(n)
    mechanism = mechanism_of(Q)
    R, W = mechanism.reconstruction, workload.matrix
    # Every other unbiased reconstruction differs by rows that Q maps to zero.
    null = np.linalg.svd(Q.T)[2][n:]
    other = R + np.random.default_rng(seed + 1).normal(size=(n, more)) @ null * np.abs(R).max()
    assert other @ Q == pytest.approx(np.eye(n), abs=1e-6)
    average = (Q.sum(axis=1) * ((W @ other) ** 2).sum(axis=0)).sum() / n - workload.trace / n
    assert mechanism.variance_profile(workload).mean() <= average * (1 + 1e-9)


@settings(max_examples=40)
@given(st.integers(2, 6), st.integers(0, 5), st.integers(0, 2**32 - 1), st.sampled_from(MAKERS), st.booleans())
def test_a_prior_is_weighted_least_squares(n, more, seed, maker, with_zeros):
    rng = np.random.default_rng(seed)
    Q, prior, workload = random_strategy(seed, n + more, n), rng.dirichlet(np.ones(n)), maker(n)
    if with_zeros:
        prior[0] = 0
        prior /= prior.sum()
    if np.linalg.cond(Q) > 1e4:  # a nearly singular draw would compare rounding errors
        return
    mechanism = ExplicitMechanism("custom", Q, 1.0, prior=prior)
    root = np.sqrt(Q @ prior)
    # Least squares where output y counts with variance (Qp)_y: independent of the information matrix.
    expected = np.linalg.pinv(Q / root[:, None]) / root
    assert mechanism.reconstruction == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.abs(expected).max())
    assert mechanism.reconstruction @ Q == pytest.approx(np.eye(n), abs=1e-6)
    assert mechanism.information(prior) @ (n * prior) == pytest.approx(np.ones(n))
    assert mechanism.information() == pytest.approx(mechanism_of(Q).information())
    average = (Q @ prior) @ ((workload.matrix @ expected) ** 2).sum(axis=0) - prior @ workload.gram_diag
    profile = mechanism.variance_profile(workload)
    assert prior @ profile == pytest.approx(average, rel=1e-5)
    assert prior @ profile <= prior @ mechanism_of(Q).variance_profile(workload) * (1 + 1e-9)
    # The covariance of N users spread like the prior says the same, query by query.
    assert mechanism.query_variances(workload, 50 * prior).sum() == pytest.approx(50 * average, rel=1e-5)


def test_outputs_that_the_prior_never_sends_leave_estimates_unbiased():
    Q = np.array([[0.5, 0.0, 0.25], [0.125, 0.75, 0.25], [0.375, 0.0, 0.25], [0.0, 0.25, 0.25]])
    workload = workloads.prefix(3)
    blind = mechanism_of(Q, 20.0).variance_profile(workload)
    for prior in ([0.0, 1.0, 0.0], [0.7, 0.0, 0.3], [1.0, 0.0, 0.0]):
        mechanism = ExplicitMechanism("custom", Q, 20.0, prior=np.array(prior))
        assert mechanism.reconstruction @ Q == pytest.approx(np.eye(3), abs=1e-6)
        assert np.array(prior) @ mechanism.variance_profile(workload) < np.array(prior) @ blind


def test_a_prior_is_part_of_the_mechanism():
    Q, prior = random_strategy(4, 6, 4), np.array([0.7, 0.1, 0.1, 0.1])
    plain, informed = mechanism_of(Q), ExplicitMechanism("custom", Q, 1.0, prior=prior)
    assert informed.digest != plain.digest
    assert informed.digest != ExplicitMechanism("custom", Q, 1.0, prior=prior[::-1]).digest
    reports = plain.aggregate(np.array([0, 1, 2]))
    refused("another mechanism", informed.estimate, reports)
    counts = informed.estimate(Reports(informed.digest, 3, reports.data)).counts()
    assert counts == pytest.approx(informed.reconstruction @ reports.data)
    assert counts.sum() == pytest.approx(3)
    prior[:] = 0.25
    assert informed.prior[0] == 0.7


@pytest.mark.parametrize(
    "prior", [np.full(3, 1 / 3), [0.5, 0.6, -0.1, 0.0], [np.nan, 0.5, 0.5, 0.0], np.full((4, 1), 0.25)]
)
def test_bad_priors_are_refused(prior):
    refused("each of the 4 types", lambda: ExplicitMechanism("custom", random_strategy(4, 6, 4), 1.0, prior=prior))


def test_a_strategy_that_merges_types_answers_only_what_it_can():
    Q = np.array([[0.75, 0.25, 0.25], [0.25, 0.75, 0.75]])  # types 2 and 3 look the same
    mechanism = mechanism_of(Q, 2.0)
    for maker in MAKERS:
        assert "types that the workload distinguishes" in mechanism.supports(maker(3))
        with pytest.raises(ValueError, match="cannot answer it"):
            mechanism.variance_profile(maker(3))

    class FirstAgainstTheRest(workloads.Prefix):
        def apply_gram(self, x):
            return x @ np.diag([1.0, 0, 0]) + x @ np.array([[0.0, 0, 0], [0, 1, 1], [0, 1, 1]])

        gram_diag = np.ones(3)

    answered = FirstAgainstTheRest(3)
    assert mechanism.supports(answered) is None
    # Two merged types are binary randomized response: 2 E / (E - 1)^2 per user, here with E = 3.
    assert mechanism.variance_profile(answered) == pytest.approx(np.full(3, 2 * 3 / (3 - 1) ** 2))
    estimate = mechanism.estimate(mechanism.simulate(np.array([4, 1, 3]), np.random.default_rng(0)))
    assert estimate.counts() is None
    assert estimate.estimated_counts[1] == pytest.approx(estimate.estimated_counts[2])


@pytest.mark.parametrize("n", [2, 32, 256])
def test_the_smallest_epsilon_still_identifies_all_types(n):
    Q = np.ones((n, n)) + np.expm1(0.001) * np.eye(n)
    mechanism, workload = mechanism_of(Q / Q.sum(axis=0), 0.01), workloads.histogram(n)
    expected = (n - 1) * (n / np.expm1(0.001) ** 2 + 2 / np.expm1(0.001))
    assert mechanism.supports(workload) is None
    assert mechanism.variance_profile(workload) == pytest.approx(np.full(n, expected), rel=1e-3)


def test_audit_names_the_pair_of_the_largest_ratio():
    Q = np.array([[0.2, 0.4, 0.3], [0.3, 0.3, 0.35], [0.5, 0.3, 0.35]])
    audit = mechanism_of(Q).audit()
    assert audit.epsilon == pytest.approx(math.log(2), rel=1e-12)
    assert audit.worst_pair == (1, 0)
    Q = np.array([[0.5, 0.0], [0.5, 1.0]])
    assert mechanism_of(Q, 20.0).audit().epsilon == math.inf


def test_the_strategy_is_a_copy_that_nobody_changes():
    Q = random_strategy(4, 4, 3)
    mechanism = mechanism_of(Q)
    digest = mechanism.digest
    Q[0, 0] = 9
    assert mechanism.strategy.max() < 1
    refused("read-only", mechanism.strategy.fill, 0)
    changed = mechanism.strategy.copy()
    changed[:2, 0] += np.array([1, -1]) * 2.0**-53  # a step from one entry of a column to another: a table as well
    assert mechanism_of(changed).digest != digest
    assert mechanism_of(mechanism.strategy).digest == digest


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], "each column of a strategy"),
        ([[1.5, 0.5], [-0.5, 0.5]], "finite and not negative"),
        ([[np.nan, 0.5], [0.5, 0.5]], "finite and not negative"),
        ([[0.0, 0.0], [0.5, 0.5], [0.5, 0.5]], "no one ever sends"),
        ([0.5, 0.5], "2 outputs by 2 types"),
    ],
)
def test_bad_strategies_are_refused(strategy, words):
    refused(words, mechanism_of, np.array(strategy))


def test_bad_outputs_are_refused():
    mechanism = mechanism_of(random_strategy(5, 4, 3))
    refused("from 0 to 3", mechanism.aggregate, np.array([4]))
