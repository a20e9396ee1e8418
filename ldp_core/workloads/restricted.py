"""Surveys seen by functions of a few attributes: what questions that follow an order or single out values ask there."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.surveys import Group, Survey


def several(survey: Survey, attributes: Iterable[int]) -> Set:
    """Those of the attributes that have more than one value."""
    return tuple(i for i in attributes if survey.shape[i] > 1)


def ordered_sets(survey: Survey, groups: Iterable[Group]) -> tuple[Set, ...]:
    """The sets of attributes of ``groups``, without those that another one holds and without attributes of one value."""
    return tuple(sorted(anova.maximal(several(survey, group.attributes) for group in groups)))


def divided(tables: np.ndarray, attributes: Set, sets: Sequence[Set]) -> list[np.ndarray]:
    """Functions ``tables`` (q, n_1, ..., n_k) of ``attributes`` taken apart: what is a function of the attributes in the first of ``sets``
    alone, of what is left that of the second, and so on, and in the end what is left. The means go first, into none. All parts are
    orthogonal, and sums of whole components (`ldp_core.anova`). Each has axes of length 1 for attributes it does not depend on."""
    left, parts = tables - tables.mean(axis=tuple(range(1, tables.ndim)), keepdims=True), []
    for members in sets:
        outside = tuple(1 + axis for axis, i in enumerate(attributes) if i not in members)
        if len(outside) == len(attributes):  # a mean that is zero but for rounding
            parts.append(np.zeros((len(tables),) + (1,) * len(attributes)))
            continue
        parts.append(left.mean(axis=outside, keepdims=True) if outside else left)
        left = left - parts[-1]
    return [*parts, left]


def restricted_gram(survey: Survey, members: Set, groups: Iterable[Group] | None = None) -> np.ndarray:
    """(cells, cells) K = the sum of the products r r' over all queries (of ``groups``), r being the mean of a query over the attributes that
    are not ``members``, as a function of the cells of their table. G, among the functions of the members, is n K / cells."""
    sizes = [survey.shape[i] for i in members]
    cells = math.prod(sizes)
    gram = np.zeros((cells, cells))
    by_common: dict[Set, np.ndarray] = {}
    for group in survey.groups if groups is None else groups:
        common = tuple(i for i in group.attributes if i in members)
        if common:
            part = group.weight**2 * _folded(survey, group, common)
            by_common[common] = by_common[common] + part if common in by_common else part
    for common, part in by_common.items():
        place = cells_of(sizes, members, common)
        gram += part[np.ix_(place, place)]
    return gram


def _folded(survey: Survey, group: Group, common: Set) -> np.ndarray:
    if isinstance(group.base, Histogram):
        cells = math.prod(survey.shape[i] for i in common)
        return np.eye(cells) * (cells / group.base.n)
    rows = means_on(group.base.gram_root, survey, group, common)
    return rows.T @ rows


def means_on(rows: np.ndarray, survey: Survey, group: Group, kept: Container[int]) -> np.ndarray:
    """(q, cells) the means of functions ``rows`` (q, n) on the table of a ``group`` over its attributes that are not ``kept``."""
    outside = tuple(1 + axis for axis, i in enumerate(group.attributes) if i not in kept)
    shaped = rows.reshape(-1, *(survey.shape[i] for i in group.attributes))
    return np.asarray(shaped.mean(axis=outside) if outside else shaped).reshape(len(shaped), -1)


def cells_of(sizes: Sequence[int], members: Set, common: Set) -> np.ndarray:
    """(cells,) the cell of the table of the attributes ``common`` that each cell of the table of ``members``, of ``sizes``, is in."""
    inside = [size if i in common else 1 for i, size in zip(members, sizes, strict=True)]
    return np.broadcast_to(np.arange(math.prod(inside)).reshape(inside), tuple(sizes)).ravel()


def part_of(gram: np.ndarray, sizes: Sequence[int], members: Set, sets: Sequence[Set], number: int) -> np.ndarray:
    """(cells, cells) P ``gram`` P, P the projection that takes part ``number`` of functions of ``members``, as `divided` does."""
    for _ in range(2):
        gram = divided(gram.reshape(-1, *sizes), members, sets)[number].reshape(gram.shape).T
    return gram
