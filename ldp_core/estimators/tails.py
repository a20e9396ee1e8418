"""How far a sum of independent reports can be from its mean: the tails behind `ldp_core.estimators.confidence`."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import fft
from scipy.special import ndtri


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
def blaker(users: int, first: float, second: float, yes: int, tail: float, drawn: bool) -> tuple[float, float]:
    """The least and the largest x for which ``yes`` is no improbable number of "yes" among ``users`` reports, of which x are "yes" with a chance
    of ``second`` and the others of ``first`` < ``second``; or of people ``drawn``, who are all "yes" with the same chance, first + (second - first) x/users.

    Improbable are numbers whose smaller tail, and all numbers with one as small on either side, have a probability of at most twice ``tail``
    together (Blaker 2000, Canadian Journal of Statistics 28): so often at most the true x is left out, exactly computed, and less seldom than where
    each side has its own tail (Clopper and Pearson 1934). The set need be no interval; the ends are those of its hull, rounded outwards by 1 % of a
    standard error at most. x need not be whole (of one report the chance is then in between), and goes on below 0 and above ``users``, where all
    reports have the same chance, until that is 0 or 1: so that the estimate is between the ends.
    """
    upper = _least(users, 1 - second, 1 - first, users - yes, tail, drawn)
    return _least(users, first, second, yes, tail, drawn), users - upper


def _least(users: int, first: float, second: float, yes: int, tail: float, drawn: bool) -> float:
    """The lower end of `blaker`."""
    slope = second - first
    estimate = (yes - users * first) / slope
    around = _binomials(np.array([estimate]), users, first, second, drawn)
    variance = sum(float(m[0] * p[0] * (1 - p[0])) for m, p in around)
    reach = 2 - float(ndtri(tail))  # in standard errors
    far = reach * math.sqrt(variance) + reach**2  # a number of "yes" that is as far from its mean is less probable
    size = math.ceil((reach + 3) * math.sqrt(variance + far) + 20) * 2 + 1

    def sides(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(number >= yes) for each x, and the largest P(number <= k) that is no larger."""
        at_most, start = _distribution(_binomials(x, users, first, second, drawn), size)
        at_least = 1 - at_most[np.arange(len(x)), np.clip(yes - start, 0, size).astype(int)]
        return at_least, np.where(at_most <= at_least[:, None] * (1 + 1e-9), at_most, 0.0).max(axis=1)

    def crossing(low: float, chance: float) -> tuple[float, float]:
        """Two numbers near each other between which P(number >= yes) comes to be above ``chance``, from ``low`` on."""
        high = estimate
        while high - low > math.sqrt(variance + 1) / slope / 200:
            x = np.linspace(low, high, 9)
            k = int(np.append(sides(x)[0][:-1] > chance, True).argmax())
            low, high = x[max(k - 1, 0)], x[k]
        return low, high

    low, _ = crossing(max(estimate - far / slope, -users * first / slope), tail)
    x = np.linspace(low, crossing(low, 2 * tail)[1], 65)
    k = int(np.append(np.add(*sides(x))[:-1] > 2 * tail, True).argmax())
    return float(x[max(k - 1, 0)])


def _binomials(
    x: np.ndarray, users: int, first: float, second: float, drawn: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The numbers of reports and their chances of "yes" whose sum is the number of "yes", for each x of `blaker`."""
    step = (second - first) / users
    if drawn:
        return [(np.full(len(x), users), np.clip(first + step * x, 0.0, 1.0))]
    inside = np.clip(x, 0, users)
    whole = np.minimum(np.floor(inside), users - 1)
    low = np.maximum(first + step * np.minimum(x, 0), 0.0)
    high = np.minimum(second + step * np.maximum(x - users, 0), 1.0)
    return [(users - whole - 1, low), (np.ones(len(x)), low + (high - low) * (inside - whole)), (whole, high)]


def _distribution(binomials: list[tuple[np.ndarray, np.ndarray]], size: int) -> tuple[np.ndarray, np.ndarray]:
    """(k, size + 1) distribution functions of sums of ``binomials``, before and after each of the ``size`` numbers from ``start`` (k,) on, around their
    mean; ``size`` is odd."""
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    start, cosine, sine = np.floor(sum(m * p for m, p in binomials)) - size // 2, np.cos(angles), np.sin(angles)
    moduli, arguments = np.zeros((2, len(start), len(angles)))  # of the characteristic function, as logarithms
    for m, p in binomials:
        p = (p if np.ptp(p) else p[:1])[:, None]
        moduli += m[:, None] * np.log1p(-2 * p * (1 - p) * (1 - cosine)) / 2  # above -1, as size is odd
        arguments += m[:, None] * np.arctan2(p * sine, 1 - p + p * cosine)
    spectrum = np.exp(moduli - 1j * (arguments - start[:, None] * angles))
    at_most = np.cumsum(fft.irfft(spectrum, size, axis=1), axis=1)
    return np.hstack([np.zeros((len(start), 1)), at_most]), start
