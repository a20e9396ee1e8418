"""The answers that a collection gives, with intervals, beside what the design promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import verdicts
from ldp_core.deploy.collector import population
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators import Intervals, apply, intervals, people_told, ratio_answers
from ldp_core.estimators.sequences import any_time
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.wording import meant
from ldp_core.workloads import Ratios, Workload, in_chunks

KINDS: dict[str, Callable[..., Intervals]] = {"fixed": intervals, "any_time": any_time}
"""Intervals for one look at the answers, and for as many as one likes."""
_POINT, _KNOWN = 1e-6, 1e-6
"""Parts of a standard error, and standard errors for one person, that are rounding alone."""


def answers(
    collection: Collection,
    mechanism: Mechanism,
    workload: Workload,
    estimator: str = "unbiased",
    level: float = 0.95,
    kind: str = "fixed",
    queries: np.ndarray | None = None,
    labels: Sequence[str] | None = None,
    occasions: int = 1,
    drawn: bool = False,
    sizes: np.ndarray | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Answers of a ``collection`` to a ``workload``, in people, without the weights of its queries.

    Columns: query, name, answer, low, high (an interval that holds the true answer of those who
    reported, or of as many of the population that they were ``drawn`` from, with a probability of at least ``level``; NaN where only impossible answers agree with the reports), method (of the interval),
    standard_error (of the unbiased answer, for people as they were estimated), promised (its most for this number of people, whatever
    their values), adds_up_to (the people that all answers together add up to, see
    `people_told`), unbiased (the unbiased answer from the same reports).

    Biased estimators have the interval of the unbiased estimate from the same reports, widened where the answer lies beyond.

    Args:
        kind: one of `KINDS`.
        queries: those to answer; all by default. labels: of the types, for the names. options: of the estimator, see `estimators.apply`.
        occasions: how many reports of each person are in the collection, each of an occasion of its own; answers are the average of these.
        sizes: (K,) the people of a population in each of the groups that the collector knows. Answers are of this population: see
            `population.weights`; which groups people are in is then no chance.

    ValueError for a collection without reports or of another mechanism, and an estimator or workload that does not suit it.
    """
    if kind not in KINDS:
        raise ValueError(f"Unknown kind of intervals {kind!r}; {meant(kind, KINDS)}")
    if not collection.users:
        raise ValueError("This collection holds no reports yet: collect at least one file of this design.")
    if reason := mechanism.supports(workload):
        raise ValueError(reason)
    chosen = np.arange(workload.num_queries) if queries is None else np.asarray(queries, dtype=np.int64)
    unbiased = mechanism.estimate(collection.reports)
    estimate = apply(estimator, collection.reports, mechanism, workload, unbiased, **options)
    based_on = estimate if estimate.unbiased else unbiased
    if drawn and occasions > 1:
        raise ValueError("Intervals for the population that people were drawn from take one report of each person.")
    given = (mechanism, workload, based_on, level, chosen, collection.users, drawn)
    if sizes is None:
        times, found = None, KINDS[kind](*given)
    else:
        if kind != "fixed":
            raise ValueError("Weights to a population are for one look, at the end.")
        times = population.weights(mechanism, collection.reports, sizes) * occasions
        found = intervals(*given, times)

    def answered_by(estimate: Estimate) -> np.ndarray:
        if times is None:
            return estimate.answers(workload, chosen)
        return population.weighted(estimate, mechanism, workload, chosen, times)

    weights, answered = workload.query_weights(chosen) * occasions, answered_by(estimate)
    each = 1.0 if sizes is None else float(np.sum(sizes)) * occasions / collection.users
    low, high = np.minimum(found.ends[:, 0], answered), np.maximum(found.ends[:, 1], answered)
    if estimate.unbiased:
        low, high = found.ends.T
    in_doubt = found.most / weights > _KNOWN * each * collection.users**0.5
    point = np.ptp(found.ends, axis=1) <= _POINT * found.most  # cut to what is possible, nothing was left
    low, high = (np.where(point & in_doubt, np.nan, end) for end in (low, high))
    return pd.DataFrame(
        {
            "query": chosen,
            "name": [workload.query_name(int(query), labels) for query in chosen],
            "answer": answered / weights,
            "low": low / weights,
            "high": high / weights,
            "method": found.methods.astype(str),
            "standard_error": np.where(in_doubt, found.errors / weights, 0.0),
            "promised": np.where(in_doubt, found.most / weights, 0.0),
            "adds_up_to": people_told(estimate, workload) / occasions,
            "unbiased": answered_by(based_on) / weights,
        }
    )


def within_groups(
    collection: Collection,
    mechanism: Mechanism,
    workload: Workload,
    asked: Sequence[Ratios],
    estimator: str = "unbiased",
    level: float = 0.95,
    kind: str = "fixed",
    drawn: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """The shares and averages within groups ``asked`` for in a ``workload`` (see `ldp_core.workloads.ratios_of`), estimated as `answers` are: a frame
    as of `estimators.ratio_answers`, without rows where nothing is asked for."""
    unbiased = mechanism.estimate(collection.reports)
    estimate = apply(estimator, collection.reports, mechanism, workload, unbiased, **options)
    based_on, shown = (estimate, None) if estimate.unbiased else (unbiased, estimate)
    given = (mechanism, based_on, level, KINDS[kind], collection.users, shown, drawn)
    tables = [ratio_answers(own, *given) for own in asked]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def with_groups(answers: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """`in_units` and below them the answers of `within_groups`, which are no queries and have no promise: one table for a file."""
    return pd.concat([answers.astype({"query": "Int64"}), ratios], ignore_index=True) if len(ratios) else answers


def in_units(answers: pd.DataFrame, workload: Workload, users: float) -> pd.DataFrame:
    """`answers` from ``users`` reports with averages and totals in the unit of what they are of. Column unit: what numbers count, "people",
    or the name of the attribute; the others as before."""
    units = [workload.unit(int(query)) for query in answers["query"]]
    told = answers.assign(unit=["people" if unit is None else unit.name for unit in units])
    ways = dict.fromkeys(("answer", "low", "high", "unbiased"), "value") | dict.fromkeys(
        ("standard_error", "promised"), "error"
    )
    for name, way in ways.items():
        pairs = zip(answers[name], units, strict=True)
        told[name] = [number if unit is None else getattr(unit, way)(number / users, users) for number, unit in pairs]
    return told


def judged(answers: pd.DataFrame, users: float, target: float, workload: Workload | None = None) -> np.ndarray:
    """(q,) the verdicts on `answers` from ``users`` reports by their own errors and sizes, for a target error: see `verdicts.judge`.
    ``workload``: of the answers, where it asks for averages or totals."""
    sizes = answers["answer"] / users
    if workload is not None:
        sizes = verdicts.without_size(workload, answers["query"].to_numpy(), sizes)
    return verdicts.judge(answers["standard_error"] / users, verdicts.limits(target, sizes))


def largest_variances(mechanism: Mechanism, workload: Workload, queries: np.ndarray) -> np.ndarray:
    """(q,) the most that one person can add to the variance of the answer to each of ``queries``."""
    if isinstance(mechanism.drawn, AdditiveMechanism):  # noise whose law does not depend on the types
        unit = np.eye(1, workload.n)[0]
        return np.maximum(mechanism.query_variances(workload, unit, queries), 0.0)
    parts = [
        mechanism.query_contributions(workload, some).variances.max(axis=1)
        for some in in_chunks(queries, mechanism.cost_dimension(workload))
    ]
    return np.concatenate(parts or [np.zeros(0)])
