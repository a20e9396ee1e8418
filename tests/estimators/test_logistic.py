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


def at(b, says, users, no, yes):
    """The log-likelihood (t,), slopes (t, 3) and curvatures (t, 3, 3) of t collections, in which so many of the ``users`` (t, 6) of each
    group say yes, at their coefficients (t, 3)."""
    share = expit(b @ X.T)
    chance = no + (yes - no) * share
    by_yes, by_no = (yes - no) * share * (1 - share) / chance, -(yes - no) * share * (1 - share) / (1 - chance)
    value = (says * np.log(chance) + (users - says) * np.log1p(-chance)).sum(axis=1)
    slopes, squares = says * by_yes + (users - says) * by_no, says * by_yes**2 + (users - says) * by_no**2
    return value, slopes @ X, np.einsum("tg,gi,gj->tij", squares, X, X)


def climbed(b, free, *given):
    """The log-likelihoods (t,) at the maxima over the ``free`` coefficients that are reached from b (t, 3), and the curvatures there."""
    b, damping, now = b.copy(), np.full(len(b), 1e-6), at(b, *given)
    for _ in range(60):
        value, slopes, curves = now
        square, step = curves[:, free][:, :, free], np.zeros_like(b)
        bent = damping[:, None] * np.einsum("tii->ti", square) + 1e-9
        step[:, free] = np.linalg.solve(square + bent[:, :, None] * np.eye(free.sum()), slopes[:, free, None])[..., 0]
        step *= np.minimum(1, 4 / np.maximum(np.abs(step @ X.T).max(axis=1), 1e-300))[:, None]
        after = at(b + step, *given)
        better = after[0] >= value
        damping *= np.where(better, 0.1, 10.0)
        b[better] += step[better]
        now = tuple(
            np.where(better.reshape(-1, *[1] * (old.ndim - 1)), new, old) for old, new in zip(now, after, strict=True)
        )
    return b, now[0], now[2]


def highest(starts, free, *given):
    """The highest of the maxima that are reached from several starts, collection by collection."""
    found = [climbed(np.broadcast_to(start, (len(given[0]), 3)), free, *given) for start in starts]
    best = np.argmax([value for _, value, _ in found], axis=0)
    return [np.stack(own)[best, np.arange(len(best))] for own in zip(*found, strict=True)]


def held_together(b, says, users, no, yes):
    """(t, 3) which profile-likelihood intervals of t collections hold: where the profile at the true coefficient is within reach."""
    given, k = (says, users, no, yes), np.arange(3)
    best, top, curves = highest([np.eye(1, 3)[0] * start for start in (0.0, -3.0, 3.0)], k >= 0, *given)
    reach = 1.959964**2 / 2 * (1 + np.minimum(0.3, 2 / np.maximum(curves[:, 0, 0], 2)))
    inside = []
    for j in k:
        apart = (3 + abs(b[j]) * np.abs(X[:, j]).max()) * np.eye(1, 3)[0]
        starts = [np.where(k == j, b, start) for start in (best, b, apart, -apart)]
        inside.append(top - highest(starts, k != j, *given)[1] <= reach)
    return np.stack(inside, axis=1)


def many(b, users, epsilon, trials, rng):
    """Of so many collections, how many of each group say yes, and how many there are."""
    yes = 1 / (1 + np.exp(-epsilon))
    each = rng.multinomial(users, np.full(len(X), 1 / len(X)), trials)
    return rng.binomial(each, 1 - yes + (2 * yes - 1) * expit(X @ b)), each, 1 - yes, yes


@pytest.mark.slow
@pytest.mark.parametrize("b", [[-3.9, 0.7, 0.3], [-1.0, 0.5, 0.3]])
def test_intervals_hold_what_their_profile_holds(b):
    says, each, no, yes = given = many(np.array(b), 1000, 1.0, 40, np.random.default_rng(4))
    inside = held_together(np.array(b), *given)
    for own, users, holds in zip(says, each, inside, strict=True):
        group = np.repeat(np.arange(6), users)
        found = logistic(
            likelihood(group, np.arange(1000) < np.repeat(users.cumsum() - users + own, users), no, yes), NAMES
        )
        assert ((found["low"] <= b) & (b <= found["high"])).tolist() == holds.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("users", [300, 3000])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("b", [[-3.9, 0.0, 0.0], [-3.9, 0.7, 0.3], [-1.0, 0.5, 0.3], [0.0, 1.0, -1.0]])
def test_coverage(users, epsilon, b):
    """At least 94.3 %, and at most 97 % where the shares are three standard errors from their ends, less and more the chance of 2,000
    collections (2.6 standard errors)."""
    trials, yes = 2000, 1 / (1 + np.exp(-epsilon))
    given = many(np.array(b), users, epsilon, trials, np.random.default_rng(3))
    coverage = held_together(np.array(b), *given).mean(axis=0)
    chance = 2.6 * np.sqrt(0.05 * 0.95 / trials)
    assert (coverage >= 0.943 - chance).all(), coverage
    shares = expit(X @ np.array(b))
    off = np.sqrt(yes * (1 - yes) / (2 * yes - 1) ** 2 + shares * (1 - shares)) / np.sqrt(users / len(X))
    if (np.minimum(shares, 1 - shares) > 3 * off).all():
        assert (coverage <= 0.97 + chance).all(), coverage
