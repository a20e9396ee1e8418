"""Types permuted by a large group: matrices that commute with it, and the classes of pairs and characters they consist of.

Where all types are alike (``exchangeable``) or are records of binary attributes that may be flipped and swapped
(``hamming``), the pairs of types fall into classes i = 0 .. s (equal types; different ones, or attributes that differ), and
a matrix that is constant on classes has one eigenvalue for each class j of characters: an association scheme (Delsarte
1973). Everything is then a few numbers, whatever the number of types.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import comb

from ldp_core.workloads import Workload


@dataclass(frozen=True)
class Cuts:
    """Quadratic polynomials in y in {0, D}^n that are never negative, averaged over the group:
    ``sum_i pairs_i sum of y_u y_v over ordered pairs of class i + linear sum y + constant``, a row each.

    * sizes k: ``(sum y - k D)(sum y - (k + 1) D)``, since the number of high entries is whole;
    * subcubes (w, k), k even, for binary attributes: let s and x be the sum and the alternating sum of the 2^w types of a
      subcube, over D. Both are whole and of the same parity, so ``(s - k)(s - k - 2) + x^2`` is never negative: it is so
      only at s = k + 1, by 1, and then x is odd. This is what keeps functions of low degree, whose mean is a multiple of
      2^-degree, from having any mean.
    """

    pairs: np.ndarray
    linear: np.ndarray
    constant: np.ndarray


def cuts_of(scheme: Scheme, D: float, sizes: np.ndarray, subcubes: np.ndarray) -> Cuts:
    """The `Cuts` for ``sizes`` (c,) and ``subcubes`` (e, 2)."""
    n, s = scheme.n, len(scheme.valencies) - 1
    k = np.asarray(sizes, dtype=float)
    w, even = (np.asarray(part, dtype=float) for part in np.reshape(subcubes, (-1, 2)).T)
    distances = np.arange(0, s + 1, 2)
    both = np.zeros((len(w), s + 1))
    # A random subcube holds 2^w C(w, i) of the n C(s, i) ordered pairs at distance i; s^2 + x^2 counts even ones twice.
    both[:, distances] = 2 * 2 ** w[:, None] * comb(w[:, None], distances) / (n * scheme.valencies[distances])
    return Cuts(
        np.vstack([np.ones((len(k), s + 1)), both]),
        -D * np.concatenate([2 * k + 1, (2 * even + 2) * 2**w / n]),
        D**2 * np.concatenate([k * (k + 1), even * (even + 2)]),
    )


@dataclass(frozen=True)
class Scheme:
    """``eigenvalues`` (s+1, s+1): of the 0/1 matrix of pair class i (column) on character class j (row);
    ``multiplicities`` (s+1,) how many characters each class has. Class 0 is equality, or the ones."""

    n: int
    eigenvalues: np.ndarray
    multiplicities: np.ndarray

    @property
    def valencies(self) -> np.ndarray:
        """(s+1,) how many types are in each class with a given one."""
        return self.eigenvalues[0]


def scheme_of(workload: Workload) -> tuple[Scheme, np.ndarray] | None:
    """The scheme of a workload's symmetry and the eigenvalues of G on its characters (s+1,), or None without one."""
    n = workload.n
    if workload.symmetry == "exchangeable":
        scheme = Scheme(n, np.array([[1.0, n - 1.0], [1.0, -1.0]]), np.array([1.0, n - 1.0]))
        other = (workload.gram_sums[0] - workload.gram_diag[0]) / (n - 1)
        return scheme, np.array([workload.gram_sums[0], workload.gram_diag[0] - other])
    if workload.symmetry == "hamming":
        d = n.bit_length() - 1
        scheme = Scheme(n, _krawtchouk(d), np.array([float(math.comb(d, j)) for j in range(d + 1)]))
        first = np.zeros(n)
        first[0] = 1.0
        by_class = workload.apply_gram(first)[(1 << np.arange(d + 1)) - 1]  # types 0, 1, 11, 111, ... in binary
        gamma = scheme.eigenvalues @ by_class
        gamma[np.abs(gamma) < n * np.finfo(float).eps * gamma.max()] = 0.0
        return scheme, gamma
    return None


def _krawtchouk(d: int) -> np.ndarray:
    """(d+1, d+1) ``K_i(j) = sum_h (-1)^h C(j, h) C(d - j, i - h)`` in row j, column i."""
    return np.array(
        [
            [
                float(sum((-1) ** h * math.comb(j, h) * math.comb(d - j, i - h) for h in range(min(i, j) + 1)))
                for i in range(d + 1)
            ]
            for j in range(d + 1)
        ]
    )
