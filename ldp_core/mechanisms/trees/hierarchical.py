"""Hierarchical histograms HH_B (Cormode et al. 2019, Section 4): each user reports their node on one random level of a tree.

Any mechanism of the library can be the oracle that reports the node. Three reconstructions of the answers:

* ``consistent``  least squares over the node estimates with the number of users known at the root (Hay et al. 2010): O(n);
* ``optimal``     from the explicit strategy of all levels together (McKenna et al. 2020, Theorem 3.10): small n only;
* ``raw``         ranges from the fewest nodes (below the root) that make them up, single types from the leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms import hadamard
from ldp_core.mechanisms.base import Reports
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse
from ldp_core.mechanisms.moments import Gram, Rows
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.trees.level_shares import Shares, optimal_costs, picked
from ldp_core.mechanisms.trees.levels import (
    OrderedEstimate,
    Ranges,
    RawTreeEstimate,
    Tree,
    batches,
    check_dense,
    ends_of,
)
from ldp_core.mechanisms.trees.node_reports import ORACLE_TITLES, HierarchicalTree
from ldp_core.people import Counts, dense
from ldp_core.workloads import Workload

ORACLES: dict[str, Callable[[int, float], np.ndarray]] = {
    "hadamard": lambda n, epsilon: hadamard.build(n, epsilon).strategy,
    "randomized_response": lambda n, epsilon: RandomizedResponse(n, epsilon).written_out(),
    "hrr": lambda n, epsilon: HadamardRandomizedResponse(n, epsilon).written_out(),
}
"""Strategies of the oracles with few enough outputs to write them out, as the optimal reconstruction needs."""
RECONSTRUCTIONS = ("consistent", "optimal", "raw")
_SELECTED_TYPES = 1024
"""Up to here nodes are reported by subset selection unless somebody says otherwise. OUE has 3 to 20 % more variance at epsilon 0.5 and 1,
and half as much again or more at 4, but one simulation takes milliseconds where subset selection takes half a second at this size."""
_TYPES_FITTED_UNASKED = 128
"""Up to here levels are fitted to a workload unless somebody says otherwise: that takes half a second at most, and saves 5 to 30 % of the
variance of totals and ranges, and nearly all that a tree adds to that of a histogram."""


class ConsistentNodes(HierarchicalTree):
    """Counts by least squares over all node estimates, each given the same weight, and the known number of users."""

    reconstruction = "consistent"
    reconstructed = "The estimates are then made consistent, so that every node is the sum of its children."

    def _counts(self, reports: Reports) -> np.ndarray:
        """(n,) unbiased counts that sum to the number of users."""
        return self.tree.consistent(self._node_estimates(reports), reports.users)

    def _maps(self) -> Iterator[np.ndarray]:
        """(m, n) what a unit of each node estimate adds to the counts, level by level: A_l' for the histogram."""
        for level, m in enumerate(self.tree.sizes):
            units = [np.eye(m) if k == level else np.zeros((1, size)) for k, size in enumerate(self.tree.sizes)]
            yield self.tree.consistent(units, 0.0)

    @cached_property
    def root(self) -> np.ndarray:
        """(n,) what each user adds to the counts by being one of the N known at the root."""
        return self.tree.consistent([np.zeros(size) for size in self.tree.sizes], 1.0)

    def _on_levels(self, questions: Any) -> Iterable[Any]:
        if isinstance(questions, Rows):
            return map(Rows, self.tree.shares(questions.rows))
        check_dense(self.n, "The exact variance of this tree")
        return (Gram(questions.apply_gram(units) @ units.T) for units in self._maps())

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        check_dense(self.n, "The covariance of this tree")
        x, a = np.asarray(counts, dtype=float), self.root
        C = np.outer(x, a) + np.outer(a, x) - x.sum() * np.outer(a, a) - np.diag(x)
        for units, moment in zip(self._maps(), self._moments_of(x), strict=True):
            C += units.T @ (moment @ units)
        return C


class ConsistentTree(ConsistentNodes):
    """Consistent counts along an order."""

    def estimate(self, reports: Reports) -> OrderedEstimate:
        """Unbiased counts that sum to the number of users."""
        return OrderedEstimate(self._counts(reports), unbiased=True, users=reports.users)


class RawTree(HierarchicalTree):
    """Node estimates as they are: ranges from the nodes that make them up; other workloads, and counts, from the leaves."""

    reconstruction = "raw"
    tree: Tree
    reconstructed = "A range is answered by the fewest nodes that make it up."

    def estimate(self, reports: Reports) -> RawTreeEstimate:
        """Unbiased leaf counts, and ranges of their own from the nodes."""
        levels = tuple(self._node_estimates(reports))
        return RawTreeEstimate(levels[0], unbiased=True, users=reports.users, tree=self.tree, levels=levels)

    @property
    def consistent(self) -> ConsistentTree:
        """The same collection with consistent answers."""
        return ConsistentTree(self.tree, self.epsilon, self.parameters["oracle"], self.oracles)

    def _on_levels(self, questions: Any) -> Iterable[Any]:
        workload, queries = (questions.source or (None, None)) if isinstance(questions, Rows) else (questions, None)
        if not isinstance(workload, Ranges):
            return [questions]  # of the leaves
        if queries is not None:
            return map(Rows, self.tree.weights(*ends_of(workload, queries)))
        check_dense(self.n, "The exact variance of this tree")
        return map(Gram, self.tree.grams(workload))

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the leaf estimates when the users are ``counts``; ranges have variances of their own."""
        check_dense(self.n, "The covariance of this tree")
        return next(self._moments_of(counts)) - np.diag(np.asarray(counts, dtype=float))

    def query_variances(self, workload: Workload, counts: Counts, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query, or to the given ones, when the users are
        ``counts`` (n,)."""
        if queries is not None or not isinstance(workload, Ranges):
            return super().query_variances(workload, counts, queries)
        counts = dense(counts)
        check_dense(self.n, "The exact variance of this tree")
        moments = [np.pad(C, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1) for C in self._moments_of(counts)]
        users = np.concatenate([[0.0], np.cumsum(counts)])
        variances_of_queries = []
        for low, high in batches(workload):
            variances = users[low] - users[high + 1]  # every user in a range has mean 1
            for P, (a, b, c, d) in zip(moments, self.tree.runs(low, high), strict=True):
                inside = P[b, b] - 2 * P[a, b] + P[a, a] + P[d, d] - 2 * P[c, d] + P[c, c]
                variances += inside + 2 * (P[b, d] - P[b, c] - P[a, d] + P[a, c])
            variances_of_queries.append(variances)
        return np.concatenate(variances_of_queries)


def build(
    n: int,
    epsilon: float,
    branching: int = 4,
    oracle: str | None = None,
    reconstruction: str | None = None,
    consistent: bool = False,
    shares: Shares | None = None,
    workload: Workload | None = None,
) -> ExplicitMechanism | HierarchicalTree:
    """Hierarchical histograms over ``n`` types; by default those of least variance that are quickly drawn.

    Parameters
    ----------
    n : number of types.
    epsilon : the guarantee of one report.
    branching : children of a node.
    oracle : how a node is reported, one of `NODE_ORACLES`. By default subset selection up to
        `_SELECTED_TYPES` types and OUE past them; Hadamard response where ``reconstruction``
        is "optimal".
    reconstruction : one of `RECONSTRUCTIONS`, by default "consistent".
    consistent : True is another way to say reconstruction="consistent".
    shares : how often each level is picked: "even", "fitted" to make the average variance of
        ``workload`` least (see `level_shares`), or a number for each level, that of the types
        first. By default they are even, and fitted where neither oracle nor reconstruction is
        given, there is a workload, and at most `_TYPES_FITTED_UNASKED` types.
    workload : the questions that shares are fitted to.

    Raises
    ------
    ValueError
        For an oracle that does not go with the reconstruction, or a strategy too large to write out.
    """
    tree = Tree(int(n), int(branching))
    if shares is None:
        quick = workload is not None and tree.n <= _TYPES_FITTED_UNASKED
        shares = "fitted" if quick and oracle is None and reconstruction is None and not consistent else "even"
    if consistent:
        if reconstruction not in (None, "consistent"):
            raise ValueError(f"Choose consistent=True or reconstruction={reconstruction!r}, not both.")
        reconstruction = "consistent"
    if oracle is None:
        selected = "subset_selection" if tree.n <= _SELECTED_TYPES else "oue"
        oracle = "hadamard" if reconstruction == "optimal" else selected
    reconstruction = reconstruction or "consistent"
    if reconstruction != "optimal":
        kind = ConsistentTree if reconstruction == "consistent" else RawTree

        def made(tree: Tree) -> HierarchicalTree:
            return kind(tree, epsilon, oracle)

        def costs(tree: Tree, workload: Workload) -> np.ndarray:
            return made(tree).level_costs(workload)

        def average(tree: Tree, workload: Workload) -> float:
            return float(made(tree).profile_of(workload).mean())

        about = (epsilon, oracle, reconstruction)
        return made(picked(tree, shares, workload, costs, average if kind is ConsistentTree else None, about))
    if oracle not in ORACLES:
        raise ValueError(
            f"The optimal reconstruction writes out the strategy of its oracle, which must be one of {', '.join(ORACLES)}: "
            f'{oracle} has too many outputs. Use reconstruction "consistent".'
        )
    if 3 * n * n > MOST_STRATEGY_ENTRIES:
        raise ValueError(
            f"Hierarchical histograms on {n:,} types need a strategy matrix too large to write out here. Use reconstruction "
            '"consistent", or coarser bins.'
        )
    return optimal(tree, epsilon, oracle, shares, workload)


def optimal(
    tree: Tree, epsilon: float, oracle: str, shares: Shares = "even", workload: Workload | None = None
) -> ExplicitMechanism:
    """All levels as one explicit strategy, each with the probability of its level."""
    levels = [
        np.repeat(ORACLES[oracle](size, epsilon), width, axis=1)[:, : tree.n]
        for size, width in zip(tree.sizes, tree.widths, strict=True)
    ]

    def costs(tree: Tree, workload: Workload) -> np.ndarray:
        return optimal_costs(tree, levels, workload)

    tree = picked(tree, shares, workload, costs, about=(epsilon, oracle, "optimal"))
    parameters = {**tree.parameters, "oracle": oracle, "reconstruction": "optimal"}
    return ExplicitMechanism(
        "hierarchical",
        np.vstack([Q / gain for Q, gain in zip(levels, tree.gains, strict=True)]),
        epsilon,
        parameters,
        tree.described(ORACLE_TITLES[oracle]),
    )
