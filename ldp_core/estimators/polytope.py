"""Projection of the answers onto W B_1, the answers of all signed populations of N users (Bassily 2019, Algorithm 2).

After Nikolov, Talwar and Zhang 2013: the projection never increases the squared error, and with few users for many
queries it makes it independent of the number of queries. See
`ldp_core.bounds.few_users.project_below`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from ldp_core.estimators import norm_sub
from ldp_core.workloads import Histogram, Workload


def project(workload: Workload, counts: np.ndarray, users: float) -> np.ndarray:
    """(n,) the x with sum |x| <= ``users`` whose answers W x are closest to W ``counts``.

    The nearest point of the polytope spanned by +-N W e_u. With V the vertices less the point to project, one per
    column, the non-negative least squares problem |V l|^2 + (1'l - 1)^2 has its optimum at a multiple of the convex
    weights of the nearest point, whatever the scale of V; so it is exact, with no penalty to choose.
    """
    counts = np.asarray(counts, dtype=float)
    if np.abs(counts).sum() <= users:
        return counts
    if isinstance(workload, Histogram):
        return norm_sub.project_absolute(counts, users)
    R = workload.gram_root
    vertices = np.concatenate([R, -R], axis=1) - (R @ (counts / users))[:, None]
    lengths = np.linalg.norm(vertices, axis=0)
    vertices /= lengths.max()
    system = np.vstack([vertices, np.ones(vertices.shape[1])])
    weights, _ = nnls(system, np.append(np.zeros(len(R)), 1.0), maxiter=60 * workload.n)
    weights *= users / weights.sum()
    return weights[: workload.n] - weights[workload.n :]
