"""Mechanisms over binary attributes whose outputs are the XOR translations of a few two-valued rows.

Output (k, z) has the probability ``share_k v_k(u ^ z) / 1'v_k`` for a user of type u, with base rows ``v_k`` in {1, E}^n: a set
of types, moved by z, and a report e^epsilon times as likely for types inside it as for those
outside. No matrix of size n x n is needed, since everything is diagonal in the characters S of
Z_2^d. With ``hat`` for the Walsh-Hadamard transform, the information
matrix has the eigenvalues ``m_S = sum_k share_k hat v_k(S)^2 / (1'v_k)^2``, and the optimal unbiased reconstruction
(McKenna et al. 2020, Theorem 3.10) adds ``hat v_k(S) chi_S(z) / (1'v_k m_S)`` to the transform of the counts at S.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.mechanisms.base import Estimate, Reports, check_reports
from ldp_core.mechanisms.translated import Translated
from ldp_core.workloads import Workload, walsh_hadamard

# Characters with a smaller eigenvalue of M are not identified.
LEAST_EIGENVALUE = 1e-13


class OrbitMechanism(Translated):
    """Base rows ``high`` (b, n) of booleans, none of them constant, and the probabilities ``shares`` (b,) of their orbits.

    n is a power of two, the types being records of binary attributes. Raises ValueError for anything else.
    """

    moved = "flipped"

    def __init__(
        self,
        name: str,
        high: np.ndarray,
        shares: np.ndarray,
        epsilon: float,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        high = np.asarray(high)
        if high.ndim != 2 or high.shape[1] < 2 or high.shape[1] & (high.shape[1] - 1):
            raise ValueError(f"Base rows need a power of two of types; got an array of shape {high.shape}.")
        super().__init__(name, high, shares, high.shape[1], epsilon, parameters, explanation)

    def _place(self, u: int) -> np.ndarray:
        return np.arange(self.n) ^ u

    def _translation(self, places: np.ndarray, values: np.ndarray | int) -> np.ndarray:
        return values ^ places

    def _told_apart(self, row: int) -> tuple[int, int]:
        return int(self.high[row].argmax()), int(self.high[row].argmin())

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
        if workload.n == self.n > MOST_MATRIX_TYPES and workload.symmetry not in ("hamming", "exchangeable"):
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
        counts, pairs = np.asarray(counts, dtype=float), self._pairs()
        types = np.arange(self.n)
        moments = walsh_hadamard(counts)[types[:, None] ^ types] * pairs
        return walsh_hadamard(walsh_hadamard(moments).T) / self.n**2 - np.diag(counts)

    def _added(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        weighted = walsh_hadamard(rows) * self._inverse
        return (walsh_hadamard(weighted * spectrum) / self.n for _, spectrum in self._spectra())

    def _sent_by(self, counts: np.ndarray) -> Iterator[np.ndarray]:
        transformed = walsh_hadamard(counts)
        return (share * walsh_hadamard(spectrum * transformed) / self.n for share, spectrum in self._spectra())

    def _mean_over_outputs(self, row: int, values: np.ndarray) -> np.ndarray:
        spectrum = walsh_hadamard(np.where(self.high[row], self._ratio, 1.0)) / self._masses[row]
        return self.shares[row] * walsh_hadamard(spectrum * walsh_hadamard(values)) / self.n

    def _check_dense(self) -> None:
        if self.n > MOST_MATRIX_TYPES:
            raise ValueError(f"Matrices of {self.n:,} types are too large; at most {MOST_MATRIX_TYPES:,} are formed.")

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


def _spectrum(workload: Workload) -> np.ndarray:
    """(n,) eigenvalues of a G that does not change under translations."""
    return walsh_hadamard(workload.gram_column)


def _by_characters(workload: Workload) -> np.ndarray:
    """(n,) chi_S'G chi_S / n."""
    return walsh_hadamard(walsh_hadamard(workload.gram_dense()).T).diagonal() / workload.n
