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

EPS = np.finfo(float).eps


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
    found = rounded_scheme_of(workload)
    return None if found is None else found[:2]


def rounded_scheme_of(workload: Workload) -> tuple[Scheme, np.ndarray, np.ndarray] | None:
    """As `scheme_of`, and how far the true G may be from the scheme: (s+1,) bounds ``e_j`` such that tr(C G) is off by at most
    ``sum_j multiplicity_j |C_j| e_j``, and C G C by ``max_j C_j^2 e_j`` in norm, for every C in the scheme.

    A workload may have been seen, rather than known, to be symmetric (`ldp_core.workloads.shifts.symmetry`): entries of one
    class differ a little then, and all may be off by the roundings of G. Entries off by t are a matrix of norm n t at most. The
    transform of integers is exact, that of other numbers a sum of s + 1 products.
    """
    if workload.symmetry not in ("exchangeable", "hamming"):
        return None
    n, first = workload.n, np.zeros(workload.n)
    first[0] = 1.0
    column = workload.apply_gram(first)
    if workload.symmetry == "exchangeable":
        scheme = Scheme(n, np.array([[1.0, n - 1.0], [1.0, -1.0]]), np.array([1.0, n - 1.0]), False)
        by_class, of_class = column[:2], np.minimum(np.arange(n), 1)
    else:
        d = n.bit_length() - 1
        scheme = Scheme(n, krawtchouk(d), np.array([float(math.comb(d, j)) for j in range(d + 1)]), True)
        # Types 0, 1, 11, 111, ... in binary stand for their classes.
        by_class, of_class = column[(1 << np.arange(d + 1)) - 1], np.bitwise_count(np.arange(n))
    off = np.abs(column - by_class[of_class]).max() * (1 + 1e-9) + 2 * workload.gram_roundings * EPS * column[0]
    terms = np.abs(scheme.eigenvalues) @ np.abs(by_class)
    exact = np.array_equal(by_class, np.rint(by_class)) and terms.max() < 2.0**53
    error = n * off + (0.0 if exact else (len(terms) + 3) * EPS) * terms
    gamma = scheme.eigenvalues @ by_class
    nothing = np.abs(gamma) < n * EPS * gamma.max()
    return scheme, np.where(nothing, 0.0, gamma), error + np.where(nothing, np.abs(gamma), 0.0)


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
