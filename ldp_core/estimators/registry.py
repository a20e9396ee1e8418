"""The estimators by name: what each one is, what it suits, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ldp_core import limits
from ldp_core.arguments import check_choice
from ldp_core.estimators import mle, norm_sub, polytope, posterior, smoothed, survey_tables, wnnls
from ldp_core.limits import MOST_MATRIX_TYPES, MOST_TRANSFORMED_TYPES
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.mechanisms.surveys.estimates import as_survey
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.wording import check_parameters, magnitude
from ldp_core.workloads import Histogram, Prefix, Workload

_NO_COUNTS = "Norm-Sub adjusts counts, but these reports only give the answers; choose WNNLS or unbiased."

_NO_TYPES = (
    "It starts from counts of all types, or from the likelihood of every report; what this mechanism estimates are tables of a few "
    "columns each. Choose unbiased, WNNLS or Norm-Sub."
)

Rule = Callable[[Mechanism, Workload], str | None]
Improve = Callable[[Estimate, Workload, float], Estimate]
"""(unbiased estimate, workload, users)"""


@dataclass(frozen=True)
class EstimatorSpec:
    """One estimator. It has ``improve`` where it starts from the unbiased estimate, else
    ``from_reports``."""

    name: str
    title: str
    short: str
    meaning: str
    unbiased: bool
    improve: Callable[..., Estimate] | None = None
    """(unbiased estimate, workload, users, options of its own)"""
    from_reports: Callable[..., Estimate] | None = None
    """(reports, mechanism, unbiased estimate, options of its own)"""
    rule: Rule = lambda mechanism, workload: None
    from_workload: Callable[[Workload], dict[str, Any]] = lambda workload: {}
    """Options that follow from the workload."""
    credible: bool = False
    """True if its intervals are credible ones."""
    survey_rule: Callable[[SurveyMechanism, Workload], str | None] = lambda mechanism, workload: _NO_TYPES
    """The rule that replaces ``rule`` for mechanisms that estimate tables of a few attributes
    rather than counts of all types."""

    @property
    def options(self) -> list[str]:
        """Its further options."""
        methods = [method for method in (self.improve, self.from_reports) if method is not None]
        return [name for method in methods for name in list(signature(method).parameters)[3:]]

    def unsuitable(self, mechanism: Mechanism, workload: Workload) -> str | None:
        """Why this estimator does not work with ``mechanism`` on ``workload``, in a sentence; None
        when it does."""
        if (reason := mechanism.supports(workload)) is not None:
            return reason
        if mechanism.survey is not None:
            return self.survey_rule(mechanism.survey, workload)
        return self.rule(mechanism, workload)


# --- what each needs --------------------------------------------------------------------------------------------------


def _fits_wnnls(mechanism: Mechanism, workload: Workload) -> str | None:
    large = mechanism.n > MOST_MATRIX_TYPES and not isinstance(workload, (Histogram, Prefix))
    if large and mechanism.consistent is not mechanism:
        return (
            f"Raw answers do not add up; counts are fitted to them for at most {MOST_MATRIX_TYPES:,} types, and there are "
            f'{mechanism.n:,}. Use a tree with reconstruction "consistent".'
        )
    return wnnls.too_large(workload)


def _fits_polytope(mechanism: Mechanism, workload: Workload) -> str | None:
    if workload.n <= MOST_MATRIX_TYPES or isinstance(workload, Histogram):
        return None
    return (
        f"The projection of answers needs an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are "
        f"{magnitude(workload.n)}. Use Norm-Sub or coarser bins."
    )


def _has_likelihood(mechanism: Mechanism, workload: Workload) -> str | None:
    if mechanism.channel is None:
        return (
            "The likelihood needs every report as it was sent, but what this mechanism keeps are sums over all reports (of "
            "bits, sets or noisy vectors), from which it cannot be recovered. Choose WNNLS or Norm-Sub."
        )
    if mechanism.n > MOST_TRANSFORMED_TYPES:
        return (
            f"The likelihood is maximised for at most {MOST_TRANSFORMED_TYPES:,} types; there are {mechanism.n:,}. Choose WNNLS or "
            "Norm-Sub, or coarser bins."
        )
    return None


def _can_be_sampled(mechanism: Mechanism, workload: Workload) -> str | None:
    channel = mechanism.channel
    if channel is None or mechanism.n > MOST_TRANSFORMED_TYPES:
        return _has_likelihood(mechanism, workload)
    outputs, n = channel.shape
    if outputs * n <= limits.MOST_POSTERIOR_ENTRIES:
        return None
    return (
        f"Sampling the posterior goes through all {outputs:,} x {n:,} pairs of an output and a type, too many here. Choose "
        "maximum likelihood, or coarser bins."
    )


def _is_inconsistent(mechanism: Mechanism, workload: Workload) -> str | None:
    if mechanism.consistent is not mechanism:
        return None
    return (
        "The answers of this mechanism are consistent as they are. Consistency adjusts the node estimates of a tree: "
        'choose a hierarchical mechanism with reconstruction "raw".'
    )


def _fits_tables(mechanism: SurveyMechanism, workload: Workload) -> str | None:
    return next(filter(None, map(survey_tables.too_large, mechanism.surveys(workload))), None)


def _knows_tables(mechanism: SurveyMechanism, workload: Workload) -> str | None:
    survey = as_survey(workload, mechanism.sizes)
    if all(mechanism.knows(group.attributes) for group in survey.groups):
        return None
    return "Norm-Sub adjusts whole tables, but these reports only give the answers; choose WNNLS or unbiased."


# --- how each is computed ---------------------------------------------------------------------------------------------


def _projected(project: Callable[[Workload, np.ndarray, float], np.ndarray], known_total: bool = True) -> Improve:
    """Counts that answer the workload as the unbiased estimate does, projected."""

    def projected(unbiased: Estimate, workload: Workload, users: float) -> Estimate:
        if (tables := unbiased.survey) is not None:
            total = users if known_total else None
            return tables.improved(workload, total, survey_tables.nonnegative)
        counts = project(workload, unbiased.fitted(workload), users)
        return Estimate(counts, unbiased=False, identified=unbiased.identified)

    return projected


def _norm_sub(unbiased: Estimate, workload: Workload, users: float) -> Estimate:
    if (tables := unbiased.survey) is not None:
        return tables.improved(
            workload, users, lambda part, local, total: survey_tables.separate(part, local, total or users)
        )
    if not unbiased.identified:
        raise ValueError(_NO_COUNTS)
    return Estimate(norm_sub.project(unbiased.estimated_counts, users), unbiased=False)


ESTIMATORS = {
    spec.name: spec
    for spec in (
        EstimatorSpec(
            "unbiased",
            "Unbiased",
            "unbiased",
            "right on average; individual counts may come out negative",
            unbiased=True,
            improve=lambda unbiased, workload, users: unbiased,
            survey_rule=lambda mechanism, workload: None,
        ),
        EstimatorSpec(
            "wnnls",
            "Non-negative (WNNLS)",
            "non-negative",
            "the closest answers that counts of zero or more could give; biased, but never a larger total error",
            unbiased=False,
            improve=_projected(lambda workload, counts, users: wnnls.project(workload, counts), known_total=False),
            rule=_fits_wnnls,
            survey_rule=_fits_tables,
        ),
        EstimatorSpec(
            "wnnls_total",
            "Non-negative, known total (WNNLS)",
            "non-negative, known total",
            "the closest answers that some data set of this many people could give; biased, but never a larger total error",
            unbiased=False,
            improve=_projected(wnnls.project),
            rule=_fits_wnnls,
            survey_rule=_fits_tables,
        ),
        EstimatorSpec(
            "norm_sub",
            "Non-negative, known total (Norm-Sub)",
            "Norm-Sub",
            "the closest counts that are never negative and sum to the number of people; biased, rare types tend to 0; made for counts, so that "
            "questions which the reports tell far better than the counts behind them can come out wrong by many times their error",
            unbiased=False,
            improve=_norm_sub,
            rule=lambda mechanism, workload: mechanism.supports(Histogram(mechanism.n)) and _NO_COUNTS,
            survey_rule=_knows_tables,
        ),
        EstimatorSpec(
            "polytope",
            "Projected answers (Bassily)",
            "projected",
            "the closest answers whose counts, regardless of sign, sum to at most the number of people; pays off with few people and "
            "many queries",
            unbiased=False,
            improve=_projected(polytope.project),
            rule=_fits_polytope,
        ),
        EstimatorSpec(
            "mle",
            "Maximum likelihood",
            "likeliest",
            "the shares of the types that make the reports received most likely; never negative, biased towards 0 for rare types",
            unbiased=False,
            from_reports=mle.estimate,
            rule=_has_likelihood,
        ),
        EstimatorSpec(
            "ems",
            "Smoothed likelihood (EMS)",
            "smoothed",
            "the shares that make the reports likely, averaged with their neighbours in every round; never negative, and made for smooth "
            "distributions over hundreds of bins; biased, flatter than the truth however many people there are, most of all with few bins",
            unbiased=False,
            from_reports=smoothed.estimate,
            rule=lambda mechanism, workload: smoothed.in_order(workload) or _has_likelihood(mechanism, workload),
            from_workload=lambda workload: {"ordinary": smoothed.types_in_order(workload)},
        ),
        EstimatorSpec(
            "posterior",
            "Posterior mean",
            "posterior mean",
            "the average over all populations, weighted by a prior and by how well they explain the reports; biased towards "
            "the prior, with credible intervals; takes seconds per collection",
            unbiased=False,
            from_reports=posterior.estimate,
            rule=_can_be_sampled,
            credible=True,
        ),
        EstimatorSpec(
            "posterior_distribution",
            "Posterior mean of the distribution",
            "posterior, distribution",
            "the same for the distribution that people are drawn from, (α + N F)/(Σα + N) with F the posterior mean for these "
            "people; biased towards the prior; takes seconds per collection",
            unbiased=False,
            from_reports=partial(posterior.estimate, of_distribution=True),
            rule=_can_be_sampled,
            credible=True,
        ),
        EstimatorSpec(
            "consistency",
            "Tree consistency",
            "consistent",
            "the node estimates of a tree, weighted so that every node is the sum of its children; right on average, less noisy",
            unbiased=True,
            improve=lambda unbiased, workload, users: unbiased.consistent(users),
            rule=_is_inconsistent,
            survey_rule=_is_inconsistent,
        ),
    )
}


def names() -> list[str]:
    """Names `apply` accepts."""
    return list(ESTIMATORS)


def spec(name: str) -> EstimatorSpec:
    """The registry entry of ``name``. ValueError when there is none."""
    return ESTIMATORS[check_choice("estimator", name, ESTIMATORS)]


def apply(
    name: str,
    reports: Reports,
    mechanism: Mechanism,
    workload: Workload,
    unbiased: Estimate | None = None,
    **options: Any,
) -> Estimate:
    """Estimate from ``reports`` by the estimator ``name``.

    ``unbiased`` is the mechanism's own estimate where it is available. ``options`` are those of
    `mle.estimate`, `smoothed.estimate` and `posterior.estimate`. ValueError for an unknown name or
    option, foreign reports, or an estimator that does not suit.

    Counts that are never negative and add up to the users:

    >>> workload = ldp.workloads.histogram(4)
    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> reports = mechanism.simulate(np.array([0, 10, 90, 900]), np.random.default_rng(0))
    >>> estimate = ldp.estimators.apply("norm_sub", reports, mechanism, workload)
    >>> estimate
    <Estimate: 4 types, 1,000 users, biased>
    >>> bool(estimate.counts().min() >= 0)
    True
    """
    entry = spec(name)
    check_parameters(entry.title, options, entry.options)
    if reason := entry.unsuitable(mechanism, workload):
        raise ValueError(reason)
    unbiased = mechanism.estimate(reports) if unbiased is None else unbiased
    if entry.from_reports:
        return entry.from_reports(reports, mechanism, unbiased, **{**entry.from_workload(workload), **options})
    return improve(name, unbiased, workload, reports.users, **options)


def improve(name: str, unbiased: Estimate, workload: Workload, users: float | None = None, **options: Any) -> Estimate:
    """The estimator ``name`` applied to an unbiased estimate already available, of ``users`` people
    (None: as estimated), with ``options`` as in `apply`.

    ValueError for an unknown name, one that needs the reports themselves, or Norm-Sub where the
    counts are not identified.
    """
    entry = spec(name)
    if entry.improve is None:
        raise ValueError(f"{entry.title} is computed from the reports themselves, not from an estimate; use apply.")
    return entry.improve(unbiased, workload, unbiased.total if users is None else users, **options)
