"""One name for the best mechanism of any workload: a strategy over all types, base rows whose images are one, or patterns over few attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldp_core.optimize import certified, sizes
from ldp_core.optimize.gradient.method import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.optimize.surveys.rows import first_rows
from ldp_core.optimize.surveys.split import SplitDesign, design_split
from ldp_core.optimize.symmetric.rings import RingDesign, design_ring
from ldp_core.optimize.symmetric.translations import OrbitDesign, design_orbits
from ldp_core.run import Budget, Callback, Cancel, Progress
from ldp_core.workloads import Survey, Workload
from ldp_core.workloads.surveyed import surveyed_bits

AnyDesign = Optimized | SurveyDesign | SplitDesign | OrbitDesign | RingDesign
TABLES_TIME = 1 / 2
"""The most of the time that goes to patterns and strategies on tables where one over all types is fitted as well."""


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
    (`ldp_core.optimize.surveys.split`), up to there, without a ``prior``, the better of these and of a strategy over all types; else a strategy, which
    begins with the best for their tables where questions are about tables of several attributes (`ldp_core.optimize.surveys.rows`); see
    `ldp_core.optimize.certified.design` for the parameters. Past 2,048 types no strategy over all of them is written out: questions about few
    attributes of two values at once are a `Survey`, those about more get base rows that are flipped, running totals and ranges base rows that
    are turned, both on average over all types alike.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=2)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, epsilon=1.0) - 1 < 0.01
    True
    """
    limits = (time_limit, max_rounds, seed, callback, cancel)
    survey = workload if isinstance(workload, Survey) else surveyed_bits(workload)
    if survey is not None and survey.symmetric:
        return design_survey(survey, epsilon, *limits)
    if survey is not None and survey.n > sizes.MOST_TYPES:
        return design_split(survey, epsilon, *limits)
    if survey is not None and prior is None and too_many(survey) is None:
        return _better(survey, epsilon, *limits)
    if workload.n > sizes.MOST_TYPES and prior is None:
        if workload.symmetry == "hamming":
            return design_orbits(workload, epsilon, *limits)
        if sizes.along_an_order(workload):
            return design_ring(workload, epsilon, *limits)
    budget = Budget(time_limit, max_rounds, cancel)
    first = first_rows(workload, epsilon, budget, seed)
    return certified.design(workload, epsilon, budget.left(), max_rounds, seed, callback, cancel, prior, first)


def _better(
    survey: Survey,
    epsilon: float,
    time_limit: float | None,
    max_rounds: int | None,
    seed: int,
    callback: Callback | None,
    cancel: Cancel | None,
) -> Optimized | SurveyDesign | SplitDesign:
    """A strategy over all types, which is best for few of them, or patterns and strategies on tables, where the search for that takes longer."""
    budget = Budget(time_limit, max_rounds, cancel)
    seconds = None if time_limit is None else time_limit * TABLES_TIME
    tables = design_split(survey, epsilon, seconds, max_rounds, seed, None, cancel)

    def pass_on(progress: Progress) -> None:
        if callback is not None:
            objective = tables.objective if progress.objective is None else min(progress.objective, tables.objective)
            callback(replace(progress, objective=objective))

    strategy = certified.design(survey, epsilon, budget.left(), max_rounds, seed, pass_on, cancel)
    return strategy if strategy.objective <= tables.objective else tables
