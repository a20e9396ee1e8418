"""Hierarchical histograms over two ordered attributes (Cormode et al. 2019, Section 6): each user reports their cell of one table.

Each attribute has a tree over its values. A pair of levels, one of each tree with its root, makes a table whose cells are the
combinations of their nodes. A user draws one of these pairs evenly, but for that of the two roots (the number of users is
known), and reports the cell that holds their type. Counts are made consistent by least squares over all cells with the number of
users known: O(n) for each table, see `Grid.consistent`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ldp_core.arguments import check_choice
from ldp_core.mechanisms.base import Estimate, Reports
from ldp_core.mechanisms.moments import Rows
from ldp_core.mechanisms.trees.hierarchical import ConsistentNodes
from ldp_core.mechanisms.trees.levels import Tree
from ldp_core.mechanisms.trees.rectangles import attribute_sizes, domain_rule, rectangles
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.workloads import Workload

ORACLES = ("oue", "hrr", "hadamard", "olh")
RECONSTRUCTIONS = ("consistent",)
"""The only one; those of one attribute have more."""


class ConsistentGrid(ConsistentNodes):
    """Consistent counts of the combinations of two attributes."""

    name = "hierarchical_2d"
    tree: Grid
    reconstructed = "The estimates are then made consistent: every cell is the sum of the finer cells within it."

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts that sum to the number of users."""
        return Estimate(self._counts(reports), unbiased=True)

    def _on_levels(self, questions: Any) -> Iterable[Any]:
        pieces = None if isinstance(questions, Rows) else rectangles(questions, self.tree.shape)
        return super()._on_levels(questions) if pieces is None else self.tree.smoothed_forms(pieces)


def build(
    n: int,
    epsilon: float,
    shape: Sequence[int] | None = None,
    branching: int = 4,
    oracle: str = "oue",
    reconstruction: str = "consistent",
    workload: Workload | None = None,
) -> ConsistentGrid:
    """Trees over two attributes with ``shape`` values, with ``oracle`` in every table. Without ``shape`` the attributes are those of
    ``workload``; of a plain list of types, two that are as nearly equal as n allows.

    ValueError for another ``reconstruction`` than "consistent", and where there are other than two attributes, or n is a prime number.
    """
    check_choice("reconstruction", reconstruction, RECONSTRUCTIONS)
    sizes = _checked(shape) if shape is not None else (attribute_sizes(workload) if workload is not None else None)
    if sizes is None:
        sizes = next(((a, n // a) for a in range(math.isqrt(n), 1, -1) if n % a == 0), None)
    if sizes is None or len(sizes) != 2:
        raise ValueError(f"{domain_rule(n, epsilon, workload)} Pass their sizes as shape, or a workload over both.")
    if sizes[0] * sizes[1] != n:
        raise ValueError(
            f"Attributes of {sizes[0]:,} and {sizes[1]:,} values have {sizes[0] * sizes[1]:,} combinations; n is {n:,}."
        )
    grid = Grid(Tree(sizes[0], int(branching)), Tree(sizes[1], int(branching)))
    return ConsistentGrid(grid, epsilon, oracle)


def _checked(shape: Any) -> tuple[int, ...]:
    """Two sizes, or a ValueError."""
    sizes = np.asarray(shape) if isinstance(shape, (tuple, list, np.ndarray)) else np.zeros(0)
    if sizes.shape != (2,) or not np.issubdtype(sizes.dtype, np.integer) or sizes.min() < 2:
        raise ValueError(
            f"The shape must be two whole numbers of at least 2, the sizes of the two attributes; got {shape!r}."
        )
    return tuple(sizes.tolist())
