"""Questions about one attribute at a time: how large the Fourier weights of 0/1 functions on single
attributes are, attribute by attribute.

Take functions f of some attributes with values in [0, 1] and mean s. Let ``F(s)`` be the largest
``sum_i lambda_i W_i(f)``, W_i the Fourier weight of f on attribute i alone, and ``h = sqrt(F)``.
Add one attribute, of n values: f then consists of n functions of the other attributes, of means
g_1, .., g_n. Its Fourier weight on the new attribute is the variance of these means. Its part on an
earlier attribute is the mean of their parts, as vectors; by the triangle inequality

    F'(s)  <=  max over g in [0, 1]^n of mean s of   lambda (mean g^2 - s^2) + (mean h(g))^2.

This is attained by sets ``{x = a} and T'``. As ``m^2 = max over t of 2 t m - t^2``, it is the largest over t of ``S(t) - t^2 - lambda s^2``, with S(t) the
largest mean of ``lambda g^2 + 2 t h(g)``: n-fold sums of a function of one number, without regard to n where n is large. S is convex in t:
between the t that are tried it is at most its chord.

**The grid.** Between multiples of 1/N, h is replaced by chords that lie above it, and ``lambda g^2`` by its own. Two of the g strictly
between multiples of 1/N may then move towards some, at no loss: where n s is a multiple of 1/N, all of the g are. Between such s, S is at most
its chord, ``-lambda s^2`` off by ``lambda / (2 n N)^2`` at most, and a root of a chord from a^2 to b^2 off by ``(b - a)^2 / (4 (a + b))``.
From 0 to 1/N, ``W_i <= (n_i - 1) s^2`` may be better. F(1 - s) = F(s). Derived in this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldp_core.bounds.proof import Certificate, exp_epsilon_minus_one, magnitudes_fit, survey_of
from ldp_core.bounds.surveys.certificate import bound
from ldp_core.bounds.verify import UP, U
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Survey

_MOST_VALUES = 32
"""Attributes of more values are bounded without regard to how many."""
_MOST_STEPS = 4_000
"""Finer grids are not looked at."""
# Rounding of a step is a few units in the last place of terms of the size of the largest weight.
_UP = 1 + 1e-12


@dataclass(frozen=True, repr=False)
class SinglesCertificate(Certificate):
    """A bound that ``weights`` (k,) lambda of the sets of `Survey.components`, and N, the ``steps`` of the grid, prove to this program, beside the
    closed form for the script. The check recomputes the rest (a second for ten attributes)."""

    besides = "columns"
    more = ("weights", "steps")

    def proven(self) -> float:
        survey, weights, steps = survey_of(self.workload), self.numbers["weights"], self.numbers["steps"].item()
        fits_grid = 2 <= steps <= _MOST_STEPS and steps % 2 == 0
        if not (fits(survey) and fits_grid and weights.shape == (len(survey.components.sets),)):
            return -math.inf
        if not magnitudes_fit(weights) or weights.min() < 0 or not weights.max() > 0:
            return -math.inf
        return proved(survey, self.epsilon, weights, int(steps))


def fits(survey: Survey) -> bool:
    """True if the questions are about single attributes, few enough."""
    sets = survey.components.sets
    return survey.symmetric and 0 < len(sets) <= 100 and all(len(members) == 1 for members in sets)


def proved(survey: Survey, epsilon: float, weights: np.ndarray, steps: int, check: Check = unchecked) -> float:
    """The bound of a survey that `fits` with these weights."""
    weights = weights / weights.max()
    with np.errstate(all="ignore"):  # a square with no top is highest at an end
        ratio_limits = ratios(survey, epsilon, weights, steps, check)
    c = survey.components
    ratio = float(ratio_limits.max()) * _UP
    return survey.n * bound(c.constant, c.dims, c.gram, weights, ratio, 4 * survey.gram_roundings)


def ratios(survey: Survey, epsilon: float, weights: np.ndarray, steps: int, check: Check = unchecked) -> np.ndarray:
    """Upper bounds on ``sum_i lambda_i e_i(T)`` by the share of T, from 0 to 1/2: it is no larger for those of more."""
    sizes = [survey.shape[members[0]] for members in survey.components.sets]
    order = sorted(range(len(sizes)), key=lambda i: (sizes[i], i))
    F, more = largest([sizes[i] for i in order], weights[order], steps, check)
    D, grid, none = exp_epsilon_minus_one(epsilon), np.linspace(0, 0.5, len(F)), np.zeros(len(F) - 1)
    ratio_limits = largest_ratio(grid, F[:-1] + more, F[1:] + more, none, none, D)
    top = np.full(len(none), weights.max())
    return np.minimum(ratio_limits, largest_ratio(grid, none, none, top, -top, D))


class SinglesSearch:
    """Weights by group of attributes that are alike: a good guess, then steps in random directions while they help."""

    def __init__(self, survey: Survey, epsilon: float, check: Check = unchecked):
        self._survey, self._epsilon, self._check = survey, epsilon, check
        c = survey.components
        sizes = np.array([survey.shape[members[0]] for members in c.sets])
        alike, self._group = np.unique(np.stack([sizes, c.gram]), axis=1, return_inverse=True)
        self._sizes, self._weights, self._value = alike[0], np.ones(alike.shape[1]), 0.0
        # The grid has five steps to a share of 1 / (E + 1), but at least 100 in all, and its work is bounded: the squares of the
        # numbers of values times the square of the number of steps.
        most = math.sqrt(1e8 / np.sum(sizes[sizes <= _MOST_VALUES] ** 2, initial=1))
        self._steps = 2 * int(
            min(max(5 * (math.exp(epsilon) + 1), 100), most, _MOST_STEPS / 2) / 2
        )  # finer ones are twice as many

    def certificates(self, beyond: float) -> Iterator[SinglesCertificate]:
        """Better and better certificates: attributes of few values are harder to ask about, and weigh more; then, if one of these says more than
        ``beyond``, for weights near the best ones."""
        for more in (0.0, 3.0, 6.0, 9.0, 12.0):
            certificate = self._tried(1 + more / self._sizes)
            if certificate is not None:
                yield certificate
        if self._value <= beyond:
            return
        # Random steps in the logarithms of the weights, longer after one that helps and shorter after another.
        rng, length = np.random.default_rng(0), 0.1
        for _ in range(80 if len(self._weights) > 1 else 0):
            certificate = self._tried(self._weights * np.exp(length * rng.standard_normal(len(self._weights))))
            length *= 0.9 if certificate is None else 1.5
            if certificate is not None:
                yield certificate
        finer = self._certificate(self._weights, 2 * self._steps)
        if finer.value > self._value:
            yield finer

    def _tried(self, weights: np.ndarray) -> SinglesCertificate | None:
        certificate = self._certificate(weights, self._steps)
        if certificate.value <= self._value:
            return None
        self._weights, self._value = weights / weights.max(), certificate.value
        return certificate

    def _certificate(self, weights: np.ndarray, steps: int) -> SinglesCertificate:
        by_attribute = weights[self._group] / weights.max()
        numbers = {"weights": by_attribute, "steps": np.array([float(steps)])}
        certificate = SinglesCertificate(self._survey, self._epsilon, 0.0, "tables", numbers)
        proven = proved(self._survey, self._epsilon, by_attribute, steps, self._check)
        return replace(certificate, value=certificate.claim(proven))


def largest(
    sizes: Sequence[int], weights: np.ndarray, steps: int, check: Check = unchecked
) -> tuple[np.ndarray, float]:
    """Upper bounds on F for all attributes together, at equally spaced s from 0 to 1/2, and how far F may lie above their chords."""
    h = np.zeros(steps + 1)
    slope = 0.0
    F, more = np.zeros(steps // 2 + 1), 0.0
    for size, weight in zip(sizes, weights.tolist(), strict=True):
        check()
        parts = size if size <= _MOST_VALUES else 1
        F, more = _step(h, weight, size), weight / (2 * parts * steps) ** 2 * _UP
        slope += weight * (size - 1)
        h = _chords(np.sqrt(F + more), parts, math.sqrt(slope))
    return F, more


def _step(h: np.ndarray, weight: float, size: int) -> np.ndarray:
    """(parts N / 2 + 1,) upper bounds on F with one attribute more, for h (N + 1,) at multiples of 1/N."""
    steps = len(h) - 1
    g, top = np.arange(steps + 1) / steps, float(h.max())
    t = np.concatenate([[0.0], np.geomspace(0.01, 1.0, 10) * top]) if top > 0 else np.zeros(1)
    worth = weight * g**2 + 2 * t[:, None] * h
    S = _means(worth, size, steps // 2) if size <= _MOST_VALUES else _hull(worth)[:, : steps // 2 + 1]
    s = np.linspace(0, 0.5, S.shape[1])
    variance = S[-1] - t[-1] ** 2
    for k in range(len(t) - 1):
        rise = (S[k + 1] - S[k]) / (t[k + 1] - t[k])
        best = np.clip(rise / 2, t[k], t[k + 1])
        np.maximum(variance, S[k] + rise * (best - t[k]) - best**2, out=variance)
    return np.asarray(np.maximum(variance - weight * s**2, 0.0) * _UP + 1e-14)


def _means(worth: np.ndarray, size: int, most: int) -> np.ndarray:
    """(k, size most + 1) the largest means of ``worth`` (k, N + 1) at ``size`` places that add up
    to 0, 1, .., size most."""
    left, length, power = size, size * most + 1, worth
    means = np.zeros((len(worth), 1))
    while left:
        if left % 2:
            means = _sums(means, power, length)
        left //= 2
        if left:
            power = _sums(power, power, length)
    return np.asarray(means / size)


def _sums(first: np.ndarray, second: np.ndarray, length: int) -> np.ndarray:
    """(k, length at most) the largest of ``first[:, i] + second[:, j]`` by i + j."""
    long, short = (first, second) if first.shape[1] >= second.shape[1] else (second, first)
    sums = np.full((len(long), min(length, long.shape[1] + short.shape[1] - 1)), -np.inf)
    for j in range(min(short.shape[1], sums.shape[1])):
        part = sums[:, j : j + long.shape[1]]
        np.maximum(part, long[:, : part.shape[1]] + short[:, j : j + 1], out=part)
    return sums


def _hull(worth: np.ndarray) -> np.ndarray:
    """(k, N + 1) the least concave functions that are no less than ``worth`` (k, N + 1), at the
    same places."""
    places = np.arange(worth.shape[1])
    hull = np.empty_like(worth)
    for row, values in zip(hull, worth, strict=True):
        kept: list[int] = []
        for x in places.tolist():
            while len(kept) > 1 and (values[kept[-1]] - values[kept[-2]]) * (x - kept[-1]) <= (
                values[x] - values[kept[-1]]
            ) * (kept[-1] - kept[-2]):
                kept.pop()
            kept.append(x)
        row[:] = np.maximum(np.interp(places, kept, values[kept]), values)
    return hull


def _chords(roots: np.ndarray, parts: int, slope: float) -> np.ndarray:
    """(N + 1,) values whose chords lie above h, from the roots of ends of chords above F, ``parts`` to a step."""
    rounded = _beside((np.diff(roots) ** 2) / (4 * (roots[:-1] + roots[1:])))
    roots = (roots + rounded) * _UP
    coarse = roots[::parts].copy()
    inside = np.lib.stride_tricks.sliding_window_view(roots, parts + 1)[::parts]
    along = np.arange(parts + 1) / parts
    above = (inside - (coarse[:-1, None] * (1 - along) + coarse[1:, None] * along)).max(axis=1).clip(0)
    steps = 2 * len(above)
    straight = slope / steps * _UP
    if straight < 2 * coarse[1]:
        above[0] = 0.0
    coarse += _beside(above)
    if straight < 2 * coarse[1]:
        coarse[0], coarse[1] = 0.0, max(coarse[1], straight)
    coarse *= _UP
    return np.concatenate([coarse, coarse[-2::-1]])


def _beside(values: np.ndarray) -> np.ndarray:
    """(k + 1,) the larger of the ``values`` (k,) on both sides."""
    return np.maximum(np.append(values, 0.0), np.append(0.0, values))


def largest_ratio(
    grid: np.ndarray, low: np.ndarray, high: np.ndarray, linear: np.ndarray, square: np.ndarray, D: float
) -> np.ndarray:
    """(g,) upper bounds on ``D^2 (h(s) + linear s + square s^2) / (1 + D s)^2`` over the intervals of ``grid`` (g + 1,), h the chord from
    ``low`` to ``high``.

    With ``z = 1 / (1 + D s)`` that is ``A z^2 + B z + C``: where A < 0, no value is above that at z = -B / (2 A), and one at a z that is off
    by a share eta of it is at most ``|A| (eta z)^2`` below. On very short intervals the largest numerator and the smallest denominator do.
    """
    start, end = grid[:-1], grid[1:]
    slope = (high - low) / (end - start)
    rounding = UP * 64 * U * (np.abs(low) + np.abs(high) + (np.abs(linear) + np.abs(square)) * end)
    at_ends = np.stack([h + linear * s + square * s**2 for h, s in ((low, start), (high, end))])
    ratios = (D**2 * (at_ends + rounding) / np.stack([1 + D * start, 1 + D * end]) ** 2).max(axis=0)

    p, q, p_size, q_size = (
        low - slope * start,
        linear + slope,
        np.abs(low) + np.abs(slope) * start,
        np.abs(linear) + np.abs(slope),
    )
    A, B = p * D**2 - q * D + square, q * D - 2 * square
    eta = (
        64
        * U
        * (
            1
            + (p_size * D**2 + q_size * D + np.abs(square)) / np.abs(A)
            + (q_size * D + 2 * np.abs(square)) / np.abs(B)
        )
    )
    z = -B / (2 * A)
    # Rounding may put the top on the wrong side of an end, where the values are then nearly the same.
    inside = (A < 0) & (z * (1 + D * start) < 1 + 1e-6 + eta) & (z * (1 + D * end) > 1 - 1e-6 - eta)
    s = np.clip((1 / z - 1) / D, 0, 2)
    top = (
        D**2 * (low + slope * (s - start) + linear * s + square * s**2 + 2 * rounding) * z**2
        + UP * np.abs(A) * (eta * z) ** 2
    )
    ratios = np.where(inside, np.fmax(ratios, top), ratios)
    short = end - start < 1e-7 * end  # its ratio is taken for no better than that of its parts
    crude = D**2 * (at_ends.max(axis=0) + np.abs(square) * (end - start) ** 2 + rounding) / (1 + D * start) ** 2
    ratios = np.where(short, np.maximum(crude, 0.0), ratios)
    return ratios + 16 * U * np.abs(ratios)
