"""The queries, and the groups of queries, that make up the error of a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Union


@dataclass(frozen=True)
class QueryShare:
    """A query, its readable name, the variance of its (weighted) answer in squared users, and its share of the
    total."""

    query: int
    name: str
    variance: float
    share: float


def dominating(
    workload: Workload, variances: np.ndarray, most: int = 10, labels: Sequence[str] | None = None
) -> list[QueryShare]:
    """The queries of largest variance, at most ``most``, largest first; equal ones in the order of the workload.

    ``variances`` : (p,) of the answers, as `Mechanism.query_variances` gives them.
    """
    variances = _checked(workload, variances)
    total = variances.sum() or 1.0
    order = np.argsort(-variances, kind="stable")[: max(0, most)]
    return [
        QueryShare(int(q), workload.query_name(int(q), labels), float(variances[q]), float(variances[q] / total))
        for q in order
    ]


def group_shares(workload: Workload, variances: np.ndarray) -> np.ndarray:
    """(parts,) share of each part of a union in the total variance; 1 for other workloads. ``variances`` as above."""
    variances = _checked(workload, variances)
    if not isinstance(workload, Union):
        return np.ones(1)
    return np.add.reduceat(variances, workload.offsets[:-1]) / (variances.sum() or 1.0)


def _checked(workload: Workload, variances: np.ndarray) -> np.ndarray:
    variances = np.maximum(np.asarray(variances, dtype=float), 0.0)  # rounding can leave -1e-12 where a variance is 0
    if variances.shape != (workload.num_queries,):
        raise ValueError(f"There are {workload.num_queries:,} queries; got variances of shape {variances.shape}.")
    return variances
