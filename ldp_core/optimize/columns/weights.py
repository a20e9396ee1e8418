"""Weights of fixed two-valued rows: majorise-minimise updates that stay feasible.

Notation: rows ``v_k`` in {1, E}^n, weights ``w_k >= 0`` with ``sum_k w_k v_k = 1``, ``r = n p`` for a prior p over types
(all ones for the uniform one), masses ``d_k = r'v_k`` and ``M = sum_k w_k v_k v_k' / d_k``, so that ``M r = 1``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from ldp_core.optimize.sizes import blocks
from ldp_core.run import Check, unchecked

# Column sums are solved to this accuracy; what rounding allows is about 1e-15.
SUM_TOLERANCE = 1e-13
MAX_NEWTON = 60
TO_BOUNDARY = 0.9
SUFFICIENT = 1e-4
NEAR = 1e-3
MAX_HALVINGS = 30
# Powers of the ratio worth / price by which weights change: the majoriser's own, which never raises L, and a longer step.
# At powers of 1 or more, weights that alone decide an eigenvalue of M would swing for ever: their worth falls with their square.
MONOTONE, BOLD = 0.5, 0.8
# Where row 0 is randomized response, it keeps at least this share of the probability, so that no direction is ever lost.
LEAST_SHARE = 1e-7
# A step that shrinks the error less than this means that the factored Hessian is out of date.
STALE = 0.2


class Singular(ValueError):
    """The rows cannot tell all types apart, so no unbiased reconstruction exists."""


@dataclass(frozen=True)
class Update:
    """One update: ``objective`` tr(M^-1 G) at the weights given, the new ``weights`` (k,), the ``multipliers`` mu (n,)
    of the column sums, and ``solved`` = M^-1 root' (n, r), of which X = solved solved'. ``inverse_trace`` is tr M^-1."""

    objective: float
    weights: np.ndarray
    multipliers: np.ndarray
    solved: np.ndarray
    inverse_trace: float


def update(
    rows: np.ndarray,
    masses: np.ndarray,
    weights: np.ndarray,
    root: np.ndarray,
    multipliers: np.ndarray | None,
    power: float,
    floor: np.ndarray,
    check: Check = unchecked,
) -> Update:
    """One majorise-minimise step for ``tr(M(w)^-1 G)``, ``G = root' root``, on ``rows`` (k, n).

    With ``X = M^-1 G M^-1`` and ``g_k = v_k'X v_k / d_k`` the objective is majorised by ``sum_k w0_k^2 g_k / w_k`` (the
    old reconstruction stays unbiased when columns are scaled by w0 / w), whose minimum under ``V'w = 1`` is
    ``w_k = w0_k (g_k / mu'v_k)^(1/2)``. ``power`` is that exponent, MONOTONE or BOLD; w0 is at least ``floor`` (k,), so
    that a row needed to make M regular can come back. Raises Singular where M is not.
    """
    factor, failed = lapack.dpotrf(second_moments(rows, weights / masses, check), lower=1)
    if failed:
        raise Singular("the rows cannot tell all types apart, so L is infinite: add independent rows.")
    check()
    solved, _ = lapack.dpotrs(factor, root.T, lower=1)
    objective = float(np.einsum("ij,ji->", solved, root))
    inverse, _ = lapack.dtrtri(factor, lower=1)
    worth = squared_lengths(rows, solved, check) / masses
    if multipliers is None:
        multipliers = np.full(rows.shape[1], objective / rows.shape[1])
    weights, multipliers = _balanced(rows, np.maximum(weights, floor), worth, multipliers, objective, power, check)
    return Update(objective, weights, multipliers, solved, float(np.square(np.tril(inverse)).sum()))


def second_moments(rows: np.ndarray, weights: np.ndarray, check: Check, scale: float = 1.0) -> np.ndarray:
    """(n, n) ``scale sum_k weights_k v_k v_k'``, the lower triangle."""
    n = rows.shape[1]
    total, roots = np.zeros((n, n), order="F"), np.sqrt(weights)[:, None]
    for part in blocks(*rows.shape):
        check()
        total = blas.dsyrk(scale, (rows[part] * roots[part]).T, beta=1.0, c=total, lower=1, overwrite_c=1)
    return total


def squared_lengths(rows: np.ndarray, solved: np.ndarray, check: Check) -> np.ndarray:
    """v'Xv for every row, X = solved solved'."""
    found = np.empty(len(rows))
    for part in blocks(*rows.shape):
        check()
        product = blas.dgemm(1.0, solved, rows[part].T, trans_a=1)
        found[part] = np.einsum("ij,ij->j", product, product)
    return found


def _balanced(
    rows: np.ndarray,
    weights: np.ndarray,
    worth: np.ndarray,
    mu: np.ndarray,
    objective: float,
    power: float,
    check: Check,
) -> tuple[np.ndarray, np.ndarray]:
    """Weights ``w (worth / mu'v)^power`` with the mu that makes ``V'w = 1``: Newton steps on a concave dual.

    The Hessian is factored anew only when its steps stop helping, since a factorisation costs as much as forming M.
    """
    even = np.full_like(mu, objective / len(mu))
    slopes = _images(rows, mu)
    for halving in range(MAX_HALVINGS):  # new rows can lie outside the cone where mu'v > 0; the even mu is inside
        if slopes.min() > 0:
            break
        check()
        mu = (mu + even) / 2 if halving < MAX_HALVINGS - 1 else even
        slopes = _images(rows, mu)
    scaled = weights * worth**power
    factor, previous = None, np.inf
    for step in range(MAX_NEWTON):
        check()
        balanced = scaled / slopes**power
        short = 1 - blas.dgemv(1.0, rows.T, balanced)
        error = np.abs(short).max()
        if not np.isfinite(error):
            raise Singular("the rows held cannot make all columns sum to 1: add independent rows.")
        if error <= SUM_TOLERANCE or (error < 10 * SUM_TOLERANCE and error >= previous):
            break
        if factor is None or step == 1 or error > STALE * previous:
            factor, failed = lapack.dpotrf(second_moments(rows, balanced / slopes, check, power), lower=1)
            if failed:
                raise Singular("the rows held cannot make all columns sum to 1: add independent rows.")
        previous = error
        move, _ = lapack.dpotrs(factor, -short, lower=1)
        turn = _images(rows, move)
        length = _length(scaled, power, slopes, turn, move.sum(), -short @ move, error)
        mu = mu + length * move
        slopes = slopes + length * turn
    return balanced, mu


def _length(
    scaled: np.ndarray, power: float, slopes: np.ndarray, turn: np.ndarray, cost: float, rate: float, error: float
) -> float:
    """How far to go along a Newton step: inside the cone mu'v > 0, and so that the dual rises.

    The dual is ``sum scaled (mu'v)^(1 - power) / (1 - power) - 1'mu``, rising at ``rate`` at first; ``turn`` are the
    changes of mu'v and ``cost`` that of 1'mu.
    """
    falling = turn < 0
    room = (-slopes[falling] / turn[falling]).min() if falling.any() else np.inf
    length = min(1.0, TO_BOUNDARY * room)
    if error < NEAR and length == 1:
        return length  # quadratic convergence, where differences of the dual are rounding
    before = scaled @ slopes ** (1 - power)
    for _ in range(MAX_HALVINGS):
        gain = (scaled @ (slopes + length * turn) ** (1 - power) - before) / (1 - power) - length * cost
        if gain >= SUFFICIENT * length * rate:
            break
        length /= 2
    return length


def _images(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Rows times a vector, by the BLAS that everything else here uses (NumPy's has threads of its own)."""
    return blas.dgemv(1.0, rows.T, vector, trans=1)


def fitted_shares(shares: np.ndarray, energies: np.ndarray, worth: np.ndarray, rounds: int) -> np.ndarray:
    """Shares (k,) that make ``sum_j worth_j / m_j`` small, ``m = shares @ energies`` (k, c): the updates above where M is
    diagonal and all columns alike, so that only the sum of the shares needs restoring. Row 0 is randomized response."""
    for _ in range(rounds):
        m = shares @ energies
        shares = shares * (energies @ (worth / m**2)) ** BOLD
        shares /= shares.sum()
        shares[0] = max(shares[0], LEAST_SHARE)
    return shares / shares.sum()
