"""Designs for workloads whose types a group permutes: rows come in orbits, and M is diagonal in the group's characters.

Averaging a strategy over permutations that leave G unchanged never raises L (it is convex in M). A
row ``v`` may therefore be used with all its n translations alike: by XOR for workloads over binary
attributes (``hamming``), cyclically where all types are alike (``exchangeable``). With ``hat v``
the transform of v and gamma the eigenvalues of G by character,

    M has the eigenvalues  m = sum_k share_k |hat v_k|^2 / (1'v_k)^2,   L = sum gamma / m,   sum_k share_k = 1,

so there are n numbers to fit instead of n^2, and no column sums to balance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ldp_core.bounds.closed_form import high_share
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.workloads import Workload

# The part of the average that what is asked at every frequency is raised by, so that the first strategy is blind to none.
RIDGE = 1e-9
# The strategy that is there at once has more base rows up to so many types.
FEW_TYPES = 512


class Group(Protocol):
    """Translations of the types, such as a `Scheme`: their characters, and the type that row u is the translation of by column v."""

    def transform(self, x: np.ndarray) -> np.ndarray: ...
    @property
    def differences(self) -> np.ndarray: ...


@dataclass(frozen=True)
class Shifts:
    """Cyclic shifts along every axis of a table of types, whose ``sizes`` are given."""

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, workload: Workload) -> Shifts:
        """One axis for each attribute."""
        return cls(next(zip(*workload.symmetry_group.shifts, strict=True)))

    def transform(self, x: np.ndarray) -> np.ndarray:
        """``x`` (..., n) by the characters."""
        table = x.reshape(*x.shape[:-1], *self.sizes)
        return np.fft.fftn(table, axes=range(-len(self.sizes), 0)).reshape(x.shape)

    @property
    def differences(self) -> np.ndarray:
        """(n, n) the type that row u is the translation of by column v: u - v along every axis."""
        n = math.prod(self.sizes)
        differences = np.zeros((n, n), dtype=np.int64)
        for place, size in zip(np.unravel_index(np.arange(n), self.sizes), self.sizes, strict=True):
            differences = differences * size + (place[:, None] - place) % size
        return differences


@dataclass(frozen=True)
class Orbits:
    """Base rows ``high`` (b, n), the ``shares`` (b,) of probability of their orbits, which translations leave a base row as it
    is (``still``, (b, n) booleans: an orbit has n divided by their number different rows), and the objective."""

    high: np.ndarray
    shares: np.ndarray
    still: np.ndarray
    ratio: float
    difference: np.ndarray
    objective: float

    @classmethod
    def of(
        cls, high: np.ndarray, shares: np.ndarray, power: np.ndarray, ratio: float, group: Group, objective: float
    ) -> Orbits:
        """From base rows with the squares ``power`` (b, n) of their transforms."""
        # A translation that moves a row changes two entries or more, and lowers the autocorrelation by (E - 1)^2 or more.
        correlation = group.transform(power).real / power.shape[1]
        still = correlation > correlation[:, :1] - 0.5 * (ratio - 1) ** 2
        return cls(high, shares, still, ratio, group.differences, objective)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """All different rows (k, n) of the orbits and their weights (k,)."""
        types = np.arange(self.high.shape[1])
        # One translation of each coset of those that change nothing.
        shifts = [np.flatnonzero(self.difference[:, unmoved].min(axis=1) == types) for unmoved in self.still]
        sizes = np.array([len(part) for part in shifts])
        moved = np.concatenate([row[self.difference[:, part].T] for row, part in zip(self.high, shifts, strict=True)])
        masses = np.where(self.high, self.ratio, 1.0).sum(axis=1)
        weights = np.repeat(self.shares * len(types) / (sizes * masses), sizes)
        _, first, place = np.unique(np.packbits(moved, axis=1), axis=0, return_index=True, return_inverse=True)
        return moved[first], np.bincount(place.ravel(), weights)

    @property
    def transposed(self) -> np.ndarray:
        high, weights = self.rows()
        return (weights[:, None] * np.where(high, self.ratio, 1.0)).T


def first_orbits(gram: np.ndarray, ratio: float, group: Group) -> Orbits:
    """A strategy for ``gram`` (n, n) after a few transforms: random rows shaped by the workload, always the same ones, with all
    their translations by ``group``, and randomized response as base row 0. ``ratio`` is E.

    M is then diagonal in the group's characters for every G, the columns are balanced, and only the
    average of G over the group counts. The objective is therefore known in closed form. The rows
    are thresholded Gaussian fields with the correlations of
    `ldp_core.bounds.closed_form.field_correlation` for that average.
    """
    n = len(gram)
    gamma = np.maximum(group.transform(np.bincount(group.differences.ravel(), gram.ravel()) / n).real, 0.0)
    roots = np.sqrt(gamma)
    roots[0] = 0.0
    correlation = group.transform(roots + (1e-3 * roots.mean() or 1.0)).real
    spectrum = group.transform(np.sin(np.pi / 2 * np.clip(correlation / correlation[0], -1, 1))).real
    noise = np.random.default_rng(0).standard_normal((16 if n <= FEW_TYPES else 4, n))
    field = group.transform(np.sqrt(np.maximum(spectrum, 0.0)) * group.transform(noise)).real
    size = min(max(round(n * high_share(ratio, n)), 1), n - 1)
    high = np.zeros(field.shape, dtype=bool)
    np.put_along_axis(high, np.argpartition(-field, size - 1, axis=1)[:, :size], True, axis=1)
    high = np.vstack([np.arange(n) == 0, np.unique(high, axis=0)])
    power = np.abs(group.transform(np.where(high, ratio, 1.0))) ** 2
    fourier_weights = power / power[:, :1]
    shares = fitted_shares(np.full(len(high), 1 / len(high)), fourier_weights, gamma + RIDGE * gamma.mean(), 60)
    return Orbits.of(high, shares, power, ratio, group, float((gamma / (shares @ fourier_weights)).sum()))
