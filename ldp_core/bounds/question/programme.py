"""The best mechanism for one real-valued question whose outputs stand for given values: a linear programme.

An output y says that the answer is v_y, and type x sends it with probability Q_yx. The answers are unbiased for targets w (n,) where
``sum_y Q_yx = 1`` and ``sum_y Q_yx v_y = w_x``; rows keep epsilon where ``m_y <= Q_yx <= E m_y``. What is least is ``sum_x p_x sum_y Q_yx v_y^2``
(Badanidiyuru et al. 2023, arXiv 2312.05659). Multipliers alpha and beta (n,) of the two kinds of equations are the proof of
`ldp_core.bounds.question.search`.

For the worst type, t is least where ``sum_y Q_yx v_y^2 + s_x = w_x^2 + t`` with s >= 0. The multipliers of these equations are -p: the hardest
prior is found with the rest, and its own programme has the same value (von Neumann's minimax theorem).

Each row has bounds of its own, so that a step of an interior-point method (Mehrotra 1992) comes down to two equations for each
type: blocks on the diagonal plus a matrix of the rank of the number of values. Clarabel, by CVXPY, comes to the same multipliers, in 0.34
instead of 0.06 s of CPU for 64 types and 120 values and 3.6 instead of 0.8 s for 192 and 200; for 512 and 400 it had not ended after
300 s on a busy machine, instead of 5. Nor can it be cancelled within. HiGHS ends on a vertex, whose multipliers oscillate when values are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.run import Check


class Solution(NamedTuple):
    """``rows`` Q (k, n) with their least entries ``lows`` (k,), the multipliers ``alpha`` and ``beta`` (n,), and the ``prior`` (n,)."""

    rows: np.ndarray
    lows: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    prior: np.ndarray


class _Move(NamedTuple):
    """Changes of Q - m, E m - Q (both (k, n)), m (k,) and s (d - 2, n), of their slacks, of all multipliers, and of t."""

    primal: tuple[np.ndarray, ...]
    slacks: tuple[np.ndarray, ...]
    mu: np.ndarray
    y: np.ndarray
    worst: float


def solved(
    targets: np.ndarray, prior: np.ndarray | None, ratio: float, values: np.ndarray, tolerance: float, check: Check
) -> Solution:
    """The programme for ``targets`` w (n,), ``prior`` p (n,) or None for the worst type, E = ``ratio`` and ``values`` v (k,), to a
    ``tolerance`` relative to the second moment."""
    n, k, D, unit = len(targets), len(values), ratio - 1, float(np.abs(values).max())
    Z, rhs = np.vstack([np.ones(k), values / unit]), np.vstack([np.ones(n), targets / unit])
    squares = Z[1] ** 2
    costs, scale = np.outer(squares, 0 * targets if prior is None else prior), float(squares.mean()) / n
    if prior is None:
        Z, rhs = np.vstack([Z, squares]), np.vstack([rhs, rhs[1] ** 2])
    spare, t = np.full((len(Z) - 2, n), scale * n), scale * n
    m = np.full(k, 1 / k / (1 + D / 2))
    above = np.repeat(m[:, None] * (D / 2), n, axis=1)
    x, even = (above, above.copy(), m, spare), np.full((k, n), scale)
    s = even, even.copy(), np.full(k, scale * n), np.full(spare.shape, 1 / n)
    y, mu, many = np.zeros(rhs.shape), np.full((k, n), -scale), k * (2 * n + 1) + spare.size
    y[2:] = -1 / n
    best, idle, found = np.inf, 0, (above, m, y, spare)
    for _ in range(80):
        check()
        h = costs - Z.T @ y
        duals = h - mu - s[0], -mu - s[1], h.sum(axis=1) + D * mu.sum(axis=1) - s[2], -y[2:] - s[3]
        rows = x[2][:, None] + x[0]
        bounds, sums = D * x[2][:, None] - x[0] - x[1], rhs - Z @ rows
        sums[2:] += t - x[3]
        gap = sum(float(np.vdot(a, b)) for a, b in zip(x, s, strict=True)) / many
        second = float(np.vdot(costs, rows)) if prior is not None else t - float(np.vdot(y[2], rhs[2]))
        off = max(float(np.abs(sums).max()), float(np.abs(bounds).max()))
        off_dual = max(float(np.abs(duals[0]).max()), float(np.abs(duals[2]).max()) / n) / scale
        if (merit := max(gap * many / second, off, off_dual)) < best:
            best, found, idle = merit, (rows, x[2], y, s[3]), 0
        idle += 1
        # After five steps that lead no closer it is as exact as rounding lets it be: few rows do the work then.
        if gap * many <= tolerance * second and (max(off, off_dual) <= 1e-10 or idle > 5):
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
        # Steps stop just short of the border of the cone.
        forward, back = (min(1.0, 0.995 * _longest(a, b)) for a, b in ((x, move.primal), (s, move.slacks)))
        x = tuple(a + forward * da for a, da in zip(x, move.primal, strict=True))  # type: ignore[assignment]
        s = tuple(b + back * db for b, db in zip(s, move.slacks, strict=True))  # type: ignore[assignment]
        y, mu, t = y + back * move.y, mu + back * move.mu, t + forward * move.worst
    rows, lows, y, people = found
    if prior is None:
        y, prior = y / people.sum(), people[0] / people.sum()
    return Solution(rows, lows, y[0] * unit**2, y[1] * unit, prior)


def _longest(x: tuple[np.ndarray, ...], changes: tuple[np.ndarray, ...]) -> float:
    """The longest step, at most 1, that leaves all of x non-negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return min(*(float(np.where(d < 0, -a / d, np.inf).min(initial=1.0)) for a, d in zip(x, changes, strict=True)))


class _System:
    """The equations of one step, reduced to those for y = (alpha, beta).

    With theta = x / s for each variable, ``da = fa + ta (g + dmu)``, ``db = fb + tb dmu``, ``dm = fm + tm (sum g - D sum dmu)``, where g = -Z'dy
    changes h; da + db - D dm = ``bounds`` gives dmu of each row by the formula of Sherman and Morrison. For the worst type,
    ``ds = fs + ts dy_2``, and dt keeps the sum of dy_2 at 0.
    """

    def __init__(self, Z: np.ndarray, D: float, x: tuple, s: tuple, duals: tuple, bounds: np.ndarray, sums: np.ndarray):
        self._Z, self._D, self._s, self._duals, self._bounds, self._sums = Z, D, s, duals, bounds, sums
        self._theta = ta, tb, tm, ts = tuple(a / b for a, b in zip(x, s, strict=True))
        self._inverse = 1 / (ta + tb)
        self._row = 1 + D * D * tm * self._inverse.sum(axis=1)
        (d, k), n = Z.shape, ta.shape[1]
        along = 1 + D * ta * self._inverse
        U = (Z.T[:, :, None] * (along * np.sqrt(tm / self._row)[:, None])[:, None, :]).reshape(k, d * n)
        S = blas.dsyrk(1.0, U.T, lower=1)
        harmonic, types = ta * tb * self._inverse, np.arange(n)
        for i in range(d):
            for j in range(i + 1):
                S[i * n + types, j * n + types] += (Z[i] * Z[j]) @ harmonic
        S[np.diag_indices(d * n)] += np.append(np.zeros(2 * n), ts)
        S[np.diag_indices(d * n)] *= 1 + 1e-14
        self._factor = linalg.cho_factor(S, lower=True, overwrite_a=True, check_finite=False)
        self._along = self._solved(np.repeat([0.0, 1], [2, d - 2])[:, None] * np.ones(n))

    def _solved(self, left: np.ndarray) -> np.ndarray:
        return np.asarray(linalg.cho_solve(self._factor, left.ravel(), check_finite=False).reshape(left.shape))

    def move(self, products: list[np.ndarray]) -> _Move:
        """The step after which products x s change by ``products``."""
        first = [p / s - t * r for p, s, t, r in zip(products, self._s, self._theta, self._duals, strict=True)]
        dy, dt = np.zeros(self._sums.shape), 0.0
        dmu, primal = self._moved(dy, first, self._bounds - first[0] - first[1] + self._D * first[2][:, None])
        nothing = [0 * of for of in first]
        for _ in range(2):  # the second refines the first: it adds to x what is small, where theta is large
            left = self._sums - self._Z @ (primal[0] + primal[2][:, None])
            left[2:] += dt - primal[3]
            step = self._solved(left)
            if len(dy) > 2:
                more = (dy[2].sum() + step[2].sum()) / self._along[2].sum()
                step, dt = step - more * self._along, dt - more
            mu, added = self._moved(step, nothing, nothing[0])
            dy, dmu, primal = dy + step, dmu + mu, [a + b for a, b in zip(primal, added, strict=True)]
        (ra, rb, rm, rs), g = self._duals, self._Z.T @ dy
        slacks = ra - g - dmu, rb - dmu, rm - g.sum(axis=1) + self._D * dmu.sum(axis=1), rs - dy[2:]
        return _Move(tuple(primal), slacks, dmu, dy, dt)

    def _moved(self, dy: np.ndarray, first: list[np.ndarray], fixed: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """dmu, and the changes of x from ``first`` (fa, fb, fm, fs) on."""
        D, (ta, tb, tm, ts), (fa, fb, fm, fs), g = self._D, self._theta, first, self._Z.T @ dy
        right = fixed - ta * g + D * (tm * g.sum(axis=1))[:, None]
        common = D * D * tm * (right * self._inverse).sum(axis=1) / self._row
        dmu = (right - common[:, None]) * self._inverse
        dm = fm + tm * (g.sum(axis=1) - D * dmu.sum(axis=1))
        return dmu, [fa + ta * (g + dmu), fb + tb * dmu, dm, fs + ts * dy[2:]]
