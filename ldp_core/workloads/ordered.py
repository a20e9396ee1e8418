"""Workloads along an ordered domain (or, for the histogram, any domain): types, running totals, intervals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from ldp_core.arguments import check_whole
from ldp_core.workloads.axes import Axis, cell_name
from ldp_core.workloads.base import Workload
from ldp_core.workloads.symmetry import SymmetryGroup


class Histogram(Workload):
    """One query per type: how many people have it. W = I."""

    kind = "histogram"
    title = "Histogram"
    meaning = "How many people are of each type?"

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        return SymmetryGroup("exchangeable", ((self.n, True),))

    @property
    def num_queries(self) -> int:
        return self.n

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        return np.array(x, dtype=float)

    @property
    def gram_diag(self) -> np.ndarray:
        return np.ones(self.n)

    def singular_values(self) -> np.ndarray:
        return np.ones(self.n)

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return (np.asarray(queries)[:, None] == np.arange(self.n)).astype(float)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return x.copy() if queries is None else x[..., queries]

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        return np.diagonal(covariance).copy()

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        if self.axes is not None:
            return cell_name(self.axes, np.unravel_index(query, [axis.size for axis in self.axes]))
        return labels[query] if labels is not None else f"type {query + 1}"


class _Ordered(Workload):
    """Queries along one order of the types; ``axes`` is the attribute that has it, in a list of one."""

    def __init__(self, n: int, axes: Sequence[Axis] | None = None):
        super().__init__(n, axes)
        if self.axes is not None and len(self.axes) != 1:
            raise ValueError(f"{self.title} goes along one attribute; got {len(self.axes)}.")


class Prefix(_Ordered):
    """Running totals along an ordered domain: W is the lower triangle of ones, G_ij = n - max(i, j) (from 0)."""

    kind = "prefix"
    title = "Prefix"
    meaning = "How many people are at or below each value? (the cumulative distribution, medians and quantiles)"

    @property
    def num_queries(self) -> int:
        return self.n

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        totals = np.cumsum(np.asarray(x, dtype=float), axis=-1)
        return np.cumsum(totals[..., ::-1], axis=-1)[..., ::-1]

    @property
    def gram_diag(self) -> np.ndarray:
        return np.arange(self.n, 0, -1, dtype=float)

    def singular_values(self) -> np.ndarray:
        # W^-1 is the first difference; its squared singular values are those of a discrete Laplacian with one free end.
        k = np.arange(1, self.n + 1)
        return 1 / (2 * np.sin((2 * k - 1) * np.pi / (4 * self.n + 2)))

    def centred_singular_values(self) -> np.ndarray:
        # Off the ones, differences of the totals have both ends free: W P is the inverse root of that Laplacian.
        return 1 / (2 * np.sin(np.arange(1, self.n) * np.pi / (2 * self.n)))

    def rows(self, queries: np.ndarray) -> np.ndarray:
        return (np.arange(self.n) <= np.asarray(queries)[:, None]).astype(float)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        totals = np.cumsum(x, axis=-1)
        return totals if queries is None else totals[..., queries]

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        return np.diagonal(np.cumsum(np.cumsum(covariance, axis=0), axis=1)).copy()

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        if self.axes is not None:
            return self.axes[0].up_to(query)
        return f"up to {labels[query]}" if labels is not None else f"types 1 to {query + 1}"


class _Intervals(_Ordered):
    """Every interval of at most ``longest`` types of an ordered domain, ordered by first type, then by last."""

    @property
    @abstractmethod
    def longest(self) -> int: ...

    @property
    def num_queries(self) -> int:
        return self.longest * self.n - self.longest * (self.longest - 1) // 2

    def ends(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last type (both included, from 0) of the given queries."""
        starting = np.minimum(self.longest, self.n - np.arange(self.n, dtype=np.int64))
        offsets = np.cumsum(starting) - starting
        low = np.searchsorted(offsets, queries, side="right") - 1
        return low, low + (queries - offsets[low])

    def rows(self, queries: np.ndarray) -> np.ndarray:
        (low, high), types = self.ends(np.asarray(queries)), np.arange(self.n)
        return ((types >= low[:, None]) & (types <= high[:, None])).astype(float)

    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        return interval_sums(x, *self.ends(np.arange(self.num_queries) if queries is None else queries))

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        low, high = self.ends(np.arange(self.num_queries))
        blocks = np.zeros((self.n + 1, self.n + 1))
        blocks[1:, 1:] = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
        return blocks[high + 1, high + 1] - blocks[low, high + 1] - blocks[high + 1, low] + blocks[low, low]

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        (low,), (high,) = self.ends(np.array([query]))
        if self.axes is not None:
            return self.axes[0].between(low, high)
        if labels is None:
            return f"types {low + 1} to {high + 1}" if low < high else f"type {low + 1}"
        return f"{labels[low]} to {labels[high]}" if low < high else labels[low]


class AllRange(_Intervals):
    """Every interval of an ordered domain, by first type, then by last: G_ij = (min(i, j) + 1)(n - max(i, j)) (from 0)."""

    kind = "all_range"
    title = "All Range"
    meaning = "How many people are between any two values?"

    @property
    def longest(self) -> int:
        return self.n

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        from_left = np.arange(1, self.n + 1, dtype=float)
        from_right = from_left[::-1]
        below = np.cumsum(from_left * x, axis=-1)  # sum over j <= i of (j + 1) x_j
        above = np.cumsum((from_right * x)[..., ::-1], axis=-1)[..., ::-1] - from_right * x  # over j > i of (n - j) x_j
        return from_right * below + from_left * above

    @property
    def gram_diag(self) -> np.ndarray:
        from_left = np.arange(1, self.n + 1, dtype=float)
        return from_left * from_left[::-1]

    def singular_values(self) -> np.ndarray:
        # G/(n+1) is the inverse of the second-difference matrix, whose eigenvalues are 4 sin^2(k pi / (2(n+1))).
        k = np.arange(1, self.n + 1)
        return np.sqrt(self.n + 1) / (2 * np.sin(k * np.pi / (2 * (self.n + 1))))

    def centred_singular_values(self) -> np.ndarray:
        # With T the second differences and e = T 1 = (1, 0, ..., 0, 1), (P G P)^+ is (T - ee'/2) / (n + 1): vectors that turn round with
        # the order have both ends fixed, as in T, and those that stay the same have both ends free.
        turned = np.arange(1, self.n // 2 + 1) * np.pi / (self.n + 1)
        same = np.arange(1, (self.n + 1) // 2) * np.pi / self.n
        return np.sqrt(self.n + 1) / (2 * np.sin(np.sort(np.concatenate([turned, same]))))


class WidthRange(_Intervals):
    """Every interval of at most ``width`` types, ordered by first type, then by last."""

    kind = "width_range"
    title = "Ranges up to a width"
    meaning = "How many people are between two values that lie close together?"
    recipe = ("n", "width")

    def __init__(self, n: int, width: int, axes: Sequence[Axis] | None = None):
        super().__init__(n, axes)
        self.width = check_whole("width of ranges", width, 1, self.n)

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        return SymmetryGroup("exchangeable", ((self.n, True),)) if self.width == 1 else super()._known_symmetry

    @property
    def longest(self) -> int:
        return self.width

    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        total = np.zeros_like(x)
        types = np.arange(self.n)
        for length in range(1, self.width + 1):
            first = types[: self.n - length + 1]
            sums = interval_sums(x, first, first + length - 1)
            # Type i is in the intervals that start from i - length + 1 to i, where there are such.
            total += interval_sums(sums, np.maximum(types - length + 1, 0), np.minimum(types, self.n - length))
        return total

    def _written_gram(self) -> np.ndarray:
        # The longest interval that starts at a <= i and holds j >= i too ends at min(n, a + width)
        # - 1.
        types = np.arange(self.n)
        ends = np.concatenate([[0], np.cumsum(np.minimum(self.n, types + self.width))])
        low, high = np.minimum(types[:, None], types), np.maximum(types[:, None], types)
        first = np.maximum(high - self.width + 1, 0)
        held = ends[low + 1] - ends[np.minimum(first, low)] - (low - first + 1) * high
        return np.where(first <= low, held, 0).astype(float)

    @property
    def gram_diag(self) -> np.ndarray:
        i, lengths = np.arange(self.n)[:, None], np.arange(1, self.width + 1)
        # Intervals of one length that hold type i start from max(0, i - length + 1) to min(i, n - length).
        held = np.minimum(i, self.n - lengths) - np.maximum(0, i - lengths + 1) + 1
        return np.maximum(held, 0).sum(axis=1).astype(float)


def interval_sums(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(..., k) sums of ``x`` (..., n) over the types from low to high (included)."""
    totals = np.concatenate([np.zeros((*x.shape[:-1], 1)), np.cumsum(x, axis=-1)], axis=-1)
    return totals[..., high + 1] - totals[..., low]
