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
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import Audit, Estimate, Mechanism, Reports, check_reports
from ldp_core.mechanisms.moments import TYPES, Ends, Moments, QuadraticForm, two_values
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
        """Covariances of one user's estimated counts: of the user's type, of it with another, of
        another, of two others."""
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
        same, mixed, other, pair = self._moments()
        return other - pair, same - other - 2 * (mixed - pair) + 1

    def central_moments(self, questions: QuadraticForm, columns: Any = TYPES) -> Moments:
        """tr(G Cov_u) for one user of each type u; needs only the diagonal, row sums and trace of G."""
        same, mixed, other, pair = self._moments()
        sums, of_type, with_others = questions.gram_sums, same - other, 2 * (mixed - pair)
        alike = (other - pair) * questions.trace + pair * sums.sum(axis=-1, keepdims=True)
        return [(TYPES, (of_type - with_others) * questions.gram_diag + with_others * sums + alike)]

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        if self.n > MOST_MATRIX_TYPES:
            raise ValueError(
                f"A covariance matrix of {self.n:,} types is too large; at most {MOST_MATRIX_TYPES:,} are formed."
            )
        same, mixed, other, pair = self._moments()
        x = np.asarray(counts, dtype=float)
        users = x.sum()
        C = pair * users + (mixed - pair) * (x[:, None] + x)
        np.fill_diagonal(C, same * x + other * (users - x))
        return C

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q = A I + B 11', from M^-1 = I + sum_u Cov_u."""
        same, mixed, other, pair = self._moments()
        diagonal = 1 + same + (self.n - 1) * other
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


def ends_of_sets(rows: np.ndarray, size: int, p: float, q: float) -> Ends:
    """The ends of reports that are any set of ``size`` types."""
    ordered, shift = np.sort(rows, axis=1), q * rows.sum(axis=1)
    low, high = ordered[:, :size].sum(axis=1), ordered[:, -size:].sum(axis=1)
    # A larger set adds one of two values only to a query that sets one type apart from all others.
    equal_ends = (ordered[:, -2] == ordered[:, 0]) | (ordered[:, -1] == ordered[:, 1])
    return Ends((low - shift) / (p - q), (high - shift) / (p - q), two_values(rows) if size == 1 else equal_ends)
