"""Sets of attributes by what of them is tracked: inequalities on surveys are the same for all sets of one trace.

Some attributes are tracked, in kinds of equally many values; the trace of a set A says how many of each kind it has. A *cell* is
a trace together with whether A has attributes that are not tracked as well. Averaging an inequality over the attributes of
a kind leaves it true, and makes its coefficients a function of the cell: few numbers, whatever the number of sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, cached_property, reduce
from itertools import product

import numpy as np

from ldp_core import anova

Kinds = tuple[tuple[int, ...], ...]
"""Tracked attributes, those of a kind together."""


class Traces:
    """The traces over ``kinds``, of attributes of the given ``sizes``. ValueError for kinds that are none: attributes named twice or
    unknown, of a single value, or of different sizes within a kind."""

    def __init__(self, sizes: Sequence[int], kinds: Kinds):
        members = [i for kind in kinds for i in kind]
        if len(set(members)) < len(members) or not set(members) <= set(range(len(sizes))) or not all(kinds):
            raise ValueError("Kinds of attributes name each attribute once.")
        self.sizes = [int(sizes[kind[0]]) for kind in kinds]
        if any(sizes[i] != size for kind, size in zip(kinds, self.sizes, strict=True) for i in kind) or 1 in self.sizes:
            raise ValueError("The attributes of a kind have equally many values, two or more.")
        self.kinds, self.numbers = kinds, [len(kind) for kind in kinds]
        telling = sum(size > 1 for size in sizes)
        self.complete = len(members) == telling
        """True if every attribute is tracked, so that no set has others."""
        counts = [*product(*(range(number + 1) for number in self.numbers))]
        self.counts = np.array(counts, dtype=np.int64).reshape(len(counts), len(kinds))
        traces = np.arange(len(self.counts))
        self.trace = traces[1:] if self.complete else np.concatenate([traces[1:], traces])
        """(v,) the trace of each cell; there is none for the empty set of attributes."""
        self.alone = np.arange(len(self.trace)) < len(traces) - 1
        """(v,) whether the sets of the cell have tracked attributes only."""

    @property
    def cells(self) -> int:
        return len(self.trace)

    @cached_property
    def _strides(self) -> list[int]:
        sizes = [number + 1 for number in self.numbers]
        return [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]

    def places(self, sets: Iterable[anova.Set]) -> np.ndarray:
        """(k,) the cell of each of the non-empty ``sets``."""
        stride = {i: step for kind, step in zip(self.kinds, self._strides, strict=True) for i in kind}
        places_of_tables = []
        for members in sets:
            trace = sum(stride.get(i, 0) for i in members)
            alone = all(i in stride for i in members)
            places_of_tables.append(trace - 1 if alone else len(self.counts) - 1 + trace)
        return np.array(places_of_tables, dtype=np.int64)

    def known(self, counts: Sequence[int]) -> bool:
        """True if ``counts`` attributes of each kind can be chosen."""
        return len(counts) == len(self.numbers) and all(0 <= c <= m for c, m in zip(counts, self.numbers, strict=True))

    def size_of(self, counts: Iterable[int]) -> int:
        """The number of combinations of values of ``counts`` attributes of each kind."""
        return math.prod(size ** int(count) for size, count in zip(self.sizes, counts, strict=True))

    def differing(self, counts: Sequence[int]) -> np.ndarray:
        """(traces,) the mean of ``prod over i in A and C of -1 / (n_i - 1)`` over the sets C with ``counts`` of each kind: what the
        projection P_A says of two types that differ in C and nowhere else. Off by at most ``(2 kinds) u``."""
        means = [_differing(number, size) for number, size in zip(self.numbers, self.sizes, strict=True)]
        return reduce(np.kron, (own[count] for own, count in zip(means, counts, strict=True)), np.ones(1))

    def within(self, counts: Sequence[int]) -> np.ndarray:
        """(traces,) the share of the sets B with ``counts`` of each kind that A lies in, as far as it is tracked."""
        return self._product(lambda k, have: Fraction(math.comb(counts[k], have), math.comb(self.numbers[k], have)))

    def missed(self, counts: Sequence[int]) -> np.ndarray:
        """(traces,) the share of the sets B with ``counts`` of each kind that have no attribute of A."""
        numbers = self.numbers
        return self._product(
            lambda k, have: Fraction(math.comb(numbers[k] - counts[k], have), math.comb(numbers[k], have))
        )

    def aligned(self, A: Sequence[int], C: Sequence[int]) -> np.ndarray:
        """(traces,) shares of pairs of sets. The pairs have the counts ``A`` and ``C`` of each
        kind, the first set within the second; the share is of those pairs whose second set meets a
        set of this trace in exactly the first set."""

        def factor(k: int, have: int) -> Fraction:
            ways = math.comb(have, A[k]) * math.comb(self.numbers[k] - have, C[k] - A[k])
            return Fraction(ways, math.comb(self.numbers[k], C[k]) * math.comb(C[k], A[k]))

        return self._product(factor)

    def _product(self, factor: Callable[[int, int], Fraction]) -> np.ndarray:
        """(traces,) products over the kinds of ``factor(kind, number of its attributes in the
        trace)``."""
        factors = [
            np.array([float(factor(k, have)) for have in range(number + 1)]) for k, number in enumerate(self.numbers)
        ]
        return reduce(np.kron, factors, np.ones(1))


@cache
def _differing(number: int, size: int) -> np.ndarray:
    """(number + 1, number + 1) the mean of (-1/(size - 1))^j, j how many of h attributes are among c of ``number``: of row c and column h.

    Rounded once: whole numbers are the coefficients of ``(1 - x)^c (1 + (size - 1) x)^(number - c)``, each row's from those of the row before.
    """
    total = [math.comb(number, h) * (size - 1) ** h for h in range(number + 1)]
    rows = [total]
    for _ in range(number):
        row = [1]
        for here, before in zip(rows[-1][1:], rows[-1], strict=False):
            row.append(here - before - (size - 1) * row[-1])
        rows.append(row)
    shares = np.array([[value / whole for value, whole in zip(row, total, strict=True)] for row in rows])
    shares.flags.writeable = False
    return shares
