"""Differences between two groups of people, or two collections: how many people find one, and which one so many people find.

Per report, the answer of a group has the variance ``V = sum_x p_x E[(answer of the report)^2 | x] - (w'p)^2``: that of the mechanism
and the chance of who was drawn, p the shares of the group. Two groups of N_1 and N_2 people differ by d, found at a two-sided
level a with a chance of b, where ``d = (z_(1-a/2) + z_b) sqrt(V_1/N_1 + V_2/N_2)``: the test takes its standard error from the same
people. Source: the usual size of samples (Cohen 1988), with V of this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ldp_core import frames
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, dense, users_of
from ldp_core.studies import sampling
from ldp_core.workloads import Workload

POWER, LEVEL = 0.8, 0.05
"""The chance to find a difference that is there, and to find one that is not, where no one says."""


@dataclass(frozen=True)
class Contrasts:
    """Of q answers compared, the ``shares`` (q, 2) of all people that are in the two groups, and the ``variances`` (q, 2) per report of the
    answer of each group, a share of it."""

    shares: np.ndarray
    variances: np.ndarray

    @property
    def spread(self) -> np.ndarray:
        """(q,) the variance of the difference, times the number of all people."""
        return np.sum(self.variances / self.shares, axis=1)

    def users(self, difference: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) how many people there must be, other groups included, to find a ``difference`` of shares with a chance of ``power``."""
        if not 0 < difference <= 1:
            raise ValueError(
                f"A difference to detect must be above 0 and at most 100 percentage points; got {difference:.6g}."
            )
        return self.spread * (reach(power, level) / difference) ** 2

    def difference(self, users: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) the difference of shares that so many ``users`` in all find with a chance of ``power``."""
        return reach(power, level) * np.sqrt(self.spread / users)

    def power(self, difference: float, users: float, level: float = LEVEL) -> np.ndarray:
        """(q,) the chance that so many ``users`` find a ``difference``, on whichever side."""
        away, z = difference / np.sqrt(self.spread / users), reach(0.5, level)
        return ndtr(away - z) + ndtr(-away - z)


def reach(power: float, level: float) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have. ValueError for chances out of range.

    >>> round(ldp.studies.detection.reach(0.8, 0.05), 4)
    2.8016
    """
    if not (0.5 <= power < 1 and 0 < level <= 0.5):
        raise ValueError(
            f"The power is a chance from 50 % to less than 100 %, the level one above 0 and up to 50 %; got {100 * power:.6g} % and "
            f"{100 * level:.6g} %."
        )
    return float(ndtri(1 - level / 2) + ndtri(power))


def per_report(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) the variance of a report's part in the answer to each query, without its weight, by people drawn as ``counts`` are spread."""
    whole = frames.variances_of(mechanism, workload, counts, queries) + sampling.of_queries(workload, counts, queries)
    return whole / users_of(counts)


def of_collections(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> Contrasts:
    """Two collections of as many people each, spread as ``counts`` are, such as this month's and the next: both are all the people."""
    own = per_report(mechanism, workload, counts, queries)
    return Contrasts(np.ones((len(queries), 2)), np.stack([own, own], axis=1))


def of_groups(
    mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray, groups: Sequence[np.ndarray]
) -> Contrasts:
    """The people of two known ``groups``, (n,) whether each type is in them, in the `strata` that a query is about.

    ValueError where one of them has no people.
    """
    assert workload.strata is not None
    people, types = dense(counts).astype(float), workload.strata.types
    about = np.abs(workload.rows(queries))[:, types].any(axis=2)  # (q, K)
    shares, variances = np.empty((2, len(queries), 2))
    for strata in np.unique(about, axis=0):
        here = np.flatnonzero((about == strata).all(axis=1))
        inside = np.zeros(workload.n, dtype=bool)
        inside[types[strata].ravel()] = True
        for k, group in enumerate(groups):
            own = np.where(group & inside, people, 0.0)
            if not own.any():
                raise ValueError("One of the groups compared has no people, so no difference from it can be found.")
            shares[here, k] = own.sum() / people.sum()
            variances[here, k] = per_report(mechanism, workload, own, queries[here])
    return Contrasts(shares, variances)


def joined(parts: Sequence[Contrasts]) -> Contrasts:
    """All of these, one after the other."""
    return Contrasts(
        np.concatenate([part.shares for part in parts]),
        np.concatenate([part.variances for part in parts]),
    )
