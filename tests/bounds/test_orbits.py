"""Permutations that leave questions as they are: all of them are found, and a search over their orbits proves what it says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from ldp_core import bounds, workloads
from ldp_core.bounds.general import dual
from ldp_core.bounds.general.certificate import of
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.orbits import PERMUTATIONS, Averaged, Orbits, automorphisms
from ldp_core.data.domain import RangeAttribute
from ldp_core.optimize import design, exact
from tests.certificates import matrix
from tests.exact import all_sets


def moments(size, columns="xy"):
    made = [RangeAttribute(name=name, low=1, high=size, bins=size, integer=True) for name in columns]
    return workloads.over_attributes([workloads.MomentsPart(attributes=tuple(columns))], made)


def even(workload):
    return np.full(workload.n, 1 / workload.n)


def centred_gram(workload):
    root = workload.gram_root - (workload.gram_root @ even(workload))[:, None]
    return root.T @ root


def in_orbits(workload):
    return Orbits.of(automorphisms(centred_gram(workload), even(workload)))


@given(
    n=st.integers(2, 6),
    values=st.lists(st.integers(0, 1), min_size=21, max_size=21),
    shares=st.lists(st.integers(1, 2), min_size=6, max_size=6),
)
def test_permutations_are_all_those_that_change_nothing(n, values, shares):
    gram, p = np.zeros((n, n)), np.array(shares[:n]) / sum(shares[:n])
    gram[np.tril_indices(n)] = values[: n * (n + 1) // 2]
    gram = np.maximum(gram, gram.T)
    found = {tuple(image) for image in automorphisms(gram, p).tolist()}
    every = [list(g) for g in itertools.permutations(range(n))]
    same = {tuple(g) for g in every if np.array_equal(gram[np.ix_(g, g)], gram) and np.array_equal(p[g], p)}
    assert found in (same, {tuple(range(n))})
    if n <= 4:  # after three types the fourth is the one that is left
        assert found == same


@pytest.mark.parametrize(
    ("workload", "many"),
    [
        (moments(4), 8),
        (moments(3, "xyz"), 48),
        (workloads.prefix(9), 2),
        (workloads.product([workloads.prefix(4), workloads.prefix(4)]), 2),
        (workloads.custom(np.random.default_rng(0).standard_normal((3, 20))), 1),
        (workloads.histogram(30), 1),  # far too many to write out
    ],
)
def test_how_many_permutations_there_are(workload, many):
    images = automorphisms(centred_gram(workload), even(workload))
    assert len(images) == many <= PERMUTATIONS
    for image in images:
        assert centred_gram(workload)[np.ix_(image, image)] == pytest.approx(centred_gram(workload), abs=1e-9)


def test_averaged_cuts_are_the_mean_of_all_their_images():
    rng, orbits, D = np.random.default_rng(1), in_orbits(moments(3)), 1.7
    cuts = Cuts(
        np.array([[0, 1, 5], [2, 4, 8], [3, 7, 6]]),
        np.array([[1, 1, -1], [1, -1, 0], [1, 1, 1]]),
        np.array([0, -1, 1]),
        9,
    )
    y = D * all_sets(9)[rng.integers(0, 512, 5)]
    y = np.concatenate(
        [y[:, image] for image in orbits.images]
    )  # the moments of a measure that permutations leave as it is
    first, second = y.mean(axis=0), y.T @ y / len(y)
    second[np.diag_indices(9)] = 0.0
    averaged, images, weights = (
        Averaged(cuts.types, cuts.signs, cuts.floors, 9, orbits),
        orbits.all_of(cuts),
        rng.random(3),
    )
    assert averaged.values(second, first, 1.0, D) == pytest.approx(cuts.values(second, first, 1.0, D))
    each = np.tile(weights / orbits.order, orbits.order)
    for mean, whole in zip(averaged.adjoint(weights, D), images.adjoint(each, D), strict=True):
        assert mean == pytest.approx(whole)
    first_of_each = orbits.different(images)
    assert first_of_each.sum() == 3
    assert first_of_each[:3].all()


def test_slopes_by_orbits_are_those_of_the_value():
    workload, rng = moments(3), np.random.default_rng(2)
    root = workload.gram_root - (workload.gram_root @ even(workload))[:, None]
    search = dual.Dual(root, even(workload), np.e, orbits=in_orbits(workload))
    search.allow(Cuts(np.array([[0, 1, 5], [2, 4, 8]]), np.array([[1, -1, -1], [1, 1, 1]]), np.array([-1, 1]), 9))
    x = search.start + 0.03 * rng.random(len(search.start))
    at = search.at(x, 0.01)
    assert at is not None
    assert at.slopes == pytest.approx(approx_fprime(x, lambda x: search.at(x, 0.01).value, 1e-7), rel=1e-4, abs=1e-6)
    written = of(search.of_types(x, even(workload)), workload, 1.0, even(workload))
    assert written.verify()
    centre = float(even(workload) @ workload.gram_dense() @ even(workload))
    assert written.proven() == pytest.approx(9 * (centre + np.exp(search.value(x))), rel=1e-6)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_the_proof_over_orbits_holds_for_all_rows_and_is_next_to_the_optimum(epsilon):
    workload = moments(3)
    certificate, best = bounds.certificate(workload, epsilon, time_limit=None), exact(workload, epsilon).objective
    assert certificate.verify()
    assert 0.985 * best < certificate.value <= best * (1 + 1e-9)
    rows, C = 1 + np.expm1(epsilon) * all_sets(9), matrix(certificate, "inverse")
    left = np.einsum("ki,ij,kj->k", rows, C @ workload.gram_dense() @ C, rows)
    assert (left <= rows.sum(axis=1) * (rows @ certificate.numbers["multipliers"]) * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    "made", [lambda: moments(3), lambda: workloads.product([workloads.prefix(3), workloads.prefix(3)])]
)
def test_orbits_prove_no_less_than_types_one_by_one(made, monkeypatch):
    workload = made()
    over_orbits = bounds.certificate(workload, 2.0, time_limit=None).value
    monkeypatch.setattr(dual, "automorphisms", lambda gram, shares: np.arange(len(gram))[None])
    assert over_orbits >= bounds.certificate(workload, 2.0, time_limit=None).value * (1 - 1e-3)


def test_moments_of_ten_by_ten_values_are_designed_within_two_percent_of_their_proof():
    workload = moments(10)
    made = design(workload, 1.0, time_limit=None, max_rounds=200)
    proof = bounds.certificate(workload, 1.0, time_limit=None)
    assert proof.verify()
    assert 1 < (made.objective - workload.trace) / (proof.value - workload.trace) < 1.02
