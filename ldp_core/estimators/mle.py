"""Maximum likelihood: the shares p of the types that make the reports received most likely, sum_y s_y log (Q p)_y.

The problem is concave, and with g = Q'(s/(Q p)) no p' does better than p by more than max_u g_u - N nats (the slope
towards the best corner of the simplex): this *gap* bounds what is left to gain, and is the stopping rule of both methods.

* Newton steps for strategies small enough to write out: maximise the quadratic model on the simplex, then search the line.
  The model at p has the Hessian H = Q' diag(s/(Q p)^2) Q and, as H p = g, its best p' is the projection of 2 p in the norm
  of H (Wang 2007). The likelihood never falls, and convergence is quadratic.
* EM steps p_u g_u/N (Vardi and Lee 1993), accelerated by SQUAREM (Varadhan and Roland 2008) and taken back where the
  likelihood would fall, for fast transforms on large domains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.estimators import norm_sub, quadratic
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.mechanisms.randomized_response import RandomizedResponse

NEWTON_ENTRIES = 2**22
"""Strategies up to this size are written out and take Newton steps, in O(m n^2) each."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LikelihoodEstimate(Estimate):
    """``gap`` bounds by how many nats the log-likelihood misses its maximum; ``rounds`` counts the steps taken."""

    gap: float
    rounds: int


@dataclass(frozen=True)
class Fit:
    """Shares (n,), the gap in nats, and the number of rounds."""

    shares: np.ndarray
    gap: float
    rounds: int


def estimate(
    reports: Reports, mechanism: Mechanism, unbiased: Estimate, max_rounds: int | None = None
) -> LikelihoodEstimate:
    """N times the most likely shares. ``max_rounds`` None: 100 Newton or 1,000 accelerated EM rounds.

    ``unbiased`` is the mechanism's own estimate, where the search begins.
    """
    tally, n = mechanism.tally(reports), mechanism.n
    if not reports.users:
        return LikelihoodEstimate(np.zeros(n), unbiased=False, identified=unbiased.identified, gap=0.0, rounds=0)
    if isinstance(mechanism, RandomizedResponse):
        fit = Fit(randomized_response(tally, mechanism.epsilon), 0.0, 0)
    else:
        start = norm_sub.project(unbiased.estimated_counts / reports.users, 1.0)
        fit = maximise(mechanism.channel, tally, start, max_rounds)
    counts = reports.users * fit.shares
    return LikelihoodEstimate(counts, unbiased=False, identified=unbiased.identified, gap=fit.gap, rounds=fit.rounds)


def randomized_response(tally: np.ndarray, epsilon: float) -> np.ndarray:
    """(n,) shares, exactly: p_x = s_x/nu - 1/(E - 1) on the support, nu = S/(1 + k/(E - 1)), S the tally of its k types.

    The support holds the types of the largest tallies; the lowest is dropped while its share would
    be negative. The amount subtracted only grows with the support, so the first k that fails ends
    the search.
    """
    floor = 1 / np.expm1(epsilon)
    order = np.argsort(-tally, kind="stable")
    sorted_tally = tally[order].astype(float)
    k = np.arange(1, tally.size + 1)
    nu = np.cumsum(sorted_tally) / (1 + k * floor)
    last = np.flatnonzero(sorted_tally / nu >= floor)[-1]
    shares = np.zeros(tally.size)
    shares[order] = np.maximum(sorted_tally / nu[last] - floor, 0.0)
    return shares / shares.sum()  # rounding alone


def maximise(
    channel: np.ndarray | LinearOperator, tally: np.ndarray, start: np.ndarray, max_rounds: int | None = None
) -> Fit:
    """The most likely shares given ``tally`` (m,), at least one report, of the outputs of ``channel`` (m, n)."""
    m, n = channel.shape
    if n <= 1024 and m * n <= NEWTON_ENTRIES:
        sent = tally > 0
        start = 0.99 * start + 0.01 / n  # every output that was sent must be possible
        return _newton(written_out(channel)[sent], tally[sent].astype(float), start, max_rounds or 100)
    # EM only multiplies: a share that begins near 0 takes long to come back.
    return _squarem(channel, tally.astype(float), 0.7 * start + 0.3 / n, max_rounds or 1000)


def written_out(channel: np.ndarray | LinearOperator) -> np.ndarray:
    """(m, n) the strategy as a matrix."""
    return channel if isinstance(channel, np.ndarray) else channel @ np.eye(channel.shape[1])


def _newton(Q: np.ndarray, s: np.ndarray, p: np.ndarray, max_rounds: int) -> Fit:
    N = s.sum()
    for rounds in range(max_rounds + 1):
        f = Q @ p
        g = Q.T @ (s / f)
        gap = max(0.0, float(g.max() - N))
        if gap <= 1e-12 * N or rounds == max_rounds:  # of a gap, per user
            break
        B = Q * (np.sqrt(s) / f)[:, None]
        step = quadratic.project(B.T @ B, 2 * p, 1.0) - p
        # Near the optimum g is N almost everywhere: what it adds to the slope is nothing but rounding.
        change, slope = (Q @ step) / f, float((g - N) @ step)
        for halving in range(40):
            t = 0.5**halving
            curved = t * change
            if curved.min() > -1 and 0.75 * t * slope + s @ (np.log1p(curved) - curved) >= 0:
                break
        else:
            break  # nothing left to gain but rounding
        p = np.maximum(p + t * step, 0.0)
        p /= p.sum()
    return Fit(p, gap, rounds)


def _squarem(Q: np.ndarray | LinearOperator, s: np.ndarray, p: np.ndarray, max_rounds: int) -> Fit:
    N = s.sum()

    def likelihood(p: np.ndarray) -> tuple[float, np.ndarray]:
        f = Q @ p
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.sum(np.where(s > 0, s * np.log(f), 0.0))), f

    def step(p: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, float]:
        g = Q.T @ (s / f)
        return p * g / N, max(0.0, float(g.max() - N))

    value, f = likelihood(p)
    for rounds in range(max_rounds + 1):
        once, gap = step(p, f)
        if gap <= 0.01 or rounds == max_rounds:  # nats: far below the half nat or so that chance adds for each type
            break
        twice, _ = step(once, likelihood(once)[1])
        move, bend = once - p, twice - 2 * once + p
        length = max(1.0, float(np.linalg.norm(move)) / max(float(np.linalg.norm(bend)), 1e-300))
        # A share that would turn negative keeps a part of what EM gives it: at 0 it could never return.
        far = np.maximum(p + 2 * length * move + length**2 * bend, 0.01 * twice)
        far /= far.sum()
        reached, f_far = likelihood(far)
        if reached >= value:
            p, value, f = far, reached, f_far
        else:
            p = twice
            value, f = likelihood(p)
    return Fit(p, gap, rounds)
