"""Reports that are random sets of cells of a table of a few attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class RandomSet:
    """Reports about the table of ``attributes``: with probability ``share``, a random set of ``inside`` of its cells, any such set
    being equally likely, or an image of ``cells`` under permutations along every axis where these are given."""

    share: float
    attributes: tuple[int, ...]
    inside: int
    cells: np.ndarray | None = None

    def draw(self, sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """One of the sets, as booleans of the table's shape. Simulation only."""
        if self.cells is None:
            cells = np.zeros(math.prod(sizes), dtype=bool)
            cells[rng.choice(cells.size, self.inside, replace=False)] = True
            return cells.reshape(sizes)
        return self.cells[np.ix_(*[rng.permutation(size) for size in sizes])]

    def most_in_slice(self, kept: Sequence[int], sizes: tuple[int, ...]) -> tuple[int, int]:
        """The least and the most cells of a set among those with the same values of the attributes at the places ``kept``."""
        if self.cells is None:
            slice_size = math.prod(size for place, size in enumerate(sizes) if place not in kept)
            return max(0, self.inside - (math.prod(sizes) - slice_size)), min(self.inside, slice_size)
        others = tuple(place for place in range(len(sizes)) if place not in kept)
        counts = np.count_nonzero(self.cells, axis=others) if others else self.cells.astype(int)
        return int(np.min(counts)), int(np.max(counts))
