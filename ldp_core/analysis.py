"""How good a mechanism is on a workload: exact variances, users needed, and what a given number of
users can tell.

All variances are of *counts* and summed over the p queries, so their unit is squared users.
Per-user figures are the contribution of one user; N users of the worst type contribute N times the
worst. Dividing a count by N gives a share.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from ldp_core.accuracy import EXPECTED_USERS as EXPECTED_USERS
from ldp_core.accuracy import NUMBERS as NUMBERS
from ldp_core.accuracy import alone as alone
from ldp_core.accuracy import answers as answers
from ldp_core.accuracy import contrasts as contrasts
from ldp_core.accuracy import judged_queries as judged_queries
from ldp_core.accuracy import lines_of as lines_of
from ldp_core.accuracy import needed_by as needed_by
from ldp_core.accuracy import needed_variance as needed_variance
from ldp_core.accuracy import people_needed as people_needed
from ldp_core.accuracy import question_lines as question_lines
from ldp_core.accuracy import questionnaire_of as questionnaire_of
from ldp_core.accuracy import size_variances as size_variances
from ldp_core.accuracy import too_many_types as too_many_types
from ldp_core.cases import CASES as CASES
from ldp_core.cases import WORST_CASE as WORST_CASE
from ldp_core.cases import Case as Case
from ldp_core.cases import average_case as average_case
from ldp_core.cases import cases_of as cases_of
from ldp_core.cases import only_case as only_case
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts
from ldp_core.shuffled import shuffled as shuffled
from ldp_core.workloads import Workload
from ldp_core.workloads.units import DEFAULT_ALPHA as DEFAULT_ALPHA


def worst_case_variance(mechanism: Mechanism, workload: Workload) -> float:
    """Total variance that one user of the worst type adds.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.

    Returns
    -------
    float
        In squared users, summed over the queries.

    References
    ----------
    McKenna et al. 2020, Corollary 3.5.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> round(ldp.analysis.worst_case_variance(mechanism, ldp.workloads.histogram(4)), 3)
    7.556
    """
    return float(mechanism.variance_profile(workload).max())


def average_variance(mechanism: Mechanism, workload: Workload) -> float:
    """Total variance that one user adds, averaged evenly over the types.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.

    Returns
    -------
    float
        In squared users, summed over the queries.

    References
    ----------
    McKenna et al. 2020, Corollary 3.6, per user.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> round(ldp.analysis.average_variance(mechanism, ldp.workloads.prefix(4)), 3)
    6.297
    """
    return mechanism.average_of(workload)


def variance_on_data(mechanism: Mechanism, workload: Workload, counts: Counts) -> float:
    """Total variance for given users.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.
    counts : Counts
        (n,) users of each type, or `People`.

    Returns
    -------
    float
        In squared users, summed over the queries.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> round(ldp.analysis.variance_on_data(mechanism, ldp.workloads.prefix(4), [100, 0, 0, 0]), 1)
    687.9
    """
    return mechanism.variance_on(workload, counts)


def objective(mechanism: Mechanism, workload: Workload) -> float:
    """L = n * average variance + tr G, the scale of the optimisers and the bounds.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.

    Returns
    -------
    float
        In squared users.

    References
    ----------
    McKenna et al. 2020, Theorem 3.9.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> round(ldp.analysis.objective(mechanism, ldp.workloads.prefix(4)), 2)
    35.19
    """
    return workload.n * average_variance(mechanism, workload) + workload.trace


def users_for(variance_per_user: float, num_queries: float, alpha: float = DEFAULT_ALPHA) -> float:
    """Users until the mean squared error of a share, averaged over the queries, is ``alpha``.

    Parameters
    ----------
    variance_per_user : float
        Total variance that one user adds, in squared users.
    num_queries : float
        p; where queries have weights, the sum of their squares, `Workload.squared_weights`: the
        mean has them too.
    alpha : float
        The target, a squared share, above 0.

    Returns
    -------
    float
        variance / (p alpha), in users.

    Raises
    ------
    ValueError
        For an ``alpha`` out of range.
    """
    if not (isinstance(alpha, Real) and 0 < alpha < math.inf):  # above 1 for averages, whose unit is theirs
        raise ValueError(f"The target error alpha must be a finite number above 0; got {alpha!r}.")
    return variance_per_user / (num_queries * alpha)


def sample_complexity(mechanism: Mechanism, workload: Workload, alpha: float = DEFAULT_ALPHA) -> float:
    """Users needed in the worst case for normalised variance ``alpha``.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.
    alpha : float
        See `users_for`.

    Returns
    -------
    float
        In users.

    References
    ----------
    McKenna et al. 2020, Corollary 5.4.

    >>> mechanism = ldp.mechanisms.create("hierarchical", n=64, epsilon=1.0)
    >>> round(ldp.analysis.sample_complexity(mechanism, ldp.workloads.prefix(64), alpha=0.01))
    1466
    """
    return users_for(worst_case_variance(mechanism, workload), workload.squared_weights, alpha)


def users_from_objective(value: float, workload: Workload, alpha: float = DEFAULT_ALPHA) -> float:
    """The users needed that an objective L, or a lower bound on it, stands for.

    Parameters
    ----------
    value : float
        L of a mechanism, for its average case; or a lower bound on it, which bounds the worst case
        too, as that is never below the average.
    workload : Workload
        The questions.
    alpha : float
        See `users_for`.

    Returns
    -------
    float
        (L - tr G) / (n p alpha), at least 0, in users.

    >>> workload = ldp.workloads.prefix(64)
    >>> limit = ldp.bounds.centred_svd(workload, epsilon=1.0)
    >>> round(ldp.analysis.users_from_objective(limit, workload))
    903
    """
    return users_for(max(0.0, (value - workload.trace) / workload.n), workload.squared_weights, alpha)


def standard_errors(mechanism: Mechanism, workload: Workload, counts: Counts) -> np.ndarray:
    """Exact standard errors of the unbiased answers.

    Parameters
    ----------
    mechanism : Mechanism
        For the types of the workload.
    workload : Workload
        Questions that it can answer.
    counts : Counts
        (n,) users of each type, or `People`.

    Returns
    -------
    ndarray (p,)
        In users, for each query.

    Raises
    ------
    ValueError
        For questions that the mechanism cannot answer.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> ldp.analysis.standard_errors(mechanism, ldp.workloads.prefix(4), [100, 200, 300, 400]).round(1)
    array([41.4, 50.2, 45.4,  0. ])
    """
    mechanism.check_supports(workload)
    variances = mechanism.query_variances(workload, counts)
    return np.sqrt(np.maximum(variances, 0))  # rounding can leave -1e-12 where a variance is 0
