"""The structure of a Gram matrix without applying it equals the result of applying it, and equal
parts are counted once."""

import numpy as np
import pytest

from ldp_core import workloads as w
from ldp_core.workloads import OnAttributes, Product, Union

CASES = {
    "histogram": w.histogram(6),
    "prefix": w.prefix(6),
    "k-way": w.KWayMarginals((2, 3, 4), 2),
    "k-way of all": w.KWayMarginals((2, 3), 2),
    "all marginals": w.AllMarginals((2, 3, 2)),
    "parity": w.Parity(4, 2),
    "product": Product([w.prefix(3), w.histogram(4)]),
    "on attributes": OnAttributes((3, 4, 2), (2, 0), Product([w.prefix(2), w.histogram(2)]), (2, 2)),
    "union": Union([w.KWayMarginals((2, 3), 1), w.histogram(6), w.KWayMarginals((2, 3), 1)], [1.0, 2.0, 3.0]),
    "union without symmetry": Union([w.prefix(6), w.histogram(6), w.prefix(6)], [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("case", CASES)
def test_column_sums_diagonal_and_gram_are_those_of_the_matrix(case):
    workload = CASES[case]
    W = workload.matrix
    if isinstance(workload, Union):  # written out part by part, with the weights
        W = np.concatenate([u * part.matrix for part, u in zip(workload.parts, workload.weights, strict=True)])
    G = W.T @ W
    np.testing.assert_allclose(workload.gram_column, G[:, 0], atol=1e-12)
    np.testing.assert_allclose(workload.gram_sums, G.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(workload.gram_diag, np.diag(G), atol=1e-12)
    np.testing.assert_allclose(workload.apply_gram(np.eye(workload.n)), G, atol=1e-12)
    assert workload.num_queries == len(W)


def test_equal_parts_are_applied_once():
    class Counted(w.KWayMarginals):
        applied = 0

        def apply_gram(self, x):
            Counted.applied += 1
            return super().apply_gram(x)

    union = Union([Counted((2, 2, 2), 2) for _ in range(50)], np.linspace(1, 2, 50))
    union.apply_gram(np.ones(8))
    assert Counted.applied == 1


def test_queries_of_twenty_attributes_are_counted_without_listing_their_groups():
    workload = w.KWayMarginals((2,) * 20, 10)
    assert workload.num_queries == 184_756 * 2**10
    assert "_offsets" not in vars(workload)
