"""Workloads along an order at any size, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from tests.refused import refused

NAMED = ["histogram", "prefix", "all_range"]


def make(kind, n):
    return getattr(workloads, kind)(n)


@pytest.mark.parametrize("kind", NAMED)
def test_inputs_are_left_as_they_were(kind):
    workload = make(kind, 5)
    x, covariance = np.arange(5.0), np.eye(5)
    workload.answers(x)[:] = 0
    workload.apply_gram(x)[:] = 0
    workload.query_variances(covariance)[:] = 0
    assert np.array_equal(x, np.arange(5.0))
    assert np.array_equal(covariance, np.eye(5))
    refused("read-only", workload.gram_dense().fill, 7)


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
    refused("too many to write out", lambda: workload.matrix)
    refused("coarser bins", workload.gram_dense)


@pytest.mark.parametrize("n", [1, -3, 2.0, "8"])
def test_bad_sizes_are_refused(n):
    refused("at least 2 types", workloads.prefix, n)


def test_bad_queries_counts_and_specs_are_refused():
    workload = workloads.prefix(4)
    for queries in ([4], [-1]):
        refused("from 0 to 3", workload.answers, np.ones(4), queries)
    refused("5 types, the workload has 4", workload.answers, np.ones(5))
    refused("Unknown workload 'marginals'", workloads.from_spec, {"kind": "marginals", "n": 4})
    refused("Unknown workload None", workloads.from_spec, {"n": 4})
