"""Ball sampling and the centre of the smallest ball, against numbers from independent code, densities and draws."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

from ldp_core import analysis, mechanisms, workloads
from ldp_core.mechanisms.noise.ball import mean_height
from ldp_core.mechanisms.noise.vectors import around_centre


def made(workload, epsilon=1.0):
    return mechanisms.create("ball_sampling", workload=workload, epsilon=epsilon)


@pytest.mark.parametrize(
    ("workload", "users"),
    [
        (workloads.prefix(16), 2_478),
        (workloads.all_range(16), 1_863),
        (workloads.k_way_marginals(4, 2), 1_293),
        (workloads.parity(4), 9_911),
    ],
    ids=["prefix", "ranges", "pairs", "parity"],
)
def test_users_needed_are_those_of_an_independent_simulation(workload, users):
    assert analysis.sample_complexity(made(workload), workload) == pytest.approx(users, abs=0.6)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_the_mean_height_of_half_a_sphere(k):
    if k == 1:
        assert mean_height(1) == 1
        return
    weight = lambda angle: math.sin(angle) ** (k - 2)  # noqa: E731
    above = integrate.quad(lambda angle: math.cos(angle) * weight(angle), 0, math.pi / 2)[0]
    assert mean_height(k) == pytest.approx(above / integrate.quad(weight, 0, math.pi / 2)[0])


@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_smallest_ball_against_a_convex_programme(n):
    vectors = np.random.default_rng(n).normal(size=(3, n)) * [[1.0], [3.0], [0.2]]
    found = np.linalg.norm(around_centre(vectors), axis=0).max()
    start = np.append(vectors.mean(axis=1), 100.0)
    inside = {"type": "ineq", "fun": lambda x: x[3] - ((vectors - x[:3, None]) ** 2).sum(axis=0)}
    best = optimize.minimize(lambda x: x[3], start, constraints=[inside], options={"maxiter": 1000, "ftol": 1e-14})
    assert found == pytest.approx(math.sqrt(best.x[3]), rel=3e-6)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_mean_and_covariance_of_reports(epsilon):
    mechanism = made(workloads.prefix(5), epsilon)
    users, rng = 40_000, np.random.default_rng(3)
    across, along = mechanism.variances
    for value in (0, 2):
        reports = mechanism.privatize(np.full(users, value), rng)
        assert np.linalg.norm(reports, axis=1) == pytest.approx(np.full(users, mechanism.sphere))
        v, error = mechanism.vectors[:, value], mechanism.sphere / math.sqrt(users)
        assert np.abs(reports.mean(axis=0) - v).max() < 5 * error
        expected = across * np.eye(mechanism.size) + along * np.outer(v, v)
        assert np.abs(np.cov(reports.T) - expected).max() < 5 * error * mechanism.sphere


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("workload", [workloads.prefix(6), workloads.histogram(4), workloads.all_range(5)])
def test_densities_differ_by_e_epsilon_at_most(workload, epsilon):
    """The density of a point from how the report is drawn: two halves of each of two directions."""
    mechanism = made(workload, epsilon)
    points = np.random.default_rng(1).normal(size=(4000, mechanism.size))
    up = points @ mechanism.vectors >= 0
    share = (1 + np.linalg.norm(mechanism.vectors, axis=0) / mechanism.radius) / 2
    likely = math.exp(epsilon) / (math.exp(epsilon) + 1)
    density = np.where(up, share * likely + (1 - share) * (1 - likely), share * (1 - likely) + (1 - share) * likely)
    worst = np.log(density.max(axis=1) / density.min(axis=1)).max()
    audit = mechanism.audit()
    assert worst <= audit.epsilon * (1 + 1e-9) + 1e-9
    assert audit.epsilon <= epsilon
    assert worst == pytest.approx(audit.epsilon, rel=1e-6)
