"""The tables of a survey whose questions follow an order or single out values: the questions for
each, and the division of people among the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.limits import MOST_FITTED_TYPES
from ldp_core.mechanisms.surveys.combined import Combined, Strategies, Tables, together
from ldp_core.run import Budget
from ldp_core.workloads import Group, Survey
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

FEW_TOLD_APART = 64
"""A table whose questions distinguish at most so many types is merged first, if a search over all its types suits it: that takes no time."""
LITTLE = 1e-8
"""Of the weight of the questions, for all that can be asked of a table: so that reports tell all of it."""

SHARE_ROUNDS = 30
SHARED_CLOSE = 1e-4
"""Shares are improved in at most SHARE_ROUNDS rounds, while a round gains more than SHARED_CLOSE of
the cost."""


def own_sets(survey: Survey) -> tuple[Set, ...]:
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
            owners.append(holding[0] if holding and _tells_few_apart(group) else None)
        return owners

    def _beside(self, k: int) -> Tables:
        """The tables that table ``k`` is put together with, itself among them."""
        return next(tables_together for tables_together in self.together if k in tables_together.numbers)

    @cached_property
    def left(self) -> Components:
        """The components that no table holds."""
        known = self.survey.components
        kept = [not any(set(members) <= set(held_set) for held_set in self.sets) for members in known.sets]
        members = tuple(held_set for held_set, keep in zip(known.sets, kept, strict=True) if keep)
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
                weights[place] = 1 / sum(set(inner) <= set(held_set) for held_set in tables.sets)
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
                for k, (asked, cost) in zip(combination.tables.numbers, combination.parts(gram), strict=True):
                    yield k, asked, cost

    def shared(self, own: Sequence[np.ndarray], shares: np.ndarray, rest: np.ndarray, budget: Budget) -> Shared:
        """The people shared among the strategies ``own`` (m_k, cells) and, if there are any,
        patterns whose cost alone is ``rest`` (1,). The shares are in proportion to ``shares`` (K,)
        at first. If tables are put together, and while ``budget`` lasts, each share is then
        multiplied by the square root of its derivative (Torsney 1983)."""
        strategies = [Strategies(tables, [own[k] for k in tables.numbers]) for tables in self.together]
        rounds = SHARE_ROUNDS if self.tied else 1
        shares = shares / shares.sum()
        best = Shared(shares, math.inf, [])
        for done in range(rounds):
            combined = [
                Combined(strategies_of_tables, shares[list(strategies_of_tables.tables.numbers)])
                for strategies_of_tables in strategies
            ]
            value = float((rest / shares[len(own) :]).sum())
            value += math.fsum(
                strategies_of_tables.cost(gram) for strategies_of_tables, gram in zip(combined, self.grams, strict=True)
            )
            gained = best.cost - value
            if gained > 0:
                best = Shared(shares, value, combined)
            if gained < SHARED_CLOSE * value or done == rounds - 1 or budget.left() == 0 or budget.cancelled():
                break
            gains = np.concatenate([np.zeros(len(own)), rest / shares[len(own) :] ** 2])
            for strategies_of_tables, gram in zip(combined, self.grams, strict=True):
                gains[list(strategies_of_tables.tables.numbers)] = strategies_of_tables.gains(gram)
            shares = shares * np.sqrt(gains)
            shares = np.maximum(shares / shares.sum(), 1e-6)
            shares /= shares.sum()
        return best

    def _axes(self, k: int) -> list[int]:
        return [self.survey.shape[i] for i in self.sets[k]]


def told_apart(rows: np.ndarray) -> np.ndarray:
    """(n,) the number of the class (`alike`) of each type, for questions ``rows`` (q, n) but for their rounding."""
    return alike(np.round(rows / np.abs(rows).max(initial=1e-300), 9))


def _tells_few_apart(group: Group) -> bool:
    return int(told_apart(group.base.gram_root).max()) < min(FEW_TOLD_APART, group.base.n // 2)
