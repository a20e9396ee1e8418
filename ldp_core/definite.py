"""Inverses of positive definite matrices, for the many that optimisers, bounds and estimates take."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from ldp_core.run import Check, unchecked


def inverse_of(matrix: np.ndarray, check: Check = unchecked) -> np.ndarray | None:
    """The inverse of a symmetric ``matrix`` (n, n), exactly symmetric and in Fortran order; None if
    the matrix is not positive definite up to rounding. ``check`` is called halfway. Source: LAPACK,
    by Cholesky factors."""
    inverted = inverse_and_logarithm(matrix, check)
    return None if inverted is None else inverted[0]


def inverse_and_logarithm(matrix: np.ndarray, check: Check = unchecked) -> tuple[np.ndarray, float] | None:
    """As `inverse_of`, with the logarithm of the determinant of ``matrix``, which its Cholesky factor tells."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return None
    check()
    logarithm = 2 * float(np.log(factor.diagonal()).sum())
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)  # its upper half means nothing
    lower = np.tril(inverse, -1)
    full = np.asfortranarray(lower + lower.T)
    full[np.diag_indices(len(full))] = inverse.diagonal()
    return full, logarithm


def regular_inverse(matrix: np.ndarray) -> np.ndarray | None:
    """The inverse of a positive semidefinite ``matrix`` (n, n); None if its condition is above 1e10, or unknown."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed or lapack.dpocon(factor, np.abs(matrix).sum(axis=0).max(), uplo="L")[0] <= 1e-10:
        return None
    inverse, _ = lapack.dpotri(factor, lower=1)
    found: np.ndarray = np.tril(inverse) + np.tril(inverse, -1).T
    return found


def pseudo_inverse(matrix: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray | None]:
    """M^+ of a positive semidefinite ``matrix`` M (n, n) and, where it is singular, the projector onto its range: eigenvalues up to
    ``least`` times the largest are taken for 0."""
    if (inverse := regular_inverse(matrix)) is not None:
        return inverse, None
    values, vectors = linalg.eigh(matrix, driver="evd")
    kept = values > least * values[-1]
    vectors, values = vectors[:, kept], values[kept]
    return (vectors / values) @ vectors.T, None if kept.all() else vectors @ vectors.T
