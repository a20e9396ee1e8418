"""How people are expected to be spread over the types."""

from __future__ import annotations

import math

import numpy as np

JEFFREYS = 0.5


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


def dirichlet(n: int, earlier: np.ndarray | None = None) -> float | np.ndarray:
    """The parameters alpha of a Dirichlet prior over the shares of the types.

    Parameters
    ----------
    n : int
        How many types there are.
    earlier : (n,) array, optional
        Counts known beforehand, which add up with the parameters: the prior is conjugate.

    Returns
    -------
    float or (n,) array
        1/2 for every type (Jeffreys), with the earlier counts added.

    Raises
    ------
    ValueError
        The counts do not fit the types.
    """
    if earlier is None:
        return JEFFREYS
    known = np.asarray(earlier, dtype=float)
    if known.shape != (n,) or not np.all(np.isfinite(known) & (known >= 0)) or known.sum() <= 0:
        raise ValueError(
            f"This prior needs earlier counts: a number of 0 or more for each of the {n:,} types, not all 0."
        )
    return JEFFREYS + known


def read_histogram(text: str, n: int) -> tuple[float, ...]:
    """A number of 0 or more for each of ``n`` types, from numbers with spaces, commas or lines between them, or from a table with a
    line for each type, whose last entry is the number (a first line of titles is skipped). ValueError, one sentence, for others.
    """
    lines = [line.replace(",", " ").replace(";", " ").split() for line in text.splitlines() if line.strip()]
    words = [word for line in lines for word in line]
    if len(words) != n and len(lines) in (n, n + 1) and all(lines):
        words = [line[-1] for line in lines[-n:]]
    try:
        weights = tuple(float(word) for word in words)
    except ValueError:
        raise ValueError(f"A histogram is {n:,} plain numbers with spaces or lines between them.") from None
    if len(weights) != n:
        raise ValueError(
            f"There are {n:,} types, but {len(weights):,} numbers were given: one is needed for each type."
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or sum(weights) <= 0:
        raise ValueError("The numbers of a histogram are 0 or more, and at least one is above 0.")
    return weights
