"""Vectors that people send with noise, one column of A (k, n) per type: how far apart they are, and what they tell.

The number of users is known, so the component of A along 1 does not matter: P = I - 11'/n removes
it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist

from ldp_core.definite import pseudo_inverse, regular_inverse


def centred(matrix: np.ndarray) -> np.ndarray:
    """``matrix`` P: rows (..., n) less their mean over the types."""
    return matrix - matrix.mean(axis=-1, keepdims=True)


def centred_inverse(strategy: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(P A'A P)^+ (n, n) and, where A does not identify every difference of types, the projector onto what it does."""
    A = centred(np.asarray(strategy, dtype=float))
    n = A.shape[1]
    S = A.T @ A
    # A weight along 1, which P leaves empty, gives S full rank whenever the differences are identified.
    level = np.trace(S) / (n - 1)
    if (regular := regular_inverse(S + level / n)) is not None:
        return regular - 1 / (level * n), None
    inverse, projector = pseudo_inverse(S, n * np.finfo(float).eps)
    assert projector is not None  # S leaves 1 empty
    return inverse, None if round(np.trace(projector)) == n - 1 else projector


def diameter(strategy: np.ndarray, norm: Literal["l1", "l2"]) -> tuple[float, tuple[int, int]]:
    """Largest distance between two columns of ``strategy`` (k, n), and the two types that have it."""
    A = centred(np.asarray(strategy, dtype=float))
    n = A.shape[1]
    rows, columns = np.triu_indices(n, 1)
    if norm == "l1":
        worst = int(np.argmax(pdist(A.T, "cityblock")))
    else:
        worst = int(np.argmax(squared_distances(A.T @ A)[rows, columns]))
    pair = int(rows[worst]), int(columns[worst])
    between = A[:, pair[0]] - A[:, pair[1]]
    return float(np.linalg.norm(between, 1 if norm == "l1" else 2)), pair


def squared_distances(gram: np.ndarray) -> np.ndarray:
    """(n, n) squared L2 distances of the columns of A from A'A (n, n): no more work than one matrix product."""
    lengths = np.diag(gram)
    return np.maximum(lengths[:, None] + lengths - 2 * gram, 0.0)


def around_centre(vectors: np.ndarray) -> np.ndarray:
    """(k, n) ``vectors`` less the centre of the smallest ball that holds them all, in as few coordinates as they need.

    Noise that grows with the longest vector is least there. The number of users is known, so that nothing is lost. The
    centre is a mean of the vectors with the weights that maximise ``sum_i w_i |a_i|^2 - |sum_i w_i a_i|^2``, found by steps
    towards the farthest vector and away from the nearest (Yildirim 2008). It stops where the radius is within a millionth of
    the least.
    """
    squares = squared_distances(vectors.T @ vectors)
    weights = np.full(vectors.shape[1], 1.0 / vectors.shape[1])
    to_each = squares @ weights
    for _ in range(100_000):
        spread = float(weights @ to_each) / 2  # the value that is maximised
        distances = to_each - spread  # squared, of each vector from the present centre
        far = int(np.argmax(distances))
        near = int(np.argmin(np.where(weights > 0, distances, np.inf)))
        if distances[far] <= spread * (1 + 2e-6):
            break
        if distances[far] - spread >= spread - distances[near]:
            chosen, step = far, (distances[far] - spread) / (2 * distances[far])
        else:
            limit = weights[near] / (1 - weights[near])
            chosen = near
            step = -limit if distances[near] <= 0 else -min(limit, (spread - distances[near]) / (2 * distances[near]))
        weights *= 1 - step
        weights[chosen] = max(weights[chosen] + step, 0.0)
        to_each = (1 - step) * to_each + step * squares[chosen]
    around = vectors - (vectors @ weights)[:, None]
    values, directions = np.linalg.eigh(around @ around.T)
    return directions[:, values > values[-1] * len(values) * np.finfo(float).eps].T @ around
