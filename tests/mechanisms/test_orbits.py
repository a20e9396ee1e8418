"""Orbit mechanisms against the same strategy written out, and their simulations against their exact covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism, Reports
from ldp_core.mechanisms.orbits import OrbitMechanism
from ldp_core.optimize import SearchLimits, design_orbits

WORKLOADS = [
    workloads.prefix(16),
    workloads.histogram(16),
    workloads.all_marginals(4),
    workloads.k_way_marginals(4, 2),
]


def pair(seed=0, d=4, rows=6, epsilon=1.3):
    """An orbit mechanism of random base rows, and its strategy written out."""
    rng, n = np.random.default_rng(seed), 2**d
    high = rng.random((rows, n)) < rng.uniform(0.15, 0.6, (rows, 1))
    high[:, 0], high[:, 1] = True, False
    shares = rng.dirichlet(np.ones(rows))
    types, E = np.arange(n), np.exp(epsilon)
    blocks = []
    for row, share in zip(high, shares, strict=True):
        v = np.where(row, E, 1.0)
        blocks.append(share * v[types[:, None] ^ types] / v.sum())
    return OrbitMechanism("orbits", high, shares, epsilon), np.concatenate(blocks)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(0.2, 4))
def test_is_the_strategy_written_out(seed, d, epsilon):
    mechanism, Q = pair(seed, d, 7, epsilon)
    explicit, n = ExplicitMechanism("written", Q, epsilon), 2**d
    assert mechanism.information() == pytest.approx(explicit.information())
    x, y = np.random.default_rng(seed).random((2, len(Q)))
    assert mechanism.channel @ x[:n] == pytest.approx(Q @ x[:n])
    assert mechanism.channel.T @ y == pytest.approx(Q.T @ y)
    assert mechanism.audit().epsilon == pytest.approx(explicit.audit().epsilon)
    assert mechanism.audit().epsilon <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_variances_are_those_of_the_strategy_written_out(workload):
    mechanism, Q = pair()
    explicit, counts = ExplicitMechanism("written", Q, 1.3), np.arange(16) ** 2
    assert mechanism.supports(workload) is None
    assert mechanism.variance_profile(workload) == pytest.approx(explicit.variance_profile(workload))
    assert mechanism.covariance(counts) == pytest.approx(explicit.covariance(counts), abs=1e-6)
    expected = explicit.query_variances(workload, counts)
    assert mechanism.query_variances(workload, counts) == pytest.approx(expected, abs=1e-6)
    some = np.array([0, 3, 5])
    assert mechanism.query_variances(workload, counts, some) == pytest.approx(expected[some], abs=1e-6)


@pytest.mark.parametrize("users", [400, 2_000_000])  # user by user, and by multinomial draws
def test_simulated_reports_have_the_right_distribution(users):
    mechanism, Q = pair()
    counts = np.random.default_rng(1).multinomial(users, np.full(16, 1 / 16))
    rng, repeats = np.random.default_rng(2), 200 if users < 1000 else 40
    explicit = ExplicitMechanism("written", Q, 1.3)
    tallies, errors = np.zeros(len(Q)), []
    for _ in range(repeats):
        reports = mechanism.simulate(counts, rng)
        assert reports.users == reports.data.sum() == users
        estimate = mechanism.estimate(reports).estimated_counts
        same = explicit.estimate(Reports(explicit.digest, users, mechanism.tally(reports))).estimated_counts
        assert estimate == pytest.approx(same, rel=1e-6, abs=1e-6 * users)
        tallies += reports.data.ravel()
        errors.append(estimate - counts)
    expected = repeats * (Q @ counts)
    assert np.sum((tallies - expected) ** 2 / expected) < len(Q) + 5 * np.sqrt(2 * len(Q))
    ratio = np.square(errors).mean(axis=0).sum() / np.trace(mechanism.covariance(counts))
    assert ratio == pytest.approx(1, abs=5 * np.sqrt(2 / repeats))


def test_adding_users_one_by_one_is_the_same_as_aggregating():
    mechanism, _ = pair()
    rng = np.random.default_rng(0)
    raw = mechanism.privatize(rng.integers(16, size=50), rng)
    whole = mechanism.aggregate(raw)
    assert np.array_equal((mechanism.aggregate(raw[:20]) + mechanism.aggregate(raw[20:])).data, whole.data)
    with pytest.raises(ValueError, match="another mechanism"):
        mechanism.estimate(Reports("other", 50, whole.data))
    with pytest.raises(ValueError, match="base row and a translation"):
        mechanism.aggregate(raw[:, 0])


def test_characters_that_no_row_shows_are_not_identified():
    types = np.arange(8)
    mechanism = OrbitMechanism("first attribute", np.array([types & 1 == 1]), np.ones(1), 1.0)
    assert mechanism.supports(workloads.histogram(8)) is not None
    assert mechanism.supports(workloads.prefix(8)) is not None
    assert mechanism.supports(workloads.prefix(4)) is not None
    first = workloads.custom(np.stack([types & 1, 1 - (types & 1)]).astype(float))
    assert mechanism.supports(first) is None
    rng, counts = np.random.default_rng(0), np.full(8, 10_000)
    estimate = mechanism.estimate(mechanism.simulate(counts, rng))
    assert estimate.counts() is None
    deviation = np.sqrt(mechanism.query_variances(first, counts))
    assert (np.abs(estimate.answers(first) - 40_000) < 5 * deviation).all()


@pytest.mark.parametrize(
    ("high", "shares", "words"),
    [
        (np.ones((1, 3), bool), [1.0], "power of two"),
        (np.ones((1, 4), bool), [1.0], "high and low"),
        (np.eye(4, dtype=bool), [0.5, 0.5, 0.0, 0.0], "positive probability"),
        (np.eye(4, dtype=bool), [0.5, 0.1], "positive probability"),
    ],
)
def test_bad_rows_are_refused_in_words(high, shares, words):
    with pytest.raises(ValueError, match=words):
        OrbitMechanism("bad", high, np.array(shares), 1.0)


@pytest.mark.slow
def test_large_domains_need_no_matrix():
    workload = workloads.k_way_marginals(13, 1)
    found = design_orbits(workload, 1.0, SearchLimits(time_limit=None, max_rounds=1))
    mechanism = OrbitMechanism("optimized", found.high, found.shares, 1.0)
    assert analysis.objective(mechanism, workload) == pytest.approx(found.objective, rel=1e-6)
    rng = np.random.default_rng(0)
    counts = np.zeros(2**13, dtype=int)
    counts[:4] = 20_000
    answers = mechanism.estimate(mechanism.simulate(counts, rng)).answers(workload)
    some = np.arange(6)
    deviation = np.sqrt(mechanism.query_variances(workload, counts, some))
    assert (np.abs(answers[some] - workload.answers(counts)[some]) < 5 * deviation).all()
    with pytest.raises(ValueError, match="too large"):
        mechanism.covariance(counts)
    assert "over binary attributes only" in mechanism.supports(workloads.prefix(2**13))


def test_the_registered_mechanism_is_structured_past_written_strategies():
    orbits = mechanisms.create("optimized", 4096, 1.0, workload=workloads.all_marginals(12), max_rounds=2)
    assert isinstance(orbits, OrbitMechanism)
    subsets = mechanisms.create("optimized", 5000, 1.0, workload=workloads.histogram(5000))
    assert subsets.name == "subset_selection"
    rule = library.spec("optimized").unsuitable
    assert rule(5000, 1.0, workloads.histogram(5000)) is None
    assert rule(4096, 1.0, workloads.parity(12)) is None
    assert rule(4097, 1.0, workloads.prefix(4097)) is not None
