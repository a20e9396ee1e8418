"""What sets of types of one share could do as far as the inequalities of `certificate` tell: linear programmes over the cells of `Traces`.

Found with a solver, whose multipliers need not be exact: what they prove is worked out anew from them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog

from ldp_core.bounds.surveys import fibres
from ldp_core.bounds.surveys.certificate import coefficients_differing, coefficients_within
from ldp_core.bounds.surveys.traces import Kinds, Traces

MOST_TRACES, ALL_TRACES = 48, 200
"""Attributes are tracked from the smallest on while there are at most so many traces; all of them if that makes at most so many."""
MOST_ALONG = 2
SLOPES = np.concatenate([[0.0], np.geomspace(0.02, 1.0, 32)])
# Inequalities join a programme where they are violated, by this share of s at least, so many at a time.
VIOLATED, JOINING, MOST_TURNS = 1e-7, 8, 60
# A programme takes a second or two; one that goes astray is given up, since nothing else can end it.
MOST_SECONDS = 20.0


def tracked(sizes: Sequence[int]) -> Kinds:
    """Which attributes to track: small ones, those of equal size together."""
    found = Counter(size for size in sizes if size > 1)
    kinds = {size: tuple(i for i, other in enumerate(sizes) if other == size) for size in sorted(found)}
    most = ALL_TRACES if _traces(found.values()) <= ALL_TRACES else MOST_TRACES
    chosen: list[int] = []
    for size in kinds:
        if _traces(found[other] for other in [*chosen, size]) > most:
            break
        chosen.append(size)
    return tuple(kinds[size] for size in chosen)


def _traces(numbers: Iterable[int]) -> int:
    return math.prod(number + 1 for number in numbers)


@dataclass(frozen=True)
class Solution:
    """The largest ``value`` of sum lambda W, the ``energies`` W (cells,) with it, and the multipliers of the inequalities."""

    value: float
    energies: np.ndarray
    differing: np.ndarray
    within: np.ndarray


class Relaxation:
    """All inequalities on the sets of a survey's attributes, of which programmes take what they need."""

    def __init__(self, traces: Traces):
        self.traces = traces
        counts = [tuple(int(c) for c in row) for row in traces.counts]
        flags = (0,) if traces.complete else (0, 1)
        self.differing = np.array([(*C, flag) for C in counts if any(C) for flag in flags], dtype=np.int64)
        along = [B for B in counts if 0 < sum(B) <= MOST_ALONG and traces.size_of(B) <= fibres.MOST_VALUES]
        self.within = np.array([B for B in along for _ in SLOPES], dtype=np.int64)
        self.slopes = np.tile(SLOPES, len(along))
        kinds = len(traces.kinds)
        self.differing, self.within = self.differing.reshape(-1, kinds + 1), self.within.reshape(-1, kinds)
        self._along = [traces.size_of(B) for B in along]
        self._rows = np.vstack(
            [-coefficients_differing(traces, self.differing), coefficients_within(traces, self.within, self.slopes)]
        )
        self._scales = np.maximum(np.abs(self._rows).max(axis=1, initial=0.0), 1e-12)
        self._limits: dict[float, np.ndarray] = {}
        self._held: list[int] = []

    def _limit(self, share: float) -> np.ndarray:
        """Right sides divided by s."""
        if share not in self._limits:
            beta = [fibres.largest(values, np.array([share]), SLOPES)[0] for values in self._along]
            both = np.concatenate([np.full(len(self.differing), share**2), *beta])
            self._limits[share] = both / share
        return self._limits[share]

    def solve(self, weights: np.ndarray, share: float) -> Solution | None:
        """The most that sets of this ``share`` s can have by ``weights`` lambda (cells,); None where the solver fails."""
        limit, held = self._limit(share) / self._scales, list(self._held)
        rows = self._rows / self._scales[:, None]
        cells = self.traces.cells
        for turn in range(MOST_TURNS):
            found = linprog(
                -weights,
                A_ub=rows[held] if held else None,
                b_ub=limit[held] if held else None,
                A_eq=np.ones((1, cells)),
                b_eq=[1 - share],
                bounds=(0, None),
                method="highs-ds",
                options={"time_limit": MOST_SECONDS},
            )
            if found.status != 0:
                return None
            excess = rows @ found.x - limit
            excess[held] = 0.0
            joining = np.argsort(-excess)[:JOINING]
            joining = joining[excess[joining] > VIOLATED]
            if not len(joining) or turn == MOST_TURNS - 1:
                break
            held += [int(j) for j in joining]
        multipliers = np.zeros(len(rows))
        if held:
            multipliers[held] = np.maximum(0.0, -found.ineqlin.marginals) / self._scales[held]
            self._held = [j for j in held if multipliers[j] > 0] or held
        split = len(self.differing)
        return Solution(-float(found.fun) * share, found.x * share, multipliers[:split], multipliers[split:])


def shares(traces: Traces, ratio: float) -> np.ndarray:
    """Shares s at which to look: around the best one of a set without limits, 1 / (E + 1), and where small attributes fit exactly."""
    ideal = 1 / (ratio + 1)
    found = [*(ideal * np.exp(np.linspace(-0.7, 1.4, 15)))]
    for counts in product(*(range(min(2, number) + 1) for number in traces.numbers)):
        if 0 < sum(counts) <= 2:
            values = traces.size_of([*counts])
            found += [j / values for j in range(1, 4) if j < values]
    kept = np.unique(np.round(found, 12))
    return kept[(kept > ideal / 3) & (kept < min(0.6, 12 * ideal))]
