"""Strategies as exact tables: whole numbers of steps of 2^-53, which a device can draw and anyone
can check without rounding.

The probabilities of row y become whole numbers between L_y and H_y = floor(L_y E), E a rational
number below e^epsilon (`ldp_core.privacy.exponential_below`): every choice between them keeps
epsilon exactly. If a row leaves room below e^epsilon, L_y lies in the middle of it. If it does not
(its low entries are small), low entries are rounded up and high entries down. The rounded entries
of a column then fall short of 2^53 a little, and the difference is spread over them in proportion
to their size, as far as their limits let it.

All numbers are whole ones of at most 2^53, which float64 holds exactly; sums are taken in int64.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ldp_core.mechanisms.base import runs
from ldp_core.privacy import STEP, exponential_below, least_meant

TOTAL = 2**53
"""Steps in a whole: what every column sums to."""
EXCESS = 1e-11
"""The share by which a ratio may exceed e^epsilon and still be corrected: rounding in the program
that made it explains this much."""
_ENTRIES = 2**20  # worked on at once, to stay in the cache of a processor


def quantised(
    strategy: np.ndarray, epsilon: str | float | Decimal | Fraction, secret: np.ndarray | None = None
) -> np.ndarray:
    """The table of ``strategy`` (m, n): (m, n) multiples of 2^-53, close to its entries, whose columns sum to exactly 1 and whose rows have
    ratios of at most e^``epsilon`` exactly (a text means what it says, a float every text that is read as it). A table stays as it is.

    Where only some types are ``secret`` (n,), reports that none of these sends have any ratio, and zeros stay.

    ``strategy`` holds probabilities whose columns sum to about 1. ValueError where a ratio is larger than e^epsilon by more than `EXCESS`,
    or the entries are so small that no such table is near.
    """
    exact = least_meant(epsilon)
    odds = exponential_below(exact)
    units = np.ascontiguousarray(strategy) / STEP
    bound = covered(units, secret)
    if _is_table(units) and _keeps(units[bound], odds):
        return np.array(strategy, dtype=float)
    units = _scaled(units)
    low, high = units.min(axis=1)[bound], units.max(axis=1)[bound]
    if (high > low * (float(odds) * (1 + EXCESS))).any():
        raise ValueError(
            f"Some report is more than e^{float(exact):g} times as likely for one type as for another: give a strategy that keeps "
            "this epsilon, or a larger epsilon."
        )
    least, most = np.zeros((len(units), 1)), np.full((len(units), 1), float(TOTAL))
    least[bound, 0], most[bound, 0] = _limits(low, high, odds)
    np.clip(np.rint(units, out=units), least, most, out=units)
    if not (_balanced(units, least, most) and _keeps(units[bound], odds)):
        raise ValueError(
            f"The probabilities of this strategy are too small to be written in steps of 2^-53 within epsilon {float(exact):g}: merge "
            "reports that are hardly ever sent, or choose a smaller epsilon."
        )
    units *= STEP
    return units


def covered(table: np.ndarray, secret: np.ndarray | None) -> np.ndarray:
    """(m,) which rows of ``table`` (m, n) a type that is ``secret`` (n,) can send; all where every type is."""
    return np.ones(len(table), dtype=bool) if secret is None else np.asarray((table[:, secret] > 0).any(axis=1))


def rounded(strategy: np.ndarray) -> np.ndarray:
    """The same where no epsilon is kept: (m, n) multiples of 2^-53 close to ``strategy`` whose columns sum to exactly 1, with zeros where
    it has zeros, and nowhere else. ValueError where a column has more entries than fit."""
    units = np.ascontiguousarray(strategy) / STEP
    if _is_table(units):
        return np.array(strategy, dtype=float)
    units = _scaled(units)
    least = (units > 0).astype(float)
    np.maximum(np.rint(units, out=units), least, out=units)
    if not _balanced(units, least, np.full((1, 1), float(TOTAL))):
        raise ValueError("The probabilities of this strategy are too small to be written in steps of 2^-53.")
    units *= STEP
    return units


def largest_ratio(table: np.ndarray) -> tuple[Fraction | None, tuple[int, int]]:
    """The largest ratio of two entries of one row of ``table`` (m, n), exactly, and the two types (columns) that it is between; None
    where it is infinite."""
    high, low = table.max(axis=1), table.min(axis=1)
    with np.errstate(divide="ignore"):
        ratios = high / low
    worst = int(np.argmax(ratios))
    pair = (int(table[worst].argmax()), int(table[worst].argmin()))
    if low[worst] == 0:
        return None, pair
    # Rounding keeps the order of quotients, so the truly largest is among those that look largest.
    candidates = np.unique(np.stack([high, low])[:, ratios == ratios.max()], axis=1).T.tolist()
    return max(Fraction(h) / Fraction(lo) for h, lo in candidates), pair


def _limits(low: np.ndarray, high: np.ndarray, odds: Fraction) -> tuple[list[int], list[int]]:
    """L and H of rows with entries from ``low`` to ``high`` (m,), in steps."""
    p, q = odds.numerator, odds.denominator
    least = []
    for smallest, largest in zip(low.tolist(), high.tolist(), strict=True):
        needed, there = -(-math.floor(largest) * q // p), math.floor(smallest)
        least.append(max(1, needed, (needed + there) // 2))
    return least, [min(TOTAL, steps * p // q) for steps in least]


def _scaled(units: np.ndarray) -> np.ndarray:
    """``units`` in place, with columns that sum to 2^53 but for rounding."""
    units *= TOTAL / units.sum(axis=0)
    return units


def _is_table(units: np.ndarray) -> bool:
    """True if all are whole, and columns sum to 2^53 exactly."""
    sums = np.zeros(units.shape[1], dtype=np.int64)
    for some in runs(len(units), _ENTRIES // units.shape[1]):
        part = units[some]
        whole = part.astype(np.int64)
        if not np.array_equal(whole, part):
            return False
        sums += whole.sum(axis=0)
    return bool((sums == TOTAL).all())


def _keeps(units: np.ndarray, odds: Fraction) -> bool:
    """True if every row of whole ``units`` has a ratio of at most ``odds``."""
    p, q = odds.numerator, odds.denominator
    ends = zip(units.min(axis=1).tolist(), units.max(axis=1).tolist(), strict=True)
    return all(int(largest) * q <= int(smallest) * p for smallest, largest in ends)


def _balanced(units: np.ndarray, least: np.ndarray, most: np.ndarray) -> bool:
    """Change whole ``units`` (m, n) between ``least`` and ``most`` (which broadcast) so that columns sum to 2^53; whether that was
    possible."""
    for columns in runs(units.shape[1], max(64, _ENTRIES // len(units))):
        part = units[:, columns]
        lowest = least[:, columns] if least.shape[1] > 1 else least
        missing = (TOTAL - part.sum(axis=0, dtype=np.int64)).astype(float)
        room = np.where(missing > 0, np.minimum(most - part, part), part - lowest)
        # Shares of what is missing, in proportion to the room, by rounding their running sum: none exceeds its room.
        running = np.cumsum(room, axis=0, out=room)
        if (np.abs(missing) > running[-1]).any():
            return False
        running *= np.divide(np.abs(missing), running[-1], out=np.zeros_like(missing), where=running[-1] > 0)
        np.rint(running, out=running)
        shares = np.diff(running, axis=0, prepend=0.0)
        part += np.where(missing > 0, shares, -shares)
        if (part > most).any() or (part < lowest).any() or (part.sum(axis=0, dtype=np.int64) != TOTAL).any():
            return False
    return True
