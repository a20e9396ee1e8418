"""Yes-or-no attributes asked about one and two at a time: how large the energies of 0/1 functions are, from few attributes to more.

For a set T of records of d bits, of share a, let v_1 and v_2 be the coefficients of 1_T on single attributes and on pairs, W^k = |v_k|^2,
and ``F_d(a; p, q)`` the largest of ``p W^1 + q W^2`` over all T. For d = 5 it is known (`FIVE`: all 2^32 sets, up to symmetry). From
d to d + 1: by the value of any one bit, T is made of two sets of d bits, of shares a and a', and with ``D = (a - a')^2 / 4``

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

import numpy as np

from ldp_core.bounds.proof import Proof, spread
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
_DIRECTIONS = 33
_HALF = np.array([0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])
_BALANCES = np.concatenate([_HALF, 1 / _HALF[-2::-1]])
_LEANS = (0.25, 0.5, 1.0, 2.0, 4.0)
_DEPENDING = (0.15, 0.4, 1.0)
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

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over the types, nor for its worst type."""
        return max(0.0, (self.value - self.workload.trace) / self.workload.n)

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
                yield BinaryCertificate(survey, epsilon, found[angle], angle)
            elif found[angle] < LEFT_BEHIND * max(found.values()):
                break
    step = float(_ANGLES[1])
    for _ in range(HALVINGS):
        step /= 2
        top = max(found, key=found.__getitem__)
        for angle in (top - step, top + step):
            if 0 <= angle <= math.pi / 2 and tried(angle) >= max(found.values()):
                yield BinaryCertificate(survey, epsilon, found[angle], angle)


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
    records = known.shape[1] - 1
    first, second = (
        np.arange(records + 1)[:, None],
        np.arange(records // 2 + 1),
    )  # the larger part, or as large, comes first
    shares = first / records, second / records
    least = most = np.full((len(first), len(second)), np.inf)
    p, q = weights(angle)
    for depending in (0.0, *_DEPENDING):
        check()
        for sign in (1, -1) if depending else (1,):
            if p + sign * depending >= 0:
                extra = sign * depending
                own = (
                    _parts(known, shares, p + extra, q, check)
                    + (p - bits * extra + extra) * (shares[0] - shares[1]) ** 2 / 4
                )
                least = np.minimum(least, own) if extra >= 0 else least
                most = np.minimum(most, own) if extra <= 0 else most
    half = np.minimum(_antidiagonals(least, records), _antidiagonals(most, records))
    s = np.arange(records + 1) / (2 * records)
    half = np.minimum(half, max(p, q) * s * (1 - s)) * _UP + _MORE
    return np.concatenate([half, half[-2::-1]])


def _parts(known: np.ndarray, shares: tuple[np.ndarray, np.ndarray], p: float, q: float, check: Check) -> np.ndarray:
    """(n + 1, n / 2 + 1) bounds on ``(p + q) (|v_1|^2 + |v_1'|^2) / 4 + (p - q) v_1 v_1' / 2 + q |v_2 + v_2'|^2 / 4``."""
    a, b = shares
    best = np.full((len(a), len(b)), np.inf)
    for t in _BALANCES if p != q else np.ones(1):
        check()
        for u in _BALANCES if q > 0 else np.ones(1):
            one, two = (
                _at(known, (p + q) / 4 + abs(p - q) / 4 * x, q / 4 + q / 4 * y) for x, y in ((t, u), (1 / t, 1 / u))
            )
            np.minimum(best, one[:, None] + two[: len(b)], out=best)
    # With ``share`` q / 2 times what is known of the sum of both products, less of each is left; of v_2 v_2' nothing where the share is 1.
    for share, own in ((0.5, _BALANCES[::2]), (1.0, np.ones(1))) if q > 0 else ():
        part, rest = share * q / 2, np.minimum(a, b) - a * b
        for lean in _LEANS:
            check()
            whole = part * (rest + (lean * a * (1 - a) + b * (1 - b) / lean) / 2)
            for t in _BALANCES[::2] if share < 1 else _BALANCES:
                for u in own:
                    one, two = (
                        _at(
                            known,
                            (p + q) / 4 + abs((p - q) / 2 - part) / 2 * x - part * y / 2,
                            q / 4 + (q / 2 - part) / 2 * z - part * y / 2,
                        )
                        for x, y, z in ((t, lean, u), (1 / t, 1 / lean, 1 / u))
                    )
                    np.minimum(best, one[:, None] + two[: len(b)] + whole, out=best)
    return best


def _at(known: np.ndarray, p: float, q: float) -> np.ndarray:
    """(n + 1,) an upper bound on F for any weights, of which negative ones count for nothing: (p, q) is at most a sum of two directions
    next to each other."""
    p, q = max(p, 0.0), max(q, 0.0)
    k = min(int(math.atan2(q, p) / (math.pi / 2) * (_DIRECTIONS - 1)), _DIRECTIONS - 2)
    (a, b), (c, d) = _DIRECTION[k], _DIRECTION[k + 1]
    scale = a * d - b * c
    parts = (max(0.0, p * d - q * c) / scale + 1e-13 * (p + q), max(0.0, q * a - p * b) / scale + 1e-13 * (p + q))
    return (parts[0] * known[k] + parts[1] * known[k + 1]) * _UP


def _antidiagonals(table: np.ndarray, most: int) -> np.ndarray:
    """(most + 1,) the largest entry whose row and column add up to 0, 1, .., most."""
    rows, columns = table.shape
    padded = np.full((rows, rows + columns), -np.inf)
    padded[:, :columns] = table
    return padded.ravel()[: rows * (rows + columns - 1)].reshape(rows, -1).max(axis=0)[: most + 1]
