"""The rows of a plan, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ldp_core import analysis, library, wording
from ldp_core.studies import sweep


def in_words(row: Mapping[str, Any], said: Callable[[float], str] = wording.error) -> str:
    """A sentence for one row of `plan`, as a Series or a dictionary; errors as ``said``, percentage points of all users.

    The number solved for is rounded so that the sentence stays true: up what a mechanism needs, down what is excluded.
    """
    bound, solved, case = row["name"] in sweep.BOUNDS, row["solved"], analysis.CASES[row["case"]]
    title = "no unbiased epsilon-LDP mechanism" if bound else library.spec(row["name"]).title
    if row["reason"] and math.isnan(row[solved]):
        return f"What {title} can do: {row['reason']}" if bound else f"{title}: {row['reason']}"
    whose = f"({case})" if bound else f"(standard error of a typical query, {case})"
    epsilon, error = (
        rounded(row[column], not bound) if solved == column else row[column] for column in ("epsilon", "standard_error")
    )
    users = f"{wording.count(row['users'])} user{'' if row['users'] == 1 else 's'}"
    more = f" {row['reason']}" if row["reason"] else ""  # why there may be a better epsilon
    if solved == "users":
        if bound and row["users"] == 0:
            return f"At epsilon {epsilon:g} the lower bounds say nothing {whose}."
        fewer = f"has an error of {said(error)} with fewer than {wording.at_least(row['users'])}"
        needs = f"needs {wording.users(row['users'])} for an error of {said(error)}"
        return f"At epsilon {epsilon:g}, {title} {fewer if bound else needs} {whose}."
    if solved == "epsilon":
        at = f"has an error of {said(error)} at epsilon {epsilon:g} or below"
        return f"With {users}, {title} {at if bound else f'needs epsilon {epsilon:g} for an error of {said(error)}'} {whose}.{more}"
    gives = f"has an error below {said(error)}" if bound else f"gives an error of {said(error)}"
    return f"With {users} and epsilon {epsilon:g}, {title} {gives} {whose}."


def rounded(value: float, up: bool, digits: int = 3) -> float:
    """``value`` rounded up or down to ``digits`` significant digits, but not for what looks like a rounding error."""
    if not value > 0 or not math.isfinite(value):
        return value
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return (math.ceil(value * scale * (1 - 1e-9)) if up else math.floor(value * scale * (1 + 1e-9))) / scale
