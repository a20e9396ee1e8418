"""One name for the best mechanism of any workload: a strategy over all types, or patterns over few attributes for surveys."""

from __future__ import annotations

import numpy as np

from ldp_core.optimize import certified
from ldp_core.optimize.gradient.method import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Survey, Workload


def design(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 10.0,
    max_rounds: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    prior: np.ndarray | None = None,
) -> Optimized | SurveyDesign:
    """The mechanism of least L: for a `Survey` its patterns (`ldp_core.optimize.surveys.design`; whose error counts makes no difference, and
    ``prior`` is not used), else a strategy, see `ldp_core.optimize.certified.design` for the parameters.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=2)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, epsilon=1.0) - 1 < 0.01
    True
    """
    if isinstance(workload, Survey):
        return design_survey(workload, epsilon, time_limit, max_rounds, seed, callback, cancel)
    return certified.design(workload, epsilon, time_limit, max_rounds, seed, callback, cancel, prior)
