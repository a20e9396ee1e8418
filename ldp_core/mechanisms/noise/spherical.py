"""Mechanisms whose reports are vectors that vary alike in all directions, but for the direction of the user's own vector."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ldp_core.mechanisms.base import Contributions
from ldp_core.mechanisms.noise.additive import VectorMechanism
from ldp_core.workloads import Workload


class SphericalMechanism(VectorMechanism):
    """A report of a user with the vector a has the mean ``attenuation * a`` and the covariance ``across I + along a a'``."""

    @property
    def hidden_by(self) -> str:
        return "What is sent is a random vector whose mean is in proportion to that of the type."

    @property
    @abstractmethod
    def variances(self) -> tuple[float, float]:
        """``across`` and ``along``, which can be negative."""

    @abstractmethod
    def reach(self, weights: np.ndarray) -> np.ndarray:
        """(q,) the largest value that ``weights`` (q, k) times one report can have."""

    def profile_of(self, workload: Workload) -> np.ndarray:
        """An isotropic part, alike for all types, and the part along the user's own vector."""
        across, along = self.variances
        isotropic = across / self.attenuation**2 * np.einsum("ij,ij->", workload.gram_dense(), self._inverse[0])
        return isotropic + along * workload.quadratic((self.reconstruction @ self.vectors).T)

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        counts = np.asarray(counts, dtype=float)
        across, along = self.variances
        means = self.reconstruction @ self.vectors
        return counts.sum() * across / self.attenuation**2 * self._inverse[0] + along * (means * counts) @ means.T

    def contributions(self, rows: np.ndarray) -> Contributions:
        """The contribution of a report to ``rows`` (q, n) times the estimated counts."""
        across, along = self.variances
        weights = rows @ self.reconstruction
        own = along * (weights @ self.vectors) ** 2
        isotropic = across * (weights**2).sum(axis=1, keepdims=True)
        # The noise does not depend on what is subtracted from all reports.
        reach = self.reach(weights)
        expected = self.attenuation * weights @ self.vectors
        up, down = reach - expected.min(axis=1), reach + expected.max(axis=1)
        nothing = np.full(len(rows), np.nan)
        variances = np.maximum(isotropic + own, 0.0)
        return Contributions(rows, variances, np.maximum(up, 0), np.maximum(down, 0), nothing, nothing)
