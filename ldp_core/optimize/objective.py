"""Objective ``L(Q) = tr(M^-1 G)`` of McKenna et al. (2020), Theorem 3.11, and its analytic derivatives.

Everything here takes the transposed strategy ``P = Q'`` (n, m) and the root (r, n) of the Gram matrix that workloads
provide, ``G = root' root``: a rank-deficient workload then costs less, and the objective is a sum of squares.

All matrix products go to SciPy's BLAS, which `lapack` needs anyway: NumPy brings a second BLAS with threads of its
own, and the two sets of threads would wait for each other. BLAS is column-major, hence the ``.T`` of row-major arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

BLOCK = 2**33
"""Matrices are multiplied in parts of so many multiplications, a fifth of a second, so that a cancelled search ends soon."""


@dataclass(frozen=True)
class Evaluation:
    """``objective`` with what its derivatives reuse: ``outputs`` d (m,), ``cholesky`` of M, ``solved`` M^-1 root'."""

    objective: float
    outputs: np.ndarray
    cholesky: np.ndarray
    solved: np.ndarray


def evaluate(transposed: np.ndarray, root: np.ndarray, check: Check = unchecked) -> Evaluation | None:
    """L and its parts at ``transposed`` (n, m), or None where M is singular: no unbiased reconstruction exists."""
    outputs = transposed.sum(axis=0)
    scaled = transposed * (1 / np.sqrt(outputs))
    n, m = transposed.shape
    information = np.zeros((n, n), order="F")
    for part in blocks(m, n):
        check()
        information = blas.dsyrk(1.0, scaled[:, part].T, beta=1.0, c=information, trans=1, lower=1, overwrite_c=1)
    check()
    cholesky, failed = lapack.dpotrf(information, lower=1)
    # A pivot lost in rounding means that M is numerically singular even where the factorisation runs through.
    if failed or cholesky.diagonal().min() ** 2 < 1e-14 * information.diagonal().max():
        return None
    solved, _ = lapack.dpotrs(cholesky, root.T, lower=1)
    return Evaluation(float(np.einsum("ij,ji->", solved, root)), outputs, cholesky, solved)


def of_strategy(strategy: np.ndarray, workload: Workload, prior: np.ndarray | None) -> float:
    """``tr(M_p^-1 G)`` of a strategy (m, n) for a prior p (n,), None for the uniform one."""
    masses = strategy.sum(axis=1) if prior is None else workload.n * (strategy @ prior)
    M = strategy.T @ (strategy / masses[:, None])
    return float(np.trace(linalg.solve(M, workload.gram_dense(), assume_a="pos")))


def blocks(k: int, n: int) -> list[slice]:
    """``k`` rows of ``n`` entries in parts whose products with an n x n matrix take little time."""
    size = max(1, BLOCK // n**2)
    return [slice(start, start + size) for start in range(0, k, size)]
