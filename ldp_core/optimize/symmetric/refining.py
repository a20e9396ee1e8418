"""Base rows changed type by type, each towards the characters that the other rows cover least.

Images of a row under permutations of the attributes, drawn at random, are spread unevenly over the
characters of one weight: with as many rows as a device holds at 2^16 types this costs 4 to 7 % of
L. But a row has a bit for every type, so that a few hundred rows can be fitted to each character
separately. With ``X = diag(gamma_S / m_S^2)`` in the characters, exchanging a type i in a row v for
a type j outside raises ``v'Xv`` by ``2 (h_j - h_i) - 2 X_ij``, where ``h = X v - X_ii v``. Each row
in turn exchanges the types with the largest rise, as many as lower L.

Measured in November 2026, gap to the best proved bound with it and without it: 0.03 and
1.0 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.run import Check
from ldp_core.workloads import walsh_hadamard

Transform = Callable[[np.ndarray], np.ndarray]
"""Rows (..., n) by the characters of the group that moves types, in single precision where the rows are."""


class Refining:
    """Base rows ``high`` (k, n) of booleans and the ``shares`` (k,) of their orbits, changed in place by rounds; ``objective`` is their L.

    ``gamma`` (n,) are the eigenvalues of G by character, ``spread`` E - 1. Row 0 keeps its types:
    as randomized response, it carries information about every character. No row ever gets more or
    fewer types. ``powers`` (n,) are the eigenvalues of M.
    """

    def __init__(self, high: np.ndarray, gamma: np.ndarray, spread: float, transform: Transform = walsh_hadamard):
        k, n = high.shape
        self._transform = transform
        self.high, self.shares = high.copy(), np.full(k, 1 / k)
        self._scales = np.square(spread / (n + spread * high.sum(axis=1)))
        self._parts = np.full(k, 0.3)
        self._hats = transform(high.astype(np.float32))
        self._ask(gamma)
        self._fit(40)

    def _ask(self, gamma: np.ndarray) -> None:
        self._on_ones, self._gamma, self._ridge = float(gamma[0]), gamma.copy(), 1e-9 * gamma.mean()
        self._gamma[0] = 0.0  # where m is 1 whatever the rows are
        self._asked = self._gamma > 0

    def aim(self, gamma: np.ndarray) -> None:
        """From now on G has the eigenvalues ``gamma`` (n,)."""
        self._ask(gamma)
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
        return float((self._gamma[self._asked] / m[self._asked]).sum())

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
        X[self._asked] = self._gamma[self._asked] / self.powers[self._asked] ** 2 / self._lost
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
