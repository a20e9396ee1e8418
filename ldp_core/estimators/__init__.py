"""From reports to answers. All post-processing is free of privacy cost; what it may cost is unbiasedness, and it says so."""

from __future__ import annotations

from dataclasses import dataclass

from ldp_core.estimators import wnnls
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.workloads import Workload


@dataclass(frozen=True)
class EstimatorSpec:
    name: str
    title: str
    short: str
    meaning: str
    unbiased: bool


ESTIMATORS = {
    spec.name: spec
    for spec in (
        EstimatorSpec(
            "unbiased", "Unbiased", "unbiased", "right on average; single counts may come out negative", unbiased=True
        ),
        EstimatorSpec(
            "wnnls",
            "Non-negative (WNNLS)",
            "non-negative",
            "the closest answers that real people could give; biased, but never a larger total error",
            unbiased=False,
        ),
    )
}


def names() -> list[str]:
    """Names `apply` accepts."""
    return list(ESTIMATORS)


def spec(name: str) -> EstimatorSpec:
    """The registry entry of ``name``. ValueError when there is none."""
    if name not in ESTIMATORS:
        raise ValueError(f"Unknown estimator {name!r}; choose one of {', '.join(ESTIMATORS)}.")
    return ESTIMATORS[name]


def apply(name: str, reports: Reports, mechanism: Mechanism, workload: Workload) -> Estimate:
    """Estimate from ``reports`` by the estimator ``name``. ValueError for an unknown name or foreign reports."""
    return improve(name, mechanism.estimate(reports), workload)


def improve(name: str, unbiased: Estimate, workload: Workload) -> Estimate:
    """The estimator ``name`` applied to an unbiased estimate already at hand."""
    if spec(name).name == "wnnls":
        return Estimate(wnnls.project(workload, unbiased.counts()), unbiased=False)
    return unbiased
