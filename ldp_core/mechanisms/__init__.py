"""The mechanism library. Adding one is a file with its mathematics and a line in `REGISTRY`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldp_core.mechanisms import hadamard, hierarchical, optimized
from ldp_core.mechanisms.base import Audit, Estimate, FiniteOutput, Mechanism, Reports
from ldp_core.mechanisms.exchangeable import RandomizedResponse, SubsetSelection
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.workloads import Workload

__all__ = [
    "REGISTRY",
    "Audit",
    "Estimate",
    "ExplicitMechanism",
    "FiniteOutput",
    "Mechanism",
    "Reports",
    "Spec",
    "create",
    "names",
    "spec",
]


@dataclass(frozen=True)
class Spec:
    """What the library knows of a mechanism before building it."""

    name: str
    title: str
    made_for: str
    paper: str
    build: Callable[..., Mechanism]
    needs_workload: bool = False
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters an analyst may choose, with their values; the first is the default."""


REGISTRY: dict[str, Spec] = {
    spec.name: spec
    for spec in (
        Spec(
            "randomized_response",
            "Randomized response",
            "small domains, or little privacy (large epsilon)",
            "Warner 1965; Kairouz, Bonawitz and Ramage 2016",
            RandomizedResponse,
        ),
        Spec(
            "subset_selection",
            "Subset selection",
            "histograms: the exact optimum there",
            "Ye and Barg 2018; Wang et al. 2016",
            SubsetSelection,
        ),
        Spec(
            "hadamard",
            "Hadamard response",
            "histograms with short reports",
            "Acharya, Sun and Zhang 2019",
            hadamard.build,
        ),
        Spec(
            "hierarchical",
            "Hierarchical",
            "ranges and cumulative counts on ordered domains",
            "Cormode, Kulkarni and Srivastava 2019",
            hierarchical.build,
            choices={"branching": (4, 2, 8, 16)},
        ),
        Spec(
            "optimized_gradient",
            "Optimized (projected gradient)",
            "any workload: fitted to the chosen one",
            "McKenna, Maity, Mazumdar and Miklau 2020, Algorithms 1 and 2",
            optimized.build_gradient,
            needs_workload=True,
        ),
    )
}


def names() -> list[str]:
    """Names `create` accepts."""
    return list(REGISTRY)


def spec(name: str) -> Spec:
    """The registry entry of ``name``. ValueError when there is none."""
    if name not in REGISTRY:
        raise ValueError(f"Unknown mechanism {name!r}; choose one of {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def create(
    name: str, n: int | None = None, epsilon: float = 1.0, workload: Workload | None = None, **parameters: Any
) -> Mechanism:
    """Build the mechanism ``name`` on ``n`` types (taken from ``workload`` when left out).

    Raises ValueError for an unknown name or parameter, a bad value, or a size the mechanism cannot handle.
    """
    entry = spec(name)
    if workload is not None and n is not None and workload.n != n:
        raise ValueError(f"The workload has {workload.n} types but n = {n} was asked for.")
    if workload is None and entry.needs_workload:
        raise ValueError(f"{entry.title} is fitted to a workload; pass workload=...")
    if n is None:
        if workload is None:
            raise ValueError("Pass the number of types n, or a workload.")
        n = workload.n
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise ValueError(f"A mechanism needs a whole number of at least 2 types; got n = {n!r}.")
    try:
        if entry.needs_workload:
            return entry.build(workload, epsilon, **parameters)
        return entry.build(int(n), epsilon, **parameters)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise ValueError(f"{entry.title} has no parameter {str(error).split()[-1]}.") from None
