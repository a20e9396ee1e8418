"""How large the energies of sets of records of bits are on degrees one, two and three, from few bits to more.

As `ldp_core.bounds.surveys.binary`, with a degree more. For a set T of share a, W^k = |v_k|^2 are the squares of the coefficients of 1_T on
k bits, and ``F(a; w)`` the largest of ``w_1 W^1 + w_2 W^2 + w_3 W^3``. Of two sets of one bit less, with ``D = (a - a')^2 / 4``,

    W^1 = D + |v_1 + v_1'|^2 / 4,    W^k = |v_k + v_k'|^2 / 4 + |v_(k-1) - v_(k-1)'|^2 / 4,

and ``+-2 v v' <= t |v|^2 + |v'|^2 / t``, and ``sum_k v_k v_k' <= min(a, a') - a a' + (t R + R' / t) / 2`` with ``R = a (1 - a) - W^1 - W^2 - W^3``;
the bit is the one on which T depends least or most. For five bits all sets are gone through: of two sets of four bits, one may be
taken from each class under permutations and flips. F is convex and homogeneous in w, so that numbers at the corners of a grid of
triangles bound it in between.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np

from ldp_core.bounds.surveys import binary
from ldp_core.run import Check, unchecked
from ldp_core.workloads import walsh_hadamard

FEWEST_BITS = 5
# Corners of the grid have coordinates in so many parts.
_PARTS = 8
_CORNERS = np.array([(i, j, _PARTS - i - j) for i in range(_PARTS + 1) for j in range(_PARTS + 1 - i)])
_PLACE = {(int(i), int(j)): k for k, (i, j, _) in enumerate(_CORNERS)}
_HALF = np.array([0.03, 0.2, 0.45, 0.7, 0.88, 1.0])
_BALANCES = np.concatenate([_HALF, 1 / _HALF[-2::-1]])
_LEANS = (0.4, 1.0, 2.5)
_DEPENDING = (0.1, 0.3, 0.8)
# Rounding of a step is a few units in the last place of terms of at most 10.
_UP, _MORE = 1 + 1e-12, 1e-14


def directions() -> np.ndarray:
    """(r, 3) weights of degrees one, two and three, which sum to 1."""
    return _CORNERS / _PARTS


def rows(bits: int, check: Check = unchecked) -> np.ndarray:
    """(r, 2^bits + 1) upper bounds on F in all `directions` for 0, 1, .., 2^bits records."""
    if bits not in _KNOWN:
        _KNOWN[bits] = np.stack([row(bits, weights, check) for weights in directions()])
        _KNOWN[bits].flags.writeable = False
    return _KNOWN[bits]


def row(bits: int, weights: np.ndarray, check: Check = unchecked) -> np.ndarray:
    """(2^bits + 1,) the same for ``weights`` (3,), which are not negative and sum to 1."""
    return _of_five(weights) if bits == FEWEST_BITS else _step(bits, rows(bits - 1, check), weights, check)


_KNOWN: dict[int, np.ndarray] = {}


@cache
def five() -> np.ndarray:
    """(k, 4) number of records and 1,024 (W^1, W^2, W^3) of all sets of five bits, each once."""
    codes, records = np.arange(2**16), np.arange(16)
    sets = (codes[:, None] >> records) & 1
    spectrum, level = walsh_hadamard(sets).astype(float), np.bitwise_count(records)
    # A key holds the four numbers as digits. W^k and W^(k+1) have the squares of degree k, and its products with opposite signs: all
    # these are whole numbers below 2^53, and so exact however they are added.
    digits = np.array([0, 2000**2, 2000, 1, 0])
    above = np.append(digits[1:], 0)
    own = spectrum**2 @ (digits + above)[level] + 2000**3 * spectrum[:, 0]
    crossed = spectrum * 2 * (digits - above)[level]
    images = [
        sum(((records >> bit & 1) << place for bit, place in enumerate(order)), start=np.zeros(16, np.int64)) ^ flip
        for order in permutations(range(4))
        for flip in records
    ]
    seen, found = np.zeros(2**16, dtype=bool), set[int]()
    for code in codes[sets.sum(axis=1) <= 8]:  # otherwise the complement, or the other way round
        if seen[code]:
            continue
        seen[sets[code][np.array(images)] @ (1 << records)] = True
        found.update(np.unique((own + own[code] + spectrum @ crossed[code]).astype(np.int64)).tolist())
    keys = np.array(sorted(found))
    half = np.stack([keys // 2000**3, keys // 2000**2 % 2000, keys // 2000 % 2000, keys % 2000], axis=1)
    return np.unique(np.vstack([half, half * [-1, 1, 1, 1] + [32, 0, 0, 0]]), axis=0)


def _of_five(weights: np.ndarray) -> np.ndarray:
    points = five()
    found = np.zeros(33)
    np.maximum.at(found, points[:, 0], points[:, 1:] @ weights / 1024)
    return found * _UP


def _step(bits: int, known: np.ndarray, weights: np.ndarray, check: Check) -> np.ndarray:
    """From the rows of one bit less. Complements have the same energies, so half of the numbers of records do."""
    by_sign = [
        [
            _bounds(known, weights, sign * depending, bits)
            for depending in (0.0, *_DEPENDING)
            if weights[0] + sign * depending >= 0
        ]
        for sign in (1, -1)
    ]
    half = np.minimum(*(binary._largest(binary._joined(found), check) for found in by_sign))
    records = known.shape[1] - 1
    s = np.arange(records + 1) / (2 * records)
    half = np.minimum(half, weights.max() * s * (1 - s)) * _UP + _MORE
    return np.concatenate([half, half[-2::-1]])


def _bounds(known: np.ndarray, weights: np.ndarray, depending: float, bits: int) -> binary._Bounds:
    """For all multipliers of the products, with ``depending`` times what is known of the bit."""
    apart = (weights[0] - (bits - 1) * depending) / 4
    w = np.array([weights[0] + depending, *weights[1:], 0.0])
    own, crossed = (w[:-1] + w[1:]) / 4, (w[:-1] - w[1:]) / 2
    mixed = [
        (0.0, 1.0, t) for t in _BALANCES
    ]  # multipliers: of the sum of all products; in that, of the rest; of each product
    mixed += product((weights[2] / 2,), _LEANS, _BALANCES) if weights[2] > 0 else ()
    mixed += product((weights[2] / 4,), (1.0,), _BALANCES) if weights[2] > 0 else ()
    part, lean, t = np.array(mixed).T
    s = np.linspace(0, 1, known.shape[1])

    def side(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        at = own + np.abs(crossed - part[:, None]) / 2 * x[:, None] - (part * y / 2)[:, None]
        return np.asarray(_at(known, at) + (part * y / 2)[:, None] * s * (1 - s))

    return binary._Bounds(side(t, lean), side(1 / t, 1 / lean), part, np.full(len(part), apart))


def _at(known: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(k, n + 1) upper bounds on F for any weights (k, 3), of which negative ones count for nothing: w is a mean of three corners."""
    w = np.maximum(w, 0.0)
    total = w.sum(axis=1)
    x, y = (_PARTS * w[:, k] / np.where(total > 0, total, 1.0) for k in (0, 1))
    i = np.clip(np.floor(x), 0, _PARTS - 1).astype(int)
    j = np.clip(np.floor(y), 0, _PARTS - 1 - i).astype(int)
    x, y = x - i, y - j
    upper = (x + y > 1) & (i + j < _PARTS - 1)
    shares = np.where(upper, [x + y - 1, 1 - y, 1 - x], [1 - x - y, x, y])
    third = np.where(upper, [i + 1, j + 1], [i, j])
    corners = np.array(
        [[_PLACE[int(a), int(b)] for a, b in zip(*at, strict=True)] for at in (third, (i + 1, j), (i, j + 1))]
    )
    shares = (np.maximum(shares, 0.0) + 1e-13) * total
    return np.asarray(np.einsum("ck,ckn->kn", shares, known[corners]) * _UP)
