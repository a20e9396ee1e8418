"""One step after the other of the projected gradient method: start, step with backtracking, perturbation, finish."""

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

# The step on z is this share of the full relative step 1 - mu'q/a, and grows to it over about WARM_UP rounds: rows
# should find their shape before light ones die (the paper also takes a smaller step on z than on Q).
WARM_UP = 30
_LARGEST_STRETCH = 0.5


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


class Descent:
    """Monotone projected gradient descent from a point; `step` moves ``point`` and says whether it could."""

    def __init__(self, root: np.ndarray, epsilon: float, point: FeasibleStrategy, check: Check = unchecked):
        self.point, self._check = point, check
        self._root, self._ratio = root, exp_epsilon(epsilon)
        n = len(point.transposed)
        self._mu = np.full(n, point.objective / n)
        self._shift = np.zeros(n)
        self._step = self._first_step = 0.0  # known once the first gradient is
        self._rounds = 0
        self._reset()

    def _reset(self) -> None:
        self._previous = self.point.transposed
        self._momentum, self._caution = 0.0, 1.0

    def step(self) -> bool:
        """One round of Algorithm 2: stretch rows along dL/dz, then Q against dL/dQ, projected; halved until L falls."""
        point = self.point
        outputs = point.at.outputs
        product, curvature = slopes(point.transposed, point.at, self._check)
        # A row that the workload ignores has no curvature, but still a finite value: it should
        # shrink.
        divisor = np.maximum(curvature, 1e-9 * outputs * (curvature.sum() / outputs.sum()))
        self._mu = mu = multipliers(point.transposed, divisor, point.at, self._mu, 2)
        stretch = 1 - types_to_outputs(point.transposed, mu) / divisor
        if not self._first_step:
            self._first_step = self._step = self._trial_step(product, curvature)
        share = 0.1 * -np.expm1(-self._rounds / WARM_UP)
        self._rounds += 1
        for _ in range(25):
            factor, lower = self._stretched(share * self._caution * stretch)
            candidate = self._projected(factor, lower, product, curvature / outputs)
            if candidate is not None and candidate.objective <= point.objective:
                self._previous, self.point = point.transposed, candidate
                self._momentum = min(0.9, self._momentum + 0.1)
                self._step = min(self._step * 1.05, 3 * self._first_step)
                self._caution = min(1.0, 1.3 * self._caution)
                return True
            if self._momentum > 0:
                self._momentum = 0.0
            else:
                # The step on z shrinks faster: with z fixed, a short projected step on Q always descends.
                self._step *= 0.5
                self._caution *= 0.25
        return False

    def perturb(self, point: FeasibleStrategy, rng: np.random.Generator) -> None:
        """Go on from ``point`` with noise on all entries, projected: out of a local minimum, into one nearby."""
        noise = 0.25 * (self._ratio - 1) * point.lower
        values = point.transposed + noise * rng.standard_normal(point.transposed.shape)
        transposed, _ = project_types(values, point.lower, point.lower * self._ratio, np.zeros(len(values)))
        at = evaluate(transposed, self._root, self._check)
        self.point = point if at is None else FeasibleStrategy(transposed, point.lower, at)
        self._reset()

    def _trial_step(self, product: np.ndarray, curvature: np.ndarray) -> float:
        """First step length: entries then move by about their own size 1/m."""
        point = self.point
        n, m = point.transposed.shape
        gradient = (curvature - 2 * product) / point.at.outputs + self._mu[:, None]
        length = np.linalg.norm(gradient)
        return np.sqrt(n * m) / length if length > 0 else 0.0

    def _stretched(self, stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Factors for the rows and the new z, kept where columns can still sum to 1."""
        factor = 1 + np.clip(stretch, -_LARGEST_STRETCH, _LARGEST_STRETCH)
        total = factor @ self.point.lower
        margin = 1e-9
        factor /= max(1.0, total * (1 + margin))
        factor *= max(1.0, (1 + margin) / (total * self._ratio))
        return factor, np.maximum(self.point.lower * factor, 1e-100)

    def _projected(
        self, factor: np.ndarray, lower: np.ndarray, product: np.ndarray, level: np.ndarray
    ) -> FeasibleStrategy | None:
        """Point after the step: P diag(factor) - step * gradient + momentum, projected; None where M is singular."""
        values = self.point.transposed * (factor + self._momentum)
        values += product * (2 * self._step / self.point.at.outputs)
        values -= self._step * level
        if self._momentum:
            values -= self._momentum * self._previous
        transposed, self._shift = project_types(values, lower, lower * self._ratio, self._shift, check=self._check)
        at = evaluate(transposed, self._root, self._check)
        return None if at is None else FeasibleStrategy(transposed, lower, at)


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
