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
    if row["name"] in sweep.BOUNDS:
        return _bound(row, said)
    title = library.spec(row["name"]).title
    if row["reason"] and math.isnan(row[row["solved"]]):
        return f"{title}: {row['reason']}"
    people, epsilon, error = _people(row["users"]), row["epsilon"], row["standard_error"]
    typical = f"(standard error of a typical query, {analysis.CASES[row['case']]})"
    if row["solved"] == "users":
        needed, error = wording.users(row["users"]), said(error)
        return f"At epsilon {epsilon:g}, {title} needs {needed} for an error of {error} {typical}."
    if row["solved"] == "epsilon":
        epsilon, error = rounded(epsilon, up=True), said(error)
        return f"With {people}, {title} needs epsilon {epsilon:g} for an error of {error} {typical}.{_and(row)}"
    error = said(rounded(error, up=True))
    return f"With {people} and epsilon {epsilon:g}, {title} gives an error of {error} {typical}."


def _bound(row: Mapping[str, Any], said: Callable[[float], str]) -> str:
    nobody = "no unbiased epsilon-LDP mechanism"
    if row["reason"] and math.isnan(row[row["solved"]]):
        return f"What {nobody} can do: {row['reason']}"
    people, epsilon, error = _people(row["users"]), row["epsilon"], row["standard_error"]
    whose = f"({analysis.CASES[row['case']]})"
    if row["solved"] == "users" and row["users"] == 0:
        return f"At epsilon {epsilon:g} the lower bounds say nothing {whose}."
    if row["solved"] == "users":
        excluded, error = wording.at_least(row["users"]), said(error)
        return f"At epsilon {epsilon:g}, {nobody} has an error of {error} with fewer than {excluded} {whose}."
    if row["solved"] == "epsilon":
        epsilon, error = rounded(epsilon, up=False), said(error)
        return f"With {people}, {nobody} has an error of {error} at epsilon {epsilon:g} or below {whose}.{_and(row)}"
    error = said(rounded(error, up=False))
    return f"With {people} and epsilon {epsilon:g}, {nobody} has an error below {error} {whose}."


def _and(row: Mapping[str, Any]) -> str:
    """Why there may be a better epsilon."""
    return f" {row['reason']}" if row["reason"] else ""


def _people(users: float) -> str:
    return f"{wording.count(users)} user{'' if users == 1 else 's'}"


def rounded(value: float, up: bool, digits: int = 3) -> float:
    """``value`` rounded up or down to ``digits`` significant digits, but not for what looks like a rounding error."""
    if not value > 0 or not math.isfinite(value):
        return value
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return (math.ceil(value * scale * (1 - 1e-9)) if up else math.floor(value * scale * (1 + 1e-9))) / scale
