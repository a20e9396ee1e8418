"""The mechanism from a file: a strategy matrix that somebody brings along, which a design keeps as the text of an exact table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_SUPPLIED_CHARACTERS, MOST_SUPPLIED_ENTRIES
from ldp_core.mechanisms.explicit import ExplicitMechanism, audited, check_strategy
from ldp_core.mechanisms.quantised import quantised, rounded
from ldp_core.mechanisms.strategy_files import read_strategy
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.wording import rounded_up
from ldp_core.workloads import Workload
from ldp_core.workloads.matrix_part import pack, unpack

_TEXT = re.compile(r"([1-9][0-9]{0,6})x([1-9][0-9]{0,6}):([A-Za-z0-9+/=]*)")
_EXPLANATION = (
    "Each person sends one of {outputs:,} reports. Their probabilities for each type are from a supplied strategy matrix, "
    "not computed here."
)


def rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why no strategy matrix is taken for ``n`` types, None where one is."""
    most = (
        f"Strategy matrices are taken for at most {MOST_FITTED_TYPES:,} types; there are {n:,} here: use coarser bins."
    )
    return most if n > MOST_FITTED_TYPES else None


def packed(content: bytes, n: int, labels: Sequence[str] | None = None) -> str:
    """The strategy matrix in a file as the parameter of the mechanism.

    The table is exact. It keeps the epsilon that was meant, of up to nine decimals, where the file is off by rounding only.

    Parameters
    ----------
    content : the file, see `ldp_core.mechanisms.strategy_files.read_strategy`.
    n : the number of types.
    labels : the names of the types, by which columns are found.

    Returns
    -------
    str
        ``"{reports}x{types}:{table}"``, the table as `ldp_core.workloads.matrix_part.pack` writes it.

    Raises
    ------
    ValueError
        One sentence, where the file has no strategy, or one that keeps no epsilon or is too large.
    """
    strategy = read_strategy(content, n, labels)
    _check_size(*strategy.shape)
    meant = max(round(_epsilon(strategy), 9), MIN_EPSILON)
    try:
        table = quantised(strategy, meant)
    except ValueError:
        table = rounded(strategy)
    text = f"{len(table)}x{n}:{pack(table)}"
    if len(text) > MOST_SUPPLIED_CHARACTERS:
        raise ValueError(
            f"The strategy would take {len(text) / 1e6:.1f} MB in the file of the design, packed, and "
            f"{MOST_SUPPLIED_CHARACTERS / 1e6:g} MB are allowed: merge reports, or use coarser bins."
        )
    return text


def build(n: int, epsilon: float, matrix: str | None = None) -> ExplicitMechanism:
    """The mechanism of a strategy matrix from a file, audited in exact arithmetic.

    Parameters
    ----------
    n : the number of types.
    epsilon : what is allowed; the matrix may give less away, never more.
    matrix : what `packed` made of the file.

    Raises
    ------
    ValueError
        One sentence, where there is no file, its text was altered, it is for other types, or it does not keep ``epsilon``.
    """
    if matrix is None:
        raise ValueError(
            "Its file is missing: choose this mechanism on the Design page and upload its strategy matrix."
        )
    table = _unpacked(matrix)
    if table.shape[1] != n:
        raise ValueError(f"It is for {table.shape[1]:,} types and there are {n:,} here: upload one for these.")
    if (least := _epsilon(table)) > epsilon:
        shown = rounded_up(least, 6)
        raise ValueError(
            f"A report can be e^{shown} times as likely for one person as for another, and your epsilon is {epsilon:g}: "
            f"choose at least {shown} on the Design page, or another mechanism."
        )
    return ExplicitMechanism("own", table, epsilon, explanation=_EXPLANATION.format(outputs=len(table)))


def _unpacked(text: str) -> np.ndarray:
    """(m, n) the exact table that `packed` wrote. ValueError, one sentence, for any other text."""
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError("The text of the strategy matrix is damaged: upload its file again.")
    reports, types = int(found[1]), int(found[2])
    _check_size(reports, types)
    table = check_strategy(unpack(found[3], reports, types))
    if not np.array_equal(rounded(table), table):
        raise ValueError("The strategy is not in whole steps of 2^-53 that sum to 1 exactly: upload its file again.")
    return table


def _check_size(reports: int, types: int) -> None:
    if types > MOST_FITTED_TYPES or reports * types > MOST_SUPPLIED_ENTRIES:
        raise ValueError(
            f"The strategy has {reports:,} reports and {types:,} types; at most {MOST_FITTED_TYPES:,} types and "
            f"{MOST_SUPPLIED_ENTRIES:,} numbers are taken: use coarser bins, or merge reports."
        )


def _epsilon(strategy: np.ndarray) -> float:
    """The epsilon of a strategy (m, n), never below the true one. ValueError, one sentence, where it has none that is allowed."""
    epsilon, _ = audited(strategy)
    if math.isinf(epsilon):
        y, u = (int(place) for place in np.argwhere(strategy == 0)[0])
        raise ValueError(
            f"The strategy gives no epsilon at all: people of type {u + 1} never send report {y + 1} and others do, so that it "
            "rules them out. Every probability must be above 0."
        )
    if epsilon > MAX_EPSILON:
        raise ValueError(
            f"The strategy gives epsilon {rounded_up(epsilon, 6)}, and at most {MAX_EPSILON:g} is allowed: its reports all but "
            "reveal the type."
        )
    return epsilon
