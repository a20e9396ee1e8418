"""What the statements of the papers are about and what they come to: their assumptions, refusals and numbers."""

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


def named(setting: Setting, *names: str) -> bool | None:
    """True if the mechanism has one of these names; None without a mechanism."""
    return None if setting.mechanism is None else setting.mechanism.name in names


def told(setting: Setting, name: str, otherwise: Any = None) -> Any:
    """A parameter of the mechanism, None without a mechanism."""
    return None if setting.mechanism is None else setting.mechanism.parameters.get(name, otherwise)


def is_pure(setting: Setting) -> bool:
    """True if the mechanism, as far as it says, has no delta."""
    return setting.mechanism is None or setting.mechanism.delta == 0


def impure(setting: Setting) -> str:
    """Why a theorem for pure privacy says nothing here."""
    return "" if is_pure(setting) else "It is for pure epsilon, and this mechanism has a delta."


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


def too_many_types(setting: Setting) -> str:
    """Why there is no certificate here."""
    workload = setting.workload
    known = workload.survey is not None or workload.symmetry_group.scheme is not None
    if workload.n > MOST_MATRIX_TYPES and not known:
        return (
            f"Without a symmetry of the workload it needs an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are "
            f"{magnitude(workload.n)}. Use coarser bins."
        )
    return impure(setting)


def no_average(setting: Setting) -> str:
    """Why nothing follows from the average error here."""
    if setting.mechanism is None:
        return "It is about a mechanism whose average error is known, and this one has yet to be fitted."
    return impure(setting)


def worst_type(setting: Setting) -> float:
    """The limit of the worst type that follows from the average."""
    assert setting.mechanism is not None, "see `no_average`"
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


def is_histogram(workload: Workload) -> bool:
    """True if the workload is a histogram of any weight, of all types or of one column."""
    return histogram_of(workload) is not None


def _histogram(setting: Setting) -> tuple[int, float]:
    if (histogram := histogram_of(setting.workload)) is None:
        raise ValueError(
            "It is about the histogram, one query for each value: no such theorem is known for other questions. The centred SVD "
            "bound averaged over populations takes its place."
        )
    return histogram


def no_likelihood(setting: Setting) -> str:
    """Why the theorems about a mechanism's likelihood say nothing here."""
    try:
        n, _ = _histogram(setting)
    except ValueError as error:
        return str(error)
    if setting.mechanism is None:
        return "It is about one mechanism; choose one."
    if n != setting.workload.n:
        return (
            "It is about a histogram of all types, and this one is of one column; the bounds without a mechanism hold."
        )
    return frequency.why_not(setting.mechanism, setting.concentration)


def protocol_free(setting: Setting, error: str, form: str) -> float:
    """Theorem 4.5."""
    n, weight = _histogram(setting)
    return weight * frequency.large_sample(n, setting.epsilon, error, form, setting.concentration)


def of_mechanism(setting: Setting, name: str) -> float:
    """A figure of the mechanism's likelihood, see `frequency.figures_of`."""
    assert setting.mechanism is not None, "see `no_likelihood`"
    return _histogram(setting)[1] * frequency.figures_of(setting.mechanism, setting.concentration)[name][0]


# --- ranges (Cormode et al.) -------------------------------------------------------------------------------------------


def ordered(workload: Workload) -> Workload:
    """The questions about the attribute that they are about, whatever their weight."""
    if isinstance(workload, Union) and len(workload.parts) == 1:
        return ordered(workload.parts[0])
    return workload.base if isinstance(workload, OnAttributes) else workload


def is_power(n: int, base: int) -> bool:
    """True if n is a power of ``base``."""
    while n % base == 0:
        n //= base
    return n == 1


def tree_branching(setting: Setting) -> int:
    """The branching factor of the mechanism's tree; the one that was chosen where it is no tree."""
    return int(told(setting, "branching") or setting.branching)


def counts_hold(setting: Setting) -> bool | None:
    """True if single counts have the variance V_F."""
    oracle = setting.mechanism and told(setting, "oracle", setting.mechanism.name)
    return None if oracle is None else oracle in ("oue", "olh")


def over_ranges(
    formula: Callable[[int, float, int, np.ndarray], Any], about: Callable[[Setting], str] = lambda setting: ""
) -> Callable[[Setting], float]:
    """The sum over the ranges asked of what a ``formula`` of n, epsilon, B and their lengths (k,) says of each. ``about`` says why it is about
    another mechanism, where it is about one."""

    def number(setting: Setting) -> float:
        if reason := about(setting):
            raise ValueError(reason)
        workload = ordered(setting.workload)
        longest = getattr(workload, "width", workload.n)
        if not isinstance(workload, (Prefix, AllRange, WidthRange)):
            raise ValueError("It is about ranges of ordered types; this workload asks something else.")
        lengths = np.arange(1, longest + 1)
        many = np.ones(longest) if isinstance(workload, Prefix) else workload.n - lengths + 1.0
        each = formula(workload.n, setting.epsilon, tree_branching(setting), lengths)
        return float((many * each).sum()) * setting.workload.squared_weights / workload.num_queries

    return number


def of_design(names: tuple[str, ...], what: str) -> Callable[[Setting], str]:
    """Why a formula about ranges says nothing of the mechanism, where it is about those of these names."""

    def reason(setting: Setting) -> str:
        if not named(setting, *names):
            return f"It is about {what}; this design has another mechanism."
        if ordered(setting.workload).n != setting.workload.n:
            return "It is about ranges of all types, and these are along one attribute."
        return ""

    return reason


def of_tree(reconstruction: str) -> Callable[[Setting], str]:
    """The same of trees with a ``reconstruction``."""
    hierarchical = of_design(("hierarchical",), "the hierarchical mechanism")

    def reason(setting: Setting) -> str:
        if other := hierarchical(setting):
            return other
        if (own := told(setting, "reconstruction")) != reconstruction:
            return f"It is about the reconstruction {reconstruction!r}; this design has {own!r}."
        if (oracle := told(setting, "oracle")) not in FLAT:
            return f"It is about trees whose nodes are reported by OUE, OLH or HRR; this one has {oracle!r}."
        even = not told(setting, "shares")
        return "" if even else "It is about trees whose levels are picked evenly; this one has other shares."

    return reason


# --- few users (Bassily), where N times the square of an error of shares is on the scale of the others -----------------


def few(algorithm: str, form: str = "paper") -> Callable[[Setting], float]:
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
    own = getattr(mechanism, "noise", None) if named(setting, "gaussian") and form == "sharp" else None
    return delta, None if own is None else (own.scale / setting.workload.radius) ** 2


def enough_for_adaptive(setting: Setting) -> bool:
    """True if Theorem 5.2 says something of so many queries and users."""
    d, N = setting.workload.num_queries, setting.users
    return d >= 2 and 8 * d * math.log(N) <= N


def enough_for_rejection(setting: Setting) -> bool:
    """The same of Theorem 3.4."""
    return setting.users >= few_users.LEAST_USERS and setting.epsilon <= few_users.LARGEST_EPSILON
