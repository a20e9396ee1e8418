"""Designs for the types that questions distinguish, given to all types.

The strategy for c classes of types (`ldp_core.workloads.quotient`) gives each type the column of its class. A little randomized response beside
it keeps all types identified, for questions asked later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.optimize.base import SearchLimits, changed
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
    few = classes.workload

    def scale(value: float | None) -> float | None:
        if value is None or target == "average":
            return value and workload.n / few.n * value
        return equivalent_objective((value - few.trace) / few.n, workload)

    own = limits.telling(of_types(limits.callback, classes, scale))
    fitted = search(few, own, classes.shares(prior) if target == "average" else None)
    strategy = _for_types(fitted, classes)
    if target == "average":
        objective = of_strategy(strategy, workload, prior)
    else:  # types of a class have the same variance
        prior = classes.spread(check_prior(fitted.prior, few.n))
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
