"""Products with two-valued rows in single precision, which take half the time and are good enough between the updates that count."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ldp_core.optimize.sizes import blocks
from ldp_core.run import Check

# Fewer types take no time worth saving; for other E, what tells types apart is lost beside the rest in single precision.
LEAST_TYPES, RATIOS = 96, (1.05, 500.0)
# Column sums are balanced to this accuracy in single precision.
SUM_TOLERANCE = 1e-5


class SinglePrecision:
    """Rows ``v = 1 + D t`` by t in {0, 1}, D = ``ratio`` - 1: products are taken of t, whose entries are exact, and the part along
    the ones is added in double precision, so that D need not be large beside 1."""

    def __init__(self, high: np.ndarray, ratio: float):
        self._bits, self._spread = high.astype(np.float32), ratio - 1

    @staticmethod
    def fits(n: int, ratio: float) -> bool:
        """Whether single precision is of use for ``n`` types and E = ``ratio``."""
        return n >= LEAST_TYPES and RATIOS[0] <= ratio <= RATIOS[1]

    def moments(self, weights: np.ndarray, check: Check) -> np.ndarray:
        """(n, n) ``sum_k weights_k v_k v_k'``, the lower triangle."""
        n, D, largest = self._bits.shape[1], self._spread, weights.max()
        total, roots = np.zeros((n, n), order="F"), np.sqrt(weights / largest).astype(np.float32)[:, None]
        for part in blocks(*self._bits.shape):
            check()
            total += blas.ssyrk(1.0, (self._bits[part] * roots[part]).T, lower=1)
        along = D * self._summed(weights)
        total *= D**2 * largest
        total += along
        total += (along + weights.sum())[:, None]
        return total

    def lengths(self, solved: np.ndarray, check: Check) -> np.ndarray:
        """v'Xv (k,) for X = solved solved'."""
        found, D, narrow = np.empty(len(self._bits)), self._spread, solved.astype(np.float32, order="F")
        ones = solved.sum(axis=0)
        for part in blocks(*self._bits.shape):
            check()
            product = blas.sgemm(1.0, narrow, self._bits[part].T, trans_a=1)
            found[part] = np.einsum("ij,ij->j", product, product)
        found *= D**2
        found += 2 * D * self._bits_times(blas.dgemv(1.0, solved, ones)) + ones @ ones
        return found

    def images(self, vector: np.ndarray) -> np.ndarray:
        """v'vector (k,)."""
        return self._spread * self._bits_times(vector) + vector.sum()

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """``sum_k weights_k v_k`` (n,)."""
        return self._spread * self._summed(weights) + weights.sum()

    def _bits_times(self, vector: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, vector.astype(np.float32), trans=1).astype(float)

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, weights.astype(np.float32)).astype(float)
