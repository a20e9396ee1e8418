"""Randomized response: one type, most often the true one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms.base import CountedOutputs, Reports, check_counts, check_values
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism, direct_channel, ends_of_sets
from ldp_core.mechanisms.moments import TYPES, Ends, Rows
from ldp_core.people import Counts
from ldp_core.privacy import exp_epsilon, probability_within
from ldp_core.wording import significant


class RandomizedResponse(CountedOutputs, ExchangeableMechanism):
    """k-ary randomized response: the true type with odds e^epsilon against each other type (Warner 1965; Kairouz et al. 2016)."""

    name = "randomized_response"
    both_own = both_other = 0.0

    def __init__(self, n: int, epsilon: float):
        super().__init__(n, epsilon, {})
        E = exp_epsilon(self.epsilon)
        # The truth with this probability, else any type evenly: the own one among them.
        self.truthful = probability_within((E - 1) / (E + n - 1), lambda t: (1 + (n - 1) * t) / (1 - t), E)
        self.q = (1 - self.truthful) / n
        self.p = self.truthful + self.q

    @property
    def outcomes(self) -> int:
        return self.n

    @property
    def channel(self) -> LinearOperator:
        """(n, n) the strategy."""
        return direct_channel(self.n, self.p, self.q)

    def written_out(self) -> np.ndarray:
        Q = np.full((self.n, self.n), self.q)
        np.fill_diagonal(Q, self.p)
        return Q

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        even = (1 - Fraction(self.truthful)) / self.n
        return Fraction(self.truthful) + even, even

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        return ends_of_sets(rows.rows, 1, self.p, self.q)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users,) one reported type per user. Simulation only: a client needs a secure random source."""
        values = check_values(values, self.n, rng)
        truthful = rng.random(values.size) < self.truthful
        return np.where(truthful, values, rng.integers(self.n, size=values.size))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """The response is the truth or uniform: n binomials and one multinomial. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        truthful = rng.binomial(counts, self.truthful)
        uniform = rng.multinomial(counts.sum() - truthful.sum(), np.full(self.n, 1 / self.n))
        return Reports(self.digest, int(counts.sum()), truthful + uniform)

    def explain(self) -> str:
        return (
            f"Each person reports their true type with probability {significant(self.p)} and each of the other "
            f"{self.n - 1:,} types with probability {significant(self.q)}."
        )
