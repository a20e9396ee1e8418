"""The weights lambda that prove most: cutting planes, from the closed form on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ldp_core.bounds.surveys.certificate import SurveyCertificate
from ldp_core.bounds.surveys.relaxation import Relaxation, Solution, shares, tracked
from ldp_core.bounds.surveys.traces import Traces
from ldp_core.run import Budget, Check
from ldp_core.workloads import Survey

# The search ends when no weights can gain more than this share, after so many rounds, or when a window of them gains less than it.
GOAL, MOST_ROUNDS, WINDOW = 2e-4, 40, 4
# How far the weights of a round go from the best ones towards those of the planes, and how many points the last step adds.
TOWARDS, MOST_ADDED = 0.6, 4
# Shares at which the ratio is below this part of the largest are no longer looked at.
NEAR = 0.8
FIRST_SHARES, FITTED = 4, 1500


def closed_form(survey: Survey, epsilon: float) -> SurveyCertificate:
    """The bound without inequalities: ``g_0 + (sum_A dim_A sqrt(g_A))^2 / sinh(epsilon / 2)^2``."""
    none, ends = np.zeros(0), np.array([0.0, 1.0])
    weights, multipliers = np.ones(len(survey.components.sets)), np.zeros((1, 0))
    whole = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    return _proven(SurveyCertificate(survey, epsilon, 0.0, weights, (), *whole, none, ends, multipliers, multipliers))


def _proven(found: SurveyCertificate) -> SurveyCertificate:
    return replace(found, value=found.claim())


def improved(
    survey: Survey, epsilon: float, best: SurveyCertificate, budget: Budget
) -> Iterator[tuple[SurveyCertificate, float]]:
    """Better and better certificates, each with what none of this kind can exceed as far as is known. `Interrupted` at the end of ``budget``."""
    search = Search(survey, epsilon, budget.check)
    limit = search.start()
    reached = [-math.inf]
    while len(reached) <= MOST_ROUNDS and limit > best.value * (1 + GOAL) and budget.stopped() is None:
        if len(reached) > WINDOW and reached[-1] < reached[-1 - WINDOW] + GOAL * abs(reached[-1]):
            break
        found = search.round()
        if found is not None:
            best = max(best, found, key=lambda c: c.value)
        limit = search.limit()
        reached.append(search.reached)
        yield best, limit


class Search:
    """Weights on the cells of `Traces` that hold some set of the survey's components (``n`` of them).

    The planes are the energies that relaxations came up with, e in ``columns`` (k, n) by cell: for a mixture of these the objective
    is ``sum_c root_c^2 / x_c``, and its least value is what no weights exceed until there are more planes.
    """

    def __init__(self, survey: Survey, epsilon: float, check: Check):
        self.survey, self.epsilon, self._check = survey, epsilon, check
        self.D = math.expm1(epsilon)
        self.traces = Traces(survey.shape, tracked(survey.shape))
        self.relaxation = Relaxation(self.traces)
        self.shares = [float(share) for share in shares(self.traces, self.D + 1)]
        c = survey.components
        self._places = self.traces.places(c.sets)
        roots = np.bincount(self._places, c.dims * np.sqrt(c.gram), self.traces.cells)
        self._cells = np.flatnonzero(roots)
        self._roots = roots[self._cells] / roots.sum()
        self._scale, self._constant = float(survey.n) * float(roots.sum()) ** 2, float(survey.n) * c.constant
        self.columns = np.zeros((0, len(self._cells)))
        self._best = self._next = np.ones(len(self._cells))
        self._best_value = -math.inf

    def _solve(self, weights: np.ndarray, share: float) -> Solution | None:
        self._check()
        whole = np.zeros(self.traces.cells)
        whole[self._cells] = weights
        found = self.relaxation.solve(whole, share)
        if found is not None:
            self._new.append(found.energies[self._cells] * self._factor(share))
        return found

    def _factor(self, share: float) -> float:
        return self.D**2 / (1 + self.D * share) ** 2

    def start(self) -> float:
        """Planes for each cell by itself; returns the limit they leave, below everything where there is none: so few types have no sets
        of the shares that are looked at."""
        self._new: list[np.ndarray] = []
        some = self.shares[:: max(1, len(self.shares) // FIRST_SHARES)]
        for own in np.eye(len(self._cells)):
            for share in some:
                self._solve(own, share)
        if not self._new:
            return -math.inf
        self._fit()
        return self.limit()

    def round(self) -> SurveyCertificate | None:
        """The certificate for the next weights; None where the solver failed, or something better is known by then."""
        weights, self._new = self._next, []
        solved = {share: self._solve(weights, share) for share in self.shares}
        found = {share: solution for share, solution in solved.items() if solution is not None}
        if not found:
            return None
        ratio, certificate = self._worst(weights, found)
        value = float(self._roots @ np.sqrt(weights)) ** 2 / ratio
        if value > self._best_value:
            self._best_value, self._best = value, weights / ratio
        self._fit()
        return certificate

    def _worst(self, weights: np.ndarray, found: dict[float, Solution]) -> tuple[float, SurveyCertificate]:
        """The certificate of these weights, and the largest ratio it leaves; solves at more shares where it is largest, and keeps
        those for later that come close to it."""
        for added in range(MOST_ADDED + 1):
            certificate = self._certificate(weights, found)
            grid, ratios = certificate.ratios()
            worst = int(np.argmax(ratios))
            share, known = float((grid[worst] + grid[worst + 1]) / 2), max(map(self._ratio, found.items()))
            if share in found or added == MOST_ADDED or ratios[worst] <= known * (1 + GOAL / 2):
                break
            solution = self._solve(weights, share)
            if solution is None:
                break
            found[share] = solution
        self.shares = sorted(share for share, s in found.items() if self._ratio((share, s)) > NEAR * known)
        return float(ratios[worst]), certificate

    def _ratio(self, item: tuple[float, Solution]) -> float:
        return item[1].value * self._factor(item[0])

    def _fit(self) -> None:
        """Shares of the planes that make the objective least, by multiplicative updates, and the weights that belong to them."""
        columns = np.vstack([self.columns, *[column[None] for column in self._new]])
        columns = np.maximum(columns, 1e-9 * columns.max(initial=0.0))
        shares, worth = np.full(len(columns), 1 / len(columns)), self._roots**2
        for _ in range(FITTED):
            x = shares @ columns
            gains = columns @ (worth / x**2)
            shares = shares * np.sqrt(gains)
            shares /= shares.sum()
        x = shares @ columns
        self._limit = float((worth / x).sum())
        self.columns = columns[shares > 1e-9 * shares.max()]
        fitted = worth / x**2 / self._limit
        towards = TOWARDS if self._best_value > 0 else 1.0
        self._next = ((1 - towards) * np.sqrt(self._best) + towards * np.sqrt(fitted)) ** 2

    @property
    def reached(self) -> float:
        """The largest bound of any weights so far, as a float near what its certificate proves."""
        return self._constant + self._scale * self._best_value

    def limit(self) -> float:
        """What no weights can prove more than, as far as the planes tell."""
        return self._constant + self._scale * self._limit

    def _certificate(self, cells: np.ndarray, found: dict[float, Solution]) -> SurveyCertificate:
        """What weights on the ``cells`` prove with the multipliers ``found`` for them."""
        solved = sorted(found.items())
        points = np.array([share for share, _ in solved])
        N, kappa = np.array([s.differing for _, s in solved]), np.array([s.within for _, s in solved])
        # Where nothing is known of larger or smaller shares than these, their multipliers do.
        ends = np.concatenate([[0.0], np.sqrt(points[:-1] * points[1:]), [1.0]])
        differing, within = N.any(axis=0), kappa.any(axis=0)
        weights = np.zeros(self.traces.cells)
        weights[self._cells] = cells
        relaxation = self.relaxation
        return _proven(
            SurveyCertificate(
                self.survey,
                self.epsilon,
                0.0,
                weights[self._places],
                self.traces.kinds,
                relaxation.differing[differing],
                relaxation.within[within],
                relaxation.slopes[within],
                ends,
                N[:, differing],
                kappa[:, within],
            )
        )
