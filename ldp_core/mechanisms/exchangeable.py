"""The common part of mechanisms whose report is a set of types and that treat all types alike.

One report of a user of type u is a vector of bits b over the types. The types are exchangeable, so
four numbers determine its mean and covariance:

    p = P(b_u = 1),  q = P(b_j = 1),  both_own = P(b_u = b_j = 1),  both_other = P(b_i = b_j = 1)      (u, i, j distinct)

so exact variances on every workload need no strategy matrix, which for subset selection has C(n, k)
rows. If every report has the same number of bits, (sum b - N q)/(p - q) is also the optimal
unbiased reconstruction (all outputs have equal row sums).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import (
    Audit,
    Contributions,
    Estimate,
    Mechanism,
    QuadraticForm,
    Reports,
    check_reports,
    two_values,
)
from ldp_core.privacy import log_ratio


class ExchangeableMechanism(Mechanism):
    """Common part: estimation, exact variances and covariances from the four bit moments."""

    p: float
    q: float
    both_own: float
    both_other: float
    # The probabilities that decide what one report can tell, in words.
    _decisive = "every output has the same two probabilities, by symmetry"

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

    def centred_moments(self) -> tuple[float, float]:
        """a and b with ``E[(r c)^2] = a |r|^2 + b r_u^2`` for what a report of a user of type u adds to the counts, c (n,), and every
        query r (n,) that sums to 0."""
        own, mixed, other, pair = self._moments()
        return other - pair, own - other - 2 * (mixed - pair) + 1

    def profile_of(self, form: QuadraticForm) -> np.ndarray:
        """tr(G Cov_u) for one user of each type u; needs only the diagonal, row sums and trace of G."""
        own, mixed, other, pair = self._moments()
        diagonal, sums, trace = form.gram_diag, form.gram_sums, form.trace
        among_others = sums.sum() - 2 * sums + 2 * diagonal - trace
        return own * diagonal + 2 * mixed * (sums - diagonal) + other * (trace - diagonal) + pair * among_others

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        if self.n > MOST_MATRIX_TYPES:
            raise ValueError(
                f"A covariance matrix of {self.n:,} types is too large; at most {MOST_MATRIX_TYPES:,} are formed."
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
        """The contribution of a report to ``rows`` (q, n) times the estimated counts, in O(n log n) each."""
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
        """(q,) the smallest and the largest amount that a report adds to ``rows`` (q, n) times the estimated counts."""
        return self._ends(rows)[:2]

    @abstractmethod
    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q,) the smallest and the largest amount that a report can add, and whether it adds one of these two."""

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
        return Estimate((reports.arrays[0] - reports.users * self.q) / (self.p - self.q), unbiased=True)

    @property
    def strategy(self) -> np.ndarray | None:
        """(m, n) the explicit strategy where it is small enough to write out, else None."""
        # There are at least n outputs; numbers like C(10^6, 10^5) take seconds to compute.
        if self.n**2 > MOST_STRATEGY_ENTRIES or self._outputs() * self.n > MOST_STRATEGY_ENTRIES:
            return None
        return self.written_out()

    def _outputs(self) -> float:
        """Rows of the strategy."""
        return self.outcomes

    @abstractmethod
    def written_out(self) -> np.ndarray:
        """(m, n) the explicit strategy, however large."""

    def audit(self) -> Audit:
        """From the two probabilities that decide: by symmetry they do for every output and every pair of types."""
        return Audit(log_ratio(*self._two_probabilities()), 0.0, f"exact: {self._decisive}", (0, 1))

    @abstractmethod
    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        """Exact probability of an output for a type inside it and outside it, up to a common factor, as reports are drawn."""


def direct_channel(n: int, p: float, q: float) -> LinearOperator:
    """(n, n) the strategy (p - q) I + q 11' of reporting one type."""

    def apply(x: np.ndarray) -> np.ndarray:
        return (p - q) * np.ravel(x) + q * x.sum()

    return LinearOperator((n, n), matvec=apply, rmatvec=apply, dtype=float)


def ends_of_sets(rows: np.ndarray, size: int, p: float, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`ExchangeableMechanism._ends` of reports that are any set of ``size`` types."""
    ordered, shift = np.sort(rows, axis=1), q * rows.sum(axis=1)
    low, high = ordered[:, :size].sum(axis=1), ordered[:, -size:].sum(axis=1)
    # A larger set adds one of two values only to a query that sets one type apart from all others.
    equal_ends = (ordered[:, -2] == ordered[:, 0]) | (ordered[:, -1] == ordered[:, 1])
    return (low - shift) / (p - q), (high - shift) / (p - q), two_values(rows) if size == 1 else equal_ends
