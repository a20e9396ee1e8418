"""The permutations of the types that leave a workload's Gram matrix G unchanged, and the structure
of G that follows.

**Shifts.** Types form a table, one axis per attribute. If cyclic shifts of the types along an axis
leave G unchanged, its columns at 0 of that axis determine it. A Fourier transform along the axis
splits it into blocks of the size of the other axes (a block circulant matrix; Davis 1979, Section
5.8). Counting over attributes 100 x 16 x 2 with ranges along the first costs 32 eigenvalue problems
of 100 types instead of one of 3,200; marginals cost one transform.

**Classes.** All types may be alike, or records of binary attributes that may be flipped and
swapped. The pairs of types then fall into classes i = 0 .. s (equal or different types, or the
number of attributes that differ). A matrix that is constant on classes has one eigenvalue for each
class j of characters: an association scheme (Delsarte 1973). Everything is then a few numbers,
whatever the number of types.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from scipy.linalg import hadamard

EPS = np.finfo(float).eps
# Rows of a product in a Walsh-Hadamard transform: few enough for BLAS not to spread them over threads, which would
# wait for each other longer than the product takes.
ROWS_AT_ONCE = 1024
LOST = 1e-8
"""The share of L up to which a Gram matrix counts as one of types that are all alike."""

Kind = Literal["none", "translation", "hamming", "exchangeable"]
Shifts = tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class SymmetryGroup:
    """Permutations of the types that leave G unchanged.

    ``kind``: all of them (exchangeable); flipping and swapping binary attributes (hamming); others that take every type to
    every other, cyclic shifts of attributes (translation); or none of these. ``shifts``: the types as a table in row-major
    order: the size of each axis, and whether G stays the same when types are shifted cyclically along it.
    """

    kind: Kind
    shifts: Shifts
    apart: float = 0.0
    """No entry of G, as computed, is farther than this from the entry that stands for its class."""

    @classmethod
    def seen(cls, shifts: Shifts, column: np.ndarray) -> SymmetryGroup:
        """The largest group that is seen to leave G unchanged, where shifts along every axis do: by its column of type 0."""
        n, rounding = len(column), 1e-13 * column.max()
        if Scheme(n, binary=False).off(column) <= rounding:
            return cls("exchangeable", shifts)
        if all(size in (1, 2) for size, _ in shifts) and Scheme(n, binary=True).off(column) <= rounding:
            return cls("hamming", shifts)
        return cls("translation", shifts)

    @property
    def all_alike(self) -> bool:
        """True if every type is taken to every other: the uniform prior is then the least favourable one."""
        return self.kind != "none"

    @property
    def scheme(self) -> Scheme | None:
        """The classes of pairs of types, None where the group is too small for any."""
        if self.kind not in ("exchangeable", "hamming"):
            return None
        return Scheme(math.prod(size for size, _ in self.shifts), self.kind == "hamming", self.apart)

    @property
    def fixed_types(self) -> int:
        """m, the number of columns that fix G: the product of the axes along which it changes."""
        return math.prod(size for size, same in self.shifts if not same)

    def fixing(self) -> np.ndarray:
        """(m,) the types at 0 of every axis along which G may be shifted: those whose columns fix it."""
        sizes = [size for size, _ in self.shifts]
        at_zero = tuple(slice(0, 1) if same else slice(None) for _, same in self.shifts)
        return np.arange(math.prod(sizes)).reshape(sizes)[at_zero].ravel()

    def dense(self, columns: np.ndarray) -> np.ndarray:
        """(n, n) G put together from the ``columns`` (m, n) that fix it."""
        sizes, n = [size for size, _ in self.shifts], columns.shape[1]
        row, owner = np.zeros((n, 1), dtype=np.int32), np.zeros(n, dtype=np.int32)
        for coordinate, (size, same) in zip(np.unravel_index(np.arange(n), sizes), self.shifts, strict=True):
            place = coordinate.astype(np.int32)
            row = row * size + ((place[:, None] - place) % size if same else place[:, None])
            owner = owner if same else owner * size + place
        return columns[owner, row]

    def eigenvalues(self, columns: np.ndarray) -> np.ndarray:
        """(n,) eigenvalues of G by its ``columns`` (m, n), unordered; those that are nothing but rounding are 0."""
        m, n = columns.shape
        moved = [axis + 1 for axis, (_, same) in enumerate(self.shifts) if same]
        kept = [axis + 1 for axis, (_, same) in enumerate(self.shifts) if not same]
        table = columns.reshape(m, *(size for size, _ in self.shifts))
        if moved:
            table = np.fft.fftn(table, axes=moved)
        blocks = table.transpose(*moved, 0, *kept).reshape(-1, m, m)
        if np.iscomplexobj(blocks) and np.abs(blocks.imag).max() <= 1e-14 * np.abs(blocks).max():
            blocks = blocks.real
        values = blocks.real.ravel() if m == 1 else np.linalg.eigvalsh(blocks).ravel()
        return np.where(values > values.max() * n * EPS, values, 0.0)


@dataclass(frozen=True)
class Scheme:
    """Classes of pairs of ``n`` types, and of characters. Class 0 is equality, or the ones. ``binary``: types are records of s
    binary attributes, and classes count those that differ; without it s = 1. ``apart`` as in `SymmetryGroup`."""

    n: int
    binary: bool
    apart: float = 0.0

    @property
    def classes(self) -> int:
        """s + 1."""
        return self.n.bit_length() if self.binary else 2

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """(s+1, s+1) of the 0/1 matrix of pair class i (column) on character class j (row)."""
        return krawtchouk(self.classes - 1) if self.binary else np.array([[1.0, self.n - 1.0], [1.0, -1.0]])

    @property
    def multiplicities(self) -> np.ndarray:
        """(s+1,) how many characters each class has; also, in each class, how many types form such a pair with a given one."""
        return self.eigenvalues[0]

    @property
    def class_of_types(self) -> np.ndarray:
        """(n,) the class of the pair that each type forms with type 0."""
        types = np.arange(self.n)
        return np.bitwise_count(types) if self.binary else np.minimum(types, 1)

    def by_class(self, column: np.ndarray) -> np.ndarray:
        """(s+1,) the entries of a column of type 0 (n,) at one type of each class: 0, 1, 11, 111, ... in binary."""
        return column[(1 << np.arange(self.classes)) - 1]

    def off(self, column: np.ndarray) -> float:
        """How far a column of type 0 (n,) is from being constant on classes."""
        return float(np.abs(column - self.by_class(column)[self.class_of_types]).max())

    def spectrum(self, column: np.ndarray, roundings: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """(s+1,) the eigenvalues of G on the characters, from its ``column`` of type 0 (n,), and how far the true G may be from
        them: (s+1,) bounds e_j such that tr(C G) is off by at most ``sum_j multiplicity_j |C_j| e_j``, and C G C by
        ``max_j C_j^2 e_j`` in norm, for every C in the scheme.

        A workload may have been seen, rather than known, to be symmetric (`SymmetryGroup.seen`): entries of one class differ a
        little then, and all may be off by the ``roundings`` of G. Entries off by t are a matrix of norm n t at most. The
        transform of integers is exact, that of other numbers a sum of s + 1 products.
        """
        by_class = self.by_class(column)
        off = (self.off(column) + self.apart) * (1 + 1e-9) + 2 * roundings * EPS * column[0]
        terms = np.abs(self.eigenvalues) @ np.abs(by_class)
        exact = not self.apart and np.array_equal(by_class, np.rint(by_class)) and terms.max() < 2.0**53
        error = self.n * off + (0.0 if exact else (len(terms) + 3) * EPS) * terms
        gamma = self.eigenvalues @ by_class
        nothing = np.abs(gamma) < self.n * EPS * gamma.max()
        return np.where(nothing, 0.0, gamma), error + np.where(nothing, np.abs(gamma), 0.0)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """``x`` (..., n) by the characters of the translations of types: XOR of binary records, otherwise cyclic shifts."""
        return walsh_hadamard(x) if self.binary else np.fft.fft(x)

    @property
    def differences(self) -> np.ndarray:
        """(n, n) the type that row u is the translation of by column v: u - v."""
        types = np.arange(self.n)
        return types[:, None] ^ types if self.binary else (types[:, None] - types) % self.n


def deviation_from_exchangeable(
    diagonal: np.ndarray, sums: np.ndarray, written: Callable[[], np.ndarray]
) -> float | None:
    """How far entries of G (n, n) are at most from those of its first column, for the ``diagonal`` (n,)
    and the row ``sums`` (n,) of a G that is ``a I + b 11'`` but for rounding; None for any other G.

    G is ``written`` out only where all rows look alike. What it may be off by changes L by `LOST` at most.
    """
    n = len(diagonal)
    trace, total = float(diagonal.sum()), float(sums.sum())
    b = (total - trace) / (n * (n - 1))
    a = trace / n - b
    most = LOST * a / n
    if not a > 0 or max(np.abs(diagonal - (a + b)).max(), np.abs(sums - (a + n * b)).max() / n) > most:
        return None
    G = written()
    off = np.abs(G - b)
    off[np.diag_indices(n)] = np.abs(G.diagonal() - (a + b))
    apart = float(off.max())
    return 2 * apart if apart <= most else None


def krawtchouk(d: int) -> np.ndarray:
    """(d+1, d+1) ``K_i(j) = sum_h (-1)^h C(j, h) C(d - j, i - h)`` in row j, column i."""
    return np.array(
        [
            [
                float(sum((-1) ** h * math.comb(j, h) * math.comb(d - j, i - h) for h in range(min(i, j) + 1)))
                for i in range(d + 1)
            ]
            for j in range(d + 1)
        ]
    )


def walsh_hadamard(x: np.ndarray) -> np.ndarray:
    """The unnormalised Walsh-Hadamard transform along the last axis (a power of two): sum_u (-1)^popcount(S & u) x_u.

    In single precision where ``x`` is (whole numbers are exact up to 2^24 then, up to 2^53 otherwise). Some bits at a time are products with a
    small matrix, which takes a fifth of the time of sums and differences bit by bit.
    """
    x = np.array(x, dtype=np.float32 if np.asarray(x).dtype == np.float32 else float)
    shape, rows, left = x.shape, math.prod(x.shape[:-1]), x.shape[-1].bit_length() - 1
    while left:
        bits = min(4, left)  # 3 to 6 take much the same time
        # The first bits go last, transformed: in the end all are where they were.
        rest = shape[-1] // 2**bits
        many = min(ROWS_AT_ONCE, rest)
        x = x.reshape(rows, 2**bits, rest // many, many).transpose(0, 2, 3, 1) @ _small(bits, x.dtype.char)
        left -= bits
    return x.reshape(shape)


@cache
def _small(bits: int, kind: str) -> np.ndarray:
    """(2^bits, 2^bits) the matrix of the transform, as numbers of a ``kind`` of NumPy's."""
    return np.asarray(hadamard(2**bits, dtype=kind))
