"""The common part of all recipes for queries."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, Strict

from ldp_core.workloads.base import Workload

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
