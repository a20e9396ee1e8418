"""The one face of every mechanism, what they share, and the three values that pass between
collecting and estimating."""

from __future__ import annotations

import hashlib
import json
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms.files import MechanismFile
from ldp_core.mechanisms.moments import Errors
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.people import Counted, Counts, Records, dense
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

FLOATING_POINT = (
    "The guarantee is mathematical: it holds for noise drawn in real numbers, not for a floating-point sampler such as the "
    "simulation here. In floating point, some reports of one type can be impossible for another type and reveal it."
)
"""The caveat of every mechanism with continuous noise: see `ldp_core.library.Spec.continuous`."""


@dataclass(frozen=True)
class Audit:
    """The guarantee that a mechanism really gives, computed from its probabilities, and never
    smaller than the true one.

    The guarantee of discrete reports is computed in exact arithmetic from the probabilities used to
    draw them, rounded up. The guarantee of continuous noise holds in real numbers
    (see `FLOATING_POINT`), and ``method`` says so. ``worst_pair`` names the two types (from 0) that
    a single report can distinguish best. Where the ``promise`` is "secret", it is about people with
    a secret value (see `ldp_core.workloads.secret`).
    """

    epsilon: float
    delta: float
    method: str
    worst_pair: tuple[int, int]
    promise: Literal["all", "secret"] = "all"


@dataclass(frozen=True)
class Reports:
    """Sufficient statistics of the reports of ``users`` people: an array, or a tuple of arrays
    (one per level of a tree). Adding two collections is exact for counts, and a floating-point sum
    for noisy vectors."""

    mechanism_digest: str
    users: int
    data: np.ndarray | tuple[np.ndarray, ...]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The data as a tuple, whether there is one array or more."""
        return self.data if isinstance(self.data, tuple) else (self.data,)

    def __add__(self, other: Reports) -> Reports:
        if self.mechanism_digest != other.mechanism_digest:
            raise ValueError("These reports come from different mechanisms (or parameters) and cannot be added.")
        sums = tuple(mine + theirs for mine, theirs in zip(self.arrays, other.arrays, strict=True))
        data = sums if isinstance(self.data, tuple) else sums[0]
        return Reports(self.mechanism_digest, self.users + other.users, data)

    def __repr__(self) -> str:
        numbers = sum(map(np.size, self.arrays))
        return f"<Reports: {self.users:,} users, {numbers:,} numbers, mechanism {self.mechanism_digest[:8]}>"


@dataclass(frozen=True)
class Estimate:
    """Estimated counts (users per type) and the answers that follow from them.

    Mechanisms whose answers do not come from counts (raw trees, queries asked one by one) return a
    subclass that answers differently; its ``counts`` is None where the counts are not identified.
    """

    estimated_counts: np.ndarray
    """(n,) counts with the right answers to every query the mechanism supports, whether or not they
    are identified."""
    unbiased: bool
    identified: bool = field(default=True, kw_only=True)
    adds_up: ClassVar[bool] = True
    """True if the answers are those of some counts, so that parts add up to the whole."""

    @property
    def survey(self) -> Any:
        """The estimate as tables of a few attributes, an
        `ldp_core.mechanisms.surveys.estimates.SurveyEstimate`, where it is made of these; None for
        others."""
        return None

    def counts(self) -> np.ndarray | None:
        """(n,) estimated users of each type, None when the reports do not identify them."""
        return self.estimated_counts if self.identified else None

    @property
    def total(self) -> float:
        """The number of users as far as the estimate knows it: the sum of the counts, at least
        0."""
        return max(0.0, float(np.sum(self.estimated_counts)))

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) estimated answers in users, or those of the given query indices."""
        return workload.answers(self.estimated_counts, queries)

    def fitted(self, workload: Workload) -> np.ndarray:
        """(n,) counts that answer ``workload`` as the estimate does, or as closely as counts
        can."""
        return self.estimated_counts

    def consistent(self, users: float) -> Estimate:
        """The estimate with answers that add up to ``users``. ValueError where there are no node
        estimates to make them from."""
        raise ValueError("Consistency adjusts the node estimates of a tree; this estimate has none.")

    def squared_error(self, workload: Workload, counts: Counts) -> float:
        """Squared error summed over all queries (squared users), without forming the answers."""
        return float(workload.quadratic(self.estimated_counts - dense(counts).astype(float)))

    def __repr__(self) -> str:
        bias = "unbiased" if self.unbiased else "biased"
        facts = f"{len(self.estimated_counts):,} types, {self.total:,.0f} users, {bias}"
        return f"<{type(self).__name__}: {facts}{'' if self.identified else ', counts not identified'}>"


class Mechanism(Errors):
    """The reports of a person's device, and the collector's use of them: base of all mechanisms,
    whose answers are linear in estimated counts with a known covariance.

    ``values`` are type indices (one per user), ``counts`` users per type (n,). ``simulate(counts)``
    has the same distribution as ``aggregate(privatize(values))`` and costs no loop over users.

    >>> mechanism = ldp.mechanisms.create("hierarchical", n=64, epsilon=1.0)
    >>> mechanism
    <hierarchical mechanism: 64 types, epsilon 1, branching 4, oracle subset_selection, reconstruction consistent>
    >>> reports = mechanism.simulate(np.full(64, 100), np.random.default_rng(0))
    >>> reports.users, mechanism.estimate(reports).counts().shape
    (6400, (64,))
    >>> mechanism.audit().epsilon <= 1.0
    True
    """

    name: str
    delta: float = 0.0
    lost: float | None = None
    """By what share its average variance grew when a strategy became an exact table; None where
    that is not known."""

    bits_mean = ""
    """What the bits of a report say, in one sentence, where reports are bits."""

    def __init__(self, n: int, epsilon: float, parameters: Mapping[str, Any], explanation: str = ""):
        if n < 2:
            raise ValueError(f"A mechanism needs at least 2 types; got n = {n}.")
        self.n = int(n)
        self.epsilon = check_epsilon(epsilon)
        self.parameters = dict(parameters)
        self._explanation = explanation

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column of a person's record has: the types are one column, but for
        surveys."""
        return (self.n,)

    def fits(self, shape: Sequence[int]) -> bool:
        """True if the types of a domain of this shape are those of the mechanism."""
        return math.prod(shape) == self.n

    @property
    def survey(self) -> Any:
        """The mechanism as one for surveys, an `ldp_core.mechanisms.surveys.face.SurveyMechanism`,
        where it is one: its answers are tables of a few attributes. None for others."""
        return None

    protects_all: bool = True
    """False if its guarantee is about the types `promised` alone."""

    @property
    def promised(self) -> np.ndarray:
        """(n,) the types that its guarantee is about: all, but where it was made for some secret
        ones."""
        return np.broadcast_to(np.True_, (self.n,))

    @property
    def drawn(self) -> Mechanism:
        """The mechanism that draws the reports: itself, but for `ldp_core.mechanisms.OnClasses`."""
        return self

    def people(self, counts: Counts) -> Counted | Records:
        """The people with a value for each of the `sizes`."""
        return Counted(dense(counts), self.sizes)

    def inputs(self, records: np.ndarray) -> np.ndarray:
        """What `privatize` takes of people with these ``records`` (users, columns)."""
        return records[:, 0]

    def __repr__(self) -> str:
        facts = [f"{self.n:,} types", f"epsilon {self.epsilon:g}"] + ([f"delta {self.delta:g}"] if self.delta else [])
        plain = {name: value for name, value in self.parameters.items() if isinstance(value, (str, int, float))}
        facts += [f"{name} {value}" for name, value in plain.items() if name != "delta"]
        return f"<{self.name} mechanism: {', '.join(facts)}>"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) that identifies the mechanism up to equal behaviour."""
        header = json.dumps([self.name, self.n, repr(self.epsilon), self._identity()], sort_keys=True, default=str)
        return hashlib.sha256(header.encode() + b"\0" + self._content()).hexdigest()

    def _identity(self) -> dict[str, Any]:
        return dict(self.parameters)

    def _content(self) -> bytes:
        """Its content besides its parameters, such as the bytes of a fitted strategy."""
        return b""

    @property
    def bytes_held(self) -> int:
        """About how much memory its arrays take; 0 where that is next to nothing."""
        return 0

    @property
    @abstractmethod
    def bits_per_report(self) -> float:
        """Bits of one report, on average where they differ."""

    @property
    def strategy(self) -> np.ndarray | None:
        """(m, n) Q where it is small enough to write out."""
        return None

    @property
    def channel(self) -> np.ndarray | LinearOperator | None:
        """(m, n) Q where reports keep how often each of m outputs was sent (see `tally`), so that
        they have a likelihood."""
        return None

    @property
    def bit_chances(self) -> LinearOperator | None:
        """(k, n) the probability that each bit of a report is 1, for each type, where reports are k
        bits."""
        return None

    def report_table(self) -> ReportTable:
        """What its picture shows: the probability of each bit or, where reports are not bits, of
        each report. ValueError, one sentence, where it has neither or is for too many types."""
        if self.bit_chances is not None:
            return ReportTable.of("bits", self.bit_chances, self.bits_mean)
        if self.channel is not None:
            return ReportTable.of("reports", self.channel)
        raise ValueError("No table of a few rows shows what this mechanism sends for each type.")

    @property
    def consistent(self) -> Mechanism:
        """The same collection with answers that add up: itself, except for raw trees."""
        return self

    @abstractmethod
    def privatize(self, values: np.ndarray, rng: np.random.Generator, /) -> np.ndarray:
        """One report per user. Simulation only: NumPy's generators are not secure."""

    @cached_property
    def nothing(self) -> np.ndarray:
        """(0, ...) the raw reports of nobody, of the shape and type of all others."""
        nobody = np.zeros((0, len(self.sizes)), dtype=np.int64)
        return self.privatize(self.inputs(nobody), np.random.default_rng(0))

    @property
    def outcomes(self) -> float:
        """How many different reports there are, infinity where they are not counted."""
        return math.inf

    def possible(self, rows: np.ndarray) -> np.ndarray:
        """(N,) which of the ``rows`` (N, numbers in a report) of whole numbers `privatize` can
        give: `aggregate` refuses a whole array for one bad row, and takes some that no device
        sends, such as a set that names one type twice. ValueError where reports are not whole
        numbers."""
        raise ValueError(
            "Reports of this mechanism hold continuous noise, so there are no files of them to be collected: choose a mechanism "
            "with whole-number reports."
        )

    @abstractmethod
    def aggregate(self, raw: np.ndarray) -> Reports:
        """What the collector keeps of the reports ``raw``."""

    @abstractmethod
    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of all users at once. Simulation only."""

    @abstractmethod
    def estimate(self, reports: Reports) -> Estimate:
        """Counts and answers. ValueError for the reports of another mechanism."""

    @abstractmethod
    def audit(self) -> Audit:
        """The guarantee that it really gives, computed from its probabilities."""

    def supports(self, workload: Workload) -> str | None:
        """None, or why the workload cannot be answered: it has other types, or asks for what
        reports do not tell."""
        if workload.n != self.n:
            return f"The mechanism has {self.n} types, the workload {workload.n}."
        lost = self._lost(workload)
        if lost > 0 and lost > 1e-9 * workload.trace:
            return "This mechanism sends the same reports for types that the workload distinguishes, so it cannot answer it."
        return None

    def _lost(self, workload: Workload) -> float:
        """The part of tr G that depends on what reports do not tell: none where the counts are
        identified."""
        return 0.0

    def tally(self, reports: Reports) -> np.ndarray:
        """(m,) how often each output was sent, in the order of the rows of `channel`
        (where there is one)."""
        return np.concatenate([array.ravel() for array in reports.arrays])

    def files(self) -> tuple[MechanismFile, ...]:
        """The files that its fitted part is written to; none where parameters describe it.
        ValueError, one sentence, where they would be too large."""
        return ()

    def explain(self) -> str:
        return self._explanation

    def explain_with(self, names: Sequence[str]) -> str:
        """`explain`, with the ``names`` of the columns where it mentions single ones."""
        return self.explain()


class CountedOutputs(Mechanism):
    """A report is the number of one of m outputs, and how often each was sent is kept."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """m."""

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number the m outputs."""
        return float(max(1, math.ceil(math.log2(self.outcomes))))

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return below(rows, self.outcomes)

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports from output indices: how often each output was sent."""
        raw = check_values(raw, self.outcomes)
        return Reports(self.digest, raw.size, np.bincount(raw, minlength=self.outcomes))


@runtime_checkable
class FiniteOutput(Protocol):
    """A mechanism with finitely many outputs: it has an information matrix."""

    def information(self) -> np.ndarray: ...


def check_generator(given: object) -> None:
    """ValueError for anything but a generator of random numbers."""
    if not isinstance(given, np.random.Generator):
        raise ValueError(f"Random numbers come from a generator, such as np.random.default_rng(0); got {given!r}.")


def check_values(values: np.ndarray, n: int, *rng: object) -> np.ndarray:
    """Type indices as an integer array, or a ValueError, also for anything but a generator as
    ``rng``."""
    for given in rng:
        check_generator(given)
    values = np.asarray(values)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError("Values must be a one-dimensional array of whole-number type indices, one per user.")
    if values.size and (values.min() < 0 or values.max() >= n):
        raise ValueError(f"Type indices run from 0 to {n - 1}.")
    return values


def below(rows: np.ndarray, limits: int | np.ndarray) -> np.ndarray:
    """(N,) whether all numbers of each of the ``rows`` (N, k) are at least 0 and below
    ``limits``."""
    inside: np.ndarray = (rows >= 0) & (rows < np.asarray(limits).astype(rows.dtype))
    return np.all(inside, axis=1)


def check_rows(raw: np.ndarray, columns: int, what: str) -> np.ndarray:
    """Reports as the rows of an array with this many ``columns``, or a ValueError that says
    ``what`` they hold."""
    raw = np.asarray(raw)
    if raw.ndim != 2 or raw.shape[1] != columns:
        raise ValueError(f"Each report must hold {what}; got an array of shape {raw.shape}.")
    return raw


def by_number(numbers: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Each of the ``numbers`` (k,) from 0 that is there, with the places where it stands, in
    order."""
    small = numbers.astype(np.min_scalar_type(numbers.max(initial=0)))  # those of 16 bits are sorted in linear time
    order, times = np.argsort(small, kind="stable"), np.bincount(numbers.astype(np.int64))
    present = np.flatnonzero(times)
    return (
        list(zip(present.tolist(), np.split(order, np.cumsum(times[present])[:-1]), strict=True)) if len(order) else []
    )


def runs(total: int, at_once: int) -> Iterator[slice]:
    """The places from 0 to ``total`` - 1, at most ``at_once`` of them at a time but at least
    one."""
    for start in range(0, total, max(1, at_once)):
        yield slice(start, min(start + max(1, at_once), total))


def everybody(counts: np.ndarray, at_once: int) -> Iterator[np.ndarray]:
    """The type of each user of ``counts`` (n,), at most ``at_once`` users at a time, those of a
    type together."""
    ends, types = np.cumsum(counts), np.arange(len(counts))
    for start in range(0, int(ends[-1]), at_once):
        passed = np.clip(ends, start, start + at_once)
        yield np.repeat(types, np.diff(passed, prepend=start))


def check_counts(counts: Counts, n: int, *rng: object) -> np.ndarray:
    """Users per type as an int64 array, or a ValueError, also for anything but a generator as
    ``rng``."""
    for given in rng:
        check_generator(given)
    counts = dense(counts)
    if counts.shape != (n,):
        raise ValueError(f"Counts must have one entry for each of the {n:,} types; got shape {counts.shape}.")
    whole = np.rint(counts).astype(np.int64) if np.all(np.isfinite(counts)) else None
    if whole is None or np.any(whole != counts) or whole.min() < 0:
        raise ValueError("Counts must be non-negative whole numbers of users.")
    return whole


def check_reports(reports: Reports, digest: str) -> None:
    """Refuse reports that another mechanism produced: nothing else would show that the estimate is
    nonsense."""
    if reports.mechanism_digest != digest:
        raise ValueError("These reports were made by another mechanism, or by the same one with other parameters.")
