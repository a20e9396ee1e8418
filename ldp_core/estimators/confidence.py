"""Confidence intervals for unbiased answers that hold for any number of users, each by a method that suits that number.

An answer is a sum over users of what their reports add, independent given the data, and its target is the answer of the data
themselves: only the mechanism is random. How a report's part is distributed is known for every type (`Contributions`).

* **exact**: if a report adds one of two values and a user's true answer is one of two, the reports
  counted are a sum of two binomials. It is inverted as Clopper and Pearson do. If the added noise
  has the same law for all types, its quantile.
* **normal**: standard errors from the exact variance, and the largest part of one report on top. Taken where no part of a report
  weighs more than `INTERVAL_PART` of the standard error. The part on top is at least what the first-order terms of
  skewness and of a lattice do to the tails (Esseen 1945). This is checked, not proven: tests compute the coverage of the hardest cases.
* **bounded**: `tails.bennett` with the largest variance that any users can have. The proof holds
for any number of people with any values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from ldp_core.estimators import norm_sub, tails
from ldp_core.estimators.posterior import check_level
from ldp_core.mechanisms.base import Contributions, Estimate, Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.mechanisms.on_classes import on_classes
from ldp_core.mechanisms.strata import StratifiedEstimate
from ldp_core.mechanisms.surveys.estimates import SurveyEstimate, as_survey
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.workloads import Workload, in_chunks

METHODS = {
    "exact": "computed from the exact distribution of the reports; holds for any number of people",
    "normal": "the normal approximation, widened by the largest part of one report; there are enough people for it",
    "bounded": "a bound (Bennett 1962; Hoeffding 1963) that holds for any number of people; too few for the normal approximation",
}
"""The methods, in a few words each."""

INTERVAL_PART = 0.25
"""The share of an answer's standard error that one part of a report may weigh for the normal approximation."""


class _Contributing(Protocol):
    """The methods that intervals need of a mechanism."""

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions: ...
    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Intervals:
    """``ends`` (q, 2), lower and upper, in users, ``methods`` (q,), which of `METHODS` found each, and ``errors`` (q,), the standard
    error of each answer for people as they were estimated, in users."""

    ends: np.ndarray
    methods: np.ndarray
    errors: np.ndarray

    def __repr__(self) -> str:
        methods, times = np.unique(self.methods, return_counts=True)
        methods_in_words = ", ".join(f"{number:,} {method}" for method, number in zip(methods, times, strict=True))
        return f"<Intervals: {len(self.ends):,} answers{' (' + methods_in_words + ')' if methods_in_words else ''}>"


def intervals(
    mechanism: Mechanism,
    workload: Workload,
    estimate: Estimate,
    level: float = 0.95,
    queries: np.ndarray | None = None,
    users: int | None = None,
) -> Intervals:
    """Intervals that hold the true answers to all queries, or to those given, with a probability of at least ``level`` each.

    They are cut off at what ``users`` people can answer: of an answer that lies beyond that, the interval has no width.
    Give ``queries`` for large domains: mechanisms on trees and transforms then need no n x n matrix. ``users`` is their known
    number; None takes it from the estimate.
    ValueError for a biased estimate, whose error is more than its variance.
    """
    tail = (1 - check_level(level)) / 2
    if estimate.adds_up:
        mechanism = mechanism.consistent  # another one where raw answers have been made consistent
    if not estimate.unbiased:
        raise ValueError(
            "Intervals from variances are for unbiased answers; biased ones are off by more than chance. Use the posterior "
            "for credible intervals."
        )
    mechanism, workload, estimate = on_classes(mechanism, workload, estimate)
    people = estimate.total if users is None else float(users)
    queries = np.arange(workload.num_queries) if queries is None else np.asarray(queries, dtype=np.int64)
    if mechanism.survey is not None and estimate.survey is not None:
        return _by_table(mechanism.survey, workload, estimate.survey, queries, people, tail)
    return _of_counts(mechanism, workload, estimate, queries, people, tail)


def _by_table(
    mechanism: SurveyMechanism,
    workload: Workload,
    estimate: SurveyEstimate,
    queries: np.ndarray,
    people: float,
    tail: float,
) -> Intervals:
    """The questions about each set of attributes on their own, on the table of these attributes, with its cells as types."""
    survey = as_survey(workload, mechanism.sizes)
    intervals = Intervals(np.zeros((len(queries), 2)), np.full(len(queries), "bounded"), np.zeros(len(queries)))
    for k, here, local in survey.located(queries):
        group = survey.groups[k]
        table = Estimate(estimate.table(group.attributes), unbiased=True, identified=mechanism.knows(group.attributes))
        some = _of_counts(mechanism.on(group.attributes), group.base, table, local, people, tail)
        intervals.ends[here], intervals.methods[here] = group.weight * some.ends, some.methods
        intervals.errors[here] = group.weight * some.errors
    return intervals


def _of_counts(
    mechanism: _Contributing, workload: Workload, estimate: Estimate, queries: np.ndarray, people: float, tail: float
) -> Intervals:
    pieces = [(np.zeros((0, 2)), np.zeros(0, dtype=str), np.zeros(0))]
    for some in in_chunks(queries, workload.n):
        answers = estimate.answers(workload, some)
        if isinstance(mechanism, AdditiveMechanism):  # sums of noise whose law does not depend on the types
            rows = workload.rows(some)
            half = mechanism.noise.reach(rows @ mechanism.reconstruction, people, tail)
            ends, methods = np.stack([answers - half, answers + half], axis=1), np.full(some.size, "exact")
            variance = mechanism.query_variances(workload, people * np.eye(1, workload.n)[0], some)
        else:
            adds = mechanism.query_contributions(workload, some)
            rows = adds.means
            ends, methods = _of_reports(mechanism, estimate, answers, adds, people, tail)
            variance = _variances(estimate, adds, people)
        possible = people * rows.min(axis=1, keepdims=True), people * rows.max(axis=1, keepdims=True)
        pieces.append((np.clip(ends, *possible), methods, np.sqrt(np.maximum(variance, 0.0))))
    return Intervals(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


def _variances(estimate: Estimate, adds: Contributions, users: float) -> np.ndarray:
    """(q,) variances for people as they were estimated, at most those of the types of largest variance."""
    least, largest = _extremes(estimate, adds, users)
    if not estimate.identified:
        return largest
    if isinstance(estimate, StratifiedEstimate):
        return np.clip(adds.variances @ estimate.estimated_counts, least, largest)
    extra = adds.variances - adds.variances.min(axis=1, keepdims=True)
    return np.clip(least + extra @ estimate.estimated_counts, least, largest)


def _extremes(estimate: Estimate, adds: Contributions, users: float) -> tuple[np.ndarray, np.ndarray]:
    """(q,) the least and the largest variance that the answers of ``users`` people can have; of as many in each group as there are, where
    these are known."""
    if not isinstance(estimate, StratifiedEstimate):
        return users * adds.variances.min(axis=1), users * adds.variances.max(axis=1)
    within = [adds.variances[:, own] for own in estimate.mechanism.types]
    shares = estimate.people / max(1, estimate.people.sum())
    ends = (np.stack([end(some, axis=1) for some in within], axis=1) @ (users * shares) for end in (np.min, np.max))
    least, largest = ends
    return least, largest


def _of_reports(
    mechanism: _Contributing, estimate: Estimate, answers: np.ndarray, adds: Contributions, users: float, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends (q, 2) and methods (q,) of sums of independent reports, by the method that suits each query."""
    smallest, largest = _extremes(estimate, adds, users)
    known = largest <= 1e-9 * users * np.maximum(1.0, np.abs(adds.means).max(axis=1)) ** 2
    part = np.maximum(adds.up, adds.down)
    many = part <= INTERVAL_PART * np.sqrt(smallest)
    down, up = (
        tails.bennett(largest, reach, users * adds.parts, tail) if users else 0 * part for reach in (adds.up, adds.down)
    )
    ends, methods = np.stack([answers - down, answers + up], axis=1), np.where(known, "exact", "bounded").astype("<U7")
    ends[known] = answers[known, None]
    if many.any():
        half = _normal(mechanism, estimate, adds, users, tail)
        chosen = many & ~known
        ends[chosen] = np.stack([answers - half, answers + half], axis=1)[chosen]
        methods[chosen] = "normal"
    for i in np.flatnonzero(~known & ~many & _one_of_two(adds)).tolist():
        ends[i], methods[i] = _inverted(adds, i, answers[i], round(users), tail), "exact"
    return ends, methods


def _normal(mechanism: _Contributing, estimate: Estimate, adds: Contributions, users: float, tail: float) -> np.ndarray:
    """(q,) half widths.

    The variance of an answer is itself a query, sum_u x_u v_u, and is estimated from the same reports: z standard
    errors are added to it, since where the answer is z standard errors off, the variance may be too. It is at most that
    of the types of largest variance.
    """
    z, variance, largest = -ndtri(tail), _variances(estimate, adds, users), _extremes(estimate, adds, users)[1]
    if estimate.identified:
        population = norm_sub.project(estimate.estimated_counts, users)
        extra = adds.variances - adds.variances.min(axis=1, keepdims=True)
        variance = variance + z * np.sqrt(np.maximum(mechanism.linear_variances(extra, population), 0.0))
        variance = np.minimum(variance, largest)
    # First-order terms of the tails, in parts of one report: its skewness, (z^2 - 1)/6, and half a step of a lattice.
    steps = max(1.0, 0.5 + abs(z * z - 1) / 6)
    return z * np.sqrt(variance) + steps * np.maximum(adds.up, adds.down)


def _one_of_two(adds: Contributions) -> np.ndarray:
    """(q,) whether a report adds one of two values, and a user's true answer is one of two as well."""
    least, most = adds.means.min(axis=1, keepdims=True), adds.means.max(axis=1, keepdims=True)
    two = np.all((adds.means == least) | (adds.means == most), axis=1) & (least < most)[:, 0]
    return two & (adds.low < adds.high)


def _inverted(adds: Contributions, i: int, answer: float, users: int, tail: float) -> tuple[float, float]:
    """The exact interval of query ``i``: a report adds its high value with a probability that is known from its mean."""
    low, width = adds.low[i], adds.high[i] - adds.low[i]
    least, most = adds.means[i].min(), adds.means[i].max()
    yes = int(np.clip(round((answer - users * low) / width), 0, users))
    chances = [float(np.clip((mean - low) / width, 0.0, 1.0)) for mean in (least, most)]
    fewest, greatest = tails.two_binomials(users, *chances, yes, tail)
    return users * least + fewest * (most - least), users * least + greatest * (most - least)
