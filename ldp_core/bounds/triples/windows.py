"""Windows: a set of records seen through four disjoint groups of bits, each flipped as one, is a set of records of four bits.

Let b_1, .., b_4 bits be in the groups, chosen at random among all, and z a record at random. What T has of the 16 records that come of z by
flipping groups is one of the 2^16 sets of four bits, and the means of its products over pairs that differ in the groups of u (a
set of groups) are on average the moment P_r of T, r the number of bits in u; over triples, z and what u and v flip, the t at these three distances
(`ldp_core.bounds.triples.moments`). So a linear form in the 52 means of sets of four bits that is not negative for any of the
2^16 is not negative for T either. Triples of records, one by one, know nothing of that: 16 records at once do.

A window is kept as (56,) numbers: b_1, .., b_4, and the form, of 1, a, the 15 P by u, and the 35 t by {u, v, u xor v}. Its
numbers are multiples of `UNIT` between -1 and 1, and means of sets of four bits are multiples of 1/16: all sums are exact. Where a form is
negative for some set, its constant is raised by that much. Derived in this project.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linprog

from ldp_core.bounds.triples.moments import Moments

GROUPS, WIDTH, UNIT = 4, 56, 2.0**-30
# Windows that are looked through have at most so many bits in a group, and are so many at most.
_MOST_IN_A_GROUP, _MOST_KINDS = 5, 14
# A form joins where it is negative by this share of a.
_DEEP = 3e-4
_AT_ONCE = 256

_LINES = sorted({tuple(sorted((u, v, u ^ v))) for u in range(1, 16) for v in range(1, 16) if u != v})


@cache
def means() -> np.ndarray:
    """(k, 52) the means of all sets of four bits, each once."""
    records = np.arange(16)
    sets = ((np.arange(2**16)[:, None] >> records) & 1).astype(np.int16)
    found = [np.full(len(sets), 16), sets.sum(axis=1)]
    found += [(sets * sets[:, records ^ u]).sum(axis=1) for u in range(1, 16)]
    found += [(sets * sets[:, records ^ u] * sets[:, records ^ v]).sum(axis=1) for u, v, _ in _LINES]
    return np.unique(np.stack(found, axis=1), axis=0) / 16


def places(known: Moments, groups: tuple[int, ...]) -> np.ndarray:
    """(52,) the numbers of the moments that the means are on average. ValueError for groups that are none."""
    if len(groups) != GROUPS or min(groups) < 1 or sum(groups) > known.bits:
        raise ValueError(f"A window has four groups of one bit or more, {known.bits} together at most; got {groups}.")
    many = [sum(b for k, b in enumerate(groups) if u >> k & 1) for u in range(16)]
    pairs = [known.pair(many[u]) for u in range(1, 16)]
    triples = [known.triple(many[u], many[v], (many[u] + many[v] - many[w]) // 2) for u, v, w in _LINES]
    return np.array([0, known.pair(0), *pairs, *triples])


def valid(windows: np.ndarray, bits: int) -> bool:
    """Whether the rows (w, 56) are windows on ``bits`` bits."""
    groups, forms = windows[:, :GROUPS], windows[:, GROUPS:]
    whole = np.array_equal(groups, np.rint(groups)) and np.array_equal(forms / UNIT, np.rint(forms / UNIT))
    within = groups.min(initial=1) >= 1 and groups.sum(axis=1).max(initial=0) <= bits
    return bool(whole and within and np.abs(forms).max(initial=0) <= 1)


def forms(known: Moments, windows: np.ndarray) -> np.ndarray:
    """(w, moments) what is never negative, by `valid` windows."""
    found = np.zeros((len(windows), known.count))
    for start in range(0, len(windows), _AT_ONCE):
        own = windows[start : start + _AT_ONCE, GROUPS:]
        found[start : start + _AT_ONCE, 0] = np.maximum(-(own @ means().T).min(axis=1), 0.0)
    for row, window in zip(found, windows, strict=True):
        np.add.at(row, places(known, tuple(int(b) for b in window[:GROUPS])), window[GROUPS:])
    return found


def violated(known: Moments, moments: np.ndarray) -> np.ndarray:
    """(w, 56) windows with forms that the ``moments`` do not obey, the deepest of every kind of window."""
    found = []
    for groups in _kinds(known.bits):
        own, of, vertices = _merged(known, groups)
        solved = linprog(
            moments[own] / moments[1] * np.bincount(of),
            -vertices,
            np.zeros(len(vertices)),
            bounds=(-1, 1),
            method="highs",
        )
        if solved.success and solved.fun < -_DEEP:
            found.append([*groups, *np.rint(solved.x[of] / UNIT) * UNIT])
    return np.array(found).reshape(-1, WIDTH)


def _kinds(bits: int) -> list[tuple[int, ...]]:
    made = combinations_with_replacement(range(1, _MOST_IN_A_GROUP + 1), GROUPS)
    return [groups for groups in made if sum(groups) <= bits][:_MOST_KINDS]


@lru_cache(maxsize=128)
def _merged(known: Moments, groups: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The moments (k,) of a window, which of them each mean is (52,), and sums of means (vertices, k) of all sets of four bits by moment."""
    own, of = np.unique(places(known, groups), return_inverse=True)
    vertices = means() @ np.eye(len(own))[of]
    return own, of, np.unique(vertices, axis=0)
