"""Mechanisms over binary attributes whose outputs are the XOR translations of a few two-valued rows.

Output (k, z) has the probability ``share_k v_k(u ^ z) / 1'v_k`` for a user of type u, with base rows ``v_k`` in {1, E}^n: a set
of types, moved by z, and a report e^epsilon times as likely for types inside it as for those outside. Nothing of size n x n is
needed, since everything is diagonal in the characters S of Z_2^d. With ``hat`` for the Walsh-Hadamard transform, the information
matrix has the eigenvalues ``m_S = sum_k share_k hat v_k(S)^2 / (1'v_k)^2``, and the optimal unbiased reconstruction
(McKenna et al. 2020, Theorem 3.10) adds ``hat v_k(S) chi_S(z) / (1'v_k m_S)`` to the transform of the counts at S.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
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
    check_rows,
    check_values,
)
from ldp_core.people import Counts
from ldp_core.privacy import in_steps, log_ratio, odds, probability_within
from ldp_core.workloads import DENSE_TYPES, Workload, walsh_hadamard

# Characters with a smaller eigenvalue of M are not identified.
LEAST_EIGENVALUE = 1e-13
# Users drawn at once, and outcomes of one multinomial draw.
USERS_AT_ONCE, CELLS_AT_ONCE = 2**20, 2**22


class OrbitMechanism(FromCovariance):
    """Base rows ``high`` (b, n) of booleans, none of them constant, and the probabilities ``shares`` (b,) of their orbits.

    n is a power of two, the types being records of binary attributes. Raises ValueError for anything else.
    """

    def __init__(
        self,
        name: str,
        high: np.ndarray,
        shares: np.ndarray,
        epsilon: float,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        self.high, self.shares = np.array(high, dtype=bool), np.array(shares, dtype=float)
        if self.high.ndim != 2 or self.high.shape[1] < 2 or self.high.shape[1] & (self.high.shape[1] - 1):
            raise ValueError(f"Base rows need a power of two of types; got an array of shape {self.high.shape}.")
        if not (self.high.any(axis=1) & ~self.high.all(axis=1)).all():
            raise ValueError("Every base row must have high and low types: others say nothing about the user.")
        if self.shares.shape != (len(self.high),) or not (self.shares > 0).all() or abs(self.shares.sum() - 1) > 1e-9:
            raise ValueError(f"The {len(self.high):,} base rows need one positive probability each, summing to 1.")
        self.shares = in_steps(self.shares)
        self.name = name
        super().__init__(self.high.shape[1], epsilon, parameters or {}, explanation)
        self._ratio = odds(self.epsilon)
        self._sizes = self.high.sum(axis=1)
        self._masses = self.n + (self._ratio - 1) * self._sizes

    def _content(self) -> bytes:
        return np.packbits(self.high).tobytes() + self.shares.tobytes()

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number base rows and translations."""
        return float(math.ceil(math.log2(len(self.high) * self.n)))

    def _spectra(self) -> Iterator[tuple[float, np.ndarray]]:
        """Each base row's share, and the transform (n,) of the row scaled to sum 1 (one at a time: b x n can be large)."""
        for row, share, mass in zip(self.high, self.shares, self._masses, strict=True):
            yield share, walsh_hadamard(np.where(row, self._ratio, 1.0)) / mass

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """(n,) of the information matrix, by character."""
        return sum((share * spectrum**2 for share, spectrum in self._spectra()), np.zeros(self.n))

    @cached_property
    def _inverse(self) -> np.ndarray:
        """(n,) 1/m, and 0 for characters that are not identified."""
        m = self.eigenvalues
        return np.divide(1.0, m, out=np.zeros(self.n), where=m > LEAST_EIGENVALUE)

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q."""
        self._check_dense()
        types = np.arange(self.n)
        return (walsh_hadamard(self.eigenvalues) / self.n)[types[:, None] ^ types]

    def supports(self, workload: Workload) -> str | None:
        """None, or why the workload cannot be answered: see `_lost`, and on many types it must be symmetric as well."""
        if workload.n == self.n > DENSE_TYPES and workload.symmetry not in ("hamming", "exchangeable"):
            return (
                f"On {self.n:,} types this mechanism answers workloads over binary attributes only, such as marginals "
                "and parities."
            )
        return super().supports(workload)

    def _lost(self, workload: Workload) -> float:
        """The queries of a workload must lie in the span of the characters identified."""
        symmetric = workload.symmetry in ("hamming", "exchangeable")
        by_character = np.abs(_spectrum(workload)) if symmetric else _by_characters(workload)
        return float(by_character[self._inverse == 0].sum())

    def profile_of(self, workload: Workload) -> np.ndarray:
        """The same for all types where the workload does not change under translations, ``sum_S gamma_S / (n m_S) - G_uu``."""
        if workload.symmetry in ("hamming", "exchangeable"):
            return np.full(self.n, _spectrum(workload) @ self._inverse / self.n) - workload.gram_diag
        transformed = walsh_hadamard(walsh_hadamard(workload.gram_dense()).T)
        types = np.arange(self.n)
        by_difference = np.bincount(
            (types[:, None] ^ types).ravel(), (transformed * self._pairs()).ravel(), minlength=self.n
        )
        return walsh_hadamard(by_difference) / self.n**2 - workload.gram_diag

    def _pairs(self) -> np.ndarray:
        """(n, n) A: one user of type u has the second moments ``chi_(S^T)(u) A(S, T)`` of estimated transforms."""
        self._check_dense()
        types = np.arange(self.n)
        difference = types[:, None] ^ types
        A = np.zeros((self.n, self.n))
        for share, spectrum in self._spectra():
            A += (share * spectrum)[:, None] * spectrum * spectrum[difference]
        return A * self._inverse[:, None] * self._inverse

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        counts = np.asarray(counts, dtype=float)
        types = np.arange(self.n)
        moments = walsh_hadamard(counts)[types[:, None] ^ types] * self._pairs()
        return walsh_hadamard(walsh_hadamard(moments).T) / self.n**2 - np.diag(counts)

    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(q,) exact variance of ``rows`` (q, n) times the estimated counts: every output's probability times the square of
        what it adds, less the squared mean; n log n operations per row and base row."""
        counts = np.asarray(counts, dtype=float)
        weighted, transformed = walsh_hadamard(rows) * self._inverse, walsh_hadamard(counts)
        second = np.zeros(len(rows))
        for share, spectrum in self._spectra():
            sent = share * walsh_hadamard(spectrum * transformed) / self.n
            second += walsh_hadamard(weighted * spectrum) ** 2 @ sent / self.n**2
        return second - np.square(rows) @ counts

    def contributions(self, rows: np.ndarray) -> Contributions:
        """What a report adds to ``rows`` (q, n) times the estimated counts; three transforms per row and base row."""
        weighted, second, lows, highs = walsh_hadamard(rows) * self._inverse, np.zeros(rows.shape), [], []
        for share, spectrum in self._spectra():
            values = walsh_hadamard(weighted * spectrum) / self.n
            second += share * walsh_hadamard(spectrum * walsh_hadamard(values**2)) / self.n
            lows.append(values.min(axis=1))
            highs.append(values.max(axis=1))
        variances = np.maximum(second - np.square(rows), 0.0)
        return Contributions.between(rows, variances, np.min(lows, axis=0), np.max(highs, axis=0))

    def _check_dense(self) -> None:
        if self.n > DENSE_TYPES:
            raise ValueError(f"Matrices of {self.n:,} types are too large; at most {DENSE_TYPES:,} are formed.")

    @cached_property
    def true_probability(self) -> np.ndarray:
        """(b,) probability with which a translation of a base row holds the true type among its high ones."""
        wanted = self._ratio * self._sizes / self._masses
        return np.array([self._within(p, int(size)) for p, size in zip(wanted, self._sizes, strict=True)])

    def _within(self, wanted: float, size: int) -> float:
        others = self.n - size
        return probability_within(wanted, lambda p: p * others / ((1 - p) * size), self._ratio)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 2) base row and translation. For simulation only: a client needs a secure random source."""
        values = check_values(values, self.n)
        raw = np.empty((values.size, 2), dtype=np.int64)
        raw[:, 0] = rng.choice(len(self.shares), values.size, p=self.shares)
        inside = rng.random(values.size) < self.true_probability[raw[:, 0]]
        order = np.argsort(raw[:, 0], kind="stable")
        for k, users in zip(*_groups(raw[order, 0], order), strict=True):
            members, others = np.flatnonzero(self.high[k]), np.flatnonzero(~self.high[k])
            for chosen, places in ((users[inside[users]], members), (users[~inside[users]], others)):
                raw[chosen, 1] = values[chosen] ^ places[rng.integers(len(places), size=len(chosen))]
        return raw

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports (b, n): how often each base row was sent with each translation."""
        raw = check_rows(raw, 2, "a base row and a translation")
        rows, moves = check_values(raw[:, 0], len(self.high)), check_values(raw[:, 1], self.n)
        tally = np.bincount(rows * self.n + moves, minlength=len(self.high) * self.n)
        return Reports(self.digest, len(raw), tally.reshape(len(self.high), self.n))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of ``counts`` (n,) users: user by user while they are few, else one multinomial per type and base row. For
        simulation only."""
        counts = check_counts(counts, self.n)
        users = int(counts.sum())
        if users <= len(self.high) * self.n * np.count_nonzero(counts):
            return self._simulated_users(counts, rng)
        tally = np.zeros(self.high.shape, dtype=np.int64)
        types = np.arange(self.n)
        for u in np.flatnonzero(counts):
            rows = rng.multinomial(counts[u], self.shares)
            for start in range(0, len(rows), max(1, CELLS_AT_ONCE // self.n)):
                part = slice(start, start + max(1, CELLS_AT_ONCE // self.n))
                probabilities = np.where(self.high[part][:, types ^ u], self._ratio, 1.0) / self._masses[part, None]
                tally[part] += rng.multinomial(rows[part], probabilities)
        return Reports(self.digest, users, tally)

    def _simulated_users(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """User by user. For simulation only."""
        values = np.repeat(np.arange(self.n), counts)
        tally = np.zeros(self.high.shape, dtype=np.int64)
        for start in range(0, len(values), USERS_AT_ONCE):
            tally += self.aggregate(self.privatize(values[start : start + USERS_AT_ONCE], rng)).arrays[0]
        return Reports(self.digest, len(values), tally)

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts on supported workloads, one transform per base row."""
        check_reports(reports, self.digest)
        total = np.zeros(self.n)
        for (_, spectrum), sent in zip(self._spectra(), reports.arrays[0], strict=True):
            if sent.any():
                total += spectrum * walsh_hadamard(sent)
        counts = walsh_hadamard(total * self._inverse) / self.n
        return Estimate(counts, unbiased=True, identified=bool((self._inverse > 0).all()))

    @property
    def channel(self) -> LinearOperator:
        """(b n, n) Q, its rows ordered as `tally`."""
        shape = (len(self.high) * self.n, self.n)

        def forward(x: np.ndarray) -> np.ndarray:
            transformed = walsh_hadamard(np.ravel(x))
            sent = [share * walsh_hadamard(spectrum * transformed) for share, spectrum in self._spectra()]
            return np.concatenate(sent) / self.n

        def backward(y: np.ndarray) -> np.ndarray:
            parts = np.reshape(y, self.high.shape)
            total = sum(
                share * spectrum * walsh_hadamard(part)
                for (share, spectrum), part in zip(self._spectra(), parts, strict=True)
            )
            return walsh_hadamard(total) / self.n

        return LinearOperator(shape, matvec=forward, rmatvec=backward, dtype=float)

    def audit(self) -> Audit:
        """From the two probabilities of each base row, as users draw and as tallies are drawn: translations have the same."""
        ratios = [
            max(Fraction(p) * (self.n - k) / ((1 - Fraction(p)) * k), Fraction(self._ratio / mass) / Fraction(1 / mass))
            for p, k, mass in zip(
                self.true_probability.tolist(), self._sizes.tolist(), self._masses.tolist(), strict=True
            )
        ]
        worst = max(range(len(ratios)), key=ratios.__getitem__)
        pair = (int(self.high[worst].argmax()), int(self.high[worst].argmin()))
        method = f"exact: the two probabilities of each of {len(self.high):,} base rows, which its translations share"
        return Audit(log_ratio(ratios[worst], Fraction(1)), 0.0, method, pair)


def _groups(labels: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Different sorted ``labels`` and the ``members`` that each of them labels."""
    different, first = np.unique(labels, return_index=True)
    return different, np.split(members, first[1:])


def _spectrum(workload: Workload) -> np.ndarray:
    """(n,) eigenvalues of a G that does not change under translations."""
    return walsh_hadamard(workload.gram_column)


def _by_characters(workload: Workload) -> np.ndarray:
    """(n,) chi_S'G chi_S / n."""
    return walsh_hadamard(walsh_hadamard(workload.gram_dense()).T).diagonal() / workload.n
