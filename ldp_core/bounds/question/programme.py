"""The best mechanism for one real-valued question whose outputs stand for given values: a linear programme.

An output y says that the answer is v_y, and type x sends it with probability Q_yx. The answers are unbiased for targets w (n,) where
``sum_y Q_yx = 1`` and ``sum_y Q_yx v_y = w_x``; rows keep epsilon where ``m_y <= Q_yx <= E m_y``. What is least is ``sum_x p_x sum_y Q_yx v_y^2``
(Badanidiyuru et al. 2023, arXiv 2312.05659). Multipliers alpha and beta (n,) of the two kinds of equations are the proof of
`ldp_core.bounds.question.certificate`.

Each row has bounds of its own, so that a step of an interior-point method (Mehrotra 1992) comes down to two equations for each
type: blocks on the diagonal plus a matrix of the rank of the number of values. Solvers for any programme take minutes for what
this takes a second for, and end on a vertex, whose multipliers oscillate when values are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.run import Check

_MOST_STEPS = 80
BALANCED = 1e-10
"""How far equations may be off."""
_SHORTER = 0.995
"""The share of the way to the border of the cone that a step goes."""


class Solution(NamedTuple):
    """``rows`` Q (k, n) with their least entries ``lows`` (k,), and the multipliers ``alpha`` and ``beta`` (n,)."""

    rows: np.ndarray
    lows: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray


class _Move(NamedTuple):
    """Changes of Q - m, E m - Q (both (k, n)) and m (k,), of their slacks, and of all multipliers."""

    primal: tuple[np.ndarray, np.ndarray, np.ndarray]
    slacks: tuple[np.ndarray, np.ndarray, np.ndarray]
    mu: np.ndarray
    y: np.ndarray


def solved(
    targets: np.ndarray, prior: np.ndarray, ratio: float, values: np.ndarray, tolerance: float, check: Check
) -> Solution:
    """The programme for ``targets`` w (d, n), ``prior`` p (n,), E = ``ratio`` and ``values`` v (k,), to a relative ``tolerance``."""
    n, k, D, unit = len(targets), len(values), ratio - 1, float(np.abs(values).max())
    Z, rhs = np.vstack([np.ones(k), values / unit]), np.vstack([np.ones(n), targets / unit])
    squares = Z[1] ** 2
    costs, scale = np.outer(squares, prior), float(squares.mean()) / n
    m = np.full(k, 1 / k / (1 + D / 2))
    above = np.repeat(m[:, None] * (D / 2), n, axis=1)
    x, s = (above, above.copy(), m), (np.full((k, n), scale), np.full((k, n), scale), np.full(k, scale * n))
    y, mu, many = np.zeros(rhs.shape), np.full((k, n), -scale), k * (2 * n + 1)
    for _ in range(_MOST_STEPS):
        check()
        h = costs - Z.T @ y
        duals = h - mu - s[0], -mu - s[1], h.sum(axis=1) + D * mu.sum(axis=1) - s[2]
        rows = x[2][:, None] + x[0]
        bounds, sums = D * x[2][:, None] - x[0] - x[1], rhs - Z @ rows
        gap = sum(float(np.vdot(a, b)) for a, b in zip(x, s, strict=True)) / many
        off = max(float(np.abs(sums).max()), float(np.abs(bounds).max()))
        off_dual = max(float(np.abs(duals[0]).max()), float(np.abs(duals[2]).max()) / n) / scale
        if gap * many <= tolerance * float(np.vdot(costs, rows)) and max(off, off_dual) <= BALANCED:
            break
        with np.errstate(all="ignore"):
            try:
                system = _System(Z, D, x, s, duals, bounds, sums)
            except linalg.LinAlgError:
                break  # as good as it gets
            first = system.move([-a * b for a, b in zip(x, s, strict=True)])
            steps = _longest(x, first.primal), _longest(s, first.slacks)
            ahead = sum(
                float(np.vdot(a + steps[0] * da, b + steps[1] * db))
                for a, b, da, db in zip(x, s, first.primal, first.slacks, strict=True)
            )
            centre = (ahead / many / gap) ** 3 * gap
            bent = [centre - a * b - da * db for a, b, da, db in zip(x, s, first.primal, first.slacks, strict=True)]
            move = system.move(bent)
        if not all(np.isfinite(of).all() for of in (*move.primal, *move.slacks, move.y)):
            break
        forward, back = (min(1.0, _SHORTER * _longest(a, b)) for a, b in ((x, move.primal), (s, move.slacks)))
        x = tuple(a + forward * da for a, da in zip(x, move.primal, strict=True))  # type: ignore[assignment]
        s = tuple(b + back * db for b, db in zip(s, move.slacks, strict=True))  # type: ignore[assignment]
        y, mu = y + back * move.y, mu + back * move.mu
    return Solution(x[2][:, None] + x[0], x[2], y[0] * unit**2, y[1] * unit)


def _longest(x: tuple[np.ndarray, ...], changes: tuple[np.ndarray, ...]) -> float:
    """The longest step, at most 1, that leaves all of x non-negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return min(1.0, *(float(np.where(d < 0, -a / d, np.inf).min()) for a, d in zip(x, changes, strict=True)))


class _System:
    """The equations of one step, reduced to those for y = (alpha, beta).

    With theta = x / s for each variable, ``da = fa + ta (g + dmu)``, ``db = fb + tb dmu``, ``dm = fm + tm (sum g - D sum dmu)``, where g = -Z'dy
    changes h; da + db - D dm = ``bounds`` gives dmu of each row by the formula of Sherman and Morrison.
    """

    def __init__(self, Z: np.ndarray, D: float, x: tuple, s: tuple, duals: tuple, bounds: np.ndarray, sums: np.ndarray):
        self._Z, self._D, self._s, self._duals, self._bounds, self._sums = Z, D, s, duals, bounds, sums
        self._theta = ta, tb, tm = tuple(a / b for a, b in zip(x, s, strict=True))
        self._inverse = 1 / (ta + tb)
        self._row = 1 + D * D * tm * self._inverse.sum(axis=1)
        (d, k), n = Z.shape, ta.shape[1]
        along = 1 + D * ta * self._inverse
        U = (Z.T[:, :, None] * (along * np.sqrt(tm / self._row)[:, None])[:, None, :]).reshape(k, d * n)
        S = blas.dsyrk(1.0, U.T, lower=1)
        own, types = ta * tb * self._inverse, np.arange(n)
        for i in range(d):
            for j in range(i + 1):
                S[i * n + types, j * n + types] += (Z[i] * Z[j]) @ own
        S[np.diag_indices(d * n)] *= 1 + 1e-14
        self._factor = linalg.cho_factor(S, lower=True, overwrite_a=True, check_finite=False)

    def move(self, products: list[np.ndarray]) -> _Move:
        """The step after which products x s change by ``products``."""
        Z, D, (ta, tb, tm) = self._Z, self._D, self._theta
        fa, fb, fm = (p / s - t * r for p, s, t, r in zip(products, self._s, self._theta, self._duals, strict=True))
        fixed = self._bounds - fa - fb + D * fm[:, None]

        def moved(g: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
            right = fixed - ta * g + D * (tm * g.sum(axis=1))[:, None]
            common = D * D * tm * (right * self._inverse).sum(axis=1) / self._row
            dmu = (right - common[:, None]) * self._inverse
            return dmu, (fa + ta * (g + dmu), fb + tb * dmu, fm + tm * (g.sum(axis=1) - D * dmu.sum(axis=1)))

        dy, g = np.zeros(self._sums.shape), np.zeros(ta.shape)
        dmu, primal = moved(g)
        for _ in range(2):  # the second refines the first
            left = self._sums - Z @ (primal[0] + primal[2][:, None])
            dy = dy + linalg.cho_solve(self._factor, left.ravel(), check_finite=False).reshape(dy.shape)
            g = Z.T @ dy
            dmu, primal = moved(g)
        ra, rb, rm = self._duals
        slacks = ra - g - dmu, rb - dmu, rm - g.sum(axis=1) + D * dmu.sum(axis=1)
        return _Move(primal, slacks, dmu, dy)
