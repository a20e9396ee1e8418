"""Projected gradient descent for a workload's strategy (McKenna et al. 2020, Algorithm 2), with adaptive steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ldp_core.optimize.base import SearchLimits, fields_of, too_large
from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.optimize.gradient.descent import (
    FeasibleStrategy,
    evaluated,
    multipliers,
    random_start,
    slopes,
    start_from,
    types_to_outputs,
)
from ldp_core.optimize.gradient.projection import project, project_types
from ldp_core.optimize.strategy import Optimized, evaluate
from ldp_core.privacy import check_epsilon, exp_epsilon, fitted_exp_epsilon
from ldp_core.run import Check, Interrupted, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

# Most cases settle before; at n = 512, where none does, the last half of the rounds gains 0.2 %.
DEFAULT_ROUNDS = 1000
# A descent has settled when WINDOW rounds gain less than this share of the objective.
WINDOW = 20
SETTLED = 1e-3
# The step on z is this share of the full relative step 1 - mu'q/a, and grows to it over about WARM_UP rounds: rows
# should find their shape before light ones die (the paper also takes a smaller step on z than on Q).
WARM_UP = 30
_LARGEST_STRETCH = 0.5
UNTIMED = SearchLimits(time_limit=None)


def projected_gradient(
    workload: Workload,
    epsilon: float,
    rows: int | None = None,
    initial: np.ndarray | None = None,
    limits: SearchLimits = UNTIMED,
) -> Optimized:
    """Strategy (m, n) that minimises ``L(Q) = tr(M^-1 G)`` for ``workload`` under epsilon-LDP.

    The method is Algorithm 2 of the paper, adapted. It starts from a random matrix and alternates a
    small step on the row minima z with a gradient step on Q, projected onto the columns that z
    allows (Algorithm 1). Three things are adapted. Step lengths use backtracking, with momentum.
    Rows stretch along when their z moves, so that the derivative for z needs no active sets. Small
    random perturbations move the best strategy once it settles.

    Parameters
    ----------
    workload : the questions, on n types.
    epsilon : in nats.
    rows : m, the number of different reports; 4n by default.
    initial : (m, n), replaces the random start and is never made worse.
    limits : by default no time limit, and `DEFAULT_ROUNDS` rounds.

    Returns
    -------
    Optimized
        The best strategy seen.

    Raises
    ------
    ValueError
        For an epsilon or sizes out of range, or an ``initial`` that is not an epsilon-LDP strategy.

    References
    ----------
    McKenna, Maity, Mazumdar and Miklau (2020), Algorithms 1 and 2.
    """
    epsilon = check_epsilon(epsilon)
    limits = limits if limits.max_rounds is not None else replace(limits, max_rounds=DEFAULT_ROUNDS)
    budget = limits.budget()
    if reason := too_large(workload.n):
        raise ValueError(reason)
    rng = generator(limits.seed)
    root, held = workload.gram_root, math.log(fitted_exp_epsilon(epsilon))
    if initial is not None and rows is not None:
        raise ValueError("initial fixes the number of rows: give rows or initial, not both.")

    def start() -> FeasibleStrategy:
        if initial is not None:
            return start_from(initial, root, held, budget.check)
        return random_start(root, held, _checked_outputs(rows, workload.n), rng, budget.check)

    with blas_threads(workload.n):
        run = drive(Descent(workload, root, held, start, rng, budget.check), budget)
    return Optimized(run.found[0], workload=workload, **fields_of(run, epsilon, limits))


class Descent:
    """Monotone descents one after the other: each starts at the best point so far, perturbed, once the last has settled."""

    finished = False
    best: FeasibleStrategy | None = None
    _target = math.inf
    _failures = 0

    def __init__(
        self,
        workload: Workload,
        root: np.ndarray,
        epsilon: float,
        start: Callable[[], FeasibleStrategy],
        rng: np.random.Generator,
        check: Check,
    ):
        self._workload, self._root, self._epsilon, self._start = workload, root, epsilon, start
        self._rng, self._check = rng, check

    def prepare(self) -> None:
        self.best = self._point = point = self._start()
        self.finished = point.objective <= 0  # nothing is asked
        self._ratio, n = exp_epsilon(self._epsilon), len(point.transposed)
        self._mu, self._shift = np.full(n, point.objective / n), np.zeros(n)
        self._step = self._first_step = 0.0  # known once the first gradient is
        self._rounds = 0
        self._begin(point)

    def _begin(self, point: FeasibleStrategy) -> None:
        self._point, self._previous = point, point.transposed
        self._momentum, self._caution, self._recent = 0.0, 1.0, [point.objective]

    def round(self) -> None:
        moved = self._moved()
        if self.best is None or self._point.objective < self.best.objective:
            self.best = self._point
        self._recent.append(self._point.objective)
        settled = len(self._recent) > WINDOW and self._recent[-1] > self._recent[-1 - WINDOW] * (1 - SETTLED)
        if settled or not moved:
            self._restart(self.best)

    def finish(self, at_once: bool) -> tuple[np.ndarray, float]:
        """The best strategy (m, n) without rows that are never sent, and its objective."""
        point, ratio = self.best, exp_epsilon(self._epsilon)
        if point is None:  # interrupted before there was a start
            first = first_orbits(self._workload.gram_dense(), ratio, Shifts.of(self._workload))
            return np.ascontiguousarray(first.transposed.T), first.objective
        kept = point.lower * ratio > 1e-13
        strategy = np.ascontiguousarray(point.transposed.T)
        if kept.all():
            return strategy, point.objective
        lower = point.lower[kept]
        try:
            shorter = project(strategy[kept], lower, self._epsilon, self._check)
            short = evaluated(shorter, lower, self._root, "rows that are never sent were needed.", self._check)
        except Interrupted:
            return strategy, point.objective
        return shorter, short.objective

    def _restart(self, best: FeasibleStrategy) -> None:
        """Go on from ``best`` with noise on all entries, projected: out of a local minimum, into one nearby."""
        if best.objective < self._target:
            self._target, self._failures = best.objective * (1 - SETTLED), 0
        else:
            self._failures += 1
        if self._failures >= 4:  # so many perturbed descents in a row gained less than SETTLED
            self.finished = True
            return
        noise = 0.25 * (self._ratio - 1) * best.lower
        values = best.transposed + noise * self._rng.standard_normal(best.transposed.shape)
        transposed, _ = project_types(values, best.lower, best.lower * self._ratio, np.zeros(len(values)))
        at = evaluate(transposed, self._root, self._check)
        self._begin(best if at is None else FeasibleStrategy(transposed, best.lower, at))

    def _moved(self) -> bool:
        """True if a round of Algorithm 2 found a point as good: stretch rows along dL/dz, then Q against dL/dQ, projected; halved until L falls."""
        point = self._point
        outputs = point.at.outputs
        product, curvature = slopes(point.transposed, point.at, self._check)
        # A row that the workload ignores has no curvature, but still a finite value: it should
        # shrink.
        divisor = np.maximum(curvature, 1e-9 * outputs * (curvature.sum() / outputs.sum()))
        self._mu = mu = multipliers(point.transposed, divisor, point.at, self._mu, 2)
        stretch = 1 - types_to_outputs(point.transposed, mu) / divisor
        if not self._first_step:
            self._first_step = self._step = self._trial_step(product, curvature)
        share = 0.1 * -np.expm1(-self._rounds / WARM_UP)
        self._rounds += 1
        for _ in range(25):
            factor, lower = self._stretched(share * self._caution * stretch)
            candidate = self._projected(factor, lower, product, curvature / outputs)
            if candidate is not None and candidate.objective <= point.objective:
                self._previous, self._point = point.transposed, candidate
                self._momentum = min(0.9, self._momentum + 0.1)
                self._step = min(self._step * 1.05, 3 * self._first_step)
                self._caution = min(1.0, 1.3 * self._caution)
                return True
            if self._momentum > 0:
                self._momentum = 0.0
            else:
                # The step on z shrinks faster: with z fixed, a short projected step on Q always descends.
                self._step *= 0.5
                self._caution *= 0.25
        return False

    def _trial_step(self, product: np.ndarray, curvature: np.ndarray) -> float:
        """First step length: entries then move by about their own size 1/m."""
        point = self._point
        n, m = point.transposed.shape
        gradient = (curvature - 2 * product) / point.at.outputs + self._mu[:, None]
        length = np.linalg.norm(gradient)
        return np.sqrt(n * m) / length if length > 0 else 0.0

    def _stretched(self, stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Factors for the rows and the new z, kept where columns can still sum to 1."""
        factor = 1 + np.clip(stretch, -_LARGEST_STRETCH, _LARGEST_STRETCH)
        total = factor @ self._point.lower
        margin = 1e-9
        factor /= max(1.0, total * (1 + margin))
        factor *= max(1.0, (1 + margin) / (total * self._ratio))
        return factor, np.maximum(self._point.lower * factor, 1e-100)

    def _projected(
        self, factor: np.ndarray, lower: np.ndarray, product: np.ndarray, level: np.ndarray
    ) -> FeasibleStrategy | None:
        """Point after the step: P diag(factor) - step * gradient + momentum, projected; None where M is singular."""
        values = self._point.transposed * (factor + self._momentum)
        values += product * (2 * self._step / self._point.at.outputs)
        values -= self._step * level
        if self._momentum:
            values -= self._momentum * self._previous
        transposed, self._shift = project_types(values, lower, lower * self._ratio, self._shift, check=self._check)
        at = evaluate(transposed, self._root, self._check)
        return None if at is None else FeasibleStrategy(transposed, lower, at)


def _checked_outputs(rows: int | None, n: int) -> int:
    if rows is None:
        return 4 * n
    if rows != int(rows) or rows < n:
        raise ValueError(f"rows must be a whole number of at least n = {n}, but is {rows}: 4n = {4 * n} works well.")
    return int(rows)
