"""Mechanisms for the mean of one number, against their papers' variances and against the optimised one."""

import numpy as np
import pytest

from ldp_core import library, optimize, workloads
from ldp_core.mechanisms import one_value

EPSILONS = (0.1, 1.0, 8.0)
W = np.linspace(-1, 1, 17)


@pytest.fixture(params=EPSILONS)
def epsilon(request):
    return request.param


def mean(values=W):
    return workloads.custom(values[None])


def moments(Q, v, squares):
    """Bias and variance, for each type, of the numbers ``v`` (k,) whose squares have these means."""
    return v @ Q - W, squares @ Q - W**2


def test_duchi_has_the_variance_of_its_paper(epsilon):
    far = np.array([1.0, -1.0]) / np.tanh(epsilon / 2)
    bias, variance = moments(one_value.duchi_rows(W, epsilon), far, far**2)
    np.testing.assert_allclose(bias, 0, atol=1e-9 * far[0])
    np.testing.assert_allclose(variance, 1 / np.tanh(epsilon / 2) ** 2 - W**2, rtol=1e-9)


def test_piecewise_has_the_variance_of_its_paper(epsilon):
    ends, Q = one_value.cells(W, epsilon)
    middle, width, s = (ends[1:] + ends[:-1]) / 2, np.diff(ends), np.exp(epsilon / 2)
    bias, variance = moments(Q, middle, middle**2 + width**2 / 12)  # a number lies anywhere in its cell
    np.testing.assert_allclose(bias, 0, atol=1e-9 * ends[-1])
    np.testing.assert_allclose(variance, W**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2), rtol=1e-8)


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid"])
def test_built_for_a_question_they_keep_epsilon_and_the_optimised_one_is_never_worse(name, epsilon):
    workload = mean()
    made = library.create(name, epsilon=epsilon, workload=workload)
    assert made.audit().epsilon <= epsilon
    profile, s = made.variance_profile(workload), np.exp(epsilon / 2)
    duchi, piecewise = 1 / np.tanh(epsilon / 2) ** 2 - W**2, W**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
    share = {"duchi": 0.0, "piecewise": 1.0, "hybrid": one_value.piecewise_share(epsilon)}[name]
    assert profile.mean() <= ((1 - share) * duchi + share * piecewise).mean() * (1 + 1e-7)
    best = optimize.design(workload, epsilon, time_limit=None)
    assert best.objective - workload.trace <= (len(W) * profile.mean()) * (1 + 1e-3)


def test_other_questions_are_refused_in_a_sentence():
    for name in ("duchi", "piecewise", "hybrid"):
        assert "one real-valued question" in library.spec(name).unsuitable(8, 1.0, workloads.prefix(8))
        with pytest.raises(ValueError, match="one real-valued question"):
            library.create(name, epsilon=1.0, workload=workloads.prefix(8))


@pytest.mark.parametrize("make", [one_value.duchi, one_value.piecewise, one_value.hybrid])
def test_whatever_the_values_are_no_report_exceeds_epsilon(make):
    """Values whose ends are moved to 1 but for rounding once made a bit tell more than epsilon."""
    for values in np.random.default_rng(0).standard_normal((50, 2)):
        assert make(values, 20.0).audit().epsilon <= 20.0
