"""The best design for surveys whose questions follow an order or single out values: patterns for all questions, or a split of people among
strategies on tables, one for the questions about each, and patterns for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.optimize import minimize_scalar

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.limits import MOST_FITTED_TYPES
from ldp_core.mechanisms.surveys.combined import Combined, Strategies, Tables, together
from ldp_core.optimize.base import DEFAULT, SearchLimits
from ldp_core.optimize.columns.generation import strategy_of
from ldp_core.optimize.columns.orbits import FEW_TYPES, Orbits, Shifts, first_orbits
from ldp_core.optimize.columns.search import design_strategy
from ldp_core.optimize.columns.weights import Singular
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.run import GRACE, LEAST_GRACE, Budget, Interrupted, Progress
from ldp_core.workloads import Custom, Group, Survey
from ldp_core.workloads.base import root_of
from ldp_core.workloads.quotient import alike
from ldp_core.workloads.restricted import (
    cells_of,
    means_on,
    ordered_sets,
    part_of,
    restricted_gram,
    several,
)
from ldp_core.workloads.surveys import Components

FEW_CLASSES = 64
"""A table whose questions distinguish at most so many types is merged first, if a search over all its types suits it: that takes no time."""
LITTLE = 1e-8
"""Of the weight of the questions, for all that can be asked of a table: so that reports tell all of it."""

SHARE_ROUNDS = 30
SHARED_CLOSE = 1e-4
"""Shares are improved in at most SHARE_ROUNDS rounds, while a round gains more than SHARED_CLOSE of
the cost."""


def table_sets(survey: Survey) -> tuple[Set, ...]:
    """The sets of attributes whose tables get strategies of their own: none where there would be too many."""
    sets = ordered_sets(
        survey,
        (g for g in survey.ordered_groups if math.prod(survey.shape[i] for i in g.attributes) <= MOST_FITTED_TYPES),
    )
    return sets if len(sets) <= 24 else ()  # each takes time to fit, and people to report on it


@dataclass(frozen=True)
class Shared:
    """The ``shares`` (K,) of people for strategies on tables and, last, for patterns, what all questions cost then (``cost``, the sum of
    r' M^-1 r), and the strategies put together."""

    shares: np.ndarray
    cost: float
    combined: list[Combined]


@dataclass(frozen=True)
class TableQuestions:
    """The division of the questions of a ``survey`` among the tables of ``sets``. Among tables put
    together, a group of questions that distinguishes few types goes as a whole to the first table
    that holds it: reports about those types carry most of the answer. Each component of all other
    questions is divided evenly among the tables that hold it. A single table gets the part that no
    table before it answers."""

    survey: Survey
    sets: tuple[Set, ...]

    @cached_property
    def together(self) -> list[Tables]:
        return together(self.survey.shape, self.sets)

    @cached_property
    def tied(self) -> list[int]:
        """The numbers of the tables that are put together with others."""
        return sorted(k for tables in self.together if len(tables.numbers) > 1 for k in tables.numbers)

    @cached_property
    def owners(self) -> list[int | None]:
        """The number of the table that answers each group as a whole, or None."""
        owners: list[int | None] = []
        for group, values in zip(self.survey.groups, self.survey.spectra, strict=True):
            about = set(several(self.survey, group.attributes))
            holding = [k for k in self.tied if values is None and about <= set(self.sets[k])]
            parts = {members for members in anova.subsets(sorted(about)) if members}
            holding = [k for k in holding if parts <= self._beside(k).answered]
            owners.append(holding[0] if holding and _has_few_classes(group) else None)
        return owners

    def _beside(self, k: int) -> Tables:
        """The tables that table ``k`` is put together with, itself among them."""
        return next(tables for tables in self.together if k in tables.numbers)

    @cached_property
    def left(self) -> Components:
        """The components that no table holds."""
        known = self.survey.components
        kept = [not any(set(members) <= set(table) for table in self.sets) for members in known.sets]
        members = tuple(component for component, keep in zip(known.sets, kept, strict=True) if keep)
        return Components(members, known.dims[kept], known.gram[kept], known.constant)

    def gram(self, k: int) -> np.ndarray:
        """(cells, cells) what is asked of table ``k``, and a little of all else there."""
        members, groups = self.sets[k], list(zip(self.survey.groups, self.owners, strict=True))
        whole = restricted_gram(self.survey, members, [group for group, owner in groups if owner == k])
        parts = restricted_gram(self.survey, members, [group for group, owner in groups if owner is None])
        parts += np.eye(len(parts)) * (LITTLE * np.trace(parts + whole) / len(parts))
        return self._part(self._part(parts, k).T, k) + part_of(whole, self._axes(k), members, (members,), 0)

    def rows(self, k: int) -> np.ndarray:
        """(q, cells) what questions that do not treat values alike ask of table ``k``."""
        members = self.sets[k]
        blocks = [np.zeros((0, math.prod(self._axes(k))))]
        for group, values, owner in zip(self.survey.groups, self.survey.spectra, self.owners, strict=True):
            if values is None and owner in (k, None) and set(several(self.survey, group.attributes)) & set(members):
                common = tuple(i for i in group.attributes if i in members)
                rows = means_on(group.base.gram_root, self.survey, group, common)
                rows = group.weight * rows[:, cells_of(self._axes(k), members, common)]
                blocks.append(self._part(rows, k) if owner is None else rows - rows.mean(axis=1, keepdims=True))
        return np.concatenate(blocks)

    def _part(self, rows: np.ndarray, k: int) -> np.ndarray:
        """(q, cells) the part of functions ``rows`` (q, cells) of table ``k`` that it is asked."""
        members, shaped = self.sets[k], rows.reshape(-1, *self._axes(k))
        tables, weights = self._beside(k), np.zeros(self._axes(k))
        for inner in tables.answered:
            if set(inner) <= set(members):
                place = tuple(slice(1, None) if i in inner else 0 for i in members)
                weights[place] = 1 / sum(set(inner) <= set(table) for table in tables.sets)
        basis = anova.coordinates(np.eye(rows.shape[1]).reshape(-1, *self._axes(k))).reshape(rows.shape[1], -1)
        part: np.ndarray = anova.coordinates(shaped).reshape(rows.shape) * weights.ravel() @ basis.T
        return part

    @cached_property
    def grams(self) -> list[np.ndarray]:
        """The Gram matrices of all questions on the tables put together (`Tables.gram`)."""
        return [tables.gram(self.survey) for tables in self.together]

    def parts(self, shared: Shared) -> Iterator[tuple[int, np.ndarray, float]]:
        """(number of a table, Gram matrix of its questions, their cost) for each table put together
        with others (`Combined.parts`)."""
        for combination, gram in zip(shared.combined, self.grams, strict=True):
            if len(combination.tables.numbers) > 1:
                for k, (part, cost) in zip(combination.tables.numbers, combination.parts(gram), strict=True):
                    yield k, part, cost

    def shared(self, strategies: Sequence[np.ndarray], shares: np.ndarray, rest: np.ndarray, budget: Budget) -> Shared:
        """The people shared among the ``strategies`` (m_k, cells) and, if there are any,
        patterns whose cost alone is ``rest`` (1,). The shares are in proportion to ``shares`` (K,)
        at first. If tables are put together, and while ``budget`` lasts, each share is then
        multiplied by the square root of its derivative (Torsney 1983)."""
        joined = [Strategies(tables, [strategies[k] for k in tables.numbers]) for tables in self.together]
        rounds = SHARE_ROUNDS if self.tied else 1
        shares = shares / shares.sum()
        best = Shared(shares, math.inf, [])
        for done in range(rounds):
            combined = [Combined(joint, shares[list(joint.tables.numbers)]) for joint in joined]
            value = float((rest / shares[len(strategies) :]).sum())
            value += math.fsum(joint.cost(gram) for joint, gram in zip(combined, self.grams, strict=True))
            gained = best.cost - value
            if gained > 0:
                best = Shared(shares, value, combined)
            if gained < SHARED_CLOSE * value or done == rounds - 1 or budget.left() == 0 or budget.cancelled():
                break
            gains = np.concatenate([np.zeros(len(strategies)), rest / shares[len(strategies) :] ** 2])
            for joint, gram in zip(combined, self.grams, strict=True):
                gains[list(joint.tables.numbers)] = joint.gains(gram)
            shares = shares * np.sqrt(gains)
            shares = np.maximum(shares / shares.sum(), 1e-6)
            shares /= shares.sum()
        return best

    def _axes(self, k: int) -> list[int]:
        return [self.survey.shape[i] for i in self.sets[k]]


def type_classes(rows: np.ndarray) -> np.ndarray:
    """(n,) the number of the class (`alike`) of each type, for questions ``rows`` (q, n) but for their rounding."""
    return alike(np.round(rows / np.abs(rows).max(initial=1e-300), 9))


def _has_few_classes(group: Group) -> bool:
    return int(type_classes(group.base.gram_root).max()) < min(FEW_CLASSES, group.base.n // 2)


def design_split(
    survey: Survey,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> SurveyDesign:
    """The better, on average over the types, of two designs: patterns for all questions, or a split
    of people. The split has strategies for the tables whose questions follow an order or single out
    values, and patterns for the rest. Every fit gets an equal part of the time left, and all of the
    rounds. Strategies put together are fitted again in the time that remains. The patterns for all
    questions come first, and are returned if time runs out before the others are ready. The
    callback gets the objectives of the patterns for all questions, and then that of what is
    returned. ValueError as for `design_survey`."""
    budget, quiet = Budget(limits.time_limit, None, limits.cancel), limits.telling(None)
    questions = TableQuestions(survey, table_sets(survey))
    sets, left = questions.sets, questions.left
    combining = bool(questions.tied)  # takes time as well
    fits = 1 + len(sets) + bool(left.sets) + combining
    progress_reports: list[Progress] = []

    def pass_on(progress: Progress) -> None:
        progress_reports.append(progress)
        if limits.callback is not None:
            limits.callback(progress)

    seconds = None if limits.time_limit is None else limits.time_limit / fits
    whole = design_survey(_ComponentSurvey(survey, survey.components), epsilon, limits.telling(pass_on).within(seconds))
    patterns = replace(whole, survey=survey)
    if not sets:
        return patterns
    tables: list[tuple[Set, np.ndarray]] = []
    costs: list[float] = []
    rest = None
    try:
        for k, members in enumerate(sets):
            budget.check()
            share = _share(budget, fits - 1 - k)
            best = _fitted(questions, k, epsilon, quiet.within(share), budget)
            costs.append(best.objective / len(best.strategy.T))
            tables.append((members, best.strategy))
        if budget.cancelled():
            return patterns
        if left.sets:
            rest = design_survey(_ComponentSurvey(survey, left), epsilon, quiet.within(_share(budget, 1 + combining)))
            costs.append(rest.objective / float(survey.n) - left.constant)
    except Interrupted:
        return patterns
    given = (np.sqrt(costs), np.array(costs[len(tables) :]))
    shared = questions.shared([strategy for _, strategy in tables], *given, _a_little(limits))
    if questions.tied and budget.left() != 0:
        tables, shared = _again(questions, tables, shared, given[1], epsilon, quiet, budget)
    objective = float(survey.n) * (survey.components.constant + shared.cost)
    if objective >= whole.objective:
        return patterns
    seconds = budget.seconds
    if limits.callback is not None and progress_reports:
        limits.callback(replace(progress_reports[-1], objective=objective, seconds=seconds, best=None))
    return replace(
        patterns,
        patterns=() if rest is None else rest.patterns,
        shares=np.zeros(0) if rest is None else rest.shares,
        tables=tuple(tables),
        people=shared.shares,
        objective=objective,
        history=(*whole.history, (whole.rounds, seconds, objective)),
        seconds=seconds,
    )


def _share(budget: Budget, fits: int) -> float | None:
    """Seconds for the next of ``fits`` remaining fits, None if there is no limit."""
    left = budget.left()
    return None if left is None else left / fits


def _fitted(
    questions: TableQuestions, k: int, epsilon: float, limits: SearchLimits, budget: Budget
) -> Mixed | Optimized:
    """The better strategy for table ``k``: the one by merging types, where there is one, comes first, as it is soon found; a search over all
    types has the seconds that are left. Raises `Interrupted` where the time of ``budget`` is over."""
    clock = Budget(limits.time_limit)
    gram = questions.gram(k)
    budget.check()
    merged = _merged(questions, k, gram, epsilon, limits)
    left = clock.left()
    if merged is not None and left == 0:
        return merged
    budget.check()
    try:
        dense = design_strategy(Custom(root_of(gram)), epsilon, limits.within(left))
    except Singular:  # of questions that tell few types apart
        if merged is None:
            raise
        return merged
    return dense if merged is None or dense.objective <= merged.objective else merged


def _again(
    questions: TableQuestions,
    tables: list[tuple[Set, np.ndarray]],
    shared: Shared,
    rest: np.ndarray,
    epsilon: float,
    limits: SearchLimits,
    budget: Budget,
) -> tuple[list[tuple[Set, np.ndarray]], Shared]:
    """New strategies for each table's questions, given that the other tables answer them in part,
    if they are better than those of ``tables``, in the time left. Each lowers the cost of its part
    of all questions, and a new division of the questions lowers it further. The cost is a convex
    function of the information of all tables together with the parts."""
    refitted = list(tables)
    for done, (k, gram, cost) in enumerate(questions.parts(shared)):
        if budget.left() == 0 or budget.cancelled():
            break
        gram = gram + np.eye(len(gram)) * (LITTLE * np.trace(gram) / len(gram))
        seconds = _share(budget, len(questions.tied) - done)
        with suppress(Singular):  # questions that tell few types apart keep the strategy for these
            best = design_strategy(Custom(root_of(gram)), epsilon, limits.within(seconds))
            if best.objective / len(gram) < cost:
                refitted[k] = tables[k][0], best.strategy
    strategies = [strategy for _, strategy in refitted]
    better = questions.shared(strategies, shared.shares, rest, _a_little(limits))
    return (refitted, better) if better.cost < shared.cost else (tables, shared)


def _a_little(limits: SearchLimits) -> Budget:
    """A budget for short work after the time is over."""
    seconds = limits.time_limit
    return Budget(None if seconds is None else max(LEAST_GRACE, GRACE * seconds), None, limits.cancel)


def _merged(questions: TableQuestions, k: int, gram: np.ndarray, epsilon: float, limits: SearchLimits) -> Mixed | None:
    """A strategy for table ``k`` by merging the types that its questions in an order, or of single values, treat alike (`mixed`). None for
    tables that a search over all types does better with, and where too many types are left."""
    rows, cells = questions.rows(k), len(gram)
    merged = type_classes(rows)
    _, first, sizes = np.unique(merged, return_index=True, return_counts=True)
    if len(first) > min(FEW_CLASSES if cells <= FEW_TYPES else FEW_TYPES, cells // 2):
        return None
    reduced = rows[:, first].T @ rows[:, first]
    reduced += np.eye(len(first)) * (LITTLE * np.trace(reduced) / len(first))
    best = design_strategy(Custom(root_of(reduced)), epsilon, replace(limits, max_rounds=30), prior=sizes / cells)
    return mixed(gram, [questions.survey.shape[i] for i in questions.sets[k]], epsilon, merged, best.strategy)


class _ComponentSurvey(Survey):
    """A survey as patterns see it: its questions are these components, on average over the values."""

    def __init__(self, survey: Survey, components: Components):
        super().__init__(survey.shape, survey.groups, survey.axes)
        self.components, self.ordered_groups = components, []


@dataclass(frozen=True)
class Mixed:
    """A ``strategy`` (m, n) and its ``objective`` L; ``part`` is the probability of the strategy for merged types."""

    strategy: np.ndarray
    objective: float
    part: float


def mixed(gram: np.ndarray, shape: Sequence[int], epsilon: float, merged: np.ndarray, strategy: np.ndarray) -> Mixed:
    """The best mixture of ``strategy`` (m, c), for the ``merged`` types (n,) numbered from 0 to c - 1, and of one for all types, in a table
    of ``shape``, for questions with the Gram matrix ``gram`` (n, n).

    The best strategy for the merged types leaves other questions open, which one over orbits of rows (`first_orbits`) answers. With M_1 and M_2 the
    second moments of both, that of a mixture is s M_1 + (1 - s) M_2; M_2 is diagonal in the characters of the shifts, and M_1 has the rank of the
    merged types, so that the best s takes no large factorisation. Source: this project."""
    ratio, shifts = fitted_exp_epsilon(epsilon), Shifts(tuple(shape))
    orbits = first_orbits(gram, ratio, shifts)
    sizes = np.bincount(merged).astype(float)
    first = (strategy / (strategy @ sizes)[:, None]).T @ strategy  # M_1 between merged types
    spread = np.eye(len(sizes))[merged]
    solved = _solved(orbits, ratio, shifts, spread.T).T
    inner, worth = spread.T @ solved, solved.T @ (gram @ solved)
    values, vectors = linalg.eigh(first)
    kept = values > 1e-13 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    inner, worth = root.T @ inner @ root, root.T @ worth @ root

    def objective(part: float) -> float:
        """tr((s M_1 + (1 - s) M_2)^-1 G), M_1 being root root' on merged types (Woodbury)."""
        odds = part / (1 - part)
        less = linalg.solve(np.eye(len(inner)) / odds + inner, worth, assume_a="pos")
        return float(orbits.objective - np.trace(less)) / (1 - part)

    optimum = minimize_scalar(lambda x: objective(1 / (1 + math.exp(-x))), bounds=(_logit(1e-4), _logit(0.999)))
    part = 1 / (1 + math.exp(-float(optimum.x)))
    high, weights = orbits.rows()
    both = np.vstack([part * strategy[:, merged], (1 - part) * strategy_of(high, weights, ratio)])
    return Mixed(both / both.sum(axis=0), objective(part), part)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _solved(orbits: Orbits, ratio: float, shifts: Shifts, rows: np.ndarray) -> np.ndarray:
    """(k, n) ``rows`` times the inverse of the second moments of orbits."""
    power = np.abs(shifts.transform(np.where(orbits.high, ratio, 1.0))) ** 2
    moments = orbits.shares @ (power / power[:, :1])
    n = rows.shape[1]
    transformed = shifts.transform(rows) / moments
    return np.conj(shifts.transform(np.conj(transformed))).real / n
