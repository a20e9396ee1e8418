"""Hadamard randomized response (HRR): one random Hadamard coefficient of the one-hot value, its sign by randomized response.

With H the K x K Hadamard matrix, H_ju = (-1)^popcount(j & u), a user of type u draws a coefficient j uniformly and sends its
sign H_ju, or with probability 1/(e^eps + 1) the opposite one. Output 2 i is "plus" and 2 i + 1 "minus" on the i-th
coefficient that may be drawn.

The constant coefficient j = 0 is not drawn here: it is +1 for every type, so its report would say nothing. It does say
something about signed one-hot vectors (Haar): with m nodes, the coefficients of -e_v and e_v are those numbered m to 2m - 1 of
the types m + v and v among 2m, so both uses share the functions below.

Nguyen et al. 2016; Cormode et al. 2019, Section 3.2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import (
    CountedOutputs,
    Estimate,
    Reports,
    check_counts,
    check_reports,
    check_values,
    everybody,
    runs,
)
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.moments import TYPES, Ends, Rows
from ldp_core.people import Counts
from ldp_core.privacy import check_epsilon, exp_epsilon, probability_within
from ldp_core.wording import significant
from ldp_core.workloads import walsh_hadamard

RECONSTRUCTIONS = ("optimal", "transform")
_USERS_AT_ONCE = 2**20


def sign_probabilities(epsilon: float) -> tuple[float, float]:
    """Probabilities of sending the true sign, and the opposite one: multiples of `STEP`, which are drawn exactly."""
    E = exp_epsilon(epsilon)
    kept = probability_within(E / (E + 1), lambda p: p / (1 - p), E)
    return kept, 1 - kept


def exact_sign_probabilities(epsilon: float) -> tuple[Fraction, Fraction]:
    """`sign_probabilities` as fractions."""
    kept, flipped = sign_probabilities(epsilon)
    return Fraction(kept), Fraction(flipped)


def attenuation(epsilon: float) -> float:
    """(e^eps - 1)/(e^eps + 1), the mean of the sign sent when the true one is +1."""
    kept, flipped = sign_probabilities(epsilon)
    return kept - flipped


def privatize_signs(values: np.ndarray, coefficients: range, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """(users,) one output 2 i + (sign is minus) per user, i the place of the coefficient drawn in
    ``coefficients``. Simulation only."""
    place = rng.integers(len(coefficients), size=values.size)
    minus = np.bitwise_count((place + coefficients.start) & values) & 1
    return 2 * place + (minus ^ (rng.random(values.size) < sign_probabilities(epsilon)[1]))


def simulate_signs(counts: np.ndarray, coefficients: range, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """(2 len(coefficients),) tally of the outputs of ``counts`` users per type, in the distribution
    of `privatize_signs`. Simulation only.

    Both ways are exact, and the faster is taken. Many users per cell: the numbers of each type that
    chose each coefficient (a multinomial), then the numbers of each true sign that were flipped (a
    binomial). Few users per cell: their outputs, in vectorised batches.
    """
    choices = len(coefficients)
    present = np.flatnonzero(counts)
    users = int(counts.sum())
    if users < present.size * choices:
        tally = np.zeros(2 * choices, dtype=np.int64)
        for values in everybody(counts, _USERS_AT_ONCE):
            tally += np.bincount(privatize_signs(values, coefficients, epsilon, rng), minlength=2 * choices)
        return tally
    true = np.zeros((choices, 2), dtype=np.int64)  # users by coefficient and true sign
    even = np.full(choices, 1 / choices)
    for some in runs(present.size, 2**22 // choices):
        types = present[some]
        chosen = rng.multinomial(counts[types], even)
        minus = np.bitwise_count(np.arange(coefficients.start, coefficients.stop) & types[:, None]) & 1
        true[:, 1] += np.sum(chosen * minus, axis=0)
        true[:, 0] += chosen.sum(axis=0)
    true[:, 0] -= true[:, 1]
    flipped = rng.binomial(true, sign_probabilities(epsilon)[1])
    return (true - flipped + flipped[:, ::-1]).ravel()


def sign_channel(n: int, coefficients: range, epsilon: float) -> LinearOperator:
    """(2 len(coefficients), n) Q of `privatize_signs` on ``n`` types, by fast transforms: no matrix."""
    order, choices, a = coefficients.stop, len(coefficients), attenuation(epsilon)

    def forward(x: np.ndarray) -> np.ndarray:
        x = np.ravel(x)
        signs = a * walsh_hadamard(np.pad(x, (0, order - n)))[coefficients.start :]
        return np.stack([x.sum() + signs, x.sum() - signs], axis=1).ravel() / (2 * choices)

    def adjoint(y: np.ndarray) -> np.ndarray:
        y = np.ravel(y)
        signs = np.pad(sign_sums(y), (coefficients.start, 0))
        return (y.sum() + a * walsh_hadamard(signs)[:n]) / (2 * choices)

    return LinearOperator((2 * choices, n), matvec=forward, rmatvec=adjoint, dtype=float)


def sign_sums(tally: np.ndarray) -> np.ndarray:
    """(choices,) sum of the signs sent on each coefficient."""
    return tally[0::2] - tally[1::2]


class HadamardRandomizedResponse(CountedOutputs, ExchangeableMechanism):
    """HRR on ``n`` types, counts by one fast Walsh-Hadamard transform: O(n log n) and no matrix.

    K is the least power of two that is at least n; where n = K this is also the optimal reconstruction. Moments: every
    report adds z_i = g s H_ji + 1/K to type i, with g = (K - 1)/(K a) and s the sign sent.
    """

    name = "hrr"

    def __init__(self, n: int, epsilon: float):
        super().__init__(n, epsilon, {"reconstruction": "transform"})
        self.order = 1 << (self.n - 1).bit_length()
        self.coefficients = range(1, self.order)

    @cached_property
    def _gain(self) -> float:
        return (self.order - 1) / (self.order * attenuation(self.epsilon))

    def _moments(self) -> tuple[float, float, float, float]:
        # E[H_ji H_jk] over the coefficients drawn is -1/(K - 1) for i != k; the means of g s H_ji are 1 - 1/K and -1/K.
        K, square = self.order, self._gain**2
        apart = -square / (K - 1)
        return square - (1 - 1 / K) ** 2, apart + (1 - 1 / K) / K, square - 1 / K**2, apart - 1 / K**2

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users,) one output per user, see the module. Simulation only: a client needs a secure random source."""
        return privatize_signs(check_values(values, self.n, rng), self.coefficients, self.epsilon, rng)

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Exact: see `simulate_signs`. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        return Reports(self.digest, int(counts.sum()), simulate_signs(counts, self.coefficients, self.epsilon, rng))

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts: the transform of the sign sums, the constant coefficient being the number of users."""
        check_reports(reports, self.digest)
        signs = np.concatenate([[0.0], sign_sums(reports.arrays[0])])
        return Estimate(self._gain * walsh_hadamard(signs)[: self.n] + reports.users / self.order, unbiased=True)

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        known = rows.rows.sum(axis=1) / self.order
        signs = np.abs(walsh_hadamard(np.pad(rows.rows, ((0, 0), (0, self.order - self.n))))[:, 1:])
        largest = signs.max(axis=1)
        alike = signs.min(axis=1) >= (1 - 1e-9) * largest
        return Ends(known - self._gain * largest, known + self._gain * largest, alike)

    @property
    def channel(self) -> LinearOperator:
        """(2(K - 1), n) the strategy as fast transforms."""
        return sign_channel(self.n, self.coefficients, self.epsilon)

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q of the explicit strategy. ValueError past `MOST_STRATEGY_ENTRIES` of it."""
        Q = self.strategy
        if Q is None:
            raise ValueError(f"The information matrix of {self.n:,} types needs a strategy too large to write out.")
        return (Q.T / Q.sum(axis=1)) @ Q

    @property
    def outcomes(self) -> int:
        return 2 * (self.order - 1)

    def written_out(self) -> np.ndarray:
        minus = np.bitwise_count(np.array(self.coefficients)[:, None] & np.arange(self.n)) & 1
        kept, flipped = sign_probabilities(self.epsilon)
        Q = np.stack([np.where(minus, flipped, kept), np.where(minus, kept, flipped)], axis=1)
        return Q.reshape(self.outcomes, self.n) / len(self.coefficients)

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        return exact_sign_probabilities(self.epsilon)

    def explain(self) -> str:
        return (
            f"Each person draws one of {len(self.coefficients):,} ways to split the types into two halves and says which half "
            f"holds their type, truthfully with probability {significant(sign_probabilities(self.epsilon)[0])}. A report is one number of "
            f"{self.bits_per_report:.0f} bits."
        )


def build(n: int, epsilon: float, reconstruction: str | None = None) -> ExplicitMechanism | HadamardRandomizedResponse:
    """HRR with ``reconstruction`` "optimal" (explicit strategy of 2(K - 1) outputs) or "transform" (any size; the same
    estimates where n is a power of two). None takes the optimal one while its strategy is small enough to write out.

    ValueError for another reconstruction, or "optimal" on too many types.
    """
    transform = HadamardRandomizedResponse(n, check_epsilon(epsilon))
    fits = transform.outcomes * n <= MOST_STRATEGY_ENTRIES
    if reconstruction is None:
        reconstruction = "optimal" if fits else "transform"
    if reconstruction == "transform":
        return transform
    if not fits:
        raise ValueError(
            f"The optimal reconstruction of HRR on {n:,} types needs a strategy matrix too large to write out here. Use "
            'reconstruction "transform", or coarser bins.'
        )
    return ExplicitMechanism(
        "hrr", transform.written_out(), epsilon, {"reconstruction": "optimal"}, transform.explain()
    )
