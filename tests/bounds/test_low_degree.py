"""Functions of low degree over yes-or-no attributes: rows of all kinds against the condition of the proof, and strategies against its value."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds.symmetric import low_degree
from ldp_core.bounds.symmetric.certificate import symmetric_certificate
from ldp_core.optimize import design, design_orbits
from tests.bounds.test_surveys_binary import some_sets


def matrix_of(workload, by_class):
    """(n, n) the matrix with these eigenvalues by weight of the characters."""
    scheme = workload.symmetry_group.scheme
    entries = scheme.eigenvalues @ by_class / scheme.n
    types = np.arange(scheme.n)
    return entries[np.bitwise_count(types[:, None] ^ types)]


@pytest.mark.parametrize(("bits", "epsilon"), [(5, 2.0), (6, 3.0), (7, 4.0)])
def test_no_row_breaks_the_condition_of_the_proof(bits, epsilon):
    workload = workloads.parity(bits, 2)
    plain = symmetric_certificate(workload, epsilon)
    for angle in (0.2, math.pi / 4, 1.3):
        found = low_degree.LowDegreeCertificate(workload, epsilon, 0.0, angle, plain)
        trace, total = found._trace_and_total()
        # C as in the docstring, in the n x n world.
        gamma, _ = workload.symmetry_group.scheme.spectrum(workload.gram_column)
        C = np.zeros(bits + 1)
        C[1:3] = np.sqrt(np.array([math.cos(angle), math.sin(angle)]) / gamma[1:3])
        rest = total - low_degree._ratio(workload, epsilon, angle)
        C[0] = math.sqrt(rest / gamma[0])
        dense, gram = matrix_of(workload, C), workload.gram_dense()
        assert np.trace(dense @ gram) == pytest.approx(trace, rel=1e-9)
        X, n = dense @ gram @ dense, workload.n
        rows = 1 + math.expm1(epsilon) * some_sets(bits, np.random.default_rng(bits), 100)
        assert (np.einsum("ki,ij,kj->k", rows, X, rows) <= rows.sum(axis=1) ** 2 * total / n * (1 + 1e-9)).all()


@pytest.mark.parametrize(("bits", "weight", "epsilon"), [(6, 2, 3.0), (7, 2, 4.0)])
def test_it_proves_more_than_pairs_of_types_do(bits, weight, epsilon):
    workload = workloads.parity(bits, weight)
    plain = symmetric_certificate(workload, epsilon)
    proof = bounds.certificate(workload, epsilon, time_limit=None)
    assert isinstance(proof, bounds.LowDegreeCertificate)
    assert proof.verify()
    assert proof.value > 1.02 * plain.value
    assert proof.variance > 0
    assert proof.value <= design_orbits(workload, epsilon, time_limit=None, max_rounds=10).objective


@pytest.mark.parametrize("epsilon", [2.0, 3.0, 4.0])
def test_five_bits_are_solved(epsilon):
    """The largest energies of sets of five bits are known exactly, and so is the optimum."""
    workload = workloads.parity(5, 2)
    proof = bounds.certificate(workload, epsilon, time_limit=None)
    found = design(workload, epsilon, time_limit=None, max_rounds=20)
    assert 0 <= found.objective / proof.value - 1 < 0.002


def test_forged_certificates_are_refused():
    workload = workloads.parity(6, 2)
    proof = bounds.certificate(workload, 3.0)
    assert proof.verify()
    assert not replace(proof, value=np.nextafter(proof.proven(), np.inf)).verify()
    for change in (
        {"epsilon": 3.1},
        {"workload": workloads.parity(6, 3)},
        {"workload": workloads.k_way_marginals(6, 2)},
        {"workload": workloads.parity(4, 2)},
        {"workload": workloads.histogram(64)},
        {"workload": workloads.prefix(64)},
        {"angle": -0.1},
        {"angle": 1.6},
        {"angle": math.nan},
        {"angle": 0.0},
    ):
        assert not replace(proof, **change).verify()


def test_other_workloads_have_none():
    for workload in (workloads.histogram(64), workloads.all_marginals(6), workloads.parity(4, 2)):
        assert not low_degree.fits(workload)
        assert list(low_degree.improved(symmetric_certificate(workload, 2.0))) == []
