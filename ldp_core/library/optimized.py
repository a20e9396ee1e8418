"""Mechanisms fitted to a workload: thin wrappers that turn an optimised strategy into a mechanism."""

from __future__ import annotations

import numpy as np

from ldp_core.bounds import average_variance, equivalent_objective
from ldp_core.limits import MOST_FITTED_TYPES, MOST_STRATEGY_ENTRIES, MOST_TRANSFORMED_TYPES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import SearchLimits, design, projected_gradient, worst_case_design
from ldp_core.optimize.base import changed, too_large
from ldp_core.optimize.strategy import from_strategy
from ldp_core.optimize.surveys.design import too_many
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Workload, classes_of
from ldp_core.workloads.surveyed import as_tables, of_bits

TARGETS = ("average", "worst_case")
"""Whose variance `build_certified` makes least."""


def build_gradient(
    workload: Workload,
    epsilon: float,
    seed: int = 0,
    rows: int | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> ExplicitMechanism:
    """McKenna et al.'s optimised mechanism; see `ldp_core.optimize.projected_gradient` for the parameters.

    ValueError for more ``rows`` than can be written out.
    """
    if rows is not None and rows * workload.n > MOST_STRATEGY_ENTRIES:
        raise ValueError(
            f"A strategy of {rows:,} x {workload.n:,} entries is too large to write out: give at most "
            f"{MOST_STRATEGY_ENTRIES // workload.n:,} rows."
        )
    limits = SearchLimits(time_limit, max_rounds, seed, callback, cancel)
    result = projected_gradient(workload, epsilon, rows, limits=limits)
    parameters = {"workload": workload.spec, "seed": seed, "rounds": result.rounds}
    return from_strategy("optimized_gradient", result.strategy, epsilon, parameters, workload=workload)


def build_certified(
    workload: Workload,
    epsilon: float,
    seed: int = 0,
    max_rounds: int | None = None,
    time_limit: float | None = 10.0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    target: str = "average",
    prior: np.ndarray | None = None,
) -> Mechanism:
    """The best mechanism there is for reports about all types, within a per cent or so; see `ldp_core.optimize.columns.search` for the parameters.

    ``target`` says whose variance is made least: the "average" over the types, weighted by ``prior`` (n,) where that is
    given, or that of the worst type ("worst_case"; see `ldp_core.optimize.worst_case_design`). ``callback(progress)`` gets
    objectives on the scale of L, n times that variance + tr G, whatever the target is. `ldp_core.bounds.certificate`,
    or `ldp_core.bounds.general.hardest_prior` with the mechanism's prior, proves how close to the best the mechanism is.

    Workloads that treat all types alike get subset selection, their optimum, and others a mechanism in closed form where the search
    comes to nothing better. Past `ldp_core.limits.MOST_FITTED_TYPES` types no strategy is written out.

    Surveys that treat the values of every attribute alike get `ScrambledPatterns`, at any number of types, and so do questions that
    treat twelve or more binary attributes alike. All types have the same
    variance then, whatever the ``target`` and the ``prior``. Other surveys get what `ldp_core.optimize.design` finds; those with more than
    2048 types get the best on average of what `ldp_core.optimize.surveys.split_design` knows; types hardly differ there, and ``target`` and ``prior`` are not looked at.
    """
    survey = as_tables(workload)
    same = survey is not None and (survey.symmetric or survey.n > MOST_FITTED_TYPES)  # whatever the target and prior
    if target != "average" and prior is not None and not same:
        raise ValueError("The worst case is the same for every prior: leave the prior out, or choose the average.")
    if prior is not None and not same:
        callback = _comparable(callback, workload, prior)
    limits = SearchLimits(time_limit, max_rounds, seed, callback, cancel)
    if target == "average" or workload.n > MOST_FITTED_TYPES or same:
        return design(workload, epsilon, **vars(limits), prior=prior).mechanism()
    return worst_case_design(workload, epsilon, limits).mechanism()


def _comparable(callback: Callback | None, workload: Workload, prior: np.ndarray) -> Callback | None:
    """``callback``, with objectives under a prior put on the scale of L."""

    def on_scale(value: float | None) -> float | None:
        return value and equivalent_objective(average_variance(value, workload, prior), workload)

    return changed(callback, on_scale)


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why no mechanism is designed for ``n`` types, or those of them that the ``workload`` distinguishes; None when one is."""
    reason = too_large(n)
    if workload is None:
        return reason
    if far := workload.spread_too_far:
        return far
    if n > MOST_FITTED_TYPES and (classes := classes_of(workload)) is not None:
        return domain_rule(classes.workload.n, epsilon, classes.workload)
    try:
        if (survey := workload.survey) is not None:
            return too_many(survey) if survey.symmetric or n > MOST_FITTED_TYPES else None
        if reason is None or workload.symmetry == "exchangeable":
            return None
        bits = workload.symmetry == "hamming" and n <= MOST_TRANSFORMED_TYPES
        return too_many(of_bits(workload)) if bits else reason
    except ValueError as error:  # too many tables, or one that is too large for its Gram matrix
        return str(error)
