"""The semidefinite program that bounds the Fourier weights of sets of some sizes: its moments suggest weights, its multipliers are proofs.

With ``(1 + D a)^2 = 1`` for a scale, the largest ratio of `ldp_core.bounds.triples.duals` over all moments that obey what is known is a linear
objective; the number that stands for 1 is then one of the unknowns. Clarabel (Goulart and Chen 2024) solves it by an interior-point method.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from ldp_core.bounds.triples.moments import FormBlock, Moments, moments
from ldp_core.run import Check, Interrupted, unchecked


@dataclass(frozen=True)
class Solution:
    """The best ``fourier_weights`` (d,) ``D^2 W^l / (1 + D a)^2`` not ruled out for sets of ``sizes``,
    ``moments`` in proportion, and the multipliers of a proof, as in
    `ldp_core.bounds.triples.duals.Duals`, with the ``ratio`` that they prove."""

    sizes: tuple[int, int]
    value: float
    ratio: float
    fourier_weights: np.ndarray
    moments: np.ndarray
    factors: np.ndarray
    signs: np.ndarray
    sizing: np.ndarray


class Relaxation:
    """The relaxation for sets of records of ``length`` bits, at ``epsilon``."""

    def __init__(self, length: int, epsilon: float):
        self.known: Moments = moments(length)
        self.D = float(np.expm1(epsilon))

    def solve(self, weights: np.ndarray, sizes: tuple[int, int], check: Check = unchecked) -> Solution | None:
        """The largest ratio of sets of ``sizes`` from and to that is not known to be impossible; None where it is not found."""
        known, D, (low, high) = self.known, self.D, np.array(sizes) / self.known.types
        # Moments are looked at as shares of a, forms as numbers near 1.
        scale = np.append(1.0, np.full(known.count - 1, np.sqrt(low * high)))
        fixed, sizing = self._about_sizes(low, high)
        forms = (fixed, known.signs, sizing)
        groups = [form * scale for form in forms]
        lengths = [np.abs(form).max(axis=1, initial=0.0) for form in groups]
        equations, *others = (form / length[:, None] for form, length in zip(groups, lengths, strict=True))
        denominator = D**2 * known.fourier_weights[0] * scale
        denominator[:2] += scale[:2] * [1.0, 2 * D]
        objective = D**2 * (weights @ known.fourier_weights[1:]) * scale
        unit = np.abs(objective).max()
        first = sparse.csc_matrix(np.vstack([denominator, equations]))
        second = sparse.csc_matrix(-np.vstack([np.eye(known.count), *others]))
        seen = [_seen(block, known.count) for block in known.blocks]
        A = sparse.vstack([first, second, *(square @ sparse.diags(-scale) for square in seen)], format="csc")
        cones = [clarabel.ZeroConeT(first.shape[0]), clarabel.NonnegativeConeT(second.shape[0])]
        cones += [clarabel.PSDTriangleConeT(block.size) for block in known.blocks]
        solution = solved(-objective / unit, A, np.eye(1, A.shape[0])[0], cones, 1e-8, check)
        if solution is None:
            return None
        x, z = np.array(solution.x), np.array(solution.z) * unit
        ends = np.cumsum([1, len(equations), known.count, *map(len, others)])
        of_fixed, of_signs, of_sizing = (
            z[start:end] / length / D**2
            for start, end, length in zip(ends[[0, 2, 3]], ends[[1, 3, 4]], lengths, strict=True)
        )
        fourier_weights = np.maximum(D**2 * known.fourier_weights[1:] @ (x * scale) / (denominator @ x), 0.0)
        return Solution(
            sizes,
            max(0.0, float(z[0])),
            np.inf,
            fourier_weights,
            x * scale,
            self._factors(z[ends[-1] :] / D**2),
            np.maximum(of_signs, 0.0),
            np.maximum(of_sizing, 0.0) if len(of_sizing) else self._as_inequalities(of_fixed),
        )

    def _about_sizes(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """Forms that are 0, and forms that are not negative: where all sets have one size, ``a - a_1`` and that times f(x) f(z) are 0."""
        known, (own, times) = self.known, self.known.sized
        if low < high:
            within = known.between(np.array([low]), np.array([high]))[0]
            return np.zeros((0, known.count)), np.vstack([times - low * own, high * own - times, within])
        pairs, alone = slice(known.length + 1), np.zeros(known.count)
        alone[:2] = -low, 1
        return np.vstack([alone, times[pairs] - low * own[pairs]]), np.zeros((0, known.count))

    def _as_inequalities(self, multipliers: np.ndarray) -> np.ndarray:
        """The multipliers of inequalities that add up to those of the equations."""
        pairs, count = self.known.length + 1, len(self.known.sized[0])
        inequalities = np.zeros((2, count))
        # a - a_1 is that times f(z) and that times 1 - f(z), which is the last form but those at a distance.
        inequalities[:, :pairs] = np.maximum([-multipliers[1:], multipliers[1:]], 0.0)
        alone = np.maximum([-multipliers[0], multipliers[0]], 0.0)
        inequalities[:, 0] += alone
        inequalities[:, pairs + self.known.length] += alone
        return np.append(inequalities.ravel(), [0.0, 0.0])

    def _factors(self, triangles: np.ndarray) -> np.ndarray:
        """F with F F' the nearest positive semidefinite matrix, block by block."""
        factors, start = [], 0
        for block in self.known.blocks:
            columns, rows = np.tril_indices(block.size)
            own = triangles[start : start + len(rows)]
            start += len(rows)
            Q = np.zeros((block.size, block.size))
            Q[rows, columns] = Q[columns, rows] = own / np.where(rows == columns, 1.0, np.sqrt(2.0))
            values, vectors = np.linalg.eigh(Q)
            factors.append((vectors * np.sqrt(np.maximum(values, 0.0)) / block.norms[:, None]).ravel())
        return np.concatenate(factors)


def _seen(block: FormBlock, count: int) -> sparse.csc_matrix:
    """Upper triangles, column by column, of a matrix of forms seen through vectors divided by the `FormBlock.norms`."""
    i, j = block.rows, block.columns
    place = j * (j + 1) // 2 + i
    numbers = block.entries / (block.norms[i] * block.norms[j]) * np.where(i == j, 1.0, np.sqrt(2.0))
    return sparse.csc_matrix((numbers, (place, block.moments)), shape=(block.size * (block.size + 1) // 2, count))


_USABLE = (
    clarabel.SolverStatus.Solved,
    clarabel.SolverStatus.AlmostSolved,
    clarabel.SolverStatus.InsufficientProgress,
    clarabel.SolverStatus.MaxIterations,
)


def solved(
    q: np.ndarray, A: sparse.csc_matrix, b: np.ndarray, cones: list[object], tolerance: float, check: Check
) -> clarabel.DefaultSolution | None:
    """Of ``min q'x`` with ``b - A x`` in the cones, to a ``tolerance``. None where nothing of use is found."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.max_iter = False, 1, 60
    settings.static_regularization_constant = 1e-8  # less is more exact, and fails more often
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solver = clarabel.DefaultSolver(sparse.csc_matrix((len(q), len(q))), q, A, b, cones, settings)
    interrupted = False

    def over(_: object) -> bool:
        nonlocal interrupted
        try:
            check()
        except Interrupted:
            interrupted = True
        return interrupted

    solver.set_termination_callback(over)
    solution = solver.solve()
    if interrupted:
        raise Interrupted
    return solution if solution.status in _USABLE and np.all(np.isfinite(solution.z)) else None
