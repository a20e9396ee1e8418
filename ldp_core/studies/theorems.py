"""The papers' theorems applied to one design, on one axis: their numbers, the exact error of its
mechanism beside them, and the distance between the two.

Errors are averages over people spread evenly over the types, in squared users summed over the weighted queries, for one user
(see `ldp_core.bounds.theorems.statements`); errors of shares and users needed follow from them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ldp_core import analysis, bounds
from ldp_core.bounds.theorems.scope import histogram_of
from ldp_core.bounds.theorems.statements import STATEMENTS, WORST_FROM_AVERAGE, Setting, Statement
from ldp_core.limits import MOST_THEOREM_USERS
from ldp_core.workloads import Workload


@dataclass(frozen=True, eq=False)
class Entry:
    """A statement applied to a design.

    Attributes:
        reason: why it says nothing here, in a sentence; empty where it does.
        variance: its total squared error per user; None where it says nothing, or is costly and has not been computed.
        exact: that of the design's mechanism, about the same people or population; None where it is not known.
        users_needed: for the target error, by this statement; inf where it never allows it.
    """

    statement: Statement
    setting: Setting
    reason: str = ""
    variance: float | None = None
    exact: float | None = None
    users_needed: float | None = None

    @property
    def ratio(self) -> float | None:
        """The exact error over the number of the statement, both squared; None where there is none."""
        if self.variance is None or self.exact is None or self.variance == 0 or self.statement.order_only:
            return None
        return self.exact / self.variance

    @property
    def standard_error(self) -> float | None:
        """The error of a typical query, as a share of all users."""
        return None if self.variance is None else share(self.variance, self.setting)

    @property
    def alike(self) -> bool:
        """True if it is about the same error as the exact one: of answers about the people, with no unknown constant."""
        return not (self.statement.of_population or self.statement.order_only)


def share(variance: float, setting: Setting) -> float:
    """The standard error of a typical query, as a share of all users, of a total squared error per user."""
    return math.sqrt(variance / (setting.workload.squared_weights * setting.users))


def entries(
    setting: Setting,
    alpha: float,
    exact: float | None,
    known: Mapping[str, float],
    worst: float | None = None,
    case: tuple[float | None, Mapping[str, float]] | None = None,
) -> list[Entry]:
    """Every statement applied to a ``setting``; users needed are for the mean squared error
    ``alpha`` of a share.

    ``exact`` is the average variance per user of the setting's mechanism and ``worst`` that of its worst type, None where it is
    not known; ``known`` holds costly numbers that have been computed, by the names of statements.
    ``case`` is about the people that the design is for: the variance per user of the mechanism, and what no mechanism goes below, by the
    names of statements. Without it, all are for people spread evenly.
    """
    drawn = None if exact is None else exact + sampling(setting.workload)
    if exact is not None and bounds.every_value_is_secret(setting.workload):
        limit = bounds.worst_from_average(exact, setting.workload, setting.epsilon)
        known = {WORST_FROM_AVERAGE.name: limit, **known}
    made = []
    for name, statement in STATEMENTS.items():
        about = worst if statement is WORST_FROM_AVERAGE else drawn if statement.of_population else exact
        number, reason = None, ""
        try:
            statement.refuse(setting)
            if case is not None and statement.kind == "impossible":
                about, number = case[0], case[1].get(name)
                if number is None and not statement.costly:
                    raise ValueError("It is about people spread evenly over the types; this design is for others.")
            elif statement.costly:
                number = known.get(name)
            else:
                number = statement.compute(setting)
        except ValueError as error:
            reason = str(error)
        needed = None if number is None else _users_needed(statement, setting, number, alpha)
        made.append(Entry(statement, setting, reason, number, about, needed))
    return made


def weighted(workload: Workload, figures: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Figures of a mechanism on the histogram (see `ldp_core.bounds.frequency.figures_of`) for a histogram of any weight; none for
    other questions."""
    histogram = histogram_of(workload)
    return {} if histogram is None else {name: histogram[1] * value for name, (value, _) in figures.items()}


def sampling(workload: Workload) -> float:
    """The contribution of sampling to a total squared error per user, if the answers are about the
    even population P that people are drawn from: sum_u P_u G_uu - P'GP."""
    return workload.trace / workload.n - workload.even_square


def _users_needed(statement: Statement, setting: Setting, number: float, alpha: float) -> float:
    """Users until the error is ``alpha``; where the number depends on how many there are, the least that allow it."""
    workload = setting.workload
    if statement.kind != "few_users":
        return analysis.users_for(number, workload.squared_weights, alpha)

    def enough(users: int) -> bool:
        try:
            return statement.number(replace(setting, users=users)) <= alpha * workload.squared_weights * users
        except ValueError:  # it does not hold for this few users
            return False

    least = 1 + bisect_left(range(1, MOST_THEOREM_USERS + 1), True, key=enough)
    return float(least) if least <= MOST_THEOREM_USERS else math.inf


def table(entries_given: Sequence[Entry]) -> pd.DataFrame:
    """kind, name, title, standard_error (share), users_needed, variance, ratio, source, reason: an entry a row, in their order; numbers are
    nan where there are none."""
    numbers = ("standard_error", "users_needed", "variance", "ratio")
    words = {name: [getattr(entry.statement, name) for entry in entries_given] for name in ("kind", "name", "title")}
    figures = {name: [getattr(entry, name) for entry in entries_given] for name in numbers}
    origin = {
        "source": [entry.statement.source for entry in entries_given],
        "reason": [entry.reason for entry in entries_given],
    }
    return pd.DataFrame(words | figures | origin).astype(dict.fromkeys(numbers, float))


OVER_EPSILON = ("raw_tree_average", "large_sample_paper_frequency")
"""Theorems that need no mechanism: those of the number 4.5 in two papers."""


def over_epsilon(
    workload: Workload,
    alpha: float,
    epsilons: Sequence[float],
    branching: int = 4,
    averages: Mapping[float, float] | None = None,
) -> pd.DataFrame:
    """title, epsilon, users_needed: the users that each theorem of `OVER_EPSILON` allows or predicts for the mean squared error
    ``alpha`` of a share, where it is about such questions; and at most needed by the worst type of a mechanism (Theorem 5.1) with
    the ``averages``, its average variance per user by epsilon."""
    rows = []
    for name in OVER_EPSILON:
        statement = STATEMENTS[name]
        suffix = f", B = {branching}" if name == "raw_tree_average" else ""
        for epsilon in epsilons:
            setting = Setting(workload, epsilon, 1, branching=branching)
            if statement.reason(setting):
                break
            needed = _users_needed(statement, setting, statement.number(setting), alpha)
            rows.append((statement.title + suffix, epsilon, needed))
    for epsilon, average in sorted((averages or {}).items()) if bounds.every_value_is_secret(workload) else ():
        limit = bounds.worst_from_average(average, workload, epsilon)
        rows.append((WORST_FROM_AVERAGE.title, epsilon, analysis.users_for(limit, workload.squared_weights, alpha)))
    return pd.DataFrame(rows, columns=["title", "epsilon", "users_needed"])
