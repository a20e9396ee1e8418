"""The answers that a collection gives, with intervals, beside what the design promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import verdicts
from ldp_core.analysis import asked_of
from ldp_core.deploy.collector import population
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators import Intervals, apply, intervals, people_told, ratio_answers
from ldp_core.estimators.sequences import any_time
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.wording import meant
from ldp_core.workloads import Detect, Line, Workload, in_chunks
from ldp_core.workloads.answers import OF_GROUP, POINTS, ratios_of, reach
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.shown import spread

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
    most: int | None = None,
    occasions: int = 1,
    drawn: bool = False,
    sizes: np.ndarray | None = None,
    **options: Any,
) -> pd.DataFrame:
    """What a ``collection`` answers, question by question, in the units that were asked for.

    Parameters
    ----------
    collection, mechanism, workload : reports, of this mechanism; the questions.
    estimator, options : of `estimators.apply`. Biased ones have the interval of the unbiased estimate from the same reports, widened where
        the answer lies beyond.
    level, kind : of the intervals, one of `KINDS`.
    most : about how many answers to give in all, evenly spread over those of each question; all by default.
    occasions : how many reports of each person are in the collection, each of an occasion of its own; answers are the average of these.
    drawn : whether intervals are for the population that people were drawn from, or for those who reported.
    sizes : (K,) the people of a population in each of the groups that the collector knows. Answers about everybody are of this
        population: see `population.weights`; which groups people are in is then no chance.

    Returns
    -------
    DataFrame
        One row an answer: ``line``, ``query``, ``question``, ``name``, ``unit``, ``answer``, ``low`` and ``high`` (an interval that holds the true
        answer with a probability of at least ``level``, bins included; NaN where there is none), ``method`` (of the interval), ``standard_error``
        (of the unbiased answer, for people as they were estimated), ``promised`` (its most for this number of people, whatever their
        values), ``target``, ``finds``, ``verdict`` (of `verdicts`), ``found`` (of a difference to detect: "found", "none found" or "too few people"),
        ``adds_up_to`` (the people that answers together add up to, see `people_told`) and ``unbiased`` (the unbiased answer from the same reports).

    Raises
    ------
    ValueError
        For a collection without reports or of another mechanism, and an estimator or workload that does not suit it.
    """
    if kind not in KINDS:
        raise ValueError(f"Unknown kind of intervals {kind!r}; {meant(kind, KINDS)}")
    if not collection.users:
        raise ValueError("This collection holds no reports yet: collect at least one file of this design.")
    if reason := mechanism.supports(workload):
        raise ValueError(reason)
    if drawn and occasions > 1:
        raise ValueError("Intervals for the population that people were drawn from take one report of each person.")
    if sizes is not None and kind != "fixed":
        raise ValueError("Weights to a population are for one look, at the end.")
    unbiased = mechanism.estimate(collection.reports)
    estimate = apply(estimator, collection.reports, mechanism, workload, unbiased, **options)
    asked = asked_of(workload)
    estimated = Estimated(
        collection,
        mechanism,
        estimate,
        estimate if estimate.unbiased else unbiased,
        level,
        kind,
        occasions,
        drawn,
        sizes,
    )
    room = None if most is None else max(1, most // len(asked.lines))
    survey = workload.survey is not None
    frames = []
    for k, line in enumerate(asked.lines):
        about = _about_everybody if line.asked is None else partial(_within_groups, axes=asked.axes, survey=survey)
        frames.append(_judged(about(estimated, line, room), line, collection.users / occasions).assign(line=k))
    return pd.concat(frames, ignore_index=True).assign(adds_up_to=people_told(estimate, workload) / occasions)


@dataclass(frozen=True, eq=False)
class Estimated:
    """Reports with the ``estimate`` to answer by, the unbiased one it is ``based_on``, and what is wanted of intervals."""

    collection: Collection
    mechanism: Mechanism
    estimate: Estimate
    based_on: Estimate
    level: float
    kind: str
    occasions: int
    drawn: bool
    sizes: np.ndarray | None

    @property
    def users(self) -> int:
        return self.collection.users


def _about_everybody(of: Estimated, line: Line, most: int | None) -> pd.DataFrame:
    """The answers to a question that counts, averages or adds up over everybody."""
    told, unit, mechanism = line.told, line.unit, of.mechanism
    chosen = np.arange(told.num_queries) if most is None else spread([told.num_queries], most)[0]
    given = (mechanism, told, of.based_on, of.level, chosen, of.users, of.drawn)
    times = None
    if of.sizes is None:
        found = KINDS[of.kind](*given)
    else:
        times = population.weights(mechanism, of.collection.reports, of.sizes) * of.occasions
        found = intervals(*given, times)

    def answered_by(estimate: Estimate) -> np.ndarray:
        if times is None:
            return estimate.answers(told, chosen)
        return population.weighted(estimate, mechanism, told, chosen, times)

    users = of.users / of.occasions if of.sizes is None else float(of.sizes.sum())
    weights, answered = told.query_weights(chosen) * of.occasions, answered_by(of.estimate)
    each = 1.0 if of.sizes is None else users * of.occasions / of.users
    low, high = np.minimum(found.ends[:, 0], answered), np.maximum(found.ends[:, 1], answered)
    if of.estimate.unbiased:
        low, high = found.ends.T
    in_doubt = found.most / weights > _KNOWN * each * of.users**0.5
    point = np.ptp(found.ends, axis=1) <= _POINT * found.most  # cut to what is possible, nothing was left
    low, high = (np.where(point & in_doubt, np.nan, end) for end in (low, high))
    scale = unit.factor / (weights * users) * (users if unit.total else 1.0)
    start = unit.middle * (users if unit.total else 1.0)
    off = unit.off * (users if unit.total else 1.0)
    return pd.DataFrame(
        {
            "query": chosen,
            "name": [told.query_name(int(query)) for query in chosen],
            "answer": start + scale * answered,
            "low": start + scale * low - off,
            "high": start + scale * high + off,
            "method": found.methods.astype(str),
            "standard_error": np.where(in_doubt, scale * found.errors, 0.0),
            "promised": np.where(in_doubt, scale * found.most, 0.0),
            "unbiased": start + scale * answered_by(of.based_on),
        }
    )


def _within_groups(of: Estimated, line: Line, most: int | None, axes: Sequence[Axis], survey: bool) -> pd.DataFrame:
    """The answers to a question that is asked within groups: see `estimators.ratio_answers`."""
    assert line.asked is not None
    shown = None if of.estimate.unbiased else of.estimate
    given = (of.mechanism, of.based_on, of.level, KINDS[of.kind], of.users, shown, of.drawn)
    tables = ratios_of(line.asked, axes, survey, most)
    found = pd.concat([ratio_answers(own, *given) for own in tables], ignore_index=True)
    queries = np.concatenate([own.queries_of for own in tables])
    variances = largest_variances(of.mechanism, line.told, queries) / line.told.query_weights(queries) ** 2
    off = line.unit.off * (2 if line.difference else 1)
    return found.assign(
        query=queries,
        low=found["low"] - off,
        high=found["high"] + off,
        promised=line.unit.factor * np.sqrt(variances / of.users),
    )


def _judged(found: pd.DataFrame, line: Line, users: float) -> pd.DataFrame:
    """The answers with what is said of them. None is usable that cannot be, or has no interval."""
    many = users if line.unit.total else 1.0
    errors, target = found["standard_error"].to_numpy() / many, line.target
    finds, said = np.full(len(found), np.nan), np.full(len(found), "", dtype=object)
    if isinstance(target, Detect):
        drawn = 0.0 if line.rates is None else line.drawn.sum(axis=0)[found["query"]] / users
        finds = reach(target) * np.sqrt(errors**2 + drawn)
        enough = np.where(finds <= target.difference, "none found", "too few people")
        said = np.where((found["low"] > 0) | (found["high"] < 0), "found", enough)
        verdict = verdicts.judge(finds, target.difference)
    else:
        most = verdicts.largest_error(target, found["answer"]) if line.key in (POINTS, OF_GROUP) else target
        verdict = verdicts.judge(errors + line.unit.off, most)
    least, largest = line.possible
    impossible = (found["answer"] < least * many) | (found["answer"] > largest * many) | found["low"].isna()
    verdict = np.where(impossible & (errors > 0), verdicts.NOISE, verdict)
    said = np.where(impossible, "" if not isinstance(target, Detect) else "too few people", said)
    goal = target.difference if isinstance(target, Detect) else target * many
    about = {
        "question": line.question,
        "unit": line.key,
        "target": goal,
        "finds": finds,
        "verdict": verdict,
        "found": said,
    }
    return found.assign(**about)


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
