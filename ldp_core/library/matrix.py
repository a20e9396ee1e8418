"""The matrix mechanism run per user (Edmonds, Nikolov and Ullman 2020): an optimised strategy plus Laplace or Gaussian noise."""

from __future__ import annotations

from ldp_core.mechanisms.noise.additive import ROUNDING, AdditiveMechanism, GaussianNoise, LaplaceNoise
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA, calibrated_scale, check_delta
from ldp_core.mechanisms.noise.vectors import diameter
from ldp_core.optimize.strategies import optimal_l1, optimal_l2
from ldp_core.privacy import check_epsilon
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Workload

_EXPLANATION = (
    "Each person sends {size:,} numbers: a vector that stands for their type, fitted to the workload, plus {noise} noise "
    "large enough to hide which type it is."
)


def build_l1(
    workload: Workload,
    epsilon: float,
    queries: int | None = None,
    seed: int = 0,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    callback: Callback | None = None,
) -> AdditiveMechanism:
    """Pure epsilon-LDP: Laplace noise of scale diameter/epsilon on the strategy of `optimize.strategies.optimal_l1`."""
    epsilon = check_epsilon(epsilon)
    design = optimal_l1(workload, queries, seed, max_rounds, time_limit, cancel, callback)
    scale = diameter(design.strategy, "l1")[0] / epsilon * ROUNDING
    parameters = {"workload": workload.spec, "queries": queries, "seed": seed, "rounds": design.rounds}
    explanation = _EXPLANATION.format(size=len(design.strategy), noise="Laplace")
    noise = LaplaceNoise(scale)
    return AdditiveMechanism("matrix_l1", design.strategy, noise, epsilon, 0.0, parameters, explanation)


def build_l2(
    workload: Workload,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    cancel: Cancel | None = None,
    callback: Callback | None = None,
) -> AdditiveMechanism:
    """(epsilon, delta)-LDP: Gaussian noise, exactly calibrated, on the strategy of `optimize.strategies.optimal_l2`."""
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    design = optimal_l2(workload, max_rounds, time_limit=time_limit, cancel=cancel, callback=callback)
    scale = calibrated_scale(epsilon, delta, diameter(design.strategy, "l2")[0] * ROUNDING)
    parameters = {"workload": workload.spec, "delta": delta, "rounds": design.rounds}
    explanation = _EXPLANATION.format(size=len(design.strategy), noise="Gaussian")
    noise = GaussianNoise(scale)
    return AdditiveMechanism("matrix_l2", design.strategy, noise, epsilon, delta, parameters, explanation)
