"""How people are expected to be spread over the types."""

from __future__ import annotations

import math

import numpy as np


def check_prior(prior: np.ndarray | None, n: int) -> np.ndarray:
    """(n,) ``prior`` as probabilities, the uniform ones for None, or a ValueError."""
    if prior is None:
        return np.full(n, 1 / n)
    try:
        p = np.asarray(prior, dtype=float) if np.isrealobj(prior) else np.zeros(0)
    except (TypeError, ValueError):  # words, or lists of several lengths
        p = np.zeros(0)
    if p.shape != (n,) or not np.all(p >= 0) or not math.isclose(p.sum(), 1, abs_tol=1e-9):
        raise ValueError(f"A prior holds one non-negative probability for each of the {n} types and sums to 1.")
    return p
