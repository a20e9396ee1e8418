"""From reports to answers. All post-processing is free of privacy cost; what it may cost is unbiasedness, and it says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldp_core.estimators import norm_sub, polytope, wnnls
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
            "the closest answers that counts of zero or more could give; biased, but never a larger total error",
            unbiased=False,
        ),
        EstimatorSpec(
            "norm_sub",
            "Non-negative, known total (Norm-Sub)",
            "Norm-Sub",
            "the closest counts that are never negative and sum to the number of people; biased, rare types tend to 0",
            unbiased=False,
        ),
        EstimatorSpec(
            "polytope",
            "Projected answers (Bassily)",
            "projected",
            "the closest answers whose counts sum to at most the number of people, signs left out; pays with few people and "
            "many queries",
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
    return improve(name, mechanism.estimate(reports), workload, reports.users)


def improve(name: str, unbiased: Estimate, workload: Workload, users: float | None = None) -> Estimate:
    """The estimator ``name`` applied to an unbiased estimate already at hand, of ``users`` people (None: as estimated).

    ValueError for an unknown name, or for Norm-Sub where the reports do not identify the counts.
    """
    if spec(name).unbiased:
        return unbiased
    counts, identified = unbiased.estimated_counts, unbiased.identified
    users = max(0.0, float(np.sum(counts))) if users is None else users
    if name == "norm_sub":
        if not identified:
            raise ValueError(
                "Norm-Sub mends counts, but these reports only tell the answers; choose WNNLS or unbiased."
            )
        return Estimate(norm_sub.project(counts, users), unbiased=False)
    if name == "wnnls":
        return Estimate(wnnls.project(workload, counts), unbiased=False, identified=identified)
    return Estimate(polytope.project(workload, counts, users), unbiased=False, identified=identified)
