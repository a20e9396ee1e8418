"""Reports of independent bits, one per type: RAPPOR and optimised unary encoding (OUE), and the
part that local hashing shares with them.

A user of type u sends bit u as 1 with probability p and every other bit with probability q < p, all independently (Wang et
al. 2017). For OLH a bit says whether a type's hash is the bucket reported; the hash functions of `local_hashing` make
these bits just as independent.

Two reconstructions of the counts from the same reports:

* ``standard``: (sum of bits - N q)/(p - q), the papers' estimate;
* ``known_total`` (default): the same, shifted so that the counts sum to the N users: equally private
  and unbiased, never worse.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.arguments import check_choice
from ldp_core.mechanisms.base import (
    Estimate,
    Reports,
    below,
    check_counts,
    check_reports,
    check_rows,
    check_values,
    runs,
)
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism, direct_channel
from ldp_core.mechanisms.moments import TYPES, Contributions, Ends, Rows, as_rows
from ldp_core.people import Counts
from ldp_core.privacy import STEP, check_epsilon, exp_epsilon, probability_within
from ldp_core.wording import significant

RECONSTRUCTIONS = ("known_total", "standard")
BITS_AT_ONCE = 2**24


class UnaryMechanism(ExchangeableMechanism):
    """Common part of unary encodings and local hashing, given p and q."""

    bits_mean = "There is one bit for each type, in the same order."

    def __init__(self, n: int, epsilon: float, p: float, q: float, reconstruction: str):
        super().__init__(n, epsilon, {"reconstruction": reconstruction})
        self.reconstruction = check_choice("reconstruction", reconstruction, RECONSTRUCTIONS)
        self.p, self.q = p, q
        self.both_own, self.both_other = p * q, q * q

    @property
    def bit_chances(self) -> LinearOperator:
        """(n, n) the probability that each bit is 1."""
        return direct_channel(self.n, self.p, self.q)

    # --- reconstruction -----------------------------------------------------------------------------------------

    def _likelihoods(self) -> tuple[float, float]:
        """Relative probability of a report for a type whose bit is 1, and for one whose bit is 0."""
        return self.p / self.q, (1 - self.p) / (1 - self.q)

    @cached_property
    def _gap(self) -> float:
        """A = M_ii - M_ij = (a - b)^2 E[...]: half the mean of (Q_yi - Q_yj)^2 / d_y, over bits i and j that differ."""
        from scipy.stats import binom  # only where it is used: to load it takes a third of the start

        a, b = self._likelihoods()
        others = np.arange(self.n - 1)
        row_sum = (others + 1) * a + (self.n - 1 - others) * b
        chance = binom.pmf(others, self.n - 2, self.q) * self.q * (1 - self.q)
        return float((a - b) ** 2 * np.sum(chance / row_sum))

    def _moments(self) -> tuple[float, float, float, float]:
        if self.reconstruction == "standard":
            return super()._moments()
        # Cov = c I + (a - c) e_u e_u', centred on both sides by I - 11'/n.
        a, _, c, _ = super()._moments()
        n = self.n
        return (
            c * (1 - 1 / n) + (a - c) * (1 - 1 / n) ** 2,
            -c / n - (a - c) * (1 - 1 / n) / n,
            c * (1 - 1 / n) + (a - c) / n**2,
            -c / n + (a - c) / n**2,
        )

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts by the chosen reconstruction."""
        check_reports(reports, self.digest)
        counts = (reports.arrays[0] - reports.users * self.q) / (self.p - self.q)
        if self.reconstruction == "known_total":
            counts = counts + (reports.users - counts.sum()) / self.n
        return Estimate(counts, unbiased=True)

    def _weights_of_bits(self, rows: np.ndarray) -> np.ndarray:
        """(q, n) what each bit adds to the answers ``rows`` when it is 1."""
        shift = rows.mean(axis=1, keepdims=True) if self.reconstruction == "known_total" else 0.0
        return (rows - shift) / (self.p - self.q)

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        weights = self._weights_of_bits(rows.rows)
        fixed = rows.rows.sum(axis=1) / (self.n if self.reconstruction == "known_total" else 1)
        if self.reconstruction == "standard":
            fixed = -self.q * weights.sum(axis=1)
        low, high = np.minimum(weights, 0).sum(axis=1), np.maximum(weights, 0).sum(axis=1)
        return Ends(fixed + low, fixed + high, np.count_nonzero(weights, axis=1) == 1)

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q of all 2^n outputs, whatever the reconstruction: A I + B 11' with M 1 = 1."""
        return self._gap * np.eye(self.n) + (1 - self._gap) / self.n

    # --- reports ------------------------------------------------------------------------------------------------

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Two binomials per type. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        users = int(counts.sum())
        return Reports(self.digest, users, rng.binomial(counts, self.p) + rng.binomial(users - counts, self.q))

    @property
    def outcomes(self) -> float:
        """Vectors of bits, up to 2^63 of them."""
        return 2 ** min(self.n, 63)

    def written_out(self) -> np.ndarray:
        """(2^n, n) probabilities of `all_bits`."""
        bits = all_bits(self.n)
        base = np.prod(np.where(bits, self.q, 1 - self.q), axis=1)
        return base[:, None] * np.where(bits, *self._likelihoods())


def all_bits(n: int) -> np.ndarray:
    """(2^n, n) every vector of bits, in binary order with type 0 in the highest bit."""
    return np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1


class UnaryEncoding(UnaryMechanism):
    """RAPPOR's symmetric encoding, p = 1 - q = e^(eps/2)/(1 + e^(eps/2)) (Erlingsson et al. 2014), and OUE, p = 1/2,
    q = 1/(e^eps + 1), which has the least variance for rare types (Wang et al. 2017)."""

    _decisive = "ratio p(1 - q)/(q(1 - p)) of the two bits where types differ"

    def __init__(self, name: str, n: int, epsilon: float, reconstruction: str = "known_total"):
        E = exp_epsilon(check_epsilon(epsilon))
        p, q = (0.5, math.ceil(1 / (E + 1) / STEP) * STEP) if name == "oue" else _symmetric(E)
        self.name = name
        super().__init__(n, epsilon, p, q, reconstruction)

    @property
    def bits_per_report(self) -> float:
        return float(self.n)

    def contributions(self, rows: Rows | np.ndarray, columns: Any = TYPES) -> Contributions:
        """As for the others; the n bits of a report are independent parts, each with a weight of its own."""
        contributed, weights = super().contributions(rows), self._weights_of_bits(as_rows(rows).rows)
        # A bit exceeds its mean by at most 1 - q, and falls short of it by at most p.
        largest, smallest = np.maximum(weights.max(axis=1), 0), np.maximum(-weights.min(axis=1), 0)
        up = np.maximum((1 - self.q) * largest, self.p * smallest)
        down = np.maximum(self.p * largest, (1 - self.q) * smallest)
        return replace(contributed, up=up, down=down, parts=self.n)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, n) bits. Simulation only: a client needs a secure random source."""
        values = check_values(values, self.n, rng)
        bits = np.empty((values.size, self.n), dtype=bool)
        for some in runs(values.size, BITS_AT_ONCE // self.n):
            bits[some] = coins(bits[some].shape, self.q, rng)
        bits[np.arange(values.size), values] = rng.random(values.size) < self.p
        return bits

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return below(rows, 2)

    def aggregate(self, raw: np.ndarray) -> Reports:
        raw = check_rows(raw, self.n, f"{self.n} bits")
        parts = (raw[some] for some in runs(len(raw), BITS_AT_ONCE // self.n))
        if raw.dtype != bool and not all(((part == 0) | (part == 1)).all() for part in parts):
            raise ValueError(f"Each report must hold {self.n} bits: zeros and ones.")
        return Reports(self.digest, raw.shape[0], column_sums(raw.astype(bool, copy=False)))

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        # Two types differ in two bits, so the largest ratio is that of both bits speaking for one of them.
        p, q = Fraction(self.p), Fraction(self.q)
        return p / q, (1 - p) / (1 - q)

    def explain(self) -> str:
        return (
            f"Each person sends {self.n:,} bits, one per type: the bit of their own type is 1 with probability {significant(self.p)}, "
            f"every other bit with probability {significant(self.q)}."
        )


def coins(shape: tuple[int, ...], chance: float, rng: np.random.Generator) -> np.ndarray:
    """Booleans of this ``shape``, true with probability ``chance`` each, to 2^-53 of a 256th. Simulation only.

    A random byte decides but for one value in 256, where a number follows: an eighth of the work of a number each.
    """
    whole, rest = divmod(chance * 256, 1.0)
    bytes_ = rng.integers(0, 256, size=shape, dtype=np.uint8)
    heads = bytes_ < whole
    open_ = np.nonzero(bytes_ == whole)
    heads[open_] = rng.random(len(open_[0])) < rest
    return heads


def column_sums(bits: np.ndarray) -> np.ndarray:
    """(n,) sums of (users, n) booleans, 255 rows at a time as bytes."""
    sums, bytes_ = np.zeros(bits.shape[1], dtype=np.int64), np.ascontiguousarray(bits).view(np.uint8)
    for some in runs(len(bits), 255):
        sums += np.add.reduce(bytes_[some], axis=0, dtype=np.uint8)
    return sums


def _symmetric(E: float) -> tuple[float, float]:
    """p and q = 1 - p with (p/q)^2 at most E."""
    p = probability_within(1 - 1 / (1 + math.sqrt(E)), lambda p: (p / (1 - p)) ** 2, E)
    return p, 1 - p
