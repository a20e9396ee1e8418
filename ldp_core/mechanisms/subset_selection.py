"""Subset selection: a set of types that favours the true one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.arguments import check_whole
from ldp_core.limits import MOST_DRAWN_TYPES, MOST_TABLE_ENTRIES, SAMPLED_REPORTS
from ldp_core.mechanisms.base import Reports, below, check_counts, check_rows, check_values, runs
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism, direct_channel, ends_of_sets
from ldp_core.mechanisms.moments import TYPES, Ends, Rows
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.people import Counts
from ldp_core.privacy import check_epsilon, exp_epsilon, probability_within
from ldp_core.wording import significant

_HYPERGEOMETRIC_USERS = 10**9 - 1  # limit of NumPy's multivariate hypergeometric sampler
# n times size past which fewer users than types are gone through one by one: the walk would take minutes, or hours.
_WALKED = 2**28


class SubsetSelection(ExchangeableMechanism):
    """Report a set of ``size`` types, e^epsilon times likelier when it holds the true one (Ye and Barg 2018; Wang et al. 2016).

    ``size`` None takes the best one for the histogram workload (near n/(e^epsilon + 1)).
    """

    name = "subset_selection"
    bits_mean = "The bit of a type is 1 if it is in the set that is sent."

    def __init__(self, n: int, epsilon: float, size: int | None = None):
        best = best_subset_size(n, check_epsilon(epsilon)) if size is None else size
        self.size = k = check_whole("subset size", best, 1, n - 1)
        super().__init__(n, epsilon, {"size": k})
        E = exp_epsilon(self.epsilon)
        p = probability_within(E * k / (E * k + n - k), lambda p: p * (n - k) / ((1 - p) * k), E)
        self.p, self.q, self.both_own, self.both_other = _subset_moments(n, k, p)

    @property
    def channel(self) -> LinearOperator | None:
        """Sets of one type are randomized response; of larger ones reports only keep how often each type was in one."""
        return direct_channel(self.n, self.p, self.q) if self.size == 1 else None

    @property
    def bit_chances(self) -> LinearOperator:
        """(n, n) the probability that each type is in the set."""
        return direct_channel(self.n, self.p, self.q)

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number all C(n, k) subsets."""
        log_subsets = math.lgamma(self.n + 1) - math.lgamma(self.size + 1) - math.lgamma(self.n - self.size + 1)
        return float(math.ceil(log_subsets / math.log(2) - 1e-9))

    def _outputs(self) -> int:
        return math.comb(self.n, self.size)

    def written_out(self) -> np.ndarray:
        return self._rows(np.array(list(combinations(range(self.n), self.size))))

    def _rows(self, members: np.ndarray) -> np.ndarray:
        """(k, n) the rows of the strategy for sets of types ``members`` (k, size)."""
        sets_with_type = math.comb(self.n - 1, self.size - 1)
        inside, outside = (float(probability / sets_with_type) for probability in self._two_probabilities())
        Q = np.full((len(members), self.n), outside)
        np.put_along_axis(Q, members, inside, axis=1)
        return Q

    def report_table(self) -> ReportTable:
        """All sets or, where these are too many, some of them; where even the probability of one is too small for a float, that of
        each type to be in the set. ValueError for more types than are drawn."""
        if self.n > MOST_DRAWN_TYPES or self.bits_per_report > 1000:  # floats end at 2^-1074
            return super().report_table()
        if self.bits_per_report + math.log2(self.n) <= math.log2(MOST_TABLE_ENTRIES):
            return ReportTable("reports", self.written_out())
        keys = np.random.default_rng(0).random((SAMPLED_REPORTS, self.n))
        members = np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]
        return ReportTable("reports", self._rows(members), sampled=True)

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        # Times C(n - 1, k - 1): there are (n - k)/k times as many sets without the type.
        p = Fraction(self.p)
        return p, (1 - p) * self.size / (self.n - self.size)

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        return ends_of_sets(rows.rows, self.size, self.p, self.q)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, size) the types in each user's set, in no particular order. Simulation only: a client needs a secure
        random source."""
        values = check_values(values, self.n, rng)
        sets = np.empty((values.size, self.size), dtype=np.int64)
        for some in runs(values.size, 2**22 // self.n):
            types = values[some]
            keys = rng.random((types.size, self.n))
            # A key below all others forces the true type in, one above all others keeps it out.
            keys[np.arange(types.size), types] = np.where(rng.random(types.size) < self.p, -1.0, 2.0)
            sets[some] = np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]
        return sets

    @property
    def outcomes(self) -> float:
        """Sets, each in all orders that it may be written in."""
        return float(math.perm(self.n, self.size)) if self.n < 64 else math.inf

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return below(rows, self.n) & (np.diff(np.sort(rows, axis=1), axis=1) != 0).all(axis=1)

    def aggregate(self, raw: np.ndarray) -> Reports:
        raw = check_rows(raw, self.size, f"{self.size} types")
        return Reports(self.digest, raw.shape[0], np.bincount(check_values(raw.ravel(), self.n), minlength=self.n))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Exact bit sums in O(n size) draws, for any number of users: see `_subset_bit_sums`; in O(users size) where that is less, and n
        is large. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        if self.n * self.size > _WALKED and counts.sum() < self.n:
            return Reports(self.digest, int(counts.sum()), _sums_of_everybody(counts, self.size, self.p, rng))
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
            f"probability {significant(self.p)}; the rest of the set is drawn at random."
        )


def _subset_moments(n: int, k: int, p: float) -> tuple[float, float, float, float]:
    """p, q, both_own, both_other of sets of k out of n types that hold the own one with probability p."""
    both_own = p * (k - 1) / (n - 1)
    q = both_own + (1 - p) * k / (n - 1)
    pairs = (n - 1) * (n - 2)
    both_other = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / pairs if pairs else 0.0
    return p, q, both_own, both_other


def best_subset_size(n: int, epsilon: float) -> int:
    """The subset size of least variance on the histogram workload (Ye and Barg 2018): a neighbour of n/(e^epsilon + 1)."""
    E = exp_epsilon(epsilon)
    centre = n / (E + 1)
    candidates = {max(1, math.floor(centre)), math.ceil(centre)}  # below n, as the centre is below n/2

    def variance(k: int) -> float:
        p, q, _, _ = _subset_moments(n, k, E * k / (E * k + n - k))
        return (p * (1 - p) + (n - 1) * q * (1 - q)) / (p - q) ** 2

    return min(sorted(candidates), key=variance)


def _sums_of_everybody(counts: np.ndarray, size: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) how many users' random sets contain each type, one user after the other. Simulation only."""
    types = np.repeat(np.arange(counts.size), counts)
    held = rng.random(types.size) < p
    sums = np.bincount(types[held], minlength=counts.size)
    for value, places in zip(types.tolist(), (size - held).tolist(), strict=True):
        others = rng.choice(counts.size - 1, places, replace=False, shuffle=False)
        sums[others + (others >= value)] += 1
    return sums


def _subset_bit_sums(counts: np.ndarray, size: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) the number of users whose random sets contain each type, drawn exactly without a loop
    over users.

    Users decide on their own type first (in with probability p), then walk through the other types
    in order. A user with r places left and e types still to come takes the next type with
    probability r/e. The state of a user is r, whether the own type has been passed, and (until
    then) whether it is in. Users who have not passed their own type are exchangeable, so the number
    of them with the type now reached is a multivariate hypergeometric draw. Simulation only.
    """
    n, users = counts.size, int(counts.sum())
    places = np.arange(size + 1)
    waiting = np.zeros((2, size + 1), dtype=np.int64)  # own type still ahead: [own type out, own type in] x places left
    held = rng.binomial(users, p)
    waiting[1, size - 1], waiting[0, size] = held, users - held
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
