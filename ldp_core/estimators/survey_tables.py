"""Non-negative tables from the estimates of surveys, which hold tables of a few attributes each and no counts of all types.

Tables that some people could have are non-negative, and agree in what they have in common; such
tables are a convex set that holds the truth. (It also holds tables that no people have: whether
there are any takes the joint domain.) The projection onto it in the workload's own norm never
increases the squared error. It is found by the alternating direction method of multipliers (Boyd et
al. 2011): one half makes tables agree, which is a weighted mean for the component of
each set of attributes (see `ldp_core.anova`), the other cuts them at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.estimators import norm_sub
from ldp_core.limits import MOST_FITTED_CELLS
from ldp_core.mechanisms.surveys.estimates import FittedEstimate, SeparateEstimate, SurveyEstimate
from ldp_core.workloads import Survey

_PENALTY = 5.0  # in the weights of the questions
# Remaining negative cells are removed by mixing in about this share of even tables.
_MIXED = 1e-4


def too_large(survey: Survey) -> str | None:
    """Why `nonnegative` cannot serve ``survey``, None where it can."""
    if not survey.symmetric:
        return (
            "Tables are fitted to each other where the questions treat the values of each column alike; some of these follow an order or "
            "single out values. Choose unbiased."
        )
    cells = sum(math.prod(survey.shape[i] for i in members) for members in maximal(survey))
    if cells <= MOST_FITTED_CELLS:
        return None
    return (
        f"Tables are fitted to each other for at most {MOST_FITTED_CELLS:,} cells together; these have {cells:,}. Choose Norm-Sub, or "
        "unbiased."
    )


def maximal(survey: Survey) -> list[Set]:
    """The sets of attributes asked about that lie in no other."""
    sets = anova.maximal(group.attributes for group in survey.groups)
    return sorted(sets, key=lambda members: (-len(members), members))


def separate(estimate: SurveyEstimate, survey: Survey, users: float) -> SeparateEstimate:
    """Norm-Sub for each table on its own: the closest one that is never negative and sums to ``users``."""
    tables = {group.attributes: norm_sub.project(estimate.table(group.attributes), users) for group in survey.groups}
    return SeparateEstimate(unbiased=False, sizes=estimate.sizes, users=users, tables=tables)


def nonnegative(estimate: SurveyEstimate, survey: Survey, users: float | None = None) -> FittedEstimate:
    """The non-negative tables that agree with each other, and add up to ``users`` where given, whose answers to ``survey`` are the closest
    to those of ``estimate``, but for about `_MIXED` of an even spread over the cells. ValueError for surveys that are `too_large`."""
    if reason := too_large(survey):
        raise ValueError(reason)
    sets = maximal(survey)
    layout = _Layout(survey.shape, sets)
    target, wanted = _wanted(layout, survey, estimate)
    tables, total = _projected(layout, target, wanted, users)
    tables_by_set = dict(zip(sets, layout.split(tables), strict=True))
    return FittedEstimate(unbiased=False, sizes=estimate.sizes, users=total, tables=tables_by_set)


class _Layout:
    """The tables over some ``sets`` of attributes one after the other, their components, and where each component is among those of
    all sets A, as tables of the attributes A: ``place`` (m,) for every number of the components, ``within`` (m,) how many cells of its
    table there are for one of A."""

    def __init__(self, sizes: Sequence[int], sets: Sequence[Set]):
        self.sizes, self.sets = tuple(sizes), list(sets)
        self.shapes: dict[tuple[int, ...], list[int]] = {}  # tables of one shape are gone through together
        for k, members in enumerate(self.sets):
            self.shapes.setdefault(tuple(self.sizes[i] for i in members), []).append(k)
        self.offsets: dict[Set, int] = {}
        self.length = 0
        for members in self.sets:
            for part in anova.subsets(members):
                if part not in self.offsets:
                    self.offsets[part] = self.length
                    self.length += math.prod(self.sizes[i] for i in part)
        places, within, owners = [], [], []
        for shape, numbers in self.shapes.items():
            for axes in product((False, True), repeat=len(shape)):
                for k in numbers:
                    part = tuple(i for i, kept in zip(self.sets[k], axes, strict=True) if kept)
                    cells = math.prod(self.sizes[i] for i in part)
                    places.append(self.offsets[part] + np.arange(cells))
                    within.append(np.full(cells, math.prod(shape) / cells))
                    owners.append(np.full(cells, k))
        self.place, self.within, self.owner = map(np.concatenate, (places, within, owners))
        self.cells = np.concatenate([np.full(math.prod(shape), k) for shape, ks in self.shapes.items() for k in ks])
        """(cells,) which table each cell is of."""

    def components(self, tables: np.ndarray) -> np.ndarray:
        """(m,) components of ``tables`` (cells,), as functions of the attributes A (means, not sums)."""
        components, start = [], 0
        for shape, numbers in self.shapes.items():
            end = start + len(numbers) * math.prod(shape)
            parts = [tables[start:end].reshape(len(numbers), *shape)]
            for axis in range(1, len(shape) + 1):
                means = [part.mean(axis=axis, keepdims=True) for part in parts]
                parts = [
                    component for part, mean in zip(parts, means, strict=True) for component in (mean, part - mean)
                ]
            components += [part.ravel() for part in parts]
            start = end
        return np.concatenate(components)

    def tables(self, components: np.ndarray) -> np.ndarray:
        """(cells,) the tables with these ``components`` (m,)."""
        tables_by_set, start = [], 0
        for shape, numbers in self.shapes.items():
            total = np.zeros((len(numbers), *shape))
            for axes in product((False, True), repeat=len(shape)):
                component_shape = (len(numbers), *(size if kept else 1 for size, kept in zip(shape, axes, strict=True)))
                end = start + math.prod(component_shape)
                total += components[start:end].reshape(component_shape)
                start = end
            tables_by_set.append(total.ravel())
        return np.concatenate(tables_by_set)

    def split(self, tables: np.ndarray) -> list[np.ndarray]:
        """The tables in the order of the sets."""
        order = [k for numbers in self.shapes.values() for k in numbers]
        ends = np.cumsum([math.prod(self.sizes[i] for i in self.sets[k]) for k in order])
        parts = dict(zip(order, np.split(tables, ends[:-1]), strict=True))
        return [parts[k] for k in range(len(self.sets))]


def _wanted(layout: _Layout, survey: Survey, estimate: SurveyEstimate) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers for every entry of the components, as tables of the attributes A. The first is
    the weighted sum of the groups' estimates of it. The second is the sum of the weights, the
    contribution of a squared difference to the squared error."""
    target, weight = np.zeros((2, layout.length))
    for group, values in zip(survey.groups, survey.spectra, strict=True):
        table = estimate.table(group.attributes).reshape([survey.shape[i] for i in group.attributes])
        for part, value in (values or {}).items():
            component = anova.component(table, [group.attributes.index(i) for i in part]).ravel()
            here = slice(layout.offsets[part], layout.offsets[part] + component.size)
            target[here] += group.weight**2 * value * component
            weight[here] += group.weight**2 * value * component.size / table.size
    return target, weight


def _projected(
    layout: _Layout, target: np.ndarray, wanted: np.ndarray, users: float | None
) -> tuple[np.ndarray, float]:
    """(cells,) tables that agree and are not negative, and their total."""
    many = np.bincount(layout.place, minlength=layout.length)  # tables that hold each component
    share = wanted[layout.place] * layout.within / many[layout.place]
    scale = np.bincount(layout.owner, share) / np.bincount(layout.owner)
    whole = np.array([wanted[layout.offsets[members]] for members in layout.sets])  # not stated by any smaller table
    scale = np.where(whole > 0, whole, scale)
    by_part = scale[layout.owner]
    held = np.bincount(layout.place, by_part / layout.within, minlength=layout.length)
    empty = layout.offsets[()]

    def agreeing(tables: np.ndarray) -> tuple[np.ndarray, float]:
        sums = np.bincount(layout.place, by_part * layout.components(tables), minlength=layout.length)
        parts = (target + _PENALTY * sums) / (wanted + _PENALTY * held)
        if users is not None:
            parts[empty] = users
        return layout.tables(parts[layout.place] / layout.within), max(0.0, float(parts[empty]))

    spread = 1 / np.bincount(layout.cells)[layout.cells]
    # The positive part of the state are the tables cut at 0, its negative part the multipliers by the penalty.
    state = np.zeros(len(spread))
    for _ in range(1_000):
        before = np.maximum(state, 0.0)
        tables_agreed, total = agreeing(np.abs(state))
        state = state + 1.7 * (tables_agreed - before)
        cut = np.maximum(state, 0.0)
        near = _MIXED * total * spread
        if (np.abs(tables_agreed - cut) <= near).all() and (np.abs(cut - before) <= near).all():
            break
    # Even tables agree with each other, and so do mixtures with them.
    below = float(np.max(-tables_agreed / spread, initial=0.0))
    mixed = below / (below + total) if below else 0.0
    return np.maximum((1 - mixed) * tables_agreed + mixed * total * spread, 0.0), total
