"""Confidence sequences: intervals that hold at all times together, so that a collection may be looked at every day.

A fixed interval (`ldp_core.estimators.confidence`) misses the truth of one look with a probability of at most 1 - level; of many
looks some will miss. Here the probability that an interval ever misses, after any number of people, is at most 1 - level.

**Why.** Given the people's data, the error of the contribution of the first t reports to an answer
is S_t, a sum of independent variables with mean 0 in the order of arrival, and so a martingale.
exp(h S_t) is a submartingale for every h, so Doob's inequality gives P(max_{t <= n} S_t >= x) <=
e^(-hx) E exp(h S_n). Every bound on the tail of S_n that is proved by its exponential moments, such
as that of Bennett and Hoeffding (`tails.bennett`), therefore bounds the maximum of S_1, ..., S_n as
it stands (Freedman 1975, Theorem 1.6, for variances that are random too). Cut time into epochs,
epoch k with the people 2^(k-1), ..., 2^k - 1. Let every epoch exceed its bound for n = 2^k - 1 with
a probability of at most 6 tail/(pi k)^2 on either side: these add up to the tail (stitching, as in
Howard, Ramdas, McAuliffe and Sekhon 2021). The variance is the largest that people can have, so
that it need not be estimated. If the added noise has a symmetric law, the same for all, Lévy's
inequality, P(max S_t >= x) <= 2 P(S_n >= x), replaces Doob's.
"""

from __future__ import annotations

import math

import numpy as np

from ldp_core.estimators import confidence, tails
from ldp_core.estimators.posterior import check_level
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.mechanisms.on_classes import on_classes
from ldp_core.workloads import Workload, in_chunks


def epoch(people: int, tail: float) -> tuple[int, float]:
    """The last number of people of the epoch of this number of ``people``, at least 1, and the
    share of ``tail`` that is spent in it."""
    k = people.bit_length()
    return 2**k - 1, 6 * tail / (math.pi * k) ** 2


def any_time(
    mechanism: Mechanism,
    workload: Workload,
    estimate: Estimate,
    level: float = 0.95,
    queries: np.ndarray | None = None,
    users: int | None = None,
    drawn: bool = False,
) -> confidence.Intervals:
    """As `confidence.intervals`, for answers that are looked at again and again while reports come in: each true answer is within
    its intervals at all times, with a probability of at least ``level``. None is narrower than the fixed interval.

    ValueError for a biased estimate.
    """
    fixed = confidence.intervals(mechanism, workload, estimate, level, queries, users, drawn)
    people = round(estimate.total if users is None else users)
    if not people:
        return fixed
    if estimate.adds_up:
        mechanism = mechanism.consistent
    mechanism, workload, estimate = on_classes(mechanism, workload, estimate)
    chosen = workload.checked_queries(queries)
    last, tail = epoch(people, (1 - check_level(level)) / 2)
    endpoints, possible = [np.zeros((0, 2))], [np.zeros((0, 2))]
    for some in in_chunks(chosen, mechanism.cost_dimension(workload)):
        answers = estimate.answers(workload, some)
        if isinstance(mechanism, AdditiveMechanism):
            rows = workload.rows(some)
            apart = np.ptp(rows, axis=1)  # who was drawn has half of the tail, and the noise the other
            down = up = mechanism.noise.reach(rows @ mechanism.reconstruction, last, tail / (4 if drawn else 2))
            if drawn:
                down = up = up + tails.bennett(last * apart**2 / 4, apart, last, tail / 2)
        else:
            adds = mechanism.query_contributions(workload, some)
            rows, apart = adds.means, np.ptp(adds.means, axis=1) * drawn
            variance = last * (adds.variances.max(axis=1) + apart**2 / 4)
            # The estimate exceeds the truth where reports exceed their means.
            far = (adds.up + apart, adds.down + apart)
            down, up = (tails.bennett(variance, reach, last * adds.parts, tail) for reach in far)
        endpoints.append(np.stack([answers - down, answers + up], axis=1))
        possible.append(people * np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1))
    (low, high), limits = np.concatenate(endpoints).T, np.concatenate(possible).T
    wide = np.stack([np.minimum(low, fixed.uncut[:, 0]), np.maximum(high, fixed.uncut[:, 1])], axis=1)
    known = (limits[0] == limits[1]) | ((wide[:, 0] == wide[:, 1]) & (fixed.methods == "exact"))
    return confidence.Intervals.cut(wide, limits, np.where(known, "exact", "any time"), fixed.errors, fixed.most)
