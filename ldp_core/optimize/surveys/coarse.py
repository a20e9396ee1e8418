"""New patterns that tell the values of each attribute only in two or three groups.

Sets with energy on k attributes at most that depend on more than k have shapes that no exchange of single cells comes to: for instance, with halves z
of one attribute and a of another, ``b = 0`` and c in one part of its other values where z and a are the first halves, in the rest of them where both
are the second, and ``c = 0`` with two parts of b elsewhere. Cells of groups are few, with a mass each, so that climbs from many starts reach them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldp_core.optimize.surveys.growing import Starts
from ldp_core.run import Check, unchecked

Drawn = tuple[tuple[int, ...], list[list[int]]]
"""Attributes in order of their sizes, and for each how many of its values are in each group."""

# Attributes more than any question is about, of so many at most; the chance of two groups in place of three, and that a group is a single value.
MORE, MOST_ASKED, TWO, SINGLE = 2, 4, 0.6, 0.6
# Most cells of groups; how far starts exceed the share of cells that is best, and how much that varies; entries of forms that climb together.
MOST_CELLS, ABOVE, SPREAD, TOGETHER = 100, 1.5, 0.3, 2**20
# Smallest relative rise of a step, and what is no mass.
LEAST_RISE, NOTHING = 1e-9, 1e-12


def drawn(count: int, most: int, sizes: Sequence[int], most_cells: int, rng: np.random.Generator) -> list[Drawn]:
    """At most ``count`` groupings of two attributes or more, for questions about ``most`` attributes together."""
    places, asked = np.flatnonzero(np.array(sizes) > 1), min(most, MOST_ASKED)
    found: list[Drawn] = []
    for _ in range(count if len(places) > 1 else 0):
        several = min(int(rng.integers(max(2, asked), asked + MORE + 1)), len(places))
        chosen = rng.choice(places, several, replace=False).tolist()
        members = tuple(sorted(chosen, key=lambda i: (sizes[i], i)))
        groups = [_grouped(sizes[i], rng) for i in members]
        if math.prod(sizes[i] for i in members) <= most_cells and math.prod(map(len, groups)) <= MOST_CELLS:
            found.append((members, groups))
    return found


def _grouped(size: int, rng: np.random.Generator) -> list[int]:
    groups, left = 2 if size == 2 or rng.random() < TWO else 3, size
    found: list[int] = []
    for others in range(groups - 1, 0, -1):
        found.append(1 if rng.random() < SINGLE else int(rng.integers(1, left - others + 1)))
        left -= found[-1]
    return [*found, left]


def climbed(
    groupings: Sequence[Drawn],
    weights: Sequence[np.ndarray],
    difference: float,
    share: float,
    level: float,
    rng: np.random.Generator,
    check: Check = unchecked,
) -> Starts:
    """Patterns worth more than ``level`` that no cell of groups more or less and no exchange of two improves, from random ones of about the ``share``
    of cells. ``weights`` (2^k,) are lambda_A by set for each grouping, and ``difference`` is D, as for `ldp_core.optimize.surveys.climbing.climb`."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, (_, groups) in enumerate(groupings):
        alike.setdefault(tuple(map(len, groups)), []).append(place)
    found: Starts = {}
    for shape, places in alike.items():
        count = max(1, TOGETHER // math.prod(shape) ** 2)
        for begin in range(0, len(places), count):
            check()
            part = places[begin : begin + count]
            masses = _masses([groupings[place][1] for place in part])
            form, mass = _form(masses, np.stack([weights[place] for place in part])), _product(masses)
            inside, worth = _climb(form, mass, _started(mass, share, rng), difference)
            for one in np.flatnonzero(worth > level).tolist():
                members, groups = groupings[part[one]]
                cells = inside[one].reshape(shape)
                for axis, sizes in enumerate(groups):
                    cells = np.repeat(cells, sizes, axis)
                found.setdefault(cells.shape, []).append((members, cells.ravel()))
    return found


def _masses(groups: Sequence[Sequence[Sequence[int]]]) -> list[np.ndarray]:
    """For each attribute (r, groups), the share of its values in each."""
    counts = [np.array(of_one, dtype=float) for of_one in zip(*groups, strict=True)]
    return [of_one / of_one.sum(axis=1, keepdims=True) for of_one in counts]


def _product(masses: Sequence[np.ndarray]) -> np.ndarray:
    """(r, m) the mass of every cell."""
    found = np.ones((len(masses[0]), 1))
    for of_one in masses:
        found = (found[:, :, None] * of_one[:, None, :]).reshape(len(found), -1)
    return found


def _form(masses: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """(r, m, m) Lambda on functions of the cells: ``weights`` (r, 2^k) times the products over attributes of what the mean and the rest come to."""
    if not masses:
        return weights[:, :, None]
    own, half = masses[0], weights.shape[1] // 2
    mean = own[:, :, None] * own[:, None, :]
    rest = own[:, :, None] * np.eye(own.shape[1]) - mean
    without, within = (_form(masses[1:], part) for part in (weights[:, :half], weights[:, half:]))
    found = np.einsum("rij,rkl->rikjl", mean, without) + np.einsum("rij,rkl->rikjl", rest, within)
    size = own.shape[1] * without.shape[1]
    return np.asarray(found.reshape(len(own), size, size))


def _started(mass: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """(r, m) random cells of about the ``share`` together, one at least."""
    order = rng.random(mass.shape).argsort(axis=1)
    most = ABOVE * share * np.exp(SPREAD * rng.standard_normal((len(mass), 1)))
    kept = np.cumsum(np.take_along_axis(mass, order, 1), axis=1) <= most
    kept[:, 0] = True
    found = np.zeros(mass.shape, dtype=bool)
    np.put_along_axis(found, order, kept, 1)
    return found


def _climb(form: np.ndarray, mass: np.ndarray, inside: np.ndarray, difference: float) -> tuple[np.ndarray, np.ndarray]:
    """(r, m) where the cells ``inside`` climb to, with J (r,)."""
    found, values = inside.copy(), np.zeros(len(inside))
    index, m = np.arange(len(inside)), inside.shape[1]
    while len(index):
        own, sign = form[index], np.where(found[index], -1.0, 1.0)
        slopes = np.einsum("rij,rj->ri", own, found[index])
        value, high = np.einsum("ri,ri->r", slopes, found[index]), np.einsum("ri,ri->r", mass[index], found[index])
        worth = _worth(value, high, difference)
        values[index] = worth
        turned, moved = 2 * sign * slopes + np.einsum("rii->ri", own), sign * mass[index]
        one = _worth(value[:, None] + turned, high[:, None] + moved, difference)
        both = turned[:, :, None] + turned[:, None, :] + 2 * sign[:, :, None] * sign[:, None, :] * own
        together = moved[:, :, None] + moved[:, None, :]
        two = _worth(value[:, None, None] + both, high[:, None, None] + together, difference)
        two[:, np.arange(m), np.arange(m)] = one  # one cell alone
        best = two.reshape(len(index), -1).argmax(axis=1)
        rising = two.reshape(len(index), -1)[np.arange(len(index)), best] > worth * (1 + LEAST_RISE)
        index, first, second = index[rising], best[rising] // m, best[rising] % m
        found[index, first] ^= True
        found[index[first != second], second[first != second]] ^= True
    return found, difference**2 * values


def _worth(value: np.ndarray, high: np.ndarray, difference: float) -> np.ndarray:
    """J without D^2 of sets with these forms and masses; none for the empty set and that of all."""
    told = (high > NOTHING) & (high < 1 - NOTHING)
    return np.where(told, value / (1 + difference * high) ** 2, -1.0)
