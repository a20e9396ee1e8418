"""The answers that a collection gives, with intervals, beside what the design promised."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import errors as single
from ldp_core import verdicts
from ldp_core.analysis import questionnaire_of
from ldp_core.arguments import check_choice
from ldp_core.deploy.collector import population
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators import Estimated, Intervals, apply, estimated_total, intervals, line_answers
from ldp_core.estimators.sequences import any_time
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads import Detect, Line, Workload
from ldp_core.workloads.units import OF_GROUP, POINTS, reach

KINDS: dict[str, Callable[..., Intervals]] = {"fixed": intervals, "any_time": any_time}
"""Intervals for one look at the answers, and for as many as one likes."""


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
    sizes: pd.Series | np.ndarray | None = None,
    **options: Any,
) -> pd.DataFrame:
    """The answers of a ``collection``, question by question, each in the unit of its question.

    Parameters
    ----------
    collection, mechanism, workload : reports, of this mechanism; the questions.
    estimator, options : of `estimators.apply`. Biased ones have the interval of the unbiased estimate from the same reports, widened where
        the answer lies beyond.
    level, kind : of the intervals, one of `KINDS`.
    most : where there are more answers in all, about how many to give, evenly spread over those of each question; all by default.
    occasions : how many reports of each person are in the collection, each of an occasion of its own; answers are the average of these.
    drawn : whether intervals are for the population that people were drawn from, or for those who reported.
    sizes : (K,) the people of a population in each of the groups that the collector knows. Answers about everybody are of this
        population: see `population.weights`; which groups people are in is then no chance.

    Returns
    -------
    DataFrame
        One row an answer. The columns of `line_answers` but the last: ``answer`` with ``low`` and ``high``, an interval that holds the true
        answer with a probability of at least ``level``, bins included (NaN where there is none), the ``standard_error`` of the ``unbiased``
        answer from the same reports, for people as they were estimated, and ``promised``, its most for this number of people, whatever their
        values. Then ``line``, ``question``, ``group``, ``unit``, ``target``, ``finds``, ``verdict`` (of `verdicts`), ``found`` (of a difference to
        detect: "found", "none found" or "too few people") and ``adds_up_to`` (the people that answers together add up to, see `estimated_total`).

    Raises
    ------
    ValueError
        For a collection without reports or of another mechanism, and an estimator or workload that does not suit it.
    """
    check_choice("kind of intervals", kind, KINDS)
    if not collection.users:
        raise ValueError("This collection holds no reports yet: collect at least one file of this design.")
    mechanism.check_supports(workload)
    if drawn and occasions > 1:
        raise ValueError("Intervals for the population that people were drawn from take one report of each person.")
    if sizes is not None and kind != "fixed":
        raise ValueError("Weights to a population are for one look, at the end.")
    unbiased = mechanism.estimate(collection.reports)
    estimate = apply(estimator, collection.reports, mechanism, workload, unbiased, **options)
    lines = questionnaire_of(workload).lines
    times = None if sizes is None else population.weights(mechanism, collection.reports, sizes) * occasions
    based_on = estimate if estimate.unbiased else unbiased
    given = Estimated(mechanism, estimate, based_on, collection.users, level, KINDS[kind], drawn, occasions, times)
    if sizes is not None and times is not None:
        given = replace(
            given, people=float(sizes.sum()), weighted=partial(population.weighted, mechanism=mechanism, times=times)
        )
    many = sum(line.workload.num_queries for line in lines)
    room = None if most is None or many <= most else max(1, most // len(lines))
    frames = []
    for k, line in enumerate(lines):
        about = (line, workload.survey is not None)
        found = line_answers(*about, given, room)
        tested = found
        if isinstance(line.target, Detect) and not math.isclose(line.target.level, 1 - level):  # it has its own level
            tested = line_answers(*about, replace(given, level=1 - line.target.level), room)
        found["found"] = (tested["low"] > 0) | (tested["high"] < 0)
        frames.append(_judged(_promised(found, line, given), line, collection.users / occasions).assign(line=k))
    return pd.concat(frames, ignore_index=True).assign(adds_up_to=estimated_total(estimate, workload) / occasions)


def _promised(found: pd.DataFrame, line: Line, of: Estimated) -> pd.DataFrame:
    """With the most that the standard errors are for this number of people, whatever their values."""
    if "promised" in found:
        return found
    queries = found["query"].to_numpy()
    variances = (
        single.largest_variances(of.mechanism, line.workload, queries) / line.workload.query_weights(queries) ** 2
    )
    return found.assign(promised=line.unit.factor * np.sqrt(variances / of.users))


def _judged(found: pd.DataFrame, line: Line, users: float) -> pd.DataFrame:
    """The answers with what is said of them. None is usable that cannot be, has no interval, or is in a group of who knows what size."""
    many, (least, largest) = users if line.unit.total else 1.0, line.possible
    errors, target = found["standard_error"].to_numpy() / many, line.target
    answer, bins = found["answer"] / many, line.bins
    impossible = ((answer < least) | (answer > largest)) & (
        errors != 0
    )  # what is known without a report is so but for rounding
    useless = impossible | found["low"].isna() | ~found["identified"]
    finds, said = np.full(len(found), np.nan), np.full(len(found), "", dtype=object)
    goal = line.goal
    if isinstance(target, Detect):
        queries = found["query"].to_numpy()
        drawn = (
            line.unit.factor**2 * single.of_queries(line.workload, None, queries)
            if line.rates is None
            else line.drawn.sum(axis=0)[queries]
        )
        finds = reach(target) * np.sqrt(errors**2 + drawn / users)
        verdict = verdicts.judge(finds + bins, goal)
        enough = np.where(finds + bins <= goal, "none found", "too few people")
        said = np.where(useless, "too few people", np.where(found["found"], "found", enough))
    else:
        most = verdicts.largest_error(target, answer) if line.key in (POINTS, OF_GROUP) else target
        verdict = verdicts.judge(errors + bins, most)
    about = {
        "question": line.title,
        "group": line.groups_of(found["query"].to_numpy()),
        "unit": line.key,
        "target": many * goal,
        "finds": many * finds,
    }
    verdict = np.where(useless, verdicts.NOISE, verdict)
    return found.drop(columns="identified").assign(**about, verdict=verdict, found=said)
