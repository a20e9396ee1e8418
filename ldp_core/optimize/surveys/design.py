"""The best mechanism for a survey, whatever the number of types: a mixture of patterns over few attributes each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ldp_core.anova import Set
from ldp_core.limits import MOST_DESIGNED_SETS, MOST_DESIGNED_SUBSETS
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize.base import DEFAULT, Design, SearchLimits, fields_of
from ldp_core.optimize.surveys.search import SurveySearch
from ldp_core.privacy import check_epsilon
from ldp_core.run import drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Survey


@dataclass(frozen=True, repr=False)
class SurveyDesign(Design):
    """``patterns`` and their probabilities ``shares`` (p,), for `ldp_core.mechanisms.surveys.scrambled.ScrambledPatterns`.

    Where there are strategies on tables of their ``own``, pairs of a set of attributes and a strategy (m, cells), people take part in one of
    these or, last, in the patterns, where there are any, with probabilities ``people`` (K,): `ldp_core.mechanisms.surveys.split_survey.SplitSurvey`.
    ``objective`` is L on average over the types; ``rounds`` and ``stopped`` are those of patterns for all questions, which come first.
    """

    patterns: tuple[Pattern, ...]
    shares: np.ndarray
    survey: Survey
    own: tuple[tuple[Set, np.ndarray], ...] = ()
    people: np.ndarray = field(default_factory=lambda: np.ones(1))

    @property
    def prior(self) -> None:
        """Its reconstruction is for users spread evenly."""
        return None

    def mechanism(self) -> ScrambledPatterns | SplitSurvey:
        """The mechanism with these patterns, and people divided so."""
        sizes, epsilon = self.survey.shape, self.epsilon
        parameters = {"workload": self.survey.spec, "seed": self.seed, "rounds": self.rounds}
        if not self.own:
            return ScrambledPatterns("optimized", sizes, epsilon, self.patterns, self.shares, parameters)
        own = [GroupTable(members, ExplicitMechanism("optimized", strategy, epsilon)) for members, strategy in self.own]
        rest = ScrambledPatterns("optimized", sizes, epsilon, self.patterns, self.shares) if self.patterns else None
        return SplitSurvey("optimized", sizes, epsilon, own, rest, self.people, parameters)

    @property
    def contents(self) -> str:
        sets = len({pattern.attributes for pattern in self.patterns})
        beside = f"{len(self.own)} strategies on tables of their own and " if self.own else ""
        return f"{beside}{len(self.patterns):,} patterns on {sets:,} sets of attributes"


def design_survey(
    survey: Survey,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> SurveyDesign:
    """Patterns and probabilities of least L for a survey.

    L is convex in the probabilities. If the questions treat the values of every attribute alike, no
    mechanism of any kind is better than the best of these, and worst and average case are the same.
    If they do not (totals along an order, conditions), it is the best mechanism that treats the
    values alike, for the average over the types. Neither the time nor the memory depends on the
    number of types.

    Raises ValueError for an epsilon out of range, for questions that depend on too many sets of attributes (`too_many`), and for
    those that have only one possible answer.

    >>> survey = ldp.workloads.survey([16, 9, 7, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=3)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, 1.0) - 1 < 0.005
    True
    """
    budget = limits.budget()
    epsilon = check_epsilon(epsilon)
    if reason := too_many(survey):
        raise ValueError(reason)
    with blas_threads(1):
        run = drive(SurveySearch(survey, epsilon, generator(limits.seed), budget.check), budget, 16)
    patterns, shares = run.found[0]
    return SurveyDesign(tuple(patterns), shares, survey, **fields_of(run, epsilon, limits))


def too_many(survey: Survey) -> str | None:
    """Why no mechanism is designed for this survey, None where one is."""
    sets = survey.components.sets
    if not sets:
        return "All that is asked about has a single possible value: there is nothing to design."
    if len(sets) > MOST_DESIGNED_SETS:
        return (
            f"The questions depend on {len(sets):,} sets of attributes, and mechanisms are designed for at most {MOST_DESIGNED_SETS:,}: ask about "
            "fewer sets, or about fewer attributes at a time."
        )
    subsets = sum(2 ** len(members) for members in sets)
    if subsets > MOST_DESIGNED_SUBSETS:
        return (
            f"The questions depend on sets of up to {max(map(len, sets))} attributes with {subsets:,} subsets in all, and mechanisms are "
            f"designed for at most {MOST_DESIGNED_SUBSETS:,}: ask about fewer attributes at a time."
        )
    return None
