"""Moments of triples of records: constraints that every set of records obeys, as linear forms and
matrices of forms in few numbers.

Records are words of d letters, each one of q (bits for q = 2). T is a set of N of the ``n = q^d`` records, of share ``a = N / n``, f its 0/1
function; x, y, z are records. Averaged over all permutations of the letters at each place, and of the places (all are symmetries of everything
here), T is known by

* 1 itself; ``P_r``, r = 0, .., d: the mean of ``f(x) f(y)`` over pairs at distance r, ``P_0 = a``;
* ``t_abec``, 1 <= a <= b <= e: the mean of ``f(x) f(y) f(z)`` over triples at these distances from each other where all three letters differ at
  c places (none for bits).

All of them lie in [0, a]. A vector of them, in this order, is what `Moments` numbers. The Fourier
weights ``W^l`` are the squared norms of f's projections on the functions of exactly l letters:
``W^l = sum_r C(d, r) (q - 1)^r K_l(r) P_r / n`` with the polynomials K of Krawtchouk, and
``W^0 = a^2``. Each of the following is a mean over z of an expression that is never negative,
whatever T is:

1. *Signs.* ``f(x) f(y) (1 - f(z))``, ``f(x) (1 - f(y)) (1 - f(z))`` and ``(1 - f(x)) (1 - f(y)) (1 - f(z))``, for every triple.
2. *Sizes.* Where ``a_1 <= a <= a_2``: ``(a - a_1) g`` and ``(a_2 - a) g`` for g one of ``f(x) f(z)``, ``(1 - f(x)) f(z)`` and
   ``(1 - f(x)) (1 - f(z))`` at each distance, and ``(a - a_1) (a_2 - a) g`` for g one of f(z) and 1 - f(z). As a is the mean of f, these are moments too.
3. *Whole numbers.* With N_r(z) the number of x in T at distance r from z, and whole numbers u_r and k, ``h = sum_r u_r N_r(z)`` is whole, and
   so ``(h - k) (h - k - 1)`` is not negative; times f(z), or times 1 - f(z).
4. *Squares.* The matrices of ``f(z) f(x) f(y)``, and of ``(1 - f(z)) f(x) f(y)`` with the border
   ``(1 - f(z)) f(x)`` and the corner ``1 - f(z)``, are positive semidefinite. Moved so that z = 0
   and averaged, they are in the Terwilliger algebra: the entry at (x, y) depends on how many
   letters are not 0 in x, i, in y, j, and in both, t, and on how many of the t are the same in
   both, p. Such a matrix of numbers m_ijtp is positive semidefinite only if the matrix of ``sum_tp
   (q - 1)^(i + j - t) beta_ijt gamma_tp m_ijtp``, i, j = k, .., d + a - k, is so for a = 0, .., d
   (a = 0 alone for bits) and k = a, .., (d + a) / 2. Here

       beta_ijt  =  sum_u (-1)^(u - t) C(u - a, t - a) C(d + a - 2k, u - k) C(d + a - k - u, i - u) C(d + a - k - u, j - u)
       gamma_tp  =  sum_g (-1)^(a - g) C(a, g) C(t - a, p - g) (q - 2)^(t - a - p + g)

   (for bits Schrijver 2005, New code upper bounds from the Terwilliger algebra and semidefinite programming, (22) and (39); Gijswijt, Schrijver
   and Tanaka 2006, New upper bounds for nonbinary codes based on the Terwilliger algebra and semidefinite programming; rows and columns are not
   divided by the square roots there, which changes no sign of an eigenvalue). Those for a = k = 0 are sums over all x and y, and keep the border.

All numbers in the forms are whole, or whole over n or n^2. They are small enough for bits to be
exact in floating point. The numbers for more letters are rounded to the nearest, except those of
`Moments.cube`, sums with a term for each letter of a record. Those of whole numbers are always
exact (there are at most `COUNTED_RECORDS` records).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import comb

import numpy as np

_MOST_BITS = 16
_MOST_LETTERS = 12
_MOST_TYPES = 2**28
"""Most letters of a record, for two letters in the alphabet and for more, and most records."""
COUNTED_RECORDS = 2**20
"""If there are more records, whole-number constraints are not used."""
# Whole numbers are exact in floating point up to here.
EXACT = 2**53


def _choose(n: int, k: int) -> int:
    return comb(n, k) if 0 <= k <= n else 0


def known_of(length: int, alphabet: int) -> bool:
    """True if there are `Moments` of records of this length over an ``alphabet`` of this size."""
    most = _MOST_BITS if alphabet == 2 else _MOST_LETTERS
    return alphabet >= 2 and 2 <= length <= most and alphabet**length <= _MOST_TYPES


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


def gamma(q: int, t: int, p: int, a: int) -> int:
    """Gijswijt, Schrijver and Tanaka's number for letters of q: g of the a are among the p that are the same."""
    total = 0
    for g in range(min(a, p) + 1):
        other = t - a - p + g  # letters that are not 0 in x and y and not the same
        if other >= 0:
            total += (-1) ** (a - g) * comb(a, g) * comb(t - a, p - g) * (q - 2) ** other
    return total


class Moments:
    """The moments of sets of records of ``length`` letters, each one of ``alphabet``."""

    def __init__(self, length: int, alphabet: int = 2):
        self.length, self.alphabet, self.types = length, alphabet, alphabet**length
        d = length
        self.triples = [
            (a, b, e, c)
            for a in range(1, d + 1)
            for b in range(a, d + 1)
            for e in range(b, d + 1)
            for c in range(d + 1 if alphabet > 2 else 1)
            if (a + b + e - c) % 2 == 0 and 2 * e <= a + b + e - c <= 2 * d
        ]
        self._place = {key: d + 2 + number for number, key in enumerate(self.triples)}
        self.count = d + 2 + len(self.triples)
        self.around = np.array([comb(d, r) * (alphabet - 1) ** r for r in range(d + 1)])
        """(d + 1,) records at each distance."""

    def pair(self, r: int) -> int:
        """The number of P_r."""
        return 1 + r

    def triple(self, i: int, j: int, t: int, p: int | None = None) -> int:
        """The number of the moment of z, x and y: x differs from z at i places, y at j and both at
        t. Both have the same letter at p of these (None: at all of them)."""
        apart = 0 if p is None else t - p
        a, b, e = sorted((i, j, i + j - 2 * t + apart))
        return self.pair(e) if a == 0 else self._place[a, b, e, apart]

    def same(self, t: int) -> range:
        """How many of t letters that differ from those of a record may be the same in two others."""
        return range(t + 1) if self.alphabet > 2 else range(t, t + 1)

    @cached_property
    def places(self) -> np.ndarray:
        """(k, 5) for all (i, j, t, p): i, j, the distance of x and y, the moment of z, x and y, and the number of such (x, y)."""
        d, q = self.length, self.alphabet
        return np.array(
            [
                (
                    i,
                    j,
                    i + j - t - p,
                    self.triple(i, j, t, p),
                    places * comb(t, p) * (q - 1) ** (i + j - t) * (q - 2) ** (t - p),
                )
                for i in range(d + 1)
                for j in range(d + 1)
                for t in range(max(0, i + j - d), min(i, j) + 1)
                for places in [comb(d, i) * comb(i, t) * comb(d - i, j - t)]
                for p in self.same(t)
            ]
        )

    @cached_property
    def fourier_weights(self) -> np.ndarray:
        """(d + 1, moments) W^l."""
        d, q = self.length, self.alphabet
        weights = np.zeros((d + 1, self.count))
        for level in range(d + 1):
            for r, many in enumerate(self.around.tolist()):
                terms = (
                    (-1) ** h * (q - 1) ** (level - h) * comb(r, h) * _choose(d - r, level - h)
                    for h in range(level + 1)
                )
                weights[level, self.pair(r)] = sum(terms) * many / self.types
        return weights

    @cached_property
    def signs(self) -> np.ndarray:
        """(q, moments) what is never negative of triples; that moments are not negative is left out."""
        rows = []
        for number, (a, b, e, _) in enumerate(self.triples):
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
        i, _, _, moment, pairs = self.places.T
        np.add.at(times, (i, moment), pairs // self.around[i])  # n times the means: whole
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

    def whole(self, cuts: np.ndarray) -> np.ndarray:
        """(c, moments) ``(h - k) (h - k - 1)`` by ``cuts`` (c, d + 2): u_1, .., u_d, k, and 1 where z is in T, 0 where it is not."""
        u = np.hstack([np.zeros((len(cuts), 1)), cuts[:, : self.length]])
        k, inside = cuts[:, -2, None], cuts[:, -1, None]
        i, j, apart, moment, pairs = self.places.T
        products = u[:, i] * u[:, j] * pairs
        squares, first, outer = (np.zeros((len(cuts), self.count)) for _ in range(3))
        np.add.at(squares.T, moment, products.T)
        np.add.at(outer.T, 1 + apart, products.T)
        first[:, 1 : self.length + 2] = u * self.around
        unit, share = np.zeros(self.count), np.zeros(self.count)
        unit[0], share[1] = 1, 1
        within = squares - (2 * k + 1) * first + k * (k + 1) * share
        total = first.sum(axis=1, keepdims=True) * share
        without = outer - squares - (2 * k + 1) * (total - first) + k * (k + 1) * (unit - share)
        return np.where(inside == 1, within, without)

    @cached_property
    def blocks(self) -> list[FormBlock]:
        """Positive semidefinite matrices of forms: with z in T, a = 0, .., d and k = a, .., (d + a) / 2, then without."""
        d = self.length
        kinds = [(a, k) for a in range(d + 1 if self.alphabet > 2 else 1) for k in range(a, (d + a) // 2 + 1)]
        return [self._block(a, k, inside) for inside in (True, False) for a, k in kinds]

    def _block(self, a: int, k: int, inside: bool) -> FormBlock:
        d, q, last, numbers = self.length, self.alphabet, self.length + a - k, dict[tuple[int, int, int], int]()

        def add(row: int, column: int, moment: int, number: int) -> None:
            numbers[row, column, moment] = numbers.get((row, column, moment), 0) + number

        bordered = k == 0 and not inside
        norms = [float(comb(last - k, i - k) * (q - 1) ** i) ** 0.5 for i in range(k, last + 1)]
        every = [(i, j) for i in range(k + bordered, last + 1) for j in range(i, last + 1)]
        for i, j, t in ((*entry, t) for entry in every for t in range(max(a, sum(entry) - d), entry[0] + 1)):
            number = beta(d - a, i - a, j - a, t - a, k - a) * (q - 1) ** (i + j - t)
            for p in self.same(t):
                add(i - k, j - k, self.triple(i, j, t, p), (1 if inside else -1) * number * gamma(q, t, p, a))
                if not inside:
                    add(i - k, j - k, self.pair(i + j - t - p), number * gamma(q, t, p, a))
        if bordered:  # z itself is not in T: the border takes its place
            add(0, 0, 0, 1)
            add(0, 0, 1, -1)
            for i, many in enumerate(self.around.tolist()[1:], 1):
                add(0, i, 1, many)
                add(0, i, self.pair(i), -many)
        kept = [(*key, number) for key, number in numbers.items() if number]
        assert q > 2 or max(abs(number) for *_, number in kept) < EXACT
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
def moments(length: int, alphabet: int = 2) -> Moments:
    """`Moments`, once for each number of letters and of what these are."""
    return Moments(length, alphabet)
