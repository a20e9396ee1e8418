"""Mechanisms fitted to a workload: thin wrappers that turn an optimised strategy into a mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import design, projected_gradient
from ldp_core.workloads import Workload

_EXPLANATION = (
    "Each person sends one of {outputs:,} reports; how likely each is for each type was fitted numerically so that the "
    "answers to the chosen workload have the least total variance."
)


def from_strategy(name: str, strategy: np.ndarray, epsilon: float, parameters: dict[str, Any]) -> ExplicitMechanism:
    """A fitted mechanism from a strategy that was optimised before (and saved)."""
    return ExplicitMechanism(name, strategy, epsilon, parameters, _EXPLANATION.format(outputs=len(strategy)))


def build_gradient(
    workload: Workload,
    epsilon: float,
    seed: int = 0,
    rows: int | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    callback=None,
    cancel=None,
) -> ExplicitMechanism:
    """McKenna et al.'s optimised mechanism; see `ldp_core.optimize.projected_gradient` for the parameters."""
    result = projected_gradient(
        workload,
        epsilon,
        rows=rows,
        seed=seed,
        max_rounds=max_rounds,
        time_limit=time_limit,
        callback=callback,
        cancel=cancel,
    )
    parameters = {"workload": workload.spec, "seed": seed, "rounds": result.rounds}
    return from_strategy("optimized_gradient", result.strategy, epsilon, parameters)


def build_certified(
    workload: Workload,
    epsilon: float,
    seed: int = 0,
    max_rounds: int | None = None,
    time_limit: float | None = 10.0,
    callback=None,
    cancel=None,
) -> ExplicitMechanism:
    """The best mechanism there is, within a per cent or so; see `ldp_core.optimize.design` for the parameters.

    How close it is for sure tells `ldp_core.bounds.certificate`.
    """
    result = design(
        workload, epsilon, time_limit=time_limit, max_rounds=max_rounds, seed=seed, callback=callback, cancel=cancel
    )
    parameters = {"workload": workload.spec, "seed": seed, "rounds": result.rounds}
    return from_strategy("optimized", result.strategy, epsilon, parameters)
