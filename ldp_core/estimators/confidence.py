"""Confidence intervals for unbiased answers that hold for any number of users, each by a method
that suits that number.

An answer is a sum over users of what their reports add, independent given the data, and its target
is the answer of the data themselves: only the mechanism is random. How a report's part is
distributed is known for every type (`Contributions`). Where people are drawn from a population
whose answer is the target, reports are independent draws with the variance
``V = sum_x p_x E[A^2 | x] - (w'p)^2`` each, and a report's part A can be further from its mean by
the range of the true answers. Where the collector knows groups of people, each is on its own, and
their variances add.

* **exact**: if a report adds one of two values, and a user's true answer is one of two or people are drawn, the reports counted are a sum
  of two binomials, or one binomial, which is inverted as Blaker does (`tails.blaker`). It holds in
  at least 95 % of all collections, and in few more, as numbers are whole. If the added noise has
  the same law for all types, its quantile. Taken where the step between the two values is more than
  `LATTICE` of a standard error: below that whole numbers make less than 0.6 % of difference.
* **normal**: the answers t with ``(a - t)^2 <= z^2 V(t)``, as Wilson (1927) does for one binomial. V is the variance of people as they were estimated,
  and ``V(t) = V + s (t - a)``, within what any people can have, as it is estimated from the same
  reports: s is its covariance with the answer by the answer's variance. What the answer does not
  tell of V, of variance r^2 V^2, is doubt: z is (1 + z^2) r^2/8 of itself larger, as the quantile
  of Student's distribution with 2/r^2 degrees of freedom is to the first order. An eighth of the
  square of the largest part of one report is added to the variance, for steps and skewness. Taken
  where that part is no more than `INTERVAL_PART` of the least standard error that people can be
  taken to have. This is checked, not proven: tests compute the coverage of the hardest cases.
* **bounded**: `tails.bennett` with the largest variance that any users can have. The proof holds for any number of people with any values, and
  with a few dozen people, or where a handful of reports are expected to differ from the truth,
  nothing narrower is known: these intervals are two to four times as wide as normal ones would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from ldp_core.estimators import norm_sub, tails
from ldp_core.estimators.posterior import check_level
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.moments import TYPES, Contributions, Rows
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.mechanisms.on_classes import on_classes
from ldp_core.mechanisms.strata import InStrata, StratifiedEstimate
from ldp_core.mechanisms.surveys.estimates import SurveyEstimate, as_survey
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.workloads import Workload, in_chunks

METHODS = {
    "exact": "computed from the exact distribution of the reports; holds for any number of people",
    "normal": "the normal approximation, with the variance that goes with each answer; there are enough people for it",
    "bounded": "a bound (Bennett 1962; Hoeffding 1963) that holds for any number of people; too few reports differ from the truth for anything narrower",
}
"""The methods, in a few words each."""

INTERVAL_PART, LATTICE = 0.8, 0.1
"""The shares of an answer's standard error that one part of a report may weigh for the normal
approximation, and that the step from one of two values to the other may weigh."""


@dataclass(frozen=True)
class Intervals:
    """``ends`` (q, 2), lower and upper, in users, ``methods`` (q,), which of `METHODS` found each,
    and ``errors`` (q,), the standard error of each answer for people as they were estimated, in
    users; ``most`` (q,), its most for so many people, whatever their values; ``uncut`` (q, 2), the
    ends before they are cut off at what is possible, as differences need them."""

    ends: np.ndarray
    methods: np.ndarray
    errors: np.ndarray
    most: np.ndarray
    uncut: np.ndarray

    @classmethod
    def cut(
        cls,
        uncut: np.ndarray,
        possible: Iterable[np.ndarray],
        methods: np.ndarray,
        errors: np.ndarray,
        most: np.ndarray,
    ) -> Intervals:
        """Those with the ends ``uncut``, cut off at the least and the most that is ``possible``
        (q,) each."""
        return cls(np.clip(uncut, *(end[:, None] for end in possible)), methods, errors, most, uncut)

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
    drawn: bool = False,
    weights: np.ndarray | None = None,
) -> Intervals:
    """Intervals that hold the true answers to all queries, or to those given, with a probability of
    at least ``level`` each.

    They are cut off at what ``users`` people can answer: of an answer that lies beyond that, the
    interval has no width.
    Give ``queries`` for large domains: mechanisms on trees and transforms then need no n x n
    matrix. ``users`` is their known number; None takes it from the estimate.

    With ``drawn`` they hold what as many people of the population that these were drawn from answer
    on average: the chance of who took part is in them. With ``weights`` (K,) each person of a
    stratum counts so many times, and the sizes of strata are no chance. ValueError for a biased
    estimate, whose error is more than its variance.
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
    options = _Options(estimate.total if users is None else float(users), tail, drawn, weights)
    queries = workload.checked_queries(queries)
    if mechanism.survey is not None and estimate.survey is not None:
        return _by_table(mechanism.survey, workload, estimate.survey, queries, options)
    return _of_counts(mechanism, workload, estimate, queries, options)


@dataclass(frozen=True)
class _Options:
    """How many ``people`` reported, the ``tail`` on either side, and whom answers are of: see
    `intervals`."""

    people: float
    tail: float
    drawn: bool
    weights: np.ndarray | None


def _by_table(
    mechanism: SurveyMechanism, workload: Workload, estimate: SurveyEstimate, queries: np.ndarray, options: _Options
) -> Intervals:
    """The questions about each set of attributes on their own, on the table of these attributes,
    with its cells as types."""
    survey = as_survey(workload, mechanism.sizes)
    nothing, methods = np.zeros((len(queries), 2)), np.full(len(queries), "bounded")
    found = Intervals(nothing, methods, np.zeros(len(queries)), np.zeros(len(queries)), nothing.copy())
    for k, here, local in survey.located(queries):
        group = survey.groups[k]
        table = estimate.on(group.attributes, mechanism.knows(group.attributes))
        some = _of_counts(mechanism, group.base, table, local, options, group.attributes)
        found.methods[here] = some.methods
        for field in ("ends", "errors", "most", "uncut"):
            getattr(found, field)[here] = group.weight * getattr(some, field)
    return found


def _of_counts(
    mechanism: Mechanism,
    workload: Workload,
    estimate: Estimate,
    queries: np.ndarray,
    options: _Options,
    columns: Sequence[int] = TYPES,
) -> Intervals:
    """Of questions about the table of ``columns``, with its cells as types."""
    none = np.zeros((0, 2))
    pieces = [Intervals(none, np.zeros(0, dtype=str), np.zeros(0), np.zeros(0), none)]
    for some in in_chunks(queries, workload.n):
        if isinstance(mechanism, AdditiveMechanism):  # sums of noise whose law does not depend on the types
            pieces.append(_of_noise(mechanism, workload, estimate, some, options))
        else:
            parts = _parts(mechanism, columns, workload, estimate, some, options)
            apart = len(parts) > 1 and options.drawn and options.weights is None
            pieces.append(_of_reports(parts, options.tail, options.people if apart else None))
    fields = ("ends", "methods", "errors", "most", "uncut")
    return Intervals(*(np.concatenate([getattr(piece, field) for piece in pieces]) for field in fields))


@dataclass(frozen=True)
class _Part:
    """What the reports of some ``people``, all or those of a stratum, add to q ``answers``: of
    themselves, or of the population that they were ``drawn`` from."""

    mechanism: Mechanism
    columns: Sequence[int]
    estimate: Estimate
    adds: Contributions
    people: float
    answers: np.ndarray
    drawn: bool

    @cached_property
    def range(self) -> np.ndarray:
        """(q,) how much the true answers of people differ, where it is chance who was drawn, else
        0."""
        return np.ptp(self.adds.means, axis=1) * self.drawn

    @cached_property
    def least(self) -> np.ndarray:
        """(q,) the least variance that the answers of so many people can have."""
        return self.people * self.adds.variances.min(axis=1)

    @cached_property
    def most(self) -> np.ndarray:
        return self.people * (self.adds.variances.max(axis=1) + self.range**2 / 4)

    @cached_property
    def variance(self) -> np.ndarray:
        """(q,) for people as they were estimated."""
        if not self.estimate.identified:
            return self.most
        counts, variances = self.estimate.estimated_counts, self.adds.variances
        found = self.least + (variances - variances.min(axis=1, keepdims=True)) @ counts
        return np.clip(found + self.drawn * _chance(self.adds.means, counts, self.people), self.least, self.most)

    def moments(self) -> np.ndarray:
        """(3, q) of `variance`, which is itself a query, sum_u x_u v_u, estimated from the same
        reports: its variance, its covariance with the answer, and the answer's variance."""
        if not self.estimate.identified:
            return np.zeros((3, len(self.answers)))
        rows, population = self.adds.means, norm_sub.project(self.estimate.estimated_counts, self.people)
        unit = np.abs(rows).max(axis=1, keepdims=True)  # in which neither of the two is lost beside the other
        unit = np.where(unit > 0, unit, 1.0)
        variances = self.adds.variances + self.drawn * (rows - self.answers[:, None] / max(1.0, self.people)) ** 2
        variances, rows = (variances - variances.min(axis=1, keepdims=True)) / unit**2, rows / unit

        def variance(rows: np.ndarray) -> np.ndarray:
            found = self.mechanism.variances_by_type(rows, self.columns) @ population
            return np.asarray(found + self.drawn * _chance(rows, population, self.people))

        both, difference, alone = variance(variances + rows), variance(variances - rows), variance(variances)
        by_counts, answers = rows @ self.estimate.estimated_counts, self.answers / unit[:, 0]
        of_counts = np.isclose(by_counts, answers, atol=1e-6 * self.people)
        found = np.stack([alone, of_counts * (both - difference) / 4, (both + difference) / 2 - alone])
        return found * unit[:, 0] ** np.array([[4], [3], [2]])


def _parts(
    mechanism: Mechanism,
    columns: Sequence[int],
    workload: Workload,
    estimate: Estimate,
    some: np.ndarray,
    options: _Options,
) -> list[_Part]:
    """The reports of all people, or of those of each stratum, each counted as often as its weight
    says."""
    if not (isinstance(estimate, StratifiedEstimate) and isinstance(mechanism, InStrata)):
        adds, answers = mechanism.contributions(Rows.of(workload, some), columns), estimate.answers(workload, some)
        return [_Part(mechanism, columns, estimate, adds, options.people, answers, options.drawn)]
    people, rows, parts = options.people * estimate.people / max(1, estimate.people.sum()), workload.rows(some), []
    each = zip(mechanism.strata, mechanism.contributions_within(rows, columns), strict=True)
    times = np.ones(len(people)) if options.weights is None else options.weights
    for z, (made, adds) in enumerate(each):
        w = float(times[z])
        scaled = {name: w * getattr(adds, name) for name in ("means", "up", "down", "low", "high")}
        adds = replace(adds, variances=w**2 * adds.variances, **scaled)
        answers = w * (rows[:, estimate.cells[z]] @ estimate.parts[z].estimated_counts)
        secret = mechanism.secret_of(columns)
        parts.append(_Part(made, secret, estimate.parts[z], adds, float(people[z]), answers, options.drawn))
    return parts


def _chance(rows: np.ndarray, counts: np.ndarray, people: float) -> np.ndarray:
    """(q,) the variance of ``rows`` (q, n) times the counts of ``people`` drawn from the
    distribution of ``counts``."""
    return np.maximum(rows**2 @ counts - (rows @ counts) ** 2 / max(1.0, people), 0.0)


def _of_noise(
    mechanism: AdditiveMechanism, workload: Workload, estimate: Estimate, some: np.ndarray, options: _Options
) -> Intervals:
    """Of sums of noise; where people are drawn, and there is too little noise to cover a person,
    noise and people have half of the tail."""
    rows, none, people, tail = workload.rows(some), np.zeros(len(some)), options.people, options.tail
    variance = np.maximum(mechanism.query_variances(workload, people * np.eye(1, workload.n)[0], some), 0.0)
    adds = Contributions(rows, np.zeros_like(rows), none, none, none, none)
    part = _Part(mechanism, TYPES, estimate, adds, people, estimate.answers(workload, some), options.drawn)
    half, methods = mechanism.noise.reach(rows @ mechanism.reconstruction, people, tail), np.full(len(some), "exact")
    if options.drawn:
        many = part.range <= INTERVAL_PART * np.sqrt(variance)
        half = mechanism.noise.reach(rows @ mechanism.reconstruction, people, tail / 2)
        half = half + tails.bennett(part.most, part.range, people, tail / 2)
        half = np.where(many, -ndtri(tail) * np.sqrt(variance + part.variance + part.range**2 / 8), half)
        methods = np.where(many, "normal", "bounded")
        variance, most = variance + part.variance, variance + part.most
    ends, possible = np.stack([part.answers - half, part.answers + half], axis=1), [rows.min(axis=1), rows.max(axis=1)]
    errors = np.sqrt(variance), np.sqrt(most if options.drawn else variance)
    return Intervals.cut(ends, [people * end for end in possible], methods, *errors)


def _of_reports(parts: list[_Part], tail: float, everyone: float | None) -> Intervals:
    """Of sums of independent reports, by the method that suits each query. ``everyone``: how many
    people there are, where it is chance as well who is in which part."""
    answers, least, variance, most = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("answers", "least", "variance", "most")
    )
    sizes, ranges = np.array([part.people for part in parts]), [part.range for part in parts]
    ends = [sum(part.people * end(part.adds.means, axis=1) for part in parts) for end in (np.min, np.max)]
    if everyone is not None:
        means, inside = np.hstack([part.adds.means for part in parts]), np.stack([p.answers for p in parts], axis=1)
        ranges, ends = [np.ptp(means, axis=1)], [everyone * end(means, axis=1) for end in (np.min, np.max)]
        room = everyone * ranges[0] ** 2 / 4
        variance = variance + np.minimum(_chance(inside / np.maximum(1.0, sizes), sizes, everyone), room)
        most = room + np.sum([part.people * part.adds.variances.max(axis=1) for part in parts], axis=0)
    up, down = (
        np.max([getattr(p.adds, end) for p in parts], axis=0) + np.max(ranges, axis=0) for end in ("up", "down")
    )
    size = np.max([np.abs(part.adds.means).max(axis=1) for part in parts], axis=0)  # of what one person counts
    # (parts, q): others are known without a report, and vary by rounding alone.
    reported = np.array([part.most > 1e-9 * part.people * size**2 for part in parts])
    known = ~reported.any(axis=0) & ((everyone is None) | (ranges[0] == 0))
    z, part_of_one = -ndtri(tail), np.maximum(up, down)
    doubt, tied, alone = np.sum([some * part.moments() for some, part in zip(reported, parts, strict=True)], axis=0)
    slope = np.divide(tied, alone, out=0 * tied, where=alone > 0)
    doubt = np.maximum(doubt - slope * tied, 0.0)  # what the answer does not tell of its variance
    error = np.sqrt(np.maximum(least, variance - z * np.sqrt(doubt)))
    many = part_of_one <= INTERVAL_PART * error
    count = np.sum(
        [np.where(some, p.people * p.adds.parts, 0) for some, p in zip(reported, parts, strict=True)], axis=0
    )
    count = np.maximum(1.0, count if everyone is None else everyone * max(part.adds.parts for part in parts))
    methods = np.where(known, "exact", np.where(many, "normal", "bounded")).astype("<U7")
    wide = z * (1 + (1 + z**2) / 8 * np.divide(doubt, variance**2, out=0 * doubt, where=variance > 0))
    found = np.stack([answers, answers], axis=1)
    for k, sign, far in ((0, -1, down), (1, 1, up)):
        shift = sign * wide**2 * slope / 2
        there = variance + sign * slope * (shift + np.sqrt(wide**2 * variance + shift**2))
        reach = wide * np.sqrt(np.clip(there, least, most) + part_of_one**2 / 8)
        found[:, k] += sign * np.where(known, 0, np.where(many, reach, tails.bennett(most, far, count, tail)))
    two, whole = (
        np.array([_one_of_two(part) & (part.adds.high - part.adds.low > LATTICE * error) for part in parts]),
        found.copy(),
    )
    two &= reported & (reported.sum(axis=0) == 1) & ~known & (everyone is None)
    for k, i in np.argwhere(two).tolist():  # about one part alone
        found[i], whole[i] = answers[i] - parts[k].answers[i] + _inverted(parts[k], i, tail)
        methods[i] = "exact"
    error, most = np.sqrt(np.maximum([variance, most], 0.0))
    return Intervals(np.clip(whole, *(end[:, None] for end in ends)), methods, error, most, found)


def _one_of_two(part: _Part) -> np.ndarray:
    """(q,) whether a report adds one of two values, and its chance of the larger one follows from
    the answer: of people drawn, who all have the same chance; or of those whose true answer is one
    of two as well."""
    means = part.adds.means
    least, most = means.min(axis=1, keepdims=True), means.max(axis=1, keepdims=True)
    two = part.drawn | np.all((means == least) | (means == most), axis=1)
    return two & (least < most)[:, 0] & (part.adds.low < part.adds.high)


def _inverted(part: _Part, i: int, tail: float) -> np.ndarray:
    """(2, 2) the exact interval of query ``i``, and that of whole people: a report adds its high
    value with a probability that is known from its mean."""
    adds, users = part.adds, round(part.people)
    low, width = adds.low[i], adds.high[i] - adds.low[i]
    least, most = adds.means[i].min(), adds.means[i].max()
    yes = int(np.clip(round((part.answers[i] - users * low) / width), 0, users))
    chances = [float(np.clip((mean - low) / width, 0.0, 1.0)) for mean in (least, most)]
    return users * least + tails.blaker(users, *chances, yes, tail, part.drawn) * (most - least)
