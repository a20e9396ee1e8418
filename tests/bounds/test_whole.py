"""Whole-number cuts: never false for any row, found by lattice search, and they close the gap of workloads of low degree."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds.general.whole import SHALLOW, Cut, Profile, averaged, shapes
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.workloads.symmetry import Scheme
from tests.exact import all_sets


def images(vector):
    """(2^d d!, n) all translations and permutations of the attributes of a vector over types."""
    n = len(vector)
    d = n.bit_length() - 1
    types = np.arange(n)
    orders = itertools.permutations(range(d))
    maps = [sum(((types >> i) & 1) << place for i, place in enumerate(order)) ^ z for order in orders for z in types]
    return np.asarray(vector)[np.array(maps)]


def by_type(cut, d):
    """(2^d,) c written out."""
    types, index, start = np.arange(2**d), [], 0
    for length in cut.weights.shape:
        index.append(np.bitwise_count((types >> start) & ((1 << (length - 1)) - 1)))
        start += length - 1
    return cut.weights[tuple(index)]


@settings(max_examples=40)
@given(st.integers(1, 3), st.data(), st.integers(-4, 4))
def test_averages_over_the_group_by_brute_force(d, data, floor):
    scheme = Scheme(2**d, binary=True)
    shape = data.draw(st.sampled_from(shapes(scheme)))
    entries = st.integers(-3, 3)
    size = int(np.prod(shape))
    weights = np.array(data.draw(st.lists(entries, min_size=size, max_size=size)), dtype=float)
    cut = Cut(weights.reshape(shape), float(floor))
    high, D = all_sets(2**d), 1.7
    products = high @ images(by_type(cut, d)).T
    expected = ((products - floor) * (products - floor - 1)).mean(axis=1)
    assert expected.min() >= 0
    squares, linear, constant = averaged([cut], scheme, D)
    types = np.arange(2**d)
    matrix = (scheme.eigenvalues @ squares[0] / 2**d)[np.bitwise_count(types[:, None] ^ types)]
    value = D**2 * np.einsum("ki,ij,kj->k", high, matrix, high) + D * linear[0] * high.sum(axis=1) + constant[0]
    assert value == pytest.approx(D**2 * expected, abs=1e-9 * (1 + np.abs(value).max()))


def test_the_cut_of_low_degree_functions():
    """c = sum over |T| <= g of 2^(g - |T|) Moebius coefficients: Fourier weight 4^g C(j-1, g)^2 at weight j > g, none at 1 .. g."""
    d, g = 6, 2
    scheme = Scheme(2**d, binary=True)
    cut = Cut(np.array([7.0, -3.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 1.0)
    assert cut.fourier_weights(scheme) == pytest.approx([4**g, 0, 0, 4**g * 1, 4**g * 9, 4**g * 36, 4**g * 100])
    assert cut.total(scheme) == 2**g


def test_violated_cuts_are_true_and_violated():
    # Moments that a function of degree 2 and mean 3/8 would have, if there were one.
    d, mean = 5, 0.375
    scheme = Scheme(2**d, binary=True)
    rest = mean - mean**2
    fourier_weights = np.array([mean**2, 0.4 * rest, 0.6 * rest, 0, 0, 0]) + 1e-9
    profile = Profile(scheme, mean, fourier_weights)
    found = [cut for shape in shapes(scheme) for cut in profile.violated(shape)]
    assert found
    for cut in found:
        square = cut.fourier_weights(scheme) @ fourier_weights
        value = square - (2 * cut.floor + 1) * cut.total(scheme) * mean + cut.floor * (cut.floor + 1)
        assert value < -SHALLOW / 2
    # Those of a real function violate none: two attributes both set, whatever the others are.
    real = np.zeros(d + 1)
    real[:3] = np.array([1, 2, 1]) / 16
    assert not any(Profile(scheme, 0.25, real).violated(shape) for shape in shapes(scheme))


def exact_optimum(workload, epsilon):
    """Over all 2^16 rows of four attributes: their Fourier weights by weight are few, and L is convex in their mixture."""
    scheme = Scheme(workload.n, binary=True)
    gamma, _ = scheme.spectrum(workload.gram_column)
    D, n = np.expm1(epsilon), workload.n
    high = all_sets(n)
    characters = 1 - 2 * (np.bitwise_count(np.arange(n)[:, None] & np.arange(n)) & 1).astype(float)
    spectra = (high @ characters) ** 2
    weights = np.bitwise_count(np.arange(n))
    fourier_weights = np.stack([spectra[:, weights == j].sum(axis=1) for j in range(scheme.classes)], axis=1)
    profiles = np.unique(np.column_stack([high.sum(axis=1), fourier_weights]), axis=0)
    m = D**2 * profiles[:, 2:] / (n + D * profiles[:, :1]) ** 2 / scheme.multiplicities[1:]
    asked = gamma[1:] > 0
    shares = cp.Variable(len(m), nonneg=True)
    worth, scale = (scheme.multiplicities * gamma)[1:][asked], m[:, asked].max(axis=0)
    objective = cp.sum(cp.multiply(worth / scale, cp.inv_pos((m[:, asked] / scale).T @ shares)))
    return gamma[0] + float(cp.Problem(cp.Minimize(objective), [cp.sum(shares) == 1]).solve(solver="CLARABEL"))


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.5, 2.0, 3.0])
@pytest.mark.parametrize(
    "workload", [workloads.parity(4, 2), workloads.k_way_marginals(4, 2), workloads.k_way_marginals(4, 3)], ids=repr
)
def test_the_bound_meets_the_exact_optimum_of_low_degree(workload, epsilon):
    # Without the cuts it was up to 9 % below.
    best = exact_optimum(workload, epsilon)
    certificate = symmetric_certificate(workload, epsilon)
    assert certificate.verify()
    assert 0.995 * best < certificate.value < best * (1 + 1e-6)


def test_cuts_improve_the_bound_as_long_as_there_is_time():
    workload = workloads.k_way_marginals(6, 2)
    at_once, full = symmetric_certificate(workload, 2.0, stop=lambda: True), symmetric_certificate(workload, 2.0)
    assert at_once.verify()
    assert len(at_once.numbers["floors"]) < len(full.numbers["floors"])
    assert bounds.centred_svd(workload, 2.0) < at_once.value < 0.9 * full.value


# --- lattices -------------------------------------------------------------------------------------------------------
