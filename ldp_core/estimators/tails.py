"""How far a sum of independent reports can be from its mean: the tails behind `ldp_core.estimators.confidence`."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import fft


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

    Improbable numbers are those whose smaller tail, and all that have one as small on either side, have a probability of at most twice ``tail``
    together (Blaker 2000, Canadian Journal of Statistics 28): the true x is left out as often at most, exactly computed, and less seldom than where
    each side has its own tail (Clopper and Pearson 1934). The set need be no interval; its ends are those of the hull, to 1 % of a standard error at most
    and outwards. x goes on below 0 and above ``users``, where all reports have the same chance, until that is 0 or 1: so that ends are on either
    side of the estimate.
    """
    ends = (
        _least(users, first, second, yes, tail, drawn),
        users - _least(users, 1 - second, 1 - first, users - yes, tail, drawn),
    )
    return min(ends), max(ends)  # the other way round where no whole number of people is probable


def _least(users: int, first: float, second: float, yes: int, tail: float, drawn: bool) -> float:
    """The lower end of `blaker`."""
    slope, whole = second - first, 0 if drawn else 1
    estimate = (yes - users * first) / slope
    variance = sum(
        float(m[0] * p[0] * (1 - p[0])) for m, p in _binomials(np.array([estimate]), users, first, second, drawn)
    )
    far = 7 * math.sqrt(variance) + 55  # a number of "yes" that is as far from its mean has a probability below 1e-11
    size = fft.next_fast_len(math.ceil(14 * math.sqrt(variance + far)) + 40, real=True)

    def tails_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(number >= yes) for each x, and the largest P(number <= k) that is no larger."""
        at_most, start = _distribution(_binomials(x, users, first, second, drawn), size)
        at_least = 1 - at_most[np.arange(len(x)), np.clip(yes - start, 0, size).astype(int)]
        return at_least, np.where(at_most <= at_least[:, None] * (1 + 1e-9), at_most, 0.0).max(axis=1)

    def crossing(chance: float) -> tuple[float, float]:
        """Two numbers, near each other or the same, between which P(number >= yes) comes to be above ``chance``."""
        low, high = max(estimate - far / slope, -users * first / slope), estimate + 2 * whole
        low, high = (math.ceil(low), math.floor(high)) if whole else (low, high)
        while high - low > (1 - whole) * math.sqrt(variance + 1) / slope / 500:
            x = np.linspace(low, high, 9)
            x = np.floor(x) if whole else x
            k = int(np.append(tails_of(x)[0][:-1] > chance, True).argmax())
            low, high = x[max(k - 1, 0)] + whole * (k > 0), x[k]
        return low, high

    x = np.linspace(crossing(tail)[0], crossing(2 * tail)[1], 33)
    x = np.rint(x) if whole else x
    k = int(np.append(np.add(*tails_of(x))[:-1] > 2 * tail, True).argmax())
    return float(x[k - 1] + whole if k else x[0])


def _binomials(
    x: np.ndarray, users: int, first: float, second: float, drawn: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The numbers of reports and their chances of "yes" whose sum is the number of "yes", for each x of `blaker`."""
    step = (second - first) / users
    if drawn:
        return [(np.full(len(x), users), np.clip(first + step * x, 0.0, 1.0))]
    inside = np.clip(x, 0, users)
    below, above = first + step * np.minimum(x, 0), second + step * np.maximum(x - users, 0)
    return [(users - inside, np.maximum(below, 0.0)), (inside, np.minimum(above, 1.0))]


def _distribution(binomials: list[tuple[np.ndarray, np.ndarray]], size: int) -> tuple[np.ndarray, np.ndarray]:
    """(k, size + 1) distribution functions of the sums of ``binomials``, before and after each of ``size`` numbers from ``start`` (k,) on around their mean."""
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    start = np.floor(sum(m * p for m, p in binomials)) - size // 2
    spectrum = z ** -start[:, None]
    for m, p in binomials:
        spectrum = spectrum * (1 + p[:, None] * (z - 1)) ** m[:, None]
    return np.pad(np.cumsum(fft.irfft(spectrum, size, axis=1), axis=1), ((0, 0), (1, 0))), start
