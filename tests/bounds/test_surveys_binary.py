"""Pairs of yes-or-no columns: energies of sets of bits against what is said to be their largest."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds.surveys import binary
from ldp_core.bounds.surveys.best import survey_certificate
from ldp_core.run import Budget


def energies(sets, bits):
    """W^1 and W^2 of 0/1 vectors (k, 2^bits)."""
    spectrum = np.array(sets, dtype=float).reshape(-1, *[2] * bits)
    for axis in range(1, bits + 1):
        zero, one = np.take(spectrum, 0, axis), np.take(spectrum, 1, axis)
        spectrum = np.stack([(zero + one) / 2, (zero - one) / 2], axis=axis)
    squares, level = spectrum.reshape(len(spectrum), -1) ** 2, np.bitwise_count(np.arange(2**bits))
    return squares[:, level == 1].sum(axis=1), squares[:, level == 2].sum(axis=1)


def some_sets(bits, rng, number=400):
    """Random sets, thresholds of forms of degree one and two, subcubes and their unions."""
    records = np.arange(2**bits)[:, None] >> np.arange(bits) & 1
    signs = 1 - 2 * records
    found = [rng.random(2**bits) < rng.random() for _ in range(number)]
    for _ in range(number):
        form = signs @ rng.normal(size=bits) * rng.choice([0, 1]) + (
            (signs @ rng.normal(size=(bits, bits))) * signs
        ).sum(axis=1)
        found.append(form > np.quantile(form, rng.random()))
        fixed = rng.choice(bits, (2, rng.integers(1, bits + 1)))
        values = rng.integers(0, 2, fixed.shape)
        cubes = [(records[:, f] == v).all(axis=1) for f, v in zip(fixed, values, strict=True)]
        found += [cubes[0], cubes[0] | cubes[1], cubes[0] ^ cubes[1]]
    return np.array(found)


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_no_set_of_bits_has_more(bits):
    sets = some_sets(bits, np.random.default_rng(bits))
    single, pairs = energies(sets, bits)
    for angle in (0.0, 0.3, binary._ANGLES[13], math.pi / 4, 1.2, math.pi / 2):
        p, q = binary.weights(angle)
        assert (p * single + q * pairs <= binary.row(bits, float(angle))[sets.sum(axis=1)] + 1e-12).all()


@pytest.mark.slow
def test_the_numbers_for_five_bits_are_the_largest_of_all_sets():
    sets = (np.arange(2**16)[:, None] >> np.arange(16) & 1).astype(float)
    signs = np.array([[(-1) ** (i & j).bit_count() for j in range(16)] for i in range(16)])
    level = np.bitwise_count(np.arange(16))
    spectrum = sets @ signs
    v1, v2, size = spectrum[:, level == 1], spectrum[:, level == 2], sets.sum(axis=1).astype(int)
    moves = [
        np.array([sum(((i >> b & 1) ^ (m >> b & 1)) << p[b] for b in range(4)) for i in range(16)])
        for p in itertools.permutations(range(4))
        for m in range(16)
    ]
    seen, found = np.zeros(2**16, bool), np.full((33, 5), -1.0)
    angles = np.array([binary.weights(angle) for angle in np.linspace(0, math.pi / 2, 5)])
    for code in range(2**16):
        if seen[code]:
            continue
        for move in moves:
            seen[int((1 << move)[code >> np.arange(16) & 1 == 1].sum())] = True
        single = (size - size[code]) ** 2 + ((v1 + v1[code]) ** 2).sum(axis=1)
        pairs = ((v2 + v2[code]) ** 2).sum(axis=1) + ((v1 - v1[code]) ** 2).sum(axis=1)
        for k, (p, q) in enumerate(angles):
            np.maximum.at(found[:, k], size + size[code], p * single + q * pairs)
    for k, (p, q) in enumerate(angles):
        known = np.array([max(p * a + q * b for a, b in points) for points in binary.FIVE])
        assert found[:, k] == pytest.approx(np.concatenate([known, known[-2::-1]]), abs=1e-9)


@pytest.mark.slow
def test_the_numbers_for_six_bits_are_the_largest_of_all_sets():
    """By the value of one bit, a set is made of two of five bits, of a and b records, and 4,096 (W^1 + W^2) is ``(a - b)^2 + 2 (w_1 + w_1') +
    |v_2 + v_2'|^2`` in 32 v, at most ``(a - b)^2 + 2 (w + w')``: pairs for which that exceeds the number are gone through, with all images."""
    bits = range(5)
    pairs = list(itertools.combinations(bits, 2))
    four = (np.arange(2**16)[:, None] >> np.arange(16) & 1).astype(float)
    sign4 = 1 - 2 * (np.arange(16)[:, None] >> np.arange(4) & 1)
    size4, single4 = four.sum(axis=1), four @ sign4
    pair4 = four @ np.stack([sign4[:, i] * sign4[:, j] for i, j in pairs if j < 4], axis=1)
    moves = np.array(
        [
            [sum(((i >> b & 1) ^ (m >> b & 1)) << p[b] for b in range(4)) for i in range(16)]
            for p in itertools.permutations(range(4))
            for m in range(16)
        ]
    )
    seen, codes = np.zeros(2**16, bool), []
    for code in range(2**16):
        if not seen[code]:
            codes.append(code)
            seen[(four[code][moves] @ (1 << np.arange(16))).astype(int)] = True

    def halves(code):
        """Number of records (k,), and 32 v_1 (k, 5) and 32 v_2 (k, 10), of sets whose one half is that of ``code``."""
        single = np.column_stack([single4 + single4[code], size4[code] - size4])
        low = iter((pair4 + pair4[code]).T)
        return (
            (size4 + size4[code]).astype(int),
            single,
            np.stack([next(low) if j < 4 else single4[code, i] - single4[:, i] for i, j in pairs], axis=1),
        )

    known = np.array([max(a + b for a, b in points) for points in binary.FIVE])
    known = np.concatenate([known, known[-2::-1]])
    claimed = np.array(binary.SIX)
    k, a = (part.ravel() for part in np.indices((33, 33)))
    k, a = k[a <= k], a[a <= k]
    need = np.full(33, np.inf)
    np.minimum.at(need, a, (claimed[k] + 1 - (2 * a - k) ** 2) / 2 - known[k - a])

    images = [
        (list(p), np.array(f)) for p in itertools.permutations(bits) for f in itertools.product((1, -1), repeat=5)
    ]
    places = np.array([[pairs.index(tuple(sorted((p[i], p[j])))) for i, j in pairs] for p, _ in images])
    turns = np.array([[f[p[i]] * f[p[j]] for i, j in pairs] for p, f in images])
    key = np.random.default_rng(0).normal(size=15)
    classes = {}
    for code in codes:
        size, single, pair = halves(code)
        energy = (single**2).sum(axis=1) + (pair**2).sum(axis=1)
        for one in np.flatnonzero(energy >= need[size]):
            v1, v2 = single[one], pair[one]
            order = np.argsort(-np.abs(v1), kind="stable")  # an image of it: not negative, and in order
            turn = np.where(v1 < 0, -1, 1)[order]
            v2 = np.array([v2[pairs.index(tuple(sorted((order[i], order[j]))))] * turn[i] * turn[j] for i, j in pairs])
            classes[int(size[one]), np.abs(v1)[order].tobytes(), v2.tobytes()] = (
                float(energy[one]),
                float((v1**2).sum()),
                v2,
            )
    by_size = [[] for _ in range(33)]
    met = set()
    for (size, _, _), (energy, single, v2) in sorted(classes.items(), key=lambda item: -item[1][0]):
        mark = (size, energy, single, round(float(np.sort((v2[places] * turns) @ key[:10])[-1]), 6))
        if mark not in met:  # sets whose v_2 are images of each other count once
            met.add(mark)
            by_size[size].append((energy, single, v2))
    assert sum(map(len, by_size)) > 100
    found = np.zeros(33)
    for first in range(33):
        for second in range(min(first, 32 - first) + 1):
            for energy, single, v2 in by_size[first]:
                for other, other_single, other_v2 in by_size[second]:
                    apart = (first - second) ** 2
                    if apart + 2 * (energy + other) <= claimed[first + second]:
                        break
                    most = (((v2 + other_v2[places] * turns) ** 2).sum(axis=1)).max()
                    found[first + second] = max(found[first + second], apart + 2 * (single + other_single) + most)
    assert (found <= claimed).all()


@pytest.mark.parametrize(
    ("columns", "epsilon", "most"),
    [
        (6, 1.0, 0.0001),
        pytest.param(6, 2.0, 0.005, marks=pytest.mark.slow),
        pytest.param(6, 3.0, 0.01, marks=pytest.mark.slow),
        (5, 3.0, 0.0001),
    ],
)
def test_pairs_of_columns(columns, epsilon, most):
    survey = workloads.survey((2,) * columns, 2)
    proof = bounds.certificate(survey, epsilon, time_limit=None)
    assert isinstance(proof, bounds.BinaryCertificate)
    assert proof.verify()
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=25, seed=0)
    assert 0 <= design.objective / proof.value - 1 < most


def test_forged_certificates_are_refused():
    survey = workloads.survey((2,) * 6, 2)
    *_, proof = binary.best(survey, 2.0)
    assert proof.verify()
    assert proof.variance > 0
    assert not replace(proof, value=np.nextafter(proof.proven(), np.inf)).verify()
    assert not replace(proof, epsilon=2.1).verify()
    assert not replace(proof, workload=workloads.survey((2,) * 6, 2, weights=[0.9] * 15)).verify()
    assert not replace(proof, workload=workloads.survey((2,) * 6, 3)).verify()
    assert not replace(proof, workload=workloads.survey((2, 2, 2, 2, 2, 3), 2)).verify()
    for angle in (-0.1, 1.6, math.nan, 0.0):
        assert not replace(proof, angle=angle).verify()


@pytest.mark.slow
def test_pairs_of_ten_columns():
    survey = workloads.survey((2,) * 10, 2)
    proof = bounds.certificate(survey, 2.0, time_limit=None)
    design = optimize.design(survey, epsilon=2.0, time_limit=None, max_rounds=40, seed=0)
    assert proof.verify()
    assert 0 <= design.objective / proof.value - 1 < 0.05


def test_the_few_bounds_of_a_step_lose_next_to_nothing_against_all():
    p, q = binary.weights(0.7)
    known = np.stack([binary.row(6, float(angle)) for angle in binary._ANGLES])
    every = binary._bounds(known, p, q, 0.2, 7)
    a, b = (part.ravel() for part in np.indices((65, 65)))
    least = every.at(np.arange(len(every.joint)), np.maximum(a, b), np.minimum(a, b)).min(axis=0)
    wanted = [least[a + b == total].max() for total in range(65)]
    found = binary._largest(every, lambda: None)
    assert (found >= np.array(wanted) - 1e-15).all()
    assert found == pytest.approx(wanted, rel=0.01)


def test_proofs_for_bits_come_before_inequalities_that_prove_less():
    survey, told = workloads.survey((2,) * 5, 2), []
    proof = survey_certificate(survey, 2.0, Budget(None, callback=told.append), bounds.certificate)
    values = np.array([progress.bound for progress in told])
    assert (np.diff(values) >= -1e-9 * values[0]).all()
    first = next(progress for progress in told if progress.relaxation is not None)  # of the inequalities
    assert first.bound == proof.value > 1.05 * values[0]
