"""The types that questions distinguish: those with different columns in W.

Types with equal columns are one type to every question. A mechanism for the merged types loses
nothing: draw a representative of each class at random, and any mechanism for all types becomes one
for the classes with the same variance on average over a class. Source: this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES

if TYPE_CHECKING:
    from ldp_core.workloads.base import Workload

FEWER = 0.9
"""Designs and mechanisms use classes from this share of the types down."""
_CLOSE = 1e-9
"""Images of types under a random query that differ by less, relative to the largest, may be equal."""


@dataclass(frozen=True, eq=False)
class Distinguished:
    """``classes`` (n,) the class of each type, numbered from 0 to c - 1 by their first types;
    ``sizes`` (c,) the number of types in each; and ``workload``, the same queries about the c classes."""

    classes: np.ndarray
    sizes: np.ndarray
    workload: Workload

    @cached_property
    def first(self) -> np.ndarray:
        """(c,) the first type of each class."""
        return np.unique(self.classes, return_index=True)[1]

    def shares(self, prior: np.ndarray | None) -> np.ndarray | None:
        """(c,) ``prior`` (n,) added up by class. None if all classes have the same share and no prior is given."""
        if prior is not None:
            return np.bincount(self.classes, prior)
        return None if np.ptp(self.sizes) == 0 else self.sizes / self.sizes.sum()

    def spread(self, shares: np.ndarray) -> np.ndarray:
        """(n,) the prior over types whose classes have ``shares`` (c,), equal within each class."""
        return (shares / self.sizes)[self.classes]


def classes_of(workload: Workload) -> Distinguished | None:
    """The classes of types to make reports about; None if they are nearly as many as the types."""
    classes = workload.distinguished
    return classes if classes is not None and classes.workload.n <= FEWER * workload.n else None


def distinguished(workload: Workload) -> Distinguished | None:
    """The classes of types that ``workload`` distinguishes.

    Attributes that no question uses are known by structure, up to `ldp_core.limits.MOST_TABLE_CELLS`
    types. All else is found by comparing types, up to `MOST_MATRIX_TYPES`. None if the classes are
    all types, fewer than two, or not found.
    """
    if workload.n > MOST_TABLE_CELLS:
        return None
    used = _on_used_attributes(workload)
    if used is None:
        return _compared(workload)
    further = used.workload.distinguished
    if further is None:
        return used
    sizes = np.bincount(further.classes, used.sizes).astype(np.int64)
    return Distinguished(further.classes[used.classes], sizes, further.workload)


def _on_used_attributes(workload: Workload) -> Distinguished | None:
    """The combinations of the attributes that questions about attributes use; None if that is all of
    them, or if the questions are of another kind."""
    from ldp_core.workloads.composite import Union  # these build on this module
    from ldp_core.workloads.on_attributes import OnAttributes

    parts = workload.parts if isinstance(workload, Union) else (workload,)
    about = [part for part in parts if isinstance(part, OnAttributes)]
    if len(about) < len(parts) or len({part.shape for part in about}) > 1:
        return None
    shape = about[0].shape
    kept = sorted({i for part in about for i in part.kept if shape[i] > 1})
    sizes = tuple(shape[i] for i in kept)
    if not kept or np.prod(sizes) == workload.n:
        return None
    places = np.unravel_index(np.arange(workload.n), shape)
    classes = np.ravel_multi_index([places[i] for i in kept], sizes)
    few = [part.among(kept) for part in about]
    merged = Union(few, workload.weights) if isinstance(workload, Union) else few[0]
    return Distinguished(classes, np.full(merged.n, workload.n // merged.n), merged)


def _compared(workload: Workload) -> Distinguished | None:
    """The classes by comparing the columns of all types."""
    from ldp_core.workloads.composite import Custom  # these build on this module
    from ldp_core.workloads.representatives import Representatives

    n = workload.n
    if n > MOST_MATRIX_TYPES or workload.symmetry == "exchangeable":
        return None
    images = np.sort(workload.apply_gram(np.random.default_rng(0).random(n)))
    if np.diff(images).min() > _CLOSE * np.abs(images).max():
        return None
    written = workload.num_queries * n <= MOST_WORKLOAD_ENTRIES
    # G e_u = G e_v exactly if W e_u = W e_v, and G is there for any number of queries.
    rows = workload.matrix if written else workload.gram_dense()
    found = alike(rows)
    _, first, place, sizes = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
    if not 2 <= len(first) < n:
        return None
    order = np.argsort(first)  # classes in the order of their first types
    merged = Custom(rows[:, first[order]]) if written else Representatives(workload, first[order])
    return Distinguished(np.argsort(order)[place.ravel()], sizes[order], merged)


def alike(rows: np.ndarray) -> np.ndarray:
    """(n,) the number of the class of each type: types are in one where all ``rows`` (q, n) of questions are the same to the last bit. Classes are
    numbered by their bytes, an order that stored proofs rely on."""
    columns = np.ascontiguousarray(rows.T) + 0.0  # no -0
    keys = columns.view(np.dtype((np.void, columns.shape[1] * columns.itemsize))).ravel()
    return np.unique(keys, return_inverse=True)[1].ravel()
