"""The weights lambda that prove most: cutting planes, from the closed form on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ldp_core.bounds.surveys.certificate import SurveyCertificate
from ldp_core.bounds.surveys.relaxation import Relaxation, Solution, shares, tracked
from ldp_core.bounds.surveys.three import patterns
from ldp_core.bounds.surveys.three_search import Separation, fusing
from ldp_core.bounds.surveys.traces import Traces
from ldp_core.run import Budget, Check
from ldp_core.workloads import Survey

# The search ends when no weights can gain more than this share, or after so many rounds.
GOAL, MOST_ROUNDS = 2e-4, 3
# Ends of slices, as logarithms of their ratio to 1 / (E + 2): from, to and step. Cuts are at maxima among so many intervals on both sides.
MIDDLE, OUTER, NEAR = (-0.4, 1.4, 0.1), ((-2.4, -0.4, 0.2), (1.4, 4.0, 0.2)), 3
# The first certificate is by wider slices, and by so few turns of joining inequalities.
FIRST_MIDDLE, FIRST_OUTER, FIRST_TURNS = (-0.4, 1.4, 0.15), ((-2.4, -0.4, 0.3), (1.4, 4.0, 0.3)), 3
# Three types at a time are looked at while that gains this share in so many rounds, each on so many slices where sets are most likely at most; these are
# split where their ends are farther apart.
WORTH, STALE, MOST_AT_ONCE, LIKELY, SPLIT = 4e-3, 2, 3, 0.03, 1.004
# Above this share there are no ends: sets of so many types tell little.
LAST = 0.7


def closed_form(survey: Survey, epsilon: float) -> SurveyCertificate:
    """The bound without inequalities: ``g_0 + (sum_A dim_A sqrt(g_A))^2 / sinh(epsilon / 2)^2``."""
    none, ends = np.zeros(0), np.array([0.0, 1.0])
    weights, multipliers = np.ones(len(survey.components.sets)), np.zeros((1, 0))
    differing, within = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    inequalities = (differing, within, none, within, none, within)
    return _proven(SurveyCertificate(survey, epsilon, 0.0, weights, (), *inequalities, ends, *[multipliers] * 4))


def _proven(found: SurveyCertificate) -> SurveyCertificate:
    return replace(found, value=found.claim())


def improved(
    survey: Survey, epsilon: float, best: SurveyCertificate, budget: Budget
) -> Iterator[tuple[SurveyCertificate, float | None]]:
    """A first certificate, and from ``best`` on better and better ones, with what none that looks at two types at a time can exceed where
    that is known; those after look at three, where attributes have different numbers of values. `Interrupted` at the end of ``budget``."""
    search = Search(survey, epsilon, budget.check)
    first = search.first()
    if first is not None and first.value > best.value:
        yield first, None  # what follows goes on from ``best``, not to end before it has found as much as it can
    limit = search.start()
    yield best, limit
    for _ in range(MOST_ROUNDS):
        if limit <= best.value * (1 + GOAL) or budget.stopped() is not None:
            break
        found = search.round()
        if found is None:
            break
        best = max(best, found, key=lambda c: c.value)
        yield best, limit
        if search.settled:
            break
    values = [best.value]
    while len(values) <= STALE or values[-1] > values[-1 - STALE] * (1 + WORTH):
        if budget.stopped() is not None or not search.sharpen() or (found := search.round()) is None:
            break
        best = max(best, found, key=lambda c: c.value)
        values.append(best.value)
        yield best, None


class Search:
    """Weights and multipliers by `Relaxation`, first for sets of some shares, then on slices, which are cut where they prove less."""

    def __init__(self, survey: Survey, epsilon: float, check: Check):
        self.survey, self.epsilon, self._check = survey, epsilon, check
        self.D = math.expm1(epsilon)
        self.traces = Traces(survey.shape, tracked(survey.shape))
        self.relaxation = Relaxation(self.traces, self.D)
        c = survey.components
        self._places = self.traces.places(c.sets)
        roots = np.bincount(self._places, c.dims * np.sqrt(c.gram), self.traces.cells)
        self._roots = roots / roots.sum()
        self._scale, self._constant = float(survey.n) * float(roots.sum()) ** 2, float(survey.n) * c.constant
        self._ends, self.settled = np.zeros(0), False
        self._fused = fusing(self.traces) if len(self.traces.kinds) > 1 else None
        self._separation: Separation | None = None
        self._three = list[np.ndarray]()
        self._last: tuple[Solution, np.ndarray] | None = None

    def first(self) -> SurveyCertificate | None:
        """What is proved soon; None where the solver fails. Which inequalities it needed says little of what others need."""
        ends = self._spread(FIRST_MIDDLE, FIRST_OUTER)
        relaxation = Relaxation(self.traces, self.D)
        found = relaxation.solve(self._roots, [*pairwise(ends)], self._check, FIRST_TURNS)
        return None if found is None else self._certificate(found, ends)

    def _spread(self, middle: tuple[float, ...], outer: tuple[tuple[float, ...], ...]) -> np.ndarray:
        ends = np.concatenate([np.exp(np.arange(*marks)) for marks in (middle, *outer)]) / (self.D + 2)
        return np.unique(ends[ends < LAST])

    def start(self) -> float:
        """The first slices. Returns what no weights can prove more than, as far as sets of some shares tell; below everything where there is
        none: so few types have no sets of the shares that are looked at."""
        some = shares(self.traces, self.D + 1)
        found = (
            self.relaxation.solve(self._roots, [(share, share) for share in some], self._check) if len(some) else None
        )
        if found is None:
            return -math.inf
        self._ends = self._spread(MIDDLE, OUTER)
        if found.within.any():
            self._ends = np.unique(np.append(self._ends, some[some < LAST]))
        return self._constant + self._scale * found.value

    def round(self) -> SurveyCertificate | None:
        """The certificate for the slices there are, which are then cut where it is worst; None where the solver failed."""
        found = self.relaxation.solve(self._roots, [*pairwise(self._ends)], self._check)
        if found is None:
            return None
        self._last = found, self._ends
        certificate = self._certificate(found, self._ends)
        grid, ratios = certificate.ratios()
        known = float(self._roots @ np.sqrt(found.weights)) ** 2 / found.value
        around = np.lib.stride_tricks.sliding_window_view(np.pad(ratios, NEAR, mode="edge"), 2 * NEAR + 1).max(axis=1)
        worst = np.flatnonzero((ratios > known * (1 + GOAL)) & (ratios == around))
        ends = np.unique(np.concatenate([self._ends, (grid[worst] + grid[worst + 1]) / 2]))
        self.settled, self._ends = len(ends) == len(self._ends), ends
        return certificate

    def sharpen(self) -> bool:
        """Inequalities from three types at a time for the weights of the last round, at the sizes of sets that are most likely there, and slices that end
        there. Whether there are any."""
        if self._fused is None or self._last is None:
            return False
        if self._separation is None:
            self._separation = Separation(patterns(self.survey.shape, self.traces.kinds, self._fused))
        known = self._separation.known
        found, ends = self._last
        chances, both = found.chances.reshape(-1, 2), np.column_stack([ends[:-1], ends[1:]])
        mass = chances.sum(axis=1)
        likely = [k for k in np.argsort(-mass)[:MOST_AT_ONCE] if mass[k] > LIKELY]
        joined = 0
        for k in likely:
            share, (low, high) = float(chances[k] @ both[k] / mass[k]), both[k]
            numbers = self._separation.solve(found.weights, share, self.relaxation.held(share), self._check)
            if numbers is not None:
                numbers = known.scaled(numbers, share)
                self._three.append(numbers)
                self.relaxation.join(known.inequalities(numbers[None]))
                joined += 1
            if high > low * SPLIT**2:
                self._ends = np.unique(np.append(self._ends, np.clip(share, low * SPLIT, high / SPLIT)))
        return joined > 0

    def _certificate(self, found: Solution, ends: np.ndarray) -> SurveyCertificate:
        """What is not between two ends has the multipliers of the first slice or of the last; or none above, where there are three types."""
        every = [found.differing, found.within, found.aligned, found.three]
        if found.three.any():
            every = [np.vstack([own, np.zeros(own.shape[1])]) for own in every]
        used = [multipliers.any(axis=0) for multipliers in every]
        N, kappa, nu, xi = (multipliers[:, own] for multipliers, own in zip(every, used, strict=True))
        relaxation, joined = self.relaxation, [self._three[k] for k in np.flatnonzero(used[3])]
        return _proven(
            SurveyCertificate(
                self.survey,
                self.epsilon,
                0.0,
                found.weights[self._places],
                self.traces.kinds,
                relaxation.differing[used[0]],
                relaxation.within[used[1]],
                relaxation.slopes[used[1]],
                relaxation.aligned[used[2]],
                np.array(self._fused if joined else (), dtype=np.int64),
                np.array(joined) if joined else np.zeros((0, 0)),
                np.concatenate([[0.0], ends[1 : None if joined else -1], [1.0]]),
                N,
                kappa,
                nu,
                xi,
            )
        )
