"""Covering sets of columns: each person reports on one of few larger sets, which together cover all
questions. They follow CALM (Zhang, Wang, Li, He and Chen 2018, "CALM: Consistent adaptive local
marginal for marginal release under local differential privacy").

If sets are larger, they are fewer, so each gets more reports, and a report answers several
questions. But each set has more cells, and a report says less about every cell. The components that
several sets share are averaged by their variances. CALM chooses the number and size of sets by the
resulting noise. Here it is the exact variance of the questions rather than a bound on it. Some set
holds every question, so that nothing has to be guessed, and sets of columns with more values are
smaller. Let a_B be shares and m_B the information of a report on set B
(`ldp_core.mechanisms.surveys.sampled`). The total variances are compared,

    sum_A dim_A g_A / (sum over B that hold A of a_B m_B) - tr G,    in the terms of `ldp_core.workloads.surveys`.

The sets for a largest number of cells are found greedily. A set from the questions that is not yet
held grows by the column that completes most others for the cells it costs, while it fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.mechanisms.surveys.sets import maximal_sets, without_held
from ldp_core.workloads import Survey

_MOST_CELLS = 2**10
"""Most cells of an enlarged table: in a far larger table most of the information is about nothing
in the questions."""


def best_sets(survey: Survey, information: Callable[[int], float]) -> tuple[Set, ...]:
    """The sets of least variance when all are drawn equally often and a report on a table of so many cells has this ``information`` m_B. The
    candidates are the sets in the questions, and greedy covers by tables of at most 2^k cells, from the first k that may let one more attribute in."""
    asked = maximal_sets(survey)
    best, least, worse, tried = asked, variance(survey, asked, information), 0, {asked}
    smallest = min(math.prod(survey.shape[i] for i in members) for members in asked)
    cells = 1 << (2 * smallest - 1).bit_length()
    while cells <= _MOST_CELLS and worse < 2:
        found = cover(asked, survey.shape, cells)  # whatever epsilon is: kept for searches over it
        if found not in tried:
            tried.add(found)
            value = variance(survey, found, information)
            best, least, worse = (found, value, 0) if value < least else (best, least, worse + 1)
        cells *= 2
    return best


def variance(survey: Survey, sets: Sequence[Set], information: Callable[[int], float]) -> float:
    """Total variance per user on average over the types, but for tr G/n, where each of ``sets`` is drawn equally often."""
    known, of_cells = survey.components, cache(information)
    sums = dict.fromkeys(known.sets, 0.0)
    longest = max(map(len, known.sets))
    for members in sets:
        own = of_cells(math.prod(survey.shape[i] for i in members)) / len(sets)
        for within in anova.subsets(members, longest):
            if within in sums:
                sums[within] += own
    return float(known.dims * known.gram @ (1 / np.array(list(sums.values()))))


@lru_cache(maxsize=64)
def cover(asked: tuple[Set, ...], sizes: tuple[int, ...], cells: int) -> tuple[Set, ...]:
    """Sets of attributes with tables of at most ``cells`` cells, or as they are asked about, that hold all of ``asked``."""
    growing, cover_found = _Growing(asked, sizes), list[Set]()
    for k in sorted(range(len(asked)), key=lambda k: -math.prod(sizes[i] for i in asked[k])):
        if growing.uncovered[k]:
            cover_found.append(growing.grown(k, cells))
    return without_held(cover_found)


class _Growing:
    """The sets in the questions (``asked``) that are not covered yet, and sets that grow from one of them to
    hold more."""

    def __init__(self, asked: Sequence[Set], sizes: Sequence[int]):
        self.asked, self.sizes = asked, np.array(sizes)
        self._logs = np.log(np.maximum(self.sizes, 2))
        self.uncovered = np.ones(len(asked), dtype=bool)
        holding: list[list[int]] = [[] for _ in sizes]
        for k, members in enumerate(asked):
            for i in members:
                holding[i].append(k)
        self._holding = [np.array(places, dtype=np.int64) for places in holding]
        # The attributes of each set that the growing set lacks: their number, and the sum of their
        # numbers, which identifies the last.
        self._lengths, self._totals = (
            np.array([len(members) for members in asked]),
            np.array([sum(members) for members in asked]),
        )
        self._lacking, self._sums = self._lengths.copy(), self._totals.copy()

    def grown(self, first: int, cells: int) -> Set:
        """The set number ``first`` with the attributes that complete most of those not covered for the logarithm of the values they have, as
        long as its table has at most ``cells``; what it holds is covered from then on."""
        members, gains, room = list(self.asked[first]), np.zeros(len(self.sizes)), cells
        touched = [self._add(i, gains) for i in members]
        for i in members:
            room //= self.sizes[i]
        while True:
            worth = np.where(self.sizes <= room, gains / self._logs, 0.0)
            worth[members] = 0
            chosen = int(np.argmax(worth))
            if worth[chosen] == 0:
                break
            members.append(chosen)
            touched.append(self._add(chosen, gains))
            room //= self.sizes[chosen]
        changed = np.concatenate(touched)
        self.uncovered[changed[self._lacking[changed] == 0]] = False
        self._lacking[changed], self._sums[changed] = self._lengths[changed], self._totals[changed]
        return tuple(sorted(members))

    def _add(self, attribute: int, gains: np.ndarray) -> np.ndarray:
        """Those not covered that have the ``attribute``, which they no longer lack; ``gains`` (d,) counts those that each attribute completes."""
        with_it = self._holding[attribute]
        with_it = with_it[self.uncovered[with_it]]
        self._lacking[with_it] -= 1
        self._sums[with_it] -= attribute
        np.add.at(gains, self._sums[with_it[self._lacking[with_it] == 1]], 1.0)
        return with_it
