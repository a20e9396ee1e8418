"""Intervals that hold at all times together: their coverage over whole collections, looked at after every single report."""

import math

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.estimators import sequences, tails
from ldp_core.mechanisms.base import Reports
from tests.refused import refused

LEVEL = 0.8
"""Low, so that a coverage that is too small would show."""


def walks(mechanism, workload, counts, trials, seed=0):
    """(trials, N, q) answers less the true ones of the first t people, who come in an order of their own."""
    rng, W = np.random.default_rng(seed), workload.matrix
    adds = W @ mechanism.reconstruction
    for _ in range(trials):
        values = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        yield np.cumsum(adds[:, mechanism.privatize(values, rng)] - W[:, values], axis=1).T


def widths(mechanism, workload, users, level):
    """(N, q, 2) how far the intervals reach below and above the answers after 1, ..., N people, before they are cut off."""
    adds = mechanism.query_contributions(workload, np.arange(workload.num_queries))
    found = []
    for t in range(1, users + 1):
        last, tail = sequences.epoch(t, (1 - level) / 2)
        reach = [tails.bennett(last * adds.variances.max(axis=1), part, last, tail) for part in (adds.up, adds.down)]
        found.append(np.stack(reach, axis=1))
    return np.array(found)


@pytest.mark.parametrize("population", ["one type", "even", pytest.param("two ends", marks=pytest.mark.slow)])
def test_no_look_of_any_misses_more_often_than_it_may(population):
    mechanism = mechanisms.create(
        "optimized", workload=workloads.prefix(4), epsilon=1.0, time_limit=None, max_rounds=20
    )
    workload, users, trials = workloads.prefix(4), 600, 300
    counts = {"one type": [users, 0, 0, 0], "even": [users // 4] * 4, "two ends": [users // 2, 0, 0, users // 2]}[
        population
    ]
    reach = widths(mechanism, workload, users, LEVEL)
    held = np.zeros(workload.num_queries)
    for off in walks(mechanism, workload, counts, trials):
        held += np.all((off <= reach[:, :, 0] + 1e-9) & (-off <= reach[:, :, 1] + 1e-9), axis=0)
    assert held.min() / trials >= LEVEL - 5 * math.sqrt(LEVEL * (1 - LEVEL) / trials)


def test_fixed_intervals_looked_at_often_miss_where_these_do_not():
    """The purpose of sequences: most collections leave some fixed interval that is checked after
    every report."""
    mechanism, workload = mechanisms.create("randomized_response", n=2, epsilon=1.0), workloads.histogram(2)
    explicit = mechanisms.ExplicitMechanism(
        "two", np.array([[mechanism.p, mechanism.q], [mechanism.q, mechanism.p]]), 1.0
    )
    reach, z = widths(explicit, workload, 1000, LEVEL), 1.2816
    times = np.arange(1, 1001)[:, None]
    spread = np.sqrt(times * explicit.query_contributions(workload, np.arange(2)).variances.max())
    missed_fixed = missed = 0
    for off in walks(explicit, workload, [500, 500], 200):
        missed_fixed += np.any(np.abs(off[50:]) > z * spread[50:])
        missed += np.any((off > reach[:, :, 0]) | (-off > reach[:, :, 1]))
    assert missed_fixed > 100
    assert missed <= 200 * (1 - LEVEL) + 5 * math.sqrt(200 * LEVEL * (1 - LEVEL))


def test_the_chances_of_all_epochs_add_up_to_the_tail():
    people = [2**k for k in range(40)]
    epochs = [sequences.epoch(n, 0.025) for n in people]
    assert sum(tail for _, tail in epochs) < 0.025 < sum(tail for _, tail in epochs) * 1.02
    assert [last for last, _ in epochs[:4]] == [1, 3, 7, 15]
    for n in range(1, 70):
        last, _ = sequences.epoch(n, 0.025)
        assert n <= last < 2 * n


BUILDS = {
    "randomized_response": {},
    "oue": {"reconstruction": "standard"},
    "haar": {},
    "hierarchical": {"reconstruction": "raw", "oracle": "oue"},
    "matrix_l1": {},
    "rejection_gaussian": {},
}


@pytest.mark.parametrize("name", BUILDS)
def test_they_are_never_narrower_than_for_one_look_and_hold_the_truth(name):
    workload = workloads.prefix(16)
    fitted = {"workload": workload} if name in ("matrix_l1", "matrix_l2", "rejection_gaussian") else {"n": 16}
    mechanism = mechanisms.create(name, epsilon=1.0, **fitted, **BUILDS[name])
    rng = np.random.default_rng(3)
    for users in (1, 17, 1000, 100_000):
        counts = rng.multinomial(users, np.full(16, 1 / 16))
        estimate = mechanism.estimate(mechanism.simulate(counts, rng))
        fixed = estimators.intervals(mechanism, workload, estimate, users=users)
        found = estimators.any_time(mechanism, workload, estimate, users=users)
        assert np.all(found.ends[:, 0] <= fixed.ends[:, 0])
        assert np.all(found.ends[:, 1] >= fixed.ends[:, 1])
        truth = workload.answers(counts)
        assert np.all((found.ends[:, 0] <= truth + 1e-6) & (truth <= found.ends[:, 1] + 1e-6))
        assert np.all((found.ends >= -1e-9) & (found.ends <= users + 1e-9))
        assert set(found.methods) <= {"any time", "exact"}
    some = np.array([3, 7])
    chosen = estimators.any_time(mechanism, workload, estimate, queries=some, users=users)
    assert np.allclose(chosen.ends, found.ends[some])


def test_nobody_and_biased_estimates():
    mechanism, workload = mechanisms.create("randomized_response", n=4, epsilon=1.0), workloads.histogram(4)
    nobody = mechanism.estimate(Reports(mechanism.digest, 0, np.zeros(4, dtype=np.int64)))
    assert not estimators.any_time(mechanism, workload, nobody, users=0).ends.any()
    reports = mechanism.simulate(np.full(4, 10), np.random.default_rng(0))
    biased = estimators.apply("wnnls", reports, mechanism, workload)
    refused("unbiased", estimators.any_time, mechanism, workload, biased)
