"""The structure that distinguishes a survey's patterns: the sets of attributes in the questions,
and the patterns of each shape of table.

Sets of attributes of equal sizes share their patterns: the value of a pattern to any of them
depends on numbers by set only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from ldp_core.anova import Set
from ldp_core.mechanisms.surveys.pattern import fourier_weights


class NumberedSets:
    """The ``sets`` of attributes that Fourier weight counts on, numbered; more than all of them is the number of every other set.

    A set is looked up by the XOR of random 64-bit codes of its attributes: two of a million sets share one with a chance of 1e-7.
    """

    def __init__(self, sets: Sequence[Set], attributes: int):
        self.most = max(map(len, sets))
        codes = np.random.default_rng(5).integers(2**64, size=attributes, dtype=np.uint64)
        self._codes = np.append(codes, np.uint64(0))  # the last one stands for no attribute
        codes_of_sets = np.array([np.bitwise_xor.reduce(codes[list(members)]) for members in sets], dtype=np.uint64)
        self._order = np.argsort(codes_of_sets, kind="stable")
        self._sorted = codes_of_sets[self._order]

    def numbers(self, members: np.ndarray) -> np.ndarray:
        """Numbers of the sets along the last axis of ``members``, attributes filled up with -1."""
        codes = np.bitwise_xor.reduce(self._codes[members], axis=-1)
        places = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(self._sorted[places] == codes, self._order[places], len(self._sorted))


class Shape:
    """Tables of some ``sizes``, in increasing order: their known patterns, the attributes that they
    are used on, and the patterns in the mixture with their shares.

    ``patterns`` (t, n_B) with ``spectra`` (t, q), their Fourier weights on the q possible sets;
    ``attributes`` (b, k) and ``numbers`` (b, q) of those sets among all sets in the questions;
    ``columns`` (p, 2), places of attributes and patterns, and ``shares`` (p,).
    """

    def __init__(self, sizes: Sequence[int], asked: NumberedSets, epsilon: float):
        self.sizes, self.cells, self._asked, self._epsilon = tuple(sizes), math.prod(sizes), asked, epsilon
        k = len(self.sizes)
        sets = [chosen for size in range(1, min(k, asked.most) + 1) for chosen in combinations(range(k), size)]
        self._members = np.array([chosen + (k,) * (asked.most - len(chosen)) for chosen in sets])
        self._codes = np.array([sum(1 << (k - 1 - i) for i in chosen) for chosen in sets])
        self.patterns, self.spectra = np.zeros((0, self.cells), dtype=bool), np.zeros((0, len(sets)))
        self.attributes, self.numbers = np.zeros((0, k), dtype=np.int64), np.zeros((0, len(sets)), dtype=np.int64)
        self.columns, self.shares = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
        self._patterns: dict[bytes, int] = {}
        self._places: dict[tuple[int, ...], int] = {}

    def add_patterns(self, cells: np.ndarray) -> np.ndarray:
        """(r,) places of the patterns ``cells`` (r, n_B), -1 for those that say nothing or find no room."""
        places = np.full(len(cells), -1)
        new: list[int] = []
        room = max(2, 2**19 // self.cells) - len(self.patterns)
        telling = cells.any(axis=1) & ~cells.all(axis=1)
        for row in np.flatnonzero(telling):
            key = np.packbits(cells[row]).tobytes()
            if key not in self._patterns and len(new) < room:
                self._patterns[key] = len(self.patterns) + len(new)
                new.append(int(row))
            places[row] = self._patterns.get(key, -1)
        if new:
            self.patterns = np.vstack([self.patterns, cells[new]])
            spectra = fourier_weights(cells[new].reshape(-1, *self.sizes), self._epsilon)[:, self._codes]
            self.spectra = np.vstack([self.spectra, spectra])
        return places

    def add_attributes(self, sets: Iterable[Sequence[int]]) -> np.ndarray:
        """Places of sets of attributes, each in the order of ``sizes``."""
        places, new = [], []
        for members in map(tuple, sets):
            if members not in self._places:
                self._places[members] = len(self._places)
                new.append(members)
            places.append(self._places[members])
        if new:
            added = np.array(new, dtype=np.int64)
            self.attributes = np.vstack([self.attributes, added])
            self.numbers = np.vstack([self.numbers, self.numbers_of(added)])
        return np.array(places, dtype=np.int64)

    def numbers_of(self, attributes: np.ndarray) -> np.ndarray:
        """(b, q) numbers among the sets asked for, of the sets inside ``attributes`` (b, k)."""
        filled = np.hstack([attributes, np.full((len(attributes), 1), -1)])
        return self._asked.numbers(filled[:, self._members])

    def add_columns(self, places: np.ndarray, patterns: np.ndarray) -> None:
        """Take patterns into the mixture, with no share yet."""
        wanted = np.stack([places, patterns], axis=1)[patterns >= 0]
        known = set(map(tuple, self.columns.tolist()))
        new = [column for column in dict.fromkeys(map(tuple, wanted.tolist())) if column not in known]
        if new:
            self.columns = np.vstack([self.columns, np.array(new, dtype=np.int64)])
            self.shares = np.concatenate([self.shares, np.zeros(len(new))])

    def weights(self, numbers: np.ndarray, worth: np.ndarray) -> np.ndarray:
        """(r, 2^k) weights by set, for rows (r, q) of `numbers`; the last entry of ``worth`` is for
        sets in no question."""
        weights = np.zeros((len(numbers), 2 ** len(self.sizes)))
        weights[:, self._codes] = worth[numbers]
        return weights

    def prices(self, worth: np.ndarray) -> np.ndarray:
        """(b, t) the value of each pattern on each set of attributes."""
        return worth[self.numbers] @ self.spectra.T
