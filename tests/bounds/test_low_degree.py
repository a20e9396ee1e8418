"""Functions of low degree over yes-or-no attributes: rows of all kinds against the condition of the proof, and strategies against its value."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds.symmetric import energies, low_degree
from ldp_core.bounds.symmetric.certificate import symmetric_certificate
from ldp_core.optimize import design, design_orbits
from ldp_core.workloads import walsh_hadamard
from tests.bounds.test_surveys_binary import some_sets


@cache
def every(kind, bits, degree, epsilon):
    """What pairs of types prove, and all that is found from there."""
    maker = workloads.parity if kind == "parity" else workloads.k_way_marginals
    plain = symmetric_certificate(maker(bits, degree), epsilon)
    return [plain, *low_degree.improved(plain)]


def proof(kind, bits, degree, epsilon):
    return max(every(kind, bits, degree, epsilon), key=lambda found: found.value)


def matrix_of(workload, by_class):
    """(n, n) the matrix with these eigenvalues by weight of the characters."""
    scheme = workload.symmetry_group.scheme
    entries = scheme.eigenvalues @ by_class / scheme.n
    types = np.arange(scheme.n)
    return entries[np.bitwise_count(types[:, None] ^ types)]


def energies_of(sets):
    """(k, d + 1) W^l of 0/1 rows (k, 2^d)."""
    n = sets.shape[1]
    level = np.bitwise_count(np.arange(n))
    return np.array([np.bincount(level, (walsh_hadamard(row) / n) ** 2) for row in sets])


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_no_set_of_bits_has_more(bits):
    sets = some_sets(bits, np.random.default_rng(bits), 200)
    most = energies.rows(bits)[:, sets.sum(axis=1)]
    assert (energies.directions() @ energies_of(sets)[:, 1:4].T <= most + 1e-12).all()
    between = np.array([0.37, 0.41, 0.22])
    assert (energies_of(sets)[:, 1:4] @ between <= energies.row(bits, between)[sets.sum(axis=1)] + 1e-12).all()


def test_energies_of_five_bits_by_sets_of_few_records():
    """Pairs of records, and the halves by one bit: brute force and closed forms against the list of all sets."""
    points = {size: energies.five()[energies.five()[:, 0] == size, 1:] for size in (1, 2, 16)}
    assert points[1].tolist() == [[5, 10, 10]]
    types = np.arange(32)
    pairs = energies_of(np.array([(types == 0) | (types == other) for other in range(1, 32)], dtype=float))
    assert set(map(tuple, np.rint(1024 * pairs[:, 1:4]).astype(int))) == set(map(tuple, points[2].tolist()))
    assert [256, 0, 0] in points[16].tolist()


@pytest.mark.parametrize(
    ("kind", "bits", "degree", "epsilon"),
    [
        ("parity", 6, 2, 3.0),
        pytest.param("parity", 7, 2, 4.0, marks=pytest.mark.slow),
        pytest.param("marginals", 6, 2, 3.0, marks=pytest.mark.slow),
        pytest.param("marginals", 8, 3, 4.0, marks=pytest.mark.slow),
    ],
)
def test_no_row_breaks_the_condition_of_the_proof(kind, bits, degree, epsilon):
    found = proof(kind, bits, degree, epsilon)
    assert isinstance(found, bounds.LowDegreeCertificate)
    trace, total = found._trace_and_total()
    workload, n = found.workload, found.workload.n
    gamma, _ = workload.symmetry_group.scheme.spectrum(workload.gram_column)
    C = np.zeros(bits + 1)
    C[1 : degree + 1] = np.sqrt(found.weights[:degree] / gamma[1 : degree + 1])
    dense, gram = matrix_of(workload, C), workload.gram_dense()
    # The share of the ones in both numbers follows from the best scaling.
    root = np.trace(dense @ gram)
    ones = (trace - root) / gamma[0]
    dense = dense + ones / n
    X = dense @ gram @ dense
    assert np.trace(dense @ gram) == pytest.approx(trace, rel=1e-9)
    high = np.vstack(
        [some_sets(bits, np.random.default_rng(bits), 60), design_orbits(workload, epsilon, None, 10).high]
    )
    rows = 1 + np.expm1(epsilon) * high
    assert (np.einsum("ki,ij,kj->k", rows, X, rows) <= rows.sum(axis=1) ** 2 * total / n * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("kind", "bits", "degree", "epsilon", "gain", "gap"),
    [
        ("parity", 6, 2, 3.0, 1.07, 0.002),
        pytest.param("parity", 7, 2, 4.0, 1.04, 0.033, marks=pytest.mark.slow),
        pytest.param("marginals", 7, 2, 3.0, 1.05, 0.022, marks=pytest.mark.slow),
        pytest.param("marginals", 6, 2, 3.0, 1.03, 0.011, marks=pytest.mark.slow),
        pytest.param("marginals", 8, 3, 4.0, 1.01, 0.011, marks=pytest.mark.slow),
    ],
)
def test_it_proves_more_than_pairs_of_types_do(kind, bits, degree, epsilon, gain, gap):
    check_gain(proof(kind, bits, degree, epsilon), gain, gap)


def check_gain(found, gain, gap):
    """A proof holds, proves so much more than pairs of types do, and is so near to what can be reached."""
    assert found.verify()
    assert found.value > gain * found.plain.value
    assert 0 < found.variance == (found.value - found.workload.trace) / found.workload.n
    best = design_orbits(found.workload, found.epsilon, time_limit=None, max_rounds=20)
    assert 0 <= best.objective / found.value - 1 < gap


@pytest.mark.parametrize("epsilon", [2.0, pytest.param(3.0, marks=pytest.mark.slow), 4.0])
def test_five_bits_are_solved(epsilon):
    """The largest energies of sets of five bits are known exactly, and so is the optimum."""
    found = design(workloads.parity(5, 2), epsilon, time_limit=None, max_rounds=20)
    assert 0 <= found.objective / proof("parity", 5, 2, epsilon).value - 1 < 0.001


def test_forged_certificates_are_refused():
    found = proof("parity", 6, 2, 3.0)
    assert found.verify()
    assert not replace(found, value=np.nextafter(found.proven(), np.inf)).verify()
    bad = found.plain.cuts[0]
    for change in (
        {"epsilon": 3.1},
        {"workload": workloads.parity(6, 3)},
        {"workload": workloads.all_marginals(6)},
        {"workload": workloads.parity(4, 2)},
        {"workload": workloads.prefix(64)},
        {"weights": -found.weights},
        {"weights": found.weights[:-1]},
        {"weights": found.weights * np.nan},
        {"weights": np.roll(found.weights, 1)},
        {"pairs": -found.pairs - 1e-9},
        {"row_multipliers": 0.5 * found.row_multipliers},
        {"row_multipliers": found.row_multipliers[:, 1:]},
        {"cut_multipliers": found.cut_multipliers[:, 1:]},
        {"plain": replace(found.plain, cuts=(replace(bad, floor=bad.floor + 0.5), *found.plain.cuts[1:]))},
    ):
        assert not replace(found, **change).verify()


def test_other_workloads_have_none():
    for workload in (workloads.histogram(64), workloads.all_marginals(6), workloads.parity(4, 2)):
        assert not low_degree.fits(workload)
        assert list(low_degree.improved(symmetric_certificate(workload, 2.0))) == []


def test_a_search_that_is_stopped_ends_with_what_was_proved():
    plain, *found = every("parity", 6, 2, 3.0)
    assert list(low_degree.improved(plain, stop=lambda: True)) == []
    values = [one.value for one in found]
    assert values == sorted(values)
    assert values[0] > plain.value
