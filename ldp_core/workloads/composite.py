"""Workloads made of others, or given outright: any matrix, weighted unions, products over attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
from scipy import linalg

from ldp_core.workloads.base import MATRIX_ENTRIES, Workload


class Custom(Workload):
    """The queries in the rows of a matrix (p, n)."""

    kind = "custom"
    title = "Custom"
    meaning = "The answers to your own queries."

    def __init__(self, matrix: np.ndarray):
        try:
            W = np.array(matrix, dtype=float)
        except (TypeError, ValueError):
            raise ValueError("A workload matrix must hold numbers only, in rows of equal length.") from None
        if W.ndim != 2 or W.shape[0] < 1 or W.shape[1] < 2:
            raise ValueError(
                f"A workload matrix needs a row a query and a column for each of at least 2 types; got shape {W.shape}."
            )
        if W.size > MATRIX_ENTRIES:
            raise ValueError(f"The workload matrix has {W.size:,} entries; at most {MATRIX_ENTRIES:,} are handled.")
        if not np.all(np.isfinite(W)):
            raise ValueError("A workload matrix must hold finite numbers; some are missing or infinite.")
        if not W.any():
            raise ValueError("A workload of zeros asks nothing; give at least one entry that is not 0.")
        super().__init__(W.shape[1])
        W.flags.writeable = False
        self._matrix = W

    @property
    def spec(self) -> dict[str, Any]:
        return {"kind": self.kind, "matrix": self._matrix.tolist()}

    @property
    def num_queries(self) -> int:
        return len(self._matrix)

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return (np.asarray(x, dtype=float) @ self._matrix.T) @ self._matrix

    @cached_property
    def gram_diag(self) -> np.ndarray:
        return (self._matrix**2).sum(axis=0)

    def singular_values(self) -> np.ndarray:
        return linalg.svdvals(self._matrix)

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return self._matrix[np.asarray(queries)]

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return x @ (self._matrix if queries is None else self._matrix[queries]).T

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        return np.einsum("qi,qi->q", self._matrix @ covariance, self._matrix)

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        return f"query {query + 1}"

    def __repr__(self) -> str:
        return f"custom({self.num_queries} x {self.n})"

    def __hash__(self) -> int:
        return hash(self._matrix.tobytes())


class Union(Workload):
    """All queries of several workloads on the same types, each scaled by a weight: G = sum of weight^2 G_i.

    Answers carry the weights, as the rows of W do.
    """

    kind = "union"
    title = "Union"
    meaning = "Several workloads at once, each with its own importance."

    def __init__(self, parts: Sequence[Workload], weights: Sequence[float] | None = None):
        if not parts:
            raise ValueError("A union needs at least one workload.")
        if len({part.n for part in parts}) > 1:
            raise ValueError(f"Workloads of a union must share their types; these have {[part.n for part in parts]}.")
        weights = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=float)
        if weights.shape != (len(parts),) or not np.all(np.isfinite(weights) & (weights > 0)):
            raise ValueError(f"A union of {len(parts)} workloads needs as many weights, each a positive finite number.")
        super().__init__(parts[0].n)
        self.parts, self.weights = tuple(parts), tuple(float(weight) for weight in weights)
        kinds = {part.symmetry for part in parts}
        common = {frozenset({"exchangeable"}): "exchangeable", frozenset({"hamming"}): "hamming"}
        mixed = frozenset({"exchangeable", "hamming"})
        self.symmetry = "hamming" if kinds == mixed else common.get(frozenset(kinds), "none")

    @property
    def spec(self) -> dict[str, Any]:
        return {"kind": self.kind, "parts": [part.spec for part in self.parts], "weights": list(self.weights)}

    @cached_property
    def _offsets(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([part.num_queries for part in self.parts])])

    @property
    def num_queries(self) -> int:
        return int(self._offsets[-1])

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return sum(weight**2 * part.apply_gram(x) for part, weight in zip(self.parts, self.weights, strict=True))

    @property
    def gram_diag(self) -> np.ndarray:
        return sum(weight**2 * part.gram_diag for part, weight in zip(self.parts, self.weights, strict=True))

    def singular_values(self) -> np.ndarray:
        spectrum = np.sqrt(np.maximum(linalg.eigvalsh(self.gram_dense())[::-1], 0))
        return spectrum[: min(self.n, self.num_queries)]

    def _located(self, queries: np.ndarray):
        """The queries of each part: (part, weight, places among ``queries``, indices within the part)."""
        owner = np.searchsorted(self._offsets, queries, side="right") - 1
        for i, (part, weight) in enumerate(zip(self.parts, self.weights, strict=True)):
            places = np.flatnonzero(owner == i)
            if places.size:
                yield part, weight, places, queries[places] - self._offsets[i]

    def rows(self, queries: np.ndarray) -> np.ndarray:
        queries = np.asarray(queries)
        rows = np.empty((len(queries), self.n))
        for part, weight, places, own in self._located(queries):
            rows[places] = weight * part.rows(own)
        return rows

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if queries is None:
            pairs = zip(self.parts, self.weights, strict=True)
            return np.concatenate([weight * part.answers(x) for part, weight in pairs], axis=-1)
        found = np.empty((*x.shape[:-1], len(queries)))
        for part, weight, places, own in self._located(queries):
            found[..., places] = weight * part.answers(x, own)
        return found

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        pairs = zip(self.parts, self.weights, strict=True)
        return np.concatenate([weight**2 * part.query_variances(covariance) for part, weight in pairs])

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        ((part, _, _, (own,)),) = self._located(np.array([query]))
        return part.query_name(int(own), labels)

    def __repr__(self) -> str:
        return f"union({', '.join(map(repr, self.parts))}; {', '.join(f'{w:g}' for w in self.weights)})"


class Product(Workload):
    """Every combination of one query a factor, over the product of the factors' types: W is a Kronecker product."""

    kind = "product"
    title = "Product"
    meaning = "Every combination of queries, one for each attribute."

    def __init__(self, factors: Sequence[Workload]):
        if not factors:
            raise ValueError("A product needs at least one factor.")
        super().__init__(math.prod(factor.n for factor in factors))
        self.factors = tuple(factors)

    @property
    def spec(self) -> dict[str, Any]:
        return {"kind": self.kind, "factors": [factor.spec for factor in self.factors]}

    @property
    def num_queries(self) -> int:
        return math.prod(factor.num_queries for factor in self.factors)

    def _along_axes(self, x: np.ndarray, apply) -> np.ndarray:
        """``apply(factor, values)`` along each factor's axis of ``x`` (..., n), which may change the axis's length."""
        x = np.asarray(x, dtype=float)
        table = x.reshape(*x.shape[:-1], *(factor.n for factor in self.factors))
        for axis, factor in zip(range(-len(self.factors), 0), self.factors, strict=True):
            table = np.moveaxis(apply(factor, np.moveaxis(table, axis, -1)), -1, axis)
        return table.reshape(*x.shape[:-1], -1)

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return self._along_axes(x, lambda factor, values: factor.apply_gram(values))

    @property
    def gram_diag(self) -> np.ndarray:
        return reduce(np.kron, [factor.gram_diag for factor in self.factors])

    def singular_values(self) -> np.ndarray:
        return np.sort(reduce(np.kron, [factor.singular_values() for factor in self.factors]))[::-1]

    def _located(self, queries: np.ndarray) -> tuple[np.ndarray, ...]:
        return np.unravel_index(queries, [factor.num_queries for factor in self.factors])

    def rows(self, queries: np.ndarray) -> np.ndarray:
        parts = [f.rows(own) for f, own in zip(self.factors, self._located(np.asarray(queries)), strict=True)]
        return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), parts)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if queries is not None:
            return x @ self.rows(queries).T
        return self._along_axes(x, lambda factor, values: factor.answers(values))

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        found = np.empty(self.num_queries)
        chunk = max(1, MATRIX_ENTRIES // (8 * self.n))
        for start in range(0, self.num_queries, chunk):
            rows = self.rows(np.arange(start, min(start + chunk, self.num_queries)))
            found[start : start + len(rows)] = np.einsum("qi,qi->q", rows @ covariance, rows)
        return found

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        own = self._located(np.array([query]))
        return " and ".join(
            f"x{i + 1}: {factor.query_name(int(q[0]))}"
            for i, (factor, q) in enumerate(zip(self.factors, own, strict=True))
        )

    def __repr__(self) -> str:
        return f"product({', '.join(map(repr, self.factors))})"
