"""Matrices over types that do not change when the order of the types is reversed split into two of
half the size, with a quarter of the work. Totals, ranges and tables for even people have such
matrices."""

from __future__ import annotations

import numpy as np

LEAST_MIRRORED = 256
"""Splitting does not pay for fewer types."""


def is_mirrored(A: np.ndarray) -> bool:
    """True if an array stays the same, up to rounding, when the order of the types is reversed."""
    return bool(np.abs(A - np.flip(A)).max() <= 1e-12 * np.abs(A).max())


def halves(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mirrored A (n, n) on the vectors that stay the same when mirrored, and on those that change
    sign, in orthonormal bases."""
    h, rest = divmod(len(A), 2)
    direct, across = A[:h, :h], A[:h, ::-1][:, :h]
    if not rest:
        return direct + across, direct - across
    middle = np.sqrt(2) * A[:h, h]
    return np.block([[direct + across, middle[:, None]], [middle[None], A[h, h]]]), direct - across


def whole(same: np.ndarray, changing: np.ndarray) -> np.ndarray:
    """The matrix whose `halves` are these."""
    h, n = len(changing), len(same) + len(changing)
    A = np.empty((n, n))
    A[:h, :h] = (same[:h, :h] + changing) / 2
    A[:h, n - h :] = (same[:h, :h] - changing)[:, ::-1] / 2
    A[:h, h : n - h] = same[:h, h:] / np.sqrt(2)
    A[h : n - h, h : n - h] = same[h:, h:]
    A[h : n - h, :h] = A[:h, h : n - h].T
    A[n - h :] = A[:h][::-1, ::-1]
    A[h : n - h, n - h :] = A[h : n - h, :h][:, ::-1]
    return A
