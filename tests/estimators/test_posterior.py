"""The Gibbs sampler against the exact posterior of a handful of users, and what its numbers promise."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from ldp_core import estimators, mechanisms, workloads
from ldp_core.estimators import mle
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.mechanisms.base import Reports
from tests.refused import refused


def exact_posterior(Q, tally, alpha):
    """All possible counts (k, n) of the users and their probabilities, over every assignment of types to the reports."""
    n, outputs = Q.shape[1], np.repeat(np.arange(len(tally)), tally)
    weights = {}
    for types in product(range(n), repeat=len(outputs)):
        counts = tuple(np.bincount(types, minlength=n))
        weight = np.exp(gammaln(alpha + np.array(counts)).sum()) * Q[outputs, list(types)].prod()
        weights[counts] = weights.get(counts, 0.0) + weight
    found = np.array(list(weights.values()))
    return np.array(list(weights)), found / found.sum()


class Scattered(ExplicitMechanism):
    """A strategy without any structure."""

    def __init__(self, n, epsilon):
        Q = np.exp(epsilon * np.random.default_rng(n).random((2 * n, n)))
        super().__init__("scattered", Q / Q.sum(axis=0), 2 * epsilon)


SMALL = {
    "randomized response": (mechanisms.create("randomized_response", 3, 1.5), [3, 2, 1], 0.5),
    "hadamard": (mechanisms.create("hadamard", 3, 2.0), [2, 0, 1, 0, 0, 2, 0, 1], 0.5),
    "no structure": (Scattered(4, 2.0), [1, 0, 2, 0, 1, 1, 0, 0], np.array([0.3, 1.0, 2.0, 0.5])),
    "two types": (mechanisms.create("hadamard", 2, 0.5), [5, 1, 1, 3], 1.0),
}


def effective_draws(values):
    """The number of independent values that would determine the mean as well as the dependent
    ``values`` (draws, q), by means of batches."""
    batches = values.reshape(100, -1, values.shape[1]).mean(axis=1)
    error, spread = batches.var(axis=0, ddof=1) / 100, values.var(axis=0, ddof=1)
    return np.divide(spread, error, out=np.full(len(error), float(len(values))), where=error > 0).clip(max=len(values))


@pytest.mark.parametrize("case", SMALL)
def test_agrees_with_the_exact_posterior(case):
    mechanism, tally, prior = SMALL[case]
    n, tally = mechanism.n, np.array(tally)
    reports, workload = Reports(mechanism.digest, int(tally.sum()), tally), workloads.all_range(mechanism.n)
    Q = mle.written_out(mechanism.channel)
    counts, chances = exact_posterior(Q, tally, np.broadcast_to(prior, n))
    found = estimators.apply("posterior", reports, mechanism, workload, prior=prior, draws=12_000, seed=2)
    answers = workload.answers(counts)
    mean = chances @ answers
    error = found.standard_errors(workload)
    assert not found.unbiased
    assert np.all(np.abs(found.answers(workload) - mean) <= 4.5 * error + 1e-9)
    assert error.max() < 0.05  # of few users: the comparison says something
    assert found.draws.sum(axis=1).tolist() == [tally.sum()] * 12_000
    # The whole distribution of every answer: its probabilities, with errors for dependent draws.
    drawn = workload.answers(found.draws)
    effective = effective_draws(drawn)
    for query in range(workload.num_queries):
        for value in range(tally.sum() + 1):
            expected = min(1.0, chances[answers[:, query] == value].sum())
            share = np.mean(drawn[:, query] == value)
            assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / effective[query]) + 1e-3


@pytest.mark.parametrize("case", SMALL)
def test_the_distribution_agrees_with_its_exact_posterior(case):
    """Given the counts x, shares are Dirichlet(alpha + x): mean and spread over the exact posterior of x."""
    mechanism, tally, prior = SMALL[case]
    n, tally = mechanism.n, np.array(tally)
    users, alpha = int(tally.sum()), np.broadcast_to(prior, mechanism.n)
    reports, workload = Reports(mechanism.digest, users, tally), workloads.histogram(n)
    counts, chances = exact_posterior(mle.written_out(mechanism.channel), tally, alpha)
    found = estimators.apply("posterior_distribution", reports, mechanism, workload, prior=prior, draws=12_000, seed=2)
    total = alpha.sum() + users
    each = (alpha + counts) / total
    mean = chances @ each
    error = found.standard_errors(workload) / users
    assert np.all(np.abs(found.counts() / users - mean) <= 4.5 * error)
    assert found.counts().sum() == pytest.approx(users)
    square = chances @ ((alpha + counts) * (alpha + counts + 1)) / (total * (total + 1))
    spread = np.sqrt(square - mean**2)
    assert np.allclose(found.draws.std(axis=0) / users, spread, rtol=0.05)


def test_credible_intervals_cover_populations_drawn_from_the_prior():
    """Averaged over the prior, a 90 % credible interval holds the truth in 90 % of all cases (or more: counts are whole)."""
    workload, mechanism = workloads.prefix(4), mechanisms.create("hadamard", 4, 1.0)
    rng, covered = np.random.default_rng(0), np.zeros(3)
    trials = 120
    for trial in range(trials):
        truth = rng.multinomial(300, rng.dirichlet(np.full(4, 0.5)))
        reports = mechanism.simulate(truth, rng)
        found = estimators.apply("posterior", reports, mechanism, workload, draws=150, burn_in=30, seed=trial)
        low, high = found.intervals(workload, 0.9)[:3].T
        answers = workload.answers(truth)[:3]
        covered += (low <= answers) & (answers <= high)
    assert np.all(np.abs(covered / trials - 0.9) < 4 * np.sqrt(0.09 / trials))


def test_the_seed_decides():
    workload, mechanism = workloads.prefix(5), mechanisms.create("hadamard", 5, 1.0)
    reports = mechanism.simulate(np.array([50, 0, 20, 10, 5]), np.random.default_rng(0))
    one, same, other = (
        estimators.apply("posterior", reports, mechanism, workload, draws=200, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.draws, same.draws)
    assert np.array_equal(one.counts(), same.counts())
    assert not np.array_equal(one.draws, other.draws)
    assert one.standard_errors(workload)[-1] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior": 0.0}, "one positive number"),
        ({"prior": np.ones(3)}, "each of the 4 types"),
        ({"draws": 10}, "at least 100"),
    ],
)
def test_bad_options_are_refused(options, words):
    mechanism = mechanisms.create("hadamard", 4, 1.0)
    reports = mechanism.simulate(np.full(4, 5), np.random.default_rng(0))
    refused(words, lambda: estimators.apply("posterior", reports, mechanism, workloads.prefix(4), **options))
