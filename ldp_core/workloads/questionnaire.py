"""Several questions over the attributes of one domain, as one workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ldp_core import limits, wording
from ldp_core.people import Counts, people_of
from ldp_core.workloads.answers import Questionnaire, default_targets
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import quoted
from ldp_core.workloads.composite import Union
from ldp_core.workloads.days_part import DaysPart
from ldp_core.workloads.group_parts import DifferencePart, SharePart, WorkloadPart
from ldp_core.workloads.items_part import ItemsPart
from ldp_core.workloads.mean_rank_part import MeanRankPart
from ldp_core.workloads.parts import HistogramPart, KWayMarginalsPart, Predicate, PredicatesPart, PrefixPart
from ldp_core.workloads.ratios import Rates
from ldp_core.workloads.secret import partly_secret
from ldp_core.workloads.strata import stratified
from ldp_core.workloads.surveyed import surveyed
from ldp_core.workloads.units import LEAST_TARGET, Detect, Target


def over_attributes(
    parts: Sequence[WorkloadPart],
    attributes: Any,
    targets: Mapping[str, Target] | None = None,
    counts: Counts | Sequence[Rates | None] | None = None,
    check: Callable[[], None] = lambda: None,
    people: Counts | None = None,
) -> Workload:
    """One workload of the answers to all ``parts``, for designs; the questions are kept in its
    `questionnaire`.

    Parameters
    ----------
    parts : sequence of WorkloadPart
        Questions, each with its weight.
    attributes : Domain or sequence of attributes
    targets : dict of str to Target, optional
        {unit of answers: standard error in it, or `Detect`}; by default those of `default_targets`.
    counts : Counts or sequence of Rates, optional
        (n,) planning data, or `People`, of which shares, averages and sizes of groups are taken; or
        these, for each part; None for people who are evenly spread.
    check : callable
        Called between parts, and may raise to stop it.
    people : Counts, optional
        Planning data of which targets alone are taken, by default ``counts``.

    Returns
    -------
    Workload
        A single question about everybody as it is; else a `Union`, or a `Survey` where that serves
        better (see `surveyed`); with `strata` where the collector knows some attributes.

    Raises
    ------
    ValueError
        One sentence, naming the part where there are several, when one does not fit.
    """
    if not parts:
        raise ValueError("There is nothing to ask yet; add at least one group of queries.")
    axes, lines = axes_of(attributes), []
    taken = counts if isinstance(counts, Sequence) else [None] * len(parts)
    planned = people if isinstance(counts, Sequence) else counts
    planning = None if planned is None else people_of(planned, [axis.size for axis in axes])
    for i, part in enumerate(parts, start=1):
        check()
        try:
            lines.append(part.line(axes, planning, taken[i - 1]))
        except ValueError as error:
            if len(parts) == 1:
                raise
            raise ValueError(f"Group {i} of the queries: {wording.uncapitalised(str(error))}") from None
    answered = [replace(line, workload=_answered(line.workload, axes)) for line in lines]
    chosen = default_targets(answered, planning) | dict(targets or {})
    lines = [replace(line, target=chosen[line.key]) for line in lines]
    if wrong := [line for line in lines if not LEAST_TARGET <= line.standard_error < math.inf]:
        raise ValueError(
            f"The target for {wrong[0].key} must be at least {LEAST_TARGET:g}; got {wrong[0].standard_error:g}."
        )
    scale = lines[0].scale
    design = [(workload, weight * line.scale / scale) for line in lines for workload, weight in line.design]
    scaled = [(line.workload, line.scale / scale) for line in lines]
    whole = assembled(design, axes)
    answers = whole if scaled == design else assembled(scaled, axes)
    if len(lines) == 1 and answers is whole:
        answered = [replace(answered[0], workload=whole)]
    targeted = tuple(replace(line, target=chosen[line.key]) for line in answered)
    squares = [line.weight**2 * (line.workload.num_queries if isinstance(line.target, Detect) else 1) for line in lines]
    whole.questionnaire = Questionnaire(targeted, answers, math.fsum(squares) / scale**2, axes)
    return whole


def rates_of(parts: Sequence[WorkloadPart], attributes: Any, people: Counts | None) -> list[Rates | None]:
    """What a design takes of planning data, for each part, two significant digits of each: see
    `Rates`."""
    axes, found = axes_of(attributes), list[Rates | None]()
    planning = None if people is None else people_of(people, [axis.size for axis in axes])
    for part in parts:
        rates, question = part.rates(axes, planning), part.group_question(axes)
        found.append(None if rates is None or question is None else rates.rounded(question.unit))
    return found


def assembled(parts: Sequence[tuple[Workload, float]], axes: Sequence[Axis]) -> Workload:
    """One workload of several with weights, in the form that designs take. ValueError where no
    report tells anything about them."""
    workloads, weights = zip(*parts, strict=True)
    whole = workloads[0] if len(parts) == 1 else Union(workloads, weights)
    return stratified(partly_secret(whole, axes), axes)


def _answered(question: Workload, axes: Sequence[Axis]) -> Workload:
    """The answers to one question as mechanisms take them. Answers that the collector knows without
    a report have no strata."""
    try:
        return assembled([(question, 1.0)], axes)
    except ValueError:
        return surveyed(question, axes)


def default_parts(attributes: Any) -> tuple[WorkloadPart, ...]:
    """The questions of a new design.

    Parameters
    ----------
    attributes : Domain or sequence of attributes

    Returns
    -------
    tuple of WorkloadPart
        Of a single attribute running totals if it has an order, else a histogram; of several the
        joint counts of every two, or where values are combinations a question of each. The
        attributes that the collector knows make groups: each of the others is asked about alone, as
        shares within each group, and two groups are compared, the second with the first.
    """
    axes = axes_of(attributes)
    telling = [axis for axis in axes if axis.size > 1]
    if known := [axis for axis in telling if axis.known]:
        secret = [axis for axis in axes if not axis.known]
        parts: list[Any] = [share_of(axis) for axis in [axis for axis in secret if axis.size > 1] or secret]
        names = tuple(axis.name for axis in known)
        within_each = (
            part.model_copy(update={"by": names}) if part.averages else SharePart(of=part, within=names)
            for part in parts
        )
        if len(known) > 1 or known[0].size > 2:
            return tuple(within_each)
        second, first = known[0].labels
        differences = (DifferencePart(of=part, attribute=names[0], first=first, second=second) for part in parts)
        return *within_each, *differences
    if len(telling) > 1 and any(axis.combined for axis in telling):
        return tuple(map(_of_one, telling))
    if len(telling) > 1:
        return (KWayMarginalsPart(k=2),)
    return (_of_one(max(axes, key=lambda axis: axis.size)),)


def _of_one(axis: Axis) -> Any:
    if axis.combined is not None:
        return next(kind for kind in (MeanRankPart, ItemsPart, DaysPart) if kind.fits(axis))(attribute=axis.name)
    kind = PrefixPart if axis.ordered and axis.ordinary > 1 else HistogramPart
    return kind(attribute=axis.name)


def share_of(axis: Axis) -> Any:
    """What to ask first about shares of one attribute: of two values the second, "yes", as the
    other is its mirror."""
    yes = f"{quoted(axis.name)} = {quoted(axis.labels[-1])}"
    if axis.size != 2 or len(yes) > limits.MOST_CONDITION_CHARACTERS:
        return _of_one(axis)
    return PredicatesPart(predicates=(Predicate(expression=yes, name=f"{axis.name} {axis.labels[-1]}"),))
