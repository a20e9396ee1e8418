"""Windows: a set of records seen through four disjoint groups of bits, each flipped together, is a
set of records of four bits.

Let b_1, .., b_4 bits be in the groups, chosen at random among all, and z a record at random.
Flipping groups turns z into 16 records; those in T form one of the 2^16 sets of four bits. The
means of its products over pairs that differ in the groups of u (a set of groups) are on average the
moment P_r of T, r the number of bits in u. Over triples, z and its flips by u and v, they are the t
at these three distances (`ldp_core.bounds.triples.moments`). A linear form in the 52 means of sets
of four bits that is negative for none of the 2^16 is therefore not negative for T either. Letters
of more than two are flipped to others at random: no three of the 16 records then differ at one
place, and all else is the same. Single triples of records do not imply this: 16 records at once do.

A window is kept as (56,) numbers: b_1, .., b_4, and the form, of 1, a, the 15 P by u, and the 35 t
by {u, v, u xor v}; one through five groups (`ldp_core.bounds.triples.wide`), four of b bits and one
of c, as 0, 0, b, c, its form, and zeros. Its numbers are multiples of `UNIT` between -1 and 1, and
means of sets of four bits are multiples of 1/16: all sums are exact. If a form is negative for some
set, its constant is raised by that much. Derived in this project.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from ldp_core.bounds.triples import wide
from ldp_core.bounds.triples.moments import Moments

GROUPS = 4
WIDTH = 56
UNIT = 2.0**-30
# More wide windows are refused: to go through all sets takes a tenth of a second for each.
WIDE_WINDOWS = 400
_AT_ONCE = 256

_LINES = sorted({tuple(sorted((u, v, u ^ v))) for u in range(1, 16) for v in range(1, 16) if u != v})


@cache
def means() -> np.ndarray:
    """(k, 52) the means of all sets of four bits, each once."""
    records = np.arange(16)
    sets = ((np.arange(2**16)[:, None] >> records) & 1).astype(np.int16)
    columns = [np.full(len(sets), 16), sets.sum(axis=1)]
    columns += [(sets * sets[:, records ^ u]).sum(axis=1) for u in range(1, 16)]
    columns += [(sets * sets[:, records ^ u] * sets[:, records ^ v]).sum(axis=1) for u, v, _ in _LINES]
    return np.unique(np.stack(columns, axis=1), axis=0) / 16


@lru_cache(maxsize=256)
def places(known: Moments, groups: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(k,) the moments that the means of a window, or its sums of means, are on average, and how many means these are. ValueError for groups that are none."""
    if groups[:2] == (0, 0):
        return wide.places(known, *groups[2:])
    if len(groups) != GROUPS or min(groups) < 1 or sum(groups) > known.length:
        raise ValueError(f"A window has four groups of one bit or more, {known.length} together at most; got {groups}.")
    many = [sum(b for k, b in enumerate(groups) if u >> k & 1) for u in range(16)]
    pairs = [known.pair(many[u]) for u in range(1, 16)]
    triples = [known.triple(many[u], many[v], (many[u] + many[v] - many[w]) // 2) for u, v, w in _LINES]
    moments = np.array([0, known.pair(0), *pairs, *triples])
    return moments, np.ones(len(moments))


def valid(windows: np.ndarray, bits: int) -> bool:
    """True if the rows (w, 56) are windows on ``bits`` bits."""
    groups, forms = windows[:, :GROUPS], windows[:, GROUPS:]
    whole = np.array_equal(groups, np.rint(groups)) and np.array_equal(forms / UNIT, np.rint(forms / UNIT))
    five = _five(windows)
    four, (b, c) = groups[~five], groups[five, 2:].T
    within = four.min(initial=1) >= 1 and four.sum(axis=1).max(initial=0) <= bits
    within &= min(b.min(initial=1), c.min(initial=1)) >= 1 and (4 * b + c).max(initial=0) <= bits
    few = five.sum() <= WIDE_WINDOWS and not forms[five, wide.CLASSES :].any()
    return bool(whole and within and few and np.abs(forms).max(initial=0) <= 1)


def _five(windows: np.ndarray) -> np.ndarray:
    """(w,) which windows are wide."""
    return np.asarray((windows[:, :2] == 0).all(axis=1))


def forms(known: Moments, windows: np.ndarray) -> np.ndarray:
    """(w, moments) what is never negative, by `valid` windows."""
    values, five = np.zeros((len(windows), known.count)), _five(windows)
    least = np.zeros(len(windows))
    least[five] = [wide.smallest(row[GROUPS : GROUPS + wide.CLASSES]) for row in windows[five]]
    four = np.flatnonzero(~five)
    for start in range(0, len(four), _AT_ONCE):
        own = four[start : start + _AT_ONCE]
        least[own] = (windows[own, GROUPS:] @ means().T).min(axis=1)
    values[:, 0] = np.maximum(-least, 0.0)
    for row, window in zip(values, windows, strict=True):
        moments, many = places(known, tuple(int(b) for b in window[:GROUPS]))
        np.add.at(row, moments, many * window[GROUPS:][: len(moments)])
    return values
