"""Errors of ranges where a trusted curator adds the noise (Qardaji, Yang and Li 2013, their Table 3), for comparison.

All n(n + 1)/2 ranges over n types, Laplace noise, databases that differ by one person; errors are mean variances of a range
in squared people, not shares.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ldp_core import workloads
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.levels import Tree


def tree_error(n: int, epsilon: float, branching: int) -> float:
    """A tree of counts, made consistent (Hay et al. 2010).

    Each of the h levels below the root has Laplace noise of scale h/epsilon. The root has no noisy
    count. With M = A'A, A the
    nodes as sums of types, least squares have the covariance 2 (h/epsilon)^2 M^-1.
    """
    tree, types = Tree(n, branching), np.arange(n)
    M = sum(np.equal.outer(types // width, types // width).astype(float) for width in tree.widths)
    workload = workloads.all_range(n)
    spread = np.trace(linalg.solve(M, workload.gram_dense(), assume_a="pos"))
    return 2 * (tree.height / epsilon) ** 2 * float(spread) / workload.num_queries


def wavelet_error(n: int, epsilon: float) -> float:
    """The error of Haar coefficients (Xiao et al. 2010), n a power of two. A person changes one
    coefficient of each of log2(n) levels, and the sum of all, by 1; each has Laplace noise of scale
    (log2(n) + 1)/epsilon."""
    haar, workload = Haar(n, 1.0), workloads.all_range(n)
    levels = len(haar.blocks)
    spread = workload.quadratic(np.full(n, 1 / n)).sum()
    spread += sum(workload.quadratic(haar.wavelets(level)).sum() for level in range(levels))
    return 2 * ((levels + 1) / epsilon) ** 2 * float(spread) / workload.num_queries
