"""The patterns of each shape of table, and their shares, which minimise ``sum_A c_A / x_A``, x_A the average Fourier weight of
reports on A.

Sets of attributes of equal sizes share their patterns: the value of a pattern to any of them depends on numbers by set only. The sum
is convex in the shares a of the columns, x = E'a with E (columns by sets in the questions). At
the best shares every column in use has the same value,
``sum_A (c_A / x_A^2) e_A = sum_A c_A / x_A``, and no column has more. Prices therefore say which
columns to add.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ldp_core.anova import Set
from ldp_core.mechanisms.surveys.pattern import fourier_weights
from ldp_core.run import Check, unchecked


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

    def __init__(self, sizes: Sequence[int], numbered: NumberedSets, epsilon: float):
        self.sizes, self.cells, self._numbered, self._epsilon = tuple(sizes), math.prod(sizes), numbered, epsilon
        k = len(self.sizes)
        sets = [chosen for size in range(1, min(k, numbered.most) + 1) for chosen in combinations(range(k), size)]
        self._members = np.array([chosen + (k,) * (numbered.most - len(chosen)) for chosen in sets])
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
        return self._numbered.numbers(filled[:, self._members])

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


# Updates between two looks at what they bring.
TOGETHER = 10


class Mixture:
    """The columns of ``shapes`` with their Fourier weights (columns, sets), for costs c (sets,)."""

    def __init__(self, shapes: Sequence[Shape], costs: np.ndarray):
        self.shapes, self.costs = [shape for shape in shapes if len(shape.columns)], costs
        numbers = [shape.numbers[shape.columns[:, 0]] for shape in self.shapes]
        spectra = [shape.spectra[shape.columns[:, 1]] for shape in self.shapes]
        lengths = np.concatenate([np.full(len(part), part.shape[1]) for part in numbers])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.concatenate([part.ravel() for part in spectra])
        places = np.concatenate([part.ravel() for part in numbers])
        by_column = sparse.csr_matrix((entries, places, starts), shape=(len(lengths), len(costs) + 1))
        self.fourier_weights = by_column[:, :-1].tocsr()
        self._transposed = self.fourier_weights.T.tocsr()
        self.shares = np.concatenate([shape.shares for shape in self.shapes])

    def reached(self) -> np.ndarray:
        """(sets,) x."""
        return self._transposed @ self.shares

    @property
    def objective(self) -> float:
        return float(np.sum(self.costs / self.reached()))

    @property
    def worth(self) -> np.ndarray:
        """(sets + 1,) the value of a unit of Fourier weight on each set in the questions, and 0 for
        all others."""
        return np.append(self.costs / self.reached() ** 2, 0.0)

    def fit(self, updates: int, check: Check = unchecked) -> None:
        """Multiplicative updates of the shares (Silvey, Titterington, Torsney 1978), given to the shapes as well."""
        before = np.inf
        shares = self.shares
        # Where Fourier weights are many, all updates together go through 2e8 entries of them.
        for update in range(min(updates, max(2 * TOGETHER, 2 * 10**8 // max(1, self.fourier_weights.nnz)))):
            reached = self._transposed @ shares
            if update % TOGETHER == 0:
                check()
                objective = float(np.sum(self.costs / reached))
                if objective > before * (1 - 1e-8):  # updates end when TOGETHER of them gain less than this share
                    break
                before = objective
            shares = shares * (self.fourier_weights @ (self.costs / reached**2)) ** 0.9
            shares /= shares.sum()
        self.give(shares)

    def give(self, shares: np.ndarray) -> None:
        """Take these ``shares`` (columns,), for the shapes as well."""
        self.shares = shares / shares.sum()
        for shape, part in zip(self.shapes, self.split(self.shares), strict=True):
            shape.shares = part

    def spare(self) -> np.ndarray:
        """(columns,) shares, not summing to 1 exactly, of at most as many columns as sets, with at
        least the same Fourier weight on each set. They are a basic solution of a linear program,
        which prefers patterns over few attributes."""
        attributes = np.concatenate([np.full(len(shape.columns), len(shape.sizes)) for shape in self.shapes])
        needed = sparse.diags(1 / self.reached()) @ self._transposed
        solution = linprog(
            1 + 1e-6 * attributes,  # decides between equally good columns
            A_ub=-needed,
            b_ub=-np.ones(len(self.costs)),
            method="highs-ipm",
            options={"maxiter": 200},  # 43 were the most of 20 surveys; seconds would depend on the machine
        )
        return self.shares if solution.status != 0 else np.maximum(solution.x, 0.0)

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """(columns,) the largest part that each column has in the Fourier weight of a set, and whether it has the largest in one of them."""
        weights = sparse.diags(self.shares) @ self.fourier_weights @ sparse.diags(1 / self.reached())
        largest = weights.max(axis=0).toarray().ravel()
        relative = (weights @ sparse.diags(1 / largest)).max(axis=1).toarray().ravel()
        return weights.max(axis=1).toarray().ravel(), relative >= 1 - 1e-12

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """``values`` (columns,) by shape."""
        return np.split(values, np.cumsum([len(shape.columns) for shape in self.shapes])[:-1])
