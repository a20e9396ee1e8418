"""How far a sum of independent reports can be from its mean: the tails behind `ldp_core.estimators.confidence`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

_SPREAD = 12.0  # standard deviations of a binomial, beyond which its probabilities are below 1e-30


def bennett(variance: np.ndarray, largest: np.ndarray, parts: float, tail: float) -> np.ndarray:
    """(q,) t by which a sum of ``parts`` independent variables exceeds its mean with a probability of at most ``tail``,
    when each exceeds its own by at most ``largest`` (q,) and the variance of the sum is at most ``variance`` (q,).

    Hoeffding 1963, Theorem 3 (Bennett's inequality before its last simplification): with a = variance/(parts largest^2) and
    u = t/(parts largest), P <= exp(-parts [(u + a) log(1 + u/a) + (1 - u) log(1 - u)]/(1 + a)), for any such variables. At
    u = 1 it is the largest sum there is, which is never exceeded.
    """
    variance, largest = np.asarray(variance, dtype=float), np.asarray(largest, dtype=float)
    known = (variance <= 0) | (largest <= 0)
    a = np.where(known, 1.0, variance) / (parts * np.where(known, 1.0, largest) ** 2)
    wanted, low, high = -math.log(tail) / parts, np.zeros_like(a), np.ones_like(a)
    for _ in range(50):
        u = (low + high) / 2
        exponent = ((u + a) * np.log1p(u / a) + (1 - u) * np.log1p(-u)) / (1 + a)
        low, high = np.where(exponent < wanted, u, low), np.where(exponent < wanted, high, u)
    return np.where(known, 0.0, high * parts * largest)


@lru_cache(maxsize=2**14)  # many queries ask for the same
def two_binomials(users: int, first: float, second: float, yes: int, tail: float) -> tuple[int, int]:
    """Least and largest x in 0..``users`` that make ``yes`` neither improbably large nor small as a
    draw of Binomial(x, second) + Binomial(users - x, first), ``first`` < ``second``: either side
    has a probability above ``tail``.

    This is Clopper and Pearson's inversion: the sum grows stochastically with x, so the true x is left out on either side with a
    probability of at most ``tail``, exactly computed.
    """

    def at_least(x: int, s: int) -> float:
        return _of_sum(x, second, users - x, first, s)

    def at_most(x: int, s: int) -> float:
        return _of_sum(x, 1 - second, users - x, 1 - first, users - s)

    low = _first(users, lambda x: at_least(x, yes) > tail)
    high = users - _first(users, lambda k: at_most(users - k, yes) > tail)
    return low, max(low, high)


def _of_sum(x: int, p: float, rest: int, q: float, s: int) -> float:
    """P(Binomial(x, p) + Binomial(rest, q) >= s)."""
    spread = _SPREAD * math.sqrt(x * p * (1 - p)) + _SPREAD**2
    k = np.arange(max(0, math.floor(x * p - spread)), min(x, math.ceil(x * p + spread)) + 1)
    from scipy.stats import binom  # only where it is used: to load it takes a third of the start

    return float(binom.pmf(k, x, p) @ binom.sf(s - 1 - k, rest, q))


def _first(users: int, holds: Callable[[int], bool]) -> int:
    """The least x in 0..``users`` from which on ``holds`` is true, or ``users`` if it never is."""
    low, high = 0, users
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
