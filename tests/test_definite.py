"""Inverses of positive definite matrices, against products and eigenvalues."""

import numpy as np
import pytest

from ldp_core.definite import inverse_of


@pytest.mark.parametrize("n", [1, 33])
def test_the_inverse_is_one_and_exactly_symmetric(n):
    rows = np.random.default_rng(n).normal(size=(2 * n, n))
    matrix, called = rows.T @ rows, []
    matrix = (matrix + matrix.T) / 2
    for given in (matrix, np.asfortranarray(matrix)):
        before, found = given.copy(), inverse_of(given, lambda: called.append(1))
        assert (given == before).all(), "it is the caller's"
        assert (found == found.T).all()
        assert found.flags.f_contiguous
        assert found @ matrix == pytest.approx(np.eye(n), abs=1e-12)
    assert called == [1, 1]


@pytest.mark.parametrize("least", [-1e-9, 0.0])
def test_a_matrix_that_is_not_positive_definite_has_none(least):
    turned, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))
    matrix = (turned * [*range(1, 8), least]) @ turned.T if least else np.zeros((8, 8))
    assert inverse_of((matrix + matrix.T) / 2) is None
