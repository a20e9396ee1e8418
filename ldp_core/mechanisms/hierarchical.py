"""Hierarchical histograms HH_B (Cormode et al. 2019, Section 4): each user reports their node on one random level of a tree.

Any mechanism of the library can be the oracle that reports the node. Three reconstructions of the answers:

* ``optimal``     from the explicit strategy of all levels together (McKenna et al. 2020, Theorem 3.10): small n only;
* ``consistent``  least squares over the node estimates with the number of users known at the root (Hay et al. 2010): O(n);
* ``raw``         ranges from the fewest nodes (below the root) that make them up, single types from the leaves.

Exact variances of the last two. A user who picked level l (probability 1/h) adds h z to the node estimates of l, z the oracle's
estimate from one report, and nothing to the other levels. With answers linear in the node estimates, A_l on level l, and a
what each user adds through the root, the second moment of one user's answers is h sum_l A_l E[z z'] A_l' plus terms in a.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from ldp_core.mechanisms import hadamard, hrr
from ldp_core.mechanisms.base import (
    Audit,
    FromCovariance,
    Mechanism,
    Reports,
    check_counts,
    check_reports,
    check_same_types,
    check_values,
    digest_of,
)
from ldp_core.mechanisms.exchangeable import RandomizedResponse, SubsetSelection
from ldp_core.mechanisms.explicit import STRATEGY_ENTRIES, ExplicitMechanism
from ldp_core.mechanisms.trees import (
    QUERIES_AT_ONCE,
    OrderedEstimate,
    RawTreeEstimate,
    Tree,
    check_dense,
    intervals,
)
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

NODE_ORACLES: dict[str, Callable[[int, float], Mechanism]] = {
    "hadamard": hadamard.build,
    "randomized_response": RandomizedResponse,
    "oue": partial(UnaryEncoding, "oue", reconstruction="standard"),
    "hrr": hrr.HadamardRandomizedResponse,
    "subset_selection": SubsetSelection,
}
ORACLE_TITLES = {
    "hadamard": "Hadamard response",
    "randomized_response": "randomized response",
    "oue": "OUE",
    "hrr": "HRR",
    "subset_selection": "subset selection",
}
ORACLES = ("hadamard", "randomized_response", "hrr")
"""Oracles with few enough outputs to write their strategy out, as the optimal reconstruction needs."""
RECONSTRUCTIONS = ("optimal", "consistent", "raw")


@dataclass(frozen=True)
class NodeForm:
    """What an oracle's `variance_profile` asks of a workload, given by the (m, m) Gram matrix of queries on its nodes."""

    gram: np.ndarray

    @property
    def n(self) -> int:
        return len(self.gram)

    @property
    def gram_diag(self) -> np.ndarray:
        return np.diagonal(self.gram)

    @property
    def gram_sums(self) -> np.ndarray:
        return self.gram.sum(axis=1)

    @property
    def trace(self) -> float:
        return float(np.trace(self.gram))

    def quadratic(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("...i,...i->...", x, x @ self.gram)


class HierarchicalTree(FromCovariance, ABC):
    """HH_B with the node estimates of every level at hand: common part of the consistent and raw reconstructions."""

    name = "hierarchical"
    delta = 0.0
    reconstruction: str
    reconstructed: str

    def __init__(self, n: int, epsilon: float, branching: int, oracle: str):
        self.n = n
        self.epsilon = check_epsilon(epsilon)
        self.parameters = {"branching": branching, "oracle": oracle, "reconstruction": self.reconstruction}
        self.tree = Tree(n, branching)
        self.oracles = tuple(NODE_ORACLES[oracle](size, self.epsilon) for size in self.tree.sizes)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.name, self.n, self.epsilon, self.parameters)

    @property
    def bits_per_report(self) -> float:
        """Whole bits for the level, and those of the oracle's report, averaged over the levels."""
        mean = sum(oracle.bits_per_report for oracle in self.oracles) / self.tree.height
        return math.ceil(math.log2(self.tree.height)) + mean

    def supports(self, workload: Workload) -> str | None:
        """None: the counts are identified, so every workload can be answered."""
        return check_same_types(self.n, workload)

    # --- reports: the users of each level, then the oracle's statistics on each level -------------------------------

    @cached_property
    def _report_shapes(self) -> list[tuple[int, ...]]:
        """Shape of one report of each level's oracle: () for an output number, (k,) for bits or a set."""
        nobody, rng = np.zeros(0, dtype=np.int64), np.random.default_rng(0)
        return [oracle.privatize(nobody, rng).shape[1:] for oracle in self.oracles]

    @property
    def _report_lengths(self) -> list[int]:
        return [math.prod(shape) for shape in self._report_shapes]

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 1 + longest report) the level (from 0, the leaves), the oracle's report there, then zeros."""
        values = check_values(values, self.n)
        picked = rng.integers(self.tree.height, size=values.size)
        parts = [
            oracle.privatize(values[picked == level] // width, rng)
            for level, (oracle, width) in enumerate(zip(self.oracles, self.tree.widths, strict=True))
        ]
        lengths = self._report_lengths
        raw = np.zeros((values.size, 1 + max(lengths)), dtype=np.result_type(np.uint8, *parts))
        raw[:, 0] = picked
        for level, (part, length) in enumerate(zip(parts, lengths, strict=True)):
            raw[picked == level, 1 : 1 + length] = part.reshape(len(part), length)
        return raw

    def aggregate(self, raw: np.ndarray) -> Reports:
        raw = np.asarray(raw)
        longest = max(self._report_lengths)
        if raw.ndim != 2 or raw.shape[1] != 1 + longest:
            raise ValueError(f"Each report must hold a level and {longest} numbers; got an array of shape {raw.shape}.")
        picked = check_values(raw[:, 0], self.tree.height)
        parts = []
        for level, (oracle, shape) in enumerate(zip(self.oracles, self._report_shapes, strict=True)):
            own = raw[picked == level, 1 : 1 + math.prod(shape)]
            parts.append(oracle.aggregate(own.reshape(len(own), *shape)))
        return self._reports(parts)

    def simulate(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """Exact: users are thinned onto the levels (`Tree.thin`), then each oracle simulates its own."""
        thinned = self.tree.thin(check_counts(counts, self.n), rng)
        return self._reports([oracle.simulate(x, rng) for oracle, x in zip(self.oracles, thinned, strict=True)])

    def _reports(self, parts: list[Reports]) -> Reports:
        users = np.array([part.users for part in parts])
        return Reports(self.digest, int(users.sum()), (users, *(part.data for part in parts)))

    def _node_estimates(self, reports: Reports) -> list[np.ndarray]:
        """Unbiased counts of all N users at the nodes of each level."""
        check_reports(reports, self.digest)
        users, *data = reports.data
        return [
            self.tree.height * oracle.estimate(Reports(oracle.digest, int(own), part)).counts()
            for oracle, own, part in zip(self.oracles, users, data, strict=True)
        ]

    @abstractmethod
    def estimate(self, reports: Reports) -> OrderedEstimate: ...

    # --- exact variances ----------------------------------------------------------------------------------------

    @abstractmethod
    def _node_grams(self, workload: Workload) -> Iterator[np.ndarray]:
        """A_l'A_l of each level: (m, m) Gram matrices of the answers as functions of the level's node estimates. Levels left
        out at the end are not used."""

    @abstractmethod
    def _known_part(self, workload: Workload) -> np.ndarray:
        """(n,) the rest of the variance: terms in what the root adds, less the squared mean G_uu."""

    def variance_profile(self, workload: Workload) -> np.ndarray:
        """(n,) exact total variance that one user of each type adds. ValueError past `DENSE_TYPES` types."""
        if reason := self.supports(workload):
            raise ValueError(reason)
        check_dense(self.n, "The exact variance of this tree")
        profile = self._known_part(workload)
        types = np.arange(self.n)
        for oracle, width, gram in zip(self.oracles, self.tree.widths, self._node_grams(workload), strict=False):
            second_moment = oracle.variance_profile(NodeForm(gram)) + np.diagonal(gram)
            profile = profile + self.tree.height * second_moment[types // width]
        return profile

    def _second_moments(self, counts: np.ndarray) -> Iterator[np.ndarray]:
        """(m, m) h times the sum over all users of E[z z'], for the oracle of each level, leaves first."""
        for oracle, x in zip(self.oracles, self.tree.aggregate(np.asarray(counts, dtype=float)), strict=True):
            yield self.tree.height * (oracle.covariance(x) + np.diag(x))

    @abstractmethod
    def covariance(self, counts: np.ndarray) -> np.ndarray: ...

    def audit(self) -> Audit:
        """The level is drawn whatever the type, so the worst level's oracle decides."""
        audits = [oracle.audit() for oracle in self.oracles]
        level = int(np.argmax([audit.epsilon for audit in audits]))
        one, other = (node * self.tree.widths[level] for node in audits[level].worst_pair)
        method = f"worst of {self.tree.height} levels, the level being independent of the type; {audits[level].method}"
        return Audit(audits[level].epsilon, 0.0, method, (one, other))

    def explain(self) -> str:
        return f"{described(self.tree, self.parameters['oracle'])} {self.reconstructed}"


class ConsistentTree(HierarchicalTree):
    """Counts by least squares over all node estimates, each given the same weight, and the known number of users."""

    reconstruction = "consistent"
    reconstructed = "The estimates are then made consistent, so that every node is the sum of its children."

    def estimate(self, reports: Reports) -> OrderedEstimate:
        """Unbiased counts that sum to the number of users."""
        counts = self.tree.consistent(self._node_estimates(reports), reports.users)
        return OrderedEstimate(counts, unbiased=True, users=reports.users)

    def _maps(self) -> Iterator[np.ndarray]:
        """(m, n) what a unit of each node estimate adds to the counts, level by level: A_l' for the histogram."""
        for level, m in enumerate(self.tree.sizes):
            units = [np.eye(m) if k == level else np.zeros((1, size)) for k, size in enumerate(self.tree.sizes)]
            yield self.tree.consistent(units, 0.0)

    @cached_property
    def _from_root(self) -> np.ndarray:
        """(n,) what each user adds to the counts by being one of the N known at the root."""
        return self.tree.consistent([np.zeros(size) for size in self.tree.sizes], 1.0)

    def _node_grams(self, workload: Workload) -> Iterator[np.ndarray]:
        for units in self._maps():
            yield workload.apply_gram(units) @ units.T

    def _known_part(self, workload: Workload) -> np.ndarray:
        """2 e_u'Ga - a'Ga - G_uu: the cross term is a with the mean e_u - a of the rest."""
        a = self._from_root
        return 2 * workload.apply_gram(a) - workload.quadratic(a) - workload.gram_diag

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        check_dense(self.n, "The covariance of this tree")
        x, a = np.asarray(counts, dtype=float), self._from_root
        C = np.outer(x, a) + np.outer(a, x) - x.sum() * np.outer(a, a) - np.diag(x)
        for units, moment in zip(self._maps(), self._second_moments(x), strict=True):
            C += units.T @ (moment @ units)
        return C


class RawTree(HierarchicalTree):
    """Ranges from the nodes that make them up; other workloads, and counts, from the leaves."""

    reconstruction = "raw"
    reconstructed = "A range is answered by the fewest nodes that make it up."

    def estimate(self, reports: Reports) -> RawTreeEstimate:
        """Unbiased leaf counts, and ranges of their own from the nodes."""
        levels = tuple(self._node_estimates(reports))
        return RawTreeEstimate(levels[0], unbiased=True, users=reports.users, tree=self.tree, levels=levels)

    def _ranges(self, workload: Workload) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """First and last types of all queries, in batches."""
        for start in range(0, workload.num_queries, QUERIES_AT_ONCE):
            yield intervals(workload, np.arange(start, min(start + QUERIES_AT_ONCE, workload.num_queries)))

    def _node_grams(self, workload: Workload) -> Iterator[np.ndarray]:
        """A query's nodes on a level are two runs, so its row of A_l is the running sum of four entries +-1: Gram matrices are
        double running sums of those of very sparse rows."""
        if intervals(workload, np.zeros(0, dtype=np.int64)) is None:
            yield workload.gram_dense()
            return
        changes = [np.zeros((size + 1, size + 1)) for size in self.tree.sizes]
        for low, high in self._ranges(workload):
            rows = np.arange(low.size)
            for total, run in zip(changes, self.tree.runs(low, high), strict=True):
                signs = np.repeat([1.0, -1.0, 1.0, -1.0], low.size)
                ends = (signs, (np.tile(rows, 4), np.concatenate(run)))
                steps = sparse.csr_array(ends, shape=(low.size, len(total)))
                total += (steps.T @ steps).toarray()
        for total in changes:
            yield np.cumsum(np.cumsum(total, axis=0), axis=1)[:-1, :-1]

    def _known_part(self, workload: Workload) -> np.ndarray:
        """-G_uu: nothing comes from the root."""
        return -workload.gram_diag

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the leaf estimates when the users are ``counts``; ranges have variances of their own."""
        check_dense(self.n, "The covariance of this tree")
        return next(self._second_moments(counts)) - np.diag(np.asarray(counts, dtype=float))

    def query_variances(self, workload: Workload, counts: np.ndarray) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query when the users are ``counts`` (n,)."""
        if intervals(workload, np.zeros(0, dtype=np.int64)) is None:
            return super().query_variances(workload, counts)
        check_dense(self.n, "The exact variance of this tree")
        moments = [np.pad(C, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1) for C in self._second_moments(counts)]
        users = np.concatenate([[0.0], np.cumsum(counts)])
        found = []
        for low, high in self._ranges(workload):
            variances = users[low] - users[high + 1]  # every user in a range has mean 1
            for P, (a, b, c, d) in zip(moments, self.tree.runs(low, high), strict=True):
                inside = P[b, b] - 2 * P[a, b] + P[a, a] + P[d, d] - 2 * P[c, d] + P[c, c]
                variances += inside + 2 * (P[b, d] - P[b, c] - P[a, d] + P[a, c])
            found.append(variances)
        return np.concatenate(found)


def build(
    n: int,
    epsilon: float,
    branching: int = 4,
    oracle: str | None = None,
    reconstruction: str | None = None,
    consistent: bool = False,
) -> ExplicitMechanism | HierarchicalTree:
    """HH_B with ``oracle`` (see `NODE_ORACLES`) on a uniformly chosen level.

    Left to itself: Hadamard response with the optimal reconstruction while the strategy is small enough to write out, OUE with
    the consistent one for larger domains. ``consistent`` True is another way to say reconstruction="consistent".

    ValueError for a branching factor below 2, an unknown oracle or reconstruction, or a strategy too large to write out.
    """
    if isinstance(branching, bool) or not isinstance(branching, (int, np.integer)) or branching < 2:
        raise ValueError(f"The branching factor must be a whole number of at least 2; got {branching}.")
    branching = int(branching)
    fits = 3 * n * n <= STRATEGY_ENTRIES
    if oracle is None:
        oracle = "hadamard" if fits else "oue"
    if oracle not in NODE_ORACLES:
        raise ValueError(f"Unknown oracle {oracle!r}; choose one of {', '.join(NODE_ORACLES)}.")
    if consistent:
        if reconstruction not in (None, "consistent"):
            raise ValueError(f"Choose consistent=True or reconstruction={reconstruction!r}, not both.")
        reconstruction = "consistent"
    if reconstruction is None:
        reconstruction = "optimal" if fits and oracle in ORACLES else "consistent"
    if reconstruction not in RECONSTRUCTIONS:
        raise ValueError(f"Unknown reconstruction {reconstruction!r}; choose one of {', '.join(RECONSTRUCTIONS)}.")
    if reconstruction != "optimal":
        return (ConsistentTree if reconstruction == "consistent" else RawTree)(int(n), epsilon, branching, oracle)
    if oracle not in ORACLES:
        raise ValueError(
            f"The optimal reconstruction writes out the strategy of its oracle, one of {', '.join(ORACLES)}; {oracle} has too "
            'many outputs. Use reconstruction "consistent".'
        )
    if not fits:
        raise ValueError(
            f"Hierarchical histograms on {n:,} types need a strategy matrix too large to write out here. Use reconstruction "
            '"consistent", or coarser bins.'
        )
    return _optimal(int(n), epsilon, branching, oracle)


def _optimal(n: int, epsilon: float, branching: int, oracle: str) -> ExplicitMechanism:
    """All levels as one explicit strategy, each with probability 1/h."""
    tree = Tree(n, branching)
    levels = [
        np.repeat(NODE_ORACLES[oracle](size, epsilon).strategy, width, axis=1)[:, :n] / tree.height
        for size, width in zip(tree.sizes, tree.widths, strict=True)
    ]
    parameters = {"branching": branching, "oracle": oracle, "reconstruction": "optimal"}
    return ExplicitMechanism("hierarchical", np.vstack(levels), epsilon, parameters, described(tree, oracle))


def described(tree: Tree, oracle: str) -> str:
    """The collection in a sentence or two."""
    name = ORACLE_TITLES[oracle]
    return (
        f"The types are the leaves of a tree with {tree.branching} children a node. Each person picks one of {tree.height} "
        f"levels at random ({', '.join(f'{size:,}' for size in tree.sizes)} nodes) and reports their node there by {name}."
    )
