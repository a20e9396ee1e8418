"""The inverse of a positive definite matrix, for the many that optimisers and bounds take."""

from __future__ import annotations

import numpy as np
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
