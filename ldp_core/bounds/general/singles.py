"""Rows of one high entry, and the proof in closed form that nothing is better where epsilon is large: that is randomized response.

Take the strategy of the rows v = 1 + D h, D = E - 1, with one high entry each, C = M^-1, X = C G C, r = n p, and the multipliers mu for
which the condition ``v'Xv <= (r'v)(mu'v)`` holds with equality for every single entry: n equations, which give mu at once. For h in
{0, 1}^n, the right side less the left is

    f (1 - sum h) + D^2 sum_{i != j} F_ij h_i h_j,        F = (mu r' + r mu')/2 - X,    f = 1'F1,

since it is 0 for single entries. With kappa = f / (2 D^2) and y = D h this is ``kappa (1'y - D)(1'y - 2 D) + sum_{i != j} (F_ij - kappa) y_i y_j``.
So **if the condition holds for pairs of types it holds for all sets**: N = F - kappa off the diagonal and kappa for k = 1 are a
certificate, the matrix of whose form in (1, y) is 0. It proves L of that strategy; less, or nothing, where pairs violate the condition.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers
from ldp_core.run import Check, unchecked


def of_single_entries(gram: np.ndarray, ratio: float, prior: np.ndarray, check: Check = unchecked) -> Numbers:
    """The arrays of the certificate, and what they prove: the objective of the strategy of single entries itself.

    Parameters
    ----------
    gram : (n, n) array
        G.
    ratio : float
        E.
    prior : (n,) array
        p, the shares of the types.
    """
    n, D, r = len(gram), ratio - 1, len(prior) * prior
    weights = 1 / ((n + D) * (n + D * r))  # each row's, over its mass: columns sum to 1 with equal weights
    along = D * weights
    M = np.add.outer(along, along) + weights.sum()
    M[np.diag_indices(n)] += D * along
    check()
    C = linalg.inv(M, overwrite_a=True, check_finite=False)
    C = (C + C.T) / 2
    half = blas.dgemm(1.0, C, gram)
    X = blas.dgemm(1.0, half, C)
    X = (X + X.T) / 2
    check()
    even = (X.sum() + 2 * D * X.sum(axis=1) + D**2 * X.diagonal()) / (n + D * r)
    mu = (even - even.sum() / (n + D)) / D
    F = np.outer(mu / 2, r)
    F = F + F.T - X
    kappa = max(0.0, F.sum() / (2 * D**2))
    N = np.maximum(F - kappa, 0)
    np.fill_diagonal(N, 0.0)
    q = 2 * F.sum(axis=1) / D + 3 * kappa
    found = Multipliers(q, N, np.ones(1), np.array([kappa]), Cuts.none(n), np.zeros(0))
    return Numbers(C, mu, found, float(half.trace()))
