"""Projection onto non-negative vectors, or those of a given sum, in the norm of any positive
semidefinite matrix.

If there is a total t, write x = t l with l in the unit simplex. There (t l - z)'G(t l - z) = l'A l
with A = H'G H, H = t I - z 1', and as the optimum of l'A l + (1'l - 1)^2 over l >= 0 is a multiple
of the convex weights l sought, for any scale of A, the sum needs no constraint of its own and no
penalty to choose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import linalg
from scipy.optimize import nnls

from ldp_core.estimators import norm_sub
from ldp_core.workloads.base import root_of

_BACKUP = 3  # exchanges of whole sets without progress before single ones


def project(
    G: np.ndarray, z: np.ndarray, total: float | None = None, root: Callable[[], np.ndarray] | None = None
) -> np.ndarray:
    """The closest vector that is not negative, in the norm of a matrix.

    Parameters
    ----------
    G : ndarray (n, n)
        Semidefinite.
    z : ndarray (n,)
        What is projected.
    total : float, optional
        The sum of the result, positive; any by default.
    root : callable, optional
        Gives R (r, n) with R'R = G where it is available, for a G that turns out singular.

    Returns
    -------
    ndarray (n,)
        The x >= 0, of that sum, that minimises (x - z)'G(x - z).
    """
    root = root or partial(root_of, G)
    if total is None:
        scale = max(float(np.abs(z).max()), 1.0)
        target = G @ (z / scale)
        weights = _nonnegative(G, target, z > 0)
        return project_by_root(root(), z) if weights is None else scale * weights
    z, scale = z / total, np.trace(G)
    slope = (G @ z) / scale
    A = G / scale - slope - slope[:, None] + (z @ slope + 1.0)
    weights = _nonnegative(A, np.ones(len(z)), norm_sub.project(z, 1.0) > 0)
    if weights is None:
        return project_by_root(root(), z * total, total)
    return weights * (total / weights.sum())


def project_by_root(R: np.ndarray, z: np.ndarray, total: float | None = None) -> np.ndarray:
    """The same from any R (r, n) with R'R = G, which may be singular: by an active set of columns
    of R."""
    if total is None:
        scale = max(float(np.abs(z).max()), 1.0)
        return scale * nnls(R, R @ (z / scale), maxiter=30 * len(z))[0]
    H = R - (R @ (z / total))[:, None]
    H /= np.linalg.norm(H, axis=0).max()
    weights = nnls(np.vstack([H, np.ones(len(z))]), np.append(np.zeros(len(H)), 1.0), maxiter=30 * len(z))[0]
    return weights * (total / weights.sum())


def _nonnegative(A: np.ndarray, b: np.ndarray, positive: np.ndarray) -> np.ndarray | None:
    """(n,) argmin of x'Ax/2 - b'x over x >= 0 by block principal pivoting (Judice and Pires 1994;
    Kim and Park 2011).

    Guess which entries are ``positive``, solve for them, and exchange every entry that breaks an
    optimality condition; when that stops helping, only the last such entry, which is sure to end
    for definite A. None where A is singular.
    """
    n, largest = len(b), np.diagonal(A).max()
    least = 1e-7 * np.sqrt(largest)
    fewest, patience = n + 1, _BACKUP
    for _ in range(20 * n):
        chosen = np.flatnonzero(positive)
        x = np.zeros(n)
        if chosen.size:
            factor, failed = linalg.lapack.dpotrf(A[np.ix_(chosen, chosen)], lower=True, clean=False)
            if failed or np.diagonal(factor).min() < least:
                return None
            x[chosen] = linalg.lapack.dpotrs(factor, b[chosen], lower=True)[0]
        rounding = 1e-12 * (largest * np.abs(x).sum() + np.abs(b))
        wrong = np.where(positive, x < 0, A @ x - b < -rounding)
        count = int(wrong.sum())
        if not count:
            return x
        if count < fewest:
            fewest, patience = count, _BACKUP
        else:
            patience -= 1
            if patience < 0:
                wrong[: np.flatnonzero(wrong)[-1]] = False
        positive = positive ^ wrong
    return None
