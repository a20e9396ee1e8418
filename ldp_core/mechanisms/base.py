"""The one face of every mechanism, and the three values that pass between collecting and estimating."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.workloads import Workload

FLOATING_POINT = (
    "The guarantee is a mathematical one, for noise drawn in real numbers, and not one of a floating-point sampler such as the "
    "simulation here: in floating point, reports of one type can be impossible under another and give it away."
)
"""What every sentence about a mechanism with continuous noise must not leave out: see `ldp_core.library.Spec.continuous`."""

_ROW_ENTRIES = 2**22  # of queries written out at once


@dataclass(frozen=True)
class Audit:
    """The guarantee a mechanism really gives, computed from its probabilities, and never less than the truth.

    For discrete reports it is computed in exact arithmetic from the numbers that reports are drawn with, rounded up. For
    continuous noise it is that of real numbers (see `FLOATING_POINT`), and ``method`` says so.
    ``worst_pair`` names the two types (from 0) that one report tells apart best.
    """

    epsilon: float
    delta: float
    method: str
    worst_pair: tuple[int, int]


@dataclass(frozen=True)
class Reports:
    """Sufficient statistics of the reports of ``users`` people: an array, or a tuple of arrays (one per level of a tree).
    Adding two collections is exact for counts, and a floating-point sum for noisy vectors."""

    mechanism_digest: str
    users: int
    data: np.ndarray | tuple[np.ndarray, ...]

    def __add__(self, other: Reports) -> Reports:
        if self.mechanism_digest != other.mechanism_digest:
            raise ValueError("These reports come from different mechanisms (or parameters) and cannot be added.")
        if isinstance(self.data, tuple):
            data = tuple(mine + theirs for mine, theirs in zip(self.data, other.data, strict=True))
        else:
            data = self.data + other.data
        return Reports(self.mechanism_digest, self.users + other.users, data)

    def __repr__(self) -> str:
        numbers = sum(map(np.size, self.data)) if isinstance(self.data, tuple) else np.size(self.data)
        return f"<Reports: {self.users:,} users, {numbers:,} numbers, mechanism {self.mechanism_digest[:8]}>"


@dataclass(frozen=True)
class Estimate:
    """Estimated counts (users per type) and the answers that follow from them.

    Mechanisms whose answers do not come from counts (raw trees, queries asked one by one) return a subclass that answers
    differently; its ``counts`` is None where the counts are not identified.
    """

    estimated_counts: np.ndarray
    """(n,) counts with the right answers to every query the mechanism supports, whether or not they are identified."""
    unbiased: bool
    identified: bool = field(default=True, kw_only=True)

    def counts(self) -> np.ndarray | None:
        """(n,) estimated users of each type, None when the reports do not identify them."""
        return self.estimated_counts if self.identified else None

    @property
    def total(self) -> float:
        """The number of users as far as the estimate tells it: the sum of the counts, at least 0."""
        return max(0.0, float(np.sum(self.estimated_counts)))

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) estimated answers in users, or those of the given query indices."""
        return workload.answers(self.estimated_counts, queries)

    def fitted(self, workload: Workload) -> np.ndarray:
        """(n,) counts that answer ``workload`` as the estimate does, or as closely as counts can."""
        return self.estimated_counts

    def squared_error(self, workload: Workload, counts: np.ndarray) -> float:
        """Squared error summed over all queries (squared users), without forming the answers."""
        return float(workload.quadratic(self.estimated_counts - np.asarray(counts, dtype=float)))

    def __repr__(self) -> str:
        bias = "unbiased" if self.unbiased else "biased"
        facts = f"{len(self.estimated_counts):,} types, {self.total:,.0f} users, {bias}"
        return f"<{type(self).__name__}: {facts}{'' if self.identified else ', counts not identified'}>"


@runtime_checkable
class Mechanism(Protocol):
    """What a person's device sends and what the collector makes of it.

    ``values`` are type indices (one per user), ``counts`` users per type (n,). ``simulate(counts)`` has the same
    distribution as ``aggregate(privatize(values))`` and costs no loop over users.

    >>> mechanism = ldp.mechanisms.create("hierarchical", n=64, epsilon=1.0)
    >>> mechanism
    <hierarchical mechanism: 64 types, epsilon 1, branching 4, oracle hadamard, reconstruction optimal>
    >>> reports = mechanism.simulate(np.full(64, 100), np.random.default_rng(0))
    >>> reports.users, mechanism.estimate(reports).counts().shape
    (6400, (64,))
    >>> mechanism.audit().epsilon <= 1.0
    True
    """

    name: str
    n: int
    epsilon: float
    delta: float
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str: ...
    @property
    def bits_per_report(self) -> float: ...
    def variance_profile(self, workload: Workload) -> np.ndarray: ...
    def query_variances(
        self, workload: Workload, counts: np.ndarray, queries: np.ndarray | None = None
    ) -> np.ndarray: ...
    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One report per user. For simulation only: NumPy's generators are not secure."""

    def aggregate(self, raw: np.ndarray) -> Reports: ...
    def simulate(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """For simulation only."""

    def estimate(self, reports: Reports) -> Estimate: ...
    def supports(self, workload: Workload) -> str | None: ...
    def audit(self) -> Audit: ...
    def explain(self) -> str: ...

    @property
    def channel(self) -> np.ndarray | LinearOperator | None:
        """(m, n) Q where reports keep how often each of m outputs was sent (see `tally`), so that they have a likelihood."""

    def tally(self, reports: Reports) -> np.ndarray: ...


@dataclass(frozen=True)
class Contributions:
    """What the report of one user adds to the answers of q queries: all that intervals ask of a mechanism.

    Attributes:
        means: (q, n) what a user of each type adds on average, their true answer.
        variances: (q, n) exact variance of what a user of each type adds.
        up, down: (q,) how far one independent part of a report can exceed its mean, and fall short of it, at most.
        parts: independent parts of a report.
        low, high: (q,) the two values a report adds where it adds one of two, else NaN.
    """

    means: np.ndarray
    variances: np.ndarray
    up: np.ndarray
    down: np.ndarray
    low: np.ndarray
    high: np.ndarray
    parts: int = 1

    @classmethod
    def between(cls, means, variances, low, high, two=False) -> Contributions:
        """Of reports that add at least ``low`` (q,) and at most ``high``, and nothing between the two where ``two``."""
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        up, down = np.maximum(high - means.min(axis=1), 0), np.maximum(means.max(axis=1) - low, 0)
        return cls(means, variances, up, down, np.where(two, low, np.nan), np.where(two, high, np.nan))


def two_values(values: np.ndarray) -> np.ndarray:
    """(q,) whether a row of ``values`` (q, k) has two values only, but for rounding."""
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    off = np.minimum(values - low, high - values).max(axis=1)
    return off <= 1e-9 * (high - low)[:, 0]


class FromCovariance:
    """Mixin for mechanisms whose answers are linear in their estimated counts, with a known covariance."""

    channel: np.ndarray | LinearOperator | None = None

    def __repr__(self) -> str:
        facts = [f"{self.n:,} types", f"epsilon {self.epsilon:g}"] + ([f"delta {self.delta:g}"] if self.delta else [])
        plain = {name: value for name, value in self.parameters.items() if isinstance(value, (str, int, float))}
        facts += [f"{name} {value}" for name, value in plain.items() if name != "delta"]
        return f"<{self.name} mechanism: {', '.join(facts)}>"

    def tally(self, reports: Reports) -> np.ndarray:
        """(m,) how often each output was sent, in the order of the rows of `channel` (where there is one)."""
        return reports.data

    def query_variances(self, workload: Workload, counts: np.ndarray, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query when the users are ``counts`` (n,), or of the
        queries with the given indices: those need no n x n matrix where the mechanism has none."""
        if queries is None:
            return workload.query_variances(self.covariance(counts))
        queries = np.asarray(queries, dtype=np.int64)
        chunk = max(1, _ROW_ENTRIES // workload.n)
        parts = [queries[start : start + chunk] for start in range(0, queries.size, chunk)]
        return np.concatenate([self.linear_variances(workload.rows(part), counts) for part in parts] or [np.zeros(0)])

    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(q,) exact variance of ``rows`` (q, n) times the estimated counts when the users are ``counts`` (n,)."""
        return np.einsum("qi,qi->q", rows @ self.covariance(counts), rows)

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions:
        """What a report adds to the answers of a few ``queries`` (q,): see `Contributions`."""
        return self.contributions(workload.rows(queries))

    def contributions(self, rows: np.ndarray) -> Contributions:
        """What a report adds to ``rows`` (q, n) times the estimated counts."""
        raise NotImplementedError


@runtime_checkable
class FiniteOutput(Protocol):
    """A mechanism with finitely many outputs: it has an information matrix."""

    def information(self) -> np.ndarray: ...


def digest_of(name: str, n: int, epsilon: float, parameters: Mapping[str, Any], content: bytes = b"") -> str:
    """SHA-256 (hex) that identifies a mechanism up to equal behaviour; ``content`` is its strategy where it has one."""
    header = json.dumps([name, n, repr(float(epsilon)), dict(parameters)], sort_keys=True, default=str)
    return hashlib.sha256(header.encode() + b"\0" + content).hexdigest()


def check_values(values: np.ndarray, n: int) -> np.ndarray:
    """Type indices as an integer array, or a ValueError."""
    values = np.asarray(values)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError("Values must be a one-dimensional array of whole-number type indices, one per user.")
    if values.size and (values.min() < 0 or values.max() >= n):
        raise ValueError(f"Type indices run from 0 to {n - 1}.")
    return values


def check_counts(counts: np.ndarray, n: int) -> np.ndarray:
    """Users per type as an int64 array, or a ValueError."""
    counts = np.asarray(counts)
    if counts.shape != (n,):
        raise ValueError(f"Counts must have one entry for each of the {n} types; got shape {counts.shape}.")
    whole = np.rint(counts).astype(np.int64) if np.all(np.isfinite(counts)) else None
    if whole is None or np.any(whole != counts) or whole.min() < 0:
        raise ValueError("Counts must be non-negative whole numbers of users.")
    return whole


def check_reports(reports: Reports, digest: str) -> None:
    """Refuse reports that another mechanism produced: the estimate would be nonsense without any other sign."""
    if reports.mechanism_digest != digest:
        raise ValueError("These reports were made by another mechanism, or by the same one with other parameters.")


def check_same_types(n: int, workload: Workload) -> str | None:
    """The reason why a mechanism on ``n`` types cannot answer ``workload``, if sizes differ."""
    return None if workload.n == n else f"The mechanism has {n} types, the workload {workload.n}."
