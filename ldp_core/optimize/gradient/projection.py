"""Euclidean projection onto the strategies with given row minima (McKenna et al. 2020, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from ldp_core.privacy import MAX_EPSILON, exp_epsilon
from ldp_core.run import Check, unchecked

# Room for rounding when row minima at the very edge of what is possible are checked.
EDGE = 1e-14


def project(matrix: np.ndarray, lower: np.ndarray, epsilon: float, check: Check = unchecked) -> np.ndarray:
    """(m, n) the closest matrix to ``matrix`` (m, n) whose columns sum to 1 with ``lower <= row <= e^epsilon lower``.

    Column u of the result is ``clip(r_u + shift_u, z, e^epsilon z)`` with the one shift that makes it sum to 1
    (McKenna, Maity, Mazumdar and Miklau 2020, Proposition 4.2 and Algorithm 1), found for all columns at once by
    bracketed Newton steps on that piecewise linear equation. ``lower`` is z (m,), ``epsilon`` is in nats. Column sums are
    exact to 1e-12.

    Raises ValueError for mismatched shapes, entries that are not finite, a negative ``lower``, or row minima that no
    strategy can have: the projection exists when ``sum(lower) <= 1 <= e^epsilon sum(lower)``.
    """
    matrix = np.asarray(matrix, dtype=float)
    lower = np.asarray(lower, dtype=float)
    if matrix.ndim != 2 or lower.shape != matrix.shape[:1]:
        raise ValueError(
            f"matrix must be (outputs, types) and lower have one entry per output, but their shapes are "
            f"{matrix.shape} and {lower.shape}: pass one lower bound for each row of the matrix."
        )
    if not 0 < epsilon <= MAX_EPSILON:
        raise ValueError(f"Epsilon {epsilon:g} is out of range: choose one above 0, up to {MAX_EPSILON:g}.")
    ratio = exp_epsilon(epsilon)
    if not (np.isfinite(matrix).all() and np.isfinite(lower).all() and (lower >= 0).all()):
        raise ValueError("matrix and lower must be finite and lower not negative: replace the offending entries.")
    total = lower.sum()
    if total > 1 + EDGE or total * ratio < 1 - EDGE:
        raise ValueError(
            f"the row minima sum to {total:.6g}, but columns can only sum to 1 when that sum lies between "
            f"{1 / ratio:.6g} and 1: rescale lower."
        )
    about = (lower, lower * ratio, np.zeros(matrix.shape[1]))
    projected, _ = project_types(np.ascontiguousarray(matrix.T), *about, check=check)
    return np.ascontiguousarray(projected.T)


def project_types(
    values: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    shift: np.ndarray,
    again: bool = True,
    check: Check = unchecked,
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 1 for the transposed matrix: the rows of ``values`` (n, m) projected, and the shifts (n,).

    Bracketed Newton on the shift of every row, from a first guess ``shift`` (n,).
    """
    shift, out = shift.copy(), np.empty_like(values)
    left, right = np.full(len(shift), -np.inf), np.full(len(shift), np.inf)
    active = np.arange(len(shift))
    for _ in range(100):
        check()
        at, rows = shift[active], values if active.size == len(values) else values[active]
        moved = rows + at[:, None]
        out[active] = clipped = np.clip(moved, low, high)
        missing = 1 - clipped.sum(axis=1)
        pending = np.abs(missing) > 5e-14
        if not pending.any():
            return out, shift
        slope = np.count_nonzero(clipped == moved, axis=1)
        below = missing > 0
        left[active[below]] = at[below]
        right[active[~below]] = at[~below]
        with np.errstate(divide="ignore", invalid="ignore"):
            step = at + missing / slope
        inside = (step > left[active]) & (step < right[active])
        stuck = np.flatnonzero(pending & ~inside)
        if stuck.size:
            step[stuck] = _bisect(rows[stuck], low, high, left[active[stuck]], right[active[stuck]])
        shift[active] = np.where(pending, step, at)
        active = active[pending]
    if again:
        # Rounding of a shift that is large beside 1/m limits the sum: the clipped values need only a tiny one.
        out[active], rest = project_types(out[active], low, high, np.zeros(active.size), again=False)
        shift[active] += rest
    return out, shift


def _bisect(rows: np.ndarray, low: np.ndarray, high: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Middle of each bracket; an end still unknown is where all entries of the row sit at one bound."""
    left = np.where(np.isfinite(left), left, (low - rows).min(axis=1))
    right = np.where(np.isfinite(right), right, (high - rows).max(axis=1))
    return (left + right) / 2
