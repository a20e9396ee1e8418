"""Yes-or-no questions that treat all attributes alike: patterns over few attributes, written out as a strategy over all types.

Flipping attributes takes every type to every other, so that the best strategy is a mixture of orbits of rows, and so is one of patterns: each
pattern is sent in all ways to flip its attributes. L is the same to fourteen digits.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.optimize.base import Design, SearchLimits
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.optimize.symmetric.orbits import RIDGE, Orbits
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.workloads import Workload
from ldp_core.workloads.restricted import cells_of
from ldp_core.workloads.surveyed import of_bits

OTHERS = 1e-4
"""The share of randomized response where patterns leave some questions about the types open, which may be asked later."""


def fits(workload: Workload) -> bool:
    """True if the questions treat yes-or-no attributes alike, and not too many tables of them."""
    if workload.symmetry != "hamming":
        return False
    try:
        return too_many(of_bits(workload)) is None
    except ValueError:  # too many tables
        return False


def design_bits(workload: Workload, epsilon: float, limits: SearchLimits) -> Optimized | SurveyDesign:
    """The best patterns for a workload that `fits`, written out where all of them can be, up to `MOST_FITTED_TYPES` types."""
    found = design_survey(of_bits(workload), epsilon, limits)
    if workload.n > MOST_FITTED_TYPES or _rows(found.patterns) + workload.n > _most_rows(workload.n):
        return found
    return written(found, workload)


def written(found: SurveyDesign, workload: Workload) -> Optimized:
    """The patterns as a strategy over all types: those sent most often for their rows, where there is no room for all."""
    n, ratio, scheme = workload.n, fitted_exp_epsilon(found.epsilon), workload.symmetry_group.scheme
    assert scheme is not None
    sizes = np.array([pattern.cells.size for pattern in found.patterns])
    heavy = np.argsort(-found.shares / sizes, kind="stable")
    rows = np.cumsum(sizes[heavy])
    kept = heavy[rows <= _most_rows(n) - n]
    high = np.array([_lifted(found.patterns[k], found.survey.shape) for k in kept])
    high, shares = np.vstack([np.arange(n) == 0, high]), np.append(0.0, found.shares[kept])
    power = np.abs(scheme.transform(np.where(high, ratio, 1.0))) ** 2
    fourier_weights = power / power[:, :1]
    gamma = scheme.transform(workload.gram_column).real
    if len(kept) < len(heavy):
        shares = fitted_shares(shares + OTHERS / len(shares), fourier_weights, gamma + RIDGE * gamma.mean(), 300)
    if (shares @ fourier_weights).min() < OTHERS * fourier_weights[0].min():
        shares = np.append(OTHERS, (1 - OTHERS) * shares[1:] / shares[1:].sum())
    sent = shares > 0
    m = shares @ fourier_weights
    objective = found.objective if not shares[0] else float((gamma / m).sum())
    orbits = Orbits.of(high[sent], shares[sent], power[sent], ratio, scheme, objective)
    about = {field.name: getattr(found, field.name) for field in fields(Design)} | {"objective": objective}
    return Optimized(np.ascontiguousarray(orbits.transposed.T), workload=workload, **about)


def _lifted(pattern: Pattern, shape: tuple[int, ...]) -> np.ndarray:
    """(n,) which types are high."""
    return np.asarray(pattern.cells.ravel()[cells_of(shape, tuple(range(len(shape))), pattern.attributes)])


def _rows(patterns: tuple[Pattern, ...]) -> int:
    return sum(pattern.cells.size for pattern in patterns)


def _most_rows(n: int) -> int:
    return MOST_STRATEGY_ENTRIES // (2 * n)  # half of what is kept of a fit
