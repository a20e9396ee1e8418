"""Workloads over several attributes: marginals and parities. Types are records in row-major order, last attribute fastest.

Gram matrices act attribute by attribute, so they are applied in O(n d) and never formed. For
marginals each attribute contributes I if it is kept and the all-ones matrix J if it is summed out;
parities are a projection in the Walsh-Hadamard basis. Sources: McKenna et al. 2020, Section 6.1;
Cormode et al. 2018; Gaboardi et al. 2014.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import ClassVar

import numpy as np

from ldp_core.arguments import check_whole
from ldp_core.limits import MOST_ATTRIBUTES, MOST_ATTRIBUTES_TOGETHER
from ldp_core.wording import shortened
from ldp_core.workloads.axes import Axis, cell_name
from ldp_core.workloads.base import Workload
from ldp_core.workloads.symmetry import Kind, SymmetryGroup, walsh_hadamard


def checked_shape(attributes: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes of the attributes, counted before they are listed.

    Parameters
    ----------
    attributes : int or sequence of int
        d, for d binary attributes, or the size of each attribute.

    Returns
    -------
    tuple of int
        One size per attribute.

    Raises
    ------
    ValueError
        Neither a whole number nor a list, fewer than 1 or more than `MOST_ATTRIBUTES_TOGETHER`
        attributes, or an attribute of fewer than two values.
    """
    if isinstance(attributes, (int, np.integer)) and not isinstance(attributes, bool):
        number, sizes = int(attributes), [2]
    elif isinstance(attributes, (list, tuple, np.ndarray)):
        number, sizes = len(attributes), list(map(int, attributes))
    else:
        raise ValueError(
            f"Give the number of binary attributes, or a list of attribute sizes; got {shortened(repr(attributes))}."
        )
    if not 1 <= number <= MOST_ATTRIBUTES_TOGETHER or min(sizes) < 2:
        raise ValueError(
            f"There must be 1 to {MOST_ATTRIBUTES_TOGETHER} attributes of at least 2 values each; got {shortened(repr(attributes))}."
        )
    return tuple(sizes) if len(sizes) == number else (2,) * number


class Subsets:
    """The subsets of ``d`` attributes with these sizes, small ones first and each size in lexicographic order. A million of
    them would take 100 MB to list, so they are made when asked for."""

    def __init__(self, d: int, sizes: Sequence[int]):
        self._d, self._sizes = d, sizes

    def __len__(self) -> int:
        return sum(math.comb(self._d, size) for size in self._sizes)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (subset for size in self._sizes for subset in combinations(range(self._d), size))

    def __getitem__(self, position: int) -> tuple[int, ...]:
        left = int(position)
        if not 0 <= left < len(self):
            raise IndexError(f"There are {len(self)} subsets; got position {position}.")
        for size in self._sizes:
            if left < math.comb(self._d, size):
                break
            left -= math.comb(self._d, size)
        subset: list[int] = []
        for i in range(self._d):
            others = size - len(subset) - 1
            starting = math.comb(self._d - i - 1, others) if others >= 0 else 0  # those that go on with i
            if left < starting:
                subset.append(i)
            else:
                left -= starting
        return tuple(subset)


class _Marginals(Workload):
    """Marginal tables of chosen attribute subsets, one query per cell; subclasses say which subsets and how G acts."""

    recipe: ClassVar[tuple[str, ...]] = ("shape",)

    def __init__(self, shape: tuple[int, ...], axes: Sequence[Axis] | None = None):
        super().__init__(math.prod(shape), axes)
        self.shape = shape

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        kind: Kind = "hamming" if set(self.shape) == {2} else "translation"
        if len(self.shape) in (1, self.sizes[0]):  # G is the identity, or that and the matrix of ones
            kind = "exchangeable"
        return SymmetryGroup(kind, tuple((size, True) for size in self.shape))

    @property
    def _agreeing(self) -> np.ndarray:
        """(n,) how many attributes each type has in common with type 0."""
        table = np.zeros(self.shape, dtype=np.int8)
        for axis in range(len(self.shape)):
            np.moveaxis(table, axis, 0)[0] += 1
        return table.ravel()

    @property
    def gram_diag(self) -> np.ndarray:
        return np.full(self.n, self.gram_column[0])

    @property
    @abstractmethod
    def sizes(self) -> range:
        """Sizes of the attribute subsets asked for."""

    @property
    def subsets(self) -> Subsets:
        """Attribute subsets asked for, small ones first."""
        return Subsets(len(self.shape), self.sizes)

    @cached_property
    def _offsets(self) -> np.ndarray:
        cells = [math.prod(sides) for size in self.sizes for sides in combinations(self.shape, size)]
        return np.concatenate([[0], np.cumsum(cells, dtype=np.int64)])

    @property
    def num_queries(self) -> int:
        # The cells of all groups of k attributes: a coefficient of prod (1 + s_i z), without listing the groups.
        cells = [1] + [0] * len(self.shape)
        for size in self.shape:
            cells = [1, *(more + size * fewer for fewer, more in pairwise(cells))]
        return sum(cells[k] for k in self.sizes)

    def _summed(self, x: np.ndarray, subset: tuple[int, ...]) -> np.ndarray:
        """Marginal table of ``x`` (..., n) over the attributes in ``subset``: (..., cells)."""
        batch = x.shape[:-1]
        others = tuple(len(batch) + i for i in range(len(self.shape)) if i not in subset)
        return x.reshape(*batch, *self.shape).sum(axis=others).reshape(*batch, -1)

    def _located(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position of each query's subset, and its cell there."""
        position = np.searchsorted(self._offsets, queries, side="right") - 1
        return position, queries - self._offsets[position]

    def rows(self, queries: np.ndarray) -> np.ndarray:
        rows = np.zeros((len(queries), *self.shape))
        for row, position, cell in zip(rows, *self._located(np.asarray(queries)), strict=True):
            subset = self.subsets[position]
            values = np.unravel_index(cell, [self.shape[i] for i in subset]) if subset else ()
            counted = dict(zip(subset, values, strict=True))
            row[tuple(counted.get(i, slice(None)) for i in range(len(self.shape)))] = 1.0
        return rows.reshape(len(queries), self.n)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        if queries is None:
            return np.concatenate([self._summed(x, subset) for subset in self.subsets], axis=-1)
        position, cell = self._located(queries)
        answers = np.empty((*x.shape[:-1], len(queries)))
        for wanted in np.unique(position):
            here = position == wanted
            answers[..., here] = self._summed(x, self.subsets[wanted])[..., cell[here]]
        return answers

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        # Axis by axis, the two of an attribute become one: its values where it is kept, and last the sum over it.
        table = np.asarray(covariance, dtype=float).reshape(self.shape * 2)
        for left in range(len(self.shape), 0, -1):
            summed = table.sum(axis=(0, left))
            table = np.concatenate([np.diagonal(table, axis1=0, axis2=left), summed[..., None]], axis=-1)
        chosen = (
            tuple(slice(0, size) if i in subset else size for i, size in enumerate(self.shape))
            for subset in self.subsets
        )
        return np.concatenate([table[cells].ravel() for cells in chosen])

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        (position,), (cell,) = self._located(np.array([query]))
        subset = self.subsets[position]
        if not subset:
            return "everybody"
        values = np.unravel_index(cell, [self.shape[i] for i in subset])
        if self.axes is not None:
            return cell_name([self.axes[i] for i in subset], values)
        return ", ".join(f"x{i + 1} = {value}" for i, value in zip(subset, values, strict=True))

    def singular_values(self) -> np.ndarray:
        # On the functions that vary in exactly the attributes of T (a product of s_i - 1 dimensions), J contributes s_i
        # outside T and 0 inside it, so G has one eigenvalue for every T; it depends on how many of each size are in T.
        alike = {size: [i for i, s in enumerate(self.shape) if s == size] for size in set(self.shape)}
        values, counts = [], []
        for many in product(*(range(len(places) + 1) for places in alike.values())):
            chosen = list(zip(alike.items(), many, strict=True))
            values.append(self._eigenvalue(tuple(i for (_, places), t in chosen for i in places[:t])))
            counts.append(math.prod(math.comb(len(places), t) * (size - 1) ** t for (size, places), t in chosen))
        spectrum = np.repeat(np.sqrt(values), counts)
        return np.sort(spectrum)[::-1][: min(self.n, self.num_queries)]

    @abstractmethod
    def _eigenvalue(self, varying: tuple[int, ...]) -> float: ...


class AllMarginals(_Marginals):
    """Every marginal table, from the total to the full joint table: G is the Kronecker product of I + J."""

    kind = "all_marginals"
    title = "All Marginals"
    meaning = "How many people have each combination of values, for every group of attributes?"

    @property
    def sizes(self) -> range:
        return range(len(self.shape) + 1)

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        table = x.reshape(*x.shape[:-1], *self.shape)
        for axis in range(-len(self.shape), 0):
            table = table + table.sum(axis=axis, keepdims=True)
        return table.reshape(x.shape)

    @property
    def gram_column(self) -> np.ndarray:
        return np.ldexp(1.0, self._agreeing)

    def _eigenvalue(self, varying: tuple[int, ...]) -> float:
        return math.prod(1.0 + size for i, size in enumerate(self.shape) if i not in varying)


class KWayMarginals(_Marginals):
    """The marginal tables of every group of exactly k attributes: G_uv = C(attributes on which u and v agree, k)."""

    kind = "k_way_marginals"
    title = "k-way Marginals"
    meaning = "How many people have each combination of values, for every group of k attributes?"
    recipe = ("shape", "k")

    def __init__(self, shape: tuple[int, ...], k: int, axes: Sequence[Axis] | None = None):
        super().__init__(shape, axes)
        self.k = check_whole("number k of attributes in a group", k, 1, len(shape))

    @property
    def sizes(self) -> range:
        return range(self.k, self.k + 1)

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        table = x.reshape(*x.shape[:-1], *self.shape)
        # kept[j]: the attributes so far, j of them kept (I) and the others summed out (J). None is zero.
        kept: list[np.ndarray | None] = [table] + [None] * self.k
        for axis in range(-len(self.shape), 0):
            summed = [None if t is None else np.broadcast_to(t.sum(axis=axis, keepdims=True), t.shape) for t in kept]
            for j in range(self.k, 0, -1):
                before = kept[j - 1]
                if before is not None:
                    summed[j] = before if summed[j] is None else summed[j] + before
            kept = summed
        return np.array(kept[self.k]).reshape(x.shape)

    @property
    def gram_column(self) -> np.ndarray:
        groups = [float(math.comb(agreeing, self.k)) for agreeing in range(len(self.shape) + 1)]
        return np.array(groups)[self._agreeing]

    def _eigenvalue(self, varying: tuple[int, ...]) -> float:
        # Sum over the groups S that contain T: the product of the sizes outside S, a coefficient of prod (s_i + z).
        coefficients = np.ones(1)
        for i, size in enumerate(self.shape):
            if i not in varying:
                coefficients = np.convolve(coefficients, [size, 1.0])
        extra = self.k - len(varying)
        return float(coefficients[extra]) if 0 <= extra < len(coefficients) else 0.0


class Parity(Workload):
    """The characters (-1)^(sum of u_i over i in S) of binary attributes, for every |S| up to ``max_weight``, 0 included."""

    kind = "parity"
    title = "Parity"
    meaning = "How many more people have an even than an odd number of yes, in each group of yes-or-no attributes?"
    recipe = ("d", "max_weight")

    def __init__(self, d: int, max_weight: int | None = None, axes: Sequence[Axis] | None = None):
        self.d = check_whole("number of attributes of two values", d, 1, MOST_ATTRIBUTES)
        super().__init__(2**self.d, axes)
        self.max_weight = check_whole("largest weight", self.d if max_weight is None else max_weight, 0, self.d)

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        alike = self.max_weight == self.d  # all characters together have G = n I
        return SymmetryGroup("exchangeable" if alike else "hamming", ((2, True),) * self.d)

    @property
    def num_queries(self) -> int:
        return sum(math.comb(self.d, weight) for weight in range(self.max_weight + 1))

    @cached_property
    def characters(self) -> np.ndarray:
        """(p,) the subsets S as bit masks of the type index, light ones first."""
        if self.d > MOST_ATTRIBUTES_TOGETHER:
            raise ValueError(
                f"Parities of {self.d} attributes at once are not written out; at most {MOST_ATTRIBUTES_TOGETHER} are."
            )
        masks = np.arange(self.n)
        weights = np.bitwise_count(masks)
        order = np.lexsort((masks, weights))
        return order[: self.num_queries]

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        spectrum = walsh_hadamard(np.asarray(x, dtype=float))
        return walsh_hadamard(np.where(np.bitwise_count(np.arange(self.n)) <= self.max_weight, spectrum, 0.0))

    @property
    def gram_diag(self) -> np.ndarray:
        return np.full(self.n, float(self.num_queries))

    def singular_values(self) -> np.ndarray:
        return np.full(self.num_queries, math.sqrt(self.n))

    def rows(self, queries: np.ndarray) -> np.ndarray:
        masks = self.characters[np.asarray(queries)]
        return 1.0 - 2.0 * (np.bitwise_count(masks[:, None] & np.arange(self.n)) % 2)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        masks = self.characters if queries is None else self.characters[queries]
        return walsh_hadamard(x)[..., masks]

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        both = walsh_hadamard(walsh_hadamard(covariance).T)
        return np.diagonal(both)[self.characters].copy()

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        mask = int(self.characters[query])
        members = [i for i in range(self.d) if mask >> (self.d - 1 - i) & 1]
        named = [f"x{i + 1}" if self.axes is None else self.axes[i].at(1) for i in members]
        return f"parity of {', '.join(named)}" if members else "everybody"
