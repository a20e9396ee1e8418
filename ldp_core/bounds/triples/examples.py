"""Fourier weights of some sets of records that exist: no proof can go below them. Weights that make
the sets equally good are therefore near the best weights.

If f and g depend on different bits, the Fourier weights of f g are those of f and g convolved. The
sets are products of

* one letter that is among c of q, any number of times: Fourier weights ``(p^2, p - p^2)``,
  p = c / q;
* m letters that are all alike, up to twice: ``C(m, l) ((q - 1)^l + (q - 1) (-1)^l) / q / q^(2 (m - 1))``;
* at most r of m letters that are among c: C(m, l) times the square of the
  mean of f times l functions. Each is a function of one letter with variance 1, constant on the c
  and on all others.

Strategies for all pairs or triples of 10 to 16 yes-or-no attributes are no better than mixtures of
these (measured at epsilon 2 to 4: to within 0.1 %).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np


def fourier_weights(length: int, alphabet: int = 2) -> np.ndarray:
    """(k, length + 1) W^l, l = 0, .., length, of sets of at most half of the records of this
    length; W^0 is the square of their share."""
    weights = np.unique(_products(length, alphabet), axis=0)
    return np.asarray(weights[weights[:, 0] <= 1 / 4])


def _products(d: int, q: int) -> list[np.ndarray]:
    shares = [c / q for c in range(1, q)]
    alike = [_alike(m, q) for m in range(2, d + 1)]
    balls = [_ball(m, r, p) for p in shares for m in range(3, d + 1) for r in range(m)]
    two = [np.convolve(*pair) for pair in combinations_with_replacement(alike, 2)]
    products = list[np.ndarray]()
    for p in shares:
        for W in [np.ones(1), *alike, *two, *balls]:
            while len(W) <= d + 1:
                products.append(np.pad(W, (0, d + 1 - len(W))))
                W = np.convolve(W, [p**2, p - p**2])
    return products


def _alike(m: int, q: int) -> np.ndarray:
    words = [((q - 1) ** level + (q - 1) * (-1) ** level) // q for level in range(m + 1)]
    return np.array([comb(m, level) * many / q ** (2 * m - 2) for level, many in enumerate(words)])


def _ball(m: int, r: int, p: float) -> np.ndarray:
    high, low, weights = ((1 - p) / p) ** 0.5, -((p / (1 - p)) ** 0.5), np.zeros(m + 1)
    for level in range(m + 1):
        ahead = np.cumsum([comb(m - level, h) * p**h * (1 - p) ** (m - level - h) for h in range(m - level + 1)])
        for h in range(min(level, r) + 1):
            term = comb(level, h) * (p * high) ** h * ((1 - p) * low) ** (level - h)
            weights[level] += term * ahead[min(r - h, m - level)]
        weights[level] = comb(m, level) * weights[level] ** 2
    return weights
