"""The nuclear norm of a survey whose questions follow an order, or single out values, in blocks.

Let O be the attributes along which some group of questions does not treat all values alike, and Z the others. For every set A of
attributes in Z, G maps functions that are a product of a function in component A (`ldp_core.anova`) and one of the attributes in O to such
functions, by the same matrix H_A for the whole component: its singular values come dim_A times. H_A couples only those attributes of O
that a group asks about together, along with A; all else has g_A as it does for any survey. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import linalg

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.workloads import Group, Histogram, Survey, Workload
from ldp_core.workloads.restricted import cells_of, ordered_groups, several

MOST_CELLS = 2048
"""Largest block."""


def nuclear_at_least(survey: Survey) -> float:
    """``|W P|_* / n`` for the uniform prior (see `ldp_core.bounds.centred_svd`), or a number below it: groups whose blocks would have more
    than `MOST_CELLS` cells are left out, which makes no singular value larger."""
    ordered = ordered_groups(survey)
    unlike = {i for members in _unlike(survey, ordered) for i in members}
    parts = [_two(survey, group, unlike) for group in ordered]
    clusters = _clusters(survey, sorted({inside for inside, _ in parts}))
    outside = {id(g) for g, (inside, _) in zip(ordered, parts, strict=True) if not _held(inside, clusters)}
    kept = [group for group in survey.groups if id(group) not in outside]
    if not kept:
        return 0.0
    blocks: dict[Set, list[Set]] = {}
    for inside, rest in (part for g, part in zip(ordered, parts, strict=True) if id(g) not in outside):
        for members in anova.subsets(rest):
            found = blocks.setdefault(members, [])
            cluster = next(one for one in clusters if set(inside) <= set(one))
            met = [one for one in found if set(one) <= set(cluster)]
            blocks[members] = [one for one in found if one not in met] + [tuple(sorted(set(inside).union(*met)))]
    known = Survey(survey.shape, kept).components
    norms = [
        dims * math.sqrt(value)
        for members, dims, value in zip(known.sets, known.dims, known.gram, strict=True)
        if not _held(_within(members, unlike), blocks.get(tuple(i for i in members if i not in unlike), []))
    ]
    asking: dict[Set, list[Group]] = {members: [] for members in blocks}
    for group in kept:
        for members in anova.subsets(_two(survey, group, unlike)[1]):
            if members in asking:
                asking[members].append(group)
    norms += [_norm(survey, members, block, asking[members]) for members in blocks for block in blocks[members]]
    return math.fsum(norms)


def _within(members: Iterable[int], some: set[int]) -> Set:
    return tuple(i for i in members if i in some)


def _held(members: Set, sets: Sequence[Set]) -> bool:
    return any(set(members) <= set(one) for one in sets)


def _two(survey: Survey, group: Group, unlike: set[int]) -> tuple[Set, Set]:
    """The attributes of a group that are among those in O, and the others."""
    places = several(survey, group.attributes)
    return _within(places, unlike), tuple(i for i in places if i not in unlike)


def _unlike(survey: Survey, groups: Sequence[Group]) -> list[Set]:
    """For every group, the attributes along which its Gram matrix changes when two values change places."""
    known: dict[tuple[object, ...], Set] = {}
    found = []
    for group in groups:
        sizes = tuple(survey.shape[i] for i in group.attributes)
        key = (group.base.digest, sizes)
        if key not in known:
            known[key] = _changing(group.base, sizes) or tuple(i for i, size in enumerate(sizes) if size > 1)
        found.append(tuple(group.attributes[axis] for axis in known[key]))
    return found


def _changing(base: Workload, sizes: Sequence[int]) -> Set:
    gram = base.gram_dense().reshape(*sizes, *sizes)
    rounding = 1e-9 * float(np.abs(gram).max())
    found = []
    for axis, size in enumerate(sizes):
        pairs = np.moveaxis(gram, (axis, len(sizes) + axis), (0, 1)).reshape(size, size, -1)
        same = pairs[np.arange(size), np.arange(size)]
        other = pairs[~np.eye(size, dtype=bool)]
        if np.ptp(same, axis=0).max() > rounding or (size > 1 and np.ptp(other, axis=0).max() > rounding):
            found.append(axis)
    return tuple(found)


def _clusters(survey: Survey, sets: Sequence[Set]) -> list[Set]:
    """Sets that share attributes as one, as long as its table is not too large."""
    found: list[Set] = []
    for members in sets:
        touched = [one for one in found if set(one) & set(members)]
        merged = tuple(sorted(set(members).union(*touched)))
        if math.prod(survey.shape[i] for i in merged) <= MOST_CELLS:
            found = [*(one for one in found if one not in touched), merged]
    return found


def _norm(survey: Survey, members: Set, block: Set, groups: Sequence[Group]) -> float:
    """The part of the nuclear norm in the component ``members`` times functions of the attributes in ``block``, without the constant."""
    sizes = [survey.shape[i] for i in block]
    gram = np.zeros((math.prod(sizes),) * 2)
    by_common: dict[Set, np.ndarray] = {}
    for group in groups:
        common = _within(group.attributes, set(block))
        part = group.weight**2 * _seen(survey, group, members, common)
        by_common[common] = by_common[common] + part if common in by_common else part
    for common, part in by_common.items():
        place = cells_of(sizes, block, common)
        gram += part[np.ix_(place, place)]
    if not members:
        gram = gram - gram.mean(axis=0)
        gram = gram - gram.mean(axis=1, keepdims=True)
    values = linalg.eigvalsh(gram) / (len(gram) * math.prod(survey.shape[i] for i in members))
    return anova.dimensions(survey.shape, members) * float(np.sqrt(np.maximum(values, 0)).sum())


def _seen(survey: Survey, group: Group, members: Set, common: Set) -> np.ndarray:
    """(cells, cells) what a group asks of functions of ``common``, times a function of length 1 in the component ``members``."""
    cells = math.prod(survey.shape[i] for i in common)
    if isinstance(group.base, Histogram):
        return np.eye(cells) * (cells * math.prod(survey.shape[i] for i in members) / group.base.n)
    rows = group.base.gram_root.reshape(-1, *[survey.shape[i] for i in group.attributes])
    kept = [*members, *common]
    others = tuple(1 + axis for axis, i in enumerate(group.attributes) if i not in kept)
    rows = rows.mean(axis=others) if others else rows
    left = [i for i in group.attributes if i in kept]
    for i in members:
        rows = rows - rows.mean(axis=1 + left.index(i), keepdims=True)
    rows = np.moveaxis(rows, [1 + left.index(i) for i in common], range(-len(common), 0)).reshape(-1, cells)
    return rows.T @ rows / anova.dimensions(survey.shape, members)
