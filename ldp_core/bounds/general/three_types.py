"""Whole-number cuts on three types at a time: what the high entries of a row obey because they are 0
or 1.

Let c_1, c_2, c_3 and k be whole, and h_i = y_i / D the high entries of any three types. Then

    (c'h - k)(c'h - k - 1) >= 0.

The choice c = (1, -1, -1), k = -1 gives ``h_1 + h_2 h_3 >= h_1 h_2 + h_1 h_3``, and c = (1, 1, 1),
k = 1 gives ``1 + h_1 h_2 + h_1 h_3 + h_2 h_3 >= h_1 + h_2 + h_3``: together the triangle
inequalities of the Boolean quadric polytope (Padberg 1989). The moment relaxation misses them most
where few queries are asked about many types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

_LARGEST_WHOLE = 2.0**20
"""Whole numbers up to this have exact products, and so do these with D rounded once."""
CENTRED = ((1, -1, -1), -1)
JOINT = ((1, 1, 1), 1)


@dataclass(frozen=True)
class Cuts:
    """``types`` (t, 3), their coefficients ``signs`` (t, 3) and ``floors`` k (t,), of ``n`` types."""

    types: np.ndarray
    signs: np.ndarray
    floors: np.ndarray
    n: int

    @classmethod
    def none(cls, n: int) -> Cuts:
        empty = np.zeros((0, 3), dtype=np.int64)
        return cls(empty, empty, np.zeros(0, dtype=np.int64), n)

    @classmethod
    def read(cls, rows: np.ndarray, n: int) -> Cuts | None:
        """Cuts written as rows (t, 7): three types, their coefficients, and k. None unless all numbers are
        whole and small, and the types three different ones of ``n``."""
        if not np.array_equal(rows, np.rint(rows)) or np.abs(rows).max(initial=0.0) > _LARGEST_WHOLE:
            return None
        types, signs, floors = np.split(rows.astype(np.int64), (3, 6), axis=1)
        ordered = np.sort(types, axis=1)
        if len(rows) and (ordered.min() < 0 or ordered.max() >= n or np.diff(ordered, axis=1).min() == 0):
            return None
        return cls(types, signs, floors.ravel(), n)

    @property
    def written(self) -> np.ndarray:
        """(t, 7) the rows that `read` takes."""
        return np.column_stack([self.types, self.signs, self.floors]).astype(float)

    def __len__(self) -> int:
        return len(self.floors)

    def __add__(self, other: Cuts) -> Cuts:
        types, signs = np.vstack([self.types, other.types]), np.vstack([self.signs, other.signs])
        return Cuts(types, signs, np.concatenate([self.floors, other.floors]), self.n)

    def kept(self, which: np.ndarray) -> Cuts:
        return Cuts(self.types[which], self.signs[which], self.floors[which], self.n)

    @cached_property
    def products(self) -> sparse.csr_matrix:
        """(t, n^2) the coefficients c_i c_j of the products y_i y_j of different types."""
        rows = np.repeat(np.arange(len(self)), 6)
        first, second = np.array([(i, j) for i in range(3) for j in range(3) if i != j]).T
        places = self.types[:, first] * self.n + self.types[:, second]
        entries = (self.signs[:, first] * self.signs[:, second]).astype(float)
        return sparse.csr_matrix((entries.ravel(), (rows, places.ravel())), (len(self), self.n**2))

    @cached_property
    def singles(self) -> sparse.csr_matrix:
        """(t, n) the coefficients ``c_i^2 - (2k + 1) c_i`` of D y_i, as y_i^2 = D y_i."""
        rows = np.repeat(np.arange(len(self)), 3)
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

    def form(self, weights: np.ndarray, D: float) -> tuple[np.ndarray, np.ndarray]:
        """(n+1, n+1) the matrix in (1, y) of the sum of cuts with non-negative ``weights`` (t,), and the
        sums of the absolute values of all that was added for each entry."""
        forms = []
        for products, singles in ((self.products, self.singles), (abs(self.products), abs(self.singles))):
            form = np.zeros((self.n + 1, self.n + 1))
            form[1:, 1:] = (products.T @ weights).reshape(self.n, self.n)
            form[0, 1:] = form[1:, 0] = D / 2 * (singles.T @ weights)
            form[0, 0] = D**2 * float(weights @ self.constants)  # never negative
            forms.append(form)
        return forms[0], forms[1]


def violated(second: np.ndarray, first: np.ndarray, mass: float, D: float, least: float, most: int) -> Cuts:
    """The deepest cuts that moments violate by more than ``least``, at most ``most`` of them:
    ``second`` (n, n) with any diagonal, ``first`` (n,) and ``mass``."""
    n = len(first)
    types, signs, floors, depths = [], [], [], []
    above = np.triu(np.ones((n, n), dtype=bool), 1)
    for i in range(n):
        pair = second[i][:, None] + second[i]
        centred = 2 * (D * first[i] - pair + second)
        joint = 2 * (D**2 * mass - D * (first[i] + first[:, None] + first) + pair + second)
        allowed = above.copy()
        allowed[i] = allowed[:, i] = False
        after = allowed.copy()
        after[: i + 1] = False
        for value, which, (c, k) in ((centred, allowed, CENTRED), (joint, after, JOINT)):
            j, other = np.nonzero(which & (value < -least))
            types.append(np.column_stack([np.full(len(j), i), j, other]))
            signs.append(np.tile(c, (len(j), 1)))
            floors.append(np.full(len(j), k))
            depths.append(value[j, other])
    cuts = Cuts(np.concatenate(types), np.concatenate(signs), np.concatenate(floors), n)
    return cuts.kept(np.argsort(np.concatenate(depths), kind="stable")[:most])
