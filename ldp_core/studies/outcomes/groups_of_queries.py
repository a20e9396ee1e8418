"""The property by which queries are grouped, in one word or number: the length of a range, the
attributes of a marginal, the place of a prefix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ldp_core.limits import MOST_LENGTH_GROUPS, MOST_SET_GROUPS
from ldp_core.workloads import (
    AllMarginals,
    AllRange,
    Custom,
    Histogram,
    KWayMarginals,
    OnAttributes,
    Parity,
    Prefix,
    Product,
    Survey,
    Union,
    WidthRange,
    Workload,
)
from ldp_core.workloads.shown import shown_queries, spread

A_GROUP = 32
"""The errors of at most this many queries, evenly spread over their group, stand for all of it."""


@dataclass(frozen=True)
class Groups:
    """Groups of queries that are alike.

    Attributes:
        by: what the queries of a group have in common, as the title of an axis: "types in the range", "attributes".
        names: (g,) one per group, in order.
        queries: (k,) indices of the queries that stand for the groups, at most `A_GROUP` each.
        of: (k,) the group, from 0, of each of them.
        sizes: (g,) how many queries of the workload are in each group.
    """

    by: str
    names: tuple[str, ...]
    queries: np.ndarray
    of: np.ndarray
    sizes: np.ndarray

    def __repr__(self) -> str:
        return f"<Groups: {self.sizes.sum():,} queries in {len(self.names):,} groups by {self.by}>"

    def means(self, values: np.ndarray) -> np.ndarray:
        """(..., g) means over the queries of each group of ``values`` (..., k)."""
        order = np.argsort(self.of, kind="stable")
        starts = np.searchsorted(self.of[order], np.arange(len(self.names)))
        return np.add.reduceat(values[..., order], starts, axis=-1) / np.bincount(self.of)


def query_groups(workload: Workload, labels: Sequence[str] | None = None, parts: Sequence[str] | None = None) -> Groups:
    """The queries of ``workload`` grouped by what they are: ranges by length, marginals by their attributes, parities by the
    number of attributes, those of unions by their part; every running total and every single count is a group of its own.

    ``labels`` name the types, ``parts`` the parts of a union.
    """
    if isinstance(workload, OnAttributes):
        return query_groups(workload.base)
    if isinstance(workload, (AllRange, WidthRange)):
        return _by_length(workload)
    if isinstance(workload, (AllMarginals, KWayMarginals)):
        cells = [math.prod(workload.shape[i] for i in subset) for subset in workload.subsets]
        called = [axis.name for axis in workload.axes or ()] or [f"x{i + 1}" for i in range(len(workload.shape))]
        return _by_attributes([[called[i] for i in subset] for subset in workload.subsets], cells)
    if workload.survey is not None:
        return _by_set(workload.survey)
    if isinstance(workload, Parity):
        sizes = [math.comb(workload.d, k) for k in range(workload.max_weight + 1)]  # light ones come first
        return _grouped("attributes in the parity", [str(k) for k in range(len(sizes))], range(len(sizes)), sizes)
    if isinstance(workload, Union):
        return _by_part(workload, parts) if len(workload.parts) > 1 else query_groups(workload.parts[0], labels)
    queries = shown_queries(workload)
    names = tuple(workload.query_name(int(query), labels) for query in queries)
    by = "running total" if isinstance(workload, Prefix) else "query"
    return Groups(by, names, queries, np.arange(len(queries)), np.ones(len(queries), dtype=np.int64))


def counts_people(workload: Workload) -> bool:
    """True if every query, without its weight, counts people: some of the types once, the others not at all."""
    if isinstance(workload, Union):
        return all(map(counts_people, workload.parts))
    if isinstance(workload, Product):
        return all(map(counts_people, workload.factors))
    if isinstance(workload, OnAttributes):
        return counts_people(workload.base)
    if workload.survey is not None:
        return all(map(counts_people, {group.base.digest: group.base for group in workload.survey.groups}.values()))
    if isinstance(workload, Custom):
        W = workload.matrix
        return bool(((W == 0) | (W == 1)).all())
    return not isinstance(workload, Parity)


def _by_length(workload: AllRange | WidthRange) -> Groups:
    n, width = workload.n, getattr(workload, "width", workload.n)
    lengths = np.unique(np.linspace(1, width, min(width, MOST_LENGTH_GROUPS)).astype(np.int64))
    # The first query of each first type.
    starts = np.concatenate([[0], np.cumsum(np.minimum(width, n - np.arange(n)))])
    chosen = [starts[spread([n - length + 1], A_GROUP)[0]] + length - 1 for length in lengths]
    return _of_chosen("types in the range", [str(length) for length in lengths], chosen, n - lengths + 1)


def _by_attributes(sets: Sequence[Sequence[str]], sizes: Sequence[int]) -> Groups:
    """Marginals of ``sizes`` cells each over ``sets`` of attributes."""
    if len(sets) <= MOST_SET_GROUPS:
        names = [", ".join(attributes) or "everybody" for attributes in sets]
        return _grouped("attributes", names, range(len(sets)), sizes)
    many = np.array([len(attributes) for attributes in sets])
    kinds, of = np.unique(many, return_inverse=True)
    return _grouped("attributes in the marginal", [str(k) for k in kinds], of, sizes)


def _by_set(survey: Survey) -> Groups:
    """The queries of a survey by the attributes that they are about."""
    called = [axis.name for axis in survey.axes or ()] or [f"x{i + 1}" for i in range(len(survey.shape))]
    sizes = [group.base.num_queries for group in survey.groups]
    sets = list(dict.fromkeys(group.attributes for group in survey.groups))
    of = [sets.index(group.attributes) for group in survey.groups] if len(sets) <= MOST_SET_GROUPS else []
    if of and len(sets) < len(survey.groups):  # several kinds of questions about the same
        return _grouped(
            "attributes asked about", [", ".join(called[i] for i in members) for members in sets], of, sizes
        )
    groups = _by_attributes([[called[i] for i in group.attributes] for group in survey.groups], sizes)
    counted = all(isinstance(group.base, Histogram) for group in survey.groups)
    return groups if counted else replace(groups, by=groups.by.replace("in the marginal", "asked about"))


def _by_part(workload: Union, names: Sequence[str] | None) -> Groups:
    sizes = [part.num_queries for part in workload.parts]
    bases = [part.base if isinstance(part, OnAttributes) else part for part in workload.parts]
    if names is None and all(isinstance(base, Histogram) and base.axes for base in bases):
        return _by_attributes([[axis.name for axis in base.axes or ()] for base in bases], sizes)
    titles = [part.title for part in workload.parts] if names is None else names
    named = [f"{i}. {title}" for i, title in enumerate(titles, start=1)]
    return _grouped("group of queries", named, range(len(sizes)), sizes)


def _grouped(by: str, names: Sequence[str], of: ArrayLike, sizes: Sequence[int]) -> Groups:
    """Groups from runs of ``sizes`` (b,) neighbouring queries, each in the group ``of`` (b,)."""
    lengths, chosen, totals = np.array(sizes, dtype=np.int64), [], []
    starts = np.cumsum(lengths) - lengths
    for group in range(len(names)):
        runs = np.flatnonzero(np.asarray(of) == group)
        ends = np.cumsum(lengths[runs])
        places = spread([ends[-1]], A_GROUP)[0]
        run = np.searchsorted(ends, places, side="right")
        chosen.append(places + (starts[runs] - ends + lengths[runs])[run])
        totals.append(ends[-1])
    return _of_chosen(by, names, chosen, np.array(totals))


def _of_chosen(by: str, names: Sequence[str], chosen: Sequence[np.ndarray], sizes: np.ndarray) -> Groups:
    of = np.repeat(np.arange(len(names)), [len(queries) for queries in chosen])
    return Groups(by, tuple(names), np.concatenate(chosen), of, sizes)
