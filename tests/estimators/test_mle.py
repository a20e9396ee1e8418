"""Maximum likelihood against a convex solver, the closed form of randomized response, and its own optimality conditions."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import estimators, library, mechanisms, workloads
from ldp_core.estimators import mle
from ldp_core.mechanisms import ExplicitMechanism
from tests.refused import refused

CASES = {
    "hadamard": {},
    "fourier": {},
    "adaptive": {"workload": workloads.prefix(16)},
    "hrr": {"reconstruction": "transform"},
    "haar": {},
    "hierarchical optimal": {"reconstruction": "optimal"},
    "hierarchical raw": {"reconstruction": "raw", "oracle": "hrr", "branching": 2},
    "hierarchical consistent": {"reconstruction": "consistent", "oracle": "randomized_response"},
    "subset_selection": {"size": 1},
}
COUNTS = np.array([4000, 0, 0, 1500, 20, 0, 700, 0, 2600, 90, 0, 0, 3000, 300, 0, 5])
N = COUNTS.sum()


def built(case, epsilon=1.0):
    return mechanisms.create(case.split()[0], 16, epsilon, **CASES[case])


def written_out(channel):
    return channel @ np.eye(16)


def oracle(Q, tally):
    sent = tally > 0
    p = cp.Variable(Q.shape[1], nonneg=True)
    # Against an even population, so that all logarithms are near 0.
    likelihood = cp.sum(cp.multiply(tally[sent] / tally.sum(), cp.log((Q[sent] / Q[sent].mean(axis=1)[:, None]) @ p)))
    problem = cp.Problem(cp.Maximize(likelihood), [cp.sum(p) == 1])
    for tolerance in (1e-13, 1e-12, 1e-11, 1e-10):  # the best that this solver attains differs from case to case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=1e-11)
        if problem.status == cp.OPTIMAL:
            return p.value
    raise AssertionError("the solver failed")


def log_likelihood(Q, tally, shares):
    sent = tally > 0
    return tally[sent] @ np.log(Q[sent] @ shares)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("case", CASES)
def test_equals_a_convex_solver(case, epsilon):
    mechanism = built(case, epsilon)
    reports = mechanism.simulate(COUNTS, np.random.default_rng(3))
    found = estimators.apply("mle", reports, mechanism, workloads.prefix(16))
    Q, tally, shares = written_out(mechanism.channel), mechanism.tally(reports), found.counts() / N
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    assert not found.unbiased
    assert found.gap < 1e-6
    best = oracle(Q, tally)
    assert log_likelihood(Q, tally, shares) >= log_likelihood(Q, tally, np.maximum(best, 0)) - 1e-6
    assert shares == pytest.approx(best, abs=1e-6)


@settings(max_examples=60)
@given(st.integers(2, 9), st.floats(0.05, 6), st.integers(1, 5000), st.integers(0, 2**32 - 1))
def test_no_direction_is_better_and_the_gap_is_honest(n, epsilon, users, seed):
    rng = np.random.default_rng(seed)
    Q = np.exp(epsilon * rng.random((3 * n, n)))
    mechanism = ExplicitMechanism("any", Q / Q.sum(axis=0), 2 * epsilon + 1)
    counts = rng.multinomial(users, rng.dirichlet(np.full(n, 0.3)))
    reports = mechanism.simulate(counts, rng)
    found = estimators.apply("mle", reports, mechanism, workloads.prefix(n))
    Q, shares = mechanism.strategy, found.estimated_counts / users
    slopes = Q.T @ (reports.data / (Q @ shares))
    assert slopes.max() - users <= found.gap + 1e-9 * users
    assert found.gap <= 1e-6 * users
    best = log_likelihood(Q, reports.data, shares)
    for other in [*np.eye(n), *rng.dirichlet(np.full(n, 0.5), size=5), counts / users]:
        assert log_likelihood(Q, reports.data, 0.5 * shares + 0.5 * other) <= best + found.gap + 1e-8


@settings(max_examples=100)
@given(st.integers(2, 12), st.floats(0.01, 8), st.integers(1, 10**6), st.integers(0, 2**32 - 1))
def test_randomized_response_has_a_closed_form(n, epsilon, users, seed):
    rng = np.random.default_rng(seed)
    mechanism = mechanisms.create("randomized_response", n, epsilon)
    reports = mechanism.simulate(rng.multinomial(users, rng.dirichlet(np.full(n, 0.4))), rng)
    shares = mle.randomized_response(reports.data, epsilon)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    slopes = mechanism.strategy.T @ (reports.data / (mechanism.strategy @ shares))
    assert slopes.max() == pytest.approx(users, rel=1e-9)
    fit = mle.maximise(mechanism.strategy, reports.data, np.full(n, 1 / n))
    difference = log_likelihood(mechanism.strategy, reports.data, shares)
    difference -= log_likelihood(mechanism.strategy, reports.data, fit.shares)
    assert abs(difference) <= 1e-6 + 1e-12 * users


@pytest.mark.parametrize("case", ["haar", "hierarchical raw"])
def test_em_on_transforms_reaches_the_same_shares(case, lower):
    mechanism = built(case)
    reports = mechanism.simulate(COUNTS, np.random.default_rng(3))
    newton = estimators.apply("mle", reports, mechanism, workloads.prefix(16))
    lower(NEWTON_ENTRIES=0)
    em = estimators.apply("mle", reports, mechanism, workloads.prefix(16))
    assert em.gap <= 0.01
    Q, tally = written_out(mechanism.channel), mechanism.tally(reports)
    missed = log_likelihood(Q, tally, newton.counts() / N) - log_likelihood(Q, tally, em.counts() / N)
    assert -1e-6 <= missed <= em.gap
    assert em.counts() / N == pytest.approx(newton.counts() / N, abs=2e-3)


@pytest.mark.parametrize("name", ["rappor", "subset_selection", "gaussian"])
def test_sums_of_reports_have_no_likelihood_and_it_is_said(name):
    workload = workloads.prefix(11)
    fitted = {"workload": workload} if library.spec(name).needs_workload else {"n": 11}
    mechanism = mechanisms.create(name, epsilon=1.0, **fitted)
    for estimator in ("mle", "posterior"):
        assert "cannot be recovered" in estimators.spec(estimator).unsuitable(mechanism, workload)
    reports = mechanism.simulate(np.full(11, 10), np.random.default_rng(0))
    refused("cannot be recovered", estimators.apply, "mle", reports, mechanism, workload)
