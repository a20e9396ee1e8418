"""Gaussian vectors kept or dropped by rejection sampling, pure LDP (Bassily 2019, Algorithms 3 and 4, corrected).

A user with the vector a (norm r) draws y ~ N(0, sigma^2 I) and sends it with probability eta(y),
else sends nothing. Let z = y'a/(r sigma) ~ N(0, 1) and rho = r/sigma. Then log(2 eta) = rho z -
rho^2/2 is the log-ratio of the densities of N(a, sigma^2 I) and N(0, sigma^2 I), confined to a band
[-c, c].

* corrected: clipped to c = epsilon/2. The density of every y sent then varies by at most e^epsilon between types, and as
  all vectors have norm r (a coordinate is appended where they do not) all types send nothing equally often.
* paper: outside c = epsilon/4 nothing is sent. As y itself is revealed, one type never sends what another may: not LDP.

The mean of what is sent is ``attenuation * a``, the same attenuation for all types, so dividing by it is exactly unbiased.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from ldp_core import wording
from ldp_core.mechanisms.base import (
    Audit,
    Reports,
    check_counts,
    check_rows,
    check_values,
    everybody,
)
from ldp_core.mechanisms.moments import EVERYBODY, TYPES, Ends, Moments, QuadraticForm, Rows, traced
from ldp_core.mechanisms.noise.additive import VectorMechanism, check_vectors
from ldp_core.mechanisms.noise.vectors import around_centre, diameter
from ldp_core.people import Counts
from ldp_core.privacy import MIN_EPSILON, check_epsilon, exp_epsilon
from ldp_core.workloads import Workload

VARIANTS = ("corrected", "paper")
EPSILON_RANGE = (MIN_EPSILON, 2 * math.log(2))
"""Above 2 log 2 the largest eta, e^(epsilon/2)/2, would not be a probability."""

FARTHEST_DRAW = 9.0
"""Standard deviations that no draw is expected to exceed: one in 4e18 does."""

PAPER_USERS = 10**6
_EQUAL = 1e-7
_CHUNK = 2**20  # users whose draws are held in memory at once


def _density(x: float) -> float:
    """The density of the standard normal distribution."""
    return float(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class Acceptance:
    """eta as a function of z: e^clip(rho z - rho^2/2, -band, band) / 2, or 0 outside the band when ``drops``."""

    rho: float
    band: float
    drops: bool

    def __call__(self, z: np.ndarray) -> np.ndarray:
        log_ratio = self.rho * np.asarray(z) - self.rho**2 / 2
        eta = np.exp(np.clip(log_ratio, -self.band, self.band)) / 2
        return np.where(np.abs(log_ratio) > self.band, 0.0, eta) if self.drops else eta

    @cached_property
    def moments(self) -> np.ndarray:
        """(3,) E[z^j eta(z)] for j = 0, 1, 2. In the band eta times the normal density is half the density of N(rho, 1)."""
        low, high = ((sign * self.band + self.rho**2 / 2) / self.rho for sign in (-1, 1))
        m0, m1, m2 = _normal_moments(low - self.rho, high - self.rho)
        inside = np.array([m0, self.rho * m0 + m1, self.rho**2 * m0 + 2 * self.rho * m1 + m2])
        if not self.drops:
            inside += math.exp(-self.band) * _normal_moments(-math.inf, low)
            inside += math.exp(self.band) * _normal_moments(high, math.inf)
        return inside / 2

    @property
    def variance(self) -> float:
        """Variance of a coordinate across a, per user and in units of r^2, after dividing by the attenuation."""
        return float(self.moments[0] / self.moments[1] ** 2)


def _normal_moments(low: float, high: float) -> np.ndarray:
    """(3,) integrals of z^j phi(z) from ``low`` to ``high``, j = 0, 1, 2."""
    at_low, at_high = _density(low), _density(high)
    mass = ndtr(high) - ndtr(low) if low < 0 else ndtr(-low) - ndtr(-high)
    edges = (low * at_low if math.isfinite(low) else 0.0) - (high * at_high if math.isfinite(high) else 0.0)
    return np.array([mass, at_low - at_high, mass + edges])


def best_rho(epsilon: float) -> float:
    """r/sigma of the least variance for the corrected variant: sigma = 1.17 r at epsilon = 1."""
    band = math.log(exp_epsilon(epsilon)) / 2
    optimum = minimize_scalar(
        lambda log_rho: math.log(Acceptance(math.exp(log_rho), band, False).variance), bounds=(-9, 2), method="bounded"
    )
    return math.exp(optimum.x)


def build(
    workload: Workload, epsilon: float, variant: str = "corrected", users: int | None = None
) -> RejectionMechanism:
    """Rejection sampling on the columns of W, squeezed to its Gram root (the noise is the same in all directions).

    ``variant`` "corrected" is pure epsilon-LDP, takes the best sigma and measures the columns from the centre of the smallest ball
    that holds them. "paper" is the step as printed, with its
    sigma^2 = 4 r^2 log(users)/epsilon^2 (``users`` 10^6 by default), for comparison: `audit` says it is not LDP. The
    appended coordinate is there in both, so that both are unbiased. ValueError for epsilon above 2 log 2.
    """
    epsilon = check_epsilon(epsilon)
    if epsilon > EPSILON_RANGE[1]:
        raise ValueError(
            f"Rejection sampling keeps its promise for epsilon up to 2 log 2 = {EPSILON_RANGE[1]:.3f}; got {epsilon:g}. "
            "Choose a smaller epsilon or another mechanism."
        )
    parameters: dict[str, Any] = {"workload": workload.spec, "variant": variant}
    if variant == "corrected":
        if users is not None:
            raise ValueError("Only the paper's variant depends on the number of users; leave users out.")
        acceptance = Acceptance(best_rho(epsilon), math.log(exp_epsilon(epsilon)) / 2, drops=False)
    else:
        users = PAPER_USERS if users is None else users
        parameters["users"] = int(users)
        acceptance = Acceptance(epsilon / math.sqrt(4 * math.log(users)), epsilon / 4, drops=True)
    columns = check_vectors(workload.gram_root)
    if variant == "corrected":
        columns = around_centre(columns)
    return RejectionMechanism(columns, acceptance, epsilon, parameters)


class SphericalMechanism(VectorMechanism):
    """A report of a user with the vector a has the mean ``attenuation * a`` and the covariance ``across I + along a a'``."""

    @property
    def hidden_by(self) -> str:
        return "What is sent is a random vector whose mean is in proportion to that of the type."

    @property
    @abstractmethod
    def variances(self) -> tuple[float, float]:
        """What is added to the variance of a report in every direction, and along the mean of its type; the second can be negative."""

    @abstractmethod
    def reach(self, weights: np.ndarray) -> np.ndarray:
        """(q,) the largest value that ``weights`` (q, k) times one report can have."""

    def central_moments(self, questions: QuadraticForm, columns: Any = TYPES) -> Moments:
        """An isotropic part, alike for all types, and the part along the user's own vector."""
        across, along = self.variances
        isotropic = across / self.attenuation**2 * traced(questions, self._inverse[0])
        means = self.reconstruction @ self.vectors
        return [(EVERYBODY, isotropic), (TYPES, along * questions.quadratic(means.T))]

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        counts = np.asarray(counts, dtype=float)
        across, along = self.variances
        means = self.reconstruction @ self.vectors
        return counts.sum() * across / self.attenuation**2 * self._inverse[0] + along * (means * counts) @ means.T

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        weights = rows.rows @ self.reconstruction
        reach, expected = self.reach(weights), self.attenuation * weights @ self.vectors
        low = (
            rows.rows.max(axis=1) - expected.max(axis=1) - reach
        )  # the two differ by what does not depend on the report
        return Ends(low, rows.rows.min(axis=1) - expected.min(axis=1) + reach)


class RejectionMechanism(SphericalMechanism):
    """See the module. One report is a vector of k numbers, or nothing (a row of nan); ``Reports.data`` is the sum of the
    vectors sent and their number (an array of one)."""

    def __init__(self, columns: np.ndarray, acceptance: Acceptance, epsilon: float, parameters: dict):
        columns = check_vectors(columns)
        squares = (columns**2).sum(axis=0)
        radius = math.sqrt(squares.max())
        missing = np.sqrt(np.maximum(squares.max() - squares, 0.0))
        if missing.max() > _EQUAL * radius:
            vectors = np.vstack([columns, missing])
        else:  # of one length but for rounding
            vectors = columns * (radius / np.sqrt(squares))
        kept = acceptance.moments[0]
        explanation = (
            f"Each person draws {len(vectors):,} numbers of pure noise and sends them with a probability that leans towards "
            f"draws like their own answers; {wording.share(1 - kept)} of people send nothing."
        )
        if acceptance.drops:
            explanation += " This is the paper's step as printed, which is not locally private: some draws only some types can send."
        super().__init__("rejection_gaussian", vectors, epsilon, 0.0, parameters, explanation)
        self.acceptance = acceptance
        self.radius = radius
        self.scale = radius / acceptance.rho
        self.attenuation = float(acceptance.moments[1] / acceptance.rho)

    def _content(self) -> bytes:
        return repr(self.acceptance).encode() + self.vectors.tobytes()

    @cached_property
    def variances(self) -> tuple[float, float]:
        m0, _, m2 = self.acceptance.moments
        across = self.scale**2 * m0
        return across, self.scale**2 * (m2 - m0) / self.radius**2 - self.attenuation**2

    def reach(self, weights: np.ndarray) -> np.ndarray:
        """A report has no limits: taken for them is the distance `FARTHEST_DRAW` of a normal draw, which one user exceeds with a
        probability of about 1e-19. One that was not sent adds the mean."""
        return FARTHEST_DRAW * self.scale * np.linalg.norm(weights, axis=1)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, k) draws sent, a row of nan where nothing is sent. Simulation only: a client needs a secure
        random source, and noise that is not in floating point."""
        values = check_values(values, self.n, rng)
        draws = rng.normal(scale=self.scale, size=(values.size, self.size))
        z = np.einsum("uk,ku->u", draws, self.vectors[:, values]) / (self.radius * self.scale)
        draws[rng.random(values.size) >= self.acceptance(z)] = np.nan
        return draws

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports from rows (users, k): the sum and the number of the rows that were sent."""
        raw = check_rows(np.asarray(raw, dtype=float), self.size, f"{self.size} numbers")
        sent = ~np.isnan(raw).all(axis=1)
        if not np.all(np.isfinite(raw[sent])):
            raise ValueError("A report must hold finite numbers, or nan throughout where nothing was sent.")
        return Reports(self.digest, raw.shape[0], (raw[sent].sum(axis=0), np.array([sent.sum()])))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """One scalar per user (the draw along the own vector decides what is sent) and one vector
        per type for the rest. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        kept, along = np.zeros(self.n), np.zeros(self.n)
        for present in everybody(counts, _CHUNK):
            z = rng.standard_normal(present.size)
            sent = rng.random(z.size) < self.acceptance(z)
            types = present[sent]
            kept += np.bincount(types, minlength=self.n)
            along += np.bincount(types, weights=z[sent], minlength=self.n)
        directions = self.vectors.T / self.radius
        across = rng.standard_normal(directions.shape) * np.sqrt(kept)[:, None]
        across -= np.einsum("uk,uk->u", across, directions)[:, None] * directions
        total = self.scale * (across.sum(axis=0) + along @ directions)
        return Reports(self.digest, int(counts.sum()), (total, np.array([int(kept.sum())])))

    def audit(self) -> Audit:
        """Largest log-ratio of eta between two types with different vectors, over all y and over sending nothing."""
        pair = diameter(self.vectors, "l2")[1]
        if self.acceptance.drops:
            return Audit(math.inf, 0.0, "in real numbers: draws that one type may send and another never sends", pair)
        # Both ends of the band are reached: any two different vectors have draws y with z high for one and low for the other.
        method = "in real numbers: ratio of the largest to the smallest chance of sending a draw; sending nothing is equally likely"
        return Audit(2 * self.acceptance.band, 0.0, method, pair)
