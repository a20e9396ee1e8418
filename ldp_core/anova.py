"""The components of functions on tables: what varies with exactly the attributes of a set
(analysis of variance).

A function f on the cells of a table of d attributes is the sum, over the sets A of attributes, of
orthogonal components ``P_A f`` that depend on the attributes in A only and sum to zero over the
values of each of them. Its space has ``prod (n_i - 1)`` dimensions over i in A
(Efron and Stein 1981).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

import numpy as np

Set = tuple[int, ...]
"""Places of attributes, in increasing order."""


def subsets(attributes: Iterable[int], most: int | None = None) -> Iterator[Set]:
    """All sets of the ``attributes`` (of at most ``most``), the empty one first and each size in
    lexicographic order."""
    members = tuple(sorted(attributes))
    sizes = range(min(len(members), len(members) if most is None else most) + 1)
    return chain.from_iterable(combinations(members, size) for size in sizes)


def maximal(sets: Iterable[Set]) -> list[Set]:
    """The different ones of ``sets`` that no other holds, in their order."""
    different, holding = list(dict.fromkeys(sets)), dict[int, list[Set]]()
    for members in different:
        for i in members:
            holding.setdefault(i, []).append(members)
    longest = max(map(len, different), default=0)

    def held(members: Set) -> bool:
        others = min((holding[i] for i in members), key=len, default=different)
        return any(set(members) < set(other) for other in others)

    return [members for members in different if len(members) == longest or not held(members)]


def tied_together(sets: Iterable[Iterable[int]]) -> list[Set]:
    """The attributes of ``sets`` in groups, those of one set together."""
    groups: list[set[int]] = []
    for members in map(set, sets):
        touched = [group for group in groups if group & members]
        groups = [*(group for group in groups if not group & members), members.union(*touched)]
    return [tuple(sorted(group)) for group in groups]


def dimensions(sizes: Sequence[int], attributes: Iterable[int]) -> float:
    """Dimensions of the functions that vary with exactly these attributes of the given
    ``sizes``."""
    return float(math.prod(sizes[i] - 1 for i in attributes))


def component(table: np.ndarray, attributes: Iterable[int]) -> np.ndarray:
    """P_A of a ``table`` with an axis per attribute, as a table over the axes A alone (its value is
    the same along the others)."""
    kept = tuple(sorted(attributes))
    others = tuple(i for i in range(table.ndim) if i not in kept)
    centred = np.asarray(table, dtype=float).mean(axis=others) if others else np.asarray(table, dtype=float)
    for axis in range(len(kept)):
        centred = centred - centred.mean(axis=axis, keepdims=True)
    return centred


def components(tables: np.ndarray) -> dict[Set, np.ndarray]:
    """{A: P_A f} of ``tables`` f (q, n_1, ..., n_k), attributes numbered from 0, each with axes of
    length 1 for those outside A."""
    parts: dict[Set, np.ndarray] = {(): tables}
    for axis in range(tables.ndim - 1):
        split: dict[Set, np.ndarray] = {}
        for members, part in parts.items():
            mean = part.mean(axis=axis + 1, keepdims=True)
            split[members], split[(*members, axis)] = mean, part - mean
        parts = split
    return parts


def coordinates(tables: np.ndarray) -> np.ndarray:
    """``tables`` (r, n_1, ..., n_k) in an orthonormal basis along every axis (Helmert's: the mean,
    then each value against the mean of those before it): P_A is what the coordinates keep that are
    past the first along the axes A, and along no others."""
    transformed = np.array(tables, dtype=float)
    for axis in range(1, transformed.ndim):
        by_value = np.moveaxis(transformed, axis, -1)  # a view: what is written to it is written to what is found
        size = by_value.shape[-1]
        sums = np.cumsum(by_value, axis=-1)
        places = np.arange(1, size)
        by_value[..., 1:] = (sums[..., :-1] - places * by_value[..., 1:]) / np.sqrt(places * (places + 1.0))
        by_value[..., 0] = sums[..., -1] / np.sqrt(size)
    return transformed


def squared_norms(tables: np.ndarray) -> np.ndarray:
    """(r, 2^k) squared lengths |P_A f|^2 of the components of ``tables`` f (r, n_1, ..., n_k), sets
    A numbered with a binary digit per axis, the last one lowest; takes O(k) operations per cell."""
    squares = coordinates(tables)
    squares *= squares
    for axis in range(1, squares.ndim):
        first, rest = np.split(squares, [1], axis=axis)
        squares = np.concatenate([first, rest.sum(axis=axis, keepdims=True)], axis=axis)
    return squares.reshape(len(squares), -1)
