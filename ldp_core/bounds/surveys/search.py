"""The weights lambda that prove most: cutting planes, from the closed form on.

Inequalities from three types at a time were tried for columns of several sizes, and are gone (360
lines and as many of tests). Measured, pairs of columns, gap to the best design without and with
them: 2, 2, 2, 3, 3, 3, 4 and 4 values at epsilon 2, 5.63 and 5.62 %, at epsilon 3, 18.1 and 9.2 %
in 13 s instead of 1; 2, 2, 3, 3, 4 and 5 values at epsilon 3, 11.1 and 6.1 % in 27 s instead of 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ldp_core.bounds.surveys.certificate import SurveyCertificate
from ldp_core.bounds.surveys.relaxation import Relaxation, Solution, shares, tracked
from ldp_core.bounds.surveys.traces import Traces
from ldp_core.run import Budget, Check
from ldp_core.workloads import Survey

# The search ends when no weights can gain more than the share GOAL, or after _MOST_ROUNDS rounds.
GOAL = 2e-4
_MOST_ROUNDS = 3
# Ends of slices, as logarithms of their ratio to 1 / (E + 2): from, to and step. Cuts are at maxima
# among NEAR intervals on both sides.
MIDDLE = (-0.4, 1.4, 0.1)
OUTER = ((-2.4, -0.4, 0.2), (1.4, 4.0, 0.2))
NEAR = 3
# The first certificate uses wider slices, and FIRST_TURNS turns of joining inequalities.
FIRST_MIDDLE = (-0.4, 1.4, 0.15)
FIRST_OUTER = ((-2.4, -0.4, 0.3), (1.4, 4.0, 0.3))
FIRST_TURNS = 3
# There are no ends above this share: sets of more types say little.
LAST = 0.7


def _proven(certificate: SurveyCertificate) -> SurveyCertificate:
    return replace(certificate, value=certificate.claim())


def improved(
    survey: Survey, epsilon: float, best: SurveyCertificate, budget: Budget
) -> Iterator[tuple[SurveyCertificate, float | None]]:
    """A first certificate, and from ``best`` on better and better ones, with what none that looks at two types at a time can exceed where
    that is known. `Interrupted` at the end of ``budget``."""
    search = SliceSearch(survey, epsilon, budget.check)
    first = search.first()
    if first is not None and first.value > best.value:
        yield first, None  # what follows goes on from ``best``, not to end before it has found as much as it can
    limit = search.start()
    yield best, limit
    for _ in range(_MOST_ROUNDS):
        if limit <= best.value * (1 + GOAL) or budget.stopped() is not None:
            break
        certificate = search.round()
        if certificate is None:
            break
        best = max(best, certificate, key=lambda c: c.value)
        yield best, limit
        if search.settled:
            break


class SliceSearch:
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

    def first(self) -> SurveyCertificate | None:
        """The first certificate, which is quick; None if the solver fails. The inequalities that it
        needs say little about those that later certificates need."""
        ends = self._spread(FIRST_MIDDLE, FIRST_OUTER)
        relaxation = Relaxation(self.traces, self.D)
        solution = relaxation.solve(self._roots, [*pairwise(ends)], self._check, FIRST_TURNS)
        return None if solution is None else self._certificate(solution, ends)

    def _spread(self, middle: tuple[float, ...], outer: tuple[tuple[float, ...], ...]) -> np.ndarray:
        ends = np.concatenate([np.exp(np.arange(*marks)) for marks in (middle, *outer)]) / (self.D + 2)
        return np.unique(ends[ends < LAST])

    def start(self) -> float:
        """The first slices. Returns an upper bound on what any weights can prove, from sets of a
        few shares; -inf if there is none, since few types have no sets of those shares."""
        some = shares(self.traces, self.D + 1)
        solution = (
            self.relaxation.solve(self._roots, [(share, share) for share in some], self._check) if len(some) else None
        )
        if solution is None:
            return -math.inf
        self._ends = self._spread(MIDDLE, OUTER)
        if solution.within.any():
            self._ends = np.unique(np.append(self._ends, some[some < LAST]))
        return self._constant + self._scale * solution.value

    def round(self) -> SurveyCertificate | None:
        """The certificate for the slices there are, which are then cut where it is worst; None where the solver failed."""
        solution = self.relaxation.solve(self._roots, [*pairwise(self._ends)], self._check)
        if solution is None:
            return None
        certificate = self._certificate(solution, self._ends)
        grid, ratios = certificate.ratios()
        known = float(self._roots @ np.sqrt(solution.weights)) ** 2 / solution.value
        around = np.lib.stride_tricks.sliding_window_view(np.pad(ratios, NEAR, mode="edge"), 2 * NEAR + 1).max(axis=1)
        worst = np.flatnonzero((ratios > known * (1 + GOAL)) & (ratios == around))
        ends = np.unique(np.concatenate([self._ends, (grid[worst] + grid[worst + 1]) / 2]))
        self.settled, self._ends = len(ends) == len(self._ends), ends
        return certificate

    def _certificate(self, solution: Solution, ends: np.ndarray) -> SurveyCertificate:
        """Shares outside all slices have the multipliers of the first slice or of the last."""
        every = [solution.differing, solution.within, solution.aligned]
        used = [multipliers.any(axis=0) for multipliers in every]
        N, kappa, nu = (multipliers[:, own] for multipliers, own in zip(every, used, strict=True))
        relaxation = self.relaxation
        return _proven(
            SurveyCertificate(
                self.survey,
                self.epsilon,
                0.0,
                solution.weights[self._places],
                self.traces.kinds,
                relaxation.differing[used[0]],
                relaxation.within[used[1]],
                relaxation.slopes[used[1]],
                relaxation.aligned[used[2]],
                np.concatenate([[0.0], ends[1:-1], [1.0]]),
                N,
                kappa,
                nu,
            )
        )
