"""What the closed-form bound, the moment relaxation and the optimiser's first rows share: priors and the centred Gram."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg


def check_prior(prior: np.ndarray | None, n: int) -> np.ndarray:
    """(n,) ``prior`` as probabilities, the uniform ones for None, or a ValueError."""
    if prior is None:
        return np.full(n, 1 / n)
    p = np.asarray(prior, dtype=float)
    if p.shape != (n,) or not np.all(p >= 0) or not math.isclose(p.sum(), 1, abs_tol=1e-9):
        raise ValueError(f"A prior holds one non-negative probability for each of the {n} types and sums to 1.")
    return p


def centred_gram(gram: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, n) ``P S G S P`` with S = diag(sqrt p) and P the projection orthogonal to sqrt p."""
    root = np.sqrt(prior)
    K = root[:, None] * gram * root
    K = K - np.outer(K @ root, root)
    return K - np.outer(root, root @ K)


def centred_root(gram: np.ndarray) -> np.ndarray:
    """(n, n) the root of P G P for the uniform prior, with a little of the identity so that its diagonal is positive."""
    n = len(gram)
    values, vectors = linalg.eigh(centred_gram(gram, np.full(n, 1 / n)))
    roots = np.sqrt(np.maximum(values, 0) * n)
    little = 1e-3 * roots.mean() or 1.0  # nothing is asked but the total
    return (vectors * (roots + little)) @ vectors.T


def high_share(ratio: float, n: int) -> float:
    """The share of high entries of the best rows, 1/(E + 1), kept where rows of n entries have one high on average."""
    return max(1 / (ratio + 1), 1 / n)
