"""What the statements of the papers come to: their numbers, and a ValueError of one sentence where they say nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ldp_core.bounds.best import certificate
from ldp_core.bounds.closed_form import worst_from_average
from ldp_core.bounds.theorems import few_users, frequency
from ldp_core.bounds.theorems.statement import Setting
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.wording import magnitude
from ldp_core.workloads import AllRange, OnAttributes, Prefix, Union, WidthRange, Workload

FLAT = ("oue", "olh", "hrr")
"""Mechanisms whose counts have the variance V_F where few people are."""


def named(setting: Setting, *names: str) -> bool:
    """True if there is a mechanism, of one of these names."""
    return setting.mechanism is not None and setting.mechanism.name in names


def check_pure(setting: Setting) -> None:
    """Refuses a mechanism with a delta, of which a theorem for pure privacy says nothing."""
    if setting.mechanism is not None and setting.mechanism.delta > 0:
        raise ValueError("It is for pure epsilon, and this mechanism has a delta.")


# --- every unbiased mechanism (McKenna et al.) -------------------------------------------------------------------------


def variance(bound: Callable[[Workload, float], float]) -> Callable[[Setting], float]:
    """The average variance per user that a ``bound`` on the objective L stands for."""

    def number(setting: Setting) -> float:
        workload = setting.workload
        return max(0.0, (bound(workload, setting.epsilon) - workload.trace) / workload.n)

    return number


def certified(workload: Workload, epsilon: float) -> float:
    """The bound of a certificate."""
    return certificate(workload, epsilon).value


def check_certified(setting: Setting) -> None:
    """Refuses where there is no certificate."""
    workload = setting.workload
    known = workload.survey is not None or workload.symmetry_group.scheme is not None
    if workload.n > MOST_MATRIX_TYPES and not known:
        raise ValueError(
            f"Without a symmetry of the workload it needs an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are "
            f"{magnitude(workload.n)}. Use coarser bins."
        )
    check_pure(setting)


def check_average(setting: Setting) -> None:
    """Refuses where no average error is known to follow from."""
    if setting.mechanism is None:
        raise ValueError("It is about a mechanism whose average error is known, and this one has yet to be fitted.")
    check_pure(setting)


def worst_type(setting: Setting) -> float:
    """The limit of the worst type that follows from the average."""
    assert setting.mechanism is not None, "see `check_average`"
    average = float(setting.mechanism.variance_profile(setting.workload).mean())
    return worst_from_average(average, setting.workload, setting.epsilon)


# --- histograms of many users (Lopuhaä-Zwakenberg et al.) --------------------------------------------------------------


def histogram_of(workload: Workload) -> tuple[int, float] | None:
    """The number of values counted and the squared weight of each query, for a histogram of all
    types or of all values of one column; None for other questions.

    Theorem 4.5 holds for a column as for all types: with the other columns drawn by any fixed law, a report about all of
    them is an epsilon-LDP report about the column.
    """
    if isinstance(workload, Union) and len(workload.parts) == 1:
        histogram = histogram_of(workload.parts[0])
        return None if histogram is None else (histogram[0], histogram[1] * workload.weights[0] ** 2)
    base = ordered(workload)
    if isinstance(workload, OnAttributes) and math.prod(workload.shape[i] for i in workload.kept) != base.n:
        return None
    if base.symmetry != "exchangeable" or base.gram_sums[0] != base.gram_diag[0] or not base.gram_diag[0] > 0:
        return None
    return base.n, float(base.gram_diag[0])


def _histogram(setting: Setting) -> tuple[int, float]:
    if (histogram := histogram_of(setting.workload)) is None:
        raise ValueError(
            "It is about the histogram, one query for each value: no such theorem is known for other questions. The centred SVD "
            "bound averaged over populations takes its place."
        )
    return histogram


def check_likelihood(setting: Setting) -> None:
    """Refuses where the theorems about a mechanism's likelihood say nothing."""
    n, _ = _histogram(setting)
    if setting.mechanism is None:
        raise ValueError("It is about one mechanism; choose one.")
    if n != setting.workload.n:
        raise ValueError(
            "It is about a histogram of all types, and this one is of one column; the bounds without a mechanism hold."
        )
    if reason := frequency.why_not(setting.mechanism, setting.concentration):
        raise ValueError(reason)


def protocol_free(setting: Setting, error: str, form: str) -> float:
    """Theorem 4.5."""
    n, weight = _histogram(setting)
    return weight * frequency.large_sample(n, setting.epsilon, error, form, setting.concentration)


def of_mechanism(setting: Setting, name: str) -> float:
    """A figure of the mechanism's likelihood, see `frequency.figures_of`."""
    assert setting.mechanism is not None, "see `check_likelihood`"
    return _histogram(setting)[1] * frequency.figures_of(setting.mechanism, setting.concentration)[name][0]


# --- ranges (Cormode et al.) -------------------------------------------------------------------------------------------


def ordered(workload: Workload) -> Workload:
    """The questions about the attribute that they are about, whatever their weight."""
    if isinstance(workload, Union) and len(workload.parts) == 1:
        return ordered(workload.parts[0])
    return workload.base if isinstance(workload, OnAttributes) else workload


def over_ranges(formula: Callable[[int, float, int, np.ndarray], Any]) -> Callable[[Setting], float]:
    """The sum over the ranges asked of what a ``formula`` of n, epsilon, B and their lengths (k,) says of each."""

    def number(setting: Setting) -> float:
        workload = ordered(setting.workload)
        longest = getattr(workload, "width", workload.n)
        if not isinstance(workload, (Prefix, AllRange, WidthRange)):
            raise ValueError("It is about ranges of ordered types; this workload asks something else.")
        lengths = np.arange(1, longest + 1)
        many = np.ones(longest) if isinstance(workload, Prefix) else workload.n - lengths + 1.0
        tree = {} if setting.mechanism is None else setting.mechanism.parameters
        branching = int(tree.get("branching") or setting.branching)  # the one chosen where the mechanism is no tree
        each = formula(workload.n, setting.epsilon, branching, lengths)
        return float((many * each).sum()) * setting.workload.squared_weights / workload.num_queries

    return number


def check_design(setting: Setting, names: tuple[str, ...], what: str) -> None:
    """Refuses other mechanisms than those of these ``names``, which a formula about ranges is about, and ranges along one attribute."""
    if not named(setting, *names):
        raise ValueError(f"It is about {what}; this design has another mechanism.")
    if ordered(setting.workload).n != setting.workload.n:
        raise ValueError("It is about ranges of all types, and these are along one attribute.")


def check_tree(setting: Setting, reconstruction: str) -> None:
    """Refuses all but trees with a ``reconstruction``."""
    check_design(setting, ("hierarchical",), "the hierarchical mechanism")
    assert setting.mechanism is not None  # it is named
    parameters = setting.mechanism.parameters
    if (reconstructed := parameters.get("reconstruction")) != reconstruction:
        raise ValueError(f"It is about the reconstruction {reconstruction!r}; this design has {reconstructed!r}.")
    if (oracle := parameters.get("oracle")) not in FLAT:
        raise ValueError(f"It is about trees whose nodes are reported by OUE, OLH or HRR; this one has {oracle!r}.")
    if parameters.get("shares"):
        raise ValueError("It is about trees whose levels are picked evenly; this one has other shares.")


# --- few users (Bassily), where N times the square of an error of shares is on the scale of the others -----------------


def with_few_users(algorithm: str, form: str = "paper") -> Callable[[Setting], float]:
    """The bound of an ``algorithm`` (see `few_users`) or, of the ``form`` "order", the order that nothing beats. Those of the largest
    error count as if all errors were the largest."""

    def number(setting: Setting) -> float:
        workload, largest = setting.workload, algorithm == "adaptive"
        if algorithm == "histogram" and histogram_of(workload) != (workload.n, 1.0):
            raise ValueError("It is about the histogram, one query for each type; this workload asks something else.")
        d, N = workload.num_queries, setting.users
        r = _largest_entry(workload) if largest else workload.radius
        if form == "order":
            error = few_users.lower_order(algorithm, d, workload.n, N, setting.epsilon, r)
        elif largest:
            error = few_users.adaptive(d, N, setting.epsilon, r, form)
        else:
            delta, noise = noise_of(setting, form)
            error = few_users.bound(algorithm, d, workload.n, N, setting.epsilon, r, form, delta, noise).value
        return (d if largest else 1) * N * error**2

    return number


def _largest_entry(workload: Workload) -> float:
    try:
        return float(np.abs(workload.matrix).max())
    except ValueError:
        raise ValueError(
            "It is about the largest entry of the queries; these are too many here to be written out."
        ) from None


def noise_of(setting: Setting, form: str) -> tuple[float, float | None]:
    """The delta, 1e-6 where the design has none, and the variance of its own Gaussian noise as a multiple of r^2: None where it has none, and for
    the printed form."""
    mechanism = setting.mechanism
    delta = mechanism.delta if mechanism is not None and mechanism.delta > 0 else 1e-6
    noise = getattr(mechanism, "noise", None) if named(setting, "gaussian") and form == "sharp" else None
    return delta, None if noise is None else (noise.scale / setting.workload.radius) ** 2
