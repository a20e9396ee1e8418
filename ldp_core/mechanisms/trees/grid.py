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
from ldp_core.mechanisms.base import Contributions, Estimate, QuadraticForm, Reports
from ldp_core.mechanisms.trees.hierarchical import ConsistentNodes, RawNodes
from ldp_core.mechanisms.trees.levels import QUERIES_AT_ONCE, Tree, check_dense
from ldp_core.mechanisms.trees.rectangles import Rectangles, domain_rule, located, rectangles, told_shape
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.people import Counts, dense
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
        low, high, weights = located(pieces, _all_or(workload, queries))
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


def _all_or(workload: Workload, queries: np.ndarray | None) -> np.ndarray:
    if queries is None and workload.num_queries > MOST_WORKLOAD_ENTRIES:
        raise ValueError(
            f"Raw answers do not add up, so all {workload.num_queries:,} of them would have to be formed, too many here. Ask for "
            'the queries you need, or use reconstruction "consistent".'
        )
    return np.arange(workload.num_queries) if queries is None else np.asarray(queries, dtype=np.int64)


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

    def _query_weights(
        self, workload: Workload, pieces: Sequence[Rectangles], queries: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """(q, n) rows of a few queries, the weights (q, cells) that they give the cells of each table, and (q, 1) the roots."""
        low, high, scale = located(pieces, queries)
        cells, whole = self.tree.weights(low, high)
        return workload.rows(queries), [scale[:, None] * table for table in cells], scale[:, None] * whole

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions:
        """The contribution of a report to the answers of ``queries`` (q,), rectangles being made up of cells."""
        pieces = rectangles(workload, self.tree.shape)
        if pieces is None:
            return super().query_contributions(workload, queries)
        return self._node_contributions(*self._query_weights(workload, pieces, np.asarray(queries)))

    def query_variances(self, workload: Workload, counts: Counts, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query, or to the given ones, when the users are
        ``counts`` (n,)."""
        pieces = rectangles(workload, self.tree.shape)
        if pieces is None:
            return super().query_variances(workload, counts, queries)
        asked, x, variances = _all_or(workload, queries), dense(counts).astype(float), [np.zeros(0)]
        chunk = max(1, QUERIES_AT_ONCE // sum(self.tree.sizes))
        for start in range(0, asked.size, chunk):
            rows, weights, whole = self._query_weights(workload, pieces, asked[start : start + chunk])
            variances.append(self._node_variances(weights, x) - (rows - whole) ** 2 @ x)
        return np.concatenate(variances)


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
