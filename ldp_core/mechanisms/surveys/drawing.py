"""Scrambling: random permutations of the values of a pattern's attributes, and what their images cover. Simulation only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Numbers handled in one step: few enough to stay in the cache of a processor.
_AT_ONCE = 2**16


def permutations(places: np.ndarray, values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """(users, size) permutations of 0..size - 1, uniform among those that take each user's ``places`` (users,) to ``values`` (users,).
    Simulation only."""
    permutations = rng.permuted(np.tile(np.arange(size), (len(values), 1)), axis=1)
    # A uniform permutation, shifted along the circle of values until it fits: every one that fits comes of `size` others.
    permutations += (values - permutations[np.arange(len(values)), places])[:, None]
    permutations[permutations < 0] += size
    permutations[permutations >= size] -= size
    return permutations


def covered(cells: np.ndarray, moved: Sequence[np.ndarray]) -> np.ndarray:
    """(cells,) how many images of a pattern hold each cell, ``moved`` being the (users, n_i) permutations of the values of its axes."""
    users = len(moved[0])
    if 2 * np.count_nonzero(cells) > cells.size:
        return users - covered(~cells, moved)
    places = np.nonzero(cells)
    counts = np.zeros(cells.size, dtype=np.int64)
    steps = np.cumprod([1, *cells.shape[:0:-1]])[::-1]
    for start in range(0, users, _AT_ONCE // 16):
        columns = [
            np.ascontiguousarray(block[start : start + _AT_ONCE // 16].T) * step
            for block, step in zip(moved, steps, strict=True)
        ]
        several = max(1, _AT_ONCE // 2 // columns[0].shape[1])
        for first in range(0, len(places[0]), several):
            some = [column[place[first : first + several]] for column, place in zip(columns, places, strict=True)]
            counts += np.bincount(sum(some[1:], start=some[0]).ravel(), minlength=cells.size)
    return counts
