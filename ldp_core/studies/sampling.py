"""The part of an error that is the chance of who takes part: people drawn from a distribution answer differently each time.

N people drawn independently from shares P answer a query w with the variance ``N (sum_u P_u w_u^2 - (w'P)^2)``: a sum of
multinomial counts. Given who takes part, reports err by a variance that is linear in their counts and, for an unbiased
mechanism, by nothing on average. The error of the distribution is therefore the sum of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldp_core.people import Counts, dense, people_of, users_of
from ldp_core.workloads import Workload, in_chunks


def total(workload: Workload, counts: Counts) -> float:
    """Summed over all weighted queries, in squared users, for as many people drawn from the distribution of ``counts``."""
    users = users_of(counts)
    if (survey := workload.survey) is None:
        x = dense(counts).astype(float)
        return float(workload.gram_diag @ x - workload.quadratic(x) / users)
    people = people_of(counts, survey.shape)
    tables = ((group, people.table(group.attributes).astype(float)) for group in survey.groups)
    return math.fsum(
        group.weight**2 * float(group.base.gram_diag @ x - group.base.quadratic(x) / users) for group, x in tables
    )


def by_table(
    workload: Workload, counts: Counts, queries: np.ndarray
) -> Iterator[tuple[np.ndarray, Workload, np.ndarray, np.ndarray, tuple[int, ...]]]:
    """For each table that ``queries`` (q,) of a survey are about: their places, the questions about it with the queries there, the people in its
    cells, and its attributes. Of another workload it is the table of all types, of no attributes."""
    if (survey := workload.survey) is None:
        yield np.arange(len(queries)), workload, np.asarray(queries, dtype=np.int64), dense(counts), ()
        return
    people = people_of(counts, survey.shape)
    for k, here, local in survey.located(queries):
        group = survey.groups[k]
        yield here, group.base, local, people.table(group.attributes), group.attributes


def of_queries(workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) of the answers to single ``queries``, in squared users, without their weights."""
    variances = np.empty(len(queries))
    for places, base, local, x, _ in by_table(workload, counts, queries):
        for some in in_chunks(np.arange(len(local)), base.n):
            rows = base.rows(local[some]) / base.query_weights(local[some])[:, None]
            variances[places[some]] = rows**2 @ x - (rows @ x) ** 2 / users_of(counts)
    return np.maximum(variances, 0.0)  # rounding
