"""Mechanisms whose report is a set of types, treating all types alike: randomized response and subset selection.

One report of a user of type u is a vector of bits b over the types. Because the types are exchangeable, four numbers say
everything about its mean and covariance:

    p = P(b_u = 1),  q = P(b_j = 1),  both_own = P(b_u = b_j = 1),  both_other = P(b_i = b_j = 1)      (u, i, j distinct)

so exact variances on every workload need no strategy matrix, which for subset selection has C(n, k) rows. With a fixed
number of bits a report, (sum b - N q)/(p - q) is also the optimal unbiased reconstruction (all outputs have equal row sums).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms.base import (
    Audit,
    Contributions,
    Estimate,
    FromCovariance,
    Reports,
    check_counts,
    check_reports,
    check_same_types,
    check_values,
    digest_of,
    two_values,
)
from ldp_core.mechanisms.explicit import STRATEGY_ENTRIES
from ldp_core.privacy import check_epsilon, log_ratio, odds, probability_within
from ldp_core.workloads import DENSE_TYPES, Workload

_HYPERGEOMETRIC_USERS = 10**9 - 1  # limit of NumPy's multivariate hypergeometric sampler


class ExchangeableMechanism(FromCovariance, ABC):
    """Common part: estimation, exact variances and covariances from the four bit moments."""

    name: str
    delta = 0.0
    p: float
    q: float
    both_own: float
    both_other: float

    def __init__(self, n: int, epsilon: float, parameters: dict[str, Any]):
        if n < 2:
            raise ValueError(f"A mechanism needs at least 2 types; got n = {n}.")
        self.n = int(n)
        self.epsilon = check_epsilon(epsilon)
        self.parameters = parameters

    @cached_property
    def digest(self) -> str:
        return digest_of(self.name, self.n, self.epsilon, self.parameters)

    def supports(self, workload: Workload) -> str | None:
        """None: the counts are identified, so every workload can be answered."""
        return check_same_types(self.n, workload)

    def _moments(self) -> tuple[float, float, float, float]:
        """Covariances of one user's estimated counts: own, own with other, other, other with other."""
        p, q = self.p, self.q
        scale = (p - q) ** 2
        return (
            p * (1 - p) / scale,
            (self.both_own - p * q) / scale,
            q * (1 - q) / scale,
            (self.both_other - q * q) / scale,
        )

    def variance_profile(self, workload: Workload) -> np.ndarray:
        """(n,) tr(G Cov_u) for one user of each type u; needs only the diagonal, row sums and trace of G."""
        if reason := self.supports(workload):
            raise ValueError(reason)
        own, mixed, other, pair = self._moments()
        diagonal, sums, trace = workload.gram_diag, workload.gram_sums, workload.trace
        among_others = sums.sum() - 2 * sums + 2 * diagonal - trace
        return own * diagonal + 2 * mixed * (sums - diagonal) + other * (trace - diagonal) + pair * among_others

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        if self.n > DENSE_TYPES:
            raise ValueError(
                f"A covariance matrix of {self.n:,} types is too large; at most {DENSE_TYPES:,} are formed."
            )
        own, mixed, other, pair = self._moments()
        x = np.asarray(counts, dtype=float)
        users = x.sum()
        C = pair * users + (mixed - pair) * (x[:, None] + x)
        np.fill_diagonal(C, own * x + other * (users - x))
        return C

    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(q,) exact variance of ``rows`` (q, n) times the estimated counts, in O(n) each."""
        own, mixed, other, pair = self._moments()
        x = np.asarray(counts, dtype=float)
        users, sums, squares = x.sum(), rows.sum(axis=1), rows**2
        # Every pair of types as if apart, then the diagonal put right.
        apart = pair * users * (sums**2 - squares.sum(axis=1)) + 2 * (mixed - pair) * (rows @ x * sums - squares @ x)
        return apart + (own - other) * (squares @ x) + other * users * squares.sum(axis=1)

    def contributions(self, rows: np.ndarray) -> Contributions:
        """What a report adds to ``rows`` (q, n) times the estimated counts, in O(n log n) each."""
        own, mixed, other, pair = self._moments()
        sums, squares = rows.sum(axis=1, keepdims=True), rows**2
        total = squares.sum(axis=1, keepdims=True)
        rest = sums - rows
        variances = (
            own * squares + 2 * mixed * rows * rest + other * (total - squares) + pair * (rest**2 - total + squares)
        )
        low, high, two = self._ends(rows)
        return Contributions.between(rows, np.maximum(variances, 0.0), low, high, two)

    def report_ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q,) the least and the largest that a report adds to ``rows`` (q, n) times the estimated counts."""
        return self._ends(rows)[:2]

    @abstractmethod
    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q,) the least and the largest that a report can add, and whether it adds one of these two."""

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q = A I + B 11', from M^-1 = I + sum_u Cov_u."""
        own, mixed, other, pair = self._moments()
        diagonal = 1 + own + (self.n - 1) * other
        off = 2 * mixed + (self.n - 2) * pair
        A = 1 / (diagonal - off)
        return A * np.eye(self.n) + (1 - A) / self.n  # M 1 = 1 fixes B

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts from the number of reports that contain each type."""
        check_reports(reports, self.digest)
        return Estimate((reports.data - reports.users * self.q) / (self.p - self.q), unbiased=True)

    @property
    def strategy(self) -> np.ndarray | None:
        """(m, n) the explicit strategy where it is small enough to write out, else None."""
        # There are at least n outputs; numbers like C(10^6, 10^5) take seconds to compute.
        if self.n**2 > STRATEGY_ENTRIES or self._outputs() * self.n > STRATEGY_ENTRIES:
            return None
        return self._strategy()

    @abstractmethod
    def _outputs(self) -> int: ...
    @abstractmethod
    def _strategy(self) -> np.ndarray: ...

    def audit(self) -> Audit:
        """From the two values that every output's probabilities take (they are the same for all outputs by symmetry)."""
        return Audit(
            log_ratio(*self._two_probabilities()),
            0.0,
            "exact: every output has the same two probabilities, by symmetry",
            (0, 1),
        )

    @abstractmethod
    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact probability of an output for a type inside it and outside it, up to a common factor, as reports are drawn."""


class RandomizedResponse(ExchangeableMechanism):
    """k-ary randomized response: the true type with odds e^epsilon against each other type (Warner 1965; Kairouz et al. 2016)."""

    name = "randomized_response"
    both_own = both_other = 0.0

    def __init__(self, n: int, epsilon: float):
        super().__init__(n, epsilon, {})
        E = odds(self.epsilon)
        # The truth with this probability, else any type evenly: the own one among them.
        self.truthful = probability_within((E - 1) / (E + n - 1), lambda t: (1 + (n - 1) * t) / (1 - t), E)
        self.q = (1 - self.truthful) / n
        self.p = self.truthful + self.q

    @property
    def bits_per_report(self) -> float:
        return float(math.ceil(math.log2(self.n)))

    def _outputs(self) -> int:
        return self.n

    @property
    def channel(self) -> LinearOperator:
        """(n, n) the strategy."""
        return _direct_channel(self.n, self.p, self.q)

    def _strategy(self) -> np.ndarray:
        Q = np.full((self.n, self.n), self.q)
        np.fill_diagonal(Q, self.p)
        return Q

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        even = (1 - Fraction(self.truthful)) / self.n
        return Fraction(self.truthful) + even, even

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _ends_of_sets(rows, 1, self.p, self.q)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users,) one reported type a user. For simulation only: a client needs a secure random source."""
        values = check_values(values, self.n)
        truthful = rng.random(values.size) < self.truthful
        return np.where(truthful, values, rng.integers(self.n, size=values.size))

    def aggregate(self, raw: np.ndarray) -> Reports:
        raw = check_values(raw, self.n)
        return Reports(self.digest, raw.size, np.bincount(raw, minlength=self.n))

    def simulate(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """The response is the truth or uniform: n binomials and one multinomial. For simulation only."""
        counts = check_counts(counts, self.n)
        truthful = rng.binomial(counts, self.truthful)
        uniform = rng.multinomial(counts.sum() - truthful.sum(), np.full(self.n, 1 / self.n))
        return Reports(self.digest, int(counts.sum()), truthful + uniform)

    def explain(self) -> str:
        return (
            f"Each person reports their true type with probability {self.p:.3g} and each of the other "
            f"{self.n - 1:,} types with probability {self.q:.3g}."
        )


class SubsetSelection(ExchangeableMechanism):
    """Report a set of ``size`` types, e^epsilon times likelier when it holds the true one (Ye and Barg 2018; Wang et al. 2016).

    ``size`` None takes the best one for the histogram workload (near n/(e^epsilon + 1)).
    """

    name = "subset_selection"

    def __init__(self, n: int, epsilon: float, size: int | None = None):
        chosen = best_subset_size(n, check_epsilon(epsilon)) if size is None else size
        if isinstance(chosen, bool) or not isinstance(chosen, (int, np.integer)) or not 1 <= chosen < n:
            raise ValueError(f"The subset size must be a whole number from 1 to {n - 1}; got {size}.")
        super().__init__(n, epsilon, {"size": int(chosen)})
        self.size = k = int(chosen)
        E = odds(self.epsilon)
        p = probability_within(E * k / (E * k + n - k), lambda p: p * (n - k) / ((1 - p) * k), E)
        self.p, self.q, self.both_own, self.both_other = _subset_moments(n, k, p)

    @property
    def channel(self) -> LinearOperator | None:
        """Sets of one type are randomized response; of larger ones reports only keep how often each type was in one."""
        return _direct_channel(self.n, self.p, self.q) if self.size == 1 else None

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number all C(n, k) subsets."""
        log_subsets = math.lgamma(self.n + 1) - math.lgamma(self.size + 1) - math.lgamma(self.n - self.size + 1)
        return float(math.ceil(log_subsets / math.log(2) - 1e-9))

    def _outputs(self) -> int:
        return math.comb(self.n, self.size)

    def _strategy(self) -> np.ndarray:
        members = np.array(list(combinations(range(self.n), self.size)))
        sets_with_own = math.comb(self.n - 1, self.size - 1)
        inside, outside = (float(probability / sets_with_own) for probability in self._two_probabilities())
        Q = np.full((len(members), self.n), outside)
        np.put_along_axis(Q, members, inside, axis=1)
        return Q

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        # Times C(n - 1, k - 1): there are (n - k)/k times as many sets without the type.
        p = Fraction(self.p)
        return p, (1 - p) * self.size / (self.n - self.size)

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _ends_of_sets(rows, self.size, self.p, self.q)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, size) the types in each user's set, in no particular order. For simulation only: a client needs a secure
        random source."""
        values = check_values(values, self.n)
        sets = np.empty((values.size, self.size), dtype=np.int64)
        chunk = max(1, 2**22 // self.n)
        for start in range(0, values.size, chunk):
            own = values[start : start + chunk]
            keys = rng.random((own.size, self.n))
            # A key below all others forces the true type in, one above all others keeps it out.
            keys[np.arange(own.size), own] = np.where(rng.random(own.size) < self.p, -1.0, 2.0)
            sets[start : start + chunk] = np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]
        return sets

    def aggregate(self, raw: np.ndarray) -> Reports:
        raw = np.asarray(raw)
        if raw.ndim != 2 or raw.shape[1] != self.size:
            raise ValueError(f"Each report must hold {self.size} types; got an array of shape {raw.shape}.")
        return Reports(self.digest, raw.shape[0], np.bincount(check_values(raw.ravel(), self.n), minlength=self.n))

    def simulate(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """Exact bit sums in O(n size) draws, any number of users: see `_subset_bit_sums`. For simulation only."""
        counts = check_counts(counts, self.n)
        sums = np.zeros(self.n, dtype=np.int64)
        left = counts.copy()
        while left.any():
            before = np.cumsum(left) - left
            batch = np.clip(_HYPERGEOMETRIC_USERS - before, 0, left)
            sums += _subset_bit_sums(batch, self.size, self.p, rng)
            left -= batch
        return Reports(self.digest, int(counts.sum()), sums)

    def explain(self) -> str:
        return (
            f"Each person reports a set of {self.size:,} of the {self.n:,} types. It holds their true type with "
            f"probability {self.p:.3g}; the rest of the set is drawn at random."
        )


def _direct_channel(n: int, p: float, q: float) -> LinearOperator:
    """(n, n) the strategy (p - q) I + q 11' of reporting one type."""

    def apply(x: np.ndarray) -> np.ndarray:
        return (p - q) * np.ravel(x) + q * x.sum()

    return LinearOperator((n, n), matvec=apply, rmatvec=apply, dtype=float)


def _ends_of_sets(rows: np.ndarray, size: int, p: float, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`ExchangeableMechanism._ends` of reports that are any set of ``size`` types."""
    ordered, shift = np.sort(rows, axis=1), q * rows.sum(axis=1)
    low, high = ordered[:, :size].sum(axis=1), ordered[:, -size:].sum(axis=1)
    # A larger set says yes or no only of a query that sets one type apart from the others.
    one = (ordered[:, -2] == ordered[:, 0]) | (ordered[:, -1] == ordered[:, 1])
    return (low - shift) / (p - q), (high - shift) / (p - q), two_values(rows) if size == 1 else one


def _subset_moments(n: int, k: int, p: float) -> tuple[float, float, float, float]:
    """p, q, both_own, both_other of sets of k out of n types that hold the own one with probability p."""
    both_own = p * (k - 1) / (n - 1)
    q = both_own + (1 - p) * k / (n - 1)
    pairs = (n - 1) * (n - 2)
    both_other = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / pairs if pairs else 0.0
    return p, q, both_own, both_other


def best_subset_size(n: int, epsilon: float) -> int:
    """The subset size of least variance on the histogram workload (Ye and Barg 2018): a neighbour of n/(e^epsilon + 1)."""
    E = odds(epsilon)
    centre = n / (E + 1)
    candidates = {max(1, math.floor(centre)), math.ceil(centre)}  # below n, as the centre is below n/2

    def variance(k: int) -> float:
        p, q, _, _ = _subset_moments(n, k, E * k / (E * k + n - k))
        return (p * (1 - p) + (n - 1) * q * (1 - q)) / (p - q) ** 2

    return min(sorted(candidates), key=variance)


def _subset_bit_sums(counts: np.ndarray, size: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) how many users' random sets contain each type, drawn exactly without touching users one by one.

    Users decide on their own type first (in with probability p), then walk through the other types in order; a user with
    r places left and e types still to come takes the next one with probability r/e. All that matters of a user is r,
    whether the own type has been passed, and (until then) whether it is in. Users who have not passed their own type are
    exchangeable, so which of them are of the type now reached is a multivariate hypergeometric draw. For simulation only.
    """
    n, users = counts.size, int(counts.sum())
    places = np.arange(size + 1)
    waiting = np.zeros((2, size + 1), dtype=np.int64)  # own type still ahead: [own type out, own type in] x places left
    own_in = rng.binomial(users, p)
    waiting[1, size - 1], waiting[0, size] = own_in, users - own_in
    passed = np.zeros(size + 1, dtype=np.int64)
    sums = np.zeros(n, dtype=np.int64)
    for item in range(n):
        if counts[item]:
            reached = rng.multivariate_hypergeometric(waiting.ravel(), counts[item], method="marginals").reshape(2, -1)
            waiting -= reached
            sums[item] += reached[1].sum()
        else:
            reached = np.zeros_like(waiting)
        ahead = n - item  # types still open to users who have passed their own; one fewer for those who have not
        took = rng.binomial(passed, np.minimum(places / ahead, 1.0))
        took_waiting = rng.binomial(waiting, np.minimum(places / max(ahead - 1, 1), 1.0))
        sums[item] += took.sum() + took_waiting.sum()
        passed = passed - took
        passed[:-1] += took[1:]
        waiting -= took_waiting
        waiting[:, :-1] += took_waiting[:, 1:]
        passed += reached.sum(axis=0)
    return sums
