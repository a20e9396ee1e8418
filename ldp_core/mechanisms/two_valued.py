"""Strategies whose rows have two values, as exact tables whose rows still have: a device then holds a bit for each cell, not a chance.

`quantised` spreads what rounding leaves of a column over its cells, which then have many values. Here all rows get slightly less, the same
share of each, and what is left of the columns is the chance of one more report. That one says next to nothing, and is hardly ever sent.
"""

from __future__ import annotations

import numpy as np

from ldp_core.mechanisms.quantised import TOTAL
from ldp_core.privacy import STEP, exponential_below, least_meant

SHARES = tuple(2.0**-k for k in range(40, 9, -2))
"""What is left of each column, tried in this order: the more of it, the less do columns differ in it."""


def two_valued(strategy: np.ndarray, epsilon: float, most_rows: int) -> np.ndarray | None:
    """(k, n) a table as of `quantised` that is close to ``strategy`` (m, n), at most ``most_rows`` long, whose rows have two values each but
    for the last: the lightest rows, where there are too many, are part of that. None where rows have more values, or no such table is near.
    """
    odds = exponential_below(least_meant(epsilon))
    low, high = strategy.min(axis=1), strategy.max(axis=1)
    if low.min() <= 0:
        return None
    raised = strategy > np.sqrt(low * high)[:, None]
    if (np.abs(strategy / np.where(raised, high[:, None], low[:, None]) - 1) > 1e-9).any():
        return None
    heaviest = np.sort(np.argsort(-strategy.sum(axis=1), kind="stable")[: most_rows - 1])
    low, high, raised = low[heaviest], high[heaviest], raised[heaviest]
    for share in SHARES:
        kept = (1 - share) / STEP
        least = np.rint(low * kept)
        allowed = [int(steps) * odds.numerator // odds.denominator for steps in least.tolist()]
        most = np.minimum(np.rint(high * kept), np.array(allowed, dtype=float))
        table = np.empty((len(least) + 1, strategy.shape[1]))
        table[:-1] = np.where(raised, most[:, None], least[:, None])
        table[-1] = left = TOTAL - table[:-1].sum(axis=0)  # sums of whole numbers below 2^53 are exact
        if least.min() >= 1 and left.min() >= 1 and int(left.max()) <= int(left.min()) * odds:
            table *= STEP
            return table
    return None
