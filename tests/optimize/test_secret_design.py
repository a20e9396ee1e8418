"""Designs that protect some values alone: closed forms, the optimum over all covered rows, and what people are saved."""

import math
from fractions import Fraction

import cvxpy
import numpy as np
import pytest

import ldp_core as ldp
from ldp_core.optimize import SearchLimits, worst_case_design
from ldp_core.workloads import PartlySecret
from tests.refused import refused

ROUNDS = {"time_limit": None, "max_rounds": 40}


def first(workload, secret):
    """The questions of ``workload`` where the first ``secret`` types are."""
    return PartlySecret(workload, np.arange(workload.n) < secret)


def users(objective, workload):
    return objective - workload.trace


def optimum(workload, epsilon, prior=None):
    """L of the best mechanism: the weights of all covered rows and of the open ones, by CVXPY, over all types (nothing put together)."""
    n, secret, E = workload.n, np.flatnonzero(workload.secret), math.exp(epsilon)
    opened = np.flatnonzero(~workload.secret)
    bits = (np.arange(1, 2 ** len(secret))[:, None] >> np.arange(len(secret))) & 1
    rows = np.ones((len(bits), n))
    rows[:, secret] += (E - 1) * bits
    rows = np.vstack([rows, np.eye(n)[opened]])
    mass = rows @ (np.ones(n) if prior is None else n * prior)
    w = cvxpy.Variable(len(rows), nonneg=True)
    M = (rows / mass[:, None]).T @ cvxpy.diag(w) @ rows
    objective = cvxpy.matrix_frac(workload.gram_root.T, (M + M.T) / 2)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [rows.T @ w == 1])
    problem.solve(solver="CLARABEL")
    return problem.value


@pytest.mark.parametrize(("epsilon", "share", "worst"), [(0.5, 0.20, 0.39), (1.0, 0.32, 0.63), (2.0, 0.43, 0.86)])
def test_one_secret_answer_of_two_costs_the_closed_form(epsilon, share, worst):
    """Acharya et al. 2020: a secret yes adds (1 - pi) / (E - 1) a person to the variance of its share, pi of whom have it."""
    asked, E = first(ldp.workloads.histogram(2), 1), math.exp(epsilon)
    everything = ldp.mechanisms.create("randomized_response", n=2, epsilon=epsilon)
    best = ldp.optimize.design(asked, epsilon, **ROUNDS)
    assert best.objective == pytest.approx(2 + 2 / (E - 1), rel=1e-9)
    profile = best.mechanism().variance_profile(asked)
    assert profile == pytest.approx([0, 2 / (E - 1)], abs=1e-9)
    assert profile.mean() / everything.variance_profile(asked).mean() == pytest.approx(share, abs=0.005)
    hardest = worst_case_design(asked, epsilon, SearchLimits(**ROUNDS)).mechanism()
    whole = everything.variance_profile(asked).max()
    assert hardest.variance_profile(asked).max() / whole == pytest.approx(worst, abs=0.005)
    one_in_ten = np.array([0.1, 0.9])
    shares = {0.5: 0.35, 1.0: 0.57, 2.0: 0.78}[epsilon]
    assert one_in_ten @ profile / whole == pytest.approx(shares, abs=0.006)


@pytest.mark.parametrize(
    ("kind", "secret", "shares"),
    [
        ("histogram", 4, (0.362, 0.373, 0.390)),
        ("histogram", 2, (0.107, 0.125, 0.167)),
        ("prefix", 4, (0.294, 0.330, 0.394)),
        ("prefix", 2, (0.113, 0.158, 0.212)),
    ],
)
def test_people_saved_where_some_of_eight_types_are_secret(kind, secret, shares):
    workload = getattr(ldp.workloads, kind)(8)
    for epsilon, share in zip((0.5, 1.0, 2.0), shares, strict=True):
        best = ldp.optimize.design(first(workload, secret), epsilon, **ROUNDS)
        whole = ldp.optimize.exact(workload, epsilon)
        assert users(best.objective, workload) / users(whole.objective, workload) == pytest.approx(share, rel=0.01)


@pytest.mark.parametrize("prior", [None, np.array([1, 4, 2, 3, 2, 8.0]) / 20])
@pytest.mark.parametrize("kind", ["histogram", "prefix", "all_range"])
def test_designs_are_the_optimum_over_all_covered_rows(kind, prior):
    asked = PartlySecret(getattr(ldp.workloads, kind)(6), np.array([1, 0, 1, 1, 0, 0], dtype=bool))
    for epsilon in (0.7, 2.5):
        best = ldp.optimize.design(asked, epsilon, time_limit=None, max_rounds=150, prior=prior)
        assert best.objective == pytest.approx(optimum(asked, epsilon, prior), rel=1e-4)


def test_designs_keep_the_promise_in_fractions_and_are_never_worse_than_utility_optimised_randomized_response():
    asked = first(ldp.workloads.prefix(24), 9)
    for epsilon in (0.5, 2.0):
        best = ldp.optimize.design(asked, epsilon, time_limit=None, max_rounds=10)
        table = best.mechanism().strategy
        bound = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**40))
        for row in table:
            if row[asked.secret].any():
                assert Fraction(row.max()) <= bound * Fraction(row.min())
            else:
                assert np.count_nonzero(row) == 1
        assert all(sum(map(Fraction, column), Fraction(0)) == 1 for column in table.T)
        audit = best.mechanism().audit()
        assert audit.promise == "secret"
        assert audit.epsilon <= epsilon
        published = ldp.optimize.design(asked, epsilon, time_limit=None, max_rounds=0)
        assert best.objective <= published.objective


def test_more_secret_types_need_more_people():
    needed = [
        users(
            ldp.optimize.design(first(ldp.workloads.histogram(8), k), 1.0, **ROUNDS).objective,
            first(ldp.workloads.histogram(8), k),
        )
        for k in (1, 3, 5, 7)
    ] + [users(ldp.optimize.design(ldp.workloads.histogram(8), 1.0, **ROUNDS).objective, ldp.workloads.histogram(8))]
    assert needed == sorted(needed)


def test_a_worst_case_design_is_level_and_no_worse_than_that_for_the_average():
    asked = first(ldp.workloads.prefix(12), 6)
    hardest = worst_case_design(asked, 1.0, SearchLimits(None, 80)).mechanism().variance_profile(asked).max()
    average = ldp.optimize.design(asked, 1.0, **ROUNDS).mechanism().variance_profile(asked)
    assert average.mean() <= hardest <= average.max()


def test_one_secret_value_among_arms_that_the_collector_knows():
    Axis = ldp.workloads.Axis
    arm, ill = Axis("arm", ("old", "new"), 2, known=True), Axis("ill", ("no", "yes"), 2, secret=(False, True))
    asked = ldp.workloads.over_attributes([ldp.workloads.HistogramPart(attribute="ill")], [arm, ill])
    assert asked.secret.tolist() == [False, True, False, True]
    best = ldp.optimize.design(asked, 1.0, **ROUNDS)
    assert best.objective == pytest.approx(2 * (2 + 2 / (math.e - 1)), rel=1e-9)
    mechanism = best.mechanism()
    assert mechanism.audit().promise == "secret"
    assert mechanism.promised.tolist() == asked.secret.tolist()
    proof = ldp.bounds.certificate(asked, 1.0, None)
    assert proof.verify()
    assert proof.value == pytest.approx(best.objective, rel=1e-4)
    assert asked.all_secret == ldp.workloads.over_attributes(
        [ldp.workloads.HistogramPart(attribute="ill")], [arm, Axis("ill", ("no", "yes"), 2)]
    )


def test_estimates_of_simulated_people_are_unbiased():
    asked, rng = first(ldp.workloads.histogram(5), 2), np.random.default_rng(0)
    mechanism, counts = ldp.optimize.design(asked, 1.0, **ROUNDS).mechanism(), np.array([30, 60, 10, 80, 20])
    found = np.array([mechanism.estimate(mechanism.simulate(counts, rng)).counts() for _ in range(2000)])
    error = np.sqrt(np.diag(mechanism.covariance(counts)) / len(found))
    assert np.all(np.abs(found.mean(axis=0) - counts) <= 5 * error)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_published_mechanisms_have_their_papers_chances_and_are_never_better(epsilon):
    asked, E, s = first(ldp.workloads.prefix(7), 3), math.exp(epsilon), 3
    response = ldp.mechanisms.create("utility_randomized_response", workload=asked, epsilon=epsilon)
    c = 1 / (s + E - 1)
    expected = np.full((s, 7), c)
    expected[:, :s] += (E - 1) * c * np.eye(s)
    np.testing.assert_allclose(response.strategy[:s], expected, rtol=1e-9)
    np.testing.assert_allclose(response.strategy[s:, s:], np.eye(4) * (E - 1) * c, rtol=1e-9)
    rappor = ldp.mechanisms.create("utility_rappor", workload=asked, epsilon=epsilon)
    theta = math.sqrt(E) / (math.sqrt(E) + 1)
    own, other, leaves = theta, theta / ((1 - theta) * E + theta), ((1 - theta) * E + theta) / E
    bits = (np.arange(8)[:, None] >> np.arange(s)) & 1
    for u in range(7):
        chances = np.where(np.arange(s) == u, own, other)
        law = np.where(bits == 1, chances, 1 - chances).prod(axis=1) * (1 if u < s else leaves)
        np.testing.assert_allclose(rappor.strategy[:8, u], law, rtol=1e-9)
    best = ldp.optimize.design(asked, epsilon, **ROUNDS).mechanism()
    for made in (response, rappor):
        assert made.audit().promise == "secret"
        assert made.audit().epsilon <= epsilon
        assert best.average_of(asked) <= made.average_of(asked)
    refused("every value is", ldp.mechanisms.create, "utility_rappor", workload=asked.all_secret, epsilon=epsilon)
