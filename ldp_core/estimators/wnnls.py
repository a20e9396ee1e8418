"""Workload non-negative least squares (McKenna et al. 2020, Appendix A): the closest answers that some real data could have."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from ldp_core.workloads import Histogram, Workload


def project(workload: Workload, counts: np.ndarray) -> np.ndarray:
    """(n,) the x >= 0 that minimises (x - counts)' G (x - counts).

    A projection, in the workload's own norm, onto a convex set that holds the truth: it never increases the squared error.
    """
    if isinstance(workload, Histogram):
        return np.maximum(counts, 0.0)
    R = workload.gram_root
    # Unit scale keeps the solver's stopping rule meaningful for any number of users.
    scale = max(float(np.abs(counts).max()), 1.0)
    solution, _ = nnls(R, R @ (counts / scale), maxiter=30 * workload.n)
    return solution * scale
