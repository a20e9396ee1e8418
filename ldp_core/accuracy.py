"""How accurate each answer is that was asked, in its own unit: its standard error, the verdict, and
the people that it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldp_core import bounds, limits, optimize
from ldp_core import errors as single
from ldp_core.cases import Case
from ldp_core.data.population import expected_people
from ldp_core.detection import Contrasts, contrasts_of
from ldp_core.limits import MOST_JUDGED_QUERIES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, checked_counts, dense, people_of, users_of
from ldp_core.run import Cancel
from ldp_core.verdicts import NOISE, USABLE, judge, largest_error, line_in_words
from ldp_core.workloads import (
    AllMarginals,
    AllRange,
    Detect,
    Histogram,
    KWayMarginals,
    Line,
    Predicates,
    Prefix,
    Questionnaire,
    Unit,
    WidthRange,
    Workload,
    assembled,
)
from ldp_core.workloads.answers import LARGEST_SIZE_ERROR
from ldp_core.workloads.base import check_workload
from ldp_core.workloads.shown import shown_queries
from ldp_core.workloads.units import DEFAULT_ALPHA, OF_GROUP, POINTS

NUMBERS = ("answers", "users", "value", "standard_error", "bins", "finds", "usable", "judged", "target", "alone")
"""The columns of `question_lines` that are numbers."""
EXPECTED_USERS = 10_000
"""People who are expected where no one said how many."""


def answers(
    mechanism: Mechanism, workload: Workload, counts: Counts | None = None, case: Case | None = None
) -> pd.DataFrame:
    """Each answer that was asked, with its error, in its own unit.

    Parameters
    ----------
    mechanism : Mechanism
        Of the types of ``workload``.
    workload : Workload
        Made by `ldp_core.workloads.over_attributes`; any other asks all its queries as one
        question, in percentage points.
    counts : Counts, optional
        (n,) planning data, or `People`; `EXPECTED_USERS` spread evenly by default.
    case : Case, optional
        Whose error counts; by default that of the people ``counts``.

    Returns
    -------
    DataFrame
        One row an answer (of many, some that are evenly spread): ``line``, ``query``, ``question``,
        ``name``, ``group`` (that it is in; "" for everybody), ``unit``, ``value`` (what it is in
        the planning data), ``standard_error``, ``bins`` (the most that middles of bins may add to
        that), ``target``, ``finds`` (the smallest difference that is found with the power asked
        for; NaN where none is to be detected) and ``verdict``. The error is NaN in groups without
        people.
    """
    counts = _people(workload, counts)
    return pd.concat(
        [_of_line(mechanism, line, k, counts, case) for k, line in enumerate(questionnaire_of(workload).lines)],
        ignore_index=True,
    )


def question_lines(
    mechanism: Mechanism, workload: Workload, counts: Counts | None = None, case: Case | None = None
) -> pd.DataFrame:
    """Each question with what it comes to: what it is now, its error, the verdict, and its error if
    nothing else were asked. Parameters as for `answers`.

    Returns
    -------
    DataFrame
        One row a question: ``question``, ``answers`` (how many), ``unit``, ``users`` (how many
        people there are), ``value`` (of a single answer; NaN without planning data),
        ``standard_error``, ``bins`` and ``finds`` (the largest), ``usable``
        (how many of those judged), ``judged``, ``verdict`` (of a single answer), ``target``,
        ``met`` (whether it meets that), ``alone``, ``at_best`` (see `alone`; NaN where there is one
        question) and ``in_words``, the line that `ldp_core.verdicts.line_in_words` writes.
    """
    questionnaire, known = questionnaire_of(workload), counts is not None
    found, people = answers(mechanism, workload, counts, case), _people(workload, counts)
    singly = (
        [alone(questionnaire, line, mechanism.epsilon, people, case) for line in questionnaire.lines]
        if len(questionnaire.lines) > 1
        else None
    )
    needed = [needed_by(mechanism, line, people, case) for line in questionnaire.lines]
    return lines_of(questionnaire, found, needed, users_of(people), singly, [known] * len(questionnaire.lines))


def alone(
    questionnaire: Questionnaire,
    line: Line,
    epsilon: float,
    counts: Counts,
    case: Case | None = None,
    search: bool = True,
    cancel: Cancel | None = None,
) -> tuple[float, bool]:
    """The error of a question if nothing else were asked.

    Parameters
    ----------
    questionnaire : Questionnaire
        All questions.
    line : Line
        The one that is asked alone.
    epsilon : float
        Of its report.
    counts, case : Counts, Case
        See `answers`.
    search : bool
        Whether to look for a mechanism where that takes under three seconds.
    cancel : Cancel, optional
        See `ldp_core.run`.

    Returns
    -------
    error : float
        The largest standard error of its answers, in their unit; NaN where nothing is known of it.
    at_best : bool
        Whether that is the least that is proved of every unbiased mechanism, as a search takes
        longer.
    """
    try:
        workload = assembled(line.design, questionnaire.axes)
    except ValueError:  # the collector knows the answers
        return 0.0, False
    prior = None if case is None or case.prior is None or case.uniform else case.prior
    size = max(local.working_types for local in ((workload,) if workload.strata is None else workload.strata.designs))
    alike = prior is None and workload.symmetry in ("hamming", "exchangeable") and not too_many_types(line.workload)
    if search and (size <= limits.MOST_ALONE_TYPES or alike):
        made = optimize.design(workload, epsilon, time_limit=None, max_rounds=10, prior=prior, cancel=cancel)
        return float(_of_line(made.mechanism(), line, 0, counts, case)["standard_error"].max()), False
    try:
        return _least_error(line, epsilon, counts, case), True
    except ValueError:
        return math.nan, True


def _least_error(line: Line, epsilon: float, counts: Counts, case: Case | None) -> float:
    """A root mean square of the errors of all answers to a question, and so the largest of them, is
    at least this for every unbiased mechanism."""
    workload, users = line.workload, float(users_of(counts))
    if workload.survey is not None and workload.strata is not None:
        variance = bounds.worst_case_variance(workload, epsilon)
    elif workload.survey is not None or (case is not None and (case.prior is None or case.uniform)):
        variance = (bounds.centred_svd(workload, epsilon) - workload.trace) / workload.n
    else:
        prior = dense(counts) / users if case is None or case.prior is None else case.prior
        variance = bounds.average_variance(bounds.centred_svd(workload, epsilon, prior), workload, prior)
    many = workload.squared_weights if line.rates is None else len(line.answered)
    error = line.unit.factor * math.sqrt(max(0.0, variance) / many / users)
    return (users if line.unit.total else 1.0) * error or math.nan


def lines_of(
    questionnaire: Questionnaire,
    table: pd.DataFrame,
    needed: Sequence[float],
    users: float,
    singly: Sequence[tuple[float, bool]] | None = None,
    known: Sequence[bool] | None = None,
) -> pd.DataFrame:
    """The rows of `question_lines` from those of `answers`, what each question needs
    (see `needed_by`) of so many ``users``, what each would be ``singly`` (see `alone`), and whether
    its value is ``known``."""
    rows = []
    for k, line in enumerate(questionnaire.lines):
        part = table[table["line"] == k]
        one_answer = line.workload.num_queries == 1
        error, at_best = singly[k] if singly else (math.nan, False)
        rows.append(
            {
                "question": line.title,
                "answers": line.workload.num_queries,
                "unit": line.key,
                "users": round(users),
                "value": part["value"].iloc[0] if one_answer and (known is None or known[k]) else math.nan,
                "standard_error": part["standard_error"].max(),
                "bins": part["bins"].max(),
                "finds": part["finds"].max(),
                "usable": int((part["verdict"] == USABLE).sum()),
                "judged": int((part["verdict"] != "").sum()),
                "verdict": part["verdict"].iloc[0] if one_answer else "",
                "target": part["target"].iloc[0],
                "met": bool(
                    needed[k] <= users * (1 + 1e-9) and part["bins"].max() <= part["target"].iloc[0] * (1 + 1e-9)
                ),
                "alone": error,
                "at_best": at_best,
            }
        )
        rows[-1]["in_words"] = line_in_words(rows[-1])
    return pd.DataFrame(rows)


def people_needed(
    mechanism: Mechanism, workload: Workload, counts: Counts | None = None, case: Case | None = None
) -> float:
    """How many people it takes until each question meets its target. Parameters as for `answers`.

    Returns
    -------
    float
        In people: the largest, over the lines of the questions, of the mean over its answers of
        their squared errors in targets, a person; an answer to detect a difference is a line of its
        own.
    """
    if counts is None and case is not None and case.prior is not None:
        counts = case.prior * EXPECTED_USERS
    counts = _people(workload, counts)
    return max(needed_by(mechanism, line, counts, case) for line in questionnaire_of(workload).lines)


def needed_variance(
    mechanism: Mechanism, workload: Workload, counts: Counts | None = None, case: Case | None = None
) -> float:
    """The variance with which `people_needed` would be what a single question needs. Parameters as
    for `answers`.

    Returns
    -------
    float
        Total variance a person: it falls with the squared target and the people as a variance does.
        Of questions that were not made by `over_attributes` it is their variance.
    """
    if workload.questionnaire is None:
        return _variance(mechanism, workload, _people(workload, counts), case)
    return people_needed(mechanism, workload, counts, case) * workload.questionnaire.norm


def questionnaire_of(workload: Workload) -> Questionnaire:
    """The questions of a workload; one that was not made of questions asks for shares of everybody,
    within 10 percentage points."""
    if workload.questionnaire is not None:
        return workload.questionnaire
    target = 100 * math.sqrt(DEFAULT_ALPHA)
    weighted = workload.squared_weights * DEFAULT_ALPHA
    counting = isinstance(
        workload, Histogram | Prefix | AllRange | WidthRange | AllMarginals | KWayMarginals | Predicates
    )
    unit = Unit() if counting else Unit(span=math.inf, least=-math.inf)
    line = Line(workload.title, unit, workload, ((workload, 1.0),), target=target)
    return Questionnaire((line,), workload, weighted)


def needed_by(mechanism: Mechanism, line: Line, counts: Counts, case: Case | None) -> float:
    """The people that one question needs. The errors of ratios are larger by their second order,
    ``1 + 3 CV(b)^2``, which falls with the people too."""
    queries = line.answered
    if isinstance(line.target, Detect):
        compared, target = contrasts(mechanism, line, counts, case), line.target
        users = compared.users(target.difference / line.unit.factor, target.power, target.level)
        return float(np.nanmax(users[queries], initial=0.0))
    many = line.workload.squared_weights if line.rates is None else len(queries)
    scale = (line.unit.factor / line.standard_error) ** 2 / many
    needed = scale * _variance(mechanism, line.workload, counts, case)
    if line.group_sizes is None:
        return needed
    variances = _variances(mechanism, line.workload, counts, case, queries)
    second = scale * float(variances @ size_variances(mechanism, line, counts, case, queries))
    return (needed + math.sqrt(needed**2 + 12 * second)) / 2


def contrasts(mechanism: Mechanism, line: Line, counts: Counts, case: Case | None) -> Contrasts:
    """The differences that a question asks for, in a case: but for that of the people themselves,
    nothing is taken of ``counts``."""
    if case is None or case.name == "people":
        return contrasts_of(mechanism, line, counts)
    noise = _variances(mechanism, line.workload, counts, case, np.arange(line.workload.num_queries))
    return contrasts_of(mechanism, line, case.prior, noise)


def _people(workload: Workload, counts: Counts | None) -> Counts:
    check_workload(workload)
    if counts is not None:
        survey = workload.survey
        return checked_counts(counts, workload.n) if survey is None else people_of(counts, survey.shape)
    if workload.survey is None:
        return np.full(workload.n, EXPECTED_USERS / workload.n)
    return expected_people("uniform", workload.survey.shape, EXPECTED_USERS)


def _of_line(mechanism: Mechanism, line: Line, k: int, counts: Counts, case: Case | None) -> pd.DataFrame:
    users, unit = float(users_of(counts)), line.unit
    queries = judged_queries(line.workload)
    values = line.values(counts, queries)
    variances = _variances(mechanism, line.workload, counts, case, queries) / users
    identified = np.ones(len(queries), dtype=bool)
    if line.rates is not None:
        variances = np.where(np.isfinite(values), variances, np.nan)
    if line.group_sizes is not None:
        relative = size_variances(mechanism, line, counts, case, queries) / users
        variances, identified = variances * (1 + 3 * relative), relative <= LARGEST_SIZE_ERROR**2
    errors, finds, target = unit.factor * np.sqrt(variances), np.full(len(queries), np.nan), line.target
    if isinstance(target, Detect):
        compared = contrasts(mechanism, line, counts, case)
        finds = unit.factor * compared.difference(users, target.power, target.level)[queries]
        finds = np.where(np.isfinite(errors), finds, np.nan)
        verdicts = judge(finds + line.bins, line.goal)
    else:
        verdicts = judge(
            errors + line.bins, largest_error(target, values) if line.key in (POINTS, OF_GROUP) else target
        )
    verdicts = np.where(identified | (verdicts == ""), verdicts, NOISE)
    many = users if unit.total else 1.0
    numbers = {"value": many * values, "standard_error": many * errors, "bins": many * line.bins}
    goals = {"target": many * line.goal, "finds": many * finds}
    names = [line.workload.query_name(int(query)) for query in queries]
    said = {"line": k, "query": queries, "question": line.title, "name": names, "group": line.groups_of(queries)}
    return pd.DataFrame({**said, "unit": line.key, **numbers, **goals, "verdict": verdicts})


def judged_queries(workload: Workload) -> np.ndarray:
    """The indices of the queries that are judged: all of them, or some, evenly spread."""
    p = workload.num_queries
    return np.arange(p) if p <= MOST_JUDGED_QUERIES else shown_queries(workload)


def too_many_types(workload: Workload) -> str:
    """Why the answers are not judged one by one; empty where they are."""
    if workload.working_types <= limits.MOST_EXACT_TYPES:
        return ""
    return (
        f"Single answers are judged for at most {limits.MOST_EXACT_TYPES:,} types; there are {workload.working_types:,} here. Simulate shows how accurate "
        "some are, or use coarser bins."
    )


def _variance(mechanism: Mechanism, workload: Workload, counts: Counts, case: Case | None) -> float:
    """Total variance a person, in a case."""
    if case is None or case.name == "people":
        return mechanism.variance_on(workload, counts) / users_of(counts)
    return case.variance(mechanism.variance_profile(workload))


def _variances(
    mechanism: Mechanism, workload: Workload, counts: Counts, case: Case | None, queries: np.ndarray
) -> np.ndarray:
    """(q,) the variance of each answer a person, in a case: of the worst type, or on average."""
    if case is None or case.name == "people":
        return single.variances_of(mechanism, workload, counts, queries) / users_of(counts)
    if case.prior is not None:
        return single.variances_of(mechanism, workload, case.prior, queries)
    return single.largest_variances(mechanism, workload, queries) / workload.query_weights(queries) ** 2


def size_variances(
    mechanism: Mechanism, line: Line, counts: Counts, case: Case | None, queries: np.ndarray
) -> np.ndarray:
    """(q,) the squared relative error of the size of the secret group of each answer, times the
    people: the larger one of its two sides."""
    assert line.cells is not None
    assert line.group_sizes is not None
    assert line.rates is not None
    cells, sizes = np.unique(line.cells[:, queries]), line.rates.sizes[:, queries]
    variances = dict(zip(cells.tolist(), _variances(mechanism, line.group_sizes, counts, case, cells), strict=True))
    by_cell = np.vectorize(variances.__getitem__, otypes=[float])(line.cells[:, queries])
    return np.asarray((by_cell / np.where(sizes > 0, sizes, np.inf) ** 2).max(axis=0))
