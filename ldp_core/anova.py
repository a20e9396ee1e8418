"""The components of functions on tables: what varies with exactly the attributes of a set (analysis of variance).

A function f on the cells of a table of d attributes is the sum, over the sets A of attributes, of orthogonal components
``P_A f`` that depend on the attributes in A only and sum to zero over the values of each of them. Its space has ``prod (n_i - 1)``
dimensions over i in A (Efron and Stein 1981).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

import numpy as np

Set = tuple[int, ...]
"""Places of attributes, in increasing order."""


def subsets(attributes: Iterable[int], most: int | None = None) -> Iterator[Set]:
    """All sets of the ``attributes`` (of at most ``most``), the empty one first and each size in lexicographic order."""
    members = tuple(sorted(attributes))
    sizes = range(min(len(members), len(members) if most is None else most) + 1)
    return chain.from_iterable(combinations(members, size) for size in sizes)


def dimensions(sizes: Sequence[int], attributes: Iterable[int]) -> float:
    """Dimensions of the functions that vary with exactly these attributes of the given ``sizes``."""
    return float(math.prod(sizes[i] - 1 for i in attributes))


def component(table: np.ndarray, attributes: Iterable[int]) -> np.ndarray:
    """P_A of a ``table`` with an axis per attribute, as a table over the axes A alone (its value is the same along the others)."""
    kept = tuple(sorted(attributes))
    others = tuple(i for i in range(table.ndim) if i not in kept)
    found = np.asarray(table, dtype=float).mean(axis=others) if others else np.asarray(table, dtype=float)
    for axis in range(len(kept)):
        found = found - found.mean(axis=axis, keepdims=True)
    return found


def squared_norms(table: np.ndarray) -> dict[Set, float]:
    """{A: |P_A f|^2}, the squared length of each component of a ``table`` f over its cells; they sum to |f|^2."""
    cells = table.size
    found = {}
    for kept in subsets(range(table.ndim)):
        part = component(table, kept)
        found[kept] = float(np.sum(part**2)) * (cells // max(1, part.size))
    return found
