"""Exchanges of single entries between rows: in every column some rows go up and as many go down."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from ldp_core.optimize.columns.pricing import TOGETHER
from ldp_core.run import Check, unchecked


def exchanged(
    high: np.ndarray, curvature: np.ndarray, reference: np.ndarray, spread: float, most: int, check: Check = unchecked
) -> np.ndarray:
    """The rows ``high`` (k, n) of booleans after exchanges: in every column up to ``most`` rows go up and as many go down,
    those that gain most by it, as long as a pair gains.

    As in `pricing.climb`, a row is worth ``v'Xv / (r'v)``, ``v = 1 + D t`` with the ``spread`` D = E - 1, X the ``curvature``
    (n, n) and r the ``reference`` (n,), and costs mu'v. Costs do not matter here: what one row of a pair
    pays for a column, the other saves. Sums over rows of equal weight stay the same.
    """
    spread, together = float(spread), max(1, TOGETHER // max(1, len(high)))
    t = np.ascontiguousarray(high.T, dtype=np.float32)
    form, ones = np.asfortranarray(curvature, dtype=np.float32), curvature.sum(axis=1)
    check()
    slopes = blas.sgemm(2 * spread, t.T, form).T
    slopes += (2 * ones).astype(np.float32)[:, None]  # 2 X v
    values = ones.sum() + spread * (ones @ t + np.einsum("ij,ij->j", t, slopes) / 2)
    steps = (spread * reference).astype(np.float32)
    masses, least_mass = reference.sum() + steps @ t, np.float32(reference.sum())
    values, masses, shares = (part.astype(np.float32) for part in (values, masses, values / masses))
    changed = high.copy()
    for start in range(0, len(t), together):
        check()
        part = slice(start, start + together)
        up = t[part] == 0
        sign = np.where(up, np.float32(1), np.float32(-1))
        gains = values + spread * sign * slopes[part] + (spread**2 * form.diagonal()[part])[:, None]
        gains /= np.maximum(masses + sign * steps[part, None], least_mass)  # which rounding loses where E is huge
        gains -= shares
        (risers, raised), (fallers, lowered) = (_highest(np.where(side, gains, -np.inf), most) for side in (up, ~up))
        taken = raised + lowered > 0
        columns = np.nonzero(taken)[0] + start
        changed[risers[taken], columns] = True
        changed[fallers[taken], columns] = False
    return changed


def _highest(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the highest ``values`` (c, k) of every row are, and these, the highest first: both (c, most)."""
    places = np.argpartition(-values, most - 1, axis=1)[:, :most]
    found = np.take_along_axis(values, places, axis=1)
    order = np.argsort(-found, axis=1)
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(found, order, axis=1)
