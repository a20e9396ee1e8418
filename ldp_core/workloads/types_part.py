"""The workloads of the papers on a plain list of n types, whatever attributes these are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ldp_core.arguments import check_choice
from ldp_core.people import Tables
from ldp_core.wording import check_parameters
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.ordered import AllRange, Histogram, Prefix, WidthRange
from ldp_core.workloads.part import Part
from ldp_core.workloads.subsets import AllMarginals, KWayMarginals, Parity, checked_shape
from ldp_core.workloads.units import Unit

ON_TYPES: dict[str, type[Workload]] = {
    family.kind: family for family in (Histogram, Prefix, AllRange, WidthRange, AllMarginals, KWayMarginals, Parity)
}
OVER_ATTRIBUTES = {family.kind for family in (AllMarginals, KWayMarginals, Parity)}
"""Families that read a plain list of n types as the answers to d yes-or-no questions, n = 2^d."""


@dataclass(frozen=True)
class Parameter:
    """The whole number that a workload kind needs besides n: its name, what it means, and its range and default."""

    name: str
    label: str
    low: int
    high: int
    default: int


def parameter(kind: str, n: int) -> Parameter | None:
    """What `on_types` needs to know besides ``n``; None for kinds that need nothing."""
    d = n.bit_length() - 1
    if kind == "width_range":
        return Parameter("width", "Widest range, in types", 1, n, max(1, n // 8))
    if kind == "k_way_marginals":
        return Parameter("k", "Attributes in a group (k)", 1, d, min(3, d))
    if kind == "parity":
        return Parameter("max_weight", "Most attributes in a group", 0, d, d)
    return None


def kinds_for(n: int) -> list[str]:
    """The kinds of `ON_TYPES` that fit ``n`` types: those over yes-or-no attributes need a power of two."""
    return [kind for kind in ON_TYPES if not (kind in OVER_ATTRIBUTES and n & (n - 1))]


def on_types(kind: str, n: int, axes: Sequence[Axis] = (), **parameters: int) -> Workload:
    """The workload ``kind`` of `ON_TYPES` on ``n`` types; those over yes-or-no attributes need n = 2^d.

    ``axes`` name the queries: those of the attributes of two values, or of the only attribute. ``parameters``: ``width`` of ranges, ``k``
    attributes of a marginal, ``max_weight`` of parities. ValueError when the kind is unknown, does not fit n, or a
    parameter is wrong.
    """
    family = ON_TYPES[check_choice("workload", kind, ON_TYPES)]
    if kind in OVER_ATTRIBUTES and n & (n - 1):
        raise ValueError(
            f"{family.title} reads the types as yes-or-no answers, so it needs a power of two of them; there are {n:,}."
        )
    needed = parameter(kind, n)
    check_parameters(f"The {family.title} workload", parameters, [needed.name] if needed else [])
    d = n.bit_length() - 1
    types: Any = d if kind == "parity" else checked_shape(d) if kind in OVER_ATTRIBUTES else n
    named = [axis for axis in axes if axis.size > 1]
    fits = all(axis.size == 2 for axis in named) if kind in OVER_ATTRIBUTES else len(axes) == 1
    try:
        return family(types, axes=named if named and fits else None, **parameters)
    except TypeError:
        settings = ", ".join(parameters) or "there are no settings"
        raise ValueError(f"The recipe of the {family.title} workload does not fit: {settings}.") from None


def _sorted(parameters: dict[str, int]) -> dict[str, int]:
    return dict(sorted(parameters.items()))  # equal recipes, equal files


class TypesPart(Part):
    """One of the papers' workloads on the list of all types in their order; see `on_types`."""

    kind: Literal["types"] = "types"
    family: Literal["histogram", "prefix", "all_range", "width_range", "all_marginals", "k_way_marginals", "parity"]
    parameters: Annotated[dict[str, Annotated[int, Field(ge=0)]], AfterValidator(_sorted)] = Field(default_factory=dict)

    @property
    def _summary(self) -> str:
        return f"{ON_TYPES[self.family].title} of the types"

    def _build(self, axes: Sequence[Axis]) -> Workload:
        n = math.prod(axis.size for axis in axes)
        return on_types(self.family, n, axes, **self.parameters)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        return (Unit(span=2.0, least=-100.0) if self.family == "parity" else Unit()), 0.0
