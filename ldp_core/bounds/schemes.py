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

from ldp_core.workloads import Workload


@dataclass(frozen=True)
class Scheme:
    """``eigenvalues`` (s+1, s+1): of the 0/1 matrix of pair class i (column) on character class j (row);
    ``multiplicities`` (s+1,) how many characters each class has. Class 0 is equality, or the ones. ``binary``: types are records
    of s binary attributes, and classes count those that differ."""

    n: int
    eigenvalues: np.ndarray
    multiplicities: np.ndarray
    binary: bool

    @property
    def classes(self) -> int:
        """s + 1."""
        return len(self.eigenvalues)

    @property
    def valencies(self) -> np.ndarray:
        """(s+1,) how many types are in each class with a given one."""
        return self.eigenvalues[0]


def scheme_of(workload: Workload) -> tuple[Scheme, np.ndarray] | None:
    """The scheme of a workload's symmetry and the eigenvalues of G on its characters (s+1,), or None without one."""
    n = workload.n
    if workload.symmetry == "exchangeable":
        scheme = Scheme(n, np.array([[1.0, n - 1.0], [1.0, -1.0]]), np.array([1.0, n - 1.0]), False)
        other = (workload.gram_sums[0] - workload.gram_diag[0]) / (n - 1)
        return scheme, np.array([workload.gram_sums[0], workload.gram_diag[0] - other])
    if workload.symmetry == "hamming":
        d = n.bit_length() - 1
        scheme = Scheme(n, krawtchouk(d), np.array([float(math.comb(d, j)) for j in range(d + 1)]), True)
        first = np.zeros(n)
        first[0] = 1.0
        by_class = workload.apply_gram(first)[(1 << np.arange(d + 1)) - 1]  # types 0, 1, 11, 111, ... in binary
        gamma = scheme.eigenvalues @ by_class
        gamma[np.abs(gamma) < n * np.finfo(float).eps * gamma.max()] = 0.0
        return scheme, gamma
    return None


def krawtchouk(d: int) -> np.ndarray:
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
