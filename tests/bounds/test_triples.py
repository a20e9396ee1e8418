"""Bounds by three records at a time: sets of all kinds against every form, and all sets of few
letters against the bound."""

from dataclasses import replace
from functools import cache
from math import comb

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.bounds.triples.certificate import components, improved
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.moments import moments
from ldp_core.bounds.triples.relaxation import Relaxation
from ldp_core.bounds.triples.search import joined
from ldp_core.optimize import design
from ldp_core.workloads import walsh_hadamard
from tests.certificates import forged

SMALL = pytest.mark.parametrize("bits", [2, 3, 4])


def records(length):
    """(n, length) all words."""
    return np.stack([one.ravel() for one in np.indices((2,) * length)], axis=1)


def distances(length):
    every = records(length)
    return (every[:, None] != every).sum(axis=2)


@cache
def kinds_of_triples(length):
    """(n, n, n) which of ``Moments.triples`` that of the records x, y, z is; -1 where two of them are the same."""
    known, apart = moments(length), distances(length)
    sides = np.sort(np.stack(np.broadcast_arrays(apart[:, :, None], apart[:, None], apart)), axis=0)
    numbers = np.full((length + 1,) * 3, -1)
    numbers[tuple(np.transpose(known.triples))] = np.arange(len(known.triples))
    kinds = numbers[tuple(sides)]
    assert ((kinds >= 0) == (sides[0] > 0)).all()
    return kinds


def moments_of(f, length):
    """The means over all pairs and triples, one by one."""
    apart, kinds = distances(length), kinds_of_triples(length)
    pairs, own = np.outer(f, f), kinds >= 0
    triples = np.bincount(kinds[own], (pairs[:, :, None] * f)[own]) / np.bincount(kinds[own])
    return np.concatenate([[1], [pairs[apart == r].mean() for r in range(length + 1)], triples])


def fourier_weights_of(sets, length):
    """(k, length + 1) W^l of 0/1 rows (k, 2^length)."""
    squares, level = (
        (walsh_hadamard(np.asarray(sets, dtype=float)) / 2**length) ** 2,
        np.bitwise_count(np.arange(2**length)),
    )
    return np.stack([squares[:, level == k].sum(axis=1) for k in range(length + 1)], axis=1)


def some_sets(length):
    rng, n = np.random.default_rng(length), 2**length
    return [np.zeros(n), np.ones(n), *(1.0 * (rng.random(n) < p) for p in (0.1, 0.3, 0.5, 0.8))]


@SMALL
def test_sets_obey_all_that_is_said_of_them(bits):
    known = moments(bits)
    for f in some_sets(bits):
        m, a = moments_of(f, bits), f.mean()
        assert known.fourier_weights @ m == pytest.approx(fourier_weights_of(f[None], bits)[0])
        assert (known.signs @ m >= -1e-12).all()
        own, times = known.sized
        assert (own @ m >= -1e-12).all()
        assert times @ m == pytest.approx(a * (own @ m))
        assert known.between(np.array([0.25]), np.array([0.75]))[0] @ m == pytest.approx(
            (a - 0.25) * (0.75 - a) * np.array([a, 1 - a])
        )
        ends = np.array([0.25]), np.array([0.75])
        assert (np.abs(known.between(*ends)) <= known.between(*ends, 1)).all()


@SMALL
def test_blocks_have_the_eigenvalues_of_the_matrices_of_all_types(bits):
    """Those of block k as often as there are harmonic functions of degree k: C(d, k) - C(d, k - 1)."""
    known, every, apart = moments(bits), records(bits), distances(bits)
    x, y = every[:, None], every[None]
    i, j, t = (one.sum(axis=2) + 0 * apart for one in (x > 0, y > 0, (x > 0) & (y > 0)))
    place = np.vectorize(lambda *key: known.triple(*map(int, key)))(i, j, t)
    many = [comb(bits, k) - (comb(bits, k - 1) if k else 0) for k in range(bits // 2 + 1)]
    for f in some_sets(bits):
        m = moments_of(f, bits)
        inside, pairs = m[place], m[1 + apart]
        without = pairs - inside
        without[0], without[:, 0] = m[1] - m[1 + i[:, 0]], m[1] - m[1 + i[:, 0]]
        without[0, 0] = 1 - m[1]
        half = len(known.blocks) // 2
        for matrix, blocks in ((inside, known.blocks[:half]), (without, known.blocks[half:])):
            found = []
            for times, block in zip(many, blocks, strict=True):
                A = np.zeros((block.size, block.size))
                np.add.at(A, (block.rows, block.columns), block.entries * m[block.moments])
                A = (A + np.triu(A, 1).T) / np.outer(block.norms, block.norms)
                found += times * list(np.linalg.eigvalsh(A))
            assert np.sort(found) == pytest.approx(np.linalg.eigvalsh(matrix), abs=1e-9)
            assert min(found) > -1e-9


def proved(bits, weights, epsilon, sizes):
    """The ratio that a relaxation proves for each interval of sizes."""
    found = [Relaxation(bits, epsilon).solve(weights, interval) for interval in sizes]
    return np.array([joined(weights, [one]).proved(np.expm1(epsilon))[0] for one in found])


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_all_sets_of_four_bits_are_below_the_bound(epsilon):
    codes = np.arange(2**16)
    sets = ((codes[:, None] >> np.arange(16)) & 1)[:, :]
    levels = np.bitwise_count(np.arange(16))
    squares = (walsh_hadamard(sets) / 16) ** 2
    W = np.stack([squares[:, levels == k].sum(axis=1) for k in range(1, 5)], axis=1)
    D, size = np.expm1(epsilon), sets.sum(axis=1)
    for weights in np.random.default_rng(0).random((4, 4)):
        ratio = W @ weights * (D / (1 + D * size / 16)) ** 2
        exact = np.array([ratio[size == one].max() for one in range(1, 9)])
        bound = proved(4, weights, epsilon, [(one, one) for one in range(1, 9)])
        assert (exact <= bound).all()
        assert (bound <= 1.08 * exact).all()
        assert np.median(bound / exact) < 1.03
        several = proved(4, weights, epsilon, [(1, 2), (3, 8)])
        assert several[0] >= exact[:2].max()
        assert several[1] >= exact[2:].max()


@cache
def every(kind, bits, degree, epsilon):
    maker = workloads.parity if kind == "parity" else workloads.k_way_marginals
    return list(improved(symmetric_certificate(maker(bits, degree), epsilon)))


def proof(kind, bits, degree, epsilon):
    return every(kind, bits, degree, epsilon)[-1]


@pytest.mark.parametrize(
    ("kind", "bits", "degree", "epsilon", "gain", "gap"),
    [
        ("parity", 6, 3, 3.0, 1.01, 0.002),
        pytest.param("marginals", 6, 2, 3.0, 1.03, 0.002, marks=pytest.mark.slow),
        pytest.param("parity", 7, 2, 3.0, 1.1, 0.02, marks=pytest.mark.slow),
        pytest.param("marginals", 8, 3, 4.0, 1.01, 0.01, marks=pytest.mark.slow),
    ],
)
def test_it_proves_more_than_pairs_of_types_do(kind, bits, degree, epsilon, gain, gap):
    """A proof holds, proves ``gain`` more than pairs of types do, and is within ``gap`` of an
    attainable value."""
    found = proof(kind, bits, degree, epsilon)
    assert found.verify()
    assert found.value > gain * symmetric_certificate(found.workload, epsilon).value
    assert 0 < found.variance == (found.value - found.workload.trace) / found.workload.n
    best = design(found.workload, found.epsilon, time_limit=None, max_rounds=20)
    assert 0 <= best.objective / found.value - 1 < gap


def matrix_of(workload, by_class):
    """(n, n) the matrix with these eigenvalues by weight of the characters."""
    scheme = workload.symmetry_group.scheme
    entries = scheme.eigenvalues @ by_class / scheme.n
    types = np.arange(scheme.n)
    return entries[np.bitwise_count(types[:, None] ^ types)]


@pytest.mark.parametrize(("bits", "degree", "epsilon"), [(6, 3, 3.0), pytest.param(6, 2, 3.0, marks=pytest.mark.slow)])
def test_no_row_breaks_the_condition_of_the_proof(bits, degree, epsilon):
    found = proof("parity", bits, degree, epsilon)
    duals, workload, n = Duals.from_numbers(found.numbers), found.workload, found.workload.n
    gamma, _ = workload.symmetry_group.scheme.spectrum(workload.gram_column)
    C, ratio = np.zeros(bits + 1), duals.ratio(epsilon)
    C[1 : degree + 1] = np.sqrt(duals.weights[:degree] / gamma[1 : degree + 1])
    # The share of the ones that is best.
    gram = workload.gram_dense()
    C[0] = ratio / np.trace(matrix_of(workload, C) @ gram)
    dense = matrix_of(workload, C)
    X, total = dense @ gram @ dense, C[0] ** 2 * gamma[0] + ratio
    assert np.trace(dense @ gram) ** 2 / total == pytest.approx(found.proven(), rel=1e-9)
    strategy = design(workload, epsilon, time_limit=None, max_rounds=10).strategy
    rows = np.vstack(
        [1 + np.expm1(epsilon) * np.array(some_sets(bits)), strategy / strategy.min(axis=1, keepdims=True)]
    )
    assert (np.einsum("ki,ij,kj->k", rows, X, rows) <= rows.sum(axis=1) ** 2 * total / n * (1 + 1e-9)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bits", "degree", "epsilon", "gap"),
    [(9, 3, 4.0, 0.02), (9, 2, 3.0, 0.04), (8, 2, 3.0, 0.03), (8, 2, 2.0, 0.05)],
)
def test_parities_of_eight_and_nine_bits_are_nearly_tight(bits, degree, epsilon, gap):
    workload = workloads.parity(bits, degree)
    found = bounds.certificate(workload, epsilon, time_limit=None)
    assert found.verify()
    assert 0 <= design(workload, epsilon, time_limit=None, max_rounds=60).objective / found.value - 1 < gap


def test_forged_certificates_are_refused():
    found = proof("parity", 6, 3, 3.0)
    assert found.verify()
    assert not replace(found, value=np.nextafter(found.proven(), np.inf)).verify()
    for change in (
        {"epsilon": 3.1},
        {"workload": workloads.parity(6, 2)},
        {"workload": workloads.parity(7, 3)},
        {"workload": workloads.all_marginals(6)},
        {"workload": workloads.prefix(64)},
    ):
        assert not replace(found, **change).verify()
    duals = Duals.from_numbers(found.numbers)
    changes = [{name: -getattr(duals, name) - 1e-9} for name in ("weights", "signs", "sizing")]
    changes += [
        {"values": 0.999 * duals.values},
        {"factors": 0.9 * duals.factors},
        {"factors": 0 * duals.factors},
        {"sizes": duals.sizes + 0.5},
        {"sizes": np.stack([np.zeros(len(duals.sizes)), duals.sizes[:, 1]], axis=1)},
        {"sizes": duals.sizes[:, ::-1] + [1, 0]},
        {"sizes": np.stack([duals.sizes[:, 0], np.full(len(duals.sizes), 2.0**40)], axis=1)},
        {"weights": np.roll(duals.weights, 1)},
        {"weights": np.zeros(6)},
        {"weights": np.zeros(0)},
    ]
    for change in changes:
        named = {f"triples_{name}": array for name, array in change.items()}
        assert not forged(found, **named).verify(), change.keys()


def test_a_proof_that_leaves_sizes_out_says_less():
    found = proof("parity", 6, 3, 3.0)
    names = [f"triples_{name}" for name in ("sizes", "values", "factors", "signs", "sizing")]
    top = found.numbers["triples_values"].argmax()
    rest = {name: np.delete(found.numbers[name], top, axis=0) for name in names}
    assert forged(found, **rest).proven() < 0.999 * found.value


def test_rounding_is_allowed_for():
    """Multipliers that cancel each other exactly prove less, the larger they are."""
    weights = np.array([1.0, 0.5, 0.5, 0, 0, 0])
    duals = joined(weights, [Relaxation(6, 3.0).solve(weights, (3, 3))])
    proven = [replace(duals, sizing=duals.sizing + size).proved(np.expm1(3.0))[0] for size in (0, 1e4, 1e8)]
    assert proven[0] < proven[1] < proven[2]


def test_other_workloads_have_none():
    for workload in (workloads.histogram(64), workloads.all_marginals(6), workloads.prefix(64)):
        assert components(workload) is None
    assert list(improved(symmetric_certificate(workloads.histogram(64), 2.0))) == []


def test_a_search_that_is_stopped_ends_with_what_was_proved():
    plain = symmetric_certificate(workloads.parity(6, 3), 3.0)
    assert list(improved(plain, stop=lambda: True)) == []
    asked = iter(range(10**6))
    cut_short = [found.value for found in improved(plain, stop=lambda: next(asked) > 60)]
    values = [found.value for found in every("parity", 6, 3, 3.0)]
    assert cut_short == values[: len(cut_short)]
    assert len(cut_short) < len(values)
    assert values == sorted(values)
    assert values[0] > plain.value
