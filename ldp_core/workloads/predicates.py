"""Predicates as a workload: "how many people have A and B", each a product of small 0/1 tables over some attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ldp_core.limits import MOST_WORKLOAD_ENTRIES
from ldp_core.workloads.base import Workload, in_chunks
from ldp_core.workloads.symmetry import SymmetryGroup

ROWS_AT_ONCE = 2**22
"""Entries of W written out at a time (32 MiB)."""

Factor = tuple[tuple[int, ...], np.ndarray]
"""Attributes, increasing, and a boolean table over their values."""


class Predicates(Workload):
    """The number of people who satisfy each predicate.

    ``predicates``: each a list of factors (attributes, table) about different attributes, all of
    them required; a table has one axis per attribute, or is the list of its entries in row-major
    order. ``names``: one per predicate.
    """

    kind = "predicates"
    title = "Predicates"
    meaning = "How many people fulfil each of these conditions?"
    recipe = ("shape", "predicates")

    def __init__(
        self,
        shape: Sequence[int],
        predicates: Sequence[Sequence[tuple[Sequence[int], Any]]],
        names: Sequence[str] | None = None,
    ) -> None:
        self.shape = tuple(map(int, shape))
        super().__init__(math.prod(self.shape))
        if not predicates:
            raise ValueError("A workload of predicates needs at least one.")
        if names is not None and len(names) != len(predicates):
            raise ValueError(f"There are {len(predicates):,} predicates and {len(names):,} names; name each one.")
        self.predicates = tuple(tuple(self._factor(*factor) for factor in factors) for factors in predicates)
        self.names = None if names is None else tuple(names)

    def _factor(self, attributes: Sequence[int], table: Any) -> Factor:
        attributes = tuple(map(int, attributes))
        if list(attributes) != sorted(set(attributes) & set(range(len(self.shape)))):
            raise ValueError(
                f"A predicate's attributes must increase from 0 to {len(self.shape) - 1}; got {attributes}."
            )
        table = np.array(table, dtype=bool)
        sizes = [self.shape[i] for i in attributes]
        if table.size != math.prod(sizes) or not table.any():
            raise ValueError(f"A predicate over {sizes} values needs as many entries, at least one of them true.")
        return attributes, table.reshape(sizes)

    @property
    def num_queries(self) -> int:
        return len(self.predicates)

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        mentioned = {i for factors in self.predicates for attributes, _ in factors for i in attributes}
        return SymmetryGroup("none", tuple((size, i not in mentioned) for i, size in enumerate(self.shape)))

    def _spread(self, factor: Factor) -> np.ndarray:
        """A factor's table with an axis for every attribute, of length 1 where it is not concerned."""
        attributes, table = factor
        return table.reshape([size if i in attributes else 1 for i, size in enumerate(self.shape)])

    def rows(self, queries: np.ndarray) -> np.ndarray:
        queries = np.asarray(queries)
        rows = np.ones((len(queries), self.n))
        for row, query in zip(rows, queries, strict=True):
            for factor in self.predicates[query]:
                row.reshape(self.shape)[...] *= self._spread(factor)
        return rows

    @cached_property
    def _all_rows(self) -> np.ndarray:
        return self.rows(np.arange(self.num_queries))

    @property
    def _is_small(self) -> bool:
        return self.num_queries * self.n <= ROWS_AT_ONCE

    def _in_chunks(self) -> Iterator[np.ndarray]:
        """All rows of W, some at a time where they are many."""
        if self._is_small:
            return iter([self._all_rows])
        return map(self.rows, in_chunks(np.arange(self.num_queries), self.n))

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        return sum((x @ rows.T) @ rows for rows in self._in_chunks())

    @cached_property
    def gram_diag(self) -> np.ndarray:
        return sum(rows.sum(axis=0) for rows in self._in_chunks())

    @cached_property
    def _spectrum(self) -> np.ndarray:
        if self.num_queries * self.n <= MOST_WORKLOAD_ENTRIES:
            return linalg.svdvals(self.matrix)
        return super()._spectrum

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if self._is_small:
            return x @ (self._all_rows if queries is None else self._all_rows[queries]).T
        chosen = range(self.num_queries) if queries is None else queries
        answers = np.empty((*x.shape[:-1], len(chosen)))
        for place, query in enumerate(chosen):
            answers[..., place] = self._answer(x, self.predicates[query])
        return answers

    def _answer(self, x: np.ndarray, factors: tuple[Factor, ...]) -> np.ndarray:
        batch = x.ndim - 1
        table = x.reshape(*x.shape[:-1], *self.shape)
        mentioned = {i for attributes, _ in factors for i in attributes}
        table = table.sum(axis=tuple(batch + i for i in range(len(self.shape)) if i not in mentioned), keepdims=True)
        for factor in factors:
            table = (table * self._spread(factor)).sum(axis=tuple(batch + i for i in factor[0]), keepdims=True)
        return table.reshape(x.shape[:-1])

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        return f"predicate {query + 1}" if self.names is None else self.names[query]
