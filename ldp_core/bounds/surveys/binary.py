"""Yes-or-no attributes asked about one and two at a time: how large the energies of 0/1 functions are, from few attributes to more.

For a set T of records of d bits, of share a, let v_1 and v_2 be the coefficients of 1_T on single attributes and on pairs, W^k = |v_k|^2,
and ``F_d(a; p, q)`` the largest of ``p W^1 + q W^2`` over all T. For d = 5 it is known (`FIVE`: all 2^32 sets, up to symmetry), for
d = 6 where p = q (`SIX`). From d to d + 1: by the value of any one bit, T is made of two sets of d bits, of shares a and a', and with ``D = (a - a')^2 / 4``

    W^1 = D + |v_1 + v_1'|^2 / 4,    W^2 = |v_2 + v_2'|^2 / 4 + |v_1 - v_1'|^2 / 4.

Of products of coefficients it is known that ``+-2 v v' <= t |v|^2 + |v'|^2 / t`` for every t > 0, and that

    v_1 v_1' + v_2 v_2'  <=  min(a, a') - a a' + (t R + R' / t) / 2,    R = a (1 - a) - W^1 - W^2:

the sum over all levels is what both sets hold less a a', and the levels from 3 on add no less than ``-sqrt(R R')``. The bit may be the one
on which T depends least, when ``W^1 - (d + 1) D >= 0``, or most, when that is at most 0. Multiples of these make the products go, and
leave F_d of either set: a bound on F_(d+1) by pairs (a, a'), of which the largest with ``a + a' = 2 s`` counts. F is convex and homogeneous in
(p, q): numbers for some directions bound it in all others. Derived in this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from ldp_core.bounds.proof import MARGIN, Proof, spread
from ldp_core.bounds.surveys.certificate import bound
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Survey

MOST_BITS = 10
# The search along the directions ends where a bound is below this share of the best.
LEFT_BEHIND, HALVINGS, MOST_KEPT = 0.98, 2, 1000
FIVE = (
    ((0, 0),),
    ((5, 10),),
    ((16, 24), (0, 40)),
    ((29, 34), (5, 58)),
    ((48, 48), (0, 96)),
    ((61, 50), (5, 106)),
    ((80, 56), (0, 136)),
    ((101, 58), (5, 154)),
    ((128, 64), (0, 192)),
    ((133, 58), (5, 186)),
    ((144, 56), (0, 200)),
    ((157, 50), (5, 202)),
    ((176, 48), (0, 224)),
    ((189, 34), (5, 218)),
    ((208, 24), (0, 232)),
    ((229, 10), (5, 234)),
    ((256, 0), (0, 256)),
)
"""1,024 (W^1, W^2) of sets of 0, 1, .., 16 records of five bits: all others lie below lines through these (those of more than 16
records are complements)."""
# fmt: off
SIX = (0, 21, 60, 101, 160, 197, 252, 309, 384, 405, 444, 485, 544, 581, 636, 693, 768, 757, 764, 773, 800, 805, 828, 853, 896, 885, 892, 901,
       928, 933, 956, 981, 1024)
# fmt: on
"""4,096 (W^1 + W^2), the largest of sets of 0, 1, .., 32 records of six bits: of two sets of five bits each, those of which the sum is large
enough were gone through with all images."""
_DIRECTIONS = 25
_HALF = np.array([0.01, 0.06, 0.18, 0.35, 0.52, 0.7, 0.85, 1.0])
_BALANCES = np.concatenate([_HALF, 1 / _HALF[-2::-1]])
_LEANS = (0.4, 1.0, 2.5)
_DEPENDING = (0.1, 0.2, 0.4, 0.8)
# A step looks for the least bounds at so many shares of a part first, and so often at most; bounds looked at together.
_PLACES, _ROUNDS, _AT_ONCE = 8, 6, 64
# Rounding of a step is a few units in the last place of terms of at most 10.
_UP, _MORE = 1 + 1e-12, 1e-14


_ANGLES = np.linspace(0, math.pi / 2, _DIRECTIONS)


def weights(angle: float) -> tuple[float, float]:
    """(p, q) of an angle from 0 to pi / 2."""
    return max(math.cos(angle), 0.0), math.sin(angle)


_DIRECTION = np.array([weights(angle) for angle in _ANGLES])


@dataclass(frozen=True, repr=False)
class BinaryCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey` about attributes of two values, one and two at a
    time. The proof is the ``angle`` of the weights (cos, sin) of single attributes and pairs: the rest is worked out anew, once for each
    number of attributes (seconds for ten)."""

    workload: Survey
    epsilon: float
    value: float
    angle: float

    def proven(self) -> float:
        if not (0 <= self.angle <= math.pi / 2 and fits(self.workload)):
            return -math.inf
        return proved(self.workload, self.epsilon, float(self.angle))


def fits(survey: Survey) -> bool:
    """Whether the questions are about single yes-or-no attributes and pairs of them, few enough."""
    bits = sum(size == 2 for size in survey.shape)
    few = max(survey.shape) == 2 and bits <= MOST_BITS
    return few and survey.symmetric and {len(members) for members in survey.components.sets} == {1, 2}


def proved(survey: Survey, epsilon: float, angle: float, check: Check = unchecked) -> float:
    """The bound of a survey that `fits` with these weights."""
    bits = max(5, sum(size == 2 for size in survey.shape))
    D, shares = spread(epsilon), np.arange(2**bits + 1) / 2**bits
    ratio = float((row(bits, angle, check) * (D**2 / (1 + D * shares) ** 2)).max()) * _UP
    single = np.array([len(members) == 1 for members in survey.components.sets])
    return bound(survey, np.where(single, *weights(angle)), ratio)


def best(survey: Survey, epsilon: float, check: Check = unchecked) -> Iterator[BinaryCertificate]:
    """Certificates for a survey that `fits`, better and better: angles to either side of equal weights, then between the best ones."""
    found: dict[float, float] = {}

    def tried(angle: float) -> float:
        found[angle] = proved(survey, epsilon, angle, check)
        return found[angle]

    centre = _DIRECTIONS // 2
    for side in (_ANGLES[centre::-1], _ANGLES[centre + 1 :]):
        for angle in map(float, side):
            if tried(angle) >= max(found.values()):
                yield BinaryCertificate(survey, epsilon, found[angle] * (1 - MARGIN), angle)
            elif found[angle] < LEFT_BEHIND * max(found.values()):
                break
    step = float(_ANGLES[1])
    for _ in range(HALVINGS):
        step /= 2
        top = max(found, key=found.__getitem__)
        for angle in (top - step, top + step):
            if 0 <= angle <= math.pi / 2 and tried(angle) >= max(found.values()):
                yield BinaryCertificate(survey, epsilon, found[angle] * (1 - MARGIN), angle)


_KNOWN: dict[tuple[int, float], np.ndarray] = {}


def row(bits: int, angle: float, check: Check = unchecked) -> np.ndarray:
    """(2^bits + 1,) upper bounds on F with these weights for 0, 1, .., 2^bits records."""
    key = (bits, angle)
    if key not in _KNOWN:
        if len(_KNOWN) >= MOST_KEPT:
            _KNOWN.clear()
        _KNOWN[key] = _five(angle) if bits == 5 else _step(bits, angle, check)
        _KNOWN[key].flags.writeable = False
    return _KNOWN[key]


def _five(angle: float) -> np.ndarray:
    p, q = weights(angle)
    half = np.array([max(p * a + q * b for a, b in points) for points in FIVE]) / 1024
    return np.concatenate([half, half[-2::-1]]) * _UP


def _step(bits: int, angle: float, check: Check) -> np.ndarray:
    """From the rows of one bit less. Complements have the same energies, so half of the numbers of records do."""
    known = np.stack([row(bits - 1, float(k), check) for k in _ANGLES])
    p, q = weights(angle)
    by_sign = [
        [_bounds(known, p, q, sign * depending, bits) for depending in (0.0, *_DEPENDING) if p + sign * depending >= 0]
        for sign in (1, -1)
    ]
    # T chooses the share; on which bit to condition, the one it depends on least or most, is chosen after that.
    half = np.minimum(*(_largest(_joined(found), check) for found in by_sign))
    records = known.shape[1] - 1
    s = np.arange(records + 1) / (2 * records)
    half = np.minimum(half, max(p, q) * s * (1 - s)) * _UP + _MORE
    if bits == 6 and 0 < angle < math.pi / 2:
        alone = row(bits, float(_ANGLES[0 if p > q else -1]), check)[: records + 1]
        half = np.minimum(half, (abs(p - q) * alone + min(p, q) * np.array(SIX) / 4096) * _UP)
    return np.concatenate([half, half[-2::-1]])


@dataclass(frozen=True)
class _Bounds:
    """Bounds on sets that are made of two, of shares a and a': ``first[:, a] + second[:, a'] + joint (min(a, a') - a a') + apart (a - a')^2``,
    the shares as numbers of records (k, n + 1)."""

    first: np.ndarray
    second: np.ndarray
    joint: np.ndarray
    apart: np.ndarray

    def at(self, which: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(which, places) values where the parts are of ``a`` and ``b`` records (places,), b no more than a."""
        most = self.first.shape[1] - 1
        found = self.first[which[:, None], a] + self.second[which[:, None], b]
        found += self.joint[which, None] * ((most - a) * b / most**2)
        found += self.apart[which, None] * ((a - b) / most) ** 2
        return np.asarray(found)


def _joined(parts: list[_Bounds]) -> _Bounds:
    return _Bounds(
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.joint for part in parts]),
        np.concatenate([part.apart for part in parts]),
    )


def _bounds(known: np.ndarray, p: float, q: float, depending: float, bits: int) -> _Bounds:
    """For all multipliers of the products, with ``depending`` times what is known of the bit."""
    apart = (p - (bits - 1) * depending) / 4
    p += depending
    mixed = []  # multipliers: of the sum of both products; in that, of the rest; of products on single attributes; on pairs
    for t, u in product(_BALANCES if p != q else (1.0,), _BALANCES if q > 0 else (1.0,)):
        mixed.append((0.0, 1.0, t, u))
    for share, own in ((0.5, _BALANCES[::2]), (1.0, np.ones(1))) if q > 0 else ():
        mixed += [*product((share * q / 2,), _LEANS, _BALANCES[::2] if share < 1 else _BALANCES, own)]
    part, lean, t, u = np.array(mixed).T
    s = np.linspace(0, 1, known.shape[1])

    def side(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        single = (p + q) / 4 + np.abs((p - q) / 2 - part) / 2 * x - part * y / 2
        pairs = q / 4 + (q / 2 - part) / 2 * z - part * y / 2
        return np.asarray(_at(known, single, pairs) + (part * y / 2)[:, None] * s * (1 - s))

    return _Bounds(side(t, lean, u), side(1 / t, 1 / lean, 1 / u), part, np.full(len(part), apart))


def _largest(bounds: _Bounds, check: Check) -> np.ndarray:
    """(n + 1,) the largest over sets of 0, 1, .., n records of the least bound.

    Any of the bounds is valid at any place, so that few will do: those that are least at some places, and then, again and again,
    those that are least where the largest values are left.
    """
    records = bounds.first.shape[1] - 1
    sums = np.repeat(np.arange(records + 1), np.arange(records + 1) // 2 + 1)
    starts = np.searchsorted(sums, np.arange(records + 1))
    b = np.arange(len(sums)) - starts[sums]
    a = sums - b
    table, used = np.full(len(sums), np.inf), np.zeros(len(bounds.joint), dtype=bool)
    looked_at = np.flatnonzero((a % (records // _PLACES) == 0) & (b % (records // _PLACES) == 0))
    for _ in range(_ROUNDS):
        check()
        least, chosen = np.full(len(looked_at), np.inf), np.zeros(len(looked_at), dtype=np.int64)
        for k in range(0, len(used), _AT_ONCE):
            which = np.arange(k, min(k + _AT_ONCE, len(used)))
            values = bounds.at(which, a[looked_at], b[looked_at])
            best = values.min(axis=0)
            chosen = np.where(best < least, k + values.argmin(axis=0), chosen)
            least = np.minimum(best, least)
        new = np.unique(chosen)
        new = new[~used[new]]
        if not len(new):
            break
        used[new] = True
        for one in new:
            np.minimum(table, bounds.at(np.array([one]), a, b)[0], out=table)
        largest = np.maximum.reduceat(table, starts)
        at_top = np.flatnonzero(table == largest[sums])
        looked_at = at_top[np.unique(sums[at_top], return_index=True)[1]]
    return np.asarray(largest)


def _at(known: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(k, n + 1) upper bounds on F for any weights (k,), of which negative ones count for nothing: (p, q) is at most a sum of two
    directions next to each other."""
    p, q = np.maximum(p, 0.0), np.maximum(q, 0.0)
    k = np.minimum((np.arctan2(q, p) / (math.pi / 2) * (_DIRECTIONS - 1)).astype(np.int64), _DIRECTIONS - 2)
    (a, b), (c, d) = _DIRECTION[k].T, _DIRECTION[k + 1].T
    scale = a * d - b * c
    low = np.maximum(0.0, p * d - q * c) / scale + 1e-13 * (p + q)
    high = np.maximum(0.0, q * a - p * b) / scale + 1e-13 * (p + q)
    return np.asarray((low[:, None] * known[k] + high[:, None] * known[k + 1]) * _UP)
