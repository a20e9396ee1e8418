"""Norm-Sub (Wang et al. 2020): the closest counts that are not negative and sum to the number of users."""

from __future__ import annotations

import numpy as np


def project(counts: np.ndarray, users: float) -> np.ndarray:
    """(n,) Euclidean projection of ``counts`` onto x >= 0, sum x = ``users`` (at least 0), exact, O(n log n).

    The projection subtracts one number from all counts and cuts at 0 (Held, Wolfe and Crowder 1974); the number follows
    from how many of the largest counts stay positive.
    """
    counts = np.asarray(counts, dtype=float)
    if not (users >= 0 and np.isfinite(users)):
        raise ValueError(f"The number of users must be finite and not negative; got {users}.")
    if users == 0:
        return np.zeros_like(counts)
    counts = counts - counts.max()  # changes nothing, and keeps few users visible beside large counts
    descending = np.sort(counts)[::-1]
    shifts = (np.cumsum(descending) - users) / np.arange(1, counts.size + 1)
    positive = np.flatnonzero(descending > shifts)[-1]
    projected = np.maximum(counts - shifts[positive], 0.0)
    return projected * (users / projected.sum())  # rounding alone


def project_absolute(counts: np.ndarray, users: float) -> np.ndarray:
    """(n,) Euclidean projection of ``counts`` onto the L1 ball: sum of sizes at most ``users``."""
    sizes = np.abs(counts)
    return np.array(counts, dtype=float) if sizes.sum() <= users else np.sign(counts) * project(sizes, users)
