"""The types that questions distinguish: those with different columns in W.

Types with equal columns are one type to every question. A mechanism for the merged types loses
nothing: draw a representative of each class at random, and any mechanism for all types becomes one
for the classes with the same variance on average over a class. Source: this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_WORKLOAD_ENTRIES

if TYPE_CHECKING:
    from ldp_core.workloads.base import Workload

_CLOSE = 1e-9
"""Images of types under a random query that differ by less, relative to the largest, may be equal."""


@dataclass(frozen=True, eq=False)
class Distinguished:
    """``classes`` (n,) the class of each type, numbered from 0 to c - 1; ``sizes`` (c,) the number of
    types in each; and ``workload``, the same questions about the c classes."""

    classes: np.ndarray
    sizes: np.ndarray
    workload: Workload

    def shares(self, prior: np.ndarray | None) -> np.ndarray | None:
        """(c,) ``prior`` (n,) added up by class. None if all classes have the same share and no prior is given."""
        if prior is not None:
            return np.bincount(self.classes, prior)
        return None if np.ptp(self.sizes) == 0 else self.sizes / self.sizes.sum()

    def spread(self, shares: np.ndarray) -> np.ndarray:
        """(n,) the prior over types whose classes have ``shares`` (c,), equal within each class."""
        return (shares / self.sizes)[self.classes]


def distinguished(workload: Workload) -> Distinguished | None:
    """The classes of types that ``workload`` distinguishes. None if these are all its types, fewer than two classes, or
    if there are too many types to compare: past `ldp_core.limits.MOST_MATRIX_TYPES`."""
    n = workload.n
    if n > MOST_MATRIX_TYPES or workload.symmetry == "exchangeable":
        return None
    images = np.sort(workload.apply_gram(np.random.default_rng(0).random(n)))
    if np.diff(images).min() > _CLOSE * np.abs(images).max():
        return None
    written = workload.num_queries * n <= MOST_WORKLOAD_ENTRIES
    # G e_u = G e_v exactly if W e_u = W e_v, and G is there for any number of queries.
    columns = np.ascontiguousarray((workload.matrix if written else workload.gram_dense()).T) + 0.0  # no -0
    keys = columns.view(np.dtype((np.void, columns.shape[1] * columns.itemsize))).ravel()
    _, first, classes, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if not 2 <= len(first) < n:
        return None
    order = np.argsort(first)  # classes in the order of their first types
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = first[order]
    return Distinguished(rank[classes.ravel()], sizes[order], _merged(workload, first, columns if written else None))


def _merged(workload: Workload, first: np.ndarray, columns: np.ndarray | None) -> Workload:
    from ldp_core.workloads.base import root_of  # these build on this module
    from ldp_core.workloads.composite import Custom

    if columns is None:
        return Custom(root_of(workload.gram_dense()[np.ix_(first, first)]))
    return Custom(columns[first].T)
