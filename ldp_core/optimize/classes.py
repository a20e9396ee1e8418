"""Designs for the types that questions distinguish, given to all types.

The strategy for c classes of types (`ldp_core.workloads.distinguished`) gives each type the column of
its class. A little randomized response beside it keeps all types identified, for questions asked later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldp_core.optimize.base import SearchLimits
from ldp_core.optimize.closed_form import ClosedFormDesign
from ldp_core.optimize.objective import of_strategy
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign
from ldp_core.optimize.symmetric import bits
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.run import Callback, Progress
from ldp_core.workloads import Workload
from ldp_core.workloads.distinguished import Distinguished

Fitted = Optimized | ClosedFormDesign | SurveyDesign
LITTLE = 1e-4
"""Share of randomized response: L grows by no larger share."""


@dataclass(frozen=True)
class _Spread:
    """The best of a search for classes, as one for all types."""

    best: Any
    classes: np.ndarray
    objective: float

    @property
    def transposed(self) -> np.ndarray:
        return np.asarray(self.best.transposed)[self.classes]


def telling_of_types(limits: SearchLimits, classes: Distinguished, scale: Callable[[float], float]) -> SearchLimits:
    """``limits`` for a search over ``classes``, whose callback hears of all types; ``scale`` turns
    objectives for classes into those for all types."""
    callback = limits.callback
    return limits if callback is None else limits.telling(of_types(callback, classes, scale))


def of_types(callback: Callback, classes: Distinguished, scale: Callable[[float], float]) -> Callback:
    """``callback``, which hears of all types what a search over ``classes`` comes to."""

    def pass_on(progress: Progress) -> None:
        if progress.objective is None:
            callback(progress)
            return
        objective = scale(progress.objective)
        known = progress.best is not None and hasattr(progress.best, "transposed")
        best = _Spread(progress.best, classes.classes, objective) if known else None
        callback(replace(progress, objective=objective, best=best))

    return pass_on


def strategy_for_types(fitted: Fitted, classes: Distinguished) -> np.ndarray:
    """(m, n) the strategy found for classes, for all types, with a little randomized response. ValueError if that for the
    classes is too large to write out."""
    if isinstance(fitted, SurveyDesign):
        fitted = bits.written(fitted, classes.workload)
    n, ratio = len(classes.classes), fitted_exp_epsilon(fitted.epsilon)
    little = np.where(np.eye(n, dtype=bool), ratio, 1.0) * (LITTLE / (ratio + n - 1))
    strategy = np.vstack([(1 - LITTLE) * fitted.strategy[:, classes.classes], little])
    return np.ascontiguousarray(strategy / strategy.sum(axis=0))


def for_types(fitted: Fitted, workload: Workload, classes: Distinguished, prior: np.ndarray | None) -> Optimized:
    """What was ``found`` for the average over classes, for all types."""
    strategy = strategy_for_types(fitted, classes)
    objective = of_strategy(strategy, workload, prior)
    scale = workload.n / classes.workload.n
    return Optimized(strategy, prior, workload=workload, **scaled(fitted, objective, lambda value: scale * value))


def scaled(fitted: Fitted, objective: float, scale: Callable[[float], float]) -> dict[str, Any]:
    """The fields of a design for all types, whose search for classes came to ``found``."""
    history = tuple((done, seconds, scale(value)) for done, seconds, value in fitted.history)
    kept = {name: getattr(fitted, name) for name in ("rounds", "seconds", "epsilon", "seed", "stopped")}
    return {"objective": objective, "history": history, **kept}
