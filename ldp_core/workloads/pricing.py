"""The price, known beforehand, of computing the structure of a workload: its queries, the diagonal
and the sums of G.

A design of a kilobyte can ask a hundred questions of a million types. Its price is taken from the recipes, before anything of
that size is made: for each part, how many numbers are written or read, at a speed measured once (2.5 GHz). It is right
within a factor of about three, and more for conditions that are cheaper than they look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.limits import MOST_TABLE_CELLS, MOST_WORKLOAD_ENTRIES
from ldp_core.run import Cancel, asked
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.marginals import KWayMarginals
from ldp_core.workloads.parts import PredicatesPart, WorkloadPart, over_attributes
from ldp_core.workloads.predicates import ROWS_AT_ONCE

A_QUERY_SET = 15e-9
"""Seconds per type for what any part takes: a column of G, its diagonal, and adding both up."""
AN_AXIS = 3e-9
"""Seconds per type to sum along one attribute, for parts whose G is applied attribute by attribute."""
A_CONDITION = 10e-9
"""Seconds per type that a condition mentions, to write its row and to multiply with it."""
A_SIGN = 0.1e-9
"""Seconds per type and letter of a condition, to find where it holds; terms have about five letters or more."""
READ = 1e-6
"""Seconds per letter to read a condition."""

A_CELL = 30e-9
"""Seconds per cell of the tables of a survey: writing it, and the numbers by attribute set that follow."""

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
    alike = all(part.kind in ALIKE for part in parts)
    parts = [part.question for part in parts]  # shares and differences cost what their questions do
    # Equal parts cost no more than one, except conditions: each builds tables of its own.
    distinct = {part.model_dump_json(exclude={"weight"}): part for part in parts if part.kind != "predicates"}
    counted = [*distinct.values(), *(part for part in parts if part.kind == "predicates")]
    prices = [_price(part, axes, alike) for part in counted]
    n = math.prod(axis.size for axis in axes)
    if n > MOST_TABLE_CELLS:  # a survey: only the tables it asks about are made
        return _of_tables(sum(_cells(part, [axis.size for axis in axes]) for part in counted), parts)
    return Price(sum(each.seconds for each in prices), sum(each.bytes for each in prices) + 4 * 8 * n)


def _of_tables(cells: int, parts: Sequence[WorkloadPart]) -> Price:
    letters = sum(len(p.expression) for part in parts if part.kind == "predicates" for p in part.predicates)
    return Price(A_CELL * cells + READ * letters, 8 * min(cells, MOST_WORKLOAD_ENTRIES))


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


def work_out(parts: Sequence[WorkloadPart], attributes: Any, cancel: Cancel) -> Workload | None:
    """The workload of these recipes, with everything that all figures start from already computed; None once cancelled
    (see `ldp_core.run`). ValueError as `over_attributes`."""

    cancelled = asked(cancel)

    def check() -> None:
        if cancelled():
            raise Cancelled

    try:
        workload = over_attributes(parts, attributes, check)
        workload.prepare(check)
    except Cancelled:
        return None
    return workload


def _price(part: WorkloadPart, axes: Sequence[Axis], alike: bool) -> Price:
    sizes = [axis.size for axis in axes]
    n = math.prod(sizes)
    if part.kind == "predicates":
        return _conditions(part, axes)
    if part.kind == "marginals":
        return Price(A_QUERY_SET * n * len(part.groups), 0)
    if part.kind == "matrix":
        return Price(A_CONDITION * part.rows * part.columns, 8 * part.rows * part.columns)
    kind: str = part.kind
    k = getattr(part, "k", 1)
    if part.kind == "types":
        kind, k, sizes = part.family, part.parameters.get("k", 1), [2] * max(1, n.bit_length() - 1)
    applied = {"k_way_marginals": len(sizes) * k, "all_marginals": len(sizes)}.get(kind, 0) * (not alike)
    if kind == "parity":  # over the attributes named, of two values each
        named = len(getattr(part, "attributes", None) or sizes)
        return Price(A_QUERY_SET * n + 2 * AN_AXIS * named * min(n, 2**named), 0)
    return Price((A_QUERY_SET + AN_AXIS * applied) * n, 0)


def _conditions(part: PredicatesPart, axes: Sequence[Axis]) -> Price:
    texts = [predicate.expression for predicate in part.predicates]
    text = "\n".join(texts).replace('""', '"').casefold()
    mentioned = math.prod(axis.size for axis in axes if axis.name.casefold() in text)
    letters = sum(map(len, texts))
    seconds = READ * letters + mentioned * (A_CONDITION * len(texts) + A_SIGN * letters)
    held = mentioned * len(texts) + 8 * min(mentioned * len(texts), ROWS_AT_ONCE)
    return Price(seconds + A_QUERY_SET * math.prod(axis.size for axis in axes), held)
