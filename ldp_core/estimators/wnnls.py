"""Workload non-negative least squares (McKenna et al. 2020, Appendix A): the closest answers that some real data could have.

On ordered domains the total error is a plain sum of squares over running totals Y, and counts are
non-negative where Y never falls: isotonic regression, in O(n) at any size. Prefixes have the known
value Y_0 = 0. All ranges are all differences of Y_0..Y_n, so Y is free up to a constant, which the
sum of squares then fits on its own.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from ldp_core.estimators import norm_sub, quadratic
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.workloads import Workload

_FAST = ("histogram", "prefix", "all_range")


def too_large(workload: Workload) -> str | None:
    """Why `project` cannot serve ``workload``, None where it can."""
    if workload.n <= MOST_MATRIX_TYPES or workload.kind in _FAST:
        return None
    return (
        f"On more than {MOST_MATRIX_TYPES:,} types non-negative answers are fitted for histograms, prefixes and all ranges only; this "
        f"workload has {workload.n:,}. Use Norm-Sub or coarser bins."
    )


def project(workload: Workload, counts: np.ndarray, users: float | None = None) -> np.ndarray:
    """(n,) the x >= 0, of sum ``users`` where given, that minimises (x - counts)' G (x - counts).

    A projection, in the workload's own norm, onto a convex set that holds the truth: it never increases the squared error.
    ValueError for a total that is negative or not finite, or a large workload without a fast form (see `too_large`).
    """
    counts = np.asarray(counts, dtype=float)
    if users is not None and not (users >= 0 and np.isfinite(users)):
        raise ValueError(f"The number of users must be finite and not negative; got {users}.")
    if users == 0:
        return np.zeros_like(counts)
    if workload.kind == "histogram":
        return np.maximum(counts, 0.0) if users is None else norm_sub.project(counts, users)
    if workload.kind == "prefix":
        return _prefix(np.cumsum(counts), users)
    if workload.kind == "all_range":
        return _all_range(np.concatenate([[0.0], np.cumsum(counts)]), users)
    if reason := too_large(workload):
        raise ValueError(reason)
    if workload.num_queries < workload.n:
        # G is singular, and what the queries themselves say is a root of it.
        return quadratic.project_by_root(workload.matrix, counts, users)
    # The queries themselves are a root where they are few, as any other takes n^3 operations.
    few_queries = workload.num_queries <= 4 * workload.n
    root = lambda: workload.matrix if few_queries else workload.gram_root  # noqa: E731
    return quadratic.project(workload.gram_dense(), counts, users, root)


def _prefix(totals: np.ndarray, users: float | None) -> np.ndarray:
    """Counts from noisy running totals (n,). Bounds on an isotonic regression merely cut it off."""
    if users is None:
        return np.diff(np.maximum(_rising(totals), 0.0), prepend=0.0)
    inner = np.clip(_rising(totals[:-1]), 0.0, users)
    return np.diff(inner, prepend=0.0, append=users)


def _all_range(totals: np.ndarray, users: float | None) -> np.ndarray:
    """Counts from noisy running totals (n + 1,) that begin with 0.

    If the total is known, the ends are s and s + ``users`` and the rest is cut off there. Half the
    derivative in s is the sum of
    all residuals, an increasing function linear between the fitted values and those less ``users``.
    """
    if users is None:
        return np.diff(_rising(totals))
    inner = _rising(totals[1:-1])
    running = np.concatenate([[0.0], np.cumsum(inner)])

    def residuals(s: np.ndarray) -> np.ndarray:
        below, within = np.searchsorted(inner, s), np.searchsorted(inner, s + users)
        above = running[-1] - running[within] - (inner.size - within) * (s + users)
        return 2 * s + users - totals[0] - totals[-1] + below * s - running[below] - above

    breaks = np.sort(np.concatenate([inner, inner - users, totals[[0]], totals[[-1]] - users]))
    at_breaks = residuals(breaks)
    # At or beyond all breaks the residuals have one sign, so the zero lies between two of them.
    s = float(np.interp(0.0, at_breaks, breaks))
    return np.diff(np.clip(inner, s, s + users), prepend=s, append=s + users)


def _rising(values: np.ndarray) -> np.ndarray:
    return isotonic_regression(values).x if values.size else values
