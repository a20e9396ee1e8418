"""Every workload against its matrix, written out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

from ldp_core import workloads

NAMED = ["histogram", "prefix", "all_range"]
SYMMETRIES = {"none", "exchangeable", "translation", "hamming"}
kinds = st.sampled_from(NAMED)
sizes = st.integers(2, 40)


def make(kind, n):
    return getattr(workloads, kind)(n)


def by_hand(kind, n):
    """W from the definition, one query at a time."""
    if kind == "histogram":
        intervals = [(i, i) for i in range(n)]
    elif kind == "prefix":
        intervals = [(0, i) for i in range(n)]
    else:
        intervals = [(low, high) for low in range(n) for high in range(low, n)]
    return np.array([[float(low <= u <= high) for u in range(n)] for low, high in intervals])


@settings(max_examples=40)
@given(kinds, sizes)
def test_matrix_gram_and_what_follows_from_them(kind, n):
    workload, W = make(kind, n), by_hand(kind, n)
    G = W.T @ W
    assert workload.num_queries == len(W)
    assert np.array_equal(workload.matrix, W)
    assert np.array_equal(workload.gram_dense(), G)
    assert np.array_equal(workload.gram_diag, np.diag(G))
    assert np.array_equal(workload.gram_sums, G.sum(axis=1))
    assert workload.trace == np.trace(G)
    assert workload.gram_root.T @ workload.gram_root == pytest.approx(G, rel=1e-10)
    assert workload.singular_values() == pytest.approx(np.linalg.svd(W, compute_uv=False), rel=1e-9)
    assert isinstance(workload.gram, LinearOperator)


@settings(max_examples=40)
@given(kinds, sizes, st.integers(0, 2**32 - 1))
def test_products_with_vectors_and_batches(kind, n, seed):
    workload, W = make(kind, n), by_hand(kind, n)
    x = np.random.default_rng(seed).normal(size=(2, 3, n))
    answers = x @ W.T
    assert workload.answers(x) == pytest.approx(answers)
    assert workload.answers(x[0, 0]) == pytest.approx(answers[0, 0])
    assert workload.quadratic(x) == pytest.approx((answers**2).sum(axis=-1))
    assert workload.apply_gram(x) == pytest.approx(x @ W.T @ W)
    assert workload.gram @ x[0].T == pytest.approx(W.T @ W @ x[0].T)
    assert workload.gram.T @ x[0, 0] == pytest.approx(W.T @ W @ x[0, 0])


@settings(max_examples=40)
@given(kinds, sizes, st.data())
def test_some_queries_are_the_rows_asked_for_in_their_order(kind, n, data):
    workload, W = make(kind, n), by_hand(kind, n)
    queries = np.array(data.draw(st.lists(st.integers(0, len(W) - 1), max_size=12)), dtype=int)
    x = np.random.default_rng(n).normal(size=(2, n))
    assert np.array_equal(workload.rows(queries), W[queries])
    assert workload.answers(x, queries) == pytest.approx(x @ W[queries].T)


@settings(max_examples=30)
@given(kinds, st.integers(2, 16), st.integers(0, 2**32 - 1))
def test_query_variances_are_the_diagonal_of_w_c_w(kind, n, seed):
    root = np.random.default_rng(seed).normal(size=(n, n))
    W = by_hand(kind, n)
    assert make(kind, n).query_variances(root @ root.T) == pytest.approx(np.diag(W @ root @ root.T @ W.T))


@pytest.mark.parametrize("kind", NAMED)
def test_inputs_are_left_as_they_were(kind):
    workload = make(kind, 5)
    x, covariance = np.arange(5.0), np.eye(5)
    workload.answers(x)[:] = 0
    workload.apply_gram(x)[:] = 0
    workload.query_variances(covariance)[:] = 0
    assert np.array_equal(x, np.arange(5.0))
    assert np.array_equal(covariance, np.eye(5))
    with pytest.raises(ValueError, match="read-only"):
        workload.gram_dense()[0, 0] = 7


@settings(max_examples=40)
@given(st.one_of(st.integers(2, 60), st.sampled_from([2**20, 2**22 - 1])), st.data())
def test_ends_number_all_intervals_in_order(n, data):
    ranges = workloads.all_range(n)
    chosen = data.draw(st.lists(st.integers(0, ranges.num_queries - 1), min_size=1, max_size=50))
    queries = np.array([0, ranges.num_queries - 1, *chosen])
    low, high = ranges.ends(queries)
    assert ((low >= 0) & (low <= high) & (high < n)).all()
    before = [sum_of_lengths(n, first) for first in low.tolist()]
    assert np.array_equal(np.array(before) + (high - low), queries)


def sum_of_lengths(n, first):
    """Intervals that start before ``first``: n + (n - 1) + ..., in exact integers."""
    return first * n - first * (first - 1) // 2


def test_query_names():
    days = ["Mon", "Tue", "Wed"]

    def all_names(workload, labels=None):
        return [workload.query_name(i, labels) for i in range(workload.num_queries)]

    assert all_names(workloads.histogram(3)) == ["type 1", "type 2", "type 3"]
    assert all_names(workloads.histogram(3), days) == days
    assert all_names(workloads.prefix(3)) == ["types 1 to 1", "types 1 to 2", "types 1 to 3"]
    assert all_names(workloads.prefix(3), days) == ["up to Mon", "up to Tue", "up to Wed"]
    ranges = ["Mon", "Mon to Tue", "Mon to Wed", "Tue", "Tue to Wed", "Wed"]
    assert all_names(workloads.all_range(3), days) == ranges
    assert all_names(workloads.all_range(2)) == ["type 1", "types 1 to 2", "type 2"]


@pytest.mark.parametrize("kind", NAMED)
def test_every_kind_says_what_it_is(kind):
    family = make(kind, 4)
    assert family.kind == kind
    assert family.symmetry in SYMMETRIES
    assert family.title
    assert family.meaning.strip().endswith(("?", ".", ")"))


@pytest.mark.parametrize("kind", NAMED)
def test_specs_round_trip_and_identify(kind):
    workload = make(kind, 6)
    assert workloads.from_spec(workload.spec) == workload
    assert hash(workloads.from_spec(workload.spec)) == hash(workload)
    assert workload != make(kind, 7)
    assert [other for other in NAMED if make(other, 6) == workload] == [kind]


@pytest.mark.parametrize("kind", NAMED)
def test_the_declared_symmetry_is_one(kind):
    workload = make(kind, 6)
    G = workload.gram_dense()
    shuffled = np.random.default_rng(0).permutation(6)
    holds = np.array_equal(G[np.ix_(shuffled, shuffled)], G)
    assert holds == (workload.symmetry == "exchangeable")


@pytest.mark.parametrize("kind", NAMED)
def test_four_million_types_answer_without_any_matrix(kind):
    n = 2**22
    workload = make(kind, n)
    x = np.zeros(n)
    x[[3, n - 1]] = 5, 2
    last = workload.num_queries - 1
    assert workload.answers(x, [last]).tolist() == [2 if kind != "prefix" else 7]
    assert workload.query_name(last) != workload.query_name(0)
    G = [{3: 1, n - 1: 1}, {3: n - 3, n - 1: 1}, {3: 4 * (n - 3), n - 1: n}][NAMED.index(kind)]
    shared = {"histogram": 0, "prefix": 1, "all_range": 4}[kind]
    expected = 25 * G[3] + 4 * G[n - 1] + 2 * 5 * 2 * shared
    assert workload.quadratic(x) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="too many to write out"):
        _ = workload.matrix
    with pytest.raises(ValueError, match="coarser bins"):
        workload.gram_dense()


def test_too_many_answers_at_once_are_refused_in_words():
    with pytest.raises(ValueError, match="ask for the queries you need"):
        workloads.all_range(10_000).answers(np.ones(10_000))
    with pytest.raises(ValueError, match="ask for the queries you need"):
        workloads.all_range(1_000).answers(np.ones((100, 1_000)))


@pytest.mark.parametrize("n", [1, 0, -3, 2.0, "8", None, True])
def test_bad_sizes_are_refused(n):
    with pytest.raises(ValueError, match="at least 2 types"):
        workloads.prefix(n)


def test_bad_queries_counts_and_specs_are_refused():
    workload = workloads.prefix(4)
    for queries in ([4], [-1]):
        with pytest.raises(ValueError, match="from 0 to 3"):
            workload.answers(np.ones(4), queries)
    with pytest.raises(ValueError, match="5 types, the workload has 4"):
        workload.answers(np.ones(5))
    with pytest.raises(ValueError, match="Unknown workload 'marginals'"):
        workloads.from_spec({"kind": "marginals", "n": 4})
    with pytest.raises(ValueError, match="Unknown workload None"):
        workloads.from_spec({"n": 4})
