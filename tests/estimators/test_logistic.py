"""Logistic regression of a secret answer, by maximum likelihood from the reports."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from ldp_core.estimators.logistic import Logistic, logistic

X = np.stack([np.ones(6), np.tile([0.0, 1.0], 3), np.repeat([-1.0, 0.0, 1.0], 2)], axis=1)
NAMES = ["intercept", "arm new minus old", "per 20 of age"]


def collected(b, users, no, yes, rng):
    """Reports of so many people, of whom those of one answer say yes with the chance ``no``, of the other with ``yes``."""
    group = rng.integers(0, len(X), users)
    says = rng.random(users) < np.where(rng.random(users) < expit(X @ b)[group], yes, no)
    return group, says


def likelihood(group, says, no, yes):
    times = np.bincount(2 * group + says, minlength=2 * len(X)).astype(float)
    chances = [np.tile([1 - chance, chance], len(X)) for chance in (no, yes)]
    there = times > 0
    return Logistic(X, np.repeat(np.arange(len(X)), 2)[there], times[there], *(own[there] for own in chances))


def by_person(group, says, no, yes):
    """The likelihood of all people one by one, maximised by SciPy without slopes, and its profile."""

    def missed(b):
        chance = no + (yes - no) * expit(X[group] @ b)
        return -np.log(np.where(says, chance, 1 - chance)).sum()

    return missed, optimize.minimize(missed, np.zeros(3), method="BFGS", options={"gtol": 1e-7})


@pytest.mark.promise
@pytest.mark.parametrize(("no", "yes"), [(1 / 6, 5 / 6), (0.27, 0.73)], ids=["forced response", "randomized response"])
def test_an_independent_likelihood_maximised_by_scipy_agrees(no, yes):
    group, says = collected([-0.8, 0.6, 0.4], 3000, no, yes, np.random.default_rng(1))
    missed, best = by_person(group, says, no, yes)
    found = logistic(likelihood(group, says, no, yes), NAMES)
    np.testing.assert_allclose(found["answer"], best.x, atol=1e-6)
    for j, row in found.iterrows():
        for end in (row["low"], row["high"]):
            profile = optimize.minimize(lambda b, j=j, end=end: missed(np.insert(b, j, end)), np.delete(best.x, j))
            assert 1 - 1e-4 < 2 * (profile.fun - best.fun) / 1.959964**2 < 1.02  # 2,000 reports are not few
    assert not found["boundary"].any()


def test_ends_that_the_reports_do_not_give_are_infinite_and_a_boundary_is_said():
    group, says = np.repeat(np.arange(6), 50), np.zeros(300, dtype=bool)
    found = logistic(likelihood(group, says, 0.25, 0.75), NAMES).set_index("name")
    assert found["boundary"].all()
    assert found.loc["intercept", "low"] == -np.inf
    assert found.loc["intercept", "high"] < -1
    assert np.isinf(found.loc["per 20 of age", ["low", "high"]].astype(float)).all()
    with pytest.raises(ValueError, match="do not tell these columns apart"):
        logistic(likelihood(group[:50], says[:50], 0.25, 0.75), NAMES)


def held(b, users, epsilon, trials, rng):
    """(3,) how many of the intervals of so many collections hold."""
    yes = 1 / (1 + np.exp(-epsilon))
    found = (logistic(likelihood(*collected(b, users, 1 - yes, yes, rng), 1 - yes, yes), NAMES) for _ in range(trials))
    return np.sum([(own["low"] <= b) & (b <= own["high"]) for own in found], axis=0)


def test_intervals_hold():
    """Of 45, with four standard errors to spare."""
    assert held(np.array([-1.0, 0.5, 0.3]), 3000, 3.0, 15, np.random.default_rng(2)).sum() >= 37


@pytest.mark.slow
@pytest.mark.parametrize("users", [300, 3000])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("b", [[-3.9, 0.0, 0.0], [-3.9, 0.7, 0.3], [-1.0, 0.5, 0.3], [0.0, 1.0, -1.0]])
def test_coverage(users, epsilon, b):
    """At least 94.3 %, and at most 97 % where the shares are three standard errors from their ends, less and more the chance of 2,000
    collections (2.6 standard errors)."""
    trials, yes = 2000, 1 / (1 + np.exp(-epsilon))
    coverage = held(np.array(b), users, epsilon, trials, np.random.default_rng(3)) / trials
    chance = 2.6 * np.sqrt(0.05 * 0.95 / trials)
    assert (coverage >= 0.943 - chance).all(), coverage
    shares = expit(X @ np.array(b))
    off = np.sqrt(yes * (1 - yes) / (2 * yes - 1) ** 2 + shares * (1 - shares)) / np.sqrt(users / len(X))
    if (np.minimum(shares, 1 - shares) > 3 * off).all():
        assert (coverage <= 0.97 + chance).all(), coverage
