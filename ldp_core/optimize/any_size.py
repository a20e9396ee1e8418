"""One name for the best mechanism of any workload: a strategy over all types, base rows whose images are one, or patterns over few attributes."""

from __future__ import annotations

import numpy as np

from ldp_core.optimize import certified
from ldp_core.optimize.gradient.method import Optimized
from ldp_core.optimize.sizes import MOST_TYPES, along_an_order
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey
from ldp_core.optimize.surveys.split import SplitDesign, design_split
from ldp_core.optimize.symmetric.rings import RingDesign, design_ring
from ldp_core.optimize.symmetric.translations import OrbitDesign, design_orbits
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Survey, Workload
from ldp_core.workloads.surveyed import surveyed_bits

AnyDesign = Optimized | SurveyDesign | SplitDesign | OrbitDesign | RingDesign


def design(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 10.0,
    max_rounds: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    prior: np.ndarray | None = None,
) -> AnyDesign:
    """The mechanism of least L: for a `Survey` its patterns (`ldp_core.optimize.surveys.design`; whose error counts makes no difference, and
    ``prior`` is not used), past 2,048 types beside strategies on tables where questions follow an order or single out values
    (`ldp_core.optimize.surveys.split`), else a strategy, see `ldp_core.optimize.certified.design` for the parameters. Past 2,048 types no strategy
    over all of them is written out: questions about few attributes of two values at once are a `Survey`, those about more get base rows that are flipped, running
    totals and ranges base rows that are turned, both on average over all types alike.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=2)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, epsilon=1.0) - 1 < 0.01
    True
    """
    limits = (time_limit, max_rounds, seed, callback, cancel)
    survey = workload if isinstance(workload, Survey) else surveyed_bits(workload)
    if survey is not None and survey.symmetric:
        return design_survey(survey, epsilon, *limits)
    if survey is not None and survey.n > MOST_TYPES:
        return design_split(survey, epsilon, *limits)
    if workload.n > MOST_TYPES and prior is None:
        if workload.symmetry == "hamming":
            return design_orbits(workload, epsilon, *limits)
        if along_an_order(workload):
            return design_ring(workload, epsilon, *limits)
    return certified.design(workload, epsilon, *limits, prior=prior)
