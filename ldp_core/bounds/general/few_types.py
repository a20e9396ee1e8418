"""Whole-number cuts on few types at a time: what the high entries of a row obey because they are 0
or 1.

Let c and k be whole, and h_i = y_i / D the high entries of a few types. Then

    (c'h - k)(c'h - k - 1) >= 0.

The choice c = (1, -1, -1), k = -1 gives ``h_1 + h_2 h_3 >= h_1 h_2 + h_1 h_3``, and c = (1, 1, 1),
k = 1 gives ``1 + h_1 h_2 + h_1 h_3 + h_2 h_3 >= h_1 + h_2 + h_3``: together the triangle
inequalities of the Boolean quadric polytope (Padberg 1989). Those of more types are among the
hypermetric and gap inequalities (Deza and Laurent 1997, chapters 28 and 30). Pairs, sizes and positive
definite moments leave them out, and lose most by that where few queries are asked about many types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from scipy import sparse

_MOST_TYPES = 6
"""The most types of a cut that is looked for, with coefficients 1 and -1: more gain little."""


@dataclass(frozen=True)
class Cuts:
    """``types`` (t, w), their coefficients ``signs`` (t, w), some of them 0, and ``floors`` k (t,), of ``n`` types."""

    types: np.ndarray
    signs: np.ndarray
    floors: np.ndarray
    n: int

    @classmethod
    def none(cls, n: int) -> Cuts:
        empty = np.zeros((0, min(n, _MOST_TYPES)), dtype=np.int64)
        return cls(empty, empty, empty[:, 0], n)

    @classmethod
    def read(cls, rows: np.ndarray, n: int) -> Cuts:
        """Cuts written as rows (t, 2w + 1): w types, their coefficients, and k."""
        width = rows.shape[1] // 2
        types, signs, floors = np.split(rows.astype(np.int64), (width, 2 * width), axis=1)
        return cls(types, signs, floors.ravel(), n)

    @property
    def written(self) -> np.ndarray:
        """(t, 2w + 1) the rows that `read` takes."""
        return np.column_stack([self.types, self.signs, self.floors]).astype(float)

    def __len__(self) -> int:
        return len(self.floors)

    def __add__(self, other: Cuts) -> Cuts:
        return Cuts.read(np.vstack([self.written, other.written]), self.n)

    def kept(self, which: np.ndarray) -> Cuts:
        return Cuts(self.types[which], self.signs[which], self.floors[which], self.n)

    @cached_property
    def products(self) -> sparse.csr_matrix:
        """(t, n^2) the coefficients c_i c_j of the products y_i y_j of different types."""
        places = [*permutations(range(self.types.shape[1]), 2)]
        first, second = np.array(places, dtype=int).reshape(-1, 2).T
        rows = np.repeat(np.arange(len(self)), len(places))
        cells = self.types[:, first] * self.n + self.types[:, second]
        entries = (self.signs[:, first] * self.signs[:, second]).astype(float)
        made = sparse.csr_matrix((entries.ravel(), (rows, cells.ravel())), (len(self), self.n**2))
        made.eliminate_zeros()
        return made

    @cached_property
    def singles(self) -> sparse.csr_matrix:
        """(t, n) the coefficients ``c_i^2 - (2k + 1) c_i`` of D y_i, as y_i^2 = D y_i."""
        rows = np.repeat(np.arange(len(self)), self.types.shape[1])
        entries = self.signs**2 - (2 * self.floors + 1)[:, None] * self.signs
        return sparse.csr_matrix((entries.ravel().astype(float), (rows, self.types.ravel())), (len(self), self.n))

    @property
    def constants(self) -> np.ndarray:
        """(t,) the constants ``k (k + 1)``, in units of D^2."""
        return self.floors * (self.floors + 1.0)

    def values(self, second: np.ndarray, first: np.ndarray, mass: float, D: float) -> np.ndarray:
        """(t,) ``(c'y - k D)(c'y - (k + 1) D)`` on average over moments: ``second`` (n, n), ``first`` (n,)
        and ``mass``."""
        return self.products @ second.ravel() + D * (self.singles @ first) + D**2 * mass * self.constants

    def adjoint(self, weights: np.ndarray, D: float) -> tuple[np.ndarray, np.ndarray, float]:
        """The sum of the cuts with ``weights`` (t,): the coefficients (n, n) of y_i y_j, (n,) of y_i, and
        the constant."""
        products = (self.products.T @ weights).reshape(self.n, self.n)
        return products, D * (self.singles.T @ weights), D**2 * float(weights @ self.constants)


def violated(
    second: np.ndarray, first: np.ndarray, mass: float, D: float, least: float, most: int, rng: np.random.Generator
) -> Cuts:
    """Cuts that moments violate by more than ``least``, the deepest first, at most ``most`` of them: ``second`` (n, n) with any diagonal,
    ``first`` (n,) and ``mass``. They are where changes of single coefficients end, from random sets of types."""
    n = len(first)
    h = first / (D * mass)
    H = second / (D**2 * mass)
    H[np.diag_indices(n)] = h
    rows = np.arange(8000)  # random sets of two to four types
    c = np.zeros((len(rows), n), dtype=np.int8)
    for part in (rows, rows, rows[::2], rows[::4]):
        c[part, rng.integers(0, n, len(part))] = rng.choice(np.array([-1, 1], dtype=np.int8), len(part))
    means, linear = c @ h, c @ H
    squares = np.einsum("ij,ij->i", linear, c)
    active = rows
    while len(active):
        best, place, move = _depths(means[active], squares[active]), np.full(len(active), -1), np.zeros(len(active))
        full = np.count_nonzero(c[active], axis=1) >= _MOST_TYPES
        for sign in (-1, 1):
            moved = _depths(
                means[active, None] + sign * h, squares[active, None] + 2 * sign * linear[active] + H.diagonal()
            )
            moved[(c[active] == sign) | (full[:, None] & (c[active] == 0))] = np.inf
            where = moved.argmin(axis=1)
            depths = moved[np.arange(len(active)), where]
            better = depths < best - 1e-9
            best[better], place[better], move[better] = depths[better], where[better], sign
        going = place >= 0
        active, place, move = active[going], place[going], move[going]
        c[active, place] += move.astype(np.int8)
        squares[active] += 2 * move * linear[active, place] + h[place]
        means[active] += move * h[place]
        linear[active] += move[:, None] * H[place]
    depths = _depths(means, squares)
    deep = np.flatnonzero(depths < -least / (D**2 * mass))
    _, kept = np.unique(c[deep], axis=0, return_index=True)
    deep = deep[kept]
    deep = deep[np.argsort(depths[deep], kind="stable")[:most]]
    types = np.argsort(c[deep] == 0, axis=1, kind="stable")[:, : min(n, _MOST_TYPES)]
    signs = np.take_along_axis(c[deep], types, axis=1).astype(np.int64)
    return Cuts(types, signs, np.floor(means[deep]).astype(np.int64), n)


def _depths(means: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """``(c'h - k)(c'h - k - 1)`` on average for the k that makes it least, of the ``means`` of c'h and of its ``squares``."""
    k = np.floor(means)
    return squares - (2 * k + 1) * means + k * (k + 1)
