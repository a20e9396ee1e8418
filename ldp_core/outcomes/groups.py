"""What a query is, in one word or number: the length of a range, the attributes of a marginal, the place of a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ldp_core.simulate import SHOWN_QUERIES
from ldp_core.workloads import AllMarginals, AllRange, KWayMarginals, Parity, Prefix, Union, WidthRange, Workload
from ldp_core.workloads.on_attributes import OnAttributes

MOST_LENGTHS = 128
"""Most range lengths looked at; more are thinned evenly."""
MOST_SUBSETS = 64
"""Up to this many sets of attributes are groups of their own, more are grouped by their size."""
A_GROUP = 32
"""Queries of a group whose errors stand for all of it, evenly spread over the group."""


@dataclass(frozen=True)
class Groups:
    """Queries that are alike.

    Attributes:
        by: what they are alike in, for an axis: "types in the range", "attributes".
        names: (g,) one a group, in order.
        queries: (k,) indices of the queries that stand for the groups, at most `A_GROUP` each.
        of: (k,) the group, from 0, of each of them.
        sizes: (g,) how many queries of the workload are in each group.
    """

    by: str
    names: tuple[str, ...]
    queries: np.ndarray
    of: np.ndarray
    sizes: np.ndarray

    def means(self, values: np.ndarray) -> np.ndarray:
        """(..., g) means over the queries of each group of ``values`` (..., k)."""
        order = np.argsort(self.of, kind="stable")
        starts = np.searchsorted(self.of[order], np.arange(len(self.names)))
        return np.add.reduceat(values[..., order], starts, axis=-1) / np.bincount(self.of)


def query_groups(workload: Workload, labels: Sequence[str] | None = None) -> Groups:
    """The queries of ``workload`` grouped by what they are: ranges by length, marginals by attributes, parities by how many
    attributes; running totals and single counts are groups of their own."""
    if isinstance(workload, OnAttributes):
        return query_groups(workload.base)
    if isinstance(workload, (AllRange, WidthRange)):
        return _by_length(workload)
    if isinstance(workload, (AllMarginals, KWayMarginals)):
        return _by_attributes(workload)
    if isinstance(workload, Parity):
        weights = np.bitwise_count(workload.characters).astype(np.int64)
        return _grouped("attributes in the parity", [str(k) for k in range(weights.max() + 1)], weights)
    if isinstance(workload, Union):
        sizes = [part.num_queries for part in workload.parts]
        names = [f"{i}. {part.title}" for i, part in enumerate(workload.parts, start=1)]
        return _grouped("part of the workload", names, np.repeat(np.arange(len(sizes)), sizes))
    kept = min(workload.num_queries, SHOWN_QUERIES)
    queries = np.unique(np.linspace(0, workload.num_queries - 1, kept).astype(np.int64))
    names = tuple(workload.query_name(int(query), labels) for query in queries)
    by = "running total" if isinstance(workload, Prefix) else "query"
    return Groups(by, names, queries, np.arange(len(queries)), np.ones(len(queries), dtype=np.int64))


def _by_length(workload: AllRange | WidthRange) -> Groups:
    low, high = workload.ends(np.arange(workload.num_queries))
    longest = int((high - low).max())
    lengths = np.unique(np.linspace(0, longest, min(longest + 1, MOST_LENGTHS)).astype(np.int64))
    place = np.full(longest + 1, -1)
    place[lengths] = np.arange(len(lengths))
    return _grouped("types in the range", [str(length + 1) for length in lengths], place[high - low])


def _by_attributes(workload: AllMarginals | KWayMarginals) -> Groups:
    cells = [int(np.prod([workload.shape[i] for i in subset], dtype=np.int64)) for subset in workload.subsets]
    position = np.repeat(np.arange(len(cells)), cells)
    if len(cells) <= MOST_SUBSETS:
        return _grouped("attributes", [_attributes(workload, subset) for subset in workload.subsets], position)
    sizes = np.array([len(subset) for subset in workload.subsets])
    return _grouped("attributes in the marginal", [str(k) for k in np.unique(sizes)], (sizes - sizes.min())[position])


def _attributes(workload: AllMarginals | KWayMarginals, subset: tuple[int, ...]) -> str:
    names = (
        [axis.name for axis in workload.axes] if workload.axes else [f"x{i + 1}" for i in range(len(workload.shape))]
    )
    return ", ".join(names[i] for i in subset) or "everybody"


def _grouped(by: str, names: Sequence[str], of: np.ndarray) -> Groups:
    """Groups from the group ``of`` (p,) every query, -1 for those left out."""
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(len(names) + 1))
    chosen = [_spread(order[start:end]) for start, end in pairwise(starts)]
    counts = [len(queries) for queries in chosen]
    return Groups(by, tuple(names), np.concatenate(chosen), np.repeat(np.arange(len(names)), counts), np.diff(starts))


def _spread(queries: np.ndarray) -> np.ndarray:
    return queries[np.unique(np.linspace(0, len(queries) - 1, min(len(queries), A_GROUP)).astype(np.int64))]
