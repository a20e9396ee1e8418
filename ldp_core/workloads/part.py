"""The common part of all recipes for queries."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, Strict

from ldp_core import wording
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import nearest, shortened
from ldp_core.workloads.on_attributes import OnAttributes

Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], Strict(False)]  # a list from a widget is welcome


class Frozen(BaseModel):
    """Frozen; unknown keys, NaN and "3" for 3 refused, so that one meaning has one spelling."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Part(Frozen):
    """The common part of all recipes: ``weight`` scales the queries, and the importance of their
    errors by its square."""

    weight: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0

    @abstractmethod
    def build(self, attributes: Any) -> Workload:
        """The queries, without the weight, on the types of ``attributes``: a `Domain`, or a sequence of its attributes.

        ValueError, one sentence, where the recipe does not fit the attributes.
        """

    def about(self, before: str, name: str) -> Self:
        """The same queries where the attribute ``before`` is called ``name``, for recipes that are about one attribute."""
        fits = getattr(self, "attribute", None) == before
        return self.model_copy(update={"attribute": name}) if fits else self

    @property
    def mentions(self) -> tuple[str, ...]:
        """The attributes that the recipe names, each once. Conditions are text, which is not looked into."""
        several = [getattr(self, field, None) or () for field in ("attributes", "by")]
        groups = [[getattr(self, "attribute", None)], *several, *getattr(self, "groups", ())]
        return tuple(dict.fromkeys(name for group in groups for name in group if name))

    @property
    @abstractmethod
    def summary(self) -> str:
        """The recipe in a few words, for lists: "Running totals along age, within each sex"."""


def within(by: Sequence[str]) -> str:
    """The groups of the attributes ``by``, for a summary; empty where there are none."""
    return f", within each {' x '.join(by)}" if by else ""


def places_of(axes: Sequence[Axis], names: Sequence[str]) -> list[int]:
    """The places of the named attributes. ValueError for an attribute that does not exist, is named
    twice, or has one type only."""
    places = {axis.name: i for i, axis in enumerate(axes)}
    for name in names:
        if name not in places:
            known = nearest(name, list(places), "the attributes are")
            raise ValueError(f"The domain has no attribute {shortened(name)}; {known}")
        if axes[places[name]].size < 2:
            raise ValueError(f"{shortened(name)} has one type only, so there is nothing to ask about it; leave it out.")
    if len(set(names)) < len(names):
        named = wording.shortened(", ".join(map(shortened, names)), 300)
        raise ValueError(f"An attribute is named twice: {named}; name each once.")
    return [places[name] for name in names]


def placed(axes: Sequence[Axis], places: Sequence[int], base: Workload, used: Sequence[int] | None = None) -> Workload:
    """``base`` on its attributes, the others summed out."""
    left_out = math.prod(axes[i].size for i in set(range(len(axes))) - set(places))
    if used is None and left_out == 1 and all(a < b for a, b in pairwise(places)):
        return base
    return OnAttributes([axis.size for axis in axes], places, base, used)
