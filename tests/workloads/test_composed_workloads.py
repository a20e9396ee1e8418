"""Marginals, parities, unions, products, custom matrices: every structured shortcut against the explicit matrix."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.workloads.subsets import Subsets
from tests.refused import refused

SHAPES = st.lists(st.integers(2, 3), min_size=1, max_size=4)


def marginal_rows(shape, subsets):
    """Indicator rows written out from the definition, cell by cell."""
    records = list(product(*(range(size) for size in shape)))
    rows = []
    for subset in subsets:
        for cell in product(*(range(shape[i]) for i in subset)):
            rows.append([float(all(r[i] == v for i, v in zip(subset, cell, strict=True))) for r in records])
    return np.array(rows)


def subsets_of(d, sizes):
    return [subset for size in sizes for subset in combinations(range(d), size)]


CASES = [
    *(make(n) for make in (workloads.histogram, workloads.prefix, workloads.all_range) for n in (2, 3, 9)),
    workloads.width_range(9, 1),
    workloads.width_range(9, 4),
    workloads.width_range(9, 9),
    workloads.all_marginals(3),
    workloads.all_marginals([3, 2, 4]),
    workloads.k_way_marginals(4, 2),
    workloads.k_way_marginals([3, 2, 2], 3),
    workloads.parity(3),
    workloads.parity(4, 2),
    workloads.parity(3, 0),
    workloads.custom([[1, 0, 2.5], [-1, 3, 0]]),
    workloads.union([workloads.prefix(8), workloads.all_marginals(3), workloads.histogram(8)], weights=[1, 0.5, 3]),
    workloads.product([workloads.prefix(3), workloads.histogram(2), workloads.all_range(2)]),
    workloads.product([workloads.custom([[1, 2, 0]]), workloads.all_range(3)]),  # fewer queries than types on one axis
    workloads.product([workloads.histogram(2), workloads.prefix(3), workloads.histogram(3), workloads.prefix(2)]),
    workloads.product([workloads.histogram(2), workloads.histogram(3)]),
    workloads.product([workloads.all_marginals([2, 3]), workloads.union([workloads.prefix(2)], [2])]),
    workloads.OnAttributes([2, 3, 4], [1], workloads.prefix(3)),
    workloads.OnAttributes(
        [2, 3, 4], [2, 0], workloads.product([workloads.all_range(3), workloads.histogram(2)]), [3, 2]
    ),
    workloads.OnAttributes([2, 1, 3, 2], [3, 0], workloads.parity(2, 1)),
    workloads.union(
        [
            workloads.OnAttributes([3, 4, 2], [0], workloads.all_range(3)),
            workloads.OnAttributes([3, 4, 2], [1, 2], workloads.histogram(8)),
            workloads.all_marginals([3, 4, 2]),
        ],
        weights=[2, 0.3, 1],
    ),
    workloads.Predicates([2, 3, 2], [[], [((1,), [1, 0, 1])], [((0, 2), [[1, 0], [1, 1]]), ((1,), [0, 1, 1])]]),
    workloads.OnAttributes([3, 2, 2], [0, 2], workloads.Predicates([3, 2], [[((0,), [1, 0, 1]), ((1,), [0, 1])]])),
]


@pytest.mark.parametrize(("d", "sizes"), [(1, [0, 1]), (5, [3]), (6, range(7)), (7, [2, 5])])
def test_subsets_are_found_by_their_place_as_they_are_listed(d, sizes):
    subsets, listed = Subsets(d, sizes), subsets_of(d, sizes)
    assert list(subsets) == [subsets[i] for i in range(len(subsets))] == listed
    for outside in (-1, len(listed)):
        with pytest.raises(IndexError, match=f"There are {len(listed)} subsets"):
            subsets[outside]


@pytest.mark.parametrize("w", CASES, ids=repr)
def test_every_shortcut_agrees_with_the_matrix(w):
    W = w.matrix
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, w.n))
    C = (lambda a: a @ a.T)(rng.normal(size=(w.n, w.n)))
    assert W.shape == (w.num_queries, w.n)
    np.testing.assert_allclose(w.gram_dense(), W.T @ W, atol=1e-9)
    np.testing.assert_allclose(w.gram_column, W.T @ W[:, 0], atol=1e-9)
    np.testing.assert_allclose(w.gram @ x.T, W.T @ W @ x.T, atol=1e-9)
    np.testing.assert_allclose(w.gram.T @ x[0], W.T @ W @ x[0], atol=1e-9)
    np.testing.assert_allclose(w.apply_gram(x.reshape(3, 1, w.n)), (x @ W.T @ W).reshape(3, 1, w.n), atol=1e-9)
    np.testing.assert_allclose(w.gram_diag, (W**2).sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(w.gram_sums, W.T @ W.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(w.quadratic(x), ((x @ W.T) ** 2).sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(w.answers(x), x @ W.T, atol=1e-9)
    some = rng.integers(w.num_queries, size=5)
    np.testing.assert_allclose(w.answers(x[0], some), W[some] @ x[0], atol=1e-9)
    np.testing.assert_allclose(w.answers(x.reshape(3, 1, w.n)), (x @ W.T).reshape(3, 1, -1), atol=1e-9)
    np.testing.assert_allclose(w.query_variances(C), np.diag(W @ C @ W.T), atol=1e-8)
    expected = np.linalg.svd(W, compute_uv=False)
    found = w.singular_values()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(w.gram_root.T @ w.gram_root, W.T @ W, atol=1e-8)
    assert w.rank == np.linalg.matrix_rank(W)
    assert w.trace == pytest.approx((W**2).sum())


@given(SHAPES)
@settings(max_examples=30)
def test_marginals_are_the_tables_of_every_subset(shape):
    d = len(shape)
    np.testing.assert_array_equal(
        workloads.all_marginals(shape).matrix, marginal_rows(shape, subsets_of(d, range(d + 1)))
    )
    for k in range(1, d + 1):
        np.testing.assert_array_equal(
            workloads.k_way_marginals(shape, k).matrix, marginal_rows(shape, subsets_of(d, [k]))
        )


@pytest.mark.parametrize("w", CASES, ids=repr)
def test_shifts_and_symmetries_that_are_declared_hold(w):
    G, sizes = w.gram_dense(), [size for size, _ in w.symmetry_group.shifts]
    types = np.arange(w.n).reshape(sizes)
    assert types.size == w.n
    for axis, (_, same) in enumerate(w.symmetry_group.shifts):
        moved = np.roll(types, 1, axis=axis).ravel()
        assert not same or np.allclose(G[np.ix_(moved, moved)], G)
    if w.symmetry == "hamming":
        types = np.arange(w.n)
        masks = [types ^ 1] + [np.moveaxis(types.reshape(sizes), axis, 0).ravel() for axis in range(len(sizes))]
        assert all(np.allclose(G[np.ix_(moved, moved)], G) for moved in masks)
    if w.symmetry == "exchangeable":
        moved = np.random.default_rng(0).permutation(w.n)
        assert np.allclose(G[np.ix_(moved, moved)], G)
    if w.symmetry != "none":
        assert len({*np.round(w.gram_diag, 9)}) == 1


def test_the_largest_symmetry_is_found():
    pairs = [workloads.OnAttributes([2, 2, 2], pair, workloads.histogram(4)) for pair in combinations(range(3), 2)]
    assert workloads.union(pairs).symmetry == "hamming"
    assert workloads.union(pairs[:2]).symmetry == "translation"
    assert workloads.union(pairs, [1, 2, 1]).symmetry == "translation"
    assert workloads.union([*pairs, workloads.prefix(8)]).symmetry == "none"
    assert workloads.product([workloads.histogram(2), workloads.histogram(3)]).symmetry == "exchangeable"
    assert workloads.OnAttributes([3, 2], [0], workloads.histogram(3)).symmetry == "translation"
    # Cyclic shifts of tables of different shapes are different groups.
    assert workloads.union([workloads.all_marginals([2, 3]), workloads.all_marginals([3, 2])]).symmetry == "none"


def test_weights_of_queries_are_those_of_their_rows():
    inner = workloads.union([workloads.histogram(2), workloads.prefix(2)], [3, 0.5])
    outer = workloads.union([workloads.OnAttributes([2, 3], [0], inner), workloads.histogram(6)], [2, 1])
    assert outer.query_weights().tolist() == [6, 6, 1, 1] + [1] * 6
    assert outer.query_weights([9, 2, 0]).tolist() == [1, 1, 6]
    both = workloads.product([inner, workloads.histogram(2)])
    assert both.query_weights().tolist() == [3, 3, 3, 3, 0.5, 0.5, 0.5, 0.5]
    assert both.query_weights([7, 0]).tolist() == [0.5, 3]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: workloads.all_marginals(0), "1 to 24 attributes"),
        (lambda: workloads.all_marginals([2, 1]), "at least 2 values"),
        (lambda: workloads.all_marginals([2] * 10**5), "1 to 24 attributes"),
        (
            lambda: workloads.k_way_marginals(10**12, 1),
            "1 to 24 attributes of at least 2 values each; got 1000000000000",
        ),
        (lambda: workloads.parity(10**12, 2), "1 to 24 attributes"),
        (lambda: workloads.all_marginals(2.5), "number of binary attributes"),
        (lambda: workloads.k_way_marginals(3, 4), "from 1 to 3"),
        (lambda: workloads.parity(3, -1), "from 0 to 3"),
        (lambda: workloads.width_range(5, 6), "from 1 to 5"),
        (lambda: workloads.custom([[1, 2], [3]]), "rows of equal length"),
        (lambda: workloads.custom([[1, math.nan]]), "finite"),
        (lambda: workloads.custom([[0, 0]]), "asks nothing"),
        (lambda: workloads.custom([1, 2]), "one row per query"),
        (lambda: workloads.union([]), "at least one"),
        (lambda: workloads.union([workloads.prefix(3), workloads.prefix(4)]), "share their types"),
        (lambda: workloads.union([workloads.prefix(3)], weights=[-1]), "positive"),
        (lambda: workloads.union([workloads.prefix(3)], weights=[1, 2]), "as many weights"),
        (lambda: workloads.product([]), "at least one"),
        (lambda: workloads.OnAttributes([2, 3], [0, 0], workloads.histogram(4)), "different ones, from 0 to 1"),
        (lambda: workloads.OnAttributes([2, 3], [2], workloads.histogram(4)), "different ones, from 0 to 1"),
        (lambda: workloads.OnAttributes([2, 3], [1], workloads.histogram(4)), "4 types, the attributes kept have 3"),
        (lambda: workloads.OnAttributes([2, 3], [1], workloads.histogram(4), [4]), r"cannot be \[4\]"),
        (lambda: workloads.Predicates([2, 3], []), "at least one"),
        (lambda: workloads.Predicates([2, 3], [[((1, 0), [1] * 6)]]), "must increase"),
        (lambda: workloads.Predicates([2, 3], [[((1,), [1, 0])]]), "as many entries"),
        (lambda: workloads.Predicates([2, 3], [[((1,), [0, 0, 0])]]), "at least one of them true"),
        (lambda: workloads.Predicates([2, 3], [[]], ["a", "b"]), "name each one"),
        (lambda: workloads.Custom([[1, 0]], ["a", "b"]), "give each query a name"),
        (lambda: workloads.from_spec({"kind": "prefixes", "n": 3}), "did you mean 'prefix'"),
        (lambda: workloads.from_spec({"kind": "prefix", "m": 3}), "The Prefix workload has no parameter 'm'"),
    ],
)
def test_bad_workloads_get_a_sentence(build, sentence):
    refused(f"^(?=.{{0,200}}$).*(?:{sentence})", build)


def test_a_matrix_means_the_same_however_it_lies_in_memory():
    matrix = np.arange(6.0).reshape(2, 3)
    assert workloads.custom(np.asfortranarray(matrix)) == workloads.custom(matrix)
