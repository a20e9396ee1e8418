"""The meaning of a query: ranges by length, marginals by attributes, and the means over a group."""

from math import comb

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.studies import outcomes


def members(workload):
    """Names of the groups with the queries that stand for each, as rows of W."""
    found = outcomes.query_groups(workload)
    return {name: workload.rows(found.queries[found.of == i]) for i, name in enumerate(found.names)}


@pytest.mark.parametrize("make", [workloads.all_range, lambda n: workloads.width_range(n, 4)])
def test_ranges_are_grouped_by_length(make):
    n = 20
    workload = make(n)
    found = outcomes.query_groups(workload)
    assert found.by == "types in the range"
    for name, rows in members(workload).items():
        assert set(rows.sum(axis=1)) == {int(name)}
    assert found.sizes.tolist() == [n - int(name) + 1 for name in found.names]
    assert found.sizes.sum() == workload.num_queries
    assert len(found.names) == getattr(workload, "width", n)


def test_marginals_are_grouped_by_their_attributes():
    workload = workloads.all_marginals([2, 3])
    found = outcomes.query_groups(workload)
    assert found.names == ("everybody", "x1", "x2", "x1, x2")
    assert found.sizes.tolist() == [1, 2, 3, 6]
    assert found.queries.tolist() == list(range(12))
    widths = {name: set(rows.sum(axis=1)) for name, rows in members(workload).items()}
    assert widths == {"everybody": {6}, "x1": {3}, "x2": {2}, "x1, x2": {1}}


def test_very_many_marginals_are_grouped_by_how_many_attributes():
    found = outcomes.query_groups(workloads.all_marginals(7))
    assert found.by == "attributes in the marginal"
    assert found.names == tuple(str(k) for k in range(8))
    assert found.sizes.tolist() == [comb(7, k) * 2**k for k in range(8)]
    three = outcomes.query_groups(workloads.k_way_marginals(9, 3))
    assert (three.names, three.sizes.tolist()) == (("3",), [84 * 8])


def test_parities_by_attributes_and_unions_by_part():
    parity = outcomes.query_groups(workloads.parity(4, 2))
    assert (parity.names, parity.sizes.tolist()) == (("0", "1", "2"), [1, 4, 6])
    union = outcomes.query_groups(workloads.union([workloads.histogram(4), workloads.prefix(4)]))
    assert union.names == ("1. Histogram", "2. Prefix")
    assert union.of.tolist() == [0] * 4 + [1] * 4


def test_single_queries_are_groups_with_their_names():
    found = outcomes.query_groups(workloads.prefix(3), ["a", "b", "c"])
    assert (found.by, found.names) == ("running total", ("up to a", "up to b", "up to c"))
    assert outcomes.query_groups(workloads.histogram(2), ["a", "b"]).names == ("a", "b")
    custom = outcomes.query_groups(workloads.custom(np.eye(3)))
    assert (custom.by, len(custom.names)) == ("query", 3)
    assert len(outcomes.query_groups(workloads.histogram(1000)).names) == 400
