"""The answers to one question, in its unit, with intervals: about everybody, or within groups (`ldp_core.estimators.ratios`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core.estimators.confidence import Intervals, intervals
from ldp_core.estimators.ratios import ratio_answers
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.workloads import Line
from ldp_core.workloads.answers import ratios_of
from ldp_core.workloads.shown import spread

_POINT, _KNOWN = 1e-6, 1e-6
"""Parts of a standard error, and standard errors for one person, that are rounding alone."""


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates from the reports of some people, and what is wanted of intervals.

    Attributes
    ----------
    estimate : to answer by. based_on : the unbiased one from the same reports, whose intervals are taken.
    users : how many reports there are. level, find : of the intervals, and what finds them.
    drawn : whether they are for the population that people were drawn from.
    occasions : reports of each person, of which answers are the average.
    times : (types,) weights of the people in each group to a population of so many ``people``; ``weighted`` answers with these.
    """

    mechanism: Mechanism
    estimate: Estimate
    based_on: Estimate
    users: int
    level: float = 0.95
    find: Callable[..., Intervals] = intervals
    drawn: bool = False
    occasions: int = 1
    times: np.ndarray | None = None
    people: float | None = None
    weighted: Callable[..., np.ndarray] | None = None


def line_answers(line: Line, survey: bool, given: Estimated, most: int | None = None) -> pd.DataFrame:
    """The answers to a question, about ``most`` of them (None: all).

    Parameters
    ----------
    line : the question.
    survey : whether answers come from tables of a few attributes.
    given : the estimate, of which mechanism, and which intervals are asked for.

    Returns
    -------
    DataFrame
        ``query``, ``name``, ``answer``, ``low``, ``high``, ``method`` (of the interval), ``standard_error``, ``unbiased``, in the unit of the answers;
        ends are NaN where there is no interval. About everybody also ``promised``, the most that the standard error can be for so many people.
        Last ``identified``: whether the sizes of groups are known well enough to use the answer.
    """
    if line.group_question is None:
        return _about_everybody(line, given, most)
    shown = None if given.estimate.unbiased else given.estimate
    about = (given.mechanism, given.based_on, given.level, given.find, given.users)
    tables = ratios_of(line.group_question, survey, most)
    whose = (shown, given.drawn, given.times, given.weighted)
    found = pd.concat([ratio_answers(table, *about, *whose) for table in tables], ignore_index=True)
    queries = np.concatenate([table.queries_of for table in tables])
    return found.assign(query=queries, low=found["low"] - line.bins, high=found["high"] + line.bins)


def _about_everybody(line: Line, of: Estimated, most: int | None) -> pd.DataFrame:
    workload, unit = line.workload, line.unit
    chosen = np.arange(workload.num_queries) if most is None else spread([workload.num_queries], most)[0]
    about = (of.mechanism, workload, of.based_on, of.level, chosen, of.users)
    found = of.find(*about, of.drawn) if of.times is None else intervals(*about, of.drawn, of.times)

    def answered_by(estimate: Estimate) -> np.ndarray:
        return (
            estimate.answers(workload, chosen)
            if of.weighted is None
            else of.weighted(estimate, workload=workload, queries=chosen)
        )

    users = of.users / of.occasions if of.people is None else of.people
    weights, answered = workload.query_weights(chosen) * of.occasions, answered_by(of.estimate)
    low, high = np.minimum(found.ends[:, 0], answered), np.maximum(found.ends[:, 1], answered)
    if of.estimate.unbiased:
        low, high = found.ends.T
    size = np.maximum(
        1.0, np.abs(answered) / (weights * users)
    )  # to which the rounding of numbers other than 0 and 1 is in proportion
    in_doubt = found.most / weights > _KNOWN * size * users * of.occasions / of.users**0.5
    point = np.ptp(found.ends, axis=1) <= _POINT * found.most  # cut to what is possible, nothing was left
    low, high = (np.where(point & in_doubt, np.nan, end) for end in (low, high))
    many = users if unit.total else 1.0
    scale, start, off = many * unit.factor / (weights * users), many * unit.middle, many * line.bins
    return pd.DataFrame(
        {
            "query": chosen,
            "name": [workload.query_name(int(query)) for query in chosen],
            "answer": start + scale * answered,
            "low": start + scale * low - off,
            "high": start + scale * high + off,
            "method": found.methods.astype(str),
            "standard_error": np.where(in_doubt, scale * found.errors, 0.0),
            "promised": np.where(in_doubt, scale * found.most, 0.0),
            "unbiased": start + scale * answered_by(of.based_on),
            "identified": True,
        }
    )
