"""The price, known beforehand, of computing the structure of a workload: its queries, the diagonal
and the sums of G.

A design of a kilobyte can ask a hundred questions of a million types. Its price is taken from the recipes, before anything of
that size is made: how many numbers are written or read, in the time that a type takes for any part (a column of G, its diagonal, and
adding both up), measured once (2.5 GHz). It is right within a factor of about three, and more for conditions that are cheaper than they look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.limits import MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES
from ldp_core.people import Counts
from ldp_core.run import Cancel, cancellation
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.group_parts import WorkloadPart
from ldp_core.workloads.predicates import ROWS_AT_ONCE
from ldp_core.workloads.questionnaire import over_attributes
from ldp_core.workloads.ratios import Rates
from ldp_core.workloads.subsets import KWayMarginals
from ldp_core.workloads.units import Target

A_TYPE = 15e-9
"""Seconds for a type in any part."""
AN_AXIS = 1 / 5
"""Of that, to sum along one attribute, for parts whose G is applied attribute by attribute."""
A_CONDITION = 2 / 3
"""Of that, for a type that a condition mentions: to write its row and to multiply with it."""
A_SIGN = 1 / 150
"""Of that, for such a type and a letter of the condition: to find where it holds; terms have about five letters or more."""
A_CELL = 2.0
"""Times that, for a cell of the tables of a survey: writing it, and the numbers by attribute set that follow."""
READ = 1e-6
"""Seconds per letter to read a condition."""

ALIKE = {"histogram", "joint_histogram", "marginals", "k_way_marginals", "all_marginals", "parity"}
"""Kinds whose G is known by one column; where all parts are of these, G is never applied."""


class Cancelled(Exception):
    """Raised within `work_out` to stop it."""


@dataclass(frozen=True)
class Price:
    """``seconds`` of one core of a laptop, and ``bytes`` that are held at the end."""

    seconds: float
    bytes: int


def price(parts: Sequence[WorkloadPart], attributes: Any) -> Price:
    """What `work_out` of these recipes takes, on the types of a `Domain` or a sequence of attributes. Never raises for
    parts that do not fit: they cost what they would if they did."""
    axes = axes_of(attributes)
    sizes = [axis.size for axis in axes]
    n, alike = math.prod(sizes), all(part.kind in ALIKE for part in parts)
    questions = [part.question for part in parts]  # shares and differences cost what their questions do
    # Equal parts cost no more than one, except conditions: each builds tables of its own.
    distinct = {part.model_dump_json(exclude={"weight"}): part for part in questions if part.kind != "predicates"}
    counted = [*distinct.values(), *(part for part in questions if part.kind == "predicates")]
    read = READ * sum(len(p.expression) for part in counted if part.kind == "predicates" for p in part.predicates)
    if n > MOST_TABLE_CELLS:  # a survey: only the tables it asks about are made
        cells = sum(_cells(part, sizes) for part in counted)
        return Price(read + A_TYPE * A_CELL * cells, 8 * min(cells, MOST_WORKLOAD_ENTRIES))
    costs = [_numbers(part, axes, alike) for part in counted]
    return Price(read + A_TYPE * sum(cost for cost, _ in costs), sum(held for _, held in costs) + 4 * 8 * n)


def _cells(part: WorkloadPart, sizes: Sequence[int]) -> int:
    """About how many cells the tables have that a part of a survey asks about."""
    if part.kind == "k_way_marginals" and part.k <= len(sizes):
        return KWayMarginals(tuple(sizes), part.k).num_queries
    if part.kind == "parity":
        most = len(sizes) if part.max_weight is None else min(part.max_weight, len(sizes))
        return sum(math.comb(len(sizes), weight) * 2**weight for weight in range(most + 1))
    if part.kind == "marginals":
        widest = sorted(sizes, reverse=True)
        return sum(math.prod(widest[: len(group)]) for group in part.groups)
    return max(sizes)


def work_out(
    parts: Sequence[WorkloadPart],
    attributes: Any,
    cancel: Cancel,
    targets: Mapping[str, Target] | None = None,
    counts: Counts | Sequence[Rates | None] | None = None,
    people: Counts | None = None,
) -> Workload | None:
    """The workload of these recipes, with everything that all figures start from already computed; None once cancelled
    (see `ldp_core.run`). ValueError as `over_attributes`."""

    cancelled = cancellation(cancel)

    def check() -> None:
        if cancelled():
            raise Cancelled

    try:
        workload = over_attributes(parts, attributes, targets, counts, check, people)
        workload.prepare(check)
    except Cancelled:
        return None
    return workload


def _numbers(part: WorkloadPart, axes: Sequence[Axis], alike: bool) -> tuple[float, int]:
    """How many types' time a part takes, and the bytes that it holds."""
    sizes = [axis.size for axis in axes]
    n = math.prod(sizes)
    if part.kind == "predicates":
        text = "\n".join(predicate.expression for predicate in part.predicates).replace('""', '"').casefold()
        mentioned, many = math.prod(axis.size for axis in axes if axis.name.casefold() in text), len(part.predicates)
        held = mentioned * many + 8 * min(mentioned * many, ROWS_AT_ONCE)
        return n + mentioned * (A_CONDITION * many + A_SIGN * (len(text) - many + 1)), held
    if part.kind == "marginals":
        return n * len(part.groups), 0
    if part.kind == "matrix":
        return A_CONDITION * part.rows * part.columns, 8 * part.rows * part.columns
    kind: str = part.kind
    k = getattr(part, "k", 1)
    if part.kind == "types":
        kind, k, sizes = part.family, part.parameters.get("k", 1), [2] * max(1, n.bit_length() - 1)
    if kind == "parity":  # over the attributes named, of two values each
        named = len(getattr(part, "attributes", None) or sizes)
        return n + 2 * AN_AXIS * named * min(n, 2**named), 0
    applied = {"k_way_marginals": len(sizes) * k, "all_marginals": len(sizes)}.get(kind, 0) * (not alike)
    return (1 + AN_AXIS * applied) * n, 0
