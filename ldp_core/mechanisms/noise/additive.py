"""Mechanisms that send a vector plus noise: the sum of all reports estimates the sum of all vectors.

A user of type u holds the column a_u of A (k, n). With S the sum of the N reports, P = I - 11'/n and the known N, the
estimated counts are ``P (A P)^+ (S - A 1 N/n) + 1 N/n``: least squares, exactly unbiased for every workload if A distinguishes
the types that it does. Its covariance is ``(P A'A P)^+`` times the variance of the noise.

Sources: Edmonds, Nikolov and Ullman 2020 (matrix mechanism in the local model); Balle and Wang 2018 (Gaussian noise).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.mechanisms.base import (
    FLOATING_POINT,
    Audit,
    Estimate,
    Mechanism,
    Reports,
    check_counts,
    check_reports,
    check_rows,
    check_values,
)
from ldp_core.mechanisms.moments import EVERYBODY, TYPES, Moments, QuadraticForm, traced
from ldp_core.mechanisms.noise.gaussian_privacy import check_delta, exact_delta
from ldp_core.mechanisms.noise.vectors import centred, centred_inverse, diameter
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.people import Counts
from ldp_core.wording import significant
from ldp_core.workloads import Workload

# Diameters computed in two ways differ by a few units in the last place; noise is made that much larger.
ROUNDING = 1 + 1e-12
# Characteristic functions are summed at so many frequencies, so far apart: see `LaplaceNoise.reach` for what that costs.
_FREQUENCIES = 2000
_STEP = 0.1


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of ``scale`` b: pure privacy of (L1 diameter)/b."""

    scale: float

    @property
    def variance(self) -> float:
        return 2 * self.scale**2

    @property
    def in_words(self) -> str:
        return f"Laplace noise of scale {significant(self.scale)}"

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        """Noise in floating point. Simulation only."""
        return rng.laplace(scale=self.scale, size=shape)

    def draw_sum(self, users: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """(size,) sum over the users: a Laplace variable is a difference of exponentials, so their
        sum is one of Gammas. Simulation only."""
        return self.scale * (rng.standard_gamma(users, size) - rng.standard_gamma(users, size))

    def reach(self, weights: np.ndarray, users: float, tail: float) -> np.ndarray:
        """(q,) the value that ``weights`` (q, size) times the sum over the users exceeds with a
        probability of ``tail``.

        From the characteristic function prod_k (1 + (scale w_k t)^2)^-users, in units of the
        standard deviation (Gil-Pelaez 1951): P(X > x) = 1/2 - (1/pi) int_0^inf sin(x t)/t phi(t)
        dt. The trapezoidal rule misses the probability beyond 2 pi/step = 63 standard deviations,
        and cutting it off costs 1e-7.
        """
        spread = np.sqrt(users * self.variance * np.sum(weights**2, axis=1))
        known = spread == 0
        # The function of many variables has fallen to nothing by a tenth of the frequencies.
        t = np.arange(1, (_FREQUENCIES if users < 100 else _FREQUENCIES // 10) + 1) * _STEP
        # Halves of the shares of the variance.
        halves = users * self.scale**2 * weights**2 / np.where(known, 1.0, spread**2)[:, None]
        phi = np.array([np.exp(-users * np.log1p(np.outer(t**2 / max(users, 1), row)).sum(axis=1)) for row in halves])
        low, high = np.zeros(len(weights)), np.full(len(weights), 60.0)
        for _ in range(50):
            x = (low + high) / 2
            above = 0.5 - _STEP / np.pi * (x / 2 + np.sum(np.sin(np.outer(x, t)) / t * phi.reshape(-1, t.size), axis=1))
            low, high = np.where(above > tail, x, low), np.where(above > tail, high, x)
        return np.where(known, 0.0, high * spread)

    def audit(self, vectors: np.ndarray, epsilon: float) -> Audit:
        distance, pair = diameter(vectors, "l1")
        method = "in real numbers: largest L1 distance of two types over the scale"
        return Audit(distance / self.scale, 0.0, method, pair)


@dataclass(frozen=True)
class GaussianNoise:
    """Normal noise with standard deviation ``scale``: (epsilon, delta) by Balle and Wang 2018, Theorem 8."""

    scale: float

    @property
    def variance(self) -> float:
        return self.scale**2

    @property
    def in_words(self) -> str:
        return f"Gaussian noise of standard deviation {significant(self.scale)}"

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
        """Noise in floating point. Simulation only."""
        return rng.normal(scale=self.scale, size=shape)

    def draw_sum(self, users: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """(size,) sum over the users. Simulation only."""
        return rng.normal(scale=math.sqrt(users) * self.scale, size=size)

    def reach(self, weights: np.ndarray, users: float, tail: float) -> np.ndarray:
        """(q,) what ``weights`` (q, size) times the sum over the users exceeds with a probability of ``tail``."""
        return -ndtri(tail) * np.sqrt(users * self.variance * np.sum(weights**2, axis=1))

    def audit(self, vectors: np.ndarray, epsilon: float) -> Audit:
        """The smallest delta at ``epsilon``."""
        distance, pair = diameter(vectors, "l2")
        method = "in real numbers: delta of Gaussian noise at the largest L2 distance of two types"
        return Audit(epsilon, exact_delta(epsilon, self.scale, distance), method, pair)


Noise = LaplaceNoise | GaussianNoise
"""Independent noise on each coordinate."""


def too_large(n: int) -> str | None:
    """Why vectors for ``n`` types are not handled, None where they are."""
    if n <= MOST_MATRIX_TYPES:
        return None
    return (
        f"Mechanisms that send vectors invert an n x n matrix, done for at most {MOST_MATRIX_TYPES:,} types; there are {n:,}. Use "
        "coarser bins, or a hierarchical mechanism."
    )


def check_vectors(vectors: np.ndarray) -> np.ndarray:
    """A contiguous float64 copy of the vectors to send (k, n), or a ValueError that says what is wrong with them."""
    A = np.array(vectors, dtype=float, order="C")
    if A.ndim != 2 or A.shape[1] < 2 or not np.all(np.isfinite(A)):
        raise ValueError("The vectors to send must be a finite (k, n) matrix with a column for each of n >= 2 types.")
    if reason := too_large(A.shape[1]):
        raise ValueError(reason)
    # Roots of Gram matrices carry noise of about the square root of the precision.
    if np.abs(centred(A)).max(initial=0.0) <= 1e-7 * np.abs(A).max(initial=0.0):
        raise ValueError(
            "All types have the same answers: there is nothing to learn but the number of users, which is known."
        )
    return A


class VectorMechanism(Mechanism):
    """Common part of all mechanisms whose reports are vectors with mean ``attenuation * a_u``."""

    attenuation = 1.0
    sends_numbers = True

    def __init__(
        self,
        name: str,
        vectors: np.ndarray,
        epsilon: float,
        delta: float,
        parameters: Mapping[str, Any],
        explanation: str,
    ):
        self.name, self.delta = name, float(delta)
        self.vectors = check_vectors(vectors)
        self.vectors.flags.writeable = False
        self.size, types = self.vectors.shape  # k, the numbers in one report
        super().__init__(types, epsilon, parameters, f"{explanation} {FLOATING_POINT}")

    @property
    @abstractmethod
    def hidden_by(self) -> str:
        """How a report hides the vector of its type, in one sentence."""

    def report_table(self) -> ReportTable:
        """The vectors that reports have as their means, up to a factor."""
        return ReportTable("numbers", self.vectors, note=self.hidden_by)

    @property
    def bytes_held(self) -> int:
        """The vectors and their inverse."""
        return 2 * self.vectors.nbytes

    @property
    def bits_per_report(self) -> float:
        """64 bits for each number."""
        return 64.0 * self.size

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray | None]:
        """(P A'A P)^+ and the projector onto the differences that A identifies, None when it identifies all."""
        return centred_inverse(self.vectors)

    @cached_property
    def reconstruction(self) -> np.ndarray:
        """(n, k) P (A P)^+ / attenuation: what a report adds to the estimated counts, up to a constant."""
        return self._inverse[0] @ centred(self.vectors).T / self.attenuation

    def _lost(self, workload: Workload) -> float:
        projector = self._inverse[1]
        return 0.0 if projector is None else float(workload.quadratic(centred(np.eye(self.n)) - projector).sum())

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports from vectors (users, k): their sum."""
        raw = check_rows(np.asarray(raw, dtype=float), self.size, f"{self.size} finite numbers")
        if not np.all(np.isfinite(raw)):
            raise ValueError(f"Each report must hold {self.size} finite numbers, without infinity or nan.")
        return Reports(self.digest, raw.shape[0], raw.sum(axis=0))

    def estimate(self, reports: Reports) -> Estimate:
        """Unbiased counts, linear in the sum of all reports; of least variance among these where noise is added."""
        check_reports(reports, self.digest)
        known = reports.users / self.n  # of each type, before anything was reported
        expected = self.attenuation * known * self.vectors.sum(axis=1)
        counts = self.reconstruction @ (reports.arrays[0] - expected) + known
        return Estimate(counts, unbiased=True, identified=self._inverse[1] is None)


class AdditiveMechanism(VectorMechanism):
    """Sends the column of ``vectors`` (k, n) of the user's own type plus ``noise``. ValueError for vectors of no use.

    ``delta`` and ``epsilon`` are what was asked for; `audit` says what the noise delivers.
    """

    def __init__(
        self,
        name: str,
        vectors: np.ndarray,
        noise: Noise,
        epsilon: float,
        delta: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        super().__init__(name, vectors, epsilon, check_delta(delta) if delta else 0.0, parameters or {}, explanation)
        self.noise = noise

    @property
    def hidden_by(self) -> str:
        return f"{self.noise.in_words} is added to each number."

    def _identity(self) -> dict[str, Any]:
        return {**self.parameters, "delta": self.delta}

    def _content(self) -> bytes:
        return repr(self.noise).encode() + self.vectors.tobytes()

    def central_moments(self, questions: QuadraticForm, columns: Any = TYPES) -> Moments:
        """The same for all types: variance of the noise times tr(PGP (P A'A P)^+)."""
        return [(EVERYBODY, self.noise.variance * traced(questions, self._inverse[0]))]

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts; only the number of users matters."""
        return float(np.sum(counts)) * self.noise.variance * self._inverse[0]

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, k) vectors plus noise. Simulation only: a client needs a secure random source, and noise that is not in
        floating point."""
        values = check_values(values, self.n, rng)
        return self.vectors.T[values] + self.noise.draw((values.size, self.size), rng)

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of ``counts`` (n,) users, with the noise of all users drawn at once. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        users = int(counts.sum())
        return Reports(self.digest, users, self.vectors @ counts + self.noise.draw_sum(users, self.size, rng))

    def audit(self) -> Audit:
        """The guarantee of the noise for the two types whose vectors are farthest apart."""
        return self.noise.audit(self.vectors, self.epsilon)
