"""Numbers that stand for no answer, such as 999 among ages: told by how they are written, and by where they are."""

from __future__ import annotations

import re

import numpy as np

from ldp_core.data import columns

_CODE = re.compile(r"7+|8+|9+[78]?|1")
"""The digits of a code, as in the manuals of surveys: 9, 99, 998, 77, 88; 1 with a minus sign alone."""
_FEWEST, _FEW = 2, 3
_NEIGHBOURS = 5
_LEAST_VALUES = 5


def codes_of(column: columns.Column, known: tuple[float, ...] = ()) -> tuple[float, ...]:
    """The numbers of a column that seem to be codes for no answer, besides those ``known`` as such.

    People share each, and it lies beyond a gap at an end of the other numbers. The gap is wider than twice the widest one between
    these in the half next to it. A gap of two usual steps is enough if far more people share the code than a number near it, and so is
    a minus sign among numbers without one.
    """
    use = np.isfinite(column.numbers) & ~np.isin(column.numbers, known)
    numbers, position = np.unique(column.numbers[use], return_inverse=True)
    users = np.bincount(position, column.rows_per_text[use], minlength=numbers.size)
    numbers, users = numbers[users > 0], users[users > 0]
    low, high = list[float](), list[float]()
    while (last := _at_end(numbers, users)) > 0:
        high += numbers[-last:].tolist()
        numbers, users = numbers[:-last], users[:-last]
    while (last := _at_end(-numbers[::-1], users[::-1], low=True)) > 0:
        low += numbers[:last].tolist()
        numbers, users = numbers[last:], users[last:]
    return tuple(sorted(low + high))


def _at_end(numbers: np.ndarray, users: np.ndarray, low: bool = False) -> int:
    """How many of the last numbers are codes: 0, or the fewest at once that are. The ``low`` ones come with their signs changed."""
    for last in range(1, numbers.size - _LEAST_VALUES + 1):
        if not _CODE.fullmatch(f"{abs(numbers[-last]):.15g}".replace(".", "")):
            return 0
        rest, held = numbers[:-last], users[-last:].sum()
        minus = low and numbers[-last] > 0 >= rest[-1] and rest[0] < 0
        if abs(numbers[-last]) == 1 and not minus:
            return 0
        steps, gap = np.diff(rest), numbers[-last] - rest[-1]
        widest, usual = steps[steps.size // 2 :].max(), np.median(steps)
        crowded = held / last >= max(_FEW, 3 * users[:-last][-_NEIGHBOURS:].mean())
        if held >= _FEWEST and (minus or gap > 2 * widest or (gap >= 2 * usual and crowded)):
            return last
    return 0
