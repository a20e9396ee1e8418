"""Energies of some sets of records that exist: no proof says less of them, so that the weights for which they are alike are near the best ones.

Where f depends on some bits and g on others, the energies of f g are those of f and g convolved. The sets are products of

* one bit that is 1, any number of times: energies (1, 1) / 4;
* m bits that are all alike, up to twice: C(m, l) / 4^(m - 1) for even l, and 0 for odd ones;
* at most r of m bits that are 1: C(m, l) (sum_{i <= r} K_i(l))^2 / 4^m with the polynomials K of Krawtchouk.

Strategies for all pairs or triples of 10 to 16 yes-or-no attributes are no better than mixtures of these (measured at epsilon 2 to 4: to within 0.1 %).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from ldp_core.workloads.symmetry import krawtchouk


def energies(bits: int) -> np.ndarray:
    """(k, bits + 1) W^l of sets of at most half of the records of ``bits`` bits, l = 0, .., bits; W^0 is the square of their share."""
    found = np.unique(_products(bits), axis=0)
    return np.asarray(found[found[:, 0] <= 1 / 4])


def _products(bits: int) -> list[np.ndarray]:
    alike, balls = [_alike(m) for m in range(2, bits + 1)], [_ball(m, r) for m in range(3, bits + 1) for r in range(m)]
    two = [np.convolve(*pair) for pair in combinations_with_replacement(alike, 2)]
    one, found = np.full(2, 1 / 4), list[np.ndarray]()
    for W in [np.ones(1), *alike, *two, *balls]:
        while len(W) <= bits + 1:
            found.append(np.pad(W, (0, bits + 1 - len(W))))
            W = np.convolve(W, one)
    return found


def _alike(m: int) -> np.ndarray:
    return np.array([comb(m, level) * (level % 2 == 0) / 4.0 ** (m - 1) for level in range(m + 1)])


def _ball(m: int, r: int) -> np.ndarray:
    around = np.array([comb(m, level) for level in range(m + 1)])
    return np.asarray(around * (krawtchouk(m)[:, : r + 1].sum(axis=1) / 2.0**m) ** 2)
