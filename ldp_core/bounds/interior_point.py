"""Clarabel (Goulart and Chen 2024), the interior-point method of bounds: what it finds suggests proofs, which are checked without it."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from ldp_core.run import Check, Interrupted

_USABLE = (
    clarabel.SolverStatus.Solved,
    clarabel.SolverStatus.AlmostSolved,
    clarabel.SolverStatus.InsufficientProgress,
    clarabel.SolverStatus.MaxIterations,
)


def solved(
    q: np.ndarray, A: sparse.csc_matrix, b: np.ndarray, cones: list[object], regular: float, check: Check
) -> clarabel.DefaultSolution | None:
    """Of ``min q'x`` with ``b - A x`` in the cones; ``regular`` is added to its systems of equations. None where nothing of use is found."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.max_iter = False, 1, 60
    settings.static_regularization_constant = regular
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
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
