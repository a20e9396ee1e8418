"""New patterns: sets of cells that maximise a weighted sum of Fourier weights, by climbs from many
starts at once.

Let lambda_A be weights on the sets A of attributes of a table. The Fourier weights of a pattern T
of mean s sum to

    J(T) = D^2 / n_B  1_T' Lambda 1_T / (1 + D s)^2,    Lambda = sum_A lambda_A P_A,

and the entry of Lambda at two cells depends only on the attributes where they agree.

A column may gain an attribute, as its table may have too few cells for the best share of cells. It may also exchange an attribute, so that
good patterns on one table are tried on all similar tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldp_core import anova
from ldp_core.optimize.surveys.mixture import Mixture, Shape
from ldp_core.run import Check, unchecked

CLIMBED_CELLS = 4096
"""Largest table on which patterns climb, and largest over more attributes than anything asked is about."""


def climb(
    cells: np.ndarray, sizes: Sequence[int], weights: np.ndarray, difference: float, check: Check = unchecked
) -> tuple[np.ndarray, np.ndarray]:
    """Patterns (r, n_B) that no cell more, no cell less and no exchange of a good pair of cells improves, from the starts ``cells``
    (r, n_B) of booleans on a table of ``sizes``, and their J (r,).

    ``weights`` (r, 2^k) are lambda_A for each start, sets numbered as in `ldp_core.mechanisms.surveys.pattern.fourier_weights`, and
    ``difference`` is D. A step costs O(n_B) for each start.
    """
    count = max(1, 2**17 // cells.shape[1])
    parts = [
        _climb(cells[start : start + count], sizes, weights[start : start + count], difference, check)
        for start in range(0, len(cells), count)
    ]
    return np.concatenate([climbed for climbed, _ in parts]), np.concatenate([value for _, value in parts])


def _climb(
    cells: np.ndarray, sizes: Sequence[int], weights: np.ndarray, difference: float, check: Check
) -> tuple[np.ndarray, np.ndarray]:
    n = cells.shape[1]
    agreeing, entries = agreements(sizes), by_agreement(weights, sizes)
    climbed, inside = cells.copy(), cells.copy()
    slopes = applied(weights, sizes, cells)
    form, high = np.einsum("ij,ij->i", slopes, inside), inside.sum(axis=1)
    worth = form / (1 + difference / n * high) ** 2
    values = worth.copy()
    index = np.arange(len(cells))  # places of the starts still climbing
    for step in range(4 * n):
        if step % 16 == 0:
            check()
        rows = np.arange(len(index))
        diagonal = entries[:, -1]
        leaving = np.where(inside, slopes, np.inf).argmin(axis=1)
        outside = np.where(inside, -np.inf, slopes)
        joining = outside.argmax(axis=1)
        lost = np.take_along_axis(entries, agreeing[leaving], axis=1)
        taking = (outside - lost).argmax(axis=1)  # what to exchange the leaving cell for
        more = form + 2 * slopes[rows, joining] + diagonal
        less = form - 2 * slopes[rows, leaving] + diagonal
        same = less + 2 * (slopes[rows, taking] - lost[rows, taking]) + diagonal
        forms = np.stack([more, less, same])
        highs = np.stack([high + 1, high - 1, high])
        offers = np.where((highs > 0) & (highs < n), forms / (1 + difference / n * highs) ** 2, -np.inf)
        kind = offers.argmax(axis=0)
        rising = offers[kind, rows] > worth * (1 + 1e-9)
        climbed[index], values[index] = inside, worth
        if not rising.any():
            break
        # Those at their peak leave, so that the rest go on faster.
        index, inside, slopes, entries, kind, lost = (
            part[rising] for part in (index, inside, slopes, entries, kind, lost)
        )
        leaving, added, rows = leaving[rising], np.where(kind == 0, joining[rising], taking[rising]), rows[: len(index)]
        form, high = forms[:, rising][kind, rows], highs[:, rising][kind, rows]
        worth = offers[:, rising][kind, rows]
        adds, drops = kind != 1, kind != 0
        slopes += np.take_along_axis(entries, agreeing[added], axis=1) * adds[:, None]
        slopes -= lost * drops[:, None]
        inside[rows[drops], leaving[drops]] = False
        inside[rows[adds], added[adds]] = True
    return climbed, difference**2 / n * values


def agreements(sizes: Sequence[int]) -> np.ndarray:
    """(n_B, n_B) the set of attributes where two cells agree, numbered as sets are."""
    counts = np.zeros((1, 1), dtype=np.int16)
    for size in sizes:
        same = np.eye(size, dtype=np.int16)
        counts = (2 * counts[:, None, :, None] + same[:, None, :]).reshape(len(counts) * size, -1)
    return counts


def by_agreement(weights: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """(r, 2^k) the entries of Lambda by the attributes where two cells agree, from ``weights`` (r,
    2^k) by set."""
    by_set = weights.reshape(-1, *(2,) * len(sizes))
    for axis, size in enumerate(sizes, start=1):
        mean, rest = np.split(by_set, 2, axis=axis)
        by_set = np.concatenate([(mean - rest) / size, mean / size + rest * (1 - 1 / size)], axis=axis)
    return by_set.reshape(len(weights), -1)


def components_of_coordinates(sizes: Sequence[int]) -> np.ndarray:
    """(n_B,) the set that each of `coordinates` belongs to."""
    places = np.zeros(1, dtype=np.int64)
    for size in sizes:
        places = (2 * places[:, None] + (np.arange(size) > 0)).ravel()
    return places


def applied(weights: np.ndarray, sizes: Sequence[int], tables: np.ndarray) -> np.ndarray:
    """Lambda ``tables`` (r, n_B), with ``weights`` (r, 2^k) for each."""
    spectrum = anova.coordinates(tables.reshape(-1, *sizes)).reshape(tables.shape)
    return _from_coordinates(spectrum * weights[:, components_of_coordinates(sizes)], sizes)


def _from_coordinates(spectrum: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The tables (r, n_B) with these `coordinates` (r, n_B)."""
    values = spectrum.reshape(-1, *sizes).copy()
    for axis, size in enumerate(sizes, start=1):
        by_value = np.moveaxis(values, axis, -1)
        places = np.arange(1, size)
        steps = by_value[..., 1:] / np.sqrt(places * (places + 1.0))
        mean = by_value[..., :1] / math.sqrt(size)
        by_value[..., 1:] = -places * steps
        by_value[..., :1] = 0.0
        by_value[..., :-1] += np.cumsum(steps[..., ::-1], axis=-1)[..., ::-1]
        by_value += mean
    return values.reshape(spectrum.shape)


def random_patterns(
    weights: np.ndarray, sizes: Sequence[int], high: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(r, n_B) patterns of ``high`` (r,) cells each: the largest values of Gaussian fields with covariance Lambda."""
    noise = rng.standard_normal((len(weights), math.prod(sizes)))
    fields = _from_coordinates(noise * np.sqrt(weights)[:, components_of_coordinates(sizes)], sizes)
    fields += 1e-6 * np.sqrt(weights.max()) * rng.standard_normal(fields.shape)  # many cells may be alike
    ranks = np.argsort(np.argsort(-fields, axis=1), axis=1)
    return ranks < high[:, None]


def balanced_patterns(sizes: Sequence[int], high: Sequence[int]) -> np.ndarray:
    """(r, n_B) patterns of ``high`` cells each that are spread evenly over every line of the table: cells in the order of the
    fractional part of ``sum_i x_i / n_i``, which is equally spaced along each line; ties by the same over fewer attributes."""
    grid = np.indices(sizes).reshape(len(sizes), -1)
    keys = []
    for used in range(1, len(sizes) + 1):
        unit = math.lcm(*sizes[:used])
        keys.append(sum(grid[i] * (unit // sizes[i]) for i in range(used)) % unit)
    ranks = np.empty(grid.shape[1], dtype=np.int64)
    ranks[np.lexsort(keys)] = np.arange(grid.shape[1])
    return np.asarray(ranks < np.asarray(high)[:, None])


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
