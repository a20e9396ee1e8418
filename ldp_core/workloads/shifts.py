"""Gram matrices that do not change when types are shifted cyclically along some of the attributes.

Types form a table, one axis per attribute (``Workload.shifts``). Where G stays the same when an axis is shifted, it is
fixed by its columns at 0 of that axis, and a Fourier transform along the axis takes it apart into blocks of the size of
the other axes (a block circulant matrix; Davis 1979, Section 5.8). Counting over attributes 100 x 16 x 2 with ranges
along the first costs 32 eigenvalue problems of 100 types instead of one of 3,200; marginals cost one transform.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def fixed_types(workload: Any) -> int:
    """m, the number of columns that fix G: the product of the axes along which it changes."""
    return math.prod(size for size, same in workload.shifts if not same)


def columns(workload: Any) -> np.ndarray:
    """(m, n) the columns of G of the types that are at 0 of every axis along which G may be shifted."""
    if fixed_types(workload) == 1:
        return workload.gram_column[None]
    sizes = [size for size, _ in workload.shifts]
    at_zero = tuple(slice(0, 1) if same else slice(None) for _, same in workload.shifts)
    types = np.arange(workload.n).reshape(sizes)[at_zero].ravel()
    units = np.zeros((len(types), workload.n))
    units[np.arange(len(types)), types] = 1.0
    return workload.apply_gram(units)


def dense_gram(workload: Any) -> np.ndarray:
    """(n, n) G put together from its `columns`."""
    if fixed_types(workload) == workload.n:
        return workload.apply_gram(np.eye(workload.n))
    sizes = [size for size, _ in workload.shifts]
    row, owner = np.zeros((workload.n, 1), dtype=np.int32), np.zeros(workload.n, dtype=np.int32)
    for coordinate, (size, same) in zip(np.unravel_index(np.arange(workload.n), sizes), workload.shifts, strict=True):
        coordinate = coordinate.astype(np.int32)
        row = row * size + ((coordinate[:, None] - coordinate) % size if same else coordinate[:, None])
        owner = owner if same else owner * size + coordinate
    return columns(workload)[owner, row]


def eigenvalues(workload: Any) -> np.ndarray:
    """(n,) eigenvalues of G, unordered; those that are nothing but rounding are 0."""
    sizes = [size for size, _ in workload.shifts]
    m = fixed_types(workload)
    moved = [axis + 1 for axis, (_, same) in enumerate(workload.shifts) if same]
    kept = [axis + 1 for axis, (_, same) in enumerate(workload.shifts) if not same]
    G = columns(workload).reshape(m, *sizes)
    if moved:
        G = np.fft.fftn(G, axes=moved)
    blocks = G.transpose(*moved, 0, *kept).reshape(-1, m, m)
    if np.iscomplexobj(blocks) and np.abs(blocks.imag).max() <= 1e-14 * np.abs(blocks).max():
        blocks = blocks.real
    values = blocks.real.ravel() if m == 1 else np.linalg.eigvalsh(blocks).ravel()
    return np.where(values > values.max() * workload.n * np.finfo(float).eps, values, 0.0)


def symmetry(workload: Any) -> str:
    """The largest of the groups of `Workload.symmetry` that is seen to leave G unchanged."""
    if fixed_types(workload) > 1:
        return "none"
    column = columns(workload)[0]
    rounding = 1e-13 * column.max()
    if np.ptp(column[1:]) <= rounding:
        return "exchangeable"
    if all(size in (1, 2) for size, _ in workload.shifts):
        weights = np.bitwise_count(np.arange(workload.n))
        by_weight = column[(1 << np.arange(workload.n.bit_length())) - 1]
        if np.abs(column - by_weight[weights]).max() <= rounding:
            return "hamming"
    return "translation"
