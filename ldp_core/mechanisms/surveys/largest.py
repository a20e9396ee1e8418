"""Sums of functions of a few attributes each: at every type where there are few of them, else the largest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldp_core.anova import Set, tied_together
from ldp_core.limits import MOST_TABLE_CELLS
from ldp_core.wording import magnitude

_ROUNDING = 1e-12


def at_all_types(sizes: Sequence[int], functions: Sequence[tuple[Set, np.ndarray]]) -> np.ndarray:
    """(n,) the sum at every type of ``functions``, pairs of a set of attributes and (cells,) values on their table, or (1,)."""
    return _sum(sizes, range(len(sizes)), functions).ravel()


def largest(sizes: Sequence[int], functions: Sequence[tuple[Set, np.ndarray]]) -> float:
    """The largest value of that sum, looked for in each group of attributes that functions tie together.

    ValueError where a group has more than `MOST_TABLE_CELLS` combinations of values.
    """
    constant, varying = 0.0, []
    for members, values in functions:
        if np.ptp(values) <= _ROUNDING * np.abs(values).max():
            constant += float(values.max())
        else:
            varying.append(_reduced(sizes, members, values))
    for tied in tied_together([members for members, _ in varying]):
        combinations = math.prod(sizes[i] for i in tied)
        if combinations > MOST_TABLE_CELLS:
            raise ValueError(
                "Questions that follow an order or single out values have errors that differ from type to type. They tie "
                f"{len(tied)} attributes together, with {magnitude(combinations)} combinations of values, and the worst is looked for among at "
                f"most {MOST_TABLE_CELLS:,}: ask such questions about fewer attributes."
            )
        inside = [(members, values) for members, values in varying if set(members) <= set(tied)]
        constant += float(_sum(sizes, tied, inside).max())
    return constant


def at_most(sizes: Sequence[int], functions: Sequence[tuple[Set, np.ndarray]]) -> float:
    """A number that the sum is at most, however many attributes functions tie together: each is added to one of more attributes
    where there is one, and then the largest values are."""
    sums: dict[Set, np.ndarray] = {}
    for members, values in sorted(functions, key=lambda function: len(function[0]), reverse=True):
        holding = next((known for known in sums if set(members) <= set(known)), members)
        known = sums.setdefault(holding, np.zeros([sizes[i] for i in holding]))
        known += values.reshape([sizes[i] if i in members and values.size > 1 else 1 for i in holding])
    return math.fsum(float(values.max()) for values in sums.values())


def _reduced(sizes: Sequence[int], members: Set, values: np.ndarray) -> tuple[Set, np.ndarray]:
    """The function without the attributes it does not depend on."""
    table, rounding = values.reshape([sizes[i] for i in members]), _ROUNDING * np.abs(values).max()
    kept = [axis for axis in range(table.ndim) if np.ptp(table, axis=axis).max() > rounding]
    others = tuple(axis for axis in range(table.ndim) if axis not in kept)
    return tuple(members[axis] for axis in kept), table.max(axis=others).ravel() if others else values


def _sum(sizes: Sequence[int], places: Sequence[int], functions: Sequence[tuple[Set, np.ndarray]]) -> np.ndarray:
    """The sum as a table with an axis for each of ``places``."""
    total = np.zeros([sizes[i] for i in places])
    for members, values in functions:
        total += values.reshape([sizes[i] if i in members and values.size > 1 else 1 for i in places])
    return total
