"""Designs for parts of a problem: for the types that questions distinguish, given to all types, and for the strata of people of whom the collector
knows some attributes.

The strategy for c classes of types (`ldp_core.workloads.quotient`) gives each type the column of its class. A little randomized response beside
it keeps all types identified, for questions asked later. Strata have a design for each of their workloads, see `ldp_core.workloads.strata`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from scipy import linalg

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.surveys.strata import in_strata
from ldp_core.optimize.base import Design, SearchLimits, changed
from ldp_core.optimize.closed_form import ClosedFormDesign
from ldp_core.optimize.strategy import Optimized, of_strategy, type_variances
from ldp_core.optimize.surveys.design import SurveyDesign
from ldp_core.optimize.surveys.rows import written_out
from ldp_core.priors import check_prior
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.run import Callback
from ldp_core.workloads import Quotient, Workload

Fitted = Optimized | ClosedFormDesign | SurveyDesign
LITTLE = 1e-4
"""Share of randomized response: L grows by no larger share."""


def over_classes(
    search: Callable[[Workload, SearchLimits, np.ndarray | None], Fitted],
    workload: Workload,
    limits: SearchLimits,
    classes: Quotient,
    prior: np.ndarray | None = None,
    target: Literal["average", "worst_case"] = "average",
) -> Optimized:
    """What ``search`` finds for ``classes``, and shares of these under a ``prior`` (n,), given to all types. ValueError if it is too large to write out."""
    reduced = classes.workload

    def scale(value: float | None) -> float | None:
        if value is None or target == "average":
            return value and workload.n / reduced.n * value
        return equivalent_objective((value - reduced.trace) / reduced.n, workload)

    part_limits = limits.telling(of_types(limits.callback, classes, scale))
    fitted = search(reduced, part_limits, classes.shares(prior) if target == "average" else None)
    strategy = _for_types(fitted, classes)
    if target == "average":
        objective = of_strategy(strategy, workload, prior)
    else:  # types of a class have the same variance
        prior = classes.spread(check_prior(fitted.prior, reduced.n))
        objective = equivalent_objective(float(type_variances(strategy, workload, prior).max()), workload)
    about = {name: getattr(fitted, name) for name in ("rounds", "seconds", "epsilon", "seed", "stopped")}
    about["history"] = tuple((done, seconds, scale(value)) for done, seconds, value in fitted.history)
    return Optimized(strategy, prior, workload=workload, target=target, objective=objective, **about)


class _Spread:
    """The ``best`` of a search for classes, given to all types where it is looked at."""

    def __init__(self, best: Any, classes: Quotient):
        self._best, self._classes = best, classes

    @property
    def transposed(self) -> np.ndarray:
        return np.asarray(self._best.transposed)[self._classes.classes]


def of_types(
    callback: Callback | None, classes: Quotient, scale: Callable[[float | None], float | None]
) -> Callback | None:
    """``callback``, which hears of all types what a search over ``classes`` comes to, on another ``scale``."""
    return changed(callback, scale, lambda best: _Spread(best, classes))


def _for_types(fitted: Fitted, classes: Quotient) -> np.ndarray:
    """(m, n) the strategy found for classes, for all types, with a little randomized response."""
    if isinstance(fitted, SurveyDesign):
        fitted = written_out(fitted, classes.workload)
    n, ratio = len(classes.classes), fitted_exp_epsilon(fitted.epsilon)
    little = np.where(np.eye(n, dtype=bool), ratio, 1.0) * (LITTLE / (ratio + n - 1))
    strategy = np.vstack([(1 - LITTLE) * fitted.strategy[:, classes.classes], little])
    return np.ascontiguousarray(strategy / strategy.sum(axis=0))


@dataclass(frozen=True, kw_only=True, repr=False)
class StratifiedDesign(Design):
    """The design ``parts[which[z]]`` for stratum z of ``workload``; ``objective`` is that of all strata together."""

    workload: Workload
    parts: tuple[Design, ...]
    which: np.ndarray
    prior: np.ndarray | None = None

    @property
    def contents(self) -> str:
        return f"{len(self.which):,} known groups, {len(self.parts):,} different designs"

    def mechanism(self) -> InStrata:
        """One mechanism for each of the ``parts``."""
        strata, drawn = self.workload.strata, [part.mechanism() for part in self.parts]
        return in_strata(drawn, self.which, strata, drawn[0].parameters)

    @cached_property
    def strategy(self) -> np.ndarray:
        """(m, n) the strategies of the strata, reports of the first stratum first. ValueError where one is too large to write out."""
        strata, tables = self.workload.strata, [part.strategy for part in self.parts]  # type: ignore[attr-defined]
        if sum(len(tables[d]) for d in self.which) * self.workload.n > MOST_STRATEGY_ENTRIES:
            raise ValueError("The strategies of all groups together are too large to write out: use those in `parts`.")
        return linalg.block_diag(*(tables[d] for d in self.which))[:, np.argsort(strata.types.ravel())]


def design_strata(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    prior: np.ndarray | None,
    design: Callable[[Workload, SearchLimits, np.ndarray | None], Design],
) -> StratifiedDesign:
    """A design for each of the workloads of the strata of ``workload``, for the people of all that share it, by ``design``, in an equal part of the
    time."""
    strata, budget = workload.strata, limits.budget()
    cases, parts, values = strata.pooled(prior), list[Design](), list[float]()
    whole = partial(strata.objective, prior=prior)
    for left, (local, shares) in zip(range(len(cases), 0, -1), cases, strict=True):
        seconds = budget.left()
        part_limits = limits.within(None if seconds is None else seconds / left)
        parts.append(
            design(local, part_limits.telling(telling_of_all(part_limits.callback, whole, values, len(cases))), shares)
        )
        values.append(parts[-1].objective)
    return StratifiedDesign(
        workload=workload,
        parts=tuple(parts),
        which=strata.which,
        prior=prior,
        objective=whole(values),
        history=(),
        rounds=sum(part.rounds for part in parts),
        seconds=sum(part.seconds for part in parts),
        epsilon=epsilon,
        seed=limits.seed,
        stopped=parts[-1].stopped,
    )


def telling_of_all(
    callback: Callback | None, whole: Callable[[list[float]], float], values: list[float], many: int
) -> Callback | None:
    """``callback``, which hears of all strata what the search for the last of ``many`` cases comes to: ``whole`` of the objectives of all, beside
    the ``values`` of those before; of the others only that they go on."""

    def of_all(objective: float | None) -> float | None:
        return None if objective is None or len(values) < many - 1 else whole([*values, objective])

    return changed(callback, of_all, lambda best: None)
