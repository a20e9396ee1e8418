"""Mechanisms along an order whose outputs are the rotations of a few two-valued rows on a ring.

The n types are the first of N >= n places on a ring. Output (k, z) has the probability
``share_k v_k(u + z mod N) / 1'v_k`` for a user of type u, with base rows ``v_k`` in {1, E}^N. Let
``w_kz`` be the sum of the entries of row k in rotation z that types meet. The information matrix is

    M = sum_kz share_k / (1'v_k w_kz) v_kz v_kz',   v_kz the n places that the types meet,

and the optimal unbiased reconstruction (McKenna et al. 2020, Theorem 3.10) adds
``M^-1 v_kz / w_kz`` to the counts. Sums over all rotations are correlations on the ring. The
entries of M of one distance take a transform for every base row, so that nothing larger than n x n
is formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft
from scipy.sparse.linalg import LinearOperator

from ldp_core.definite import inverse_of
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.mechanisms.base import Estimate, Reports, check_reports
from ldp_core.mechanisms.translated import Translated
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

# Base rows whose characters carry less than this are refused: some types could not be distinguished.
LEAST_EIGENVALUE = 1e-13
INDISTINCT = "These base rows cannot tell all types apart: add one with a single high place."
# Entries of transforms taken at once.
AT_ONCE = 2**20


class RingMechanism(Translated):
    """Base rows ``high`` (b, N) of booleans on a ring of N places, none of them constant, the probabilities ``shares`` (b,) of their
    rotations, and ``n`` types, at most N. Raises ValueError for anything else, and where some types could not be distinguished."""

    moved = "rotated"

    def __init__(
        self,
        name: str,
        high: np.ndarray,
        shares: np.ndarray,
        n: int,
        epsilon: float,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        high = np.asarray(high)
        if high.ndim != 2 or not 2 <= n <= min(MOST_MATRIX_TYPES, high.shape[1]):
            raise ValueError(
                f"Rows on a ring need a place for every type, and there may be 2 to {MOST_MATRIX_TYPES:,} types; got rows of shape {high.shape} for "
                f"{n:,} types."
            )
        super().__init__(name, high, shares, n, epsilon, parameters, explanation)
        if characters(self._rows, self.shares).min() < LEAST_EIGENVALUE:
            raise ValueError(INDISTINCT)

    def _place(self, u: int) -> np.ndarray:
        return (np.arange(self._places) + u) % self._places

    def _translation(self, places: np.ndarray, values: np.ndarray | int) -> np.ndarray:
        return (places - values) % self._places

    def _told_apart(self, row: int) -> tuple[int, int]:
        return 0, 1  # somewhere on the ring a high place comes before a low one

    @property
    def bytes_held(self) -> int:
        """The inverse of M."""
        return 8 * self.n**2

    def _content(self) -> bytes:
        return f"{self.n} of {self._places} places".encode() + super()._content()

    @cached_property
    def _rows(self) -> np.ndarray:
        """(b, N) v."""
        return np.where(self.high, self._ratio, 1.0)

    @cached_property
    def _hats(self) -> np.ndarray:
        """(b, N // 2 + 1) transforms of v."""
        return fft.rfft(self._rows)

    @cached_property
    def _met(self) -> np.ndarray:
        """(b, N) w."""
        return window_sums(self._rows, self.n)

    @property
    def _sent(self) -> np.ndarray:
        """(b, 1) the probability of each output for the types that it is low for."""
        return (self.shares / self._masses)[:, None]

    def _by_output(self, x: np.ndarray) -> Iterator[np.ndarray]:
        """``x'v_kz`` of the vectors ``x`` (..., n), as an array (..., N) for each base row."""
        wanted = fft.rfft(x, self._places).conj()
        return (fft.irfft(wanted * hat, self._places) for hat in self._hats)

    def _by_type(self, y: np.ndarray) -> np.ndarray:
        """(n,) ``sum_kz y_kz v_kz`` of ``y`` (b, N)."""
        return fft.irfft((fft.rfft(y).conj() * self._hats).sum(axis=0), self._places)[: self.n]

    def information(self) -> np.ndarray:
        """(n, n) M = Q' D^-1 Q."""
        return second_moments(self._rows, self._sent / self._met, self.n)

    @cached_property
    def _inverse(self) -> np.ndarray:
        """(n, n) M^-1. ValueError where rounding leaves none."""
        if (inverse := inverse_of(self.information())) is None:
            raise ValueError(INDISTINCT)
        return inverse

    def profile_of(self, workload: Workload) -> np.ndarray:
        """sum_y Q_yu R_y'G R_y - G_uu (their Theorem 3.4)."""
        X = workload.apply_gram(self._inverse) @ self._inverse
        worth = quadratic_forms(self._rows, X) / self._met**2
        return self._by_type(self._sent * worth) - workload.gram_diag

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``: R diag(Qx) R' - diag(x)."""
        counts = np.asarray(counts, dtype=float)
        sent = self._sent * np.array(list(self._by_output(counts)))
        moments = second_moments(self._rows, sent / self._met**2, self.n)
        return self._inverse @ moments @ self._inverse - np.diag(counts)

    def _sent_by(self, counts: np.ndarray) -> Iterator[np.ndarray]:
        return (sent * users for sent, users in zip(self._sent, self._by_output(counts), strict=True))

    def _added(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """The contribution r'R_y of the rotations of each base row to ``rows`` (q, n) times the
        estimated counts, as an array (q, N)."""
        return (values / met for values, met in zip(self._by_output(rows @ self._inverse), self._met, strict=True))

    def _mean_over_outputs(self, row: int, values: np.ndarray) -> np.ndarray:
        moved = fft.irfft(fft.rfft(values).conj() * self._hats[row], self._places)[:, : self.n]
        return self._sent[row] * moved

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts: M^-1 times the sum of ``v_kz / w_kz`` over all reports."""
        check_reports(reports, self.digest)
        return Estimate(self._inverse @ self._by_type(reports.arrays[0] / self._met), unbiased=True)

    @property
    def channel(self) -> LinearOperator:
        """(b N, n) Q, its rows ordered as `tally`."""

        def forward(x: np.ndarray) -> np.ndarray:
            return (self._sent * np.array(list(self._by_output(np.ravel(x))))).ravel()

        def backward(y: np.ndarray) -> np.ndarray:
            return self._by_type(self._sent * np.reshape(y, self.high.shape))

        return LinearOperator((self.high.size, self.n), matvec=forward, rmatvec=backward, dtype=float)


def characters(rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(N // 2 + 1,) eigenvalues of M where all places of a ring are types: ``sum_k shares_k |hat v_k|^2 / (1'v_k)^2`` of ``rows`` (b, N)."""
    hats = fft.rfft(rows)
    values: np.ndarray = shares @ np.square(np.abs(hats) / hats[:, :1].real)
    return values


def window_sums(rows: np.ndarray, n: int) -> np.ndarray:
    """(b, N) the sums of every n neighbouring places of ``rows`` (b, N), from each place on."""
    totals = np.cumsum(np.hstack([np.zeros((len(rows), 1)), rows, rows[:, : n - 1]]), axis=1)
    return totals[:, n:] - totals[:, : rows.shape[1]]


def second_moments(rows: np.ndarray, weights: np.ndarray, n: int, check: Check = unchecked) -> np.ndarray:
    """(n, n) ``sum_kz weights_kz v_kz v_kz'`` over all rotations v_kz of ``rows`` (b, N), cut to n places; ``weights`` (b, N)."""
    N, moments = rows.shape[1], np.zeros((n, n))
    wanted = fft.rfft(weights).conj()
    for distances in _distances(n, N):
        check()
        total = sum(_products(row, distances) * hat for row, hat in zip(rows, wanted, strict=True))
        for distance, entries in zip(distances, fft.irfft(total, N), strict=True):
            moments.ravel()[distance :: n + 1][: n - distance] = entries[: n - distance]
    return np.triu(moments) + np.triu(moments, 1).T


def quadratic_forms(rows: np.ndarray, X: np.ndarray, check: Check = unchecked) -> np.ndarray:
    """(b, N) ``v_kz'X v_kz`` for all rotations v_kz of ``rows`` (b, N), cut to the n places of a symmetric ``X`` (n, n)."""
    n, N = len(X), rows.shape[1]
    total, flat = np.zeros((len(rows), N // 2 + 1), dtype=complex), np.ascontiguousarray(X).ravel()
    for distances in _distances(n, N):
        check()
        diagonals = np.zeros((len(distances), n))
        for place, distance in enumerate(distances):
            diagonals[place, : n - distance] = flat[distance :: n + 1][: n - distance] * (2 if distance else 1)
        wanted = fft.rfft(diagonals, N).conj()
        for sums, row in zip(total, rows, strict=True):
            sums += np.einsum("df,df->f", wanted, _products(row, distances))
    return fft.irfft(total, N)


def _distances(n: int, N: int) -> Iterator[range]:
    """The distances between n types in parts for transforms over N places."""
    size = max(1, AT_ONCE // N)
    return (range(start, min(start + size, n)) for start in range(0, n, size))


def _products(row: np.ndarray, distances: range) -> np.ndarray:
    """(d, N // 2 + 1) transforms of ``row`` (N,) times itself rotated by each of the ``distances``."""
    rotated = sliding_window_view(np.concatenate([row, row]), len(row))[distances.start : distances.stop]
    return fft.rfft(row * rotated)
