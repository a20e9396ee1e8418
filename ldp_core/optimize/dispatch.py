"""The best mechanism of any workload: which search finds it is one table.

A design is a strategy over all types, patterns over few attributes, or a split of people among
strategies on tables.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.bounds.question.search import direction
from ldp_core.limits import MOST_FITTED_TYPES, MOST_MATRIX_TYPES
from ldp_core.optimize.base import SearchLimits
from ldp_core.optimize.certified import design_strategy
from ldp_core.optimize.classes import for_types, telling_of_types
from ldp_core.optimize.closed_form import ClosedFormDesign, best_closed_form, better, exchangeable_design
from ldp_core.optimize.gradient.method import Optimized
from ldp_core.optimize.question import design_question
from ldp_core.optimize.strata import StratifiedDesign, design_strata
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.optimize.surveys.rows import first_rows
from ldp_core.optimize.surveys.split_design import SplitDesign, design_split
from ldp_core.optimize.symmetric import bits
from ldp_core.priors import check_prior
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Survey, Workload, check_weights
from ldp_core.workloads.distinguished import Distinguished
from ldp_core.workloads.surveyed import as_tables

AnyDesign = Optimized | ClosedFormDesign | SurveyDesign | SplitDesign | StratifiedDesign
TABLES_TIME = 1 / 2
"""The most of the time that goes to patterns and strategies on tables where one over all types is fitted as well."""


@dataclass(frozen=True)
class Case:
    """The facts that choose a search."""

    workload: Workload
    prior: np.ndarray | None

    @cached_property
    def survey(self) -> Survey | None:
        """The same questions as a `Survey`, where they are one or are best seen as one."""
        return as_tables(self.workload)

    @property
    def alike(self) -> bool:
        """True if it is a survey that treats all values of an attribute alike."""
        return self.survey is not None and self.survey.symmetric

    @property
    def large_survey(self) -> bool:
        """True if it is a survey with too many types for a strategy over all of them."""
        return self.survey is not None and self.survey.n > MOST_FITTED_TYPES

    @property
    def small_survey(self) -> bool:
        """True if patterns compete with a strategy over all types."""
        return self.survey is not None and self.prior is None and too_many(self.survey) is None

    @cached_property
    def along(self) -> np.ndarray | None:
        """The direction of one real-valued question, None where more is asked."""
        return direction(self.workload)

    @property
    def exchangeable(self) -> bool:
        """Whether all types are alike, so that subset selection is the optimum."""
        return self.prior is None and self.workload.symmetry == "exchangeable"

    @property
    def comparable(self) -> bool:
        """Whether mechanisms in closed form may be better, and their errors are soon known for all types at once."""
        return self.survey is None and self.workload.n <= (MOST_FITTED_TYPES if self.bits else MOST_MATRIX_TYPES)

    @cached_property
    def bits(self) -> bool:
        """Whether yes-or-no attributes are all alike, and all types count equally."""
        return self.prior is None and bits.fits(self.workload)


Find = Callable[[Case, float, SearchLimits], AnyDesign]


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
    """The mechanism of least L, never worse than subset selection and trees.

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
      (`ldp_core.optimize.classes`), up to 2,048 types.
    * Questions that treat yes-or-no attributes alike get patterns, written out as a strategy where there
      is room for it (`ldp_core.optimize.symmetric.bits`).
    * Every other workload gets a strategy over all types. If its questions are about tables of
      several attributes, the search begins with the best strategies for these tables
      (`ldp_core.optimize.surveys.rows`).
    * Past 2,048 types no strategy over all types is written out: coarser bins, trees and Haar are the
      ways on.
    * Where the collector knows attributes, each of the `strata` gets a design (`ldp_core.optimize.strata`): one for all where
       they are asked alike.

    `ldp_core.optimize.certified.design_strategy` explains strategies and ``prior``, and
    `SearchLimits` the other parameters.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=2)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, epsilon=1.0) - 1 < 0.01
    True
    """
    check_weights(workload)
    prior = None if prior is None else check_prior(prior, workload.n)
    case, limits = Case(workload, prior), SearchLimits(time_limit, max_rounds, seed, callback, cancel)
    if workload.strata is not None:
        return design_strata(
            workload, epsilon, limits, prior, lambda few, shares, own: design(few, epsilon, **vars(own), prior=shares)
        )
    if case.exchangeable:
        return exchangeable_design(workload, epsilon, limits)
    one = workload.n <= MOST_FITTED_TYPES and case.along is not None
    classes = None if one or workload.n > MOST_FITTED_TYPES else workload.distinguished
    if classes is not None:
        return _over_classes(case, epsilon, limits, classes)
    find = _question if one else next(find for applies, find in SEARCHES if applies(case))
    if not (one or case.comparable):
        return find(case, epsilon, limits)
    budget = limits.budget()
    closed = best_closed_form(workload, epsilon, limits, prior)
    fitted = find(case, epsilon, limits.never_above(closed.objective).within(budget.left()))
    return better(fitted, closed)


def _over_classes(
    case: Case, epsilon: float, limits: SearchLimits, classes: Distinguished
) -> Optimized | ClosedFormDesign:
    """A strategy for the classes of types that the questions distinguish, given to all types; or a closed form."""
    budget = limits.budget()
    closed = best_closed_form(case.workload, epsilon, limits, case.prior)
    scale = case.workload.n / classes.workload.n
    own = telling_of_types(limits.never_above(closed.objective), classes, lambda value: scale * value).within(
        budget.left()
    )
    few = design(classes.workload, epsilon, **vars(own), prior=classes.shares(case.prior))
    if isinstance(few, SurveyDesign):
        few = bits.written(few, classes.workload)
    assert isinstance(few, Optimized | ClosedFormDesign)  # neither tables nor too many types
    with suppress(ValueError):  # a closed form too large to write out
        return better(for_types(few, case.workload, classes, case.prior), closed)
    return closed


def _survey_of(case: Case) -> Survey:
    assert case.survey is not None  # what the row of `SEARCHES` asks
    return case.survey


def _better(case: Case, epsilon: float, limits: SearchLimits) -> Optimized | SurveyDesign | SplitDesign:
    """A strategy over all types, which is best for few of them, or patterns and strategies on tables, where the search for that takes longer."""
    survey, budget = _survey_of(case), limits.budget()
    seconds = None if limits.time_limit is None else limits.time_limit * TABLES_TIME
    tables = design_split(survey, epsilon, limits.telling(None).within(seconds))
    strategy = design_strategy(survey, epsilon, limits.never_above(tables.objective).within(budget.left()))
    return strategy if strategy.objective <= tables.objective else tables


def _question(case: Case, epsilon: float, limits: SearchLimits) -> Optimized:
    """The best strategy for one real-valued question."""
    assert case.along is not None
    return design_question(case.workload, epsilon, case.along, limits, case.prior)


def _strategy(case: Case, epsilon: float, limits: SearchLimits) -> Optimized:
    """A strategy over all types."""
    budget = limits.budget()
    first = first_rows(case.workload, epsilon, limits)
    return design_strategy(case.workload, epsilon, limits.within(budget.left()), case.prior, first)


SEARCHES: tuple[tuple[Callable[[Case], bool], Find], ...] = (
    (lambda case: case.alike, lambda case, *how: design_survey(_survey_of(case), *how)),
    (lambda case: case.large_survey, lambda case, *how: design_split(_survey_of(case), *how)),
    (lambda case: case.small_survey, _better),
    (lambda case: case.bits, lambda case, *how: bits.design_bits(case.workload, *how)),
    (lambda case: True, _strategy),
)
"""Searches and the cases that they are for: the first that applies is used."""
