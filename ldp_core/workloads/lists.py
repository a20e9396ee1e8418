"""Types that are all lists of at most m of k items, and questions that treat the items alike.

G then stays the same when items are renamed. It depends on the sizes of two lists and on how many items they share, and falls into a block for each
r from 0 to m: block r has a row for every size from r to k - r, and stands C(k, r) - C(k, r - 1) times in G (the Johnson scheme and its Hahn
polynomials; Delsarte 1978). Lists of at most three of twelve items are 299 types, and blocks of 4, 3, 2 and 1 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_LISTED_TOGETHER
from ldp_core.workloads.base import Workload

ALIKE = 1e-9
"""Entries of G for pairs of lists of one kind differ by this share of the largest one at most."""


@dataclass(frozen=True)
class Lists:
    """All lists of at most ``most`` of ``items`` items, the shortest first, in the order of `ldp_core.data.domain.ChoiceAttribute`."""

    items: int
    most: int

    @cached_property
    def members(self) -> np.ndarray:
        """(n, items) float: 1 for the items of a list."""
        return np.vstack([self.sets(size) for size in range(self.most + 1)])

    @cached_property
    def counts(self) -> np.ndarray:
        """(most + 1,) how many lists there are of each size."""
        return np.array([float(math.comb(self.items, size)) for size in range(self.most + 1)])

    @cached_property
    def sizes(self) -> np.ndarray:
        """(n,) how many items each list has."""
        return np.repeat(np.arange(self.most + 1), self.counts.astype(int))

    def sets(self, size: int) -> np.ndarray:
        """(C(items, size), items) float: 1 for the items of each set of this size."""
        chosen = np.array(list(combinations(range(self.items), size)), dtype=int).reshape(
            math.comb(self.items, size), size
        )
        found = np.zeros((len(chosen), self.items))
        np.put_along_axis(found, chosen, 1.0, axis=1)
        return found

    def copies(self, block: int) -> int:
        """How often a block stands in G."""
        return math.comb(self.items, block) - (math.comb(self.items, block - 1) if block else 0)

    def lengths(self, block: int) -> np.ndarray:
        """The sizes of lists that a block has rows for."""
        every = np.arange(self.most + 1)
        return every[np.minimum(every, self.items - every) >= block]

    def vectors(self, size: int, block: int) -> np.ndarray:
        """(most + 1, most + 1) what lists count in a block, by their size and by how many items they share with a set of ``size`` items: in each row
        an orthogonal polynomial of degree ``block`` with a positive leading coefficient, 0 where there is none."""
        found = np.zeros((self.most + 1, self.most + 1))
        for length in self.lengths(block).tolist():
            shared = np.arange(max(0, length - self.items + size), min(length, size) + 1)
            if len(shared) > block:
                root = np.sqrt(self.shared(size, length)[shared])
                powers = np.vander(shared - shared.mean(), block + 1, increasing=True)
                q, r = np.linalg.qr(root[:, None] * powers)
                found[length, shared] = q[:, block] * np.sign(r[block, block]) / root
        return found

    def shared(self, size: int, length: int) -> np.ndarray:
        """(most + 1,) how many lists of a ``length`` share 0, 1, ... items with a set of ``size`` items."""
        apart = [math.comb(self.items - size, length - i) if i <= length else 0 for i in range(self.most + 1)]
        return np.array([float(math.comb(size, i) * many) for i, many in enumerate(apart)])

    def block(self, gram: np.ndarray, block: int) -> np.ndarray:
        """(lengths, lengths) a block of ``gram`` (n, n)."""
        half = self.items // 2
        shared = self.members[:, :half].sum(axis=1).astype(int)
        vectors = np.where(
            np.arange(self.most + 1)[:, None] == self.sizes, self.vectors(half, block)[self.sizes, shared], 0.0
        )
        kept = self.lengths(block)
        return (vectors @ gram @ vectors.T)[np.ix_(kept, kept)]


def lists_of(workload: Workload) -> Lists | None:
    """The lists that the types of ``workload`` are, where its questions treat items alike; None where they do not, or where lists have one item at most, or more than `MOST_LISTED_TOGETHER`."""
    diagonal = np.sort(workload.gram_diag)
    of_sizes = (
        np.count_nonzero(np.diff(diagonal) > ALIKE * diagonal[-1]) <= MOST_LISTED_TOGETHER
    )  # an entry for each size
    for items in range(2, workload.n if of_sizes and workload.n <= MOST_FITTED_TYPES else 0):
        longest = min(items, MOST_LISTED_TOGETHER)
        counts = list(accumulate(math.comb(items, size) for size in range(longest + 1)))
        if counts[2] > workload.n:
            return None
        if workload.n in counts[2:]:
            lists = Lists(items, counts.index(workload.n))
            if _alike(workload, lists):
                return lists
    return None


def _alike(workload: Workload, lists: Lists) -> bool:
    """True where G stays the same when two items swap names, and when names move on by one: together these make all ways to rename items."""
    diagonal, sizes = workload.gram_diag, lists.sizes
    off = ALIKE * diagonal.max()
    if max(np.ptp(diagonal[sizes == size]) for size in range(lists.most + 1)) > off:
        return False
    G, members, names = workload.gram_dense(), lists.members.astype(np.int64), 2 ** np.arange(lists.items)
    numbers = members @ names
    for renamed in (np.roll(names, 1), names[[1, 0, *range(2, lists.items)]]):
        types = np.argsort(numbers)[np.argsort(np.argsort(members @ renamed))]
        if np.abs(G[np.ix_(types, types)] - G).max() > off:
            return False
    return True
