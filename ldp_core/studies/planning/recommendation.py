"""The recommended mechanism, by a rule that can be stated in a sentence, with the figures of all of
them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, frames, library, verdicts, wording
from ldp_core.library import Spec
from ldp_core.mechanisms import Mechanism
from ldp_core.people import Counts, users_of
from ldp_core.privacy import check_epsilon
from ldp_core.run import Cancel, asked
from ldp_core.studies import sweep
from ldp_core.studies.planning.solve import default_bound, given
from ldp_core.studies.sweep import Cache, Outcome, SweepPoint
from ldp_core.workloads import Workload

TOLERANCE = 0.05
"""Mechanisms that need at most this share more users than the best count as equally good; the simplest of them is taken."""
NEGLIGIBLE = 5e-4
"""Smaller shares are left out of sentences."""
NOT_FITTED = "Not fitted yet, so its figures are not known."

COLUMNS = [
    "name",
    "users_needed",
    "bits",
    "gap",
    "fitted",
    "pure",
    "user_cost",
    "collector_cost",
    "standard_error",
    "typical",
    "note",
]


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The mechanism to take (None when there is none), why in ``sentences``, and the figures of all in ``ranking``.

    ``ranking`` has one row per mechanism, fewest users first: name, users_needed (worst case, not rounded), bits of a
    report, gap (how many more users than the bound allows, as a share), fitted (made to measure), pure (not (epsilon,
    delta)), user_cost and collector_cost in words, standard_error of a typical query with these users in the worst case and the
    verdict on it as ``typical`` (nan and "" when their number was not given), and a note that says why the mechanism was passed over.
    ``answers`` counts the verdicts on all answers of the mechanism to take (None where these were not judged).
    """

    name: str | None
    sentences: tuple[str, ...]
    ranking: pd.DataFrame
    answers: verdicts.Tally | None = None

    def __repr__(self) -> str:
        many = len(self.ranking)
        return f"<Recommendation: {self.name or 'none'} of {many} mechanism{'' if many == 1 else 's'}>"


def recommend(
    workload: Workload,
    epsilon: float,
    users: float | None = None,
    alpha: float = analysis.DEFAULT_ALPHA,
    candidates: Sequence[str] | None = None,
    fitted: Mapping[str, Mechanism] | None = None,
    floor: float | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    results: Cache | None = None,
    cancel: Cancel | None = None,
    counts: Counts | None = None,
) -> Recommendation:
    """Picks one of ``candidates`` (by default all mechanisms). This function fits nothing:
    mechanisms that need a fit take part when they are in ``fitted``, for this number of types and
    epsilon.

    **The rule.** Those whose privacy is pure and that can answer the workload are compared by the users they need in the worst case. Among all within 5 % of the fewest users, a closed form
    is preferred, then the shortest reports, then the fewest users.

    ``floor`` is a worst-case variance per user that no unbiased epsilon-LDP mechanism goes below; by default a bound that
    takes seconds is computed. ``results`` keeps and lends figures, as in a sweep. Once cancelled, it recommends from the
    figures it has. With ``users``, the answers are judged for people spread like ``counts`` (n,), evenly by default, by the
    target error that ``alpha`` stands for (see `ldp_core.verdicts`).
    """
    epsilon = check_epsilon(epsilon)
    if floor is None:
        limit = sweep.computed(SweepPoint(default_bound(workload), workload, epsilon), results, cancel)
        floor = limit.worst_case if limit is not None else 0.0
    rows, parameters, fitted = [], parameters or {}, fitted or {}
    for name in library.names() if candidates is None else candidates:
        point = SweepPoint(name, workload, epsilon, parameters.get(name, {}))
        outcome = given(fitted.get(name), point) or _computed(point, results, cancel)
        if outcome is None:
            break
        rows.append(_row(library.spec(name), outcome, workload, alpha, users, floor))
    ranking = pd.DataFrame(rows, columns=COLUMNS).sort_values("users_needed", ignore_index=True, kind="stable")
    eligible = ranking[ranking["note"] == ""]
    if not len(eligible):
        return Recommendation(None, ("None of these mechanisms can be used here; the notes say why.",), ranking)
    best = eligible.iloc[0]
    near = eligible[eligible["users_needed"] <= best["users_needed"] * (1 + TOLERANCE)]
    chosen = near.sort_values(["fitted", "bits", "users_needed"], kind="stable").iloc[0]
    unfitted = [row["name"] for row in rows if row["note"] == NOT_FITTED and row["pure"]]
    name, answers = chosen["name"], None
    if users and not asked(cancel)():
        built = fitted[name] if chosen["fitted"] else None
        built = built or library.create(name, workload.n, epsilon, workload, **parameters.get(name, {}))
        answers = _judged(built, workload, users, counts, math.sqrt(alpha))
    said = partial(verdicts.error_in_words, workload, users=users or 1.0)
    sentences = _sentences(chosen, best, unfitted, epsilon, said(math.sqrt(alpha)), said, users, answers)
    return Recommendation(name, tuple(sentences), ranking, answers)


def _judged(
    mechanism: Mechanism, workload: Workload, users: float, counts: Counts | None, target: float
) -> verdicts.Tally | None:
    """The verdicts on all answers, counted; None where single answers take too long."""
    if counts is None and workload.survey is not None:  # no one has a number for each of its types
        return None
    people = np.ones(workload.n) if counts is None else counts
    try:
        errors = verdicts.standard_errors(mechanism, workload, people)
    except ValueError:
        return None
    errors *= math.sqrt(users_of(people) / users)  # variances are proportional to the number of people
    sizes = verdicts.sizes_of(workload, people, verdicts.judged_queries(workload))
    return verdicts.tally(errors, verdicts.limits(target, sizes), workload.num_queries)


def _computed(point: SweepPoint, results: Cache | None, cancel: Cancel | None) -> Outcome | None:
    spec = library.spec(point.name)
    if not spec.fitted:
        return sweep.computed(point, results, cancel)
    return Outcome(reason=spec.unsuitable(point.workload.n, point.epsilon, point.workload) or NOT_FITTED)


def _row(
    spec: Spec, outcome: Outcome, workload: Workload, alpha: float, users: float | None, floor: float
) -> dict[str, Any]:
    needed, least = (analysis.users_for(v, workload.squared_weights, alpha) for v in (outcome.worst_case, floor))
    known = not outcome.reason
    error = math.sqrt(needed * alpha / users) if users and known else math.nan
    passed_over = "" if not spec.delta else "Its privacy is (epsilon, delta), weaker than the others'."
    gap = frames.gap(needed, least) if known and floor > 0 else math.nan
    typical = str(verdicts.judge(np.array([error]), math.sqrt(alpha))[0])
    figures = (spec.name, needed, outcome.bits, gap, spec.fitted, not spec.delta, spec.user_cost, spec.collector_cost)
    return dict(zip(COLUMNS, (*figures, error, typical, outcome.reason or passed_over), strict=True))


def _sentences(
    chosen: pd.Series,
    best: pd.Series,
    unfitted: Sequence[str],
    epsilon: float,
    target: str,
    said: Callable[[float], str],
    users: float | None,
    answers: verdicts.Tally | None,
) -> Iterator[str]:
    """The users needed, then why not the mechanism with the fewest, then costs, the gap, and what is not known."""
    title, people = (
        library.spec(chosen["name"]).title,
        f"your {wording.count(users or 0)} user{'' if users == 1 else 's'}",
    )
    yield (
        f"Take {title}: at epsilon {epsilon:g} it needs {wording.users(chosen['users_needed'])} for a standard error of "
        f"{target} in a typical answer, whatever values people have."
    )
    if users and answers is not None:
        yield f"With {people}: {answers.in_words()}"
    elif users:
        yield (
            f"With {people}, a typical answer is {chosen['typical']} ({said(chosen['standard_error'])}); single answers were "
            "not judged."
        )
    if chosen["name"] != best["name"]:
        more = chosen["users_needed"] / best["users_needed"] - 1
        how = wording.more_users(more) if more > NEGLIGIBLE else "as many users as"
        why = "has to be fitted" if best["fitted"] and not chosen["fitted"] else "sends longer reports"
        yield f"It needs {how} {library.spec(best['name']).title}, which {why}."
    else:
        yield "No other mechanism whose figures are known here needs fewer users."
    yield (
        f"A report has {wording.significant(chosen['bits'])} bits. Work for a person: {chosen['user_cost']}; for the collector: "
        f"{chosen['collector_cost']}."
    )
    gap = chosen["gap"]
    if gap <= NEGLIGIBLE:
        yield "No unbiased epsilon-LDP mechanism needs fewer users: this is the best possible."
    elif math.isfinite(gap):
        yield f"It needs at most {wording.more_users(gap)} the best possible unbiased epsilon-LDP mechanism."
    if caveat := library.spec(chosen["name"]).caveat:
        yield caveat
    if unfitted and not gap <= TOLERANCE:
        names = ", ".join(library.spec(name).title for name in unfitted)
        yield f"Not fitted yet, and perhaps better: {names}."
