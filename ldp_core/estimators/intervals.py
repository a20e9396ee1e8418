"""Confidence intervals for unbiased answers, from their exact covariance."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from ldp_core.estimators import norm_sub
from ldp_core.estimators.posterior import check_level
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.hierarchical import RawTree
from ldp_core.mechanisms.trees import RawTreeEstimate
from ldp_core.workloads import Workload


def intervals(
    mechanism: Mechanism,
    workload: Workload,
    estimate: Estimate,
    level: float = 0.95,
    queries: np.ndarray | None = None,
    users: int | None = None,
) -> np.ndarray:
    """(q, 2) lower and upper ends, in users, of normal intervals for the answers to all queries or those given.

    The variance of an unbiased answer is exact for known counts (`Mechanism.query_variances`); it is taken at the estimated
    ones, moved to the nearest population: no count below 0, the total kept. Sums of many independent reports are close to
    normal. Intervals may reach below 0 or above N, as unbiased answers do: cutting them off is up to the reader.

    Give ``queries`` for large domains: mechanisms on trees and transforms then need no n x n matrix. ``users`` is their known
    number; None takes what the estimate tells of it.
    ValueError for a biased estimate, whose error is more than its variance.
    """
    if isinstance(mechanism, RawTree) and not isinstance(estimate, RawTreeEstimate):
        mechanism = mechanism.consistent  # the estimator "consistency"
    tail = norm.isf((1 - check_level(level)) / 2)
    if not estimate.unbiased:
        raise ValueError(
            "Intervals from variances are for unbiased answers; biased ones are off by more than chance. Use the posterior "
            "for credible intervals."
        )
    population = norm_sub.project(estimate.estimated_counts, estimate.total if users is None else users)
    variances = mechanism.query_variances(workload, population, queries)
    answers = estimate.answers(workload, queries)
    half = tail * np.sqrt(np.maximum(variances, 0.0))  # rounding can leave -1e-12 where a variance is 0
    return np.stack([answers - half, answers + half], axis=-1)
