"""Patterns over other attributes than those of a column. A column may gain an attribute, as its
table may have too few cells for the best share of cells. It may also exchange an attribute, so that
good patterns on one table are tried on all similar tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ldp_core.optimize.surveys.mixture import Mixture
from ldp_core.optimize.surveys.shapes import Shape

# Attributes that a column is grown by, where there are more.
_MOST_TRIED = 12

Column = tuple[Shape, int, int]
"""A shape, the place of its attributes and that of its pattern."""
Starts = dict[tuple[int, ...], list[tuple[tuple[int, ...], np.ndarray]]]
"""By shape, sets of attributes and the cells of patterns to climb from."""


def columns_of(mixture: Mixture) -> list[Column]:
    """In the order of the mixture's shares."""
    return [(shape, place, pattern) for shape in mixture.shapes for place, pattern in shape.columns.tolist()]


class Grown:
    """The columns grown lately, which rest for ``rest`` rounds."""

    def __init__(self, rest: int):
        self._rest, self._last = rest, dict[tuple[tuple[int, ...], int, int], int]()

    def chosen(
        self, mixture: Mixture, losses: np.ndarray, count: int, now: int, most_cells: int, rng: np.random.Generator
    ) -> list[Column]:
        """Half of ``count`` columns of the largest ``losses`` (columns,), the other half drawn by their shares."""
        columns = columns_of(mixture)
        rested = [now - self._last.get(_key(column), -self._rest) >= self._rest for column in columns]
        fresh = np.flatnonzero(np.array(rested) & np.array([2 * s.cells <= most_cells for s, _, _ in columns]))
        if not len(fresh):
            return []
        picked = dict.fromkeys(fresh[np.argsort(-losses[fresh], kind="stable")[: count // 2]].tolist())
        shares = mixture.shares[fresh] / mixture.shares[fresh].sum()
        picked.update(dict.fromkeys(rng.choice(fresh, count - count // 2, p=shares).tolist()))
        chosen_columns = [columns[place] for place in picked]
        self._last.update((_key(column), now) for column in chosen_columns)
        return chosen_columns


def _key(column: Column) -> tuple[tuple[int, ...], int, int]:
    shape, place, pattern = column
    return shape.sizes, place, pattern


def grown(columns: Sequence[Column], sizes: Sequence[int], most_cells: int, rng: np.random.Generator) -> Starts:
    """Every column with one attribute more, all of its values or some of them inside. ``sizes`` are those of all attributes."""
    starts: Starts = {}
    for shape, place, pattern in columns:
        members = tuple(shape.attributes[place].tolist())
        others = [
            i for i, size in enumerate(sizes) if size > 1 and i not in members and shape.cells * size <= most_cells
        ]
        if len(others) > _MOST_TRIED:
            others = sorted(rng.choice(others, _MOST_TRIED, replace=False).tolist())
        table = shape.patterns[pattern].reshape(shape.sizes)
        for other in others:
            size = sizes[other]
            axis = sum((sizes[i], i) < (size, other) for i in members)
            inside = np.arange(size) < rng.integers(1, size)
            along = inside.reshape(size, *(1,) * (len(members) - axis))
            wider = np.expand_dims(table, axis)
            extended = (*members[:axis], other, *members[axis:])
            for cells in (np.repeat(wider, size, axis), wider & along):
                starts.setdefault(tuple(sizes[i] for i in extended), []).append((extended, cells.ravel()))
    return starts


def exchanged(mixture: Mixture, count: int, sizes: Sequence[int], most_cells: int, rng: np.random.Generator) -> Starts:
    """``count`` columns of several attributes, drawn by the roots of their shares, with one attribute in place of another:
    its values stand for those of the other at random, each for as many as the rest or one more."""
    columns, chances = columns_of(mixture), np.sqrt(mixture.shares)
    chances[[len(shape.sizes) == 1 for shape, _, _ in columns]] = 0.0
    starts: Starts = {}
    if not chances.any():
        return starts
    drawn = min(count, int(np.count_nonzero(chances)))
    for place in rng.choice(len(columns), drawn, replace=False, p=chances / chances.sum()).tolist():
        shape, members, pattern = columns[place]
        kept = shape.attributes[members].tolist()
        axis = int(rng.integers(len(kept)))
        size = sizes[kept[axis]]
        most = most_cells // (shape.cells // size)
        others = [i for i, other in enumerate(sizes) if 1 < other <= most and i not in kept]
        if not others:
            continue
        kept[axis] = others[rng.integers(len(others))]
        values = np.concatenate([rng.permutation(size) for _ in range(-(-sizes[kept[axis]] // size))])
        table = np.take(shape.patterns[pattern].reshape(shape.sizes), values[: sizes[kept[axis]]], axis)
        order = sorted(range(len(kept)), key=lambda k: (sizes[kept[k]], kept[k]))
        table = np.transpose(table, order)
        if table.any() and not table.all():
            starts.setdefault(table.shape, []).append((tuple(kept[k] for k in order), table.ravel()))
    return starts
