"""Products with two-valued rows in single precision, which take half the time and are good enough between the updates that count.

Measured in November 2026: a search takes 1.6 to 1.8 times as long without it.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.optimize.objective import blocks
from ldp_core.run import Check

# Fewer types are fast enough in double precision. Single precision loses the differences between
# types for E outside this range.
LEAST_TYPES = 96
RATIOS = (1.05, 500.0)
# Column sums are balanced to this accuracy in single precision.
SUM_TOLERANCE = 1e-5


class SinglePrecision:
    """Rows ``v = base + D t`` by few-valued t such as 0 and 1, D = ``ratio`` - 1: products are taken of t, whose entries are exact, and
    the part along the ones is added in double precision, so that D need not be large beside the ``base``, which is 1 or 0."""

    def __init__(self, high: np.ndarray, ratio: float, base: float = 1.0):
        self._bits, self._spread, self._base = high.astype(np.float32), ratio - 1, base

    @staticmethod
    def fits(n: int, ratio: float) -> bool:
        """True if single precision is of use for ``n`` types and E = ``ratio``."""
        return n >= LEAST_TYPES and RATIOS[0] <= ratio <= RATIOS[1]

    def after(self, first: int) -> SinglePrecision:
        """The same without the ``first`` rows."""
        rest = copy(self)
        rest._bits = self._bits[first:]
        return rest

    def moments(self, weights: np.ndarray, check: Check) -> np.ndarray:
        """(n, n) ``sum_k weights_k v_k v_k'``, the lower triangle."""
        n, D, largest = self._bits.shape[1], self._spread, weights.max()
        total, roots = np.zeros((n, n), order="F"), np.sqrt(weights / largest).astype(np.float32)[:, None]
        for part in blocks(*self._bits.shape):
            check()
            total += blas.ssyrk(1.0, (self._bits[part] * roots[part]).T, lower=1)
        total *= D**2 * largest
        if self._base:
            along = D * self._summed(weights)
            total += along
            total += (along + weights.sum())[:, None]
        return total

    def lengths(self, solved: np.ndarray, check: Check) -> np.ndarray:
        """v'Xv (k,) for X = solved solved'; where that has full rank by a triangular root of it, which takes half the time."""
        lengths, D, triangular = np.empty(len(self._bits)), self._spread, solved.shape[1] >= len(solved)
        if triangular:
            solved = linalg.qr(solved.T, mode="r", check_finite=False)[0][: len(solved)].T
        narrow = solved.T.astype(np.float32, order="F")
        ones = self._base * solved.sum(axis=0)
        for part in blocks(*self._bits.shape):
            check()
            product = (blas.strmm if triangular else blas.sgemm)(1.0, narrow, self._bits[part].T)
            lengths[part] = np.einsum("ij,ij->j", product, product)
        lengths *= D**2
        lengths += 2 * D * self._bits_times(blas.dgemv(1.0, solved, ones)) + ones @ ones
        return np.maximum(lengths, 0.0)  # rounding can leave less than nothing of a small one

    def images(self, vector: np.ndarray) -> np.ndarray:
        """v'vector (k,)."""
        return self._spread * self._bits_times(vector) + self._base * vector.sum()

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """``sum_k weights_k v_k`` (n,)."""
        return self._spread * self._summed(weights) + self._base * weights.sum()

    def _bits_times(self, vector: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, vector.astype(np.float32), trans=1).astype(float)

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, weights.astype(np.float32)).astype(float)
