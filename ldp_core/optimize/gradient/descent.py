"""Searches by projected gradients: starts, derivatives, ends, and Algorithm 2 of McKenna, Maity, Mazumdar and Miklau (2020) as printed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.optimize.columns.weights import blocks
from ldp_core.optimize.gradient.projection import project, project_types
from ldp_core.optimize.strategy import Evaluation, evaluate
from ldp_core.privacy import exp_epsilon
from ldp_core.run import Check, Interrupted, unchecked
from ldp_core.workloads import Workload

TRIALS = 4.0 ** np.arange(-2, 5)
"""Step sizes tried, in units of one that moves the entry with the steepest slope by an average entry."""


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
    return _evaluated(strategy, lower, root, "no start was found: raise rows or epsilon.", check)


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
    return _evaluated(projected, lower, root, problem, check)


def _evaluated(
    strategy: np.ndarray, lower: np.ndarray, root: np.ndarray, problem: str, check: Check = unchecked
) -> FeasibleStrategy:
    transposed = np.ascontiguousarray(strategy.T)
    at = evaluate(transposed, root, check)
    if at is None:
        raise ValueError(problem)
    return FeasibleStrategy(transposed, lower, at)


class DescentSearch(ABC):
    """The common part of searches by descents: a start, the best point, and the strategy that it
    ends with."""

    finished = False
    best: FeasibleStrategy | None = None

    def __init__(
        self,
        workload: Workload,
        root: np.ndarray,
        epsilon: float,
        start: Callable[[], FeasibleStrategy],
        rng: np.random.Generator,
        check: Check,
    ):
        self._workload, self._root, self._epsilon, self._start = workload, root, epsilon, start
        self._rng, self._check = rng, check

    @abstractmethod
    def prepare(self) -> None: ...
    @abstractmethod
    def round(self) -> None: ...

    def finish(self, at_once: bool) -> tuple[np.ndarray, float]:
        """The best strategy (m, n) without rows that are never sent, and its objective."""
        point, ratio = self.best, exp_epsilon(self._epsilon)
        if point is None:  # interrupted before there was a start
            first = first_orbits(self._workload.gram_dense(), ratio, Shifts.of(self._workload))
            return np.ascontiguousarray(first.transposed.T), first.objective
        kept = point.lower * ratio > 1e-13
        strategy = np.ascontiguousarray(point.transposed.T)
        if kept.all():
            return strategy, point.objective
        lower = point.lower[kept]
        try:
            shorter = project(strategy[kept], lower, self._epsilon, self._check)
            evaluated = _evaluated(shorter, lower, self._root, "rows that are never sent were needed.", self._check)
        except Interrupted:
            return strategy, point.objective
        return shorter, evaluated.objective


def slope_of_lower(transposed: np.ndarray, lower: np.ndarray, ratio: float, gradient: np.ndarray) -> np.ndarray:
    """(m,) dL/dz through the projection, from ``gradient`` (n, m) dL/dQ at the projected strategy ``transposed`` (n, m)."""
    moves = np.where(lower * ratio <= transposed, ratio, np.where(lower >= transposed, 1.0, 0.0))
    free = moves == 0
    shared = np.where(free, gradient, 0.0).sum(axis=1) / np.maximum(free.sum(axis=1), 1)
    return ((gradient - shared[:, None]) * moves).sum(axis=0)


class LiteralDescent(DescentSearch):
    """Rounds of Algorithm 2 as printed: plain gradient steps on z and Q, with one step size. ``best`` is the best strategy seen, as steps can also rise.

    ``z <- clip(z - alpha dL/dz, 0, 1)``, then ``Q <- project(Q - beta dL/dQ)`` onto the columns that z allows. The derivative for z goes
    through the projection: an entry at a bound of its row moves with it, and the free entries of its column share what is missing
    evenly. The paper asks for an alpha smaller than beta and leaves it open: here it is smaller by m e^epsilon for m rows. As there,
    beta comes from a search by short runs.
    """

    def prepare(self) -> None:
        """The search for beta: the size whose short run ends lowest."""
        self.best = start = self._start()
        self.finished = start.objective <= 0  # no questions
        if self.finished:
            return
        slope = np.abs(self._gradient(start)).max()
        unit = start.at.outputs.sum() / start.transposed.size / slope
        ends = {float(size * unit): self._trial(start, float(size * unit)) for size in TRIALS}
        self._beta = min(ends, key=lambda beta: ends[beta])
        self._point = start

    def round(self) -> None:
        moved = self._step(self._point, self._beta)
        if moved is None:  # the paper argues that small steps never lose a type; this one did
            self.finished = True
            return
        self._point = moved
        if self.best is None or moved.objective < self.best.objective:
            self.best = moved

    def _trial(self, point: FeasibleStrategy, beta: float) -> float:
        for _ in range(50):
            moved = self._step(point, beta)
            if moved is None:
                return np.inf
            point = moved
        return point.objective

    def _gradient(self, point: FeasibleStrategy) -> np.ndarray:
        """(n, m) dL/dQ, transposed."""
        product, curvature = slopes(point.transposed, point.at, self._check)
        return (curvature - 2 * product) / point.at.outputs

    def _step(self, point: FeasibleStrategy, beta: float) -> FeasibleStrategy | None:
        P, low, gradient = point.transposed, point.lower, self._gradient(point)
        ratio = exp_epsilon(self._epsilon)
        by_lower = slope_of_lower(P, low, ratio, gradient)
        lower = np.clip(low - beta / (len(low) * ratio) * by_lower, 0.0, 1.0)
        total = lower.sum()
        if not (total <= 1 <= total * ratio and lower.min() > 0):
            return None
        transposed, _ = project_types(P - beta * gradient, lower, lower * ratio, np.zeros(len(P)), check=self._check)
        at = evaluate(transposed, self._root, self._check)
        return None if at is None else FeasibleStrategy(transposed, lower, at)


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


def outputs_to_types(transposed: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """``Q' w`` (n,) for a vector over outputs (m,)."""
    return blas.dgemv(1.0, transposed.T, vector, trans=1)


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
        return outputs_to_types(transposed, types_to_outputs(transposed, vector) / curvature)

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
