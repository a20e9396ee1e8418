"""Two scales of one quantity: objectives ``tr(M_p^-1 G)`` of this project, and variances per user."""

from __future__ import annotations

import math

import numpy as np

from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload


def average_variance(objective: float, workload: Workload, prior: np.ndarray) -> float:
    """Variance per user (squared users, summed over the queries), averaged over ``prior`` p (n,), of a mechanism whose
    ``objective`` is tr(M_p^-1 G), ``M_p = sum_y q_y q_y' / (n q_y'p)``: objective / n - sum_u p_u G_uu."""
    return objective / workload.n - float(prior @ workload.gram_diag)


def equivalent_objective(variance: float, workload: Workload) -> float:
    """n variance + tr G: the objective L of a mechanism with this variance per user for every type.

    L itself for the average over the uniform prior. Putting the worst type's variance, or the average over another prior, on
    this scale makes them comparable with L, and with what `ldp_core.analysis.users_from_objective` takes.
    """
    return workload.n * variance + workload.trace


def worst_from_average(variance: float, workload: Workload, epsilon: float) -> float:
    """The variance per user of the worst type is at most e^epsilon (variance + |W|_F^2/n), where ``variance`` is the average
    over the types, of every unbiased epsilon-LDP factorization mechanism (McKenna et al. 2020, Theorem 5.1).

    Where the collector knows groups, this holds within each: the average over one is at most that over all, times how many there are.

    Optimising the average thus loses a factor of about e^epsilon at most; 48 fitted strategies lost 2 % in the median.
    """
    groups = 1 if workload.strata is None else len(workload.strata.which)
    return groups * math.exp(check_epsilon(epsilon)) * (variance + workload.trace / workload.n)
