"""Strategies of the matrix mechanism run per user: what vector A e_u to send (plus noise) for a workload.

A (k, n) has one column per type. Neighbouring users may hold any two types, so what the noise must hide is the *diameter*
``max |a_u - a_v|`` (L1 for Laplace, L2 for Gaussian noise), and because the number of users is known, the component of A
along 1 matters to no one: with ``P = I - 11'/n`` the total error is ``tr(PGP (P A'A P)^+)`` times the noise variance.

Sources: Li, Miklau, Hay, McGregor and Rastogi 2015 (the matrix mechanism); Edmonds, Nikolov and Ullman 2020 (run per user);
McKenna, Miklau, Hay and Machanavajjhala 2018 (p-identity strategies). The optimality conditions for L2 are derived here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import OptimizeResult, minimize

from ldp_core.limits import MOST_WORKLOAD_ENTRIES
from ldp_core.mechanisms.noise.vectors import centred, centred_inverse, diameter, squared_distances
from ldp_core.optimize.base import vectors_too_large
from ldp_core.run import Budget, Callback, Cancel, Check, Interrupted, Stopped, generator, unchecked
from ldp_core.workloads import Workload

TOLERANCE = 1e-3


@dataclass(frozen=True)
class StrategyDesign:
    """A strategy (k, n) scaled to diameter 1.

    ``error`` is tr(PGP (P A'A P)^+): the total variance over the queries that one user adds, per unit of noise variance.
    ``bound`` is a proven lower limit of it over all strategies (L2 only, else 0).
    """

    strategy: np.ndarray
    error: float
    bound: float
    rounds: int
    seconds: float
    stopped: Stopped

    def __repr__(self) -> str:
        rows, n = self.strategy.shape
        figures = f"error {self.error:.6g}, bound {self.bound:.6g}, {self.rounds:,} rounds, stopped: {self.stopped}"
        return f"<StrategyDesign: {rows:,} x {n:,} strategy, {figures}>"


def error_of(strategy: np.ndarray, workload: Workload) -> float:
    """tr(PGP (P A'A P)^+) of a strategy (k, n) as it stands; infinite where it cannot answer the workload."""
    inverse, projector = centred_inverse(strategy)
    if projector is not None:
        lost = workload.quadratic(centred(np.eye(workload.n)) - projector).sum()
        if lost > 1e-9 * workload.trace:
            return np.inf
    return float(np.einsum("ij,ij->", workload.gram_dense(), inverse))


def _budget(
    time_limit: float | None, max_rounds: int | None, cancel: Cancel | None, callback: Callback | None
) -> Budget:
    return Budget(time_limit, 500 if max_rounds is None else max_rounds, cancel, callback, least_rounds=1)


def optimal_l2(
    workload: Workload,
    max_rounds: int | None = None,
    tolerance: float = TOLERANCE,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    callback: Callback | None = None,
) -> StrategyDesign:
    """The strategy of L2 diameter 1 with the least error for ``workload``, to within the share ``tolerance``.

    With S = A'A the problem is convex: minimise tr(PGP S^+) where (e_u - e_v)'S(e_u - e_v) <= 1 for
    all pairs. Take weights w_uv >= 0 of the pairs with sum 1 and their graph Laplacian L. Every
    feasible S has tr(LS) <= 1, and the least error under that one constraint is tau^2, tau = tr((R
    L R')^1/2) with R'R = PGP, reached by S = R'(R L R')^(-1/2) R / tau. Hence tau^2 is a lower
    bound, and S divided by its largest squared distance is feasible with error tau^2 max d^2.
    Weights grow by a power of d_uv^2, as in multiplicative algorithms for optimal designs, until
    the two agree.

    Starts from equal weights, with no random choice; deterministic in ``max_rounds`` (default 500,
    rarely reached). ``cancel`` and ``callback`` as in `ldp_core.run`. ValueError past
    `ldp_core.limits.MOST_VECTOR_TYPES` types or for a workload that only counts the users.
    """
    budget = _budget(time_limit, max_rounds, cancel, callback)
    R, n = _centred_root(workload), workload.n
    weights = np.full((n, n), 1 / (n * (n - 1)))  # of ordered pairs: L counts each pair twice
    np.fill_diagonal(weights, 0.0)
    # Equal distances of 1 are there at once.
    error, bound, power, best = 2 * float(np.square(R).sum()), 0.0, 3.0, centred(np.eye(n)) / np.sqrt(2)
    budget.tell(0, error=error, bound=bound)
    stopped: Stopped | None = None
    while stopped is None:
        try:
            factor, relaxed, lower = _best_under(weights, R, budget.check)
            squares = squared_distances(factor.T @ factor)
        except Interrupted:
            stopped = budget.interrupted
            break
        largest = squares.max()
        if lower < bound:
            power = max(1.0, power / 2)
        bound = max(bound, lower)
        if relaxed * largest < error:
            error, best = relaxed * largest, factor / np.sqrt(largest)
        budget.tell(error=error, bound=bound)
        stopped = "converged" if error <= bound * (1 + tolerance) else budget.stopped()
        weights *= (squares / largest) ** power
        weights /= weights.sum()
    return StrategyDesign(best, error, bound, budget.rounds, budget.seconds, stopped)


def _best_under(weights: np.ndarray, R: np.ndarray, check: Check) -> tuple[np.ndarray, float, float]:
    """B (r, n) with B'B = S, the best under tr(LS) <= 1 for the pair ``weights`` (n, n), its error and tau^2."""
    check()
    K = 2 * ((R * weights.sum(axis=1)) @ R.T - R @ weights @ R.T)
    check()
    values, vectors = linalg.eigh((K + K.T) / 2, driver="evd")
    # Directions whose weights vanish would get infinite distances; a floor keeps them finite and visible in the next round.
    roots = np.sqrt(np.maximum(values, values[-1] * 1e-14))
    check()
    total = roots.sum()
    tau = np.sqrt(np.maximum(values, 0.0)).sum()
    return (vectors / np.sqrt(roots * total)).T @ R, float(total**2), float(tau**2)


def _centred_root(workload: Workload) -> np.ndarray:
    """(r, n) R with R'R = PGP and r its rank."""
    if reason := vectors_too_large(workload.n):
        raise ValueError(reason)
    values, vectors = linalg.eigh(centred(centred(workload.gram_dense()).T), driver="evd")
    kept = values > workload.trace * workload.n * np.finfo(float).eps
    if not kept.any():
        raise ValueError(
            "This workload asks only for the number of users, which is known; there is nothing to optimise."
        )
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def optimal_l1(
    workload: Workload,
    queries: int | None = None,
    seed: int = 0,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    callback: Callback | None = None,
) -> StrategyDesign:
    """A strategy of L1 diameter 1 with small error for ``workload``: the best of three kinds.

    The identity; W itself (where small enough); and a p-identity strategy (McKenna et al. 2018, Section 5.2), the identity
    over ``queries`` non-negative rows with columns scaled to sum 1, fitted by L-BFGS-B to the centred error. The problem is
    not convex: there are two fits, from the workload's main directions and from a random start fixed by ``seed``, and the
    result is a local optimum at best, never worse than the other kinds. Every candidate is scaled by its exact diameter.
    ``queries`` defaults to n/16, at least 4.

    ``cancel`` and ``callback`` as in `ldp_core.run`. ValueError past `ldp_core.limits.MOST_VECTOR_TYPES` types, or where nothing is asked.
    """
    budget = _budget(time_limit, max_rounds, cancel, callback)
    R, n = _centred_root(workload), workload.n
    p = max(4, n // 16) if queries is None else queries
    if isinstance(p, bool) or not isinstance(p, (int, np.integer)) or p < 1:
        raise ValueError(
            f"The number of queries besides the identity must be a whole number from 1 up; got {queries!r}."
        )
    # The identity, whose columns are 2 apart, is there at once.
    scored = [(4 * float(np.square(R).sum()), np.eye(n) / 2)]
    budget.tell(0, error=scored[0][0], bound=0.0)
    stopped: Stopped = "converged"
    for start in (_spectral_start(R, int(p)), generator(seed).random((int(p), n))):
        if stopped == "converged":
            fitted, fit_error, stopped = _fit_p_identity(start, workload.gram_dense(), budget)
            try:
                budget.check()
                scored.append(_scaled_to_diameter(fitted, workload))
            except Interrupted:  # columns that sum to 1 are 2 apart at most
                scored.append((4 * fit_error, fitted / 2))
    with suppress(Interrupted):
        budget.check()
        if workload.num_queries * n**2 <= 2**32 and workload.num_queries * n <= MOST_WORKLOAD_ENTRIES:
            scored.insert(1, _scaled_to_diameter(workload.matrix, workload))
    error, best = min(scored, key=lambda candidate: candidate[0])
    return StrategyDesign(best, error, 0.0, budget.rounds, budget.seconds, stopped)


def _scaled_to_diameter(A: np.ndarray, workload: Workload) -> tuple[float, np.ndarray]:
    """Error and strategy after scaling to L1 diameter 1."""
    A = A / diameter(A, "l1")[0]
    return error_of(A, workload), A


def _spectral_start(R: np.ndarray, p: int) -> np.ndarray:
    """(p, n) positive and negative parts of what the workload asks most about, R (r, n) having its largest row last."""
    rows = np.concatenate([np.maximum(R, 0)[::-1], np.maximum(-R, 0)[::-1]], axis=1).reshape(-1, R.shape[1])
    return np.resize(rows, (p, R.shape[1])) / rows.max()


def _fit_p_identity(start: np.ndarray, G: np.ndarray, budget: Budget) -> tuple[np.ndarray, float, Stopped]:
    """(n + p, n) the strategy fitted from Theta = ``start`` (p, n), its error as it stands (infinite where there was no time for
    it), and why the fit stopped; its columns sum to 1, so its diameter is at most 2."""
    p, n = start.shape
    error, theta = np.inf, start.ravel()
    stopped: Stopped | None = None

    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
        budget.check()
        return _p_identity_error(flat.reshape(p, n), G, budget.check)

    def watch(intermediate_result: OptimizeResult) -> None:
        nonlocal error, theta, stopped
        if intermediate_result.fun < error:
            error, theta = intermediate_result.fun, intermediate_result.x.copy()
        budget.tell(error=4 * error, bound=0.0)
        stopped = budget.stopped()
        if stopped is not None:
            raise StopIteration

    options = {"maxiter": budget.max_rounds, "ftol": 1e-7, "gtol": 0.0}
    bounds = [(0, None)] * (p * n)
    try:
        minimize(evaluate, theta, jac=True, method="L-BFGS-B", bounds=bounds, callback=watch, options=options)
    except Interrupted:
        stopped = budget.interrupted
    return _p_identity(theta.reshape(p, n)), error, stopped or "converged"


def _p_identity(theta: np.ndarray) -> np.ndarray:
    """[I; Theta] with columns scaled to sum 1."""
    return np.vstack([np.eye(theta.shape[1]), theta]) / (1 + theta.sum(axis=0))


def _p_identity_error(theta: np.ndarray, G: np.ndarray, check: Check = unchecked) -> tuple[float, np.ndarray]:
    """tr(G (P A'A P)^+) of the p-identity strategy of ``theta`` (p, n), and its gradient, flat."""
    A = _p_identity(theta)
    n = theta.shape[1]
    S, _ = centred_inverse(A)
    check()
    GS = G @ S
    slope = -2 * A @ (S @ GS)  # along A; P is in S already
    scale = 1 / (1 + theta.sum(axis=0))
    # A_bottom = Theta D and A_top = D with D = diag(scale), which itself falls as the column of Theta grows.
    along_scale = np.diag(slope) + np.einsum("ju,ju->u", slope[n:], theta)
    return float(np.trace(GS)), (slope[n:] * scale - along_scale * scale**2).ravel()
