"""RAPPOR, OUE, OLH and Fourier: closed forms against all 2^n outputs, hashing against its definition, simulation against both."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.mechanisms import fourier
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.unary import RECONSTRUCTIONS, UnaryEncoding

TRIALS = 3000


def build(name, n, epsilon, reconstruction="known_total"):
    if name == "olh":
        return LocalHashing(n, epsilon, reconstruction)
    return UnaryEncoding(name, n, epsilon, reconstruction)


@given(st.sampled_from(["oue", "rappor"]), st.integers(2, 7), st.floats(0.05, 5))
@settings(max_examples=25)
def test_closed_forms_equal_the_explicit_strategy(name, n, epsilon):
    m = build(name, n, epsilon, "optimal")
    explicit = ExplicitMechanism(name, m.strategy, epsilon)
    counts = np.arange(1, n + 1)
    np.testing.assert_allclose(m.information(), explicit.information(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(m.covariance(counts), explicit.covariance(counts), rtol=1e-5)
    for w in (workloads.prefix(n), workloads.all_range(n), workloads.histogram(n)):
        np.testing.assert_allclose(m.variance_profile(w), explicit.variance_profile(w), rtol=1e-5)
    assert explicit.audit().epsilon <= epsilon
    assert m.audit().epsilon == pytest.approx(explicit.audit().epsilon, abs=1e-12)


def test_reconstructions_have_the_designs_figures():
    w = workloads.prefix(32)
    worst = {r: build("oue", 32, 1.0, r).variance_profile(w).max() for r in RECONSTRUCTIONS}
    assert worst == pytest.approx({"standard": 1976.5, "known_total": 638.1, "optimal": 633.8}, abs=0.05)


@pytest.mark.parametrize("name", ["oue", "rappor", "olh"])
@pytest.mark.parametrize("n", [2, 9, 300])
def test_known_total_never_loses_and_optimal_is_best_on_average(name, n):
    for w in (workloads.prefix(n), workloads.histogram(n)):
        standard, known, optimal = (
            build(name, n, 1.0, r).variance_profile(w) for r in ("standard", "known_total", "optimal")
        )
        assert known.max() <= standard.max() * (1 + 1e-12)
        assert optimal.mean() <= known.mean() * (1 + 1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["oue", "rappor", "olh"])
@pytest.mark.parametrize("reconstruction", RECONSTRUCTIONS)
def test_both_ways_of_collecting_match_the_exact_covariance(name, reconstruction):
    m, rng = build(name, 6, 1.0, reconstruction), np.random.default_rng(1)
    counts = np.array([40, 0, 25, 5, 60, 15])
    values = np.repeat(np.arange(6), counts)
    C = m.covariance(counts)
    for draw in (lambda: m.simulate(counts, rng), lambda: m.aggregate(m.privatize(values, rng))):
        found = np.array([m.estimate(draw()).counts() for _ in range(TRIALS)])
        errors = np.sqrt(np.diag(C) / TRIALS)
        np.testing.assert_array_less(np.abs(found.mean(axis=0) - counts), 4.5 * errors)
        # A sample covariance has standard error sqrt((C_ii C_jj + C_ij^2)/trials).
        spread = np.sqrt((np.outer(np.diag(C), np.diag(C)) + C**2) / TRIALS)
        np.testing.assert_array_less(np.abs(np.cov(found.T) - C), 5 * spread)


def test_reports_merge_and_estimates_add():
    for reconstruction in RECONSTRUCTIONS:
        m, rng = build("oue", 5, 1.0, reconstruction), np.random.default_rng(2)
        first, second = (m.simulate(np.full(5, 20), rng) for _ in range(2))
        both = m.estimate(first + second).counts()
        np.testing.assert_allclose(both, m.estimate(first).counts() + m.estimate(second).counts(), atol=1e-8)


@pytest.mark.parametrize("buckets", [2, 3, 4, 6])
def test_three_types_hash_independently_for_any_number_of_buckets(buckets):
    """Exact enumeration of all coefficients and offsets, keys apart: every triple of buckets is equally likely."""
    m = LocalHashing(8, 1.0)
    m.buckets = buckets
    grids = np.meshgrid(*[np.arange(buckets)] * (m.digits + 1), indexing="ij")
    functions = np.stack([grid.ravel() for grid in grids], axis=1)
    hashed = (functions[:, :-1] @ m._digits_of(np.arange(8)).T + functions[:, -1:]) % buckets
    for triple in combinations(range(8), 3):
        joint = hashed[:, triple] @ (buckets ** np.arange(3))
        assert np.all(np.bincount(joint, minlength=buckets**3) == len(functions) // buckets**3)


def test_olh_has_the_buckets_of_the_paper():
    assert [LocalHashing(8, e).buckets for e in (0.1, 1.0, 2.0, 4.0)] == [2, 4, 8, 56]


def test_keyed_mixing_looks_uniform():
    m, rng = LocalHashing(16, 1.0), np.random.default_rng(3)
    found = m._keyed(rng.integers(2**64, size=(20_000, 1), dtype=np.uint64), np.arange(16))
    tally = np.array([np.bincount(column, minlength=4) for column in found.T])
    expected = 20_000 / 4
    assert ((tally - expected) ** 2 / expected).sum() < 110  # chi-square, 48 degrees of freedom: 1e-6 quantile is 108


@pytest.mark.parametrize("epsilon", [0.001, 0.3, 1, 2.5, 7, 20])
@pytest.mark.parametrize("name", ["oue", "rappor", "olh"])
def test_audits_never_exceed_epsilon(name, epsilon):
    audit = build(name, 12, epsilon).audit()
    assert 0.99 * epsilon < audit.epsilon <= epsilon


class BitSums(UnaryEncoding):
    """Keeps sums of bits however few there are."""

    pattern_types = 0


@pytest.mark.parametrize("reconstruction", RECONSTRUCTIONS)
@pytest.mark.parametrize("name", ["oue", "rappor"])
def test_patterns_say_all_that_sums_say(name, reconstruction):
    patterns, sums = UnaryEncoding(name, 6, 1.0, reconstruction), BitSums(name, 6, 1.0, reconstruction)
    bits = patterns.privatize(np.repeat(np.arange(6), [90, 0, 400, 3, 50, 1]), np.random.default_rng(1))
    one, other = patterns.aggregate(bits), sums.aggregate(bits)
    assert (one.data.shape, one.data.sum()) == ((64,), 544)
    assert other.data.size < 64
    np.testing.assert_allclose(patterns.estimate(one).counts(), sums.estimate(other).counts(), rtol=1e-12)
    merged = patterns.aggregate(bits[:200]) + patterns.aggregate(bits[200:])
    np.testing.assert_array_equal(merged.data, one.data)


def test_bad_reports_and_parameters_get_a_sentence():
    m, olh = build("oue", 5, 1.0), build("olh", 5, 1.0)
    with pytest.raises(ValueError, match="Unknown reconstruction"):
        build("oue", 5, 1.0, "best")
    with pytest.raises(ValueError, match="must hold 5 bits"):
        m.aggregate(np.full((3, 5), 2))
    with pytest.raises(ValueError, match="uint64"):
        olh.aggregate(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="another mechanism"):
        m.estimate(build("oue", 5, 2.0).simulate(np.ones(5, dtype=int), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="at most 4,096"):
        build("oue", 5000, 1.0, "optimal")


@pytest.mark.parametrize("d", [1, 3, 5])
def test_fourier_variance_has_its_closed_form(d):
    """Characters are orthogonal: with all of them, M^-1 has eigenvalue (n - 1)((E + 1)/(E - 1))^2 off the constant."""
    n, E = 2**d, math.e
    m = fourier.build(n, 1.0)
    inverse = np.linalg.inv(m.information())
    expected = (n - 1) * ((E + 1) / (E - 1)) ** 2
    np.testing.assert_allclose(np.linalg.eigvalsh(inverse), [1] + [expected] * (n - 1), rtol=1e-9)
    assert m.audit().epsilon <= 1


def test_fourier_answers_what_its_characters_span():
    m = fourier.build(16, 1.0, max_weight=2)
    assert m.supports(workloads.k_way_marginals(4, 2)) is None
    assert "same reports" in m.supports(workloads.k_way_marginals(4, 3))
    rng, counts = np.random.default_rng(4), np.arange(16) * 3
    w = workloads.k_way_marginals(4, 2)
    found = np.array([m.estimate(m.simulate(counts, rng)).answers(w) for _ in range(TRIALS)])
    variances = m.query_variances(w, counts)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - w.answers(counts)), 4.5 * np.sqrt(variances / TRIALS))
    np.testing.assert_allclose(found.var(axis=0), variances, rtol=0.15)
    assert counts @ m.variance_profile(w) == pytest.approx(variances.sum())


@pytest.mark.parametrize(
    ("n", "weight", "sentence"), [(12, None, "power of two"), (8, 4, "from 1 to 3"), (2**14, None, "too large")]
)
def test_fourier_says_what_it_cannot_do(n, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        fourier.build(n, 1.0, weight)
