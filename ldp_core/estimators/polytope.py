"""Projection of the answers onto W B_1, the answers of all signed populations of N users (Bassily 2019, Algorithm 2).

After Nikolov, Talwar and Zhang 2013: the projection never increases the squared error, and with few users for many
queries it makes it independent of the number of queries.
"""

from __future__ import annotations

import numpy as np

from ldp_core.estimators import norm_sub, quadratic
from ldp_core.workloads import Histogram, Workload


def project(workload: Workload, counts: np.ndarray, users: float) -> np.ndarray:
    """(n,) the x with sum |x| <= ``users`` whose answers W x are closest to W ``counts``.

    That is the nearest point of the polytope spanned by +-N W e_u (see `ldp_core.estimators.quadratic`).
    """
    counts = np.asarray(counts, dtype=float)
    if np.abs(counts).sum() <= users:
        return counts
    if isinstance(workload, Histogram):
        return norm_sub.project_absolute(counts, users)
    R = workload.gram_root
    both = np.concatenate([counts, np.zeros_like(counts)])  # people, and people to take away
    weights = quadratic.project_by_root(np.concatenate([R, -R], axis=1), both, users)
    return weights[: workload.n] - weights[workload.n :]
