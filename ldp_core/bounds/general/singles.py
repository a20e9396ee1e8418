"""Randomized response, and the proof that nothing is better where epsilon is large.

Take C = M^-1 of randomized response, X = C G C, r = n p, and the multipliers mu for which the condition ``v'Xv <= (r'v)(mu'v)`` holds with
equality for every v = 1 + D e_i, D = E - 1: n equations, which give mu at once. For h in {0, 1}^n, the right side less the left at v = 1 + D h is

    f (1 - sum h) + D^2 sum_{i != j} F_ij h_i h_j,        F = (mu r' + r mu')/2 - X,    f = 1'F1,

since it is 0 for single types. With kappa = f / (2 D^2) and y = D h this is ``kappa (1'y - D)(1'y - 2 D) + sum_{i != j} (F_ij - kappa) y_i y_j``. So **if the
condition holds for pairs of types it holds for all sets**: N = F - kappa off the diagonal and kappa for k = 1 are a certificate, the matrix of
whose form in (1, y) is 0. What it proves is L of randomized response. Where some pairs violate it, the search starts nearby.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers, held
from ldp_core.run import Check, unchecked

SETTLED = 1e-12
"""Pairs that lack no more than this share of the largest entry are not violated but for rounding."""
INWARD = 0.3
"""How far the start of a search is from these multipliers towards those of the closed form: on the way A becomes definite."""


def of_singles(gram: np.ndarray, ratio: float, prior: np.ndarray, check: Check = unchecked) -> tuple[Numbers, bool]:
    """The arrays of the certificate, and True if no pair violates the condition: the bound is then L of randomized response. They prove
    something, but less, where few do."""
    n, D, r = len(gram), ratio - 1, len(gram) * prior
    rows = 1 + D * np.eye(n)
    C = linalg.inv(rows.T @ (rows / (n + D * r)[:, None]) / (n + D))
    check()
    C = (C + C.T) / 2
    X = C @ gram @ C
    X = (X + X.T) / 2
    even = (X.sum() + 2 * D * X.sum(axis=1) + D**2 * X.diagonal()) / (n + D * r)
    mu = (even - even.sum() / (n + D)) / D
    F = np.outer(mu / 2, r)
    F = F + F.T - X
    kappa = max(0.0, F.sum() / (2 * D**2))
    N = F - kappa
    np.fill_diagonal(N, 0.0)
    settled = bool(N.min() >= -SETTLED * np.abs(F).max())
    found = Multipliers(
        2 * F.sum(axis=1) / D + 3 * kappa, np.maximum(N, 0), np.ones(1), np.array([kappa]), Cuts.none(n), np.zeros(0)
    )
    return Numbers(C, mu, found), settled


def inward(found: Multipliers, prior: np.ndarray) -> Multipliers:
    """Multipliers near those of `of_singles` that a search can start from."""
    kept, shares = found.times(1 - INWARD), held(prior)
    q = np.maximum(kept.q, 0) + INWARD * float(found.q.sum()) * shares / shares.sum()
    return Multipliers(q, kept.pairs, kept.sizes, kept.size_multipliers, kept.cuts, kept.cut_multipliers)
