"""A survey whose questions follow an order, or single out values, in blocks: its nuclear norm, and
the parts that a proof starts from.

Let O be the attributes along which some group of questions does not treat all values alike, and Z
the others. Take a set A of attributes in Z. G maps products of a function in component A
(`ldp_core.anova`) and a function of the attributes in O to products of the same kind, by one matrix
H_A for the whole component: its singular values come dim_A times. H_A couples only those attributes
of O that a group asks about together, along with A; all else has g_A as it does for any survey.
Functions of attributes that nothing couples meet in the constant, which is there once: H_A is then
one matrix for all of them, but for the empty A, where the constant goes. Source: this project.

If the attributes in O form tables that are too large, but there are few queries, the products of
the queries with each other, less those of their means, form one matrix. It has the same eigenvalues
but for zeros, for any number of types. An example: conditions about many attributes, each about a
few.

**The rounding** of H (the model: `ldp_core.bounds.verify`). A group's Gram matrix has entries off by ``g u s_i s_j``, s the roots of its
diagonal. Its means over N_o combinations of the other attributes are off by ``(g + 2 N_o + 2) u`` times the root of the product of the
means of the diagonal, so by that times their sum T in the Frobenius norm. Differences from means along the attributes in A, of m
combinations, add ``4 m u T`` at most, and the sums over m cells ``m u T``; those of errors are sqrt(m) times larger at most. Helmert's
coordinates of N cells are partial sums: off by ``(2 N + 8) u`` times the length, on either side. A query less its mean over the N cells of its table,
and that by means a function of some of its attributes, is off by ``(2 N + 4) u s``, s the root of its mean square; so the product of two of them is off by
``(2 N + 2 N' + c + 12) u s s'``, c the cells of the table that they share.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.bounds.verify import UP, U
from ldp_core.workloads import Group, Histogram, Survey, Workload
from ldp_core.workloads.restricted import cells_of, means_on, several

_MOST_CELLS = 2048
"""Largest block."""
_MOST_QUERIES = 2048
_MOST_TABLES = 256
_MOST_ENTRIES = 2**22
"""Most queries whose products with each other form one block, most groups that contain them, and
most entries of all queries on the tables of these groups."""


@dataclass(frozen=True, eq=False)
class GramBlock:
    """G / n on products of a function of length 1 in one component, of dimension ``dim``, and functions in a space of m dimensions, the same for
    all of the component: ``gram`` (m, m), off by a matrix of Frobenius norm ``rounding`` at most."""

    dim: float
    gram: np.ndarray
    rounding: float


@dataclass(frozen=True, eq=False)
class Parts:
    """G / n without constants: numbers ``alone`` (k,) of components of dimensions ``dims`` (k,), and blocks of the other components."""

    dims: np.ndarray
    alone: np.ndarray
    blocks: Iterator[GramBlock]


def nuclear_at_least(survey: Survey) -> float:
    """``|W P|_* / sqrt(n)`` for the uniform prior (see `ldp_core.bounds.centred_svd`), or a number below it: groups and functions whose blocks would
    have more than `_MOST_CELLS` cells are left out where there are many queries, which makes no singular value larger."""
    parts = parts_of(survey)
    norms = [block.dim * _nuclear(linalg.eigvalsh(block.gram)) for block in parts.blocks]
    return math.fsum([*norms, *parts.dims * np.sqrt(parts.alone)])


def _nuclear(values: np.ndarray) -> float:
    # The root of what rounding makes of an eigenvalue of 0 would raise the bound.
    return float(np.sqrt(values[values > values.max(initial=0.0) * len(values) * np.finfo(float).eps]).sum())


def parts_of(survey: Survey) -> Parts:
    """The survey taken apart; what would take larger blocks than `_MOST_CELLS` is left out, unless the queries are few."""
    ordered = survey.ordered_groups
    distinguished = _distinguished_attributes(survey, ordered)
    clusters = _clusters(survey, sorted({_within(group.attributes, distinguished) for group in ordered}))
    cluster_of = {id(group): _holding(_within(group.attributes, distinguished), clusters) for group in ordered}
    kept = [group for group in survey.groups if cluster_of.get(id(group), ()) is not None]
    if len(kept) < len(survey.groups) and _has_few_queries(survey):
        return Parts(np.zeros(0), np.zeros(0), iter([_by_queries(survey)]))
    if not kept:
        return Parts(np.zeros(0), np.zeros(0), iter(()))
    coupled: dict[Set, dict[Set, set[int]]] = {}  # by set A, the attributes of O that hang together along with it
    for group in kept:
        if (cluster := cluster_of.get(id(group))) is not None:
            for members in anova.subsets(_others(survey, group, distinguished)):
                coupled.setdefault(members, {}).setdefault(cluster, set()).update(
                    _within(group.attributes, distinguished)
                )
    tables = {
        members: [tuple(sorted(attributes)) for attributes in found.values()] for members, found in coupled.items()
    }
    asking: dict[Set, list[Group]] = {members: [] for members in tables}
    for group in kept:
        for members in anova.subsets(_others(survey, group, distinguished)):
            if members in asking:
                asking[members].append(group)
    known = Survey(survey.shape, kept).components
    alone = [
        number
        for number, members in enumerate(known.sets)
        if _holding(_within(members, distinguished), tables.get(_without(members, distinguished), [])) is None
    ]
    blocks = (block for members in tables for block in _blocks(survey, members, tables[members], asking[members]))
    return Parts(known.dims[alone], known.gram[alone], blocks)


def _has_few_queries(survey: Survey) -> bool:
    entries = sum(group.base.num_queries * group.base.n for group in survey.groups)
    return survey.num_queries <= _MOST_QUERIES and len(survey.groups) <= _MOST_TABLES and entries <= _MOST_ENTRIES


def _by_queries(survey: Survey) -> GramBlock:
    """W P W' / n, over all queries instead of types."""
    ends = np.cumsum([0, *(group.base.num_queries for group in survey.groups)])
    gram, largest, sizes = np.zeros((ends[-1], ends[-1])), 0, 0.0
    centred = []
    for group in survey.groups:
        rows = group.weight * group.base.rows(np.arange(group.base.num_queries))
        largest = max(largest, 4 * group.base.n + 2 * group.base.gram_roundings)
        sizes += float(np.einsum("qc,qc->", rows, rows)) / group.base.n
        centred.append(rows - rows.mean(axis=1, keepdims=True))
    for k, group in enumerate(survey.groups):
        for j, other in enumerate(survey.groups[: k + 1]):
            common = set(group.attributes) & set(other.attributes)
            if any(survey.shape[i] > 1 for i in common):  # else they have nothing to do with each other
                first, second = means_on(centred[k], survey, group, common), means_on(centred[j], survey, other, common)
                gram[ends[k] : ends[k + 1], ends[j] : ends[j + 1]] = first @ second.T / first.shape[1]
    gram = np.tril(gram) + np.tril(gram, -1).T
    # The table that two queries share has no more cells than either table.
    return GramBlock(1.0, gram, UP * (1.25 * largest + 32) * U * sizes)


def _within(members: Iterable[int], some: Container[int]) -> Set:
    return tuple(i for i in members if i in some)


def _without(members: Iterable[int], some: Container[int]) -> Set:
    return tuple(i for i in members if i not in some)


def _holding(members: Set, sets: Iterable[Set]) -> Set | None:
    """The first of the sets that holds the ``members``."""
    return next((other for other in sets if set(members) <= set(other)), None)


def _others(survey: Survey, group: Group, distinguished: set[int]) -> Set:
    """The attributes of a group that are not in O."""
    return _without(several(survey, group.attributes), distinguished)


def _distinguished_attributes(survey: Survey, groups: Iterable[Group]) -> set[int]:
    """O: the attributes whose values the Gram matrix of some group does not treat alike."""
    known: dict[tuple[object, ...], Set] = {}
    distinguished = set[int]()
    for group in groups:
        sizes = tuple(survey.shape[i] for i in group.attributes)
        key = (group.base.digest, sizes)
        if key not in known:
            known[key] = _changing(group.base, sizes) or tuple(i for i, size in enumerate(sizes) if size > 1)
        distinguished.update(group.attributes[axis] for axis in known[key])
    return distinguished


def _changing(base: Workload, sizes: Sequence[int]) -> Set:
    gram = base.gram_dense().reshape(*sizes, *sizes)
    rounding = 4 * (base.gram_roundings + 1) * U * float(np.abs(gram).max())
    axes = []
    for axis, size in enumerate(sizes):
        pairs = np.moveaxis(gram, (axis, len(sizes) + axis), (0, 1)).reshape(size, size, -1)
        same = pairs[np.arange(size), np.arange(size)]
        other = pairs[~np.eye(size, dtype=bool)]
        if np.ptp(same, axis=0).max() > rounding or (size > 1 and np.ptp(other, axis=0).max() > rounding):
            axes.append(axis)
    return tuple(axes)


def _clusters(survey: Survey, sets: Iterable[Set]) -> list[Set]:
    """Sets that share attributes as one, as long as its table is not too large."""
    clusters: list[Set] = []
    for members in sets:
        met = [cluster for cluster in clusters if set(cluster) & set(members)]
        together = tuple(sorted(set(members).union(*met)))
        if math.prod(survey.shape[i] for i in together) <= _MOST_CELLS:
            clusters = [*(cluster for cluster in clusters if cluster not in met), together]
    return clusters


def _blocks(survey: Survey, members: Set, tables: Sequence[Set], groups: Sequence[Group]) -> Iterator[GramBlock]:
    """The component ``members`` times functions of the attributes in any of the ``tables``: one block for each without the constant, and for
    none of ``members`` nothing but these; else one for all, as far as `_MOST_CELLS` go."""
    dim, joined, total = anova.dimensions(survey.shape, members), np.zeros((1, 1)), 0.0
    for table in tables:
        gram, rounding = _table(survey, members, table, groups)
        centred = anova.coordinates(anova.coordinates(gram).T)  # the first coordinate is that along the constant
        rounding += UP * 2 * (2 * len(gram) + 8) * U * float(linalg.norm(gram))
        if not members:
            yield GramBlock(dim, centred[1:, 1:], rounding)
        elif (m := len(joined)) + len(gram) - 1 <= _MOST_CELLS:
            joined = np.pad(joined, (0, len(gram) - 1))
            places = np.r_[0, m : len(joined)]
            joined[np.ix_(places, places)] = centred
            total += rounding
    if members:
        yield GramBlock(dim, joined, total)


def _table(survey: Survey, members: Set, block: Set, groups: Sequence[Group]) -> tuple[np.ndarray, float]:
    """(cells, cells) G / n on the component ``members`` times functions of the attributes in ``block``, and the Frobenius norm of its rounding."""
    sizes = [survey.shape[i] for i in block]
    cells, unit = math.prod(sizes), math.prod(survey.shape[i] for i in members)
    gram, rounding = np.zeros((cells, cells)), 0.0
    by_common: dict[Set, np.ndarray] = {}
    for group in groups:
        common = _within(group.attributes, set(block))
        part, size, steps = _seen(survey, group, members, common)
        part = group.weight**2 * part
        by_common[common] = by_common[common] + part if common in by_common else part
        rounding += group.weight**2 * size * (steps + len(groups) + 8) * (cells / len(part))
    for common, part in by_common.items():
        place = cells_of(sizes, block, common)
        gram += part[np.ix_(place, place)]
    return gram / (cells * unit), UP * U * rounding / (cells * unit)


def _seen(survey: Survey, group: Group, members: Set, common: Set) -> tuple[np.ndarray, float, float]:
    """(cells, cells) what a group asks of functions of ``common``, times a function of length 1 in the component ``members``; a bound on its
    Frobenius norm, and how many units of rounding times that it may be off by."""
    unit, cells = (math.prod(survey.shape[i] for i in some) for some in (members, common))
    others = group.base.n // (unit * cells)
    if isinstance(group.base, Histogram):
        return np.eye(cells) / others, math.sqrt(cells) / others, 2.0
    kept, attributes = (*members, *common), group.attributes
    order = [attributes.index(i) for i in (*kept, *(i for i in attributes if i not in kept))]
    sizes = [survey.shape[i] for i in attributes]
    gram = group.base.gram_dense().reshape(*sizes, *sizes).transpose([*order, *(len(sizes) + axis for axis in order)])
    seen = gram.reshape(unit * cells, others, unit * cells, others).mean(axis=3).mean(axis=1)
    seen = seen.reshape(*(survey.shape[i] for i in members), cells, unit, cells)
    for axis in range(len(members)):  # on one side: a projection is its own square
        seen = seen - seen.mean(axis=axis, keepdims=True)
    table = np.einsum("acad->cd", seen.reshape(unit, cells, unit, cells)) / anova.dimensions(survey.shape, members)
    size = group.base.trace / others * math.sqrt(unit) / anova.dimensions(survey.shape, members)
    return table, size, group.base.gram_roundings + 4 * others + 8 * unit + 16.0
