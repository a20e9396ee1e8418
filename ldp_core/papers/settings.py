"""Settings of the papers as designs to open, and their six workloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from ldp_core import library
from ldp_core.data.tables import AttributeRecipe, CategoricalRecipe, NumericRecipe, build_domain
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Optimizer, Population, WorkloadRecipe
from ldp_core.workloads import TypesPart, Workload, on_types


@dataclass(frozen=True)
class Family:
    """A workload of McKenna et al. 2020 for any number of types."""

    key: str
    title: str
    kind: str
    parameters: dict[str, int] = field(default_factory=dict)
    binary: bool = False
    """True if it is about log2 n yes-or-no attributes."""

    def on(self, n: int) -> Workload:
        """It on ``n`` types; the same object every time, as what a workload computes about itself is kept there."""
        return _on(self.kind, n, tuple(self.parameters.items()))


FAMILIES = (
    Family("histogram", "Histogram", "histogram"),
    Family("prefix", "Prefix", "prefix"),
    Family("all-range", "All Range", "all_range"),
    Family("all-marginals", "All Marginals", "all_marginals", binary=True),
    Family("3-way-marginals", "3-Way Marginals", "k_way_marginals", {"k": 3}, binary=True),
    Family("parity", "Parity", "parity", binary=True),
)
"""Their six workloads, in their order."""


@cache
def _on(kind: str, n: int, parameters: tuple[tuple[str, int], ...]) -> Workload:
    return on_types(kind, n, (), **dict(parameters))


def design(
    family: Family,
    n: int,
    users: int,
    mechanism: str,
    shape: Literal["uniform", "zipf", "bell"] = "uniform",
    **fields: Any,
) -> Configuration:
    """The design with this workload on ``n`` types, numbers 0 to n - 1, or log2 n yes-or-no attributes where the workload is about
    these, at epsilon 1. ``shape`` says how people are spread; ``fields`` are further ones of the configuration."""
    recipes: list[AttributeRecipe] = [
        NumericRecipe(column="value", method="range", bins=n, low=0, high=n - 1, integer=True)
    ]
    if family.binary:
        names = (f"question {k}" for k in range(1, n.bit_length()))
        recipes = [CategoricalRecipe(column=name, categories=("no", "yes")) for name in names]
    part = TypesPart.model_validate({"family": family.kind, "parameters": family.parameters})
    return Configuration().with_(
        data=DeclaredData(recipes=tuple(recipes)),
        domain=build_domain(recipes, None),
        population=Population(users=users, origin="declared", shape=shape),
        workload=WorkloadRecipe(parts=(part,)),
        mechanism=MechanismRecipe(name=mechanism),
        optimizer=Optimizer(max_rounds=library.spec(mechanism).rounds_in_sweeps(n)),  # as the stored figures have it
        **fields,
    )
