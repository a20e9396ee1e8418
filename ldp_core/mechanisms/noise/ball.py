"""Ball sampling: a point of a sphere that leans towards the user's own vector, pure epsilon-LDP at every epsilon.

Source: Duchi, Jordan and Wainwright 2018, "Minimax optimal procedures for locally private estimation", the mechanism for the
l2 ball; the previous work of Table 1 of Bassily 2019.

Let all vectors a lie in the ball of radius r in k dimensions. The user takes the direction of a or its opposite, the former with
the probability (1 + |a|/r)/2, and sends a point drawn evenly from the half of a sphere of radius R around that direction with
the probability E/(E + 1), E = e^epsilon, and else from the other half. A point of the upper half of the unit sphere has the height
h = Gamma(k/2) / (sqrt(pi) Gamma((k + 1)/2)) on average, so that R = r (E + 1) / ((E - 1) h) makes the mean a. Both halves
have the same second moments: the covariance is R^2/k I - a a'.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from ldp_core.mechanisms.base import Audit, Reports, check_counts, check_values, everybody
from ldp_core.mechanisms.noise.additive import check_vectors
from ldp_core.mechanisms.noise.rejection import SphericalMechanism
from ldp_core.mechanisms.noise.vectors import around_centre
from ldp_core.people import Counts
from ldp_core.privacy import STEP, check_epsilon, exp_epsilon, probability_within
from ldp_core.workloads import Workload

_CHUNK = 2**22  # numbers drawn that are held in memory at once


def mean_height(k: int) -> float:
    """The mean height of an even point of the upper half of the unit sphere in ``k`` dimensions: 1 for k = 1, 2/pi for 2."""
    return math.exp(float(gammaln(k / 2) - gammaln((k + 1) / 2))) / math.sqrt(math.pi)


def build(workload: Workload, epsilon: float) -> BallMechanism:
    """Ball sampling on the columns of W, reduced to its Gram root (the noise is the same in all
    directions). They are moved to the centre of the smallest ball that holds them: the radius of
    the running totals of 16 types falls from 4 to 1.94."""
    epsilon = check_epsilon(epsilon)
    vectors = around_centre(check_vectors(workload.gram_root))
    return BallMechanism(vectors, epsilon, {"workload": workload.spec})


class BallMechanism(SphericalMechanism):
    """See the module. One report is a vector of k numbers of length ``sphere``; ``Reports.data`` is the sum of all."""

    def __init__(self, vectors: np.ndarray, epsilon: float, parameters: dict[str, Any]):
        vectors = check_vectors(vectors)
        explanation = (
            f"Each person sends a point of a sphere in {len(vectors):,} dimensions: with a chance of e^epsilon to 1 one from the "
            "half that their own answers point to."
        )
        super().__init__("ball_sampling", vectors, epsilon, 0.0, parameters, explanation)
        self._ratio = exp_epsilon(self.epsilon)
        self._lengths = np.linalg.norm(self.vectors, axis=0)
        self.radius = float(self._lengths.max())
        self.sphere = self.radius * (self._ratio + 1) / ((self._ratio - 1) * mean_height(self.size))

    def _content(self) -> bytes:
        return self.vectors.tobytes()

    @cached_property
    def variances(self) -> tuple[float, float]:
        return self.sphere**2 / self.size, -1.0

    def reach(self, weights: np.ndarray) -> np.ndarray:
        return self.sphere * np.linalg.norm(weights, axis=1)

    @cached_property
    def _halves(self) -> np.ndarray:
        """(2, n) the probability that a report of each type lies in the half that its own vector points to, and in the other."""
        t, E = self._lengths / self.radius, self._ratio
        most = probability_within(E / (E + 1), lambda p: p / (1 - p), E)
        wanted = ((1 + t) * E + (1 - t)) / (2 * (E + 1))
        towards = np.minimum(np.rint(wanted / STEP) * STEP, most)  # its complement is then exact
        return np.array([towards, 1 - towards])

    def _draw(self, types: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, k) reports. Simulation only."""
        points = rng.standard_normal((types.size, self.size))
        points *= (self.sphere / np.linalg.norm(points, axis=1))[:, None]
        towards = np.where(rng.random(types.size) < self._halves[0, types], 1.0, -1.0)
        side = np.einsum("uk,ku->u", points, self.vectors[:, types])
        points[side * towards < 0] *= -1
        return points

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, k) points of the sphere. Simulation only: a client needs a secure random source, and points that are not in
        floating point."""
        return self._draw(check_values(values, self.n, rng), rng)

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports from rows (users, k): their sum."""
        reports = super().aggregate(raw)
        if not np.all(np.abs(np.linalg.norm(raw, axis=1) - self.sphere) <= 1e-6 * self.sphere):
            raise ValueError(f"Each report must be {self.size} numbers whose squares sum to {self.sphere**2:.6g}.")
        return reports

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Draws every report, in chunks. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        total = np.zeros(self.size)
        for types in everybody(counts, max(_CHUNK // self.size, 1)):
            total += self._draw(types, rng).sum(axis=0)
        return Reports(self.digest, int(counts.sum()), total)

    def audit(self) -> Audit:
        """The ratio of the largest density of a point to its smallest, over all pairs of types that point to different halves."""
        likely, unlikely = self._halves
        ratios = np.log(
            likely[:, None] / unlikely
        )  # of a point that the vector of one points to, and that of the other not
        directions = self.vectors / np.where(self._lengths > 0, self._lengths, 1.0)
        same = directions.T @ directions > 1 - 1e-12
        ratios[same] = np.abs(np.log(likely[:, None] / likely))[same]
        pair = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        method = "in real numbers: ratio of the largest to the smallest density of a point of the sphere"
        return Audit(float(ratios[pair]), 0.0, method, (int(pair[0]), int(pair[1])))
