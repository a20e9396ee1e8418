"""Projected gradient descent for a workload's strategy (McKenna et al. 2020, Algorithm 2), with adaptive steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ldp_core.optimize.base import SearchLimits, fields_of, too_large
from ldp_core.optimize.gradient.descent import Descent, DescentSearch, FeasibleStrategy, random_start, start_from
from ldp_core.optimize.gradient.literal import LiteralDescent
from ldp_core.optimize.strategy import Optimized
from ldp_core.privacy import check_epsilon, fitted_exp_epsilon
from ldp_core.run import drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

# Most cases settle before; at n = 512, where none does, the last half of the rounds gains 0.2 %.
DEFAULT_ROUNDS = 1000
# A descent has settled when this many rounds gain less than this share of the objective ...
WINDOW = 20
SETTLED = 1e-3
# ... and the search has converged when this many perturbed descents in a row brought less than that.
UNTIMED = SearchLimits(time_limit=None)
ALGORITHMS = ("adapted", "literal")


def projected_gradient(
    workload: Workload,
    epsilon: float,
    rows: int | None = None,
    initial: np.ndarray | None = None,
    limits: SearchLimits = UNTIMED,
    algorithm: str = "adapted",
) -> Optimized:
    """Strategy (m, n) that minimises ``L(Q) = tr(M^-1 G)`` for ``workload`` under epsilon-LDP.

    The method is Algorithm 2 of McKenna, Maity, Mazumdar and Miklau (2020), "adapted" or "literal" (see
    `ldp_core.optimize.gradient.literal`). It starts from a random matrix and alternates a small step on the row minima z with a
    gradient step on Q projected onto the columns that z allows (Algorithm 1). Three things are adapted. Step lengths use
    backtracking, with momentum. Rows stretch along when their z moves, so that the derivative for z
    needs no active sets. Small random perturbations move the best strategy once it settles.

    ``rows`` is m (default 4n), ``epsilon`` in nats; ``initial`` (m, n) replaces the random start and is never made worse.
    The best strategy seen is returned. By default there is no time limit, and there are at most `DEFAULT_ROUNDS` rounds.

    Raises ValueError for an epsilon or sizes out of range, or an ``initial`` that is not an epsilon-LDP strategy.
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

    if algorithm not in ALGORITHMS:
        raise ValueError(f"The algorithm must be one of {', '.join(ALGORITHMS)}; got {algorithm!r}.")
    kind: type[DescentSearch] = LiteralDescent if algorithm == "literal" else _Descents
    with blas_threads(workload.n):
        run = drive(kind(workload, root, held, start, rng, budget.check), budget)
    return Optimized(run.found[0], workload=workload, **fields_of(run, epsilon, limits))


class _Descents(DescentSearch):
    """Descents one after the other: each starts at the best point so far, perturbed, once the last has settled."""

    _target = math.inf
    _failures = 0

    def prepare(self) -> None:
        self.best = point = self._start()
        self.descent = Descent(self._root, self._epsilon, point, self._check)
        self.finished = point.objective <= 0  # nothing is asked
        self._recent = [point.objective]

    def round(self) -> None:
        moved = self.descent.step()
        if self.best is None or self.descent.point.objective < self.best.objective:
            self.best = self.descent.point
        self._recent.append(self.descent.point.objective)
        settled = len(self._recent) > WINDOW and self._recent[-1] > self._recent[-1 - WINDOW] * (1 - SETTLED)
        if settled or not moved:
            self._restart()

    def _restart(self) -> None:
        assert self.best is not None
        if self.best.objective < self._target:
            self._target = self.best.objective * (1 - SETTLED)
            self._failures = 0
        else:
            self._failures += 1
        if self._failures >= 4:
            self.finished = True
            return
        self.descent.perturb(self.best, self._rng)
        self._recent = [self.descent.point.objective]


def _checked_outputs(rows: int | None, n: int) -> int:
    if rows is None:
        return 4 * n
    if rows != int(rows) or rows < n:
        raise ValueError(f"rows must be a whole number of at least n = {n}, but is {rows}: 4n = {4 * n} works well.")
    return int(rows)
