"""What the closed-form bound, the moment relaxation and the optimiser's first rows share: the centred Gram."""

from __future__ import annotations

import numpy as np
from scipy import linalg


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
