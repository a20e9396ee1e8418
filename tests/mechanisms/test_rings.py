"""Mechanisms on a ring against the same strategy written out, and their simulations against their exact covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.mechanisms import ExplicitMechanism, RingMechanism
from ldp_core.mechanisms.rings import quadratic_forms, second_moments


def pair(seed=0, n=11, places=14, rows=5, epsilon=1.3):
    """A mechanism of random base rows on a ring, and its strategy written out."""
    rng = np.random.default_rng(seed)
    high = rng.random((rows, places)) < rng.uniform(0.15, 0.6, (rows, 1))
    high[:, 0], high[:, 1] = True, False
    high[0] = np.arange(places) == 0
    shares = rng.dirichlet(np.ones(rows))
    blocks = []
    for row, share in zip(high, shares, strict=True):
        v = np.where(row, np.exp(epsilon), 1.0)
        blocks.append([[share * v[(u + z) % places] / v.sum() for u in range(n)] for z in range(places)])
    return RingMechanism("ring", high, shares, n, epsilon), np.concatenate(blocks)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(0, 5), st.floats(0.2, 4))
def test_is_the_strategy_written_out(seed, n, more, epsilon):
    mechanism, Q = pair(seed, n, n + more, 4, epsilon)
    explicit = ExplicitMechanism("written", Q, epsilon)
    assert mechanism.information() == pytest.approx(explicit.information())
    x, y = np.random.default_rng(seed).random((2, len(Q)))
    assert mechanism.channel @ x[:n] == pytest.approx(Q @ x[:n])
    assert mechanism.channel.T @ y == pytest.approx(Q.T @ y)
    assert mechanism.audit().epsilon == pytest.approx(epsilon)
    assert mechanism.audit().epsilon <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("n", "places"), [(11, 14), (12, 12)])
@pytest.mark.parametrize("maker", [workloads.prefix, workloads.all_range, workloads.histogram])
def test_variances_are_those_of_the_strategy_written_out(maker, n, places):
    (mechanism, Q), workload, counts = pair(0, n, places), maker(n), np.arange(n) ** 2
    explicit = ExplicitMechanism("written", Q, 1.3)
    assert mechanism.supports(workload) is None
    assert mechanism.variance_profile(workload) == pytest.approx(explicit.variance_profile(workload))
    assert mechanism.covariance(counts) == pytest.approx(explicit.covariance(counts), abs=1e-6)
    expected = explicit.query_variances(workload, counts)
    some = np.array([0, 3, 5])
    assert mechanism.query_variances(workload, counts, some) == pytest.approx(expected[some], abs=1e-6)


def test_estimates_are_those_of_the_strategy_written_out():
    mechanism, Q = pair()
    explicit, counts = ExplicitMechanism("written", Q, 1.3), np.arange(1, 12)
    reports = mechanism.simulate(counts, np.random.default_rng(0))
    found = mechanism.estimate(reports).counts()
    assert found == pytest.approx(explicit.reconstruction @ reports.arrays[0].ravel())
    assert found.sum() == pytest.approx(counts.sum())


@pytest.mark.parametrize("users", [40, 500_000], ids=["one by one", "all at once"])
def test_reports_have_the_probabilities_of_the_strategy(users):
    mechanism, Q = pair(1)
    counts = np.zeros(11, dtype=int)
    counts[[2, 9]] = users, 2 * users
    trials = 500 if users < 100 else 1
    rng, told = np.random.default_rng(2), 0
    for _ in range(trials):
        told = told + mechanism.simulate(counts, rng).arrays[0].ravel()
    expected = trials * (Q @ counts)
    assert np.abs((told - expected) / np.sqrt(expected)).max() < 5  # standard errors, of 70 outputs


@pytest.mark.parametrize(
    ("high", "n", "said"),
    [
        (np.eye(1, 8, dtype=bool), 9, "a place for every type"),
        (np.eye(1, 8, dtype=bool)[0], 4, "a place for every type"),
        (np.array([[1, 0, 1, 0]], dtype=bool), 3, "cannot tell all types apart"),
        (np.ones((1, 4), dtype=bool), 3, "high and low"),
    ],
)
def test_bad_rows_are_refused(high, n, said):
    with pytest.raises(ValueError, match=said):
        RingMechanism("ring", high, np.ones(1), n, 1.0)


@pytest.mark.parametrize(("n", "places"), [(2, 2), (5, 9), (7, 7)])
def test_sums_over_rotations_are_those_written_out(n, places, monkeypatch):
    monkeypatch.setattr("ldp_core.mechanisms.rings.AT_ONCE", 2 * places)  # distances two at a time
    rng = np.random.default_rng(0)
    rows, weights, X = rng.random((3, places)), rng.random((3, places)), rng.random((n, n))
    X += X.T
    moved = np.array([[np.roll(row, -z)[:n] for z in range(places)] for row in rows])
    expected = np.einsum("kz,kzu,kzv->uv", weights, moved, moved)
    assert second_moments(rows, weights, n) == pytest.approx(expected)
    assert quadratic_forms(rows, X) == pytest.approx(np.einsum("kzu,uv,kzv->kz", moved, X, moved))
