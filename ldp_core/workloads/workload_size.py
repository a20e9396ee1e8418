"""The size of a workload in numbers: how many tables of counts, and how large the largest of them
is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core import wording
from ldp_core.limits import MOST_SETS, MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.surveyed import groups_of


@dataclass(frozen=True)
class WorkloadSize:
    """The size of a workload.

    Attributes:
        queries: p. sets: different sets of attributes whose tables it reads.
        cells: of all these tables together. largest: places of the attributes of the largest table, in increasing order.
        largest_cells: of that table.
    """

    queries: int
    sets: int
    cells: int
    largest: tuple[int, ...]
    largest_cells: int


def tables_asked(workload: Workload, shape: Sequence[int]) -> WorkloadSize:
    """The tables that ``workload`` reads, on types in a table of ``shape``: one of all attributes, unless it is a `Survey`."""
    every = tuple(range(len(shape)))
    if workload.survey is None:
        return WorkloadSize(workload.num_queries, 1, workload.n, every, workload.n)
    sets = {group.attributes for group in workload.survey.groups}
    sizes = {members: math.prod(shape[i] for i in members) for members in sets}
    largest = min(sizes, key=lambda members: (-sizes[members], members))
    return WorkloadSize(workload.num_queries, len(sets), sum(sizes.values()), largest, sizes[largest])


def unused_attributes(workload: Workload, shape: Sequence[int]) -> tuple[int, ...]:
    """Places of the attributes of two types or more that no query of ``workload`` is about, on types in a table of ``shape``."""
    unused = {i for i, size in enumerate(shape) if size > 1}
    for group in (
        groups_of(workload.without_strata, tuple(shape)) if workload.survey is None else workload.survey.groups
    ):
        unused -= set(group.attributes)
        if not unused:
            break
    return tuple(sorted(unused))


def joint_domain_fits(axes: Sequence[Axis]) -> bool:
    """True if questions about all attributes at once can be asked."""
    return math.prod(axis.size for axis in axes) <= MOST_TABLE_CELLS


def tables_limit(axes: Sequence[Axis]) -> str:
    """The limit on the tables of these attributes, in a sentence; empty if all can be counted."""
    if joint_domain_fits(axes):
        return ""
    return (
        f"Questions may read up to {MOST_SETS:,} tables, of at most {MOST_TABLE_CELLS:,} cells each and {MOST_WORKLOAD_ENTRIES:,} in all; the "
        f"{wording.magnitude(math.prod(axis.size for axis in axes))} combinations of all {len(axes)} attributes are never counted."
    )


def example_queries(workload: Workload, many: int = 3) -> list[int]:
    """Some different queries, spread from the first to the last."""
    return np.unique(np.linspace(0, workload.num_queries - 1, many).astype(np.int64)).tolist()
