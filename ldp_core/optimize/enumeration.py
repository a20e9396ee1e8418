"""The exact optimum for few types: all 2^n two-valued rows at once, by semidefinite programming.

The best strategy is a measure over the rows v in {1, E}^n (see `ldp_core.optimize.columns.search`), so
with all of them available the design problem is a finite convex program. Coordinates that are well
scaled at every epsilon: let ``r = n p``, m_v the probability of output v under the prior p,
``v = r'v/n a_v``, and B (n, n-1) an orthonormal basis of the differences between types,
``B'1 = 0``. Then

    M_p^-1 = r r'/n + B K^-1 B',     K = sum_v m_v k_v k_v',  k_v = sqrt(n) B'v / (r'v),     sum_v m_v a_v = 1,

as ``M_p r = 1``. So ``tr(M_p^-1 G) = r'G r / n + tr(K^-1 B'G B)``: least is ``tr Z`` where [[Z,
R'], [R, K]] is positive semidefinite, ``R R' = B'G B``.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg

from ldp_core import pictures
from ldp_core.bounds import Proof, average_variance, certificate
from ldp_core.limits import MOST_ENUMERATED_TYPES
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon, fitted_exp_epsilon
from ldp_core.workloads import Workload, distinguished


@dataclass(frozen=True)
class ExactOptimum:
    """The best strategy there is, as far as a solver's word goes, and the ordinary ``proof`` of how much better any can be.

    ``strategy`` (m, n) has columns summing to 1 and rows within a factor e^epsilon, as stored; ``objective`` is its
    ``tr(M_p^-1 G)`` in squared users, L for the uniform prior.
    """

    strategy: np.ndarray
    objective: float
    proof: Proof
    epsilon: float
    prior: np.ndarray | None = None

    @property
    def bound(self) -> float:
        """The proved lower bound on the objective."""
        return self.proof.value

    @property
    def gap(self) -> float:
        """By how much the objective exceeds the proved bound at most, as a share of the bound."""
        return self.objective / self.bound - 1

    @property
    def variance(self) -> float:
        """The contribution of one user to the squared errors of all queries, on average over the
        prior, at the optimum."""
        workload = self.proof.workload
        return average_variance(self.objective, workload, check_prior(self.prior, workload.n))

    def __repr__(self) -> str:
        m, n = self.strategy.shape
        figures = f"objective {self.objective:.8g}, proved within {max(self.gap, 0):.1e}"
        return f"<{type(self).__name__}: {m:,} x {n:,} strategy, epsilon {self.epsilon:g}, {figures}>"

    def _repr_html_(self) -> str:
        return pictures.strategy_map(self.strategy, repr(self))


def exact(workload: Workload, epsilon: float, prior: np.ndarray | None = None) -> ExactOptimum:
    """The least ``tr(M_p^-1 G)`` of all epsilon-LDP strategies (L for the uniform ``prior``), for at most 10 types that the
    questions distinguish.

    Needs no start, seed or time limit: a third of a second for 10 types, and a second more the first time, to import CVXPY.
    ValueError for an epsilon or a prior out of range, or more types.

    >>> best = ldp.optimize.exact(ldp.workloads.prefix(8), epsilon=1.0)
    >>> round(best.objective, 3), best.gap < 0.01, best.proof.verify()
    (220.251, True, True)
    """
    epsilon, n = check_epsilon(epsilon), workload.n
    proof = partial(certificate, workload, epsilon, time_limit=None, prior=prior)
    if (classes := distinguished(workload)) is not None:
        shares = classes.shares(None if prior is None else check_prior(prior, n))
        optimum, scale = exact(classes.workload, epsilon, shares), n / classes.workload.n
        strategy = np.ascontiguousarray(optimum.strategy[:, classes.classes])
        return ExactOptimum(strategy, scale * optimum.objective, proof(), epsilon, prior)
    if n > MOST_ENUMERATED_TYPES:
        raise ValueError(
            f"The exact optimum goes through all 2^n two-valued rows, for at most {MOST_ENUMERATED_TYPES} types; there are {n:,}. Use "
            "coarser bins, or the certified design, whose distance from the optimum a certificate bounds."
        )
    p = check_prior(prior, n)
    strategy = _best(workload, fitted_exp_epsilon(epsilon), n * p)
    profile = ExplicitMechanism("optimized", strategy, epsilon, prior=prior).variance_profile(workload)
    return ExactOptimum(strategy, float(n * p @ (profile + workload.gram_diag)), proof(), epsilon, prior)


def _best(workload: Workload, ratio: float, reference: np.ndarray) -> np.ndarray:
    """(m, n) the best strategy. In the program K is in units of ((E - 1) / (E + 1))^2 and R has a sum of squares of 1: numbers of a size near 1."""
    n, G = workload.n, workload.gram_dense()
    rows = 1 + (ratio - 1) * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    masses, basis = rows @ reference, linalg.null_space(np.ones((1, n)))
    # 1 has no part in the differences: without it they keep their digits where the ratio is near 1.
    contrasts = np.sqrt(n) * (ratio + 1) / (ratio - 1) * ((rows - 1) @ basis) / masses[:, None]
    values, vectors = linalg.eigh(basis.T @ G @ basis)
    values = np.where(values > n * np.finfo(float).eps * np.trace(G), values, 0.0)
    kept = values > 0
    kept[-1] = True  # also where nothing is asked but the total
    root = vectors[:, kept] * np.sqrt(values[kept] / (float(values.sum()) or 1.0))
    columns = rows * (n / masses)[:, None]  # probabilities of each output by type, as multiples of that under the prior
    chances = _chances(columns, contrasts, root)
    kept = chances > 1e-10  # outputs less likely than this are left out
    m, a = chances[kept], columns[kept]
    for _ in range(3):  # Newton steps that restore the column sums
        m = m * (1 + a @ (linalg.pinvh(a.T @ (a * m[:, None])) @ (1 - m @ a)))
    return rows[kept] * (m * n / masses[kept])[:, None]


def _chances(columns: np.ndarray, contrasts: np.ndarray, root: np.ndarray) -> np.ndarray:
    """(2^n,) the chances m of the outputs under the prior, for a_v in the rows of ``columns`` and k_v in those of ``contrasts``."""
    import cvxpy as cp  # takes a second, which nothing else needs

    (size, rank), products = root.shape, contrasts[:, :, None] * contrasts[:, None, :]
    chances, bound = cp.Variable(len(columns), nonneg=True), cp.Variable((rank, rank), symmetric=True)
    K = cp.reshape(products.reshape(len(columns), -1).T @ chances, (size, size), order="C")
    conditions = [cp.bmat([[bound, root.T], [root, K]]) >> 0, columns.T @ chances == 1]
    program, close = cp.Problem(cp.Minimize(cp.trace(bound)), conditions), 1e-10  # the proof shows what that attains
    with warnings.catch_warnings(), suppress(cp.error.SolverError):
        warnings.simplefilter("ignore", UserWarning)  # of an inaccurate solution: the proof shows how good it is
        program.solve(solver=cp.CLARABEL, tol_gap_abs=close, tol_gap_rel=close, tol_feas=close)
    if chances.value is None or not np.all(np.isfinite(chances.value)):
        raise ValueError("The solver found no optimum for this workload and epsilon; use the certified design.")
    return np.maximum(chances.value, 0.0)
