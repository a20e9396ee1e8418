"""Square wave against its definition, the quantity its window makes largest, and reports drawn at random."""

import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import square_wave
from tests.refused import refused

EPSILONS = (0.001, 1.0, 6.0)


def information(b, epsilon):
    """The entropy of an even spread over [-b, 1 + b], which no report exceeds, less that of reports of one value."""
    E = math.exp(epsilon)
    p, q = E / (2 * b * E + 1), 1 / (2 * b * E + 1)
    return math.log(1 + 2 * b) + 2 * b * p * math.log(p) + q * math.log(q)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_window_makes_the_bound_on_information_largest(epsilon):
    b = square_wave.share_of_domain(epsilon)
    found = minimize_scalar(lambda b: -information(b, epsilon), bounds=(1e-6, 1), method="bounded").x
    assert b == pytest.approx(
        found, abs=1e-3 if epsilon > 0.01 else 0.05
    )  # the maximum is flat where reports say little
    E = math.exp(epsilon)
    if epsilon > 0.01:
        assert b == pytest.approx((epsilon * E - E + 1) / (2 * E * (E - 1 - epsilon)))
    assert square_wave.best_window(64, epsilon) == math.floor(64 * b)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("n", "window"), [(2, None), (7, 0), (7, 6), (32, None)])
def test_probabilities_are_those_of_the_definition(n, window, epsilon):
    mechanism = mechanisms.create("square_wave", n, epsilon, window=window)
    b, E = square_wave.best_window(n, epsilon) if window is None else window, math.exp(epsilon)
    Q = mechanism.strategy
    assert Q.shape == (n + 2 * b, n)
    for y in range(-b, n + b):
        for u in range(n):
            assert Q[y + b, u] == pytest.approx((E if abs(y - u) <= b else 1) / ((2 * b + 1) * E + n - 1))
    assert mechanism.audit().epsilon <= epsilon
    assert mechanism.audit().epsilon == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.bits_per_report == max(1, math.ceil(math.log2(n + 2 * b)))
    assert mechanism.reconstruction @ Q == pytest.approx(np.eye(n), abs=1e-4 if epsilon < 0.01 else 1e-7)


def test_a_window_of_nothing_is_randomized_response():
    workload = workloads.prefix(12)
    narrow, response = (
        mechanisms.create("square_wave", 12, 1.0, window=0),
        mechanisms.create("randomized_response", 12, 1.0),
    )
    assert narrow.variance_profile(workload) == pytest.approx(response.variance_profile(workload))
    assert square_wave.best_window(12, 6.0) == 0


@pytest.mark.parametrize(
    ("n", "window", "words"),
    [
        (8, 8, "The window of a square wave on 8 types is a whole number from 0 to 7; got 8."),
        (8, 1.5, "Window must be a whole number of at least 0; got 1.5."),
        (5000, None, "A square wave on 5,000 types needs a strategy matrix of"),
    ],
)
def test_others_are_refused_in_a_sentence(n, window, words):
    refused(re.escape(words), mechanisms.create, "square_wave", n, 0.5, window=window)
