"""Two scales of one quantity: objectives ``tr(M_p^-1 G)`` of this project, and variances per user."""

from __future__ import annotations

import numpy as np

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
