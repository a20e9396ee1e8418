"""Optimised local hashing: each person's own hash function, and the bucket into which it puts the true type."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ldp_core.mechanisms.base import Reports, below, check_rows, check_values, runs
from ldp_core.mechanisms.unary import BITS_AT_ONCE, UnaryMechanism, column_sums
from ldp_core.privacy import check_epsilon, exp_epsilon, probability_within
from ldp_core.wording import significant


class LocalHashing(UnaryMechanism):
    """OLH: hash the types into g = round(e^eps + 1) buckets by a hash function drawn for each user, report the hash
    function, and the bucket by randomized response (Wang et al. 2017).

    The hash of type x is (b + sum of a_i over the binary digits i of x that are 1) mod g, with b
    and the a_i uniform. Two or three types hash independently and uniformly, for any g: differences
    of types have digits in {-1, 0, 1}, units modulo every g, and those of three types are linearly
    independent modulo every prime. Collisions therefore have probability exactly 1/g, and all means
    and covariances are those of independent bits. A keyed mixing of x is added on top, so that
    larger groups of types behave as if independent too.
    """

    name = "olh"
    bits_mean = "The bit of a type is 1 if its hash is the bucket that was reported."

    def __init__(self, n: int, epsilon: float, reconstruction: str = "known_total"):
        E = exp_epsilon(check_epsilon(epsilon))
        self.buckets = max(2, round(E + 1))
        self.digits = max(1, math.ceil(math.log2(n))) if n >= 2 else 1
        others = self.buckets - 1
        self.keep = probability_within(E / (E + others), lambda p: p * others / (1 - p), E)
        self._decisive = f"randomized response on {self.buckets} buckets, for every hash function"
        super().__init__(n, epsilon, self.keep, 1 / self.buckets, reconstruction)

    @property
    def bits_per_report(self) -> float:
        """A 64-bit key, one coefficient per binary digit, the offset and the bucket."""
        return float(64 + math.ceil((self.digits + 2) * math.log2(self.buckets)))

    def _digits_of(self, types: np.ndarray) -> np.ndarray:
        return types[:, None] >> np.arange(self.digits) & 1

    def _keyed(self, keys: np.ndarray, types: np.ndarray) -> np.ndarray:
        """Buckets by key alone; the two arguments broadcast."""
        with np.errstate(over="ignore"):
            steps = keys + types.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return (_mix(steps) % np.uint64(self.buckets)).astype(np.int64)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, digits + 3) uint64: key, coefficients, offset, reported bucket. Simulation only: a client needs a secure
        random source."""
        values = check_values(values, self.n, rng)
        keys = rng.integers(2**64, size=values.size, dtype=np.uint64)
        coefficients = rng.integers(self.buckets, size=(values.size, self.digits))
        offset = rng.integers(self.buckets, size=values.size)
        buckets = (coefficients * self._digits_of(values)).sum(axis=1) + self._keyed(keys, values) + offset
        kept = rng.random(values.size) < self.keep
        shift = np.where(kept, 0, rng.integers(1, self.buckets, size=values.size))
        columns = [keys[:, None], coefficients, offset[:, None], ((buckets + shift) % self.buckets)[:, None]]
        return np.hstack([column.astype(np.uint64) for column in columns])

    @property
    def outcomes(self) -> float:
        return math.inf

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return below(rows[:, 1:], self.buckets)

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Decodes every report against every type: O(users x n)."""
        what = f"{self.digits + 3} numbers (key, coefficients, offset, bucket) as uint64"
        raw = check_rows(raw, self.digits + 3, what)
        if raw.dtype != np.uint64:
            raise ValueError(f"Each report must hold {what}, not as {raw.dtype}.")
        if raw.size and raw[:, 1:].max() >= self.buckets:
            raise ValueError(f"Coefficients, offsets and buckets run from 0 to {self.buckets - 1}.")
        data = np.zeros(self.n, dtype=np.int64)
        types = np.arange(self.n)
        for some in runs(len(raw), BITS_AT_ONCE // self.n):
            small = raw[some, 1:].astype(np.int64)
            hashed = small[:, :-2] @ self._digits_of(types).T + small[:, -2:-1] + self._keyed(raw[some, :1], types)
            data += column_sums(hashed % self.buckets == small[:, -1:])
        return Reports(self.digest, len(raw), data)

    def _two_probabilities(self) -> tuple[Fraction, Fraction]:
        # A given hash function sends the bucket by randomized response: p against (1 - p)/(g - 1).
        keep = Fraction(self.keep)
        return keep, (1 - keep) / (self.buckets - 1)

    @property
    def strategy(self) -> None:
        """None: an output is a hash function and a bucket, far too many to write out."""
        return None

    def explain(self) -> str:
        return (
            f"Each person draws a hash function that sorts the {self.n:,} types into {self.buckets} buckets, and "
            f"reports it with a bucket. It is that of their type with probability {significant(self.keep)}, otherwise any other bucket. Decoding compares "
            "every report with every type, so it suits small domains."
        )


def _mix(z: np.ndarray) -> np.ndarray:
    """A bijective 64-bit mixing function (the finaliser of SplitMix64, Steele et al. 2014); wraps around by design."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
