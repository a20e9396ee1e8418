"""Permutations of the types under which questions stay the same, and the orbits of types, of pairs and of cuts.

Averaged over such permutations, multipliers prove no less: of what `ldp_core.bounds.general.multipliers`
makes of them, (tr (W A W')^(1/2))^2 is concave and b is convex, so that the larger of two bounds is no
smaller halfway. Those of one orbit may therefore be one number. Permutations are found by distinguishing single
types apart and refining colours (McKay and Piperno 2014, Journal of Symbolic Computation 60).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ldp_core.bounds.general.few_types import Cuts

PERMUTATIONS = 64
"""Larger groups are left alone: cuts are written out with all their images."""
DISTINGUISHED = 3
"""So are those that leave more after so many types are distinguished from all others."""
CLOSE = 1e-9
"""Entries that differ by less than this share of the largest count as equal."""


@dataclass(frozen=True)
class Orbits:
    """Of ``images`` (g, n), a group of permutations: ``types`` (n,) is the number of the orbit of each type, ``pairs`` (n, n) that of each pair of
    types, whichever comes first; the last number is that of all pairs of a type with itself."""

    images: np.ndarray
    types: np.ndarray
    pairs: np.ndarray

    @property
    def order(self) -> int:
        """g."""
        return len(self.images)

    @classmethod
    def of(cls, images: np.ndarray) -> Orbits:
        n = images.shape[1]
        pairs = np.full((n, n), n * n)
        for image in images:
            np.minimum(pairs, np.minimum.outer(image, image) * n + np.maximum.outer(image, image), out=pairs)
        pairs[np.diag_indices(n)] = n * n
        number = [np.unique(first, return_inverse=True)[1] for first in (images.min(axis=0), pairs)]
        return cls(images, number[0], number[1].reshape(n, n))

    def different(self, cuts: Cuts) -> np.ndarray:
        """(t,) True for the first of ``cuts`` in each orbit."""
        weights = np.random.default_rng(0).integers(2**62, size=self.images.shape[1] + 1)
        keys = (cuts.signs * weights[self.images[:, cuts.types]]).sum(axis=2).min(axis=0) + cuts.floors * weights[-1]
        first = np.zeros(len(cuts), dtype=bool)
        first[np.unique(keys, return_index=True)[1]] = True
        return first

    def all_of(self, cuts: Cuts) -> Cuts:
        """(g t,) the images of ``cuts`` (t,), permutation by permutation."""
        types = self.images[:, cuts.types].reshape(-1, cuts.types.shape[1])
        return Cuts(types, np.tile(cuts.signs, (self.order, 1)), np.tile(cuts.floors, self.order), cuts.n)


@dataclass(frozen=True)
class Averaged(Cuts):
    """Cuts, each of them averaged over all its images by ``orbits``."""

    orbits: Orbits

    @cached_property
    def _by_orbit(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """`products` (t, pairs) and `singles` (t, kinds), those of an orbit added up."""
        return (
            self.products @ indicator(self.orbits.pairs.ravel()),
            self.singles @ indicator(self.orbits.types),
        )

    def values(self, second: np.ndarray, first: np.ndarray, mass: float, D: float) -> np.ndarray:
        products, singles = self._by_orbit
        pairs, types = means(second, self.orbits.pairs), means(first, self.orbits.types)
        return products @ pairs + D * (singles @ types) + D**2 * mass * self.constants

    def adjoint(self, weights: np.ndarray, D: float) -> tuple[np.ndarray, np.ndarray, float]:
        products, singles = self._by_orbit
        pairs, types = self.orbits.pairs, self.orbits.types
        return (
            (products.T @ weights / np.bincount(pairs.ravel()))[pairs],
            D * (singles.T @ weights / np.bincount(types))[types],
            D**2 * float(weights @ self.constants),
        )


def means(table: np.ndarray, orbits: np.ndarray) -> np.ndarray:
    """The mean entry of ``table`` over each of the ``orbits``, in the same shape."""
    return np.bincount(orbits.ravel(), table.ravel()) / np.bincount(orbits.ravel())


def indicator(orbits: np.ndarray) -> sparse.csr_matrix:
    """(n, orbits) 1 where an entry is in an orbit."""
    return sparse.csr_matrix((np.ones(len(orbits)), (np.arange(len(orbits)), orbits)))


def automorphisms(gram: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The permutations that leave a Gram matrix and the shares of the types unchanged.

    Parameters
    ----------
    gram : (n, n) array
        Of questions less their mean.
    shares : (n,) array
        p.

    Returns
    -------
    (g, n) array
        The image of each type, the identity among them; the identity alone where the group is larger than `PERMUTATIONS`.
    """
    n = len(gram)
    table = np.random.default_rng(0).integers(2**63, size=(3, n * n), dtype=np.uint64) | np.uint64(1)
    matrix, colours = table[0][_classes(gram)], table[1][_classes(shares)]

    def refined(colours: np.ndarray) -> np.ndarray:
        many = 0
        while (found := len(np.unique(colours))) > many:
            many = found
            mixed = (matrix @ colours + matrix.diagonal()) * colours
            colours = (mixed ^ (mixed >> np.uint64(29))) * table[2, 0]
        return colours

    def alone(colours: np.ndarray, one: int) -> np.ndarray:
        apart = colours.copy()
        apart[one] ^= table[2, 1]
        return refined(apart)

    before = refined(colours)
    ways = [before]
    for _ in range(DISTINGUISHED):
        _, place, counts = np.unique(before, return_inverse=True, return_counts=True)
        if counts.max() == 1 or len(ways) > PERMUTATIONS:
            break
        one = int(np.argmin(np.where(counts > 1, counts, n + 1)[place]))
        coloured = alone(before, one)
        moved = [alone(way, other) for way in ways for other in np.flatnonzero(way == before[one]).tolist()]
        before, ways = coloured, [way for way in moved if np.array_equal(np.sort(way), np.sort(coloured))]
    if len(np.unique(before)) < n or len(ways) > PERMUTATIONS:
        return np.arange(n)[None]
    place = np.argsort(np.argsort(before))
    images = [np.argsort(way)[place] for way in ways]
    return np.array(
        [g for g in images if np.array_equal(matrix[np.ix_(g, g)], matrix) and np.array_equal(colours[g], colours)]
    )


def _classes(values: np.ndarray) -> np.ndarray:
    """Numbers of the classes of ``values`` that are as good as equal, in their shape."""
    order = np.argsort(values, axis=None, kind="stable")
    ordered = values.ravel()[order]
    classes = np.empty(values.size, dtype=np.int64)
    classes[order] = np.cumsum(np.diff(ordered, prepend=ordered[0]) > CLOSE * np.abs(ordered).max())
    return classes.reshape(values.shape)
