"""The strategy with the least worst-case variance, by reweighting a prior over the types while rows
and weights adapt to it.

Write ``t_u`` for the variance a user of type u adds. Each t_u is jointly convex in the measure over two-valued rows and the
reconstruction, and the average ``p't`` over a prior p is linear in p, so the least worst case is a saddle point:

    min_{Q, R} max_u t_u  =  max_p min_{Q, R} p't .

The inner minimum for a given p is the problem of `ldp_core.optimize.columns.search`, and t there is the
gradient of its value by p, which is concave. The prior p therefore moves towards the types that are
worse off than the average, a little every round, and the column generation follows. Any p on the
way comes with a mechanism, the reconstruction being the best for that p, and the mechanism kept is
the one with the least actual ``max_u t_u``.

If there are many types, the rows first come from the search for the best average, whose rounds take
less. Rows that are good for one prior are good for others. Two updates of their weights, for the
best prior of the closed-form bound, make up for most of the difference. New rows are sought under
the moving prior only when that search gains next to nothing.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import blas

from ldp_core.bounds.closed_form import decompositions, equivalent_objective, least_favourable_prior
from ldp_core.bounds.general.hardest_prior import moved
from ldp_core.optimize.base import DEFAULT, SearchLimits, fields_of, too_large
from ldp_core.optimize.columns.generation import OPTIONS as OF_ROWS
from ldp_core.optimize.columns.generation import MovingPrior, RowSearch, Saddle
from ldp_core.optimize.columns.orbits import first_orbits
from ldp_core.optimize.columns.search import design_strategy, row_search
from ldp_core.optimize.columns.weights import DoublePrecision, Singular
from ldp_core.optimize.dispatch import design, never_worse
from ldp_core.optimize.lists import from_lists
from ldp_core.optimize.parts import Fitted, StratifiedDesign
from ldp_core.optimize.question import worst_question
from ldp_core.optimize.secret import design_secret
from ldp_core.optimize.strategy import Optimized, type_variances
from ldp_core.optimize.surveys.rows import Rows
from ldp_core.privacy import check_epsilon
from ldp_core.run import Check, Interrupted, drive, generator, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload, distinguished
from ldp_core.workloads.problem import Problem


@dataclass(frozen=True)
class WorstCaseOptions:
    """How a search for the worst type divides its time. Benchmark: `tests/benchmarks/test_bench_generic.py`, target "worst"."""

    patience: int = 200
    """The search has converged when so many rounds gain nothing: the best mechanism can stand still while the prior moves."""
    types: int = 192
    """From so many types on, the rows come from the search for the best average first."""
    every: int = 5
    """They are taken over every so many rounds, .."""
    window: int = 20
    settled: float = 5e-4
    """.. and for good when ``window`` rounds together gain less than the share ``settled``."""


OPTIONS = WorstCaseOptions()


def worst_case_design(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> Fitted:
    """Strategy (m, n) and prior (n,) of least worst-case variance under epsilon-LDP, within a per cent or so.

    If a mechanism in closed form is better for its worst type, the result is that one: a
    `ClosedFormDesign`.

    `ldp_core.bounds.worst_case`, given its prior, proves a bound on its distance from the optimum.
    If symmetry makes all types alike (exchangeable, hamming), this is `ldp_core.optimize.design`
    and the prior is None: the average is the worst case there. ``callback(progress)`` is called
    every round with the best objective so far, ``n max_u t_u + tr G``: the scale of L, which
    `ldp_core.analysis.users_from_objective` turns into users needed in the worst case. Time limit,
    rounds, cancelling, seeds and errors are as in `design`.
    """
    problem, epsilon = Problem.of(workload), check_epsilon(epsilon)
    if problem.kind != "strata" and workload.symmetry in ("exchangeable", "hamming"):
        found = design(workload, epsilon, **vars(limits))
        assert not isinstance(found, StratifiedDesign)  # of another kind
        return replace(found, target="worst_case") if isinstance(found, Optimized) else found
    if reason := too_large(workload.n):
        raise ValueError(reason)
    if problem.kind == "secret":
        return design_secret(workload, epsilon, limits, target="worst_case")
    along = problem.along

    def search(left: SearchLimits) -> Optimized:
        if along is not None:
            return _question(workload, epsilon, along, left)
        return from_lists(workload, epsilon, left, partial(_searched, workload, epsilon), worst_case=True)

    return never_worse(
        workload,
        epsilon,
        limits,
        distinguished(workload) if along is None else None,
        search,
        lambda reduced, left, _: worst_case_design(reduced, epsilon, left),
        target="worst_case",
    )


def _question(workload: Workload, epsilon: float, along: np.ndarray, limits: SearchLimits) -> Optimized:
    """The best strategy for one real-valued question, and the best prior for its answers once all types are told apart."""
    budget, (strategy, prior, about) = limits.budget(), worst_question(workload, epsilon, along, limits)
    best, tried = np.inf, prior
    for _ in range(30):
        variances = type_variances(strategy, workload, tried)
        if variances.max() < best:
            best, prior = float(variances.max()), tried
        if budget.stopped() is not None:
            break
        tried = moved(tried, variances, OF_ROWS.step)
    about["objective"] = equivalent_objective(best, workload)
    return Optimized(strategy, prior, workload=workload, target="worst_case", **about)


def _searched(workload: Workload, epsilon: float, limits: SearchLimits, first: Rows | None) -> Optimized:
    if workload.symmetry_group.all_alike:
        return replace(design_strategy(workload, epsilon, limits, first=first), target="worst_case")
    budget = limits.budget()
    with blas_threads(workload.n):
        search = WorstCaseSearch(workload, epsilon, generator(limits.seed), budget.check, first)
        run = drive(search, budget, OPTIONS.patience)
    about = fields_of(run, epsilon, limits)
    return Optimized(run.found[0], search.best.prior, workload=workload, target="worst_case", **about)


class WorstCaseSearch(MovingPrior):
    """Column generation under a prior that moves towards the types that are worst off."""

    best: Saddle
    _moves = 1  # new rows disturb the balance between the types more than the average

    def __init__(
        self,
        workload: Workload,
        epsilon: float,
        rng: np.random.Generator,
        check: Check = unchecked,
        first: Rows | None = None,
    ):
        self._epsilon = epsilon
        self._aim(np.full(workload.n, 1 / workload.n))
        super().__init__(workload, epsilon, np.ones(workload.n), rng, check, first)
        many = workload.n >= OPTIONS.types and len(workload.gram_root) == workload.n
        self._average = row_search(workload, epsilon, rng, check) if many else None
        self._averages: list[float] = []

    def _at_once(self) -> Saddle:
        self._variances = np.ones(self._workload.n)
        orbits = first_orbits(self._workload.gram_dense(), self._ratio, self._shifts)
        return Saddle(*orbits.rows(), self._ratio, math.inf, prior=self._prior)  # until its types are weighed

    def prepare(self) -> None:
        """The prior to start from, and the first rows for it."""
        rounds = decompositions(self._workload.n, 60)  # eigenvalue decompositions spent on the prior to start from
        prior, _ = least_favourable_prior(self._workload, self._epsilon, rounds, check=self._check)
        self._aim(prior)
        if self._average is None:
            super().prepare()
        else:
            self._roots = [self._workload.gram_root]
            self._average.prepare()
            self._take_over(self._average)

    def round(self) -> None:
        """New rows and updates as always, then a move of the prior that the weights follow."""
        if self._average is not None:
            return self._round_on_average(self._average)
        super().round()

    def _round_on_average(self, average: RowSearch) -> None:
        """A round of the search for the best average; its rows are taken over now and then, and in the end."""
        average.round()
        self._averages.append(average.best.objective)
        past = self._averages[-OPTIONS.window :]
        settled = len(past) == OPTIONS.window and past[-1] > (1 - OPTIONS.settled) * past[0]
        if settled or len(self._averages) % OPTIONS.every == 0:
            self._take_over(average)
        if settled:
            self._average = None

    def _take_over(self, average: RowSearch) -> None:
        """The rows of the best average so far, with two updates of their weights for the prior aimed at."""
        strategy = average.best.transposed.T
        least = strategy.min(axis=1)
        self._hold(strategy > least[:, None], least)
        self._multipliers = np.full(len(self._prior), average.best.objective / len(self._prior))
        self._hessian = None
        try:
            self._step()
            self._measure(self._step())
        except Singular:
            pass  # the best mixture stays as it is

    def finish(self, at_once: bool) -> tuple[np.ndarray, float]:
        """The best strategy and its objective, with the last rows of the search for the average."""
        with suppress(Interrupted):
            if self._average is not None and not at_once:
                self._take_over(self._average)
        return super().finish(at_once)

    def _measure(self, objective: float) -> None:
        """Keep the weights before the last update if their worst type is the best off so far, whatever the average is."""
        rows = DoublePrecision(self._rows)
        shares = self._previous * rows.lengths(self._solved[0], self._check) / rows.images(self._reference) ** 2
        self._variances = blas.dgemv(1.0, self._rows.T, shares) - self._workload.gram_diag
        worst_case = equivalent_objective(float(self._variances.max()), self._workload)
        if worst_case < self.best.objective:
            self.best = Saddle(
                self._high, self._previous, self._ratio, worst_case, anchors=self._anchors, prior=self._prior
            )
