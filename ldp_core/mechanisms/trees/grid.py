"""Hierarchical histograms over two ordered attributes (Cormode et al. 2019, Section 6): each user reports their cell of one table.

Each attribute has a tree over its values. A pair of levels, one of each tree with its root, makes a table whose cells are the
combinations of their nodes. A user draws one of these pairs evenly, but for that of the two roots (the number of users is
known), and reports the cell that holds their type. Two reconstructions of the answers:

* ``consistent``  least squares over all cells with the number of users known: O(n) for each table, see `Grid.consistent`;
* ``raw``         rectangles from the fewest cells: the nodes that make up the range along one attribute times those along the
  other, the whole of an attribute being its root. Other queries, and counts, come from the finest table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ldp_core.limits import MOST_WORKLOAD_ENTRIES
from ldp_core.mechanisms.base import Estimate, QuadraticForm, Reports
from ldp_core.mechanisms.trees.hierarchical import ConsistentNodes, RawNodes
from ldp_core.mechanisms.trees.levels import QUERIES_AT_ONCE, Tree, all_or, check_dense
from ldp_core.mechanisms.trees.node_reports import Weighed
from ldp_core.mechanisms.trees.rectangles import domain_rule, located, rectangles, told_shape
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.people import Counts
from ldp_core.workloads import Workload

ORACLES = ("oue", "hrr", "hadamard", "olh")
RECONSTRUCTIONS = ("consistent", "raw")


@dataclass(frozen=True, kw_only=True, repr=False)
class RawGridEstimate(Estimate):
    """Cell estimates as they are. Rectangles are answered from the fewest cells; other queries, and `counts`, use the finest
    table alone. Answers need not add up."""

    adds_up = False
    users: int
    grid: Grid
    levels: tuple[np.ndarray, ...]

    @property
    def total(self) -> float:
        """N, which was known."""
        return float(self.users)

    def rectangles(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """(q,) estimated users from values low to high (q, 2) of the two attributes, both included (from 0)."""
        low, high = np.asarray(low), np.asarray(high)
        chunk = max(1, QUERIES_AT_ONCE // sum(self.grid.sizes))
        pieces = [np.zeros(0)]
        for start in range(0, len(low), chunk):
            weights, whole = self.grid.weights(low[start : start + chunk], high[start : start + chunk])
            cells = sum((w @ level for w, level in zip(weights, self.levels, strict=True)), np.zeros(()))
            pieces.append(cells + self.users * whole[:, 0])
        return np.concatenate(pieces)

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        pieces = rectangles(workload, self.grid.shape)
        if pieces is None:
            return super().answers(workload, queries)
        low, high, weights = located(pieces, all_or(workload, queries))
        return weights * self.rectangles(low, high)

    def consistent(self, users: float) -> Estimate:
        """By least squares, with ``users`` in all: see `Grid.consistent`. Linear, so still unbiased."""
        return Estimate(self.grid.consistent(self.levels, users), unbiased=True)

    def fitted(self, workload: Workload) -> np.ndarray:
        """(n,) the counts whose answers come closest to the raw ones, by least squares over all queries. ValueError for more
        than `MOST_MATRIX_TYPES` types."""
        if rectangles(workload, self.grid.shape) is None:
            return self.estimated_counts
        check_dense(workload.n, "Fitting counts to raw answers")
        answers, seen = self.answers(workload), np.zeros(workload.n)
        chunk = max(1, MOST_WORKLOAD_ENTRIES // (8 * workload.n))
        for start in range(0, len(answers), chunk):
            some = np.arange(start, min(start + chunk, len(answers)))
            seen += answers[some] @ workload.rows(some)
        return linalg.lstsq(workload.gram_dense(), seen, lapack_driver="gelsy")[0]

    def squared_error(self, workload: Workload, counts: Counts) -> float:
        """Squared error summed over all queries (squared users); every answer is formed."""
        return float(np.sum((self.answers(workload) - workload.answers(counts)) ** 2))


class ConsistentGrid(ConsistentNodes):
    """Consistent counts of the combinations of two attributes."""

    name = "hierarchical_2d"
    tree: Grid
    reconstructed = "The estimates are then made consistent: every cell is the sum of the finer cells within it."

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts that sum to the number of users."""
        return Estimate(self._counts(reports), unbiased=True)

    def _node_forms(self, workload: Workload) -> Iterable[QuadraticForm]:
        pieces = rectangles(workload, self.tree.shape)
        return super()._node_forms(workload) if pieces is None else self.tree.smoothed_forms(pieces)


class RawGrid(RawNodes):
    """Rectangles from the cells that make them up; other workloads, and counts, from the finest table."""

    name = "hierarchical_2d"
    tree: Grid
    reconstructed = "A rectangle is answered by the fewest cells that make it up."

    def estimate(self, reports: Reports) -> RawGridEstimate:
        """Unbiased counts of the types, and rectangles of their own from the cells."""
        levels = tuple(self._node_estimates(reports))
        return RawGridEstimate(levels[0], unbiased=True, users=reports.users, grid=self.tree, levels=levels)

    @property
    def consistent(self) -> ConsistentGrid:
        """The same collection with consistent answers."""
        return ConsistentGrid(self.tree, self.epsilon, self.parameters["oracle"], self.oracles)

    def _node_grams(self, workload: Workload) -> Iterable[np.ndarray]:
        return [workload.gram_dense()]

    def _node_forms(self, workload: Workload) -> Iterable[QuadraticForm]:
        pieces = rectangles(workload, self.tree.shape)
        return super()._node_forms(workload) if pieces is None else self.tree.raw_forms(pieces)

    def _known_part(self, workload: Workload) -> np.ndarray:
        """-G_uu, but for rectangles that count everyone, the first type and the last: their answers are known."""
        known = 0.0 if rectangles(workload, self.tree.shape) is None else workload.gram_column[-1]
        return known - workload.gram_diag

    def _of_nodes(self, workload: Workload) -> bool:
        return rectangles(workload, self.tree.shape) is not None

    def _asked(self, workload: Workload, queries: np.ndarray) -> Weighed:
        pieces = rectangles(workload, self.tree.shape)
        assert pieces is not None  # what `_of_nodes` has said
        low, high, scale = located(pieces, queries)
        cells, whole = self.tree.weights(low, high)
        return Weighed(workload.rows(queries), [scale[:, None] * table for table in cells], scale[:, None] * whole)


def build(
    n: int,
    epsilon: float,
    shape: Sequence[int] | None = None,
    branching: int = 4,
    oracle: str = "oue",
    reconstruction: str = "consistent",
    workload: Workload | None = None,
) -> ConsistentGrid | RawGrid:
    """Trees over two attributes with ``shape`` values, with ``oracle`` in every table. Without ``shape`` the attributes are those of
    ``workload``; of a plain list of types, two that are as nearly equal as n allows.

    ValueError where there are other than two attributes, or n is a prime number.
    """
    sizes = _checked(shape) if shape is not None else (told_shape(workload) if workload is not None else None)
    if sizes is None:
        sizes = next(((a, n // a) for a in range(math.isqrt(n), 1, -1) if n % a == 0), None)
    if sizes is None or len(sizes) != 2:
        raise ValueError(f"{domain_rule(n, epsilon, workload)} Pass their sizes as shape, or a workload over both.")
    if sizes[0] * sizes[1] != n:
        raise ValueError(
            f"Attributes of {sizes[0]:,} and {sizes[1]:,} values have {sizes[0] * sizes[1]:,} combinations; n is {n:,}."
        )
    grid = Grid(Tree(sizes[0], int(branching)), Tree(sizes[1], int(branching)))
    return (ConsistentGrid if reconstruction == "consistent" else RawGrid)(grid, epsilon, oracle)


def _checked(shape: Any) -> tuple[int, ...]:
    """Two sizes, or a ValueError."""
    sizes = np.asarray(shape) if isinstance(shape, (tuple, list, np.ndarray)) else np.zeros(0)
    if sizes.shape != (2,) or not np.issubdtype(sizes.dtype, np.integer) or sizes.min() < 2:
        raise ValueError(
            f"The shape must be two whole numbers of at least 2, the sizes of the two attributes; got {shape!r}."
        )
    return tuple(sizes.tolist())
