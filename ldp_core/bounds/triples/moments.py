"""Moments of triples of records: constraints that every set of records obeys, as linear forms and
matrices of forms in few numbers.

Records are words of d bits. T is a set of N of the ``n = 2^d`` records, of share ``a = N / n``, f its 0/1 function; x, y, z are records.
Averaged over all flips and permutations of the bits (all are symmetries of everything here), T is known by

* 1 itself; ``P_r``, r = 0, .., d: the mean of ``f(x) f(y)`` over pairs at distance r, ``P_0 = a``;
* ``t_abe``, 1 <= a <= b <= e: the mean of ``f(x) f(y) f(z)`` over triples at these distances from each other.

All of them lie in [0, a]. A vector of them, in this order, is what `Moments` numbers. The Fourier
weights ``W^l`` are the squared norms of f's projections on the functions of exactly l bits:
``W^l = sum_r C(d, r) K_l(r) P_r / n`` with the polynomials K of Krawtchouk, and
``W^0 = a^2``. Each of the following is a mean over z of an expression that is never negative,
whatever T is:

1. *Signs.* ``f(x) f(y) (1 - f(z))``, ``f(x) (1 - f(y)) (1 - f(z))`` and ``(1 - f(x)) (1 - f(y)) (1 - f(z))``, for every triple.
2. *Sizes.* Where ``a_1 <= a <= a_2``: ``(a - a_1) g`` and ``(a_2 - a) g`` for g one of ``f(x) f(z)``, ``(1 - f(x)) f(z)`` and
   ``(1 - f(x)) (1 - f(z))`` at each distance, and ``(a - a_1) (a_2 - a) g`` for g one of f(z) and 1 - f(z). As a is the mean of f, these are moments too.
3. *Squares.* The matrices of ``f(z) f(x) f(y)``, and of ``(1 - f(z)) f(x) f(y)`` with the border
   ``(1 - f(z)) f(x)`` and the corner ``1 - f(z)``, are positive semidefinite. Moved so that z = 0
   and averaged, they are in the Terwilliger algebra: the entry at (x, y) depends on how many bits
   are set in x, i, in y, j, and in both, t. Such a matrix of numbers m_ijt is positive semidefinite
   only if the matrix of ``sum_t beta_ijt m_ijt``, i, j = k, .., d - k, is so for k = 0, .., d / 2. Here

       beta_ijt  =  sum_u (-1)^(u - t) C(u, t) C(d - 2k, u - k) C(d - k - u, i - u) C(d - k - u, j - u)

   (Schrijver 2005, New code upper bounds from the Terwilliger algebra and semidefinite programming, (22) and (39); rows and columns are not
   divided by the square roots there, which changes no sign of an eigenvalue). Those for k = 0 are sums over all x and y, and keep the border.

All numbers in the forms are whole, or whole over n or n^2, and small enough to be exact in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import comb

import numpy as np

# Whole numbers are exact in floating point up to here.
EXACT = 2**53


def _choose(n: int, k: int) -> int:
    return comb(n, k) if 0 <= k <= n else 0


def known_of(length: int) -> bool:
    """True if there are `Moments` of records of this length."""
    return 2 <= length <= 16


@cache
def beta(d: int, i: int, j: int, t: int, k: int) -> int:
    """Schrijver's number for a cube of d bits."""
    return sum(
        (-1) ** (u - t) * comb(u, t) * _choose(d - 2 * k, u - k) * _choose(d - k - u, i - u) * _choose(d - k - u, j - u)
        for u in range(t, d + 1)
    )


@dataclass(frozen=True)
class FormBlock:
    """A matrix of forms (size, size, moments) in its upper triangle: ``entries`` (q,) numbers at ``rows``, ``columns``, ``moments``. ``norms``
    (size,) are the lengths of the vectors that it is seen through."""

    size: int
    rows: np.ndarray
    columns: np.ndarray
    moments: np.ndarray
    entries: np.ndarray
    norms: np.ndarray


class Moments:
    """The moments of sets of records of ``length`` bits."""

    def __init__(self, length: int):
        self.length, self.types = length, 2**length
        d = length
        self.triples = [
            (a, b, e)
            for a in range(1, d + 1)
            for b in range(a, d + 1)
            for e in range(b, d + 1)
            if (a + b + e) % 2 == 0 and 2 * e <= a + b + e <= 2 * d
        ]
        self._place = {key: d + 2 + number for number, key in enumerate(self.triples)}
        self.count = d + 2 + len(self.triples)
        self.around = np.array([comb(d, r) for r in range(d + 1)])
        """(d + 1,) records at each distance."""

    def pair(self, r: int) -> int:
        """The number of P_r."""
        return 1 + r

    def triple(self, i: int, j: int, t: int) -> int:
        """The number of the moment of z, x and y: x differs from z at i places, y at j and both at t."""
        a, b, e = sorted((i, j, i + j - 2 * t))
        return self.pair(e) if a == 0 else self._place[a, b, e]

    @cached_property
    def fourier_weights(self) -> np.ndarray:
        """(d + 1, moments) W^l."""
        d = self.length
        weights = np.zeros((d + 1, self.count))
        for level in range(d + 1):
            for r, many in enumerate(self.around.tolist()):
                terms = ((-1) ** h * comb(r, h) * _choose(d - r, level - h) for h in range(level + 1))
                weights[level, self.pair(r)] = sum(terms) * many / self.types
        return weights

    @cached_property
    def signs(self) -> np.ndarray:
        """(q, moments) what is never negative of triples; that moments are not negative is left out."""
        rows = []
        for number, (a, b, e) in enumerate(self.triples):
            t, (x, y, z) = self.length + 2 + number, (self.pair(a), self.pair(b), self.pair(e))
            rows += [{pair_moment: 1, t: -1} for pair_moment in {x, y, z}]
            rows += [
                _sum({1: 1, t: 1}, {pair_moment: -1}, {other: -1}) for pair_moment, other in {(x, y), (x, z), (y, z)}
            ]
            rows += [_sum({0: 1, 1: -3, t: -1}, {x: 1}, {y: 1}, {z: 1})]
        return self._forms(rows)

    @cached_property
    def sized(self) -> tuple[np.ndarray, np.ndarray]:
        """(3 d + 2, moments) forms g that are never negative, and a times these; f(x) f(z) first, by distance."""
        d, n = self.length, self.types
        own, times = np.zeros((d + 1, self.count)), np.zeros((d + 1, self.count))
        own[np.arange(d + 1), 1 + np.arange(d + 1)] = 1
        for i, j in np.ndindex(d + 1, d + 1):
            for t in range(max(0, i + j - d), min(i, j) + 1):  # n times the means: whole
                times[i, self.triple(i, j, t)] += comb(i, t) * comb(d - i, j - t)
        unit, share = np.zeros(self.count), np.zeros(self.count)
        unit[0], share[1] = 1, 1
        square = times[0]
        apart, neither = own[0] - own[1:], unit - 2 * own[0] + own
        times_neither = n * share - 2 * square + times
        return np.vstack([own, apart, neither]), np.vstack([times, square - times[1:], times_neither]) / n

    @cached_property
    def cube(self) -> np.ndarray:
        """(moments,) a^3."""
        return np.asarray(self.around @ self.sized[1][: self.length + 1] / self.types)

    def between(self, low: np.ndarray, high: np.ndarray, sign: int = -1) -> np.ndarray:
        """(m, 2, moments) ``(a - low) (high - a)`` times f(z) and times 1 - f(z), for shares ``low`` and ``high`` (m,); with ``sign`` 1, the sums
        of the absolute values of their terms."""
        unit, share, square = np.zeros(self.count), np.zeros(self.count), self.sized[1][0]
        unit[0], share[1] = 1, 1
        total, product = (low + high)[:, None], (low * high)[:, None]
        inside = total * square + sign * (product * share + self.cube)
        return np.stack([inside, total * share + sign * (product * unit + square + inside)], axis=1)

    @cached_property
    def blocks(self) -> list[FormBlock]:
        """Positive semidefinite matrices of forms: with z in T, k = 0, .., d / 2, then without."""
        return [self._block(k, inside) for inside in (True, False) for k in range(self.length // 2 + 1)]

    def _block(self, k: int, inside: bool) -> FormBlock:
        d, last, numbers = self.length, self.length - k, dict[tuple[int, int, int], int]()

        def add(row: int, column: int, moment: int, number: int) -> None:
            numbers[row, column, moment] = numbers.get((row, column, moment), 0) + number

        bordered = k == 0 and not inside
        norms = [float(comb(d - 2 * k, i - k)) ** 0.5 for i in range(k, last + 1)]
        every = [(i, j) for i in range(k + bordered, last + 1) for j in range(i, last + 1)]
        for i, j, t in ((*entry, t) for entry in every for t in range(max(0, sum(entry) - d), entry[0] + 1)):
            number = beta(d, i, j, t, k)
            add(i - k, j - k, self.triple(i, j, t), number if inside else -number)
            if not inside:
                add(i - k, j - k, self.pair(i + j - 2 * t), number)
        if bordered:  # z itself is not in T: the border takes its place
            add(0, 0, 0, 1)
            add(0, 0, 1, -1)
            for i, many in enumerate(self.around.tolist()[1:], 1):
                add(0, i, 1, many)
                add(0, i, self.pair(i), -many)
        kept = [(*key, number) for key, number in numbers.items() if number]
        assert max(abs(number) for *_, number in kept) < EXACT
        rows, columns, moments = (np.array([entry[axis] for entry in kept]) for axis in range(3))
        return FormBlock(
            len(norms), rows, columns, moments, np.array([float(entry[3]) for entry in kept]), np.array(norms)
        )

    def _forms(self, rows: list[dict[int, int]]) -> np.ndarray:
        forms = np.zeros((len(rows), self.count))
        for row, numbers in zip(forms, rows, strict=True):
            row[list(numbers)] = list(numbers.values())
        return forms


def _sum(*parts: dict[int, int]) -> dict[int, int]:
    total: dict[int, int] = {}
    for part in parts:
        for place, number in part.items():
            total[place] = total.get(place, 0) + number
    return total


@cache
def moments(length: int) -> Moments:
    """`Moments`, once for each number of bits."""
    return Moments(length)
