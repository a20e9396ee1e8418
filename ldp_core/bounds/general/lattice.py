"""Lattice vectors near a point: reduction (Lenstra, Lenstra and Lovasz 1982) and enumeration (Schnorr and Euchner 1994)."""

from __future__ import annotations

import math

import numpy as np


def near(basis: np.ndarray, offset: np.ndarray, radius: float) -> np.ndarray:
    """Whole-number vectors z (found, n) with ``|basis z + offset| < radius``, the closest first.

    ``basis`` (n, n) holds a basis of the lattice in its columns, ``offset`` (n,). All of them unless the search is long:
    after 3,000 steps it ends with those found until then.
    """
    change = reduced(basis)
    Q, R = np.linalg.qr(basis @ change)
    vectors = _enumerated(R, Q.T @ offset, radius**2)
    vectors.sort(key=lambda pair: pair[0])
    return np.array([change @ z for _, z in vectors]).reshape(-1, basis.shape[1])


def reduced(basis: np.ndarray) -> np.ndarray:
    """(n, n) the unimodular matrix U of whole numbers that makes ``basis @ U`` reduced: short, nearly orthogonal."""
    n = basis.shape[1]
    U = np.eye(n)
    _, R = np.linalg.qr(basis)
    k = 1
    for _ in range(4000):
        if k == n:
            break
        for j in range(k - 1, -1, -1):
            if times := np.rint(R[j, k] / R[j, j]):
                R[:, k] -= times * R[:, j]
                U[:, k] -= times * U[:, j]
        if R[k, k] ** 2 + R[k - 1, k] ** 2 >= 0.99 * R[k - 1, k - 1] ** 2:
            k += 1
            continue
        U[:, [k - 1, k]] = U[:, [k, k - 1]]
        R[:, [k - 1, k]] = R[:, [k, k - 1]]
        # One rotation makes R triangular again.
        c, s = R[k - 1 : k + 1, k - 1] / math.hypot(*R[k - 1 : k + 1, k - 1])
        R[k - 1 : k + 1] = np.array([[c, s], [-s, c]]) @ R[k - 1 : k + 1]
        k = max(k - 1, 1)
    return U


def _enumerated(R: np.ndarray, offset: np.ndarray, bound: float) -> list[tuple[float, np.ndarray]]:
    """Pairs (squared length, z) with ``|R z + offset|^2 < bound``, R upper triangular: depth first, nearest values first."""
    n, vectors, nodes = len(R), [], 0
    z = np.zeros(n)

    def descend(i: int, length: float) -> None:
        nonlocal nodes
        if i < 0:
            vectors.append((length, z.copy()))
            return
        centre = -(offset[i] + R[i, i + 1 :] @ z[i + 1 :]) / R[i, i]
        z[i] = np.rint(centre)
        side = 1 if centre >= z[i] else -1
        for step in range(1, 3000):
            longer = length + (R[i, i] * (z[i] - centre)) ** 2
            nodes += 1
            if longer >= bound or nodes > 3000:
                break
            descend(i - 1, longer)
            z[i] += side * step  # 0, 1, -1, 2, -2 ... steps from the centre
            side = -side
        z[i] = 0

    descend(n - 1, 0.0)
    return vectors
