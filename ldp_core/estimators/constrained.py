"""Counts that agree with public facts: the closest answers among those of all populations that
satisfy the facts.

A projection, in the workload's own norm, onto a convex set: where the facts are true it never increases the squared error.
It is biased, as every projection onto bounds is.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy.optimize import linprog

from ldp_core.limits import MOST_EXACT_TYPES
from ldp_core.wording import count, magnitude
from ldp_core.workloads import Workload
from ldp_core.workloads.facts import Fact

_MILLION = 1e6  # people are at most as many units in linear programs, whose tolerance is 1e-7 of a unit
_INFEASIBLE = 2  # status of `linprog`


def too_large(workload: Workload) -> str | None:
    """Why `project` cannot serve ``workload``, None where it can."""
    if workload.n <= MOST_EXACT_TYPES:
        return None
    return (
        f"Agreement with public facts is worked out for at most {MOST_EXACT_TYPES:,} types; this workload has "
        f"{magnitude(workload.n)}. Use fewer attributes, or coarser bins."
    )


def project(
    workload: Workload, counts: np.ndarray, users: float, facts: Sequence[Fact], nonnegative: bool = True
) -> np.ndarray:
    """(n,) the x of sum ``users`` that satisfies all ``facts``, and x >= 0 if ``nonnegative``, and
    minimises ``(x - counts)' G (x - counts)``.

    ValueError for facts about other types, facts that cannot be true together, or too many types.
    """
    if reason := too_large(workload):
        raise ValueError(reason)
    counts = np.asarray(counts, dtype=float)
    rows, low, high = _stacked(facts, workload.n)
    check_consistent(facts, workload.n, users, nonnegative)
    if users == 0 and nonnegative:
        return np.zeros(workload.n)

    import cvxpy as cp  # takes a second, which nothing else needs

    size = max(1.0, users)
    x = cp.Variable(workload.n, nonneg=nonnegative)
    distance = cp.quad_form(x - counts / size, cp.psd_wrap(workload.gram_dense() / (workload.trace / workload.n)))
    exact, least, most = low == high, np.isfinite(low) & (low < high), np.isfinite(high) & (low < high)
    constraints = [cp.sum(x) == users / size]
    constraints += [rows[exact] @ x == low[exact] / size] if exact.any() else []
    constraints += [rows[least] @ x >= low[least] / size] if least.any() else []
    constraints += [rows[most] @ x <= high[most] / size] if most.any() else []
    program = cp.Problem(cp.Minimize(distance), constraints)
    with warnings.catch_warnings(), suppress(cp.error.SolverError):
        warnings.simplefilter("ignore", UserWarning)
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-10, tol_feas=1e-12)
    if x.value is None or not np.all(np.isfinite(x.value)):
        raise ValueError("No counts that agree with the facts were found; leave out those that are nearly the same.")
    return size * (np.maximum(x.value, 0.0) if nonnegative else x.value)


def check_consistent(facts: Sequence[Fact], n: int, users: float, nonnegative: bool = True) -> None:
    """ValueError, a sentence that names the first fact that cannot be true of ``users`` people together with those before."""
    if _possible(facts, n, users, nonnegative):
        return
    # More facts are never easier to agree with.
    first = bisect_left(range(len(facts)), True, key=lambda k: not _possible(facts[: k + 1], n, users, nonnegative))
    people, fact = f"{count(users)} people", facts[first]
    if not _possible([fact], n, users, nonnegative):
        raise ValueError(f"The fact {fact.text} cannot be true of {people}; correct its total.")
    raise ValueError(
        f"The fact {fact.text} contradicts those before it, for {people}; correct one of them, or leave it out."
    )


def _possible(facts: Sequence[Fact], n: int, users: float, nonnegative: bool) -> bool:
    """True if some counts of sum ``users`` satisfy all ``facts``."""
    rows, low, high = _stacked(facts, n)
    unit = max(1.0, users / _MILLION)
    ends = np.concatenate([high, -low]) / unit
    bounded = np.isfinite(ends)
    solution = linprog(
        np.zeros(n),
        A_ub=np.vstack([rows, -rows])[bounded],
        b_ub=ends[bounded],
        A_eq=np.ones((1, n)),
        b_eq=[users / unit],
        bounds=(0, None) if nonnegative else (None, None),
    )
    return solution.status != _INFEASIBLE


def _stacked(facts: Sequence[Fact], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(k, n) rows, and (k,) lower and upper ends. ValueError for facts about another number of types."""
    for fact in facts:
        if np.shape(fact.row) != (n,):
            raise ValueError(f"The fact {fact.text} is about {np.size(fact.row):,} types; there are {n:,}.")
    rows = np.array([fact.row for fact in facts], dtype=float).reshape(len(facts), n)
    return rows, np.array([fact.low for fact in facts]), np.array([fact.high for fact in facts])
