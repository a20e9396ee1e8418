"""Queries about one type of each class. All types of a class have equal answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import OnOtherTypes


class Representatives(OnOtherTypes):
    """The queries of ``base`` about its types ``first`` (c,), one of each class, in increasing order."""

    kind = "representatives"
    title = "On representatives"
    meaning = "Queries about one type of each class."
    recipe: ClassVar[tuple[str, ...]] = ("base", "first")

    def __init__(self, base: Workload, first: Sequence[int] | np.ndarray):
        self.base, self.first = base, np.asarray(first, dtype=np.int64)
        super().__init__(len(self.first))
        if self.first.min() < 0 or self.first.max() >= base.n or (np.diff(self.first) <= 0).any():
            raise ValueError(f"Representatives must be types from 0 to {base.n - 1:,}, in increasing order.")
        self.title, self.meaning = base.title, base.meaning

    def _folded(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        placed = np.zeros((*x.shape[:-1], self.base.n))
        placed[..., self.first] = x
        return placed

    def _unfolded(self, y: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(y[..., self.first])

    def _written_gram(self) -> np.ndarray:
        if self.base.n <= MOST_MATRIX_TYPES:
            return self.base.gram_dense()[np.ix_(self.first, self.first)]
        return self.apply_gram(np.eye(self.n))
