"""The best mechanism of any workload: which search finds it is one table.

A design is a strategy over all types, patterns over few attributes, or a split of people among
strategies on tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES
from ldp_core.optimize.base import SearchLimits
from ldp_core.optimize.closed_form import (
    Found,
    alike_objective,
    best_closed_form,
    exchangeable_design,
)
from ldp_core.optimize.columns.search import design_strategy
from ldp_core.optimize.lists import from_lists
from ldp_core.optimize.parts import Fitted, StratifiedDesign, design_strata, over_classes
from ldp_core.optimize.question import design_question
from ldp_core.optimize.secret import design_secret
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.optimize.surveys.rows import Rows, design_bits, treats_bits_alike
from ldp_core.optimize.surveys.split_design import design_split
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Quotient, Workload, distinguished
from ldp_core.workloads.problem import Kind, Problem

AnyDesign = Fitted | StratifiedDesign


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
    """The mechanism of least L, never worse than subset selection and Haar.

    * Questions that treat all types alike get subset selection, which is the optimum there: a
      `ClosedFormDesign`. So does every search that comes to nothing better than a closed form.
    * A `Survey` that treats all values of an attribute alike gets patterns
      (`ldp_core.optimize.surveys.design`). They are best for worst case and average, and ``prior``
      is not used.
    * Another `Survey` past 2,048 types gets patterns, and strategies for the tables whose questions
      follow an order or single out values (`ldp_core.optimize.surveys.split_design`).
    * A smaller `Survey` without a ``prior`` gets the better of these and of a strategy over all
      types.
    * Questions that distinguish fewer types than there are get a design for these, given to all types
      (`ldp_core.optimize.parts`), up to 2,048 types.
    * Questions that treat yes-or-no attributes alike get patterns, written out as a strategy where there
      is room for it (`ldp_core.optimize.surveys.rows.design_bits`).
    * Questions about lists of items that treat the items alike get a mixture of orbits (`ldp_core.optimize.lists`).
    * Every other workload gets a strategy over all types. If its questions are about tables of
      several attributes, the search begins with the best strategies for these tables
      (`ldp_core.optimize.surveys.rows`).
    * Past 2,048 types no strategy over all types is written out: coarser bins, trees and Haar are the
      ways on.
    * Where the collector knows attributes, each of the `strata` gets a design (`ldp_core.optimize.parts`): one for all where
       they are asked alike.

    * Where only some types are secret, covered rows alone are looked for (`ldp_core.optimize.secret`), up to 2,048 types.

    `ldp_core.optimize.columns.search.design_strategy` explains strategies and ``prior``, and
    `SearchLimits` the other parameters.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=2)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, epsilon=1.0) - 1 < 0.01
    True
    """
    problem, limits = Problem.of(workload, prior), SearchLimits(time_limit, max_rounds, seed, callback, cancel)
    search, part = partial(SEARCHES[problem.kind], problem, epsilon), partial(_of_part, epsilon)
    if workload.n > MOST_FITTED_TYPES or problem.kind in ("strata", "secret", "alike"):
        return search(limits)
    classes = distinguished(workload) if problem.kind != "question" else None
    if classes is None and problem.kind == "survey":
        return search(limits)
    return never_worse(workload, epsilon, limits, classes, search, part, problem.prior)


def never_worse(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    classes: Quotient | None,
    search: Callable[[SearchLimits], Found],
    part: Callable[[Workload, SearchLimits, np.ndarray | None], Fitted],
    prior: np.ndarray | None = None,
    target: Literal["average", "worst_case"] = "average",
) -> Found | Fitted:
    """What a search comes to, or the best mechanism in closed form where that is better by more than a millionth.

    After one round a search for people spread evenly is better than Haar (0.02 to 0.99 of its L over 4 to 127 types,
    epsilon 0.01 to 8), which is looked at only where there was none.

    Parameters
    ----------
    workload : the questions, on n types.
    epsilon : in nats.
    limits : those of the search and of what goes before it together.
    classes : the types that the questions distinguish, None for all.
    search : finds a design for all types.
    part : finds one for the questions about the ``classes``, and the shares of these.
    prior : (n,), how people are spread; None for evenly.
    target : whose variance is made least.
    """
    budget, even = limits.budget(), prior is None and target == "average"
    closed = None if even else best_closed_form(workload, epsilon, limits, prior, target == "worst_case")
    least = alike_objective(workload, epsilon) if closed is None else closed.objective
    left = limits.never_above(least).within(budget.left())
    try:
        found = search(left) if classes is None else over_classes(part, workload, left, classes, prior, target)
    except ValueError:
        if classes is None:
            raise
        return closed or best_closed_form(workload, epsilon, limits)  # that of the classes is too large to write out
    if closed is None and not (found.rounds and found.objective <= least * (1 + 1e-6)):
        closed = best_closed_form(workload, epsilon, limits)
    if closed is None or found.objective <= closed.objective * (1 + 1e-6):
        return found
    return replace(closed, **{name: getattr(found, name) for name in ("history", "rounds", "seconds", "stopped")})


def _of_part(epsilon: float, part: Workload, limits: SearchLimits, prior: np.ndarray | None) -> Any:
    """`design` for a part of a problem."""
    return design(part, epsilon, **vars(limits), prior=prior)


def _question(problem: Problem, epsilon: float, limits: SearchLimits) -> AnyDesign:
    """The best strategy for one real-valued question; patterns past the types that one is fitted to."""
    if problem.workload.n > MOST_FITTED_TYPES:
        return _types(problem, epsilon, limits) if problem.survey is None else _survey(problem, epsilon, limits)
    assert problem.along is not None
    return design_question(problem.workload, epsilon, problem.along, limits, problem.prior)


def _survey(problem: Problem, epsilon: float, limits: SearchLimits) -> Optimized | SurveyDesign:
    """Patterns, and strategies on tables where questions tell values apart. Few types that count alike get a strategy over all of them where that
    is better: it is best for few, and patterns and tables where the search for it takes longer."""
    survey, budget = problem.survey, limits.budget()
    assert survey is not None
    if survey.symmetric:
        return design_survey(survey, epsilon, limits)
    if survey.n > MOST_FITTED_TYPES:
        return design_split(survey, epsilon, limits)
    if problem.prior is not None or too_many(survey) is not None:
        return _types(problem, epsilon, limits)
    seconds = None if limits.time_limit is None else limits.time_limit / 2
    tables = design_split(survey, epsilon, limits.telling(None).within(seconds))
    left = limits.never_above(tables.objective).within(budget.left())
    strategy = design_strategy(problem.workload, epsilon, left)
    return strategy if strategy.objective <= tables.objective else tables


def _hamming(problem: Problem, epsilon: float, limits: SearchLimits) -> Optimized | SurveyDesign:
    """Patterns, where there are not too many."""
    if not treats_bits_alike(problem.workload):
        return _types(problem, epsilon, limits)
    return design_bits(problem.workload, epsilon, limits)


def _types(problem: Problem, epsilon: float, limits: SearchLimits) -> Optimized:
    """A strategy over all types."""

    def search(left: SearchLimits, first: Rows | None) -> Optimized:
        return design_strategy(problem.workload, epsilon, left, problem.prior, first)

    return from_lists(problem.workload, epsilon, limits, search, problem.prior)


SEARCHES: dict[Kind, Callable[[Problem, float, SearchLimits], AnyDesign]] = {
    "strata": lambda problem, epsilon, limits: design_strata(
        problem.workload, epsilon, limits, problem.prior, partial(_of_part, epsilon)
    ),
    "secret": lambda problem, epsilon, limits: design_secret(problem.workload, epsilon, limits, problem.prior),
    "alike": lambda problem, epsilon, limits: exchangeable_design(problem.workload, epsilon, limits),
    "question": _question,
    "survey": _survey,
    "hamming": _hamming,
    "types": _types,
}
"""The search for each kind of problem."""
