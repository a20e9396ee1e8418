"""Bassily 2019: bounds for few users, their switch points, the lemma put right, and simulated errors below them."""

import math

import numpy as np
import pytest

from ldp_core import mechanisms, workloads
from ldp_core.bounds.theorems import few_users
from ldp_core.papers import bassily
from tests.refused import refused


def population_errors(mechanism, workload, population, users, runs, estimator):
    """Lengths of the errors of the answers about the population, in shares, over ``runs`` collections."""
    rng = np.random.default_rng(0)
    return bassily.population_errors(mechanism, workload, population, users, runs, rng, [estimator])[estimator]


@pytest.mark.parametrize(
    ("d", "n", "users", "projected", "unprojected"),
    [(64, 32, 1000, 9.01, 10.902), (64, 32, 10**5, 2.849, 1.090), (8, 64, 5000, 2.230, 0.609)],
)
def test_theorem_3_2(d, n, users, projected, unprojected):
    r = math.sqrt(d)  # queries of +1 and -1
    found = few_users.bound("gaussian", d, n, users, 1.0, r)
    assert found.projected == pytest.approx(projected, abs=0.005)
    assert found.unprojected == pytest.approx(unprojected, abs=0.005)
    assert found.trivial == r
    assert found.value == min(found.projected, found.unprojected, r)
    sharp = few_users.bound("gaussian", d, n, users, 1.0, r, "sharp")
    assert (sharp.projected, sharp.unprojected) <= (found.projected, found.unprojected)
    expected = r * (16 * math.log(2 * n) * math.log(2e6) / users) ** 0.25
    assert sharp.projected == pytest.approx(expected)


@pytest.mark.parametrize(
    ("d", "n", "users", "estimator", "expected"),
    [(64, 32, 1000, "polytope", 3.33), (64, 32, 10**5, "unbiased", 0.742), (8, 64, 5000, "polytope", 0.556)],
)
def test_simulated_errors_of_gaussian_noise_lie_below(d, n, users, estimator, expected):
    """Random queries of +1 and -1, and the printed noise; then the noise that delivers its delta, which is larger here."""
    workload = workloads.custom(np.random.default_rng(1).choice([-1.0, 1.0], size=(d, n)))
    r, even = math.sqrt(d), np.full(n, 1 / n)
    printed, exact = (
        mechanisms.create("gaussian", epsilon=1.0, workload=workload, delta=1e-6, calibration=calibration)
        for calibration in ("paper", "analytic")
    )
    assert exact.drawn.noise.scale > printed.drawn.noise.scale
    for mechanism in (printed, exact):
        errors = population_errors(mechanism, workload, even, users, 60, estimator)
        noise = mechanism.drawn.noise.variance / r**2
        bound = few_users.bound("gaussian", d, n, users, 1.0, r, "sharp", noise=noise).value
        # Without a projection the bound is attained but for a few per cent.
        assert errors.mean() - 2 * errors.std() / math.sqrt(60) < bound
        if mechanism is printed:
            assert errors.mean() == pytest.approx(expected, rel=0.15)
            assert bound <= few_users.bound("gaussian", d, n, users, 1.0, r).value * (1 + 1e-12)


def test_theorem_3_4():
    found = few_users.bound("rejection", 8, 64, 5000, 0.5, 2.0)
    assert found.projected == pytest.approx(2 * (280 * math.log(64) * math.log(5000) / (5000 * 0.25)) ** 0.25)
    assert found.unprojected == pytest.approx(2 * math.sqrt(80 * math.log(5000) / (5000 * 0.25)))
    assert found.value == found.unprojected < found.trivial == 2
    for users, epsilon in ((119, 0.5), (1000, 1.01)):
        refused("at least 120 users and epsilon up to 1", few_users.bound, "rejection", 8, 64, users, epsilon, 2.0)


def test_theorem_4_2():
    assert few_users.bound("histogram", 1024, 1024, 10**5, 1.0).value == pytest.approx(0.438, abs=0.0005)
    paper, sharp = (few_users.bound("histogram", 64, 64, 1000, 1.0, form=form) for form in ("paper", "sharp"))
    assert (paper.unprojected, sharp.unprojected) == pytest.approx((1.095, 0.547), abs=0.0005)
    assert sharp.projected == pytest.approx((8 * math.log(128) / math.tanh(0.5) ** 2 / 1000) ** 0.25)
    assert sharp.projected < paper.projected
    mechanism, histogram = mechanisms.create("projected_hadamard", n=64, epsilon=1.0), workloads.histogram(64)
    errors = population_errors(mechanism, histogram, np.full(64, 1 / 64), 1000, 100, "unbiased")
    assert errors.mean() == pytest.approx(0.544, rel=0.03)
    assert errors.mean() < sharp.unprojected


def test_theorem_5_2_and_the_line_of_its_proof():
    assert few_users.adaptive(20, 20_000, 1.0) == pytest.approx(0.474, abs=0.0005)
    assert few_users.adaptive(20, 20_000, 1.0, form="sharp") == pytest.approx(0.372, abs=0.0005)
    assert few_users.adaptive(1, 1000, 1.0, form="sharp") == pytest.approx(0.161, abs=0.0005)
    assert few_users.adaptive(20, 20_000, 1.0, radius=3.0) == pytest.approx(3 * few_users.adaptive(20, 20_000, 1.0))
    assert few_users.adaptive(100, 10, 1.0, radius=3.0, form="sharp") == 3.0
    for queries, users in ((1, 1000), (20, 1000)):  # one query would have no error at all, as printed
        refused("at least 2 queries and 8 d ln N users", few_users.adaptive, queries, users, 1.0)


def test_lower_orders():
    d, n, users, epsilon = 50, 30, 4000, 0.5
    root = 1 / (users * epsilon**2)
    assert few_users.lower_order("gaussian", d, n, users, epsilon, 2.0) == pytest.approx(
        2 * min(root**0.25, (d * root) ** 0.5)
    )
    assert few_users.lower_order("rejection", 1, n, users, epsilon) == pytest.approx(math.sqrt(root))
    assert few_users.lower_order("histogram", d, n, users, epsilon, 9.0) == pytest.approx(
        min(root**0.25, (n * root) ** 0.5)
    )
    c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    expected = 2 * c * math.sqrt(d * math.log(d) / users)
    assert few_users.lower_order("adaptive", d, n, users, epsilon, 2.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: few_users.bound("gaussian", 0, 4, 10, 1.0), "number of queries"),
        (lambda: few_users.bound("gaussian", 3, 4, 10, 0.0), "Epsilon"),
        (lambda: few_users.bound("gaussian", 3, 4, 10, 1.0, delta=0.0), "Delta must lie between 0 and 1"),
        (lambda: few_users.bound("gaussian", 3, 4, 10, 1.0, 0.0), "radius must be a number above 0"),
        (lambda: few_users.bound("gaussian", 3, 4, 10, 1.0, form="printed"), "Unknown form"),
        (lambda: few_users.bound("laplace", 3, 4, 10, 1.0), "Unknown algorithm"),
        (lambda: few_users.lower_order("laplace", 3, 4, 10, 1.0), "Unknown algorithm"),
    ],
)
def test_bad_arguments_are_refused(call, reason):
    refused(reason, call)
