"""The moment relaxation of the design problem: its variables, its constraints and their barrier.

Write a two-valued row, scaled to ``v`` in {1, E}^n, as ``v = 1 + y`` with ``y`` in {0, D}^n, ``D = E - 1``. A strategy is a
measure over such rows, and its information matrix depends only on the moments of (1, y) under the weights ``w / r'v``:
their mass ``a``, first moments ``b`` (n,) and second moments ``T`` (n, n), whose diagonal is ``D b`` because y^2 = D y:

    M = a 11' + b 1' + 1 b' + T,      M r = 1      (r = n p for a prior p, all ones for the uniform one).

The relaxation keeps of the measure only that

* ``T_ij >= 0``,
* ``(sum y - k D)(sum y - (k + 1) D) >= 0`` on average, for whole k: the number of high entries is a whole number,
* ``[[a, b'], [b, T]]`` is positive semidefinite, which for positive definite T is ``a - b' T^-1 b >= 0``.

Minimising ``tr(M^-1 G)`` over that convex set bounds L from below (this project; see `ldp_core.bounds.general.certificate` for the
proof that is handed out). Given a and the off-diagonal T, ``M r = 1`` determines b, so these are the variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from ldp_core.bounds.general.three_types import Cuts
from ldp_core.definite import inverse_of


@dataclass(frozen=True)
class Moments:
    """``mass`` a, ``first`` b (n,) and ``second`` T (n, n), off-diagonal entries only (zero diagonal)."""

    mass: float
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class InteriorPoint:
    """Moments inside the relaxation, with what the barrier's derivatives need.

    ``information`` M, its ``inverse``, ``half`` = G M^-1, ``objective`` tr(M^-1 G); ``cuts`` (c,)
    the values of the whole-number constraints; ``second_inverse`` (T with its diagonal)^-1,
    ``null`` -T^-1 b and ``schur`` a - b'T^-1 b; ``logs`` two sums of logarithms that make up the
    barrier, over all T_ij and over the cuts and schur.
    """

    moments: Moments
    inverse: np.ndarray
    half: np.ndarray
    objective: float
    cuts: np.ndarray
    triples: np.ndarray
    second_inverse: np.ndarray
    null: np.ndarray
    schur: float
    logs: tuple[float, float]


class Relaxation:
    """The relaxation of one problem: ``gram`` G (n, n), positive definite, ``ratio`` E, ``reference`` r (n,)."""

    def __init__(self, gram: np.ndarray, ratio: float, reference: np.ndarray):
        self.gram, self.exp_epsilon_minus_one, self.reference = np.asfortranarray(gram), ratio - 1, reference
        self.n = n = len(gram)
        middle = int(n / (ratio + 1))
        self.sizes = np.array(sorted({k for k in (middle - 1, middle, middle + 1) if 1 <= k < n} or {1}))
        self.triples = Cuts.none(n)
        self._diagonal = np.diag_indices(n)
        self._own = n + self.exp_epsilon_minus_one * reference  # M r = own b + 1 r'b + ...
        self._coupling = 1 + (reference / self._own).sum()

    def moments(self, mass: float, second: np.ndarray, total: float = 1.0) -> Moments:
        """Moments with ``M r = total``: first moments from the others, (diag(own) + 1 r') b = right-hand side."""
        right = total - self.n * mass - blas.dgemv(1.0, second, self.reference)
        b = right / self._own
        b -= (self.reference @ b / self._coupling) / self._own
        return Moments(mass, b, second)

    def information(self, moments: Moments) -> np.ndarray:
        """M (n, n), in Fortran order."""
        M = np.add(moments.second, moments.first + moments.mass, order="F")
        M += moments.first[:, None]
        M[self._diagonal] += self.exp_epsilon_minus_one * moments.first
        return M

    def cut_values(self, moments: Moments) -> np.ndarray:
        """The whole-number constraints (c,), linear in the moments."""
        k, D = self.sizes, self.exp_epsilon_minus_one
        total = moments.first.sum()
        return moments.second.sum() + D * total - (2 * k + 1) * D * total + k * (k + 1) * D**2 * moments.mass

    def triple_values(self, moments: Moments) -> np.ndarray:
        """The cuts on three types (t,), linear in the moments."""
        return self.triples.values(moments.second, moments.first, moments.mass, self.exp_epsilon_minus_one)

    def point(self, moments: Moments) -> InteriorPoint | None:
        """The point at ``moments`` with the values that the barrier needs; None outside the
        relaxation."""
        second = np.array(moments.second, order="F")
        second[self._diagonal] = self.exp_epsilon_minus_one * moments.first
        cuts = self.cut_values(moments)
        triples = self.triple_values(moments)
        if second.min() <= 0 or cuts.min() <= 0 or triples.min(initial=1.0) <= 0:
            return None
        second_inverse, inverse = inverse_of(second), inverse_of(self.information(moments))
        if second_inverse is None or inverse is None:
            return None
        null = -blas.dsymv(1.0, second_inverse, moments.first)
        schur = moments.mass + moments.first @ null
        if schur <= 0:
            return None
        half = blas.dgemm(1.0, self.gram, inverse)
        objective = float(half.trace())
        logs = np.log(second)
        pairs = float(logs.sum() - logs.trace() + np.log(triples).sum())
        others = float(np.log(cuts).sum() + np.log(schur))
        return InteriorPoint(
            moments, inverse, half, objective, cuts, triples, second_inverse, null, float(schur), (pairs, others)
        )

    def barrier(self, point: InteriorPoint, pair_weight: float, cut_weight: float) -> float:
        """``tr(M^-1 G) - pair_weight * sum log T_ij - cut_weight * (sum log cuts + log(a - b'T^-1 b))``."""
        pairs, others = point.logs
        return point.objective - pair_weight * pairs - cut_weight * others

    def pulled(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Gradient of ``<F, M>`` (F symmetric) by (T, b, a): the adjoint of `information`."""
        sums = F.sum(axis=1)
        return F.copy(), 2 * sums + self.exp_epsilon_minus_one * F.diagonal(), float(sums.sum())

    def cut_gradient(self, weights: np.ndarray) -> tuple[float, float, float]:
        """Gradient of ``weights @ cut_values``: the same for all T_ij, the same for all b_i, and for a."""
        k, D = self.sizes, self.exp_epsilon_minus_one
        total = weights.sum()
        return total, D * (total - weights @ (2 * k + 1)), D**2 * (weights @ (k * (k + 1)))

    def eliminated(self, second: np.ndarray, first: np.ndarray, mass: float) -> tuple[np.ndarray, float, np.ndarray]:
        """Gradient by the variables (T off-diagonal, a) alone, from that by (T, b, a), and the multipliers of M r = 1.

        ``second`` is overwritten. The multipliers mu solve (diag(own) + r 1') mu = -first.
        """
        mu = -first / self._own
        mu -= (mu.sum() / self._coupling) * (self.reference / self._own)
        second += (mu / 2)[:, None] * self.reference
        second += self.reference[:, None] * (mu / 2)
        second[self._diagonal] = 0
        return second, mass + self.n * float(mu.sum()), mu
