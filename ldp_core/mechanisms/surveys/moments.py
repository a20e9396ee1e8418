"""Exact variances of the estimates from scrambled patterns, per person, without writing out an
image.

A report (B, t, S) adds to a row r over the cells of a table Q, taken as the query ``sum_z r(z) x_Q(z)``,

    mean(r) + w / n_B  sum_(v in T) rho(pi v),    rho = sum_(A within B and Q) P_A r / m_A,    w = D / (1 + D s),

pi being the permutations of the values that carry the pattern T to its image S. The permutations
have, for a person of cell y, the density (1 + D 1_T(pi^-1 y)) / (1 + D s) against uniform
permutations. The second moment is a sum over pairs of sets A, A' that lie in B and in Q. With K
their union, every attribute of K enters as follows. If it is in one of the two only, the mean of
the other factor fixes it. If it is in both, take two functions f, g that sum to zero, and two
patterns t, t' that do. Permutations turn the product into
``alpha(q) sum(f g) + beta(q) f(y) g(y)``, q = t t', two operators on functions of the n values v of
the attribute,

    alpha = (n (n - 1) mean - n) / ((n - 1)(n - 2)),    beta = n^2 (1 - mean) / ((n - 1)(n - 2))    (2 mean and 0 where n = 2).

A report's second moment therefore takes 4^|K| numbers for every set K, for any row, and a person's
variance of a cell depends only on which attributes agree with it. Source: this project; brute force
in `tests/mechanisms/test_scrambled.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.mechanisms.base import runs
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.privacy import exp_epsilon

FIRST, SECOND, SUMMED, OWN = range(4)
"""The role of an attribute of K: in A only, in A' only, or in both, as alpha or as beta."""


class PatternMoments:
    """Second moments of reports of ``patterns`` over attributes of ``sizes``, which are sent with the probabilities ``shares``
    (r,) and count with ``weights`` (r,) in estimates, ``information`` {A: m_A} being that of the components."""

    def __init__(
        self,
        sizes: Sequence[int],
        epsilon: float,
        patterns: Sequence[Pattern],
        shares: np.ndarray,
        weights: np.ndarray,
        information: Mapping[Set, float],
    ):
        self.sizes, self.patterns, self.information = sizes, patterns, information
        self._difference, self._weights = exp_epsilon(epsilon) - 1, weights
        self._scales = shares * weights**3 / self._difference
        """(r,) what multiplies the mean over images of (w/n_B . . .)^2 (1 + D 1_T), but for n_B."""
        self._holding: dict[Set, list[int]] = {}
        for number, pattern in enumerate(self.patterns):
            for members in anova.subsets(i for i in pattern.attributes if self.sizes[i] > 1):
                self._holding.setdefault(members, []).append(number)
        self._known: dict[Set, np.ndarray] = {}
        self._alike: dict[tuple[int, Set], np.ndarray] = {}
        self._spread: dict[Set, tuple[float, float]] = {}

    def pairs(self, union: Set) -> np.ndarray:
        """(4,) * |K| second moments of the components A and A' with A and A' together K, divided by m_A m_A'."""
        if union not in self._known:
            pairs = np.zeros((4,) * len(union))
            for number in self._holding.get(union, ()):
                pattern = self.patterns[number]
                places = tuple(pattern.attributes.index(i) for i in union)
                key = (id(pattern.cells), places)  # patterns of many sets share their cells
                if key not in self._alike:
                    self._alike[key] = _pattern_pairs(pattern.cells, places, self._difference)
                pairs += self._scales[number] / pattern.cells.size**2 * self._alike[key]
            for roles in np.ndindex(pairs.shape):
                first, second = _sides(union, roles)
                scale = self.information.get(first, math.inf) * self.information.get(second, math.inf)
                pairs[roles] /= scale  # components that are not identified take no part
            self._known[union] = pairs
        return self._known[union]

    def squares(self, attributes: Set, rows: np.ndarray) -> np.ndarray:
        """(q, cells) mean square of what a person of each cell of the table of ``attributes`` adds to ``rows`` (q, cells), less their means."""
        sizes = [self.sizes[i] for i in attributes]
        rows = np.asarray(rows, dtype=float)
        at_once = runs(len(rows), 2**22 // rows.shape[1])
        parts = [self._squares(attributes, rows[some].reshape(-1, *sizes)) for some in at_once]
        return np.concatenate(parts or [np.zeros(rows.shape)])

    def _squares(self, attributes: Set, rows: np.ndarray) -> np.ndarray:
        squares, parts = np.zeros(rows.shape), _components(rows, attributes)
        for union in anova.subsets(i for i in attributes if self.sizes[i] > 1):
            if not union or union not in self._holding:
                continue
            factors = self.pairs(union)
            for roles in np.ndindex(factors.shape):
                first, second = _sides(union, roles)
                if first and second and factors[roles]:
                    summed = tuple(
                        1 + attributes.index(i) for i, role in zip(union, roles, strict=True) if role == SUMMED
                    )
                    both = parts[first] * parts[second]
                    squares += factors[roles] * (both.sum(axis=summed, keepdims=True) if summed else both)
        return squares.reshape(len(rows), -1)

    def ends(self, attributes: Set, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q,) the least and the most that a report can add to ``rows`` (q, cells) of the table of ``attributes``: exact for rows
        about one cell, else bounds (of all ways to lay the counts of a pattern on the cells, not only permutations of values)."""
        single = (rows != 0).sum(axis=1) == 1
        low, high = np.zeros(len(rows)), np.zeros(len(rows))
        if single.any():
            value = rows[single].sum(axis=1)
            both = np.outer(value, self._cell_ends(attributes))
            low[single], high[single] = both.min(axis=1), both.max(axis=1)
        if not single.all():
            low[~single], high[~single] = self._bounded_ends(attributes, rows[~single])
        return low, high

    def _touching(self, attributes: Set) -> list[int]:
        """Patterns on some of the ``attributes``."""
        places: set[int] = set()
        for i in attributes:
            places.update(self._holding.get((i,), ()))
        return sorted(places)

    def _cell_ends(self, attributes: Set) -> tuple[float, float]:
        if attributes not in self._spread:
            cells = math.prod(self.sizes[i] for i in attributes)
            ends, known = [1 / cells], set()
            for number in self._touching(attributes):
                pattern = self.patterns[number]
                kept = [p for p, i in enumerate(pattern.attributes) if i in attributes and self.sizes[i] > 1]
                key = (id(pattern.cells), tuple(pattern.attributes[p] for p in kept))
                if key not in known:
                    known.add(key)
                    adds = self._pattern_adds(pattern, kept)
                    ends += [(1 + adds * self._weights[number]) / cells for adds in (adds.min(), adds.max())]
            self._spread[attributes] = min(ends), max(ends)
        return self._spread[attributes]

    def _pattern_adds(self, pattern: Pattern, kept: Sequence[int]) -> np.ndarray:
        """Over the cells u = pi^-1(z) of the axes ``kept``: ``sum_A n_A / (n_B m_A) (P_A of the summed pattern)(u)``."""
        sizes = [pattern.cells.shape[p] for p in kept]
        adds = np.zeros(sizes)
        for axes in anova.subsets(range(len(kept))):
            members = tuple(pattern.attributes[kept[a]] for a in axes)
            if axes and members in self.information:
                component = anova.component(pattern.cells, [kept[a] for a in axes])  # a mean: n_A / n_B times the sum
                adds += (
                    component.reshape([size if a in axes else 1 for a, size in enumerate(sizes)])
                    / self.information[members]
                )
        return adds

    def _bounded_ends(self, attributes: Set, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tables = rows.reshape(len(rows), *[self.sizes[i] for i in attributes])
        mean, parts = rows.mean(axis=1), _components(tables, attributes)
        low, high = mean.copy(), mean.copy()
        sorted_rows: dict[Set, np.ndarray] = {}
        for number in self._touching(attributes):
            pattern = self.patterns[number]
            common = tuple(i for i in pattern.attributes if i in attributes and self.sizes[i] > 1)
            if common not in sorted_rows:
                sorted_rows[common] = self._sorted_rho(parts, common)
            others = tuple(p for p, i in enumerate(pattern.attributes) if i not in common)
            laid = np.sort(pattern.cells.sum(axis=others).ravel()) * self._weights[number] / pattern.cells.size
            np.maximum(high, mean + sorted_rows[common] @ laid, out=high)
            np.minimum(low, mean + sorted_rows[common] @ laid[::-1], out=low)
        return low, high

    def _sorted_rho(self, parts: dict[Set, np.ndarray], common: Set) -> np.ndarray:
        """(q, cells of the table of ``common``) rho of every row, its values in increasing order."""
        within = [members for members in anova.subsets(common) if members and members in self.information]
        rho = sum((parts[members] / self.information[members] for members in within), np.zeros_like(parts[common]))
        return np.sort(rho.reshape(len(rho), -1), axis=1)


def _sides(union: Set, roles: Sequence[int]) -> tuple[Set, Set]:
    """The sets A and A'."""
    first = tuple(i for i, role in zip(union, roles, strict=True) if role != SECOND)
    return first, tuple(i for i, role in zip(union, roles, strict=True) if role != FIRST)


def _components(rows: np.ndarray, attributes: Set) -> dict[Set, np.ndarray]:
    """{A: P_A of every one of ``rows`` (q, n_1, ..., n_k)}, all other axes having length 1."""
    return {tuple(attributes[axis] for axis in axes): part for axes, part in anova.components(rows).items()}


def _pattern_pairs(cells: np.ndarray, places: Sequence[int], difference: float) -> np.ndarray:
    """(4,) * |K| ``mean_y psi_A(y) psi_A'(y) (operators on 1 + D t)(y)`` of a pattern with ``cells``, K the axes ``places``:
    psi_A is P_A of the pattern summed over the axes not in A, t its mean over those not in K."""
    sizes = [cells.shape[p] for p in places]
    others = tuple(p for p in range(cells.ndim) if p not in places)
    density = 1 + difference * cells.mean(axis=others) if others else 1 + difference * cells
    for axis in range(len(sizes)):  # a new last axis for each: what its attribute is
        density = _by_role(density, axis)
    density, psi = np.moveaxis(density, range(-len(sizes), 0), range(len(sizes))), {}
    for axes in anova.subsets(range(len(sizes))):
        members = [places[a] for a in axes]
        summed = cells.size / math.prod(sizes[a] for a in axes)
        shape = [size if a in axes else 1 for a, size in enumerate(sizes)]
        psi[axes] = (anova.component(cells, members) * summed).reshape(shape)
    pairs = np.zeros((4,) * len(sizes))
    for roles in product(range(4), repeat=len(sizes)):
        first, second = _sides(tuple(range(len(sizes))), roles)
        if first and second:
            pairs[roles] = float(np.mean(psi[first] * psi[second] * density[roles]))
    return pairs


def _by_role(table: np.ndarray, axis: int) -> np.ndarray:
    """The operators of the four roles along ``axis``, stacked along a new last axis."""
    n = table.shape[axis]
    mean = np.broadcast_to(table.mean(axis=axis, keepdims=True), table.shape)
    single = table * (n / (n - 1))
    if n == 2:
        return np.stack([single, single, 2 * mean, np.zeros(table.shape)], axis=-1)
    scale = (n - 1) * (n - 2)
    summed, centred = (n * (n - 1) * mean - n * table) / scale, n**2 * (table - mean) / scale
    return np.stack([single, single, summed, centred], axis=-1)
