"""What the statements of the papers are about and what they come to: their assumptions, refusals and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ldp_core.bounds.best import certificate
from ldp_core.bounds.closed_form import worst_from_average
from ldp_core.bounds.theorems import few_users, frequency, ranges
from ldp_core.bounds.theorems.statement import Assumption, Setting
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.wording import magnitude
from ldp_core.workloads import AllRange, OnAttributes, Prefix, Union, WidthRange, Workload

DELTA = 1e-6
"""The delta of Gaussian noise where the design has none."""
FLAT = ("oue", "olh", "hrr")
"""Mechanisms whose counts have the variance V_F where few people are."""
IMPURE = "It is for pure epsilon, and this mechanism has a delta."


def is_pure(setting: Setting) -> bool:
    """True if the mechanism, as far as it says, has no delta."""
    return setting.mechanism is None or setting.mechanism.delta == 0


def impure(setting: Setting) -> str:
    """Why a theorem for pure privacy says nothing here."""
    return "" if is_pure(setting) else IMPURE


PURE = Assumption("Privacy is pure: no delta.", is_pure)


# --- every unbiased mechanism (McKenna et al.) -------------------------------------------------------------------------


def variance(objective: float, setting: Setting) -> float:
    """The average variance per user that an objective L stands for."""
    return max(0.0, (objective - setting.workload.trace) / setting.workload.n)


def certified(setting: Setting) -> float:
    """That of a certificate."""
    return variance(certificate(setting.workload, setting.epsilon).value, setting)


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
    base = workload.base if isinstance(workload, OnAttributes) else workload
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


def of_mechanism(setting: Setting, error: str, figure: Callable[..., tuple[float, float]]) -> float:
    """A figure of the mechanism's likelihood."""
    return _histogram(setting)[1] * figure(setting.mechanism, error, setting.concentration)[0]


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
    parameters = {} if setting.mechanism is None else setting.mechanism.parameters
    return int(parameters.get("branching", setting.branching))


def told(setting: Setting, name: str, otherwise: Any = None) -> Any:
    """A parameter of the mechanism, None without a mechanism."""
    return None if setting.mechanism is None else setting.mechanism.parameters.get(name, otherwise)


def is_one_of(setting: Setting, *names: str) -> bool | None:
    """True if the mechanism has one of these names."""
    return None if setting.mechanism is None else setting.mechanism.name in names


def counts_hold(setting: Setting) -> bool | None:
    """True if single counts have the variance V_F."""
    oracle = setting.mechanism and told(setting, "oracle", setting.mechanism.name)
    return None if oracle is None else oracle in ("oue", "olh")


def _lengths(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the ranges of a workload, and how many there are of each, times the square of their weight."""
    workload = ordered(setting.workload)
    weight = setting.workload.squared_weights / workload.num_queries
    if isinstance(workload, Prefix):
        return np.arange(1, workload.n + 1), np.full(workload.n, weight)
    if isinstance(workload, (AllRange, WidthRange)):
        longest = workload.width if isinstance(workload, WidthRange) else workload.n
        lengths = np.arange(1, longest + 1)
        return lengths, weight * (workload.n - lengths + 1.0)
    raise ValueError("It is about ranges of ordered types; this workload asks something else.")


def averaged(setting: Setting, average: Callable[[int, float, int], float]) -> float:
    """An average over ranges for as many questions as there are."""
    _lengths(setting)  # refuses other questions
    n = ordered(setting.workload).n
    return setting.workload.squared_weights * average(n, setting.epsilon, tree_branching(setting))


def _parameters(setting: Setting, names: tuple[str, ...], what: str) -> Any:
    if setting.mechanism is None or setting.mechanism.name not in names:
        raise ValueError(f"It is about {what}; this design has another mechanism.")
    return setting.mechanism.parameters


def _branching(setting: Setting, reconstruction: str) -> int:
    parameters = _parameters(setting, ("hierarchical",), "the hierarchical mechanism")
    if parameters.get("reconstruction") != reconstruction:
        raise ValueError(
            f"It is about the reconstruction {reconstruction!r}; this design has {parameters.get('reconstruction')!r}."
        )
    if parameters.get("oracle") not in FLAT:
        raise ValueError(
            f"It is about trees whose nodes are reported by OUE, OLH or HRR; this one has {parameters.get('oracle')!r}."
        )
    if parameters.get("shares"):
        raise ValueError("It is about trees whose levels are picked evenly; this one has other shares.")
    return int(parameters["branching"])


def flat(setting: Setting) -> float:
    """Fact 1."""
    _parameters(setting, FLAT, "ranges summed from the counts of OUE, OLH or HRR")
    lengths, counts = _lengths(setting)
    return float(counts @ lengths) * ranges.flat_error(setting.epsilon, 1)  # it is proportional to the length


def raw_bound(setting: Setting) -> float:
    """Theorem 4.3."""
    B, (lengths, counts) = _branching(setting, "raw"), _lengths(setting)
    total, low, reach = 0.0, 0, 1
    while low < len(lengths):  # it is the same for all lengths that reach as many levels
        high = min(reach, len(lengths))
        total += float(counts[low:high].sum()) * ranges.raw_bound(setting.workload.n, setting.epsilon, B, high)
        low, reach = high, reach * B
    return total


def consistent(setting: Setting) -> float:
    """Equation (2)."""
    B, (lengths, counts) = _branching(setting, "consistent"), _lengths(setting)
    logarithms = float(counts @ np.log(lengths)) / math.log(B)  # it is proportional to log_B r
    return logarithms * ranges.consistent_error(setting.workload.n, setting.epsilon, B, B)


def haar(setting: Setting) -> float:
    """Equation (3)."""
    _parameters(setting, ("haar",), "HaarHRR")
    return float(_lengths(setting)[1].sum()) * ranges.haar_bound(setting.workload.n, setting.epsilon)


# --- few users (Bassily), where N times the square of an error of shares is on the scale of the others -----------------


def gaussian(setting: Setting, form: str) -> float:
    """Theorem 3.2; the corrected form with the design's own noise where it has any."""
    mechanism = setting.mechanism
    delta = mechanism.delta if mechanism is not None and mechanism.delta > 0 else DELTA
    noise = getattr(mechanism, "noise", None) if mechanism is not None and mechanism.name == "gaussian" else None
    scale = noise.scale if form == "sharp" and noise is not None else None
    bound = few_users.gaussian(*setting.sizes, delta, setting.workload.radius, form, scale)
    return setting.users * bound.value**2


def rejection(setting: Setting) -> float:
    """Theorem 3.4."""
    return setting.users * few_users.rejection(*setting.sizes, setting.workload.radius).value ** 2


def projected(setting: Setting, form: str) -> float:
    """Theorem 4.2."""
    _check_histogram(setting)
    return setting.users * few_users.histogram(setting.workload.n, setting.users, setting.epsilon, form).value ** 2


def adaptive(setting: Setting, form: str) -> float:
    """Theorem 5.2, as if all errors were the largest."""
    d, largest = setting.workload.num_queries, setting.workload.largest_entry
    return d * setting.users * few_users.adaptive(d, setting.users, setting.epsilon, largest, form) ** 2


def enough_for_adaptive(setting: Setting) -> bool:
    """True if Theorem 5.2 says something of so many queries and users."""
    d, N = setting.workload.num_queries, setting.users
    return d >= 2 and 8 * d * math.log(N) <= N


def enough_for_rejection(setting: Setting) -> bool:
    """The same of Theorem 3.4."""
    return setting.users >= few_users.LEAST_USERS and setting.epsilon <= few_users.LARGEST_EPSILON


def lower_order(setting: Setting, algorithm: str) -> float:
    """An order of Table 1."""
    if algorithm == "histogram":
        _check_histogram(setting)
    largest = algorithm == "adaptive"
    radius = setting.workload.largest_entry if largest else setting.workload.radius
    order = few_users.lower_order(algorithm, *setting.sizes, radius)
    return (setting.workload.num_queries if largest else 1) * setting.users * order**2


def _check_histogram(setting: Setting) -> None:
    if histogram_of(setting.workload) != (setting.workload.n, 1.0):
        raise ValueError("It is about the histogram, one query for each type; this workload asks something else.")
