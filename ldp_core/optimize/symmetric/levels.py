"""Designs over binary attributes by the full symmetry of the problem: XOR translations and permutations of the attributes.

A row ``v`` is used with all its images alike, so of M only its eigenvalues by weight of the characters are left,

    m_l = sum_k share_k E_kl,   E_kl = (mean of |hat v_k|^2 over the characters of weight l) / (1'v_k)^2,

and ``L = sum_l C(d, l) gamma_l / m_l``: d + 1 numbers for n = 2^d types. Rows of many shapes are tried as long as their Fourier weights
are cheap: all juntas (`ldp_core.optimize.symmetric.juntas`), functions of more bits, and rows found by climbing with one transform per
step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ldp_core.bounds.centred import high_share
from ldp_core.optimize.columns import pricing
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.optimize.symmetric.juntas import junta_fourier_weights, junta_row, moved, tables
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.workloads import Workload, walsh_hadamard
from ldp_core.workloads.symmetry import Scheme

# Rows held, juntas and climbing starts tried in each round, and updates of the shares in it.
_MOST_ROWS = 64
JUNTAS = 8
STARTS = 6
UPDATES = 200
# Rows climb by single flips up to this many types; on more, so do functions of FEWEST_BITS to _MOST_BITS bits, TABLES in each round.
FLIPPED_TYPES = 1024
FEWEST_BITS = 5
_MOST_BITS = 9
TABLES = 4
LINEARISATIONS = 30
# Past FLIPPED_TYPES all but FRESH of the starts are near rows held, as near as the noise on their slopes.
NOISE = (0.3, 1.0)
FRESH = 1
NEW_SHARE = 0.1
# The cost of drawing images is recomputed ADJUSTED times in a round; a row of the share
# LIKELY_SHARE has all its images if they are few enough.
ADJUSTED = 3
LIKELY_SHARE = 0.1
# Base rows of smaller shares get no images when a strategy is written out.
NEGLIGIBLE = 1e-4
RIDGE = 1e-9


@dataclass(frozen=True)
class LevelMixture:
    """Base rows ``high`` (b, n) of booleans, the ``shares`` (b,) of probability that their images have together, and L."""

    high: np.ndarray
    shares: np.ndarray
    objective: float


class LevelSearch:
    """Column generation over rows with all their images. Row 0 is a single high type: randomized response.

    A strategy may hold only ``most_images`` of the images, drawn at random in proportion to the
    shares. The eigenvalues of M then vary by character: with V_kl the variance of the Fourier
    weight of row k among the characters of weight l, m_l varies by
    ``sum_k share_k V_kl / most_images``. This raises gamma / m_l as much as Fourier weights
    ``E_kl - V_kl / (most_images m_l)`` instead of E_kl do. Rows are chosen with these; rows with
    few images can be held with all of them, and lose nothing.
    """

    finished = False

    def __init__(self, workload: Workload, epsilon: float, rng: np.random.Generator, most_images: float = np.inf):
        n, self._spread, self._rng = workload.n, fitted_exp_epsilon(epsilon) - 1, rng
        self._scheme = Scheme(n, binary=True)
        self._d, (self._gamma, _) = self._scheme.classes - 1, self._scheme.spectrum(workload.gram_column)
        self._searched = self._gamma + RIDGE * self._gamma.mean()
        self._weights_of_types = self._scheme.class_of_types
        self._share = high_share(self._spread + 1, n)
        if n <= FLIPPED_TYPES:
            most_images = np.inf  # rows that have climbed there have few images, or many characters for their types
        self._most_images = most_images
        which, self._blocks, fourier_weights, squares, images = junta_fourier_weights(self._d)
        self._tables = tables()[which]
        self._junta_drawn = np.maximum(1 - LIKELY_SHARE * most_images / images, 0.0)[:, None]
        self._junta_profiles, spreads = self._normalised(self._tables.mean(axis=1), fourier_weights, squares)
        self._junta_spreads = self._junta_drawn * spreads
        first = np.zeros((1, n), dtype=bool)
        first[0, 0] = True
        self._high, (self._profiles, self._spreads) = first, self._profiles_of(first)
        self._shares = np.ones(1)
        self._add(rng.random((2, n)) < self._share)
        self._update()
        self.best = self._mixture()

    @property
    def by_character(self) -> np.ndarray:
        """(n,) the eigenvalues of G."""
        return self._gamma[self._weights_of_types]

    def prepare(self) -> None:
        """Does nothing: the search is ready."""

    def round(self) -> None:
        worth = self._searched / self._m**2
        self._add_juntas(worth)
        self._climb(worth)
        self._update()
        mixture = self._mixture()
        if mixture.objective < self.best.objective:
            self.best = mixture

    def finish(self, at_once: bool) -> tuple[LevelMixture, float]:
        return self.best, self.best.objective

    def _mixture(self) -> LevelMixture:
        objective = float((self._scheme.multiplicities * self._gamma / self._m).sum())
        return LevelMixture(self._high, self._shares, objective)

    def _normalised(
        self, mean: np.ndarray, fourier_weights: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """E and V (k, d+1) from the means (k,) of 0/1 rows, their Fourier weights by weight (k, d+1) and the sums of their squares."""
        scale = (self._spread / (1 + self._spread * mean))[:, None] ** 2
        profiles = scale * fourier_weights / self._scheme.multiplicities
        spreads = np.maximum(scale**2 * squares / self._scheme.multiplicities - profiles**2, 0.0)
        profiles[:, 0], spreads[:, 0] = 1.0, 0.0
        return profiles, spreads

    def _profiles_of(self, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, by_weight = high.shape[1], partial(np.bincount, self._weights_of_types, minlength=self._d + 1)
        powers = [(walsh_hadamard(row) / n) ** 2 for row in high]
        fourier_weights, squares = (np.array([by_weight(power**k) for power in powers]) for k in (1, 2))
        return self._normalised(high.mean(axis=1), fourier_weights, squares)

    def _usable(self, profiles: np.ndarray, spreads: np.ndarray) -> np.ndarray:
        """(k, d+1) Fourier weights less what drawing images costs, at the present m."""
        return np.maximum(profiles - spreads / (self._most_images * self._m), 0.0)

    def _add(self, high: np.ndarray, drawn: np.ndarray | None = None) -> None:
        """Rows (k, n); ``drawn`` (k, 1) is the part that they lose of what drawing images costs, all of it if not given."""
        telling = high.any(axis=1) & ~high.all(axis=1)
        high = high[telling]
        if not len(high):
            return
        profiles, spreads = self._profiles_of(high)
        if drawn is not None:
            spreads *= drawn[telling]
        # Rows of the same profile are as good as each other.
        both = np.vstack([np.hstack([self._profiles, self._spreads]), np.hstack([profiles, spreads])])
        _, first = np.unique(np.round(both, 12), axis=0, return_index=True)
        new = first[first >= len(self._profiles)] - len(self._profiles)
        self._high, self._profiles = np.vstack([self._high, high[new]]), np.vstack([self._profiles, profiles[new]])
        self._spreads = np.vstack([self._spreads, spreads[new]])
        self._shares = np.concatenate([self._shares, np.full(len(new), NEW_SHARE / (JUNTAS + STARTS))])

    def _add_juntas(self, worth: np.ndarray) -> None:
        value = self._usable(self._junta_profiles, self._junta_spreads) @ (self._scheme.multiplicities * worth)
        best = np.argsort(-value, kind="stable")[:JUNTAS]
        self._add(
            np.array([junta_row(self._tables[i], self._blocks[i], self._d) for i in best]), self._junta_drawn[best]
        )

    def _climb(self, worth: np.ndarray) -> None:
        """From random fields and rows held: by linearisation, then by single flips where n x n matrices are small."""
        rng, n = self._rng, self._high.shape[1]
        by_type = worth[self._weights_of_types]
        held = self._high[rng.choice(len(self._high), STARTS, p=self._shares / self._shares.sum())]
        sizes = np.clip(np.rint(n * self._share) + rng.integers(-1, 2, STARTS), 1, n - 1).astype(int)
        fields = rng.standard_normal((STARTS, n))
        if n > FLIPPED_TYPES:
            for field, row in zip(fields[FRESH:], held, strict=False):
                slopes = walsh_hadamard(by_type * walsh_hadamard(row))
                field *= rng.choice(NOISE) * slopes.std()
                field += slopes
        climbed = np.array([_linearised(field, size, by_type) for field, size in zip(fields, sizes, strict=True)])
        if n <= FLIPPED_TYPES:
            column = walsh_hadamard(by_type) / n
            level = np.full(n, (self._scheme.multiplicities * self._searched / self._m).sum() / n)
            starts = np.vstack([climbed, pricing.varied(held, STARTS, rng)])
            climbed, _ = pricing.climb(starts, column[self._scheme.differences], level, np.ones(n), self._spread)
        self._add(climbed)
        if n > FLIPPED_TYPES:
            for _ in range(TABLES):
                self._climb_table(worth)

    def _climb_table(self, worth: np.ndarray) -> None:
        """Climbs on a function of several bits, each the parity of a few attributes: its own table
        gives it the same value as its row."""
        rng, bits = self._rng, int(self._rng.integers(FEWEST_BITS, _MOST_BITS + 1))
        size, blocks = 2**bits, np.ones(bits, dtype=np.int64)
        if rng.random() < 0.5:
            np.add.at(blocks, rng.integers(bits, size=rng.integers(min(self._d - bits, 2 * bits) + 1)), 1)
        points = np.arange(size)
        by_point = worth[((points[:, None] >> np.arange(bits)) & 1) @ blocks]
        column = walsh_hadamard(by_point) / size
        level = np.full(size, (self._scheme.multiplicities * self._searched / self._m).sum() / size)
        sizes = np.clip(round(size * self._share) + rng.integers(-1, 2, STARTS), 1, size - 1)
        starts = np.array([_linearised(rng.standard_normal(size), count, by_point) for count in sizes])
        starts = np.vstack([starts, pricing.varied(starts, STARTS, rng)])
        climbed, gains = pricing.climb(starts, column[points[:, None] ^ points], level, np.ones(size), self._spread)
        self._add(junta_row(climbed[gains.argmax()], blocks, self._d)[None])

    def _update(self) -> None:
        worth = self._scheme.multiplicities * self._searched
        shares = self._shares
        for _ in range(ADJUSTED):
            self._m = shares @ self._profiles / shares.sum()
            shares = fitted_shares(shares, self._usable(self._profiles, self._spreads), worth, UPDATES // ADJUSTED)
        kept = np.argsort(-shares, kind="stable")[:_MOST_ROWS]
        kept = np.unique(np.append(kept, 0))
        self._high, self._profiles, self._spreads = self._high[kept], self._profiles[kept], self._spreads[kept]
        self._shares = shares[kept] / shares[kept].sum()
        self._m = self._shares @ self._profiles
        self._m = self._shares @ self._usable(self._profiles, self._spreads)  # what is left of it


def _linearised(field: np.ndarray, size: int, worth: np.ndarray) -> np.ndarray:
    """(n,) a row of ``size`` high types from the largest entries of ``field``: v'Xv is convex in v,
    so that replacing v by the best row for its linearisation never lowers it. ``worth`` (n,) are
    the eigenvalues of X by character."""
    high = np.zeros(len(field), dtype=bool)
    for _ in range(LINEARISATIONS):
        chosen = np.zeros(len(field), dtype=bool)
        chosen[np.argpartition(-field, size - 1)[:size]] = True
        if np.array_equal(chosen, high):
            break
        high = chosen
        field = walsh_hadamard(worth * walsh_hadamard(high))
    return high


def images(mixture: LevelMixture, most: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(k, n) base rows with permutations of their attributes, ``most`` (b,) drawn for each. Rows
    with the same moduli of their transforms are kept once: they have the same value in a design by
    XOR translations."""
    used = mixture.shares > NEGLIGIBLE
    high, most = mixture.high[used], most[used]
    n = high.shape[1]
    d = n.bit_length() - 1
    powers = np.rint(walsh_hadamard(high) ** 2)
    key = rng.standard_normal(n)
    images = []
    for row, power, number in zip(high, powers, most, strict=True):
        orders = np.array([rng.permutation(d) for _ in range(number)])
        orders[0] = np.arange(d)
        places = moved(orders)
        _, first = np.unique((power[places] @ key).astype(np.float32), return_index=True)
        images.append(row[places[first]])
    return np.concatenate(images)
