"""Rows that depend on few attributes: every 0/1 function of four bits, each bit the parity of a few attributes.

Workloads of low degree (marginals of few attributes, parities of low weight) want rows whose transform lies on low weights, and
such rows depend on few attributes: a function of degree g has 2^g times a whole number for its mean, hence few shapes.
The transform of a function of parities is that of its table, moved to other characters: no vector over types is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations, product

import numpy as np
from scipy.special import factorial

from ldp_core.workloads import walsh_hadamard

BITS = 4
_LARGEST_BLOCK = 3


def moved(order: Sequence[int] | np.ndarray) -> np.ndarray:
    """(2^d,) all types with their d bits moved: bit i to ``order[i]``; (k, 2^d) for k orders in the rows of an array."""
    bits = 1 << np.asarray(order)
    types = np.zeros((*bits.shape[:-1], 1 << bits.shape[-1]), dtype=bits.dtype)
    for i in range(bits.shape[-1]):  # each further bit doubles them
        half = 1 << i
        np.bitwise_or(types[..., :half], bits[..., i, None], out=types[..., half : 2 * half])
    return types


@cache
def tables() -> np.ndarray:
    """(k, 16) all 0/1 functions of four bits but the constants, one for each class under translations and permutations."""
    size = 2**BITS
    points = np.arange(size)
    orders = permutations(range(BITS))
    moves = np.array([moved(order) ^ shift for order in orders for shift in points])
    powers = 1 << points
    seen = np.zeros(2**size, dtype=bool)
    tables = []
    for code in range(1, 2**size - 1):
        if not seen[code]:
            bits = (code >> points) & 1
            seen[bits[moves] @ powers] = True
            tables.append(bits)
    return np.array(tables, dtype=bool)


def junta_fourier_weights(d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The different juntas over d attributes: index of the table (k,); attributes per bit (k, 4);
    the Fourier weight of the 0/1 function by weight of the characters (k, d+1), 1 at weight 0 if
    constantly 1; the sum of the squared Fourier weights of those characters (k, d+1); and the
    number of different images (k,) under permutations of the attributes (not counting
    translations).
    """
    functions = tables()
    spectra = (walsh_hadamard(functions) / 2**BITS) ** 2
    subsets = (np.arange(2**BITS)[:, None] >> np.arange(BITS)) & 1
    relevant = np.array([_relevant(table) for table in functions])
    parts = []
    for sizes in product(range(1, _LARGEST_BLOCK + 1), repeat=BITS):
        by_weight = np.zeros((2**BITS, BITS * _LARGEST_BLOCK + 1))
        by_weight[np.arange(2**BITS), subsets @ np.array(sizes)] = 1
        fits = relevant @ np.array(sizes) <= d
        images = _images(d, relevant[fits] * np.array(sizes), spectra[fits])
        kept = np.zeros((2, int(fits.sum()), d + 1))
        width = min(d + 1, by_weight.shape[1])
        for power in (1, 2):
            kept[power - 1, :, :width] = (spectra[fits] ** power @ by_weight)[:, :width]
        parts.append((np.flatnonzero(fits), np.tile(sizes, (len(images), 1)), *kept, images))
    which, blocks, fourier_weights, squares, images = (np.concatenate(part) for part in zip(*parts, strict=True))
    _, first = np.unique(np.round(np.hstack([fourier_weights, squares]), 9), axis=0, return_index=True)
    return which[first], blocks[first], fourier_weights[first], squares[first], images[first]


def _images(d: int, blocks: np.ndarray, spectra: np.ndarray) -> np.ndarray:
    """(k,) in how many ways d attributes can be shared out to ``blocks`` (k, 4), not counting permutations of bits that leave
    ``spectra`` (k, 16) as they are; a few of those ways may still have the same spectrum."""
    used = blocks.sum(axis=1)
    ways = factorial(d) / (factorial(blocks).prod(axis=1) * factorial(d - used))
    symmetries = np.zeros(len(blocks))
    for order in permutations(range(BITS)):
        same = np.isclose(spectra[:, moved(order)], spectra).all(axis=1)
        symmetries += same & (blocks[:, list(order)] == blocks).all(axis=1)
    return ways * factorial((blocks == 0).sum(axis=1)) / symmetries


def _relevant(table: np.ndarray) -> np.ndarray:
    """(b,) on which of its b bits a function (2^b,) depends: the others take no attributes."""
    points = np.arange(len(table))
    return np.array([(table != table[points ^ (1 << i)]).any() for i in range(len(table).bit_length() - 1)])


def junta_row(table: np.ndarray, blocks: np.ndarray, d: int) -> np.ndarray:
    """(2^d,) the row of one junta: each bit that matters is the parity of the next ``blocks[i]`` attributes."""
    types, index, start = np.arange(2**d), np.zeros(2**d, dtype=np.int64), 0
    for i in np.flatnonzero(_relevant(table)):
        width = int(blocks[i])
        mask = ((1 << width) - 1) << start
        index |= (np.bitwise_count(types & mask) & 1).astype(np.int64) << int(i)
        start += width
    return table[index]
