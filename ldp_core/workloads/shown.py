"""The single queries whose answers are kept and drawn, and these answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Union


def shown_queries(workload: Workload) -> np.ndarray:
    """At most `MOST_SHOWN_QUERIES` query indices, evenly spread over the workload, or over each
    part of a union. Each part has a place if there are few enough."""
    parts = workload.parts if isinstance(workload, Union) else [workload]
    return spread([part.num_queries for part in parts], MOST_SHOWN_QUERIES)[0]


def spread(sizes: Sequence[int], most: int) -> tuple[np.ndarray, np.ndarray]:
    """At most ``most`` indices of the members of groups of ``sizes``, evenly spread over each group, small groups whole; and
    where each group's end among them. Too many groups to have a place each count as one."""
    if len(sizes) > most:
        sizes = [sum(sizes)]
    room, kept = most, [0] * len(sizes)
    for place, i in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        kept[i] = min(sizes[i], room // (len(sizes) - place))  # what small groups leave is for larger ones
        room -= kept[i]
    starts = np.cumsum([0, *sizes[:-1]])
    parts = [start + np.linspace(0, p - 1, k).astype(np.int64) for start, p, k in zip(starts, sizes, kept, strict=True)]
    return np.concatenate(parts), np.cumsum(kept)
