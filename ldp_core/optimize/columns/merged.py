"""A strategy for questions that merge many types, beside questions that distinguish all types. It
mixes a strategy found on the few merged types with one for all questions.

If no question of a kind distinguishes two types, they are one type to it. The best strategy for
these questions alone is the best for the merged types, applied to all types by merging them. It
leaves the other questions open, which a strategy over orbits of rows (`first_orbits`) answers. With
M_1 and M_2 the second moments of both, that of a mixture with probabilities s and 1 - s is s M_1 +
(1 - s) M_2; M_2 is diagonal in the characters of the shifts, and M_1 has the rank of the merged
types, so that the best s takes no large factorisation. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize_scalar

from ldp_core.optimize.columns.generation import strategy_of
from ldp_core.optimize.symmetric.orbits import Orbits, Shifts, first_orbits
from ldp_core.privacy import fitted_exp_epsilon


@dataclass(frozen=True)
class Mixed:
    """A ``strategy`` (m, n) and its objective ``L``; ``part`` is the probability of the strategy for merged types."""

    strategy: np.ndarray
    objective: float
    part: float


def mixed(gram: np.ndarray, shape: Sequence[int], epsilon: float, merged: np.ndarray, strategy: np.ndarray) -> Mixed:
    """The best mixture of ``strategy`` (m, c), for the ``merged`` types (n,) numbered from 0 to c - 1, and of one for all types, in a table
    of ``shape``, for questions with the Gram matrix ``gram`` (n, n)."""
    ratio, shifts = fitted_exp_epsilon(epsilon), Shifts(tuple(shape))
    orbits = first_orbits(gram, ratio, shifts)
    sizes = np.bincount(merged).astype(float)
    first = (strategy / (strategy @ sizes)[:, None]).T @ strategy  # M_1 between merged types
    spread = np.eye(len(sizes))[merged]
    solved = _solved(orbits, ratio, shifts, spread.T).T
    inner, worth = spread.T @ solved, solved.T @ (gram @ solved)
    values, vectors = linalg.eigh(first)
    kept = values > 1e-13 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    inner, worth = root.T @ inner @ root, root.T @ worth @ root

    def objective(part: float) -> float:
        """tr((s M_1 + (1 - s) M_2)^-1 G), M_1 being root root' on merged types (Woodbury)."""
        odds = part / (1 - part)
        less = linalg.solve(np.eye(len(inner)) / odds + inner, worth, assume_a="pos")
        return float(orbits.objective - np.trace(less)) / (1 - part)

    optimum = minimize_scalar(lambda x: objective(1 / (1 + math.exp(-x))), bounds=(_logit(1e-4), _logit(0.999)))
    part = 1 / (1 + math.exp(-float(optimum.x)))
    high, weights = orbits.rows()
    both = np.vstack([part * strategy[:, merged], (1 - part) * strategy_of(high, weights, ratio)])
    return Mixed(both / both.sum(axis=0), objective(part), part)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _solved(orbits: Orbits, ratio: float, shifts: Shifts, rows: np.ndarray) -> np.ndarray:
    """(k, n) ``rows`` times the inverse of the second moments of orbits."""
    power = np.abs(shifts.transform(np.where(orbits.high, ratio, 1.0))) ** 2
    moments = orbits.shares @ (power / power[:, :1])
    n = rows.shape[1]
    transformed = shifts.transform(rows) / moments
    return np.conj(shifts.transform(np.conj(transformed))).real / n
