"""Curves: the people needed as epsilon grows, and what is proved of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, library
from ldp_core.mechanisms import ExplicitMechanism, Mechanism
from ldp_core.run import Cancel, cancellation
from ldp_core.workloads import Workload

QUICK_TYPES = 64
"""Up to this many types every mechanism that needs no fitting is built and judged in some milliseconds."""


def epsilons(chosen: float, points: int = 41) -> np.ndarray:
    """The epsilons of curves: from 0.1 to 5 in equal ratios. They stay the same while the
    ``chosen`` one moves inside, and extend to it where it lies beyond."""
    return np.geomspace(min(0.1, chosen), max(5.0, chosen), points)


def quick(mechanism: Mechanism) -> bool:
    """True if mechanisms like this one are built and judged at a number of epsilons in a second or two."""
    spec = library.spec(mechanism.name)
    return not spec.fitted and (
        mechanism.n <= QUICK_TYPES or (spec.closed_form and not isinstance(mechanism.drawn, ExplicitMechanism))
    )


def users_needed(
    name: str,
    workload: Workload,
    at: Sequence[float] | np.ndarray,
    case: analysis.Case,
    parameters: Mapping[str, Any] | None = None,
    cancel: Cancel | None = None,
) -> pd.DataFrame:
    """name, epsilon, users_needed of one mechanism until every question meets its target in a case; without the epsilons at which
    it cannot be built or judged."""
    rows, spec, cancelled = [], library.spec(name), cancellation(cancel)
    for epsilon in map(float, at):
        if cancelled():
            break
        if spec.unsuitable(workload.n, epsilon, workload):
            continue
        mechanism = library.create(name, n=workload.n, epsilon=epsilon, workload=workload, **dict(parameters or {}))
        users = analysis.people_needed(mechanism, workload, case=case)
        rows.append({"name": name, "epsilon": epsilon, "users_needed": users})
    return pd.DataFrame(rows, columns=["name", "epsilon", "users_needed"])


def users_bound(workload: Workload, at: Sequence[float] | np.ndarray, case: analysis.Case) -> pd.DataFrame:
    """name, epsilon, users_needed of the centred SVD bound: no unbiased epsilon-LDP mechanism needs fewer in the case, for the mean of the questions.

    Where only some values are secret, it says nothing: 0 people at every epsilon.

    The bound is a + b / sinh(epsilon/2)^2 (see `bounds.centred_svd`), so two of its values give
    all. The worst case uses the bound of people spread evenly, who need no more.
    """
    questionnaire, prior = (
        analysis.questionnaire_of(workload),
        None if case.prior is None or case.uniform else case.prior,
    )
    questions, one, two = questionnaire.workload, 2 * math.asinh(1), 2 * math.asinh(2)
    if not bounds.every_value_is_secret(questions):
        return pd.DataFrame({"name": "centred_svd", "epsilon": np.asarray(at, dtype=float), "users_needed": 0.0})
    first, second = (bounds.centred_svd(questions, epsilon, prior) for epsilon in (one, two))
    b = (first - second) * 4 / 3
    a, rows = first - b, []
    for epsilon in map(float, at):
        value = a + b / math.sinh(epsilon / 2) ** 2
        variance = (
            (value - questions.trace) / questions.n
            if prior is None
            else bounds.average_variance(value, questions, prior)
        )
        rows.append(
            {"name": "centred_svd", "epsilon": epsilon, "users_needed": max(0.0, variance) / questionnaire.norm}
        )
    return pd.DataFrame(rows)
