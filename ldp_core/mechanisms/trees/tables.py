"""Tables of two trees: sums, least squares, and the quadratic forms that variances ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core.mechanisms.trees.levels import Ranges, Tree, check_dense
from ldp_core.mechanisms.trees.rectangles import Rectangles, Shape


@dataclass(frozen=True)
class Grid:
    """The tables of two trees. Levels are pairs of levels, the finest table first; within a table the cells are in row-major
    order, on the last axis. Types are pairs of leaves, in row-major order."""

    first: Tree
    second: Tree

    @property
    def n(self) -> int:
        return self.first.n * self.second.n

    @property
    def shape(self) -> Shape:
        """The sizes of the two attributes."""
        return self.first.n, self.second.n

    @cached_property
    def tables(self) -> tuple[Shape, ...]:
        """Rows and columns of each table, that of the two roots left out."""
        return tuple((a, b) for a in (*self.first.sizes, 1) for b in (*self.second.sizes, 1))[:-1]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each table."""
        return tuple(a * b for a, b in self.tables)

    @property
    def columns(self) -> int:
        """Levels of the second tree with its root: tables that share a level of the first."""
        return self.second.height + 1

    @property
    def parameters(self) -> dict[str, Any]:
        return {"shape": self.shape, "branching": self.first.branching}

    @property
    def gains(self) -> np.ndarray:
        """One over the probability of each table: they are picked evenly."""
        return np.full(len(self.sizes), float(len(self.sizes)))

    def picks(self, users: int, rng: np.random.Generator) -> np.ndarray:
        """(users,) the tables that users pick. Simulation only."""
        return rng.integers(len(self.sizes), size=users)

    def nodes_of(self, level: int, types: np.ndarray) -> np.ndarray:
        """The cell of each type in a table."""
        i, j = divmod(level, self.columns)
        one, other = np.divmod(types, self.second.n)
        row = one // (*self.first.widths, self.first.n)[i]
        return row * self.tables[level][1] + other // (*self.second.widths, self.second.n)[j]

    def described(self, oracle: str) -> str:
        """The collection in a sentence or two, cells being reported by what is called ``oracle``."""
        return (
            f"Each of the two attributes has a tree over its values with {self.first.branching} children per node. Each person "
            f"picks one level of either tree, the roots included, one of {len(self.sizes)} pairs at random, and reports which "
            f"combination of nodes holds their type ({min(self.sizes):,} to {max(self.sizes):,} combinations) by {oracle}."
        )

    def _table(self, values: np.ndarray) -> np.ndarray:
        return np.reshape(values, (*np.shape(values)[:-1], *self.shape))

    def aggregate(self, counts: np.ndarray) -> list[np.ndarray]:
        """Counts of the cells of every table from those of the types (..., n)."""
        rows = _with_root(self.first, _turned(self._table(counts)))
        cells = [part for row in rows for part in _with_root(self.second, _turned(row))]
        return [_flat(table) for table in cells[:-1]]

    def thin(self, counts: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Counts of the users who picked each table, by cell of that table, when each user picks a
        table evenly. Simulation only.

        Exact, as `Tree.thin`: of the users left, the tables of one level of the first tree are picked by their number among
        those left, and of these users each table in the same way.
        """
        rest, left = self._table(counts), len(self.sizes)
        while left:
            tables = min(self.columns, left)
            chosen = rng.binomial(rest, tables / left)
            rest, left = _turned(self.first.up(_turned(rest - chosen))), left - tables
            for others in range(tables, 0, -1):
                picked = rng.binomial(chosen, 1 / others)
                yield picked.ravel()
                chosen = self.second.up(chosen - picked)

    def consistent(self, levels: Sequence[np.ndarray], total: float) -> np.ndarray:
        """(..., n) counts by least squares over independent cell estimates of equal variance, their sum fixed.

        With A and B stacking the nodes of the two trees, roots included, the cells are (A x B) c, a Kronecker product, so that
        without the fixed sum the problem falls apart: (A x B)^+ = A^+ x B^+ is least squares along one attribute, then along
        the other (`Tree.smoothed`). Counts that have the right sum fit the cell of the two roots exactly, whatever its weight,
        so it may be among them. The sum is then put right along H^-1 1, H = A'A x B'B, the direction that costs least
        (a Lagrange multiplier).
        """
        roots = np.full(1, total, dtype=float)
        cells = [
            np.reshape(x, (*np.shape(x)[:-1], *table))
            for x, table in zip([*levels, roots], [*self.tables, (1, 1)], strict=True)
        ]
        rows = [_turned(self.second.smoothed(cells[i : i + self.columns])) for i in range(0, len(cells), self.columns)]
        counts = _flat(_turned(self.first.smoothed(rows)))
        return counts + self._cheapest * (total - counts.sum(axis=-1, keepdims=True))

    def shares(self, rows: np.ndarray) -> list[np.ndarray]:
        """(..., cells) for each table, what ``rows`` (..., n) times the counts of `consistent` gives each cell estimate: its
        adjoint."""
        rows = np.asarray(rows, dtype=float)
        fixed = rows - (rows @ self._cheapest)[..., None]
        parts = self.first.smoothed_shares(_turned(self._table(fixed)))
        cells = [table for part in parts for table in self.second.smoothed_shares(_turned(part))]
        return [_flat(table) for table in cells[:-1]]

    @cached_property
    def _cheapest(self) -> np.ndarray:
        """(n,) H^-1 1 with sum 1: what a unit at the roots adds is H^-1 1 of each tree."""
        one, other = (
            tree.smoothed([*(np.zeros(size) for size in tree.sizes), np.ones(1)]) for tree in (self.first, self.second)
        )
        return np.kron(one / one.sum(), other / other.sum())

    def smoothed_forms(self, pieces: Sequence[Rectangles]) -> Iterator[TableForm]:
        """T'GT for each table, with T what its cells add to the counts of `consistent`, and G that of ``pieces``.

        T = (I - e 1')(S x S'), S and S' what the nodes of either tree add by `Tree.smoothed`, e = `_cheapest`; and G is a
        sum of Kronecker products, so nothing larger than a matrix over the values of one attribute is formed.
        """
        check_dense(max(self.shape), "The exact variance of this tree")
        grams = [
            (piece.weight**2 * _gram(self.first.n, piece.sides[0]), _gram(self.second.n, piece.sides[1]))
            for piece in pieces
        ]
        units, others = _units(self.first), _units(self.second)
        e, f = (tree[-1][0] / tree[-1].sum() for tree in (units, others))
        rows = [[S @ G @ S.T for S in units] for G, _ in grams]
        columns = [[S @ G @ S.T for S in others] for _, G in grams]
        known = sum((e @ G @ e) * (f @ H @ f) for G, H in grams)
        for level in range(len(self.sizes)):
            i, j = divmod(level, self.columns)
            parts = [(row[i], column[j]) for row, column in zip(rows, columns, strict=True)]
            mixed = sum((np.kron(units[i] @ G @ e, others[j] @ H @ f) for G, H in grams), np.zeros(()))
            yield TableForm(parts, mixed, np.kron(units[i].sum(axis=1), others[j].sum(axis=1)), known)


@dataclass(frozen=True)
class TableForm:
    """The quadratic form sum A x B - h s' - s h' + c s s' on the cells of a table, ``parts`` being pairs of symmetric A and B."""

    parts: Sequence[tuple[np.ndarray, np.ndarray]]
    h: np.ndarray
    s: np.ndarray
    c: float

    @property
    def gram_diag(self) -> np.ndarray:
        products = (np.kron(np.diagonal(A), np.diagonal(B)) for A, B in self.parts)
        return sum(products, np.zeros(())) - 2 * self.h * self.s + self.c * self.s**2

    @property
    def gram_sums(self) -> np.ndarray:
        products, s = (np.kron(A.sum(axis=1), B.sum(axis=1)) for A, B in self.parts), self.s.sum()
        return sum(products, np.zeros(())) - self.h * s - self.s * self.h.sum() + self.c * self.s * s

    @property
    def trace(self) -> float:
        return float(self.gram_diag.sum())

    def quadratic(self, x: np.ndarray) -> np.ndarray:
        h, s = x @ self.h, x @ self.s
        values = self.c * s**2 - 2 * h * s
        for A, B in self.parts:
            table = x.reshape(*x.shape[:-1], len(A), len(B))
            values = values + np.einsum("...ij,...ij->...", table, A @ table @ B)
        return values


def _turned(table: np.ndarray) -> np.ndarray:
    return table.swapaxes(-1, -2)


def _flat(table: np.ndarray) -> np.ndarray:
    return table.reshape(*table.shape[:-2], table.shape[-2] * table.shape[-1])


def _with_root(tree: Tree, values: np.ndarray) -> list[np.ndarray]:
    levels = tree.aggregate(values)
    return [*levels, tree.up(levels[-1])]


def _gram(n: int, ranges: Ranges | None) -> np.ndarray:
    """(n, n) G of the ranges along an attribute, which may leave out its last values; None is the whole alone."""
    if ranges is None:
        return np.ones((n, n))
    return np.pad(ranges.gram_dense(), (0, n - ranges.n))


def _units(tree: Tree) -> list[np.ndarray]:
    """(nodes, n) for each level and the root: what each node estimate adds to the counts of `Tree.smoothed`."""
    sizes = (*tree.sizes, 1)
    return [
        tree.smoothed([np.eye(m) if k == level else np.zeros((1, size)) for k, size in enumerate(sizes)])
        for level, m in enumerate(sizes)
    ]
