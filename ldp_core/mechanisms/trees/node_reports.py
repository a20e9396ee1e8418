"""One node of a tree from each user, on a random level: reports, node estimates and their variances.

A user who picked level l (probability 1/h) adds h z to the node estimates of l, z the oracle's estimate from one report, and
nothing to the other levels. With answers linear in the node estimates, A_l on level l, and a what each user adds through the
root, the second moment of one user's answers is h sum_l A_l E[z z'] A_l' plus terms in a.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms import hadamard, hrr
from ldp_core.mechanisms.base import (
    Audit,
    Contributions,
    FromCovariance,
    Mechanism,
    Reports,
    check_counts,
    check_reports,
    check_same_types,
    check_values,
    digest_of,
)
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.trees.levels import OrderedEstimate, Tree, check_dense
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload


class _NodeEncoding(UnaryEncoding):
    """The bits of a level are kept as sums: most levels have too many nodes for more."""

    pattern_types = 0


NODE_ORACLES: dict[str, Callable[[int, float], Mechanism]] = {
    "hadamard": hadamard.build,
    "oue": partial(_NodeEncoding, "oue", reconstruction="standard"),
    "hrr": hrr.HadamardRandomizedResponse,
    "randomized_response": RandomizedResponse,
    "subset_selection": SubsetSelection,
}
ORACLE_TITLES = {
    "hadamard": "Hadamard response",
    "randomized_response": "randomized response",
    "oue": "OUE",
    "hrr": "HRR",
    "subset_selection": "subset selection",
}


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
        """(users, 1 + longest report) the level (from 0, the leaves), the oracle's report there, then zeros. For simulation
        only: a client needs a secure random source."""
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
        """Exact: users are thinned onto the levels (`Tree.thin`), then each oracle simulates its own. For simulation only."""
        thinned = self.tree.thin(check_counts(counts, self.n), rng)
        return self._reports([oracle.simulate(x, rng) for oracle, x in zip(self.oracles, thinned, strict=True)])

    def _reports(self, parts: list[Reports]) -> Reports:
        users = np.array([part.users for part in parts])
        return Reports(self.digest, int(users.sum()), (users, *(part.data for part in parts)))

    @property
    def channel(self) -> LinearOperator | None:
        """(outputs of all levels, n) the strategy, None for oracles whose reports do not keep their outputs."""
        levels = [oracle.channel for oracle in self.oracles]
        return None if any(level is None for level in levels) else self.tree.channel(levels)

    def tally(self, reports: Reports) -> np.ndarray:
        """(outputs of all levels,) how often each output was sent."""
        return np.concatenate(reports.data[1:])

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

    def _node_variances(self, weights: Iterable[np.ndarray], counts: np.ndarray) -> np.ndarray:
        """(q,) sum over all users of the second moment of what they add to answers that give the node estimates of each level
        (leaves first; levels left out at the end are not used) the ``weights`` (q, m)."""
        nodes = self.tree.aggregate(np.asarray(counts, dtype=float))
        moments = (
            oracle.linear_variances(w, x) + w**2 @ x for oracle, w, x in zip(self.oracles, weights, nodes, strict=False)
        )
        return self.tree.height * sum(moments)

    def _node_contributions(self, rows: np.ndarray, weights: Iterable[np.ndarray], root: np.ndarray) -> Contributions:
        """What a report adds to answers with the mean ``rows`` (q, n) that give the node estimates of each level the
        ``weights`` (as in `_node_variances`), and every user the part ``root`` (q, 1)."""
        moments, lows, highs = np.zeros_like(rows, dtype=float), [], []
        types, h = np.arange(self.n), self.tree.height
        for oracle, width, w in zip(self.oracles, self.tree.widths, weights, strict=False):
            level = oracle.contributions(w)
            moments += h * (level.variances + w**2)[:, types // width]
            low, high = oracle.report_ends(w)
            lows.append(h * low)
            highs.append(h * high)
        if len(lows) < h:  # reports on levels that are not used add nothing
            lows.append(np.zeros(len(rows)))
            highs.append(np.zeros(len(rows)))
        # The part that is not from the root has the mean rows - root.
        variances = np.maximum(moments - (rows - root) ** 2, 0.0)
        low, high = np.min(lows, axis=0) + root[:, 0], np.max(highs, axis=0) + root[:, 0]
        return Contributions.between(rows, variances, low, high)

    @abstractmethod
    def covariance(self, counts: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray: ...

    def audit(self) -> Audit:
        """The level is drawn whatever the type, so the worst level's oracle decides."""
        audits = [oracle.audit() for oracle in self.oracles]
        level = int(np.argmax([audit.epsilon for audit in audits]))
        one, other = (node * self.tree.widths[level] for node in audits[level].worst_pair)
        method = f"worst of {self.tree.height} levels, the level being independent of the type; {audits[level].method}"
        return Audit(audits[level].epsilon, 0.0, method, (one, other))

    def explain(self) -> str:
        return f"{described(self.tree, self.parameters['oracle'])} {self.reconstructed}"


def described(tree: Tree, oracle: str) -> str:
    """The collection in a sentence or two."""
    name = ORACLE_TITLES[oracle]
    return (
        f"The types are the leaves of a tree with {tree.branching} children per node. Each person picks one of {tree.height} "
        f"levels at random ({', '.join(f'{size:,}' for size in tree.sizes)} nodes) and reports their node there by {name}."
    )
