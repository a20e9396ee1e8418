"""Lower bounds on the objective L(Q) from singular values: true for every unbiased epsilon-LDP factorization mechanism."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload


def svd(workload: Workload, epsilon: float) -> float:
    """L >= (sum of singular values of W)^2 / e^epsilon (McKenna et al. 2020, Theorem 5.6)."""
    return float(workload.singular_values().sum() ** 2 / math.exp(check_epsilon(epsilon)))


def centred_svd(workload: Workload, epsilon: float, prior: np.ndarray | None = None) -> float:
    """n (|W p|^2 + |W S P|_*^2 / sinh(epsilon/2)^2), which bounds L for the uniform prior p (this project).

    S = diag(sqrt p) and P projects orthogonally to sqrt p. A row of an epsilon-LDP strategy, scaled to p-mean one, has
    p-variance at most sinh(epsilon/2)^2, and M_p = 11' + the covariance of those rows; minimising tr(M_p^-1 G) under that
    trace bound gives the nuclear norm. For another prior the value bounds n tr(M_p^-1 G), not L.

    ``prior`` : (n,) non-negative, summing to one; None is uniform.
    """
    epsilon, n = check_epsilon(epsilon), workload.n
    p = np.full(n, 1 / n) if prior is None else np.asarray(prior, dtype=float)
    if p.shape != (n,) or not np.all(p >= 0) or not math.isclose(p.sum(), 1, abs_tol=1e-9):
        raise ValueError(f"A prior holds one non-negative probability for each of the {n} types and sums to 1.")
    root = np.sqrt(p)
    if workload.symmetry == "exchangeable" and prior is None:
        # G = a I + b 11' has one eigenvalue a on everything orthogonal to 1.
        level = float(workload.gram_diag[0] - (workload.gram_sums[0] - workload.gram_diag[0]) / (n - 1))
        nuclear = (n - 1) * math.sqrt(level / n)
    else:
        K = root[:, None] * workload.gram_dense() * root
        K = K - np.outer(K @ root, root)
        K = K - np.outer(root, root @ K)
        nuclear = float(np.sqrt(np.maximum(linalg.eigvalsh(K), 0)).sum())
    return n * (float(workload.quadratic(p)) + nuclear**2 / math.sinh(epsilon / 2) ** 2)
