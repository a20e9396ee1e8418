"""The formulas of Cormode, Kulkarni and Srivastava 2019 for ranges, and McKenna et al.'s limit of the worst case, for comparison
with exact errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ldp_core.bounds import ranges
from ldp_core.bounds.scales import worst_from_average
from ldp_core.bounds.statements.statement import Assumption, Setting, Statement, is_pure
from ldp_core.workloads import AllRange, OnAttributes, Prefix, Union, WidthRange, Workload

PAPER = "Cormode, Kulkarni and Srivastava 2019"
FLAT = ("oue", "olh", "hrr")
"""Mechanisms whose counts have the variance V_F where few people are."""
MANY_TYPES = 4096
"""From here on the mean of ln r over all ranges is within 0.001 of its limit."""


def _counts_hold(setting: Setting) -> bool | None:
    if setting.mechanism is None:
        return None
    return setting.mechanism.parameters.get("oracle", setting.mechanism.name) in ("oue", "olh")


def _told(setting: Setting, name: str) -> Any:
    return None if setting.mechanism is None else setting.mechanism.parameters.get(name)


def _whole(setting: Setting) -> bool:
    return _is_power(_ordered(setting.workload).n, _tree_branching(setting))


def _tree_branching(setting: Setting) -> int:
    """The branching factor of the mechanism's tree; the one that was chosen where it is no tree."""
    parameters = {} if setting.mechanism is None else setting.mechanism.parameters
    return int(parameters.get("branching", setting.branching))


def _is_power(n: int, base: int) -> bool:
    while n % base == 0:
        n //= base
    return n == 1


COUNTS = Assumption(
    r"Counts have the variance $V_F = 4 e^\varepsilon/(e^\varepsilon - 1)^2$ of types that few people have; HRR's is larger by 1.",
    _counts_hold,
)
WHOLE = Assumption("The number of types is a power of the branching factor.", _whole)
FEWEST_NODES = Assumption(
    "The mechanism is a tree, every person picks a level evenly, and ranges are answered from the fewest nodes.",
    lambda setting: _told(setting, "reconstruction") == "raw" and not _told(setting, "shares"),
)


ALL_RANGES = Assumption(
    "The questions are all ranges. Other workloads are treated as the same number of ranges drawn at random.",
    lambda setting: isinstance(_ordered(setting.workload), AllRange),
)


def _ordered(workload: Workload) -> Workload:
    """The questions about the attribute that they are about, whatever their weight."""
    if isinstance(workload, Union) and len(workload.parts) == 1:
        return _ordered(workload.parts[0])
    return workload.base if isinstance(workload, OnAttributes) else workload


def _lengths(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the ranges of a workload, and how many there are of each, times the square of their weight."""
    workload = _ordered(setting.workload)
    weight = setting.workload.squared_weights / workload.num_queries
    if isinstance(workload, Prefix):
        return np.arange(1, workload.n + 1), np.full(workload.n, weight)
    if isinstance(workload, (AllRange, WidthRange)):
        longest = workload.width if isinstance(workload, WidthRange) else workload.n
        lengths = np.arange(1, longest + 1)
        return lengths, weight * (workload.n - lengths + 1.0)
    raise ValueError("It is about ranges of ordered types; this workload asks something else.")


def _averaged(setting: Setting, average: Callable[[int, float, int], float]) -> float:
    _lengths(setting)  # refuses other questions
    n = _ordered(setting.workload).n
    return setting.workload.squared_weights * average(n, setting.epsilon, _tree_branching(setting))


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


def _flat(setting: Setting) -> float:
    _parameters(setting, FLAT, "ranges summed from the counts of OUE, OLH or HRR")
    lengths, counts = _lengths(setting)
    return float(counts @ lengths) * ranges.flat_error(setting.epsilon, 1)  # it is proportional to the length


def _raw_bound(setting: Setting) -> float:
    B, (lengths, counts) = _branching(setting, "raw"), _lengths(setting)
    total, low, reach = 0.0, 0, 1
    while low < len(lengths):  # it is the same for all lengths that reach as many levels
        high = min(reach, len(lengths))
        total += float(counts[low:high].sum()) * ranges.raw_bound(setting.workload.n, setting.epsilon, B, high)
        low, reach = high, reach * B
    return total


def _consistent(setting: Setting) -> float:
    B, (lengths, counts) = _branching(setting, "consistent"), _lengths(setting)
    logarithms = float(counts @ np.log(lengths)) / math.log(B)  # it is proportional to log_B r
    return logarithms * ranges.consistent_error(setting.workload.n, setting.epsilon, B, B)


def _haar(setting: Setting) -> float:
    _parameters(setting, ("haar",), "HaarHRR")
    _, counts = _lengths(setting)
    return float(counts.sum()) * ranges.haar_bound(setting.workload.n, setting.epsilon)


def _printed(setting: Setting) -> float:
    return _averaged(setting, ranges.range_error)


def _corrected(setting: Setting) -> float:
    return _averaged(setting, ranges.range_error_averaged)


def _no_average(setting: Setting) -> str:
    if setting.mechanism is None:
        return "It is about a mechanism whose average error is known, and this one has yet to be fitted."
    return "" if is_pure(setting) else "It is for pure epsilon, and this mechanism has a delta."


def _worst_from_average(setting: Setting) -> float:
    assert setting.mechanism is not None, "see `_no_average`"
    average = float(setting.mechanism.variance_profile(setting.workload).mean())
    return worst_from_average(average, setting.workload, setting.epsilon)


WORST_FROM_AVERAGE = Statement(
    name="worst_from_average",
    title="Theorem 5.1 (McKenna et al.), worst type",
    kind="prediction",
    words="Nobody's values make the error larger than this, which follows from the average error alone. It is compared with the "
    "exact error of the worst type.",
    latex=r"\max_u t_u \le e^{\varepsilon} \Bigl(\tfrac1n \textstyle\sum_u t_u + \tfrac1n \lVert W \rVert_F^2\Bigr)",
    assumptions=(Assumption("Privacy is pure: no delta.", is_pure), Assumption("Answers are unbiased.")),
    source="McKenna et al. 2020, Theorem 5.1",
    why_not=_no_average,
    compute=_worst_from_average,
    costly=True,
)


def _prediction(
    name: str, title: str, words: str, latex: str, source: str, compute: Callable[[Setting], float], *more: Assumption
) -> Statement:
    return Statement(
        name=name,
        title=title,
        kind="prediction",
        words=words,
        latex=latex,
        assumptions=(COUNTS, *more),
        source=f"{PAPER}, {source}",
        compute=compute,
    )


STATEMENTS = (
    WORST_FROM_AVERAGE,
    _prediction(
        "flat_ranges",
        "Ranges without a tree",
        "A range summed from single counts has the variance of as many counts as it has types; all ranges have (n + 2)/3 types on "
        "average.",
        r"V_r = r\, V_F, \qquad \overline{V} = \frac{n + 2}{3}\, V_F",
        "Fact 1 and Lemma 4.2",
        _flat,
    ),
    _prediction(
        "raw_tree_bound",
        "Raw tree, at most",
        "A range is made up of at most 2 B - 1 nodes on each level it reaches. This bounds every range, short ones by far.",
        r"V_r \le (2B - 1)\, V_F\, h\, (\lceil \log_B r \rceil + 1), \qquad h = \lceil \log_B n \rceil",
        "Theorem 4.3, equation (1)",
        _raw_bound,
        FEWEST_NODES,
    ),
    _prediction(
        "raw_tree_average",
        "Theorem 4.5 (Cormode et al.)",
        "The average error of a range from a tree without consistency (HH_B), as printed. It is no bound: at epsilon up to 1.1 and "
        "256 types exact errors of OUE are 0.27 to 0.37 of it, and with HRR at epsilon 4 they lie above it. The theorem of the same "
        "number by Lopuhaä-Zwakenberg et al. is about histograms.",
        r"\overline{V} \approx 2 (B - 1)\, V_F \log_B n \, \log_B \frac{3 n^2}{1 + 2 n}",
        "Theorem 4.5",
        _printed,
        WHOLE,
        FEWEST_NODES,
        ALL_RANGES,
    ),
    _prediction(
        "raw_tree_average_corrected",
        "Theorem 4.5 (Cormode et al.), averaged exactly",
        "The exact average behind the printed form. The last step of the paper's derivation is too large by 46 % at 256 types, and "
        "by 20 % at 65,536.",
        r"\overline{V} \to 2 (B - 1)\, V_F \log_B n \; \frac{\ln n - 3/2}{\ln B}",
        "Theorem 4.5, its average re-derived by this project",
        _corrected,
        WHOLE,
        ALL_RANGES,
        Assumption(
            f"There are many types, say {MANY_TYPES:,}.", lambda setting: _ordered(setting.workload).n >= MANY_TYPES
        ),
    ),
    _prediction(
        "consistent_tree",
        "Consistent tree",
        "Least squares over the whole tree. The formula is made for long ranges, where it lies above the exact variance; it says 0 "
        "for single types.",
        r"V_r \approx \frac{B + 1}{2}\, V_F \log_B r \, \log_B n",
        "Lemma 4.6 and equation (2)",
        _consistent,
        WHOLE,
    ),
    _prediction(
        "haar",
        "Haar wavelets",
        "Every range takes two coefficients a level at most. It bounds all ranges up to an epsilon of about 1.9; beyond, the noise of "
        "HRR does not fall as V_F does.",
        r"V_r \le \tfrac12 (\log_2 n)^2\, V_F",
        "Section 4.6, equation (3)",
        _haar,
        Assumption("The number of types is a power of two.", lambda setting: _is_power(setting.workload.n, 2)),
    ),
)
