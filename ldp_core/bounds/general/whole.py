"""Whole-number cuts: inequalities that the high entries of a two-valued row obey because they are 0 or 1.

Let c (n,) and k be whole numbers, and h the 0/1 vector of high entries. Then c'h is a whole number,
so

    (c'h - k)(c'h - k - 1) >= 0.

These are the inequalities of Boros and Hammer (1993) for the Boolean quadric polytope. c = 1 says
that the number of high entries is whole. Other c express what a relaxation misses most for
workloads of functions of low degree of d binary attributes: if h has degree g, then 2^g times its
mean is whole. (c = sum over |T| <= g of 2^(g - |T|) times the Moebius coefficient of h at T has the
transform 2^g at weight 0, nothing at weights 1 .. g, and +-2^g C(j - 1, g) at j.)

Averaged over a group of permutations that has a `Scheme`, such a cut is a few numbers. The deepest ones are found as short
vectors of a lattice (reduction: Lenstra, Lenstra and Lovasz 1982; enumeration: Schnorr and Euchner 1994): on average over a measure the polynomial is ``E (c'h - k - 1/2)^2 - 1/4``, a quadratic form in (c, k).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from scipy.special import comb

from ldp_core.workloads.symmetry import Scheme, krawtchouk

# A cut must be violated by this much (the polynomial is at least -1/4).
SHALLOW = 1e-4
# Lattices of more dimensions are not searched: reduction takes seconds.
_MOST_DIMENSIONS = 48


@dataclass(frozen=True)
class Cut:
    """``(c'h - floor)(c'h - floor - 1) >= 0`` for all translations and permutations of c, and all 0/1 rows h.

    ``weights`` holds c by type: one axis (s+1,) stands for the class of pairs that a type forms
    with type 0. Binary attributes allow more axes (w_1 + 1, w_2 + 1, ...): the numbers of set
    attributes among the first w_1, the next w_2, and so on.
    """

    weights: np.ndarray
    floor: float

    def fourier_weights(self, scheme: Scheme) -> np.ndarray:
        """(s+1,) the mean square of the transform of c over each class of characters; sqrt of the first is |1'c|."""
        split = _split(scheme, self.weights.shape)
        return split.shares.T @ (split.transform @ self.weights.ravel()) ** 2

    def total(self, scheme: Scheme) -> float:
        """1'c."""
        return float(_split(scheme, self.weights.shape).transform[0] @ self.weights.ravel())


def averaged(cuts: Sequence[Cut], scheme: Scheme, D: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cuts as polynomials in y = D h, averaged over the group: eigenvalues of their quadratic part by class of characters
    (c, s+1), coefficients of 1'y (c,), and constants (c,)."""
    squares = np.array([cut.fourier_weights(scheme) for cut in cuts]).reshape(-1, scheme.classes) / scheme.n
    totals = np.array([cut.total(scheme) for cut in cuts])
    k = np.array([float(cut.floor) for cut in cuts])
    return squares, -D * (2 * k + 1) * totals / scheme.n, D**2 * k * (k + 1)


@dataclass(frozen=True)
class _Split:
    """Vectors c, flattened: ``transform`` @ c, and the ``shares`` (N, s+1) of each class of characters that its entries
    stand for."""

    transform: np.ndarray
    shares: np.ndarray


def _split(scheme: Scheme, shape: tuple[int, ...]) -> _Split:
    if len(shape) == 1:
        return _Split(scheme.eigenvalues, np.eye(scheme.classes))
    return _binary_split(shape)


@lru_cache(maxsize=256)
def _binary_split(shape: tuple[int, ...]) -> _Split:
    sizes = np.array(shape) - 1
    numbers = np.indices(shape).reshape(len(shape), -1)
    total, d = numbers.sum(axis=0), sizes.sum()
    shares = np.zeros((len(total), d + 1))
    shares[np.arange(len(total)), total] = comb(sizes[:, None], numbers).prod(axis=0) / comb(d, total)
    return _Split(reduce(np.kron, [krawtchouk(int(size)) for size in sizes]), shares)


def shapes(scheme: Scheme) -> list[tuple[int, ...]]:
    """The shapes of the cuts to look for: attributes in one, two or three parts, as far as lattices are small enough."""
    d = scheme.classes - 1
    shapes_tried: list[tuple[int, ...]] = [(scheme.classes,)]
    if scheme.binary:
        shapes_tried += [(a + 1, d - a + 1) for a in range(1, d // 2 + 1)]
        shapes_tried += [(a + 1, b + 1, d - a - b + 1) for a in range(1, d) for b in range(a, (d - a) // 2 + 1)]
    return [shape for shape in shapes_tried if math.prod(shape) <= _MOST_DIMENSIONS]


@dataclass(frozen=True)
class Profile:
    """A symmetric pseudo-moment of h: ``mean`` E h_u, and ``fourier_weights`` (s+1,) of E hh' by class of characters, which sum to
    the mean (multiplicity times eigenvalue over n)."""

    scheme: Scheme
    mean: float
    fourier_weights: np.ndarray

    def violated(self, shape: tuple[int, ...]) -> list[Cut]:
        """The deepest cuts with weights of this ``shape`` that the moments violate, at most eight."""
        split = _split(self.scheme, shape)
        dimensions = len(split.transform)
        # |(c, k) @ basis + offset|^2 = E (c'h - k - 1/2)^2, first without the mean and then with it alone.
        weights = split.shares @ np.append(self.fourier_weights[0] - self.mean**2, self.fourier_weights[1:])
        basis = np.zeros((dimensions + 1, dimensions + 1))
        basis[:-1, :-1] = np.sqrt(np.maximum(weights, 1e-12 * self.mean))[:, None] * split.transform
        basis[-1, :-1] = self.mean * split.transform[0]
        basis[-1, -1] = -1.0
        offset = np.append(np.zeros(dimensions), -0.5)
        vectors = near(basis, offset, np.sqrt(0.25 - SHALLOW))[:8]
        return [Cut(z[:-1].reshape(shape), float(z[-1])) for z in vectors]


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
