"""Fourier weights of some sets of records that exist: no proof can go below them. Weights that make
the sets equally good are therefore near the best weights.

If f and g depend on different bits, the Fourier weights of f g are those of f and g convolved. The
sets are products of

* one bit, any number of times: Fourier weights ``(1, 1) / 4``;
* m bits that are all alike, up to twice: ``C(m, l) (1 + (-1)^l) / 2 / 2^(2 (m - 1))``;
* at most r of m bits that are 0: C(m, l) times the square of the mean of f times l signs.

Strategies for all pairs or triples of 10 to 16 yes-or-no attributes are no better than mixtures of
these (measured at epsilon 2 to 4: to within 0.1 %).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np


def fourier_weights(length: int) -> np.ndarray:
    """(k, length + 1) W^l, l = 0, .., length, of sets of at most half of the records of this
    length; W^0 is the square of their share."""
    weights = np.unique(_products(length), axis=0)
    return np.asarray(weights[weights[:, 0] <= 1 / 4])


def _products(d: int) -> list[np.ndarray]:
    alike = [_alike(m) for m in range(2, d + 1)]
    balls = [_ball(m, r) for m in range(3, d + 1) for r in range(m)]
    two = [np.convolve(*pair) for pair in combinations_with_replacement(alike, 2)]
    products = list[np.ndarray]()
    for W in [np.ones(1), *alike, *two, *balls]:
        while len(W) <= d + 1:
            products.append(np.pad(W, (0, d + 1 - len(W))))
            W = np.convolve(W, [0.25, 0.25])
    return products


def _alike(m: int) -> np.ndarray:
    return np.array([comb(m, level) * (1 - level % 2) / 4 ** (m - 1) for level in range(m + 1)])


def _ball(m: int, r: int) -> np.ndarray:
    weights = np.zeros(m + 1)
    for level in range(m + 1):
        within = np.cumsum([comb(m - level, h) for h in range(m - level + 1)]) / 2**m
        total = sum(
            (-1) ** (level - h) * comb(level, h) * within[min(r - h, m - level)] for h in range(min(level, r) + 1)
        )
        weights[level] = comb(m, level) * total**2
    return weights
