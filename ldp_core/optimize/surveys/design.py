"""The best mechanism for a survey, whatever the number of types: a mixture of patterns over few attributes each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.optimize.gradient.method import Told
from ldp_core.optimize.surveys.search import SurveySearch
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Callback, Cancel, Stopped, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Survey

MOST_SETS = 100_000
"""Most sets of attributes that questions may depend on: all pairs of 200 attributes are 20,100 with the attributes alone."""
MOST_SUBSETS = 2**22
"""Most subsets of those sets, counted for each of them: a pattern over 13 attributes has energy on 2^13 sets."""

# The search has converged when this many rounds together gain next to nothing.
WINDOW = 16


@dataclass(frozen=True)
class SurveyDesign(Told):
    """``patterns`` and the probabilities ``shares`` (p,) with which they are sent, for
    `ldp_core.mechanisms.surveys.scrambled.ScrambledPatterns`, whose objective L is ``objective``; how they were found as in `Optimized`."""

    patterns: tuple[Pattern, ...]
    shares: np.ndarray
    objective: float
    history: tuple[tuple[int, float, float], ...]
    rounds: int
    seconds: float
    epsilon: float
    seed: int
    stopped: Stopped
    survey: Survey = field(repr=False)

    def __repr__(self) -> str:
        sets = len({pattern.attributes for pattern in self.patterns})
        return f"<SurveyDesign: {len(self.patterns):,} patterns on {sets:,} sets of attributes, {self.told}>"


def design_survey(
    survey: Survey,
    epsilon: float,
    time_limit: float | None = 10.0,
    max_rounds: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> SurveyDesign:
    """Patterns and probabilities of least L for a survey.

    L is convex in the probabilities. Where the questions treat the values of every attribute alike, no mechanism of any kind is better
    than the best of these, and worst and average case are one. Where they do not (totals along an order, conditions), it is the best
    of those that treat the values alike, for the average over the types. Neither the time nor the memory depends on the number
    of types. Parameters as in `ldp_core.optimize.design`; deterministic in (seed, max_rounds).

    Raises ValueError for an epsilon out of range, for questions that depend on too many sets of attributes (`too_many`), and for
    those that have only one possible answer.

    >>> survey = ldp.workloads.survey([16, 9, 7, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=3)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, 1.0) - 1 < 0.005
    True
    """
    budget = Budget(time_limit, max_rounds, cancel, callback)
    epsilon = check_epsilon(epsilon)
    if reason := too_many(survey):
        raise ValueError(reason)
    with blas_threads(1):
        run = drive(SurveySearch(survey, epsilon, generator(seed), budget.check), budget, WINDOW)
    (patterns, shares), objective = run.found
    return SurveyDesign(
        tuple(patterns),
        shares,
        objective,
        run.history,
        len(run.history),
        run.seconds,
        epsilon,
        seed,
        run.stopped,
        survey,
    )


def too_many(survey: Survey) -> str | None:
    """Why no mechanism is designed for this survey, None where one is."""
    sets = survey.components.sets
    if not sets:
        return "All that is asked about has a single possible value: there is nothing to design."
    if len(sets) > MOST_SETS:
        return (
            f"The questions depend on {len(sets):,} sets of attributes, and mechanisms are designed for at most {MOST_SETS:,}: ask about "
            "fewer sets, or about fewer attributes at a time."
        )
    subsets = sum(2 ** len(members) for members in sets)
    if subsets > MOST_SUBSETS:
        return (
            f"The questions depend on sets of up to {max(map(len, sets))} attributes with {subsets:,} subsets in all, and mechanisms are "
            f"designed for at most {MOST_SUBSETS:,}: ask about fewer attributes at a time."
        )
    return None
