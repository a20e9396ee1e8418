"""The variances of single answers: of what a mechanism draws, and by the chance of who takes part, since people drawn from a distribution answer
differently each time.

N people drawn independently from shares P answer a query w with the variance ``N (sum_u P_u w_u^2 - (w'P)^2)``: a sum of
multinomial counts. Given who takes part, reports err by a variance that is linear in their counts and, for an unbiased
mechanism, by nothing on average. The error of the distribution is therefore the sum of both.
"""

from __future__ import annotations

import numpy as np

from ldp_core import limits
from ldp_core.limits import MOST_VARIANCES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.people import Counts, dense, people_of, users_of
from ldp_core.workloads import Workload, in_chunks


def variances_of(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) exact variances, in squared users, of the unbiased answers to ``queries`` without their weights."""
    if workload.n <= limits.MOST_MATRIX_TYPES and workload.num_queries <= min(MOST_VARIANCES, 50 * len(queries)):
        variances = mechanism.query_variances(workload, counts)[queries]
    else:
        variances = mechanism.query_variances(workload, counts, queries)
    variances = variances / workload.query_weights(queries) ** 2
    rounding = 1e-11 * users_of(counts) * workload.extent[1] ** 2  # of either sign, where a variance is 0
    return np.where(variances > rounding, variances, 0.0)


def largest_variances(mechanism: Mechanism, workload: Workload, queries: np.ndarray) -> np.ndarray:
    """(q,) the most that one person can add to the variance of the answer to each of ``queries``."""
    if isinstance(mechanism.drawn, AdditiveMechanism):  # noise whose law does not depend on the types
        unit = np.eye(1, workload.n)[0]
        return np.maximum(mechanism.query_variances(workload, unit, queries), 0.0)
    parts = [
        mechanism.query_contributions(workload, some).variances.max(axis=1)
        for some in in_chunks(queries, mechanism.cost_dimension(workload))
    ]
    return np.concatenate(parts or [np.zeros(0)])


def of_queries(workload: Workload, counts: Counts | None, queries: np.ndarray) -> np.ndarray:
    """(q,) of the answers to single ``queries``, in squared users, without their weights; without ``counts`` the most that one person adds,
    whatever the distribution: half of the range, squared (Popoviciu 1935)."""
    if (survey := workload.survey) is None:
        x = None if counts is None else dense(counts)
        return _variances(workload, x, queries) / workload.query_weights(queries) ** 2
    people, groups = None if counts is None else people_of(counts, survey.shape), survey.groups

    def variances(k: int, local: np.ndarray) -> np.ndarray:
        return _variances(groups[k].base, None if people is None else people.table(groups[k].attributes), local)

    return survey.gathered(queries, variances)


def _variances(workload: Workload, x: np.ndarray | None, queries: np.ndarray) -> np.ndarray:
    parts = []
    for some in in_chunks(np.asarray(queries, dtype=np.int64), workload.n):
        rows = workload.rows(some)
        parts.append((np.ptp(rows, axis=1) / 2) ** 2 if x is None else rows**2 @ x - (rows @ x) ** 2 / x.sum())
    return np.maximum(np.concatenate(parts or [np.zeros(0)]), 0.0)  # rounding
