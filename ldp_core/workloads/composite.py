"""Workloads made of others, or given outright: any matrix, weighted unions, products over
attributes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce

import numpy as np
from scipy import linalg

from ldp_core.limits import MOST_WORKLOAD_ENTRIES
from ldp_core.workloads.base import Workload
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.symmetry import SymmetryGroup


class Custom(Workload):
    """The queries in the rows of a matrix (p, n)."""

    kind = "custom"
    title = "Custom"
    meaning = "The answers to your own queries."
    recipe = ("matrix",)

    def __init__(self, matrix: np.ndarray, names: Sequence[str] | None = None):
        try:
            W = np.array(matrix, dtype=float, order="C")
        except (TypeError, ValueError):
            raise ValueError("A workload matrix must hold numbers only, in rows of equal length.") from None
        if W.ndim != 2 or W.shape[0] < 1 or W.shape[1] < 2:
            raise ValueError(
                f"A workload matrix needs one row per query and a column for each of at least 2 types; got shape {W.shape}."
            )
        if W.size > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"The workload matrix has {W.size:,} entries; at most {MOST_WORKLOAD_ENTRIES:,} are handled."
            )
        if not np.all(np.isfinite(W)):
            raise ValueError("A workload matrix must hold finite numbers; some are missing or infinite.")
        if not W.any():
            raise ValueError("A workload of zeros asks nothing; give at least one entry that is not 0.")
        if names is not None and len(names) != len(W):
            raise ValueError(
                f"The workload matrix has {len(W):,} queries and {len(names):,} names; give each query a name."
            )
        super().__init__(W.shape[1])
        self.names = None if names is None else tuple(names)
        W.flags.writeable = False
        self._matrix = W

    @property
    def num_queries(self) -> int:
        return len(self._matrix)

    @property
    def gram_roundings(self) -> int:
        return len(self._matrix) + 2

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return (np.asarray(x, dtype=float) @ self._matrix.T) @ self._matrix

    @cached_property
    def gram_diag(self) -> np.ndarray:
        return (self._matrix**2).sum(axis=0)

    def _written_gram(self) -> np.ndarray:
        return self._matrix.T @ self._matrix

    @cached_property
    def _spectrum(self) -> np.ndarray:
        return linalg.svdvals(self._matrix)

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return self._matrix[np.asarray(queries)]

    @cached_property
    def extent(self) -> tuple[float, float]:
        entries = np.abs(self._matrix).max(axis=1)
        most = entries.max()
        return float(entries[entries > 1e-14 * most].min()), float(most)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return x @ (self._matrix if queries is None else self._matrix[queries]).T

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        return f"query {query + 1}" if self.names is None else self.names[query]


class Together(Workload):
    """The queries of several workloads, each scaled by one of the ``weights``: G = sum of weight^2
    G_i. Answers carry the weights, as the rows of W do."""

    weights: tuple[float, ...]

    @property
    @abstractmethod
    def members(self) -> Sequence[Workload]:
        """The workloads, perhaps on fewer types."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Workload, ...]:
        """The same on all types. ValueError where there are too many."""

    @cached_property
    def offsets(self) -> np.ndarray:
        """(members + 1,) where the queries of each member begin, and p."""
        return np.concatenate([[0], np.cumsum([member.num_queries for member in self.members], dtype=np.int64)])

    @property
    def num_queries(self) -> int:
        return int(self.offsets[-1])

    def located(self, queries: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(number of the member, places of its queries in ``queries``, their numbers within the
        member) for every member in ``queries`` (q,)."""
        owner = np.searchsorted(self.offsets, queries, side="right") - 1
        order = np.argsort(owner, kind="stable")
        for here in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1):
            if here.size:
                k = int(owner[here[0]])
                yield k, here, queries[here] - self.offsets[k]

    def gathered(
        self, queries: np.ndarray, of: Callable[[int, np.ndarray], np.ndarray], batch: Sequence[int] = ()
    ) -> np.ndarray:
        """(..., q) what ``of`` makes of the number of a member and those of its queries, for
        ``queries`` (q,) in their order."""
        found = np.empty((*batch, len(queries)))
        for k, here, local in self.located(queries):
            found[..., here] = of(k, local)
        return found

    def member_of(self, query: int) -> tuple[int, int]:
        """The number of the member that a query is of, and its number there."""
        k = int(np.searchsorted(self.offsets, query, side="right")) - 1
        return k, int(query - self.offsets[k])

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        k, local = self.member_of(query)
        return self.members[k].query_name(local, labels)

    def query_weights(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        queries = np.arange(self.num_queries) if queries is None else np.asarray(queries)
        return self.gathered(queries, lambda k, local: self.weights[k] * self.members[k].query_weights(local))

    @cached_property
    def extent(self) -> tuple[float, float]:
        ends = [member.extent for member in self.members]
        least, most = zip(
            *((w * low, w * high) for w, (low, high) in zip(self.weights, ends, strict=True)), strict=True
        )
        return min(least), max(most)

    @cached_property
    def squared_weights(self) -> float:
        return math.fsum(w**2 * member.squared_weights for member, w in zip(self.members, self.weights, strict=True))

    @cached_property
    def _distinct(self) -> list[tuple[Workload, float]]:
        """Parts that differ, each with the sum of its squared weights: so that equal parts cost no
        more than one."""
        weights: dict[Workload, float] = {}
        for part, weight in zip(self.parts, self.weights, strict=True):
            for inner, squared in part._distinct if isinstance(part, Union) else [(part, 1.0)]:
                weights[inner] = weights.get(inner, 0.0) + weight**2 * squared
        return list(weights.items())

    def _total(self, of: Callable[[Workload], np.ndarray], check: Callable[[], None] = lambda: None) -> np.ndarray:
        total = np.zeros(1)
        for part, squared in self._distinct:
            check()
            total = total + squared * of(part)
        return total

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return self._total(lambda part: part.apply_gram(x))

    @cached_property
    def gram_column(self) -> np.ndarray:
        return self._total(lambda part: part.gram_column)

    @cached_property
    def gram_diag(self) -> np.ndarray:
        return self._total(lambda part: part.gram_diag)

    def rows(self, queries: np.ndarray) -> np.ndarray:
        rows = np.empty((len(queries), self.n))
        for k, here, local in self.located(np.asarray(queries)):
            rows[here] = self.weights[k] * self.parts[k].rows(local)
        return rows

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if queries is None:
            pairs = zip(self.parts, self.weights, strict=True)
            return np.concatenate([weight * part.answers(x) for part, weight in pairs], axis=-1)
        return self.gathered(queries, lambda k, local: self.weights[k] * self.parts[k].answers(x, local), x.shape[:-1])

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        pairs = zip(self.parts, self.weights, strict=True)
        return np.concatenate([weight**2 * part.query_variances(covariance) for part, weight in pairs])


class Union(Together):
    """All queries of several workloads on the same types, each scaled by a weight."""

    kind = "union"
    title = "Union"
    meaning = "Several workloads at once, each with its own importance."
    recipe = ("parts", "weights")
    parts: tuple[Workload, ...] = ()

    def __init__(self, parts: Sequence[Workload], weights: Sequence[float] | None = None):
        if not parts:
            raise ValueError("A union needs at least one workload.")
        if len({part.n for part in parts}) > 1:
            raise ValueError(f"Workloads of a union must share their types; these have {[part.n for part in parts]}.")
        scales = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=float)
        if scales.shape != (len(parts),) or not np.all(np.isfinite(scales) & (scales > 0)):
            raise ValueError(f"A union of {len(parts)} workloads needs as many weights, each a positive finite number.")
        super().__init__(parts[0].n)
        self.parts, self.weights = tuple(parts), tuple(scales.tolist())

    @property
    def members(self) -> Sequence[Workload]:
        return self.parts

    @cached_property
    def _known_symmetry(self) -> SymmetryGroup:
        # Parts that treat all types alike do so in a table of any shape.
        groups = [part.symmetry_group for part in self.parts]
        tables = {group.shifts for group in groups if group.kind != "exchangeable"}
        if len({tuple(size for size, _ in table) for table in tables}) > 1:
            return super()._known_symmetry
        axes = zip(*tables, strict=True) if tables else [((self.n, True),)]
        return self._seen(tuple((axis[0][0], all(same for _, same in axis)) for axis in axes))

    @property
    def gram_roundings(self) -> int:
        return sum(part.gram_roundings for part in self.parts) + len(self.parts) + 4

    def prepare(self, check: Callable[[], None]) -> None:
        self.gram_diag = self._total(lambda part: part.gram_diag, check)
        if self.symmetry_group.fixed_types == 1:
            self.gram_column = self._total(lambda part: part.gram_column, check)
        else:
            self.gram_sums = self._total(lambda part: part.apply_gram(np.ones(self.n)), check)
        super().prepare(check)


class OnOtherTypes(Workload):
    """The queries of ``base`` about types that are not its own: W is that of ``base`` where a type
    is replaced by the one it counts as."""

    base: Workload

    @abstractmethod
    def _folded(self, x: np.ndarray) -> np.ndarray:
        """(..., n) counts of types to (..., base.n) counts of those that they count as."""

    @abstractmethod
    def _unfolded(self, y: np.ndarray) -> np.ndarray:
        """(..., base.n) to (..., n): every type takes the number of the one that it counts as, 0
        where it counts as none."""

    @property
    def num_queries(self) -> int:
        return self.base.num_queries

    @property
    def gram_roundings(self) -> int:
        return self.base.gram_roundings

    @property
    def extent(self) -> tuple[float, float]:
        return self.base.extent

    def query_weights(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        return self.base.query_weights(queries)

    @property
    def squared_weights(self) -> float:
        return self.base.squared_weights

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return self._unfolded(self.base.apply_gram(self._folded(x)))

    @property
    def gram_diag(self) -> np.ndarray:
        return self._unfolded(self.base.gram_diag)

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return self._unfolded(self.base.rows(queries))

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return self.base._answers(self._folded(x), queries)

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        return self.base.query_variances(self._folded(self._folded(covariance).T))

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        return self.base.query_name(query)


class Product(Workload):
    """Every combination of one query per factor, over the product of the factors' types: W is a
    Kronecker product."""

    kind = "product"
    title = "Product"
    meaning = "Every combination of queries, one for each attribute."
    recipe = ("factors",)

    def __init__(self, factors: Sequence[Workload]):
        if not factors:
            raise ValueError("A product needs at least one factor.")
        super().__init__(math.prod(factor.n for factor in factors))
        self.factors = tuple(factors)

    @cached_property
    def _known_symmetry(self) -> SymmetryGroup:
        return self._seen(tuple(axis for factor in self.factors for axis in factor.symmetry_group.shifts))

    def query_weights(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        if queries is None:
            return reduce(np.kron, [factor.query_weights() for factor in self.factors])
        indices = self._located(np.asarray(queries))
        return np.prod([factor.query_weights(q) for factor, q in zip(self.factors, indices, strict=True)], axis=0)

    @property
    def extent(self) -> tuple[float, float]:
        least, most = zip(*(factor.extent for factor in self.factors), strict=True)
        return math.prod(least), math.prod(most)

    @property
    def squared_weights(self) -> float:
        return math.prod(factor.squared_weights for factor in self.factors)

    @property
    def num_queries(self) -> int:
        return math.prod(factor.num_queries for factor in self.factors)

    def _along_axes(self, x: np.ndarray, apply: Callable[[Workload, np.ndarray], np.ndarray]) -> np.ndarray:
        """``apply(factor, values)`` along each factor's axis of ``x`` (..., n), which may change
        the axis's length."""
        x = np.asarray(x, dtype=float)
        table = x.reshape(*x.shape[:-1], *(factor.n for factor in self.factors))
        for axis, factor in zip(range(-len(self.factors), 0), self.factors, strict=True):
            table = np.moveaxis(apply(factor, np.moveaxis(table, axis, -1)), -1, axis)
        return table.reshape(*x.shape[:-1], -1)

    @property
    def gram_roundings(self) -> int:
        if not any(factor.gram_roundings for factor in self.factors):
            return 0
        # Sums of counts are exact, those of their multiples by another factor's entries are not: differences of running sums.
        return sum(factor.gram_roundings + 4 * factor.n**2 for factor in self.factors)

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return self._along_axes(x, lambda factor, values: factor.apply_gram(values))

    @property
    def gram_column(self) -> np.ndarray:
        return reduce(np.kron, [factor.gram_column for factor in self.factors])

    @property
    def gram_diag(self) -> np.ndarray:
        return reduce(np.kron, [factor.gram_diag for factor in self.factors])

    def _written_gram(self) -> np.ndarray:
        return reduce(np.kron, [factor.gram_dense() for factor in self.factors])

    def singular_values(self) -> np.ndarray:
        return padded(reduce(np.kron, [factor.singular_values() for factor in self.factors]), self)

    def _located(self, queries: np.ndarray) -> tuple[np.ndarray, ...]:
        return np.unravel_index(queries, [factor.num_queries for factor in self.factors])

    def rows(self, queries: np.ndarray) -> np.ndarray:
        indices = self._located(np.asarray(queries))
        parts = [factor.rows(q) for factor, q in zip(self.factors, indices, strict=True)]
        return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1), parts)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if queries is not None:
            return x @ self.rows(queries).T
        return self._along_axes(x, lambda factor, values: factor.answers(values))

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        # Queries that take one value of a factor each only need the covariances within that value.
        each = [i for i, factor in enumerate(self.factors) if isinstance(factor, Histogram)]
        rest = [i for i in range(len(self.factors)) if i not in each]
        if not each or not rest:
            return super().query_variances(covariance)
        d, sizes = len(self.factors), [factor.n for factor in self.factors]
        second = [i if i in each else d + i for i in range(d)]
        table = np.asarray(covariance, dtype=float).reshape(sizes * 2)
        table = np.einsum(table, [*range(d), *second], [*each, *rest, *(d + i for i in rest)])
        m = math.prod(sizes[i] for i in rest)
        factors = [self.factors[i] for i in rest]
        base = factors[0] if len(factors) == 1 else Product(factors)
        variances = np.array([base.query_variances(block) for block in table.reshape(-1, m, m)])
        variances = variances.reshape([*(sizes[i] for i in each), *(factor.num_queries for factor in factors)])
        return variances.transpose(np.argsort([*each, *rest])).ravel()

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        indices = [int(q[0]) for q in self._located(np.array([query]))]
        return " and ".join(
            factor.query_name(q) if factor.axes is not None else f"x{i + 1}: {factor.query_name(q)}"
            for i, (factor, q) in enumerate(zip(self.factors, indices, strict=True))
        )


def padded(values: np.ndarray, workload: Workload) -> np.ndarray:
    """(min(n, p),) the singular values ``values`` of ``workload``, largest first, with the zeros
    that it has besides."""
    spectrum = np.zeros(min(workload.n, workload.num_queries))
    spectrum[: len(values)] = np.sort(values)[::-1]
    return spectrum
