"""How people are expected to be spread over the types."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

JEFFREYS = 0.5
Dirichlet = Literal["jeffreys", "even", "people", "histogram"]


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


def dirichlet(
    kind: Dirichlet, n: int, counts: np.ndarray | None = None, people: float | None = None
) -> float | np.ndarray:
    """The parameters alpha of a Dirichlet prior over ``n`` types: one for all types, or (n,).

    "jeffreys" is 1/2 for every type, "even" 1: all distributions are equally likely. "people" and "histogram" are what
    Jeffreys' prior becomes once earlier ``counts`` (n,) are known, which count for as many ``people`` (None: their sum).
    ValueError for another kind, and for counts that do not fit.
    """
    if kind not in get_args(Dirichlet):
        raise ValueError(f"Unknown prior {kind!r}: choose one of {', '.join(get_args(Dirichlet))}.")
    if kind in ("jeffreys", "even"):
        return JEFFREYS if kind == "jeffreys" else 1.0
    known = np.asarray(counts if counts is not None else (), dtype=float)
    if known.shape != (n,) or not np.all(np.isfinite(known) & (known >= 0)) or known.sum() <= 0:
        raise ValueError(
            f"This prior needs earlier counts: a number of 0 or more for each of the {n:,} types, not all 0."
        )
    if people is not None and not (math.isfinite(people) and people > 0):
        raise ValueError(f"Earlier counts count for a number of people above 0; got {people}.")
    return JEFFREYS + known * ((known.sum() if people is None else people) / known.sum())
