"""The best strategy for a workload: column generation over two-valued rows, with majorise-minimise weights.

Replacing a row of a strategy by extreme rays of the cone ``{q : q_i <= E q_j}`` never raises
``L = tr(M^-1 G)``, and those rays are the two-valued rows ``v`` in {1, E}^n. The best strategy is
therefore a measure over such rows. The search for it is convex: an optimal experimental design
problem without local minima (this project; the objective is that of McKenna et al. 2020, Theorem
3.11). The measure lives on a few thousand rows; `weights` improves their weights, `rows` finds
better rows.

Questions such as running totals and ranges do not change when the order of the types is reversed. Let T be the permutation that reverses the order, and P the projection off the ones. Averaging a
strategy over T never raises L if ``P G P`` commutes with T: L is convex in M, and only ``P G P``
and the constant ``1'G1`` count, since ``M 1 = 1``. Rows therefore come in pairs v and Tv of equal
weight, and M falls into two blocks of half the size: in the sums ``(v_i + v_(n-1-i)) / 2`` and in
the differences ``(v_i - v_(n-1-i)) / 2``, the even and the odd half. Column sums have an even half
only. An update of the same number of rows takes a quarter of the time, and there are half the
multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import linalg
from scipy.linalg import blas

from ldp_core.bounds.closed_form import centred_gram
from ldp_core.optimize.base import DEFAULT, SearchLimits, fields_of, too_large
from ldp_core.optimize.columns.generation import Mixture, RowSearch, strategy_of
from ldp_core.optimize.columns.ring_rows import RingSearch
from ldp_core.optimize.columns.rows import sized_rows, threshold_rows
from ldp_core.optimize.columns.weights import RowBlock, SinglePrecision, Singular
from ldp_core.optimize.strategy import Optimized
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.run import Check, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload
from ldp_core.workloads.ordered import AllRange, Prefix

LEAST_TYPES = 64
"""Fewer types are fast enough without folding."""
RING_TYPES, RING_RANGES, RING_RATIO = 1449, 128, 10.0
"""From RING_TYPES on, running totals and ranges start from rows on a ring, and ranges from RING_RANGES on where E is above RING_RATIO. At 1,024 types
Gaussian fields bring running totals further, and at epsilon 2 ranges over 512."""


def design_strategy(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
    prior: np.ndarray | None = None,
    first: tuple[np.ndarray, np.ndarray] | None = None,
) -> Optimized:
    """Strategy (m, n) of least ``L = tr(M^-1 G)`` under epsilon-LDP, within one per cent or so of the best there is.

    How far from the optimum it is at most is proven by `ldp_core.bounds.certificate`. `ldp_core.optimize.design` has better ways for questions that
    treat types alike.

    ``epsilon`` in nats, ``prior`` (n,) the expected shares of the types: the objective is then
    ``tr(M_p^-1 G)``, ``M_p = sum_y q_y q_y' / (n q_y'p)``, the average over the prior (and on a scale of its own: see
    `ldp_core.bounds.average_variance`). ``first`` are rows (k, n) of booleans to start from, and their weights (k,). The best strategy seen is
    returned, its columns summing to 1 within 1e-12 and its rows within e^epsilon as stored.

    Raises ValueError for an epsilon, sizes or a prior out of range, and above `ldp_core.limits.MOST_FITTED_TYPES`.

    >>> workload = ldp.workloads.prefix(16)
    >>> best = ldp.optimize.design(workload, epsilon=1.0, time_limit=None, max_rounds=30)
    >>> proof = ldp.bounds.certificate(workload, epsilon=1.0, time_limit=None)
    >>> 0 <= best.objective / proof.value - 1 < 0.02
    True
    """
    budget, epsilon, n = limits.budget(), check_epsilon(epsilon), workload.n
    if reason := too_large(n):
        raise ValueError(reason)
    reference = None if prior is None else n * check_prior(prior, n)
    with blas_threads(n):
        search = row_search(workload, epsilon, generator(limits.seed), budget.check, reference, first)
        run = drive(search, budget, 60)  # rounds that gain next to nothing together
    return Optimized(run.found[0], prior, workload=workload, **fields_of(run, epsilon, limits))


def row_search(
    workload: Workload,
    epsilon: float,
    rng: np.random.Generator,
    check: Check,
    reference: np.ndarray | None = None,
    first: tuple[np.ndarray, np.ndarray] | None = None,
) -> RowSearch:
    """The search of `design_strategy`, to be driven by others: from rows ``first``, for people spread
    as ``reference`` (n,), r = n p, or evenly without one."""
    if reference is None and first is None and folds(workload):
        return FoldedSearch(workload, epsilon, np.ones(workload.n), rng, check)
    return RowSearch(workload, epsilon, np.ones(workload.n) if reference is None else reference, rng, check, first)


@dataclass(frozen=True)
class FoldedMixture(Mixture):
    """A measure whose rows ``high`` (k, n) are each meant together with the same row turned round; ``weights`` (k,) are those of both."""

    @property
    def strategy(self) -> np.ndarray:
        turned = self.high[:, ::-1]
        palindromic = (self.high == turned).all(axis=1)  # the same turned round, and needed once
        weights = np.where(palindromic, self.weights, self.weights / 2)
        return strategy_of(
            np.vstack([self.high, turned[~palindromic]]), np.concatenate([weights, weights[~palindromic]]), self.ratio
        )


def folds(workload: Workload) -> bool:
    """True if questions about all directions stay the same when the order of the types is turned round, and there are enough types."""
    n = workload.n
    if n < LEAST_TYPES or len(workload.gram_root) < n:
        return False
    centred = _centred(workload)
    return bool(np.abs(centred - centred[::-1, ::-1]).max() <= 1e-9 * centred.diagonal().max())


def _centred(workload: Workload) -> np.ndarray:
    """P G P."""
    n = workload.n
    return n * centred_gram(workload.gram_dense(), np.full(n, 1 / n))


class FoldedSearch(RowSearch):
    """`RowSearch` over pairs of rows, for the uniform prior. The rows of the even half are ``self._rows``."""

    best: Mixture

    def prepare(self) -> None:
        n = self._workload.n
        self._size //= 2
        self._reference = np.full((n + 1) // 2, 2.0)
        self._reference[n // 2 :] = 1.0  # the type in the middle, where there is one, is its own pair
        ranges = isinstance(self._workload, AllRange) and self._ratio > RING_RATIO
        if n >= (RING_RANGES if ranges else RING_TYPES) and isinstance(self._workload, Prefix | AllRange):
            try:
                return self._from_ring()
            except Singular:
                pass  # the few rows may leave a frequency out
        super().prepare()

    def _from_ring(self) -> None:
        """Starts from all rotations of few base rows, with the best probabilities on the ring.
        Their second moments have no random part, which drawn rows take many rounds to remove. Their
        true objective is measured at once."""
        self._take_root()
        search = RingSearch(self._workload, self._ratio, self._rng, self._check, self._size)
        while not search.finished:
            search.round()
        if math.isinf(search.objective):
            raise Singular("rounding hides what the rows on the ring tell.")
        high, shares = search.high[1:], search.shares[1:] / search.shares[1:].sum()
        base, places = high.shape
        rotations = sliding_window_view(np.hstack([high, high[:, : self._workload.n - 1]]), self._workload.n, axis=1)
        weights = shares / np.where(high, self._ratio, 1.0).sum(axis=1)
        self._hold(rotations.reshape(base * places, -1), np.repeat(weights, places))
        self._previous = self._weights
        first = self._updated(None)
        self._measure(first.objective)
        self._weights, self._multipliers, self._hessian = first.weights, first.multipliers, first.hessian
        self._measure(self._step())

    def _drawn(self, rows: int) -> np.ndarray:
        n = self._workload.n
        draw = threshold_rows if n < 128 else sized_rows
        # Half of randomized response is the other half turned round, and it leaves soon.
        return draw(self._workload.gram_dense(), self._ratio, rows + n, self._rng, self._check)

    def _take_root(self) -> None:
        centred, n = _centred(self._workload), self._workload.n
        # tr(M^-1 G) = tr(M^-1 P G P) + 1'G1 / n.
        centred += self._workload.gram_sums.sum() / n**2
        self._roots = list(map(linalg.cholesky, halves(centred)))

    def _hold(self, high: np.ndarray, weights: np.ndarray) -> None:
        """As for all rows, where those that are the same turned round are put together."""
        packed, turned = np.packbits(high, axis=1), np.packbits(high[:, ::-1], axis=1)
        first = (packed != turned).argmax(axis=1)[:, None]
        swap = np.take_along_axis(packed, first, 1) > np.take_along_axis(turned, first, 1)
        _, kept, place = np.unique(np.where(swap, turned, packed), axis=0, return_index=True, return_inverse=True)
        self._high, self._weights = high[kept], np.bincount(place.ravel(), weights).astype(float)
        n, ratio = high.shape[1], self._ratio
        self._blocks = []
        for half, base, root in zip(folded(self._high), (1.0, 0.0), self._roots, strict=True):
            single = SinglePrecision(half, ratio, base) if SinglePrecision.fits(n, ratio) else None
            self._blocks.append(RowBlock(base + (ratio - 1) * half, root, single))

    def _priced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = self._high.shape[1]
        even, odd = self._solved
        X = unfolded(blas.dgemm(1.0, even, even, trans_b=1), blas.dgemm(1.0, odd, odd, trans_b=1))
        half = self._multipliers / self._reference
        return X, np.concatenate([half, half[: n // 2][::-1]]), np.ones(n)

    def _mixture(self, weights: np.ndarray, objective: float) -> Mixture:
        return FoldedMixture(self._high, weights, self._ratio, objective)


def folded(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The even (k, ceil(n/2)) and the odd half (k, floor(n/2)) of ``rows`` (k, n)."""
    half = rows.shape[1] // 2
    left, right = rows[:, :half] / 2, rows[:, : -half - 1 : -1] / 2
    return np.hstack([left + right, rows[:, half : rows.shape[1] - half]]), left - right


def halves(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The even and the odd block of ``gram`` (n, n), the same turned round: with the blocks of M for the halves of rows,
    ``tr(M^-1 G)`` is the sum over both."""
    even, odd = folded(gram)
    return folded(even.T)[0], folded(odd.T)[1]


def unfolded(even: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """(n, n) the form whose value at any row is the sum of those of ``even`` and ``odd`` at its halves."""
    half = len(odd)

    def spread(B: np.ndarray, sign: float) -> np.ndarray:
        middle = B[:, half:] if sign > 0 else np.zeros((len(B), len(even) - half))
        return np.hstack([B[:, :half] / 2, middle, sign * B[:, :half][:, ::-1] / 2])

    return spread(spread(even, 1.0).T, 1.0) + spread(spread(odd, -1.0).T, -1.0)
