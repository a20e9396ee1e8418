"""The centred Gram matrix, shared by the closed-form bound, the moment relaxation and the
optimiser's first rows."""

from __future__ import annotations

import numpy as np
from scipy import linalg


def centred_gram(gram: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, n) ``P S G S P`` with S = diag(sqrt p) and P the projection orthogonal to sqrt p."""
    root = np.sqrt(prior)
    K = root[:, None] * gram * root
    K = K - np.outer(K @ root, root)
    return K - np.outer(root, root @ K)


def centred_root_correlation(gram: np.ndarray) -> np.ndarray:
    """(n, n) ``(P G P)^(1/2)`` for the uniform prior with ones on its diagonal, which a little of the identity keeps positive."""
    n = len(gram)
    values, vectors = linalg.eigh(centred_gram(gram, np.full(n, 1 / n)))
    roots = np.sqrt(np.maximum(values, 0) * n)
    little = 1e-3 * roots.mean() or 1.0  # nothing is asked but the total
    root = (vectors * (roots + little)) @ vectors.T
    scale = np.sqrt(root.diagonal())
    return root / np.outer(scale, scale)


def field_correlation(gram: np.ndarray) -> np.ndarray:
    """(n, n) correlations of a Gaussian field that, thresholded at its median, correlates like ``(P G P)^(1/2)`` for the uniform
    prior: thresholding takes them through the inverse of ``sin(pi/2 .)``."""
    return np.sin(np.pi / 2 * centred_root_correlation(gram))


def high_share(ratio: float, n: int) -> float:
    """The share of high entries of the best rows, 1/(E + 1), kept where rows of n entries have one high on average."""
    return max(1 / (ratio + 1), 1 / n)
