"""One node of a tree from each user, on a random level: reports, node estimates and their variances.

A user picks level l with probability p_l, 1/h unless the tree says otherwise, and adds z / p_l to
the node estimates of l, z the oracle's estimate from one report, and nothing to the other levels.
Let answers be linear in the node estimates, A_l on level l, and a the contribution of each user
through the root. The second moment of one user's answers is sum_l A_l E[z z'] A_l' / p_l plus terms
in a.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms import hadamard, hrr
from ldp_core.mechanisms.base import (
    Estimate,
    Reports,
    check_counts,
    check_reports,
    check_values,
)
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.moments import TYPES, Ends, Moments, Rows
from ldp_core.mechanisms.parts import InParts, stacked
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.trees.levels import Tree
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.people import Counts, dense
from ldp_core.workloads import Workload

Oracle = ExchangeableMechanism | ExplicitMechanism
"""The mechanism that users report their nodes by: one that also gives the parts of a tree's variances."""
NODE_ORACLES: dict[str, Callable[[int, float], Oracle]] = {
    "subset_selection": SubsetSelection,
    "oue": partial(UnaryEncoding, "oue", reconstruction="standard"),
    "hadamard": hadamard.build,
    "hrr": hrr.HadamardRandomizedResponse,
    "randomized_response": RandomizedResponse,
    "olh": partial(LocalHashing, reconstruction="standard"),
}
ORACLE_TITLES = {
    "hadamard": "Hadamard response",
    "randomized_response": "randomized response",
    "oue": "OUE",
    "hrr": "HRR",
    "subset_selection": "subset selection",
    "olh": "OLH",
}


Nodes = Tree | Grid
"""Groups of types on several levels; every user reports one group: the nodes of a tree or the cells of tables."""


class HierarchicalTree(InParts):
    """HH_B with the node estimates of every level available: common part of the consistent and raw reconstructions."""

    name = "hierarchical"
    bits_mean = "There is one bit for each group of types, the smallest groups first; a report has those of one level."
    reconstruction: str
    reconstructed: str
    part_name, filler = "a level", 0

    def __init__(self, tree: Nodes, epsilon: float, oracle: str, oracles: tuple[Oracle, ...] | None = None):
        parameters = {**tree.parameters, "oracle": oracle, "reconstruction": self.reconstruction}
        super().__init__(tree.n, epsilon, parameters, f"{tree.described(ORACLE_TITLES[oracle])} {self.reconstructed}")
        self.tree = tree
        self.levels = len(tree.sizes)
        self.gains = tree.gains.tolist()
        self.oracles = oracles or tuple(NODE_ORACLES[oracle](size, self.epsilon) for size in tree.sizes)
        self.parts = self.oracles
        self.guarantee = f"worst of {self.levels} levels, the level being independent of the type; {{}}"

    @property
    def bits_per_report(self) -> float:
        """Whole bits for the level, and those of the oracle's report, averaged over the levels."""
        mean = sum(oracle.bits_per_report / gain for oracle, gain in zip(self.oracles, self.gains, strict=True))
        return math.ceil(math.log2(self.levels)) + mean

    # --- reports: the users of each level, then the oracle's statistics on each level -------------------------------

    def _assigned(self, people: np.ndarray, rng: np.random.Generator) -> Any:
        """A random level (from 0, the leaves), and the node there."""
        values = check_values(people, self.n)
        return self.tree.picks(values.size, rng), lambda level, some: self.tree.nodes_of(level, values[some])

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Exact: users are thinned onto the levels (`Tree.thin`), then each oracle simulates its own. Simulation only."""
        thinned = self.tree.thin(check_counts(counts, self.n, rng), rng)
        reports = [oracle.simulate(x, rng) for oracle, x in zip(self.oracles, thinned, strict=True)]
        return self._joined(reports)

    @property
    def channel(self) -> LinearOperator | None:
        """(outputs of all levels, n) the strategy, None for oracles whose reports do not keep their outputs."""
        return self._by_level([oracle.channel for oracle in self.oracles])

    @property
    def bit_chances(self) -> LinearOperator | None:
        """(nodes, n) the probability that the bit of each node is 1 in a report about its level."""
        each = [oracle.bit_chances for oracle in self.oracles]
        return self._by_level([B if B is None else gain * B for B, gain in zip(each, self.gains, strict=True)])

    @property
    def strategy(self) -> np.ndarray | None:
        """(outputs of all levels, n) Q where those of every level are few enough to write out."""
        if max(oracle.bits_per_report for oracle in self.oracles) > 12:  # 4,096 reports are written out
            return None
        Q = self._by_level([oracle.strategy for oracle in self.oracles])
        return Q if Q is None else Q @ np.eye(self.n)

    def _by_level(self, levels: Sequence[np.ndarray | LinearOperator | None]) -> LinearOperator | None:
        """`channel` of the ``levels``, None where one of them is."""
        known = [Q for Q in levels if Q is not None]
        return channel(self.tree, known) if len(known) == self.levels else None

    def _node_estimates(self, reports: Reports) -> list[np.ndarray]:
        """Unbiased counts of all N users at the nodes of each level."""
        check_reports(reports, self.digest)
        each = zip(self.oracles, self.gains, self.reports_of(reports), strict=True)
        return [gain * oracle.estimate(part).estimated_counts for oracle, gain, part in each]

    @abstractmethod
    def estimate(self, reports: Reports) -> Estimate: ...

    # --- exact variances ----------------------------------------------------------------------------------------

    @abstractmethod
    def _on_levels(self, questions: Any) -> Iterable[Any]:
        """``questions`` as they are asked of the node estimates of each level, leaves first. Levels left out at the end are not
        used. ValueError where they take matrices that are too large."""

    def _level_moments(self, questions: Any) -> Iterator[np.ndarray]:
        """(..., m) for each level, the mean square of what one user's oracle estimate adds, by their node."""
        for oracle, form in zip(self.oracles, self._on_levels(questions), strict=False):
            yield oracle.by_type(oracle.second_moments(form, TYPES))

    def second_moments(self, questions: Any, columns: Any = TYPES) -> Moments:
        """By the nodes of each level; those of the first are the types."""
        levels = zip(self._level_moments(questions), self.gains, strict=False)
        return [((level,), gain * moments) for level, (moments, gain) in enumerate(levels)]

    def spread(self, place: Any, moments: np.ndarray) -> np.ndarray:
        return moments[..., self.tree.nodes_of(place[0], np.arange(self.n))]

    def cells(self, counts: Counts) -> Callable[[Any], np.ndarray]:
        nodes = self.tree.aggregate(np.asarray(dense(counts), dtype=float))
        return lambda place: nodes[place[0]]

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        """Those of the level where they are farthest."""
        known = 0.0 if self.root is None else rows.rows @ self.root
        levels = zip(self.oracles, self.gains, self._on_levels(rows), strict=False)
        ends = [gain * np.array(oracle.ends(form, TYPES)[:2]) for oracle, gain, form in levels]
        ends += [np.zeros((2, len(rows.rows)))] * (
            self.levels - len(ends)
        )  # reports on levels that are not used add nothing
        low, high = np.swapaxes(ends, 0, 1)
        return Ends(low.min(axis=0) + known, high.max(axis=0) + known)

    def level_costs(self, workload: Workload) -> np.ndarray:
        """(h,) c_l in the average variance sum_l c_l / p_l + constant of one user, all types being equally common."""
        costs = np.zeros(self.levels)
        for level, moments in enumerate(self._level_moments(workload)):
            costs[level] = self.spread((level,), moments).mean()
        return costs

    def _moments_of(self, counts: np.ndarray) -> Iterator[np.ndarray]:
        """(m, m) the sum over all users of E[z z'] / p_l, for the oracle of each level, leaves first."""
        nodes = self.tree.aggregate(np.asarray(counts, dtype=float))
        for oracle, gain, x in zip(self.oracles, self.gains, nodes, strict=True):
            yield gain * (oracle.covariance(x) + np.diag(x))

    def _type(self, k: int, cell: int) -> int:
        return int(np.argmax(self.tree.nodes_of(k, np.arange(self.n)) == cell))


def channel(tree: Nodes, levels: Sequence[np.ndarray | LinearOperator]) -> LinearOperator:
    """(outputs of all levels, n) Q where each user picks a level and sends an output by that level's Q."""

    def of_levels(x: np.ndarray) -> list[np.ndarray]:
        return [nodes.T / gain for nodes, gain in zip(tree.aggregate(x.T), tree.gains, strict=True)]

    def of_types(parts: Sequence[np.ndarray]) -> np.ndarray:
        each = enumerate(zip(parts, tree.gains, strict=True))
        types = np.arange(tree.n)
        return sum(((part / gain)[tree.nodes_of(level, types)] for level, (part, gain) in each), np.zeros(()))

    return stacked(levels, of_levels, of_types, tree.n)
