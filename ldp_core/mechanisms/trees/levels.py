"""Trees over an ordered domain: levels, sums up and down, Hay consistency, decomposition of ranges, and estimates that answer
ranges and quantiles without an n x n matrix.

Levels are numbered from the leaves (0) up; the root is left out, because its count (all N users) is known. On level l every
node but perhaps the last covers B^l types, so a domain of any size has a tree; only the last node of a level may have fewer
children. Arrays over the nodes of one level have them on the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_WORKLOAD_ENTRIES
from ldp_core.mechanisms.base import Estimate
from ldp_core.people import Counts, dense
from ldp_core.wording import significant
from ldp_core.workloads import AllRange, Histogram, Prefix, WidthRange, Workload

QUERIES_AT_ONCE = 2**20
"""Ranges decomposed at once: bounds the memory, some 100 bytes each."""

Ranges = Histogram | Prefix | AllRange | WidthRange
"""Workloads whose queries are ranges of types, all of them."""


@dataclass(frozen=True)
class Tree:
    """A tree of branching factor B over ``n`` leaves; users pick a level evenly, or with the probabilities ``level_shares`` (h,), leaves
    first. ValueError for B below 2."""

    n: int
    branching: int
    level_shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.branching < 2:
            raise ValueError(f"A tree needs at least 2 children per node; got a branching factor of {self.branching}.")

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Types under one node on each level: 1, B, B^2, ... below n."""
        widths = [1]
        while widths[-1] * self.branching < self.n:  # an integer loop: log_B(n) rounds the wrong way at exact powers
            widths.append(widths[-1] * self.branching)
        return tuple(widths)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Nodes on each level."""
        return tuple(-(-self.n // width) for width in self.widths)

    @property
    def height(self) -> int:
        """h, the number of levels below the root."""
        return len(self.widths)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the tree besides its types."""
        return {
            "branching": self.branching,
            **({} if self.level_shares is None else {"shares": list(self.level_shares)}),
        }

    @cached_property
    def gains(self) -> np.ndarray:
        """(h,) one over the probability of each level: how many users a report there stands for."""
        return (
            np.full(self.height, float(self.height)) if self.level_shares is None else 1 / np.array(self.level_shares)
        )

    @property
    def _noise(self) -> list[float]:
        """Variance of a node estimate on each level, relative to that of levels picked evenly."""
        return (self.gains / self.height).tolist()

    def picks(self, users: int, rng: np.random.Generator) -> np.ndarray:
        """(users,) the levels that users pick. Simulation only."""
        return (
            rng.integers(self.height, size=users)
            if self.level_shares is None
            else rng.choice(self.height, users, p=self.level_shares)
        )

    def nodes_of(self, level: int, types: np.ndarray) -> np.ndarray:
        """The node of each type on a level."""
        return types // self.widths[level]

    def described(self, oracle: str) -> str:
        """The collection in a sentence or two, nodes being reported by what is called ``oracle``."""
        often = (
            ""
            if self.level_shares is None
            else f", with probabilities {', '.join(map(significant, self.level_shares))}"
        )
        return (
            f"The types are the leaves of a tree with {self.branching} children per node. Each person picks one of "
            f"{self.height} levels at random ({', '.join(f'{size:,}' for size in self.sizes)} nodes{often}) and reports their "
            f"node there by {oracle}."
        )

    def up(self, values: np.ndarray) -> np.ndarray:
        """Sums over the children of each node one level up."""
        return np.add.reduceat(values, np.arange(0, values.shape[-1], self.branching), axis=-1)

    def down(self, values: np.ndarray, size: int) -> np.ndarray:
        """Each node's value at all of its children, ``size`` nodes in all."""
        return np.repeat(values, self.branching, axis=-1)[..., :size]

    def aggregate(self, counts: np.ndarray) -> list[np.ndarray]:
        """Counts of the nodes of every level from those of the leaves."""
        levels = [np.asarray(counts)]
        for _ in self.sizes[1:]:
            levels.append(self.up(levels[-1]))
        return levels

    def thin(self, counts: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Counts of the users who picked each level, by node of that level.

        Exact in O(n) draws: of the users left at a level, each has picked it with its share of the
        probabilities of the levels left. Simulation only.
        """
        shares, rest = 1 / self.gains, counts
        for level in range(self.height):
            even = 1 / (self.height - level)
            chosen = rng.binomial(
                rest, even if self.level_shares is None else min(1.0, shares[level] / shares[level:].sum())
            )
            yield chosen
            if level + 1 < self.height:
                rest = self.up(rest - chosen)

    @cached_property
    def _variances(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Variance of each node's best estimate from its subtree, and of the sum of its children's (levels 1 up to the
        root), when every single node estimate has the variance `_noise` of its level."""
        leaf, *others = self._noise
        combined, of_children = [np.full(self.n, leaf)], []
        for noise in others:
            of_children.append(self.up(combined[-1]))
            combined.append(noise * of_children[-1] / (noise + of_children[-1]))
        return combined, [*of_children, self.up(combined[-1])]

    def consistent(self, levels: Sequence[np.ndarray], total: float) -> np.ndarray:
        """(..., n) leaf counts by least squares over independent node estimates, of variance `_noise`, the root fixed.

        Hay, Rastogi, Miklau and Suciu 2010: weighted averages up the tree, then differences shared out down it. The weights
        are written with the variances of the subtrees, which on a complete tree are Hay's (B^i - B^(i-1))/(B^i - 1) and on a
        ragged one those of least squares with the children that exist.
        """
        return self._shared_out(self._averaged(levels), np.full(1, total, dtype=float))

    def smoothed(self, levels: Sequence[np.ndarray]) -> np.ndarray:
        """(..., n) leaf counts as in `consistent`, but with the root estimated like any other node, last in ``levels``."""
        averaged, variance = self._averaged(levels[:-1]), self._variances[1][-1]
        return self._shared_out(averaged, (variance * levels[-1] + self.up(averaged[-1])) / (1 + variance))

    def _averaged(self, levels: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Each node's best estimate from its subtree."""
        averaged = [levels[0]]
        for estimates, variance, noise in zip(levels[1:], self._variances[1], self._noise[1:], strict=False):
            averaged.append((variance * estimates + noise * self.up(averaged[-1])) / (noise + variance))
        return averaged

    def _shared_out(self, averaged: list[np.ndarray], value: np.ndarray) -> np.ndarray:
        """Leaf counts that add up to ``value`` at the root: differences are shared out down the tree."""
        combined, of_children = self._variances
        for average, variance, children in zip(averaged[::-1], combined[::-1], of_children[::-1], strict=True):
            missing = (value - self.up(average)) / children
            value = average + variance * self.down(missing, variance.size)
        return value

    def shares(self, rows: np.ndarray) -> list[np.ndarray]:
        """(..., nodes) for each level, what ``rows`` (..., n) times the counts of `consistent` gives each node estimate: the
        adjoint of `consistent`, in O(n)."""
        weights, _ = self._gathered(rows)
        return self._passed_down(weights)

    def smoothed_shares(self, rows: np.ndarray) -> list[np.ndarray]:
        """The adjoint of `smoothed`: as `shares`, and last (..., 1) for the root."""
        weights, root = self._gathered(rows)
        variance = self._variances[1][-1]
        weights[-1] = weights[-1] + self.down(root / (1 + variance), self.sizes[-1])
        return [*self._passed_down(weights), root * variance / (1 + variance)]

    def _gathered(self, rows: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """The adjoint of `_shared_out`."""
        weights, value = [], np.asarray(rows, dtype=float)
        for variance, children in zip(*self._variances, strict=True):
            missing = self.up(variance * value) / children
            weights.append(value - self.down(missing, variance.size))
            value = missing
        return weights, value

    def _passed_down(self, weights: list[np.ndarray]) -> list[np.ndarray]:
        """The adjoint of `_averaged`."""
        for level in range(self.height - 1, 0, -1):
            variance, noise = self._variances[1][level - 1], self._noise[level]
            passed = self.down(noise * weights[level] / (noise + variance), self.sizes[level - 1])
            weights[level - 1] = weights[level - 1] + passed
            weights[level] = weights[level] * variance / (noise + variance)
        return weights

    def runs(
        self, low: np.ndarray, high: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Minimal B-adic decomposition of the ranges from low to high (types, both included).

        Yields for each level, leaves first, two runs of nodes ``start:stop`` as (start, stop, start, stop). A single type is
        its leaf, and the whole domain is the nodes below the root.
        """
        start, stop = np.asarray(low), np.asarray(high) + 1
        single = stop - start == 1  # a last node with one child would do as well, but is another estimate of the type
        for level, size in enumerate(self.sizes):
            if level + 1 == self.height:
                yield start, stop, stop, stop
                return
            first = -(-start // self.branching)
            last = np.where(stop == size, self.sizes[level + 1], stop // self.branching)
            climbs = (first < last) & ~single
            left_stop = np.where(climbs, first * self.branching, stop)
            right_start = np.where(climbs, np.minimum(last * self.branching, size), stop)
            yield start, left_stop, right_start, stop
            start, stop = np.where(climbs, first, 0), np.where(climbs, last, 0)

    def weights(self, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
        """(q, m) for each level, 1 at the nodes that make up a few ranges."""
        weights = []
        for run, size in zip(self.runs(low, high), self.sizes, strict=True):
            steps = np.zeros((low.size, size + 1))
            for ends, sign in zip(run, (1, -1, 1, -1), strict=True):
                np.add.at(steps, (np.arange(low.size), ends), sign)
            weights.append(np.cumsum(steps[:, :-1], axis=1))
        return weights

    def grams(self, workload: Ranges) -> list[np.ndarray]:
        """(m, m) for each level, the sum of w w' over the `weights` w of all queries.

        A query's nodes on a level are two runs, so w is the running sum of four entries +-1: the matrices are double
        running sums of those of very sparse rows.
        """
        changes = [np.zeros((size + 1, size + 1)) for size in self.sizes]
        for low, high in batches(workload):
            rows = np.arange(low.size)
            for total, run in zip(changes, self.runs(low, high), strict=True):
                signs = np.repeat([1.0, -1.0, 1.0, -1.0], low.size)
                ends = (signs, (np.tile(rows, 4), np.concatenate(run)))
                steps = sparse.csr_array(ends, shape=(low.size, len(total)))
                total += (steps.T @ steps).toarray()
        return [np.cumsum(np.cumsum(total, axis=0), axis=1)[:-1, :-1] for total in changes]


def check_dense(n: int, what: str) -> None:
    """Refuse, in words, an n x n matrix past `MOST_MATRIX_TYPES` types."""
    if n > MOST_MATRIX_TYPES:
        raise ValueError(
            f"{what} needs an n x n matrix; it is formed for at most {MOST_MATRIX_TYPES:,} types and there are {n:,}. Simulate instead, "
            "or use coarser bins."
        )


def ends_of(workload: Ranges, queries: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """First and last type of each query, or of those given."""
    index = workload.checked_queries(queries)
    if isinstance(workload, Histogram):
        return index, index
    return (np.zeros_like(index), index) if isinstance(workload, Prefix) else workload.ends(index)


def all_or(workload: Workload, queries: np.ndarray | None) -> np.ndarray:
    """(q,) the given queries, or all. ValueError where all are too many to answer one by one."""
    if queries is None and workload.num_queries > MOST_WORKLOAD_ENTRIES:
        raise ValueError(
            f"Raw answers do not add up, so all {workload.num_queries:,} of them would have to be formed, too many here. Ask for "
            'the queries you need, or use reconstruction "consistent".'
        )
    return workload.checked_queries(queries)


def batches(workload: Ranges) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """First and last types of all queries, `QUERIES_AT_ONCE` at a time."""
    for start in range(0, workload.num_queries, QUERIES_AT_ONCE):
        yield ends_of(workload, np.arange(start, min(start + QUERIES_AT_ONCE, workload.num_queries)))


def _totals(values: np.ndarray) -> np.ndarray:
    """Running sums, from 0 before the first value."""
    return np.concatenate([[0.0], np.cumsum(values)])


@dataclass(frozen=True, kw_only=True, repr=False)
class OrderedEstimate(Estimate):
    """Estimated counts along an ordered domain, with ranges and quantiles in O(1) and O(log n) each. ``users`` is N."""

    users: int

    @property
    def total(self) -> float:
        """N, which was known."""
        return float(self.users)

    @cached_property
    def _running(self) -> np.ndarray:
        return _totals(self.estimated_counts)

    def ranges(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """(k,) estimated users from type low to type high, both included (from 0)."""
        return self._running[np.asarray(high) + 1] - self._running[np.asarray(low)]

    def quantile(self, q: float | np.ndarray) -> np.ndarray:
        """Type (from 0) at which the share of users at or below it reaches ``q``, a number or array from 0 to 1.

        By bisection on the estimated running totals (Cormode et al. 2019, Section 4.7): noise makes them go up and down, and
        bisection meets one of the crossings without favouring the first.
        """
        q = np.asarray(q, dtype=float)
        if not np.all((q >= 0) & (q <= 1)):
            raise ValueError("Quantiles are shares from 0 to 1; 0.5 is the median.")
        n = len(self.estimated_counts)
        low, high = np.zeros(q.shape, dtype=np.int64), np.full(q.shape, n - 1)
        while np.any(low < high):
            middle = (low + high) // 2
            reached = self.ranges(np.zeros_like(middle), middle) >= q * self.users
            # A search that has ended (low = high) stays where it is while others go on.
            low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
        return low


@dataclass(frozen=True, kw_only=True, repr=False)
class RawTreeEstimate(OrderedEstimate):
    """Node estimates of a tree as they are. Workloads of ranges are answered from the fewest nodes that make up each range;
    other workloads, and `counts`, use the leaves alone. Answers need not add up."""

    adds_up = False
    tree: Tree
    levels: tuple[np.ndarray, ...]

    @cached_property
    def _level_running(self) -> list[np.ndarray]:
        return [_totals(level) for level in self.levels]

    def ranges(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """(k,) estimated users from type low to type high, each range from its minimal decomposition."""
        sums = np.zeros(np.shape(low))
        for total, (a, b, c, d) in zip(self._level_running, self.tree.runs(low, high), strict=True):
            sums += total[b] - total[a] + total[d] - total[c]
        return sums

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        if isinstance(workload, Ranges):
            return self.ranges(*ends_of(workload, queries))
        return super().answers(workload, queries)

    def consistent(self, users: float) -> OrderedEstimate:
        """By least squares, with ``users`` at the root: see `Tree.consistent`. Linear, so still unbiased."""
        return OrderedEstimate(self.tree.consistent(self.levels, users), unbiased=True, users=self.users)

    def fitted(self, workload: Workload) -> np.ndarray:
        """(n,) the counts whose answers come closest to the raw ones, by least squares over all queries.

        ValueError for ranges on more than `MOST_MATRIX_TYPES` types.
        """
        if isinstance(workload, Prefix):
            return np.diff(self.answers(workload), prepend=0.0)
        if not isinstance(workload, Ranges) or isinstance(workload, Histogram):
            return self.estimated_counts
        check_dense(workload.n, "Fitting counts to raw answers")
        steps = np.zeros(workload.n + 1)  # of W'a: every answer counts at all types of its range
        for low, high in batches(workload):
            answers = self.ranges(low, high)
            steps += np.bincount(low, answers, workload.n + 1) - np.bincount(high + 1, answers, workload.n + 1)
        return linalg.solve(workload.gram_dense(), np.cumsum(steps[:-1]), assume_a="pos")

    def squared_error(self, workload: Workload, counts: Counts) -> float:
        """Squared error summed over all queries (squared users); for ranges every answer is formed, a batch at a time."""
        if not isinstance(workload, Ranges):
            return super().squared_error(workload, counts)
        all_or(workload, None)
        truth, error = _totals(dense(counts)), 0.0
        for low, high in batches(workload):
            error += float(np.sum((self.ranges(low, high) - truth[high + 1] + truth[low]) ** 2))
        return error
