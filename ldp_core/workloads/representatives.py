"""Queries about one type of each class. All types of a class have equal answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.workloads.base import Workload

if TYPE_CHECKING:
    from ldp_core.workloads.means import Unit


class Representatives(Workload):
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

    def _placed(self, x: np.ndarray) -> np.ndarray:
        """(..., n) with ``x`` (..., c) at the representatives."""
        x = np.asarray(x, dtype=float)
        placed = np.zeros((*x.shape[:-1], self.base.n))
        placed[..., self.first] = x
        return placed

    @property
    def num_queries(self) -> int:
        return self.base.num_queries

    @property
    def gram_roundings(self) -> int:
        return self.base.gram_roundings

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.base.apply_gram(self._placed(x))[..., self.first])

    @property
    def gram_diag(self) -> np.ndarray:
        return np.array(self.base.gram_diag[self.first])

    def _written_gram(self) -> np.ndarray:
        if self.base.n <= MOST_MATRIX_TYPES:
            return self.base.gram_dense()[np.ix_(self.first, self.first)]
        return self.apply_gram(np.eye(self.n))

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return self.base.rows(queries)[:, self.first]

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return self.base._answers(self._placed(x), queries)

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        placed = np.zeros((self.base.n, self.base.n))
        placed[np.ix_(self.first, self.first)] = covariance
        return self.base.query_variances(placed)

    @property
    def extent(self) -> tuple[float, float]:
        return self.base.extent

    def query_weights(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        return self.base.query_weights(queries)

    @cached_property
    def squared_weights(self) -> float:
        return self.base.squared_weights

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        return self.base.query_name(query)

    def unit(self, query: int) -> Unit | None:
        return self.base.unit(query)
