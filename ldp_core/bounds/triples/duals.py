"""Proven bounds on weighted Fourier weights of sets of records, relative to the size of the set,
from dual solutions.

Let ``lambda_l >= 0`` be weights, D = e^epsilon - 1 and T a set of share a of the records of d
letters. The bound is on the largest of

    D^2 sum_l lambda_l W^l / (1 + D a)^2

over all T. As T and its complement have the same Fourier weights, and the larger of both the larger denominator, sets of at most half of all records do.
Both numerator and denominator, ``(1 + D a)^2 = 1 + 2 D P_0 + D^2 W^0``, are linear in the moments of `ldp_core.bounds.triples.moments`. So
if for sets of N_1 to N_2 records

    v (1 + D a)^2 / D^2 - sum_l lambda_l W^l  =  c_0 + sum_m c_m m + sum_j rho_j q_j + sum_k <F_k F_k', Q_k>

with the forms q_j and the matrices of forms Q_k there that are never negative, multipliers rho_j >=
0 and any matrices F_k, the remainder has coefficients c. As every moment m lies in [0, a] (P_0 is a
itself), only coefficients below 0 add to the ratio, which is at most

    v + D^2 delta / (1 + D a)^2,    delta = -c_0 - sum_m min(c_m, 0) a.

Each interval of sizes has multipliers of its own; sizes in none have ``sum_l lambda_l W^l <= max_l lambda_l (a - a^2)``.

**The rounding.** The stored numbers are taken as exact, and D as no smaller than it is. The numbers
of the forms and the shares a_1 and a_2 are exact. A coefficient is a sum of products of these with multipliers. Its rounding is u
times the sum of the absolute values at most, once for each term and a few times more for the
rounding of each term (Higham 2002, Chapter 3). The same holds for the entries of F F'. That much is
taken off each coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ldp_core.bounds.asked import Arrays
from ldp_core.bounds.proof import exp_epsilon_minus_one, magnitudes_fit
from ldp_core.bounds.triples.moments import Moments, known_of, moments
from ldp_core.bounds.verify import TINY, UP, U


@dataclass(frozen=True)
class Duals:
    """The numbers of a proof for ``weights`` (d,) lambda_1, .., lambda_d: for each of m intervals its ``sizes`` (m, 2) N_1 and N_2 and ``values``
    (m,) v; ``factors`` (m, f) of the F_k one after the other, row by row; multipliers ``signs`` (m, q), and ``sizing`` (m, 2 (3 d + 2) + 2) of
    ``(a - a_1) g``, ``(a_2 - a) g`` and ``(a - a_1) (a_2 - a) g``."""

    weights: np.ndarray
    sizes: np.ndarray
    values: np.ndarray
    factors: np.ndarray
    signs: np.ndarray
    sizing: np.ndarray

    @property
    def numbers(self) -> Arrays:
        """The arrays by the names that they have in a certificate."""
        return {name: np.asarray(array, dtype=float) for name, array in zip(NAMES, vars(self).values(), strict=True)}

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, np.ndarray]) -> Duals:
        """The numbers in a certificate."""
        return cls(*(numbers[name] for name in NAMES))

    @property
    def length(self) -> int:
        """d."""
        return len(self.weights)

    def valid(self) -> bool:
        """True if the numbers have the shapes of a proof, are in range, and the multipliers are not
        negative."""
        d, m = len(self.weights), len(self.values)
        if not (known_of(d) and 0 < m <= 1_000):
            return False
        known = moments(d)
        shapes = (
            (self.weights, (d,)),
            (self.sizes, (m, 2)),
            (self.values, (m,)),
            (self.factors, (m, sum(block.size**2 for block in known.blocks))),
            (self.signs, (m, len(known.signs))),
            (self.sizing, (m, 6 * d + 6)),
        )
        if not all(array.shape == shape for array, shape in shapes) or not magnitudes_fit(
            *(entry for entry, _ in shapes)
        ):
            return False
        low, high = self.sizes.T
        ordered = bool(np.all((low >= 0) & (low <= high) & (high <= known.types)))
        numbers = (self.weights, self.values, self.signs, self.sizing)
        positive = min(entry.min(initial=0.0) for entry in numbers) >= 0
        return bool(positive and ordered and np.array_equal(self.sizes, np.rint(self.sizes)))

    def ratio(self, epsilon: float) -> float:
        """The largest ratio of any set of records, rounded up; inf if the numbers are no proof."""
        if not self.valid():
            return np.inf
        D, n = exp_epsilon_minus_one(epsilon), 2**self.length
        low, high = self.sizes.astype(np.int64).T
        starts = np.unique(np.concatenate([[0], low, high + 1]))
        starts = starts[starts <= n // 2]
        ends = np.append(starts[1:] - 1, n // 2)
        # All sets of sizes from a start to its end are in the same intervals; what needs no multipliers rises to its top and falls.
        top = int(n / (2 + D)) + np.arange(-1, 3)
        a = np.clip(top[:, None], starts, ends) / n
        plain = (self.weights.max() * (a - a**2) * (D / (1 + D * a)) ** 2).max(axis=0)
        within = (low[:, None] <= starts) & (starts <= high[:, None])
        values = np.where(within, self.proved(D)[:, None], np.inf).min(axis=0)
        return float(np.minimum(plain, values).max()) * (1 + 32 * U)

    def proved(self, D: float) -> np.ndarray:
        """(m,) upper bounds on the ratio on each interval."""
        known = moments(self.length)
        low, high = (self.sizes / known.types).T
        coefficients, off = self._left(known, D)
        least = coefficients - UP * off - TINY
        paid = np.minimum(least, 0.0)
        # Of 1 and of a itself both ends count; the sum of negative numbers is off by a share of itself.
        ends = np.stack([least[:, 1] * low, least[:, 1] * high]).min(axis=0)
        delta = -least[:, 0] - ends - paid[:, 2:].sum(axis=1) * high * (1 + (known.count + 4) * U)
        delta += 8 * U * (np.abs(least[:, 0]) + np.abs(ends))
        factor = (D / (1 + D * np.where(delta > 0, low, high))) ** 2
        return np.asarray(np.maximum((self.values + delta * factor) * (1 + 16 * U), 0.0))

    def _left(self, known: Moments, D: float) -> tuple[np.ndarray, np.ndarray]:
        """(m, moments) the coefficients of what is left, and by how much they may be off."""
        fourier_weights, (own, times), count = known.fourier_weights, known.sized, len(known.sized[0])
        low, high = (self.sizes / known.types).T[:, :, None]
        denominator = 1 / D**2 * np.eye(1, known.count)[0] + 2 / D * np.eye(1, known.count, 1)[0] + fourier_weights[0]
        below, above, both = np.split(self.sizing, [count, 2 * count], axis=1)
        products = known.between(low[:, 0], high[:, 0])
        parts = [
            (self.values[:, None], denominator[None]),
            (-self.weights[None].repeat(len(self.values), 0), fourier_weights[1:]),
            (-self.signs, known.signs),
            (above - below, times),
            (below * low - above * high, own),
        ]
        left = sum(multipliers @ forms for multipliers, forms in parts) - np.einsum("mk,mkc->mc", both, products)
        sizes = sum(np.abs(multipliers) @ np.abs(forms) for multipliers, forms in parts)
        sizes = sizes + (below + above) @ np.abs(times) + (below * low + above * high) @ np.abs(own)
        sizes = sizes + np.einsum("mk,mkc->mc", both, known.between(low[:, 0], high[:, 0], 1))
        terms = len(known.signs) + 3 * count + 2 * known.length + 64
        start = 0
        for block in known.blocks:
            F = self.factors[:, start : start + block.size**2].reshape(-1, block.size, block.size)
            start += block.size**2
            double = np.where(block.rows == block.columns, 1.0, 2.0) * block.entries
            for sign, own_factors, own_numbers, into in ((-1, F, double, left), (1, np.abs(F), np.abs(double), sizes)):
                Q = own_factors @ own_factors.swapaxes(1, 2)
                np.add.at(into.T, block.moments, sign * (Q[:, block.rows, block.columns] * own_numbers).T)
            terms += block.size + len(block.entries)
        return np.asarray(left), np.asarray(terms * U * sizes)


NAMES = tuple(f"triples_{name}" for name in Duals.__dataclass_fields__)
