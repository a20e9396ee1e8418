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
def blaker(users: int, first: float, second: float, yes: int, tail: float, drawn: bool) -> np.ndarray:
    """(2, 2) the least and the largest x, and below them the least and the largest whole one, for which ``yes`` is no improbable number of "yes" among
    ``users`` reports, of which x are "yes" with a chance of ``second`` and the others of ``first`` < ``second``; or of people ``drawn``, who are all "yes"
    with the same chance, first + (second - first) x/users, and of whom x need not be whole.

    Improbable are numbers whose smaller tail, and all numbers with one as small on either side, have a probability of at most twice ``tail``
    together (Blaker 2000, Canadian Journal of Statistics 28): so often at most the true x is left out, exactly computed, and less seldom than where
    each side has its own tail (Clopper and Pearson 1934). The set need be no interval; the ends are those of its hull, rounded outwards by three per cent
    of a standard error, or of one "yes". Between whole numbers of people the chance of one report is in between; x goes on below 0 and above ``users``,
    where all reports have the same chance, until that is 0 or 1: so that the estimate is between the ends.
    """
    lower = _least(users, first, second, yes, tail, drawn)
    upper = users - _least(users, 1 - second, 1 - first, users - yes, tail, drawn)
    return np.sort([lower, upper], axis=0).T  # the other way round where no whole number is probable


def _least(users: int, first: float, second: float, yes: int, tail: float, drawn: bool) -> np.ndarray:
    """(2,) the lower ends of `blaker`: the last of 250 numbers before the set begins, and the first whole one in it."""
    slope, given = second - first, (users, first, second, drawn)
    estimate, reach = (yes - users * first) / slope, 2 - float(ndtri(tail))
    m, p = _binomials(np.array([estimate]), *given)
    variance = float(np.sum(m * p * (1 - p)))
    far = reach * math.sqrt(variance) + reach**2  # a number of "yes" that is as far from its mean is less probable

    def begins(x: np.ndarray) -> int:
        """The place of the first x in the set, or the last place."""
        at_most, start = _distribution(*_binomials(x, *given), (reach + 3) * math.sqrt(variance + far) + 20)
        at_least = 1 - at_most[np.arange(len(x)), np.clip(yes - start, 0, at_most.shape[1] - 1).astype(int)]
        other = np.where(at_most <= at_least[:, None] * (1 + 1e-9), at_most, 0.0).max(axis=1)
        return int(np.append((at_least + other)[:-1] > 2 * tail, True).argmax())

    x = np.linspace(max(estimate - far / slope, -users * first / slope), estimate, 250)
    end = x[max(begins(x) - 1, 0)]
    whole = math.ceil(end) + np.arange(9.0)
    return np.array([end, end if drawn else whole[begins(whole)]])


def _binomials(x: np.ndarray, users: int, first: float, second: float, drawn: bool) -> tuple[np.ndarray, np.ndarray]:
    """(3, k) the sizes and chances of the binomials whose sum is the number of "yes", for each x (k,) of `blaker`."""
    inside, line = np.clip(x, 0, users), np.clip(first + (second - first) / users * x, 0.0, 1.0)
    whole = np.minimum(np.floor(inside), users - 1)
    low, high = (line, line) if drawn else (np.minimum(line, first), np.maximum(line, second))
    sizes = np.stack([users - whole - 1, np.ones(len(x)), whole])
    return sizes, np.stack([low, low + (high - low) * (inside - whole), high])


def _distribution(sizes: np.ndarray, chances: np.ndarray, around: float) -> tuple[np.ndarray, np.ndarray]:
    """(k, ...) distribution functions of sums of binomials (b, k), before and after each whole number within ``around`` of their mean; and
    (k,) the first of these numbers."""
    many = 2 * math.ceil(around) + 1
    angles, start = 2 * np.pi * np.arange(many // 2 + 1) / many, np.floor((sizes * chances).sum(axis=0)) - many // 2
    moduli, arguments = np.zeros((2, len(start), len(angles)))  # of the characteristic function, as logarithms
    for m, p in zip(sizes[..., None], chances[..., None], strict=True):
        p = p if np.ptp(p) else p[:1]  # the same for all, mostly
        moduli += m * np.log1p(-2 * p * (1 - p) * (1 - np.cos(angles))) / 2  # above -1, as ``many`` is odd
        arguments += m * np.arctan2(p * np.sin(angles), 1 - p + p * np.cos(angles))
    spectrum = np.exp(moduli - 1j * (arguments - start[:, None] * angles))
    at_most = np.cumsum(fft.irfft(spectrum, many, axis=1), axis=1)
    return np.hstack([np.zeros((len(start), 1)), at_most]), start
