"""Rows of one and two high entries, and the proof that nothing is better where epsilon is large.

Take the best strategy whose rows v = 1 + D h, D = E - 1, have one high entry or two of some pairs, with C = M^-1, X = C G C, r = n p, and the
multipliers mu for which the condition ``v'Xv <= (r'v)(mu'v)`` holds with equality for every single entry: n equations, which give mu at once. For
h in {0, 1}^n, the right side less the left is

    f (1 - sum h) + D^2 sum_{i != j} F_ij h_i h_j,        F = (mu r' + r mu')/2 - X,    f = 1'F1,

since it is 0 for single entries. With kappa = f / (2 D^2) and y = D h this is ``kappa (1'y - D)(1'y - 2 D) + sum_{i != j} (F_ij - kappa) y_i y_j``. So **if
the condition holds for pairs of types it holds for all sets**: N = F - kappa off the diagonal and kappa for k = 1 are a certificate, the matrix of
whose form in (1, y) is 0. What it proves is L of that strategy: of randomized response, where no pair violates the condition. Else weights of the
pairs that do are sought. Column sums give those of the single entries, and the slope of L by the weight of a pair is the condition's slack over r'v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers, held
from ldp_core.bounds.general.quasi_newton import minimised
from ldp_core.run import Check, unchecked


def of_pairs(
    gram: np.ndarray,
    ratio: float,
    prior: np.ndarray,
    stop: Callable[[], bool] = lambda: False,
    check: Check = unchecked,
) -> tuple[Numbers, float]:
    """The arrays of the certificate, and the objective of the strategy, which it proves to be the least where every single entry keeps a weight
    and the weights are the best. They prove something, but less, where larger sets are better."""
    search = _Pairs(gram, ratio, len(prior) * prior, check)
    for _ in range(3):
        if stop() or not search.more():
            break
        search.improve(stop)
    return search.numbers, search.objective


def inward(found: Multipliers, prior: np.ndarray) -> Multipliers:
    """Multipliers near those of `of_pairs` that a search can start from."""
    kept, shares = found.times(0.7), held(prior)  # a part of the way to the closed form, on which A becomes definite
    return replace(kept, q=np.maximum(kept.q, 0) + 0.3 * float(found.q.sum()) * shares / shares.sum())


class _Pairs:
    """The best weights of single entries and of ``pairs`` (k, 2), whose weights (k,) are ``weights``."""

    def __init__(self, gram: np.ndarray, ratio: float, reference: np.ndarray, check: Check):
        self.n, self.D, self.gram, self.reference, self.check = len(gram), ratio - 1, gram, reference, check
        self.pairs, self.weights = np.zeros((0, 2), dtype=int), np.zeros(0)
        self.trivial = float(reference @ gram.diagonal())
        self._move(self.weights)

    def _move(self, weights: np.ndarray) -> bool:
        """C, mu and F at the ``weights`` of the pairs; False where single entries would have none."""
        n, D, r, (first, second) = self.n, self.D, self.reference, self.pairs.T
        high = np.bincount(self.pairs.ravel(), np.repeat(weights, 2), n)
        left = 1 - weights.sum() - D * high
        singles = (left - left.sum() / (n + D)) / D
        if not singles.min() > 0:
            return False
        self.check()
        single, double = singles / (n + D * r), weights / (n + D * (r[first] + r[second]))
        along = D * (single + np.bincount(self.pairs.ravel(), np.repeat(double, 2), n))
        M = np.add.outer(along, along) + (single.sum() + double.sum())
        M[np.diag_indices(n)] += D * along
        M[first, second] += D**2 * double
        M[second, first] += D**2 * double
        C = linalg.inv(M, overwrite_a=True, check_finite=False)
        C = (C + C.T) / 2
        half = blas.dgemm(1.0, C, self.gram)
        X = blas.dgemm(1.0, half, C)
        X = (X + X.T) / 2
        even = (X.sum() + 2 * D * X.sum(axis=1) + D**2 * X.diagonal()) / (n + D * r)
        mu = (even - even.sum() / (n + D)) / D
        F = np.outer(mu / 2, r)
        self.C, self.mu, self.F, self.objective = C, mu, F + F.T - X, float(half.trace())
        return True

    def more(self) -> bool:
        """Take up the pairs that violate the condition most, and leave those without weight; False if there are no new ones, or too many."""
        n, D = self.n, self.D
        f, (first, second) = self.F.sum(), np.triu_indices(n, 1)
        slack = 2 * D**2 * self.F[first, second] - f
        lacking = slack < -1e-7 * f  # not by rounding alone
        if n > 256 and np.count_nonzero(lacking) > 4 * n:  # they take long, and prove nothing
            return False
        worst = np.argsort(slack)[: 4 * n]
        worst = worst[lacking[worst]]
        kept = self.weights > 0
        held, found = self.pairs[kept], np.column_stack([first[worst], second[worst]])
        new = found[~np.isin(found @ [n, 1], held @ [n, 1])]
        self.pairs = np.vstack([held, new])
        self.weights = np.concatenate([self.weights[kept], np.zeros(len(new))])
        return len(new) > 0

    def improve(self, stop: Callable[[], bool]) -> None:
        """Better weights of the pairs held."""
        n, D, r, (first, second) = self.n, self.D, self.reference, self.pairs.T
        scale, masses = 1 / (4 * (n + D)), n + D * (r[first] + r[second])
        unit = max(self.objective - self.trivial, 1e-12 * self.objective)  # which may be nothing but rounding

        def falling(x: np.ndarray) -> tuple[float, np.ndarray]:
            if not self._move(scale * x):
                return np.inf, np.zeros_like(x)
            slack = 2 * D**2 * self.F[first, second] - self.F.sum()
            return (self.objective - self.trivial) / unit, scale / unit * slack / masses

        self.weights = scale * minimised(falling, self.weights / scale, 0, 150, 1e-9, stop)
        self._move(self.weights)

    @property
    def numbers(self) -> Numbers:
        n, F = self.n, self.F
        kappa = max(0.0, F.sum() / (2 * self.D**2))
        N = np.maximum(F - kappa, 0)
        np.fill_diagonal(N, 0.0)
        q = 2 * F.sum(axis=1) / self.D + 3 * kappa
        return Numbers(
            self.C, self.mu, Multipliers(q, N, np.ones(1), np.array([kappa]), Cuts.none(n), np.zeros(0)), self.objective
        )
