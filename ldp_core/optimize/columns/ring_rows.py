"""The search for base rows on a ring, whose rotations are a first strategy for running totals and ranges over many types.

The n types are neighbouring places of a ring of N >= n. M depends on the powers of the rows at N / 2 frequencies alone (but for the masses of
the outputs). A few rows of N bits can therefore be fitted to the best powers one bit at a time. Averages over rotations cost ranges next to
nothing: ``P G P``, P the projection off the ones, is the covariance of a Brownian bridge less its mean (Watson 1961), which a rotation of the
n places does not change. Running totals end elsewhere than they begin: their ring has places that no type takes. Without this
start totals over 2,048 types are at 15 % after 20 seconds and ranges at 26 %, and at 7 and 1 % with it; ranges over 512 at 5.1 instead of 3.6 %
above the closed form at epsilon 3 (8 s).

Powers come from the same questions about fewer types. Between rounds, ``X = M^-1 G M^-1`` gives the
value of each frequency for the present M: with m the powers, ``L <= sum_k m_k^2 x_k / m'_k`` for
other powers m' (as in `ldp_core.optimize.columns.weights`). Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft, linalg

from ldp_core.bounds.closed_form import high_share
from ldp_core.definite import inverse_of
from ldp_core.optimize.columns.rows import SHARES, tabulated
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

# Base rows, randomized response among them: more gain less than a thousandth.
BASE_ROWS = 24
# Places for each type: the best of these factors for FEWER_TYPES types, with powers from UPDATES
# updates.
STRETCHES = (1.0, 1.3)
FEWER_TYPES = 256
UPDATES = 40


class RingSearch:
    """`Refining` by the values of the frequencies, which are recomputed after each round. Its
    estimates are poor at the ends of the order, so ``objective`` is measured: that of the best base rows ``high`` (b, N) of booleans and ``shares``
    (b,) of their rotations so far. There are `BASE_ROWS`, and
    fewer if their rotations, without those of randomized response, would be more than ``most``."""

    finished = False
    objective = math.inf

    def __init__(self, workload: Workload, ratio: float, rng: np.random.Generator, check: Check, most: int):
        self._workload, self._ratio, self._check = workload, ratio, check
        self._on_ones = float(workload.gram_sums.sum()) / workload.n
        n, gram = workload.n, _thinned(workload)
        powers, places = _powers(gram, np.sinh(np.log(ratio) / 2) ** 2), n
        if len(powers) > len(gram):
            places = fft.next_fast_len(-(-n * len(powers) // len(gram)), real=True)
        share = min(_best_share(powers, ratio) * high_share(ratio, n), 0.5)
        base = min(BASE_ROWS, 1 + max(1, most // places))
        self._refining = _refining(_spread(powers, places), share, ratio, rng, base)
        self.high, self.shares = self._refining.high, self._refining.shares

    def round(self) -> None:
        """The true objective of the rows after some exchanges; the search has finished where it is hardly less, and the values of the frequencies
        are updated where not."""
        n, refining = self._workload.n, self._refining
        for _ in range(10):
            refining.round(self._check)
        rows = np.where(refining.high, self._ratio, 1.0)
        weights = (refining.shares / rows.sum(axis=1))[:, None] / window_sums(rows, n)
        inverse = inverse_of(second_moments(rows, weights, n, self._check), self._check)
        if inverse is None:
            self.finished = True  # rounding: the best rows so far are kept
            return
        self._check()
        product = self._workload.apply_gram(inverse)
        objective = float(np.trace(product))
        self.finished = objective > self.objective * (1 - 5e-4)
        if objective < self.objective:
            self.high, self.shares, self.objective = refining.high.copy(), refining.shares.copy(), objective
        if not self.finished:
            self._check()
            worth = np.maximum(_by_frequency(product @ inverse, refining.powers), 0)
            worth[0] = 0
            worth *= (objective - self._on_ones) / (worth[1:] / refining.powers[1:]).sum()
            worth[0] = self._on_ones
            refining.aim(worth)


def _thinned(workload: Workload) -> np.ndarray:
    """(c, c) P G P for some of the types, evenly along the order."""
    n = workload.n
    step = max(1, n // FEWER_TYPES)
    chosen = np.arange(step // 2, n, step)
    units = np.zeros((len(chosen), n))
    units[np.arange(len(chosen)), chosen] = 1.0
    return _centred(workload.apply_gram(units)[:, chosen])


def _centred(gram: np.ndarray) -> np.ndarray:
    means = gram.mean(axis=0)
    return gram - means - means[:, None] + means.mean()


def _powers(gram: np.ndarray, variance: float) -> np.ndarray:
    """(N,) powers m by frequency of rows on the best ring for ``gram`` (c, c), centred: those that add up to ``variance``, the largest of
    a row, beside m_0 = 1, and make ``tr(M^-1 G)`` least."""
    c, best, least = len(gram), np.ones(0), np.inf
    for stretch in STRETCHES:
        N = round(stretch * c)
        powers = 1 / np.maximum(np.minimum(np.arange(N), N - np.arange(N)), 1)
        for _ in range(UPDATES):
            powers *= variance / powers[1:].sum()
            powers[0] = 1.0
            objective, worth = _worth(gram, powers)
            powers = np.sqrt(worth)
        if objective * c / N < least:  # each type is met by c of N places
            best, least = powers, objective * c / N
    best[0] = 1.0
    return best


def _worth(gram: np.ndarray, powers: np.ndarray) -> tuple[float, np.ndarray]:
    """tr(M^-1 G) off the ones for ``powers`` (N,), masses taken as equal, and (N,) the values of
    the frequencies."""
    M = _centred(linalg.toeplitz(fft.ifft(powers).real[: len(gram)])) + 1 / len(gram)
    factor = linalg.cho_factor(M, lower=True, overwrite_a=True)
    solved = linalg.cho_solve(factor, gram)
    return float(np.trace(solved)), np.maximum(_by_frequency(linalg.cho_solve(factor, solved.T), powers), 0)


def _by_frequency(X: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """(N,) ``m_k^2 f_k* X f_k / N`` for ``powers`` m (N,), f_k the waves on the ring, and a symmetric ``X`` (n, n)."""
    n, N = len(X), len(powers)
    along = np.zeros(N)
    for distance in range(n):
        along[distance] += np.trace(X, distance) * (2 if distance else 1)
    return np.square(powers) * fft.fft(along).real / N


def _spread(powers: np.ndarray, places: int) -> np.ndarray:
    """(places,) powers for a larger ring: the same for long waves, and for shorter ones falling as their questions' do, with the sine."""
    N = len(powers)
    k = np.minimum(np.arange(places), places - np.arange(places))
    from_here = max(1, N // 4)
    powers_here = powers[np.minimum(k, from_here)]
    short = k > from_here
    powers_here[short] *= np.sin(np.pi * from_here / places) / np.sin(np.pi * k[short] / places)
    powers_here[1:] *= powers[1:].sum() / powers_here[1:].sum()
    return powers_here


def _best_share(powers: np.ndarray, ratio: float) -> float:
    """How many times the share 1/(E + 1) of high places is best for rows of given ``powers`` (N,)."""
    shares_tried = {}
    for share in SHARES:
        high = min(share * high_share(ratio, len(powers)), 0.5)
        refining = _refining(powers, high, ratio, np.random.default_rng(0))
        for _ in range(5):
            refining.round(unchecked)
        shares_tried[refining.objective] = share
    return shares_tried[min(shares_tried)]


def _refining(
    powers: np.ndarray, share: float, ratio: float, rng: np.random.Generator, base: int = BASE_ROWS
) -> Refining:
    """``base`` rows for ``powers`` (N,) with a ``share`` of high places: the highest of Gaussian fields that correlate in the right way."""
    N = len(powers)
    correlation = fft.ifft(np.concatenate([[0.0], powers[1:]])).real
    of_indicators, of_field = tabulated(share)
    spectrum = np.maximum(fft.fft(np.interp(correlation / correlation[0], of_indicators, of_field)).real, 0)
    fields = fft.ifft(fft.fft(rng.standard_normal((base, N))) * np.sqrt(spectrum)).real
    size = min(max(round(share * N), 1), N - 1)
    high = fields >= np.sort(fields, axis=1)[:, [N - size]]
    high[0] = np.arange(N) == 0
    return Refining(high, np.square(powers), ratio - 1, fft.fft)


def window_sums(rows: np.ndarray, n: int) -> np.ndarray:
    """(b, N) the sums of every n neighbouring places of ``rows`` (b, N), from each place on."""
    totals = np.cumsum(np.hstack([np.zeros((len(rows), 1)), rows, rows[:, : n - 1]]), axis=1)
    return totals[:, n:] - totals[:, : rows.shape[1]]


def second_moments(rows: np.ndarray, weights: np.ndarray, n: int, check: Check = unchecked) -> np.ndarray:
    """(n, n) ``sum_kz weights_kz v_kz v_kz'`` over all rotations v_kz of ``rows`` (b, N), cut to n places; ``weights`` (b, N)."""
    N, moments = rows.shape[1], np.zeros((n, n))
    wanted = fft.rfft(weights).conj()
    for distances in _distances(n, N):
        check()
        total = sum(_products(row, distances) * hat for row, hat in zip(rows, wanted, strict=True))
        for distance, entries in zip(distances, fft.irfft(total, N), strict=True):
            moments.ravel()[distance :: n + 1][: n - distance] = entries[: n - distance]
    return np.triu(moments) + np.triu(moments, 1).T


def _distances(n: int, N: int) -> Iterator[range]:
    """The distances between n types in parts for transforms over N places."""
    size = max(1, 2**20 // N)  # entries of transforms taken at once
    return (range(start, min(start + size, n)) for start in range(0, n, size))


def _products(row: np.ndarray, distances: range) -> np.ndarray:
    """(d, N // 2 + 1) transforms of ``row`` (N,) times itself rotated by each of the ``distances``."""
    rotated = sliding_window_view(np.concatenate([row, row]), len(row))[distances.start : distances.stop]
    return fft.rfft(row * rotated)


Transform = Callable[[np.ndarray], np.ndarray]
"""Rows (..., n) by the characters of the group that moves types, in single precision where the rows are."""


class Refining:
    """Base rows ``high`` (k, n) of booleans and the ``shares`` (k,) of their orbits, changed in place by rounds; ``objective`` is their L.

    ``gamma`` (n,) are the eigenvalues of G by character, ``spread`` E - 1. Row 0 keeps its types:
    as randomized response, it carries information about every character. No row ever gets more or
    fewer types. ``powers`` (n,) are the eigenvalues of M. With ``X = diag(gamma_S / m_S^2)`` in the characters, exchanging a type i in a row v
    for a type j outside raises ``v'Xv`` by ``2 (h_j - h_i) - 2 X_ij``, where ``h = X v - X_ii v``. Each row in turn exchanges the types with the
    largest rise, as many as lower L.
    """

    def __init__(self, high: np.ndarray, gamma: np.ndarray, spread: float, transform: Transform):
        k, n = high.shape
        self._transform = transform
        self.high, self.shares = high.copy(), np.full(k, 1 / k)
        self._scales = np.square(spread / (n + spread * high.sum(axis=1)))
        self._parts = np.full(k, 0.3)
        self._hats = transform(high.astype(np.float32))
        self._weigh(gamma)
        self._fit(40)

    def _weigh(self, gamma: np.ndarray) -> None:
        self._on_ones, self._gamma, self._ridge = float(gamma[0]), gamma.copy(), 1e-9 * gamma.mean()
        self._gamma[0] = 0.0  # where m is 1 whatever the rows are
        self._weighted = self._gamma > 0

    def aim(self, gamma: np.ndarray) -> None:
        """From now on G has the eigenvalues ``gamma`` (n,)."""
        self._weigh(gamma)
        self._lost = self._loss(self.powers)

    @property
    def objective(self) -> float:
        return self._on_ones + self._lost

    def round(self, check: Check) -> None:
        """Every row once, then the shares. The changes made so far stay if ``check`` raises
        `Interrupted`."""
        for k in range(1, len(self.high)):
            check()
            self._exchange(k)
        self._fit(5)

    def _fit(self, updates: int) -> None:
        fourier_weights = _squares(self._hats, np.float32)
        fourier_weights *= self._scales[:, None].astype(np.float32)
        fourier_weights[:, 0] = 1.0
        worth = (self._gamma + self._ridge).astype(np.float32)
        self.shares = fitted_shares(
            self.shares.astype(np.float32), fourier_weights, worth / worth.sum(), updates
        ).astype(float)
        self.shares /= self.shares.sum()
        self.powers = np.zeros(len(worth))
        for weight, hat in zip(self.shares * self._scales, self._hats, strict=True):
            self.powers += weight * _squares(hat, float)
        self._lost = self._loss(self.powers)

    def _loss(self, m: np.ndarray) -> float:
        return float((self._gamma[self._weighted] / m[self._weighted]).sum())

    def _exchange(self, k: int) -> None:
        row, hat = self.high[k], self._hats[k]
        out, into = self._wanted(row, hat)
        for _ in range(2):
            many = math.ceil(self._parts[k] * len(out))
            if not many:
                return
            change = np.zeros(len(row), dtype=np.float32)
            change[out[:many]], change[into[:many]] = -1, 1
            changed = hat + self._transform(change)
            m = self.powers + self.shares[k] * self._scales[k] * ((changed - hat) * (changed + hat).conj()).real.astype(
                float
            )
            if (lost := self._loss(m)) < self._lost:
                row[out[:many]], row[into[:many]] = False, True
                self._hats[k], self.powers, self._lost = changed, m, lost
                self._parts[k] = min(1.0, 1.3 * self._parts[k])
                return
            self._parts[k] = max(1e-3, 0.2 * self._parts[k])

    def _wanted(self, row: np.ndarray, hat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Types to leave a row and as many to enter it, the largest change of h first."""
        X = np.zeros(len(row), dtype=np.float32)
        X[self._weighted] = self._gamma[self._weighted] / self.powers[self._weighted] ** 2 / self._lost
        h = self._transform(X * hat.conj()).real / len(row)
        h[row] -= X.mean()
        best = np.zeros(len(row), dtype=bool)
        best[np.argpartition(-h, np.count_nonzero(row) - 1)[: np.count_nonzero(row)]] = True
        out, into = np.flatnonzero(row & ~best), np.flatnonzero(best & ~row)
        return out[np.argsort(h[out])], into[np.argsort(-h[into])]


def _squares(hat: np.ndarray, kind: type[np.floating] | type[float]) -> np.ndarray:
    """``|hat|^2``, taken in the ``kind`` of numbers given."""
    real = np.square(hat.real, dtype=kind)
    return real + np.square(hat.imag, dtype=kind) if np.iscomplexobj(hat) else real
