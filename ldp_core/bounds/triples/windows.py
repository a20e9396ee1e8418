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
by {u, v, u xor v}. Its numbers are multiples of `UNIT` between -1 and 1, and means of sets of four
bits are multiples of 1/16: all sums are exact. If a form is negative for some set, its constant is
raised by that much. Derived in this project.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from ldp_core.bounds.triples.moments import Moments

GROUPS = 4
WIDTH = 56
UNIT = 2.0**-30
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
def places(known: Moments, groups: tuple[int, ...]) -> np.ndarray:
    """(52,) the moments that the means of a window are on average. ValueError for groups that are none."""
    if len(groups) != GROUPS or min(groups) < 1 or sum(groups) > known.length:
        raise ValueError(f"A window has four groups of one bit or more, {known.length} together at most; got {groups}.")
    many = [sum(b for k, b in enumerate(groups) if u >> k & 1) for u in range(16)]
    pairs = [known.pair(many[u]) for u in range(1, 16)]
    triples = [known.triple(many[u], many[v], (many[u] + many[v] - many[w]) // 2) for u, v, w in _LINES]
    return np.array([0, known.pair(0), *pairs, *triples])


def valid(windows: np.ndarray, bits: int) -> bool:
    """True if the rows (w, 56) are windows on ``bits`` bits."""
    groups, forms = windows[:, :GROUPS], windows[:, GROUPS:]
    whole = np.array_equal(groups, np.rint(groups)) and np.array_equal(forms / UNIT, np.rint(forms / UNIT))
    within = groups.min(initial=1) >= 1 and groups.sum(axis=1).max(initial=0) <= bits
    return bool(whole and within and np.abs(forms).max(initial=0) <= 1)


def forms(known: Moments, windows: np.ndarray) -> np.ndarray:
    """(w, moments) what is never negative, by `valid` windows."""
    values, least = np.zeros((len(windows), known.count)), np.zeros(len(windows))
    for start in range(0, len(windows), _AT_ONCE):
        least[start : start + _AT_ONCE] = (windows[start : start + _AT_ONCE, GROUPS:] @ means().T).min(axis=1)
    values[:, 0] = np.maximum(-least, 0.0)
    for row, window in zip(values, windows, strict=True):
        np.add.at(row, places(known, tuple(int(b) for b in window[:GROUPS])), window[GROUPS:])
    return values
