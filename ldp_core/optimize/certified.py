"""The best strategy for a workload: column generation over two-valued rows, with majorise-minimise weights.

Replacing a row of a strategy by extreme rays of the cone ``{q : q_i <= E q_j}`` never raises
``L = tr(M^-1 G)``, and those rays are the two-valued rows ``v`` in {1, E}^n. The best strategy is
therefore a measure over such rows. The search for it is convex: an optimal experimental design
problem without local minima (this project; the objective is that of McKenna et al. 2020, Theorem
3.11). The measure lives on a few thousand rows; `weights` improves their weights, `pricing` finds
better rows.
"""

from __future__ import annotations

import numpy as np

from ldp_core.optimize.base import DEFAULT, SearchLimits, fields_of, too_large
from ldp_core.optimize.columns.folded import FoldedSearch, folds
from ldp_core.optimize.columns.generation import RowSearch
from ldp_core.optimize.strategy import Optimized
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.run import Check, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload


def design_strategy(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
    prior: np.ndarray | None = None,
    first: tuple[np.ndarray, np.ndarray] | None = None,
) -> Optimized:
    """Strategy (m, n) of least ``L = tr(M^-1 G)`` under epsilon-LDP, within one per cent or so of the best there is.

    How far from the optimum it is at most is proven by `ldp_core.bounds.certificate`. `ldp_core.optimize.design` has better ways for questions that
    treat types alike.

    ``epsilon`` in nats, ``prior`` (n,) the expected shares of the types: the objective is then
    ``tr(M_p^-1 G)``, ``M_p = sum_y q_y q_y' / (n q_y'p)``, the average over the prior (and on a scale of its own: see
    `ldp_core.bounds.average_variance`). ``first`` are rows (k, n) of booleans to start from, and their weights (k,). The best strategy seen is
    returned, its columns summing to 1 within 1e-12 and its rows within e^epsilon as stored.

    Raises ValueError for an epsilon, sizes or a prior out of range, and above `ldp_core.limits.MOST_FITTED_TYPES`.

    >>> workload = ldp.workloads.prefix(16)
    >>> best = ldp.optimize.design(workload, epsilon=1.0, time_limit=None, max_rounds=30)
    >>> proof = ldp.bounds.certificate(workload, epsilon=1.0, time_limit=None)
    >>> 0 <= best.objective / proof.value - 1 < 0.02
    True
    """
    budget = limits.budget()
    epsilon = check_epsilon(epsilon)
    check_types(workload)
    reference = workload.n * check_prior(prior, workload.n)
    with blas_threads(workload.n):
        search = _search(workload, epsilon, reference, generator(limits.seed), prior is None, budget.check, first)
        run = drive(search, budget, 60)  # rounds that gain next to nothing together
    return Optimized(run.found[0], prior, workload=workload, **fields_of(run, epsilon, limits))


def _search(
    workload: Workload,
    epsilon: float,
    reference: np.ndarray,
    rng: np.random.Generator,
    uniform: bool,
    check: Check,
    first: tuple[np.ndarray, np.ndarray] | None = None,
) -> RowSearch:
    if first is not None:
        return RowSearch(workload, epsilon, reference, rng, check, first)
    kind = FoldedSearch if uniform and folds(workload) else RowSearch
    return kind(workload, epsilon, reference, rng, check)


def row_search(workload: Workload, epsilon: float, rng: np.random.Generator, check: Check) -> RowSearch:
    """The search of `design_strategy` for types that count alike, to be driven by others."""
    return _search(workload, epsilon, np.ones(workload.n), rng, True, check)


def check_types(workload: Workload) -> None:
    if reason := too_large(workload.n):
        raise ValueError(reason)
