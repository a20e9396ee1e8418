"""The points of projected gradient descents: where they start, and the derivatives of L there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from ldp_core.optimize.columns.weights import blocks
from ldp_core.optimize.gradient.projection import project
from ldp_core.optimize.strategy import Evaluation, evaluate
from ldp_core.privacy import exp_epsilon
from ldp_core.run import Check, unchecked


@dataclass(frozen=True)
class FeasibleStrategy:
    """A feasible strategy: ``transposed`` P (n, m), row minima ``lower`` z (m,) and the evaluation of L there."""

    transposed: np.ndarray
    lower: np.ndarray
    at: Evaluation

    @property
    def objective(self) -> float:
        return self.at.objective


def random_start(
    root: np.ndarray, epsilon: float, rows: int, rng: np.random.Generator, check: Check = unchecked
) -> FeasibleStrategy:
    """The paper's start: a uniform random matrix (m, n) projected with equal z.

    The paper's z = (1 + e^-epsilon) / 2m leaves room for a share 1/(1 + e^epsilon) of entries at the upper bound;
    where that is less than one entry a row, rows would stay flat and useless, so the share is at least 1/n here.
    """
    n = root.shape[1]
    share = max(1 / (1 + np.exp(epsilon)), 1 / n)
    lower = np.full(rows, 1 / (rows * (1 + np.expm1(epsilon) * share)))
    strategy = project(rng.random((rows, n)), lower, epsilon, check)
    return evaluated(strategy, lower, root, "no start was found: raise rows or epsilon.", check)


def start_from(strategy: np.ndarray, root: np.ndarray, epsilon: float, check: Check = unchecked) -> FeasibleStrategy:
    """A given epsilon-LDP strategy (m, n) as a point; ValueError where it is not one."""
    strategy = np.asarray(strategy, dtype=float)
    n = root.shape[1]
    if strategy.ndim != 2 or strategy.shape[1] != n or not np.isfinite(strategy).all():
        raise ValueError(
            f"initial must be a finite (m, {n}) matrix, but has the shape {strategy.shape}: pass a strategy."
        )
    strategy = strategy[strategy.max(axis=1) > 0]
    smallest, largest = strategy.min(axis=1), strategy.max(axis=1)
    excess = (largest / np.maximum(smallest, np.finfo(float).tiny)).max() / np.exp(epsilon)
    error = np.abs(strategy.sum(axis=0) - 1).max()
    if excess > 1 + 1e-9 or error > 1e-9:
        raise ValueError(
            f"initial is not a strategy for epsilon = {epsilon:g}: its columns are off 1 by up to {error:.2g} and its "
            f"largest row ratio is {excess:.6g} times e^epsilon. Normalise its columns or raise epsilon."
        )
    # Halfway between the least and the largest z that fit leaves the projection room for rounding on both sides.
    lower = (smallest + largest / exp_epsilon(epsilon)) / 2
    lower = np.minimum(lower, smallest)
    projected = project(strategy, lower, epsilon, check)
    problem = "initial cannot tell all types apart: start from another strategy."
    return evaluated(projected, lower, root, problem, check)


def evaluated(
    strategy: np.ndarray, lower: np.ndarray, root: np.ndarray, problem: str, check: Check = unchecked
) -> FeasibleStrategy:
    transposed = np.ascontiguousarray(strategy.T)
    at = evaluate(transposed, root, check)
    if at is None:
        raise ValueError(problem)
    return FeasibleStrategy(transposed, lower, at)


def slopes(transposed: np.ndarray, at: Evaluation, check: Check = unchecked) -> tuple[np.ndarray, np.ndarray]:
    """``(X P, a)`` with ``X = M^-1 G M^-1`` and ``a_y = q_y' X q_y / d_y`` (m,), from which all derivatives follow.

    The gradient is ``dL/dQ[y, u] = a_y / d_y - 2 (X q_y)_u / d_y``, and stretching row y changes L at the rate
    ``-a_y``.
    """
    curved = blas.dsyrk(1.0, at.solved, lower=1)
    n, m = transposed.shape
    product = np.empty((n, m))
    for part in blocks(m, n):
        check()
        product[:, part] = blas.dsymm(1.0, curved, transposed[:, part].T, side=1, lower=1).T
    return product, np.einsum("ij,ij->j", transposed, product) / at.outputs


def types_to_outputs(transposed: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """``Q v`` (m,) for a vector over types (n,)."""
    return blas.dgemv(1.0, transposed.T, vector)


def multipliers(
    transposed: np.ndarray, curvature: np.ndarray, at: Evaluation, start: np.ndarray, steps: int
) -> np.ndarray:
    """Multipliers mu (n,) of the column sums for moves that stretch rows: ``(Q' diag(1/a) Q) mu = 1``.

    The stretches ``1 + t (1 - mu'q_y / a_y)`` then keep every column sum, and L falls at the rate
    ``sum_y a_y (1 - mu'q_y / a_y)^2``. A few conjugate gradient steps from ``start``,
    preconditioned by M^-1: near the optimum a is proportional to d for the symmetric workloads, and
    the matrix to M.
    """
    mu = start.copy()

    def image_of(vector: np.ndarray) -> np.ndarray:
        return blas.dgemv(1.0, transposed.T, types_to_outputs(transposed, vector) / curvature, trans=1)

    residual = 1 - image_of(mu)
    direction, old = np.zeros_like(mu), 1.0
    for _ in range(steps):
        conditioned, _ = lapack.dpotrs(at.cholesky, residual, lower=1)
        new = residual @ conditioned
        direction = conditioned + (new / old) * direction
        image = image_of(direction)
        bend = direction @ image
        if not bend > 0:
            break
        mu += (new / bend) * direction
        residual -= (new / bend) * image
        old = new
    return mu
