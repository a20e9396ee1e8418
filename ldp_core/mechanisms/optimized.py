"""Mechanisms fitted to a workload: thin wrappers that turn an optimised strategy into a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import Optimized, projected_gradient
from ldp_core.workloads import Workload

_EXPLANATION = (
    "Each person sends one of {outputs:,} reports; how likely each is for each type was fitted numerically so that the "
    "answers to the chosen workload have the least total variance."
)


def from_strategy(name: str, strategy: np.ndarray, epsilon: float, parameters: dict[str, Any]) -> ExplicitMechanism:
    """A fitted mechanism from a strategy that was optimised before (and saved)."""
    return ExplicitMechanism(name, strategy, epsilon, parameters, _EXPLANATION.format(outputs=len(strategy)))


def fit_gradient(workload: Workload, epsilon: float, **options: Any) -> tuple[ExplicitMechanism, Optimized]:
    """McKenna et al.'s optimised mechanism and the record of its optimisation.

    ``options`` are those of `ldp_core.optimize.projected_gradient`.
    """
    result = projected_gradient(workload, epsilon, **options)
    parameters = {"workload": workload.spec, "seed": result.seed, "rounds": result.rounds}
    return from_strategy("optimized_gradient", result.strategy, epsilon, parameters), result


def build_gradient(
    workload: Workload,
    epsilon: float,
    seed: int = 0,
    rows: int | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    cancel=None,
) -> ExplicitMechanism:
    """The mechanism of `fit_gradient` alone, for the registry."""
    options = {"seed": seed, "rows": rows, "max_rounds": max_rounds, "time_limit": time_limit, "cancel": cancel}
    return fit_gradient(workload, epsilon, **options)[0]
