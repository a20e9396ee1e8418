"""A lower bound on L(Q) for every epsilon-LDP strategy Q of few types, checked on all 2^n two-valued rows one by one.

The proof is that of `ldp_core.bounds.general.certificate`: for a symmetric C and multipliers mu with

    v'C G C v  <=  (r'v)(mu'v)        for all v in {1, E}^n,  r = n p,

``tr(M_p^-1 G) >= tr(C G)^2 / 1'mu`` for every strategy. There the condition follows from an eigenvalue, which loses a little;
here each of the 2^n inequalities is evaluated, so that the bound can be as good as the optimum itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldp_core.bounds.proof import (
    ABOVE,
    NOTHING,
    UNDERFLOW,
    QuotientProof,
    U,
    exp_epsilon_minus_one,
    magnitudes_fit,
    numbers,
    repair,
)
from ldp_core.limits import MOST_ENUMERATED_TYPES
from ldp_core.priors import check_prior
from ldp_core.workloads import Workload


def two_valued(n: int) -> np.ndarray:
    """(2^n, n) all 0/1 rows."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


@dataclass(frozen=True, repr=False)
class EnumeratedProof(QuotientProof):
    """A proven lower bound ``value`` on ``tr(M_p^-1 G)`` of every epsilon-LDP strategy (on L for the uniform prior): the
    ``inverse`` C (n, n) and the ``multipliers`` mu (n,) prove it."""

    workload: Workload
    epsilon: float
    prior: np.ndarray
    value: float
    inverse: np.ndarray
    multipliers: np.ndarray

    def _trace_and_total(self) -> tuple[float, float]:
        """As for `Certificate`, whose docstring explains the rounding; what a row lacks is added to all mu_i alike."""
        n, C, mu = self.workload.n, numbers(self.inverse), numbers(self.multipliers)
        if n > MOST_ENUMERATED_TYPES or C.shape != (n, n) or mu.shape != (n,) or not np.array_equal(C, C.T):
            return NOTHING
        D, reference = exp_epsilon_minus_one(self.epsilon), n * check_prior(self.prior, n)
        G, roundings = self.workload.gram_dense(), 2 * n + self.workload.gram_roundings
        s = np.sqrt(G.diagonal()) * ABOVE
        if not magnitudes_fit(C, mu, s):
            return NOTHING
        w = np.abs(C) @ s * ABOVE
        half = G @ C
        trace = float(half.trace()) - ABOVE * roundings * U * float(s @ w) - UNDERFLOW

        F = np.outer(mu / 2, reference)
        F = F + F.T - C @ half
        off_F = (roundings + 1) * float(w @ w) + 6 * float(np.linalg.norm(mu) * np.linalg.norm(reference))
        v = 1 + D * two_valued(n)
        off_form = (2 * n + 8) * U * np.einsum("ki,ij,kj->k", v, np.abs(F), v)
        if not magnitudes_fit(off_form):  # nor nan, which max below would pass over
            return NOTHING
        missing = ABOVE * off_form + UNDERFLOW - np.einsum("ki,ij,kj->k", v, F, v)
        lacking = float((missing / ((v @ reference) * v.sum(axis=1))).max())  # each mu_i gains (r'v)(1'v) of it
        growth = (
            max(0.0, lacking) + U * float(np.abs(mu).sum()) + repair(reference, D, ABOVE * U * off_F + UNDERFLOW, 0.0)
        )
        return trace, float(mu.sum()) + ABOVE * n * growth
