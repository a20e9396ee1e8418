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
