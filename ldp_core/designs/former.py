"""Files of the version before: what it took for granted is written out, and what has gone since is refused by its name, in one sentence."""

from __future__ import annotations

import math
from typing import Any

from ldp_core.library import variants

GONE: dict[tuple[str, str, str], str] = {
    ("covering_sets", "", ""): "choose sampled_sets or optimized",
    ("hierarchical_2d", "reconstruction", "raw"): "choose consistent",
    **{(name, "reconstruction", "optimal"): "choose known_total" for name in ("rappor", "oue", "olh")},
}
"""What to choose in place of a mechanism, or of the value that a parameter of one has: by the names of all three."""


def from_version_9(document: Any) -> Any:
    """A configuration of version 9 as one of version 10. It had one target error, for shares of everybody; differences were of numbers of people
    unless they said otherwise."""
    if not isinstance(document, dict) or document.get("version") != 9:
        return document
    gone = ["target_alpha", "difference", "detection", *([] if document.get("own") else ["own"])]
    found = {key: value for key, value in document.items() if key not in gone}
    found |= {"version": 10, "targets": None, "planning": "people", "rates": None}
    alpha, workload, simulation = (document.get(key) for key in ("target_alpha", "workload", "simulation"))
    if isinstance(simulation, dict):
        found["simulation"] = {key: value for key, value in simulation.items() if key != "prior_people"}
    if document.get("difference") is None and isinstance(alpha, float | int) and alpha > 0:
        found["targets"] = {"points": 100 * math.sqrt(alpha)}
    if isinstance(workload, dict) and isinstance(workload.get("parts"), list):
        parts = [
            {"shares": False, **part} if isinstance(part, dict) and part.get("kind") == "difference" else part
            for part in workload["parts"]
        ]
        found["workload"] = {**workload, "parts": parts}
    return found


def refusal(document: Any) -> str:
    """Why a configuration file cannot be used by this version, in a sentence; empty where nothing has gone of what it names."""
    if document.get("own"):
        return (
            "The design brings strategy matrices along as version 9 kept them, and this version does not read those: make a new design and "
            "upload the matrix that it uses on the Design page."
        )
    try:
        recipe = document["mechanism"]
        named = [(recipe["name"], recipe["parameters"]), *map(_split, document["compared"])]
    except (KeyError, TypeError, ValueError):  # a damaged file, which is said elsewhere
        return ""
    for name, parameters in named:
        for (mechanism, parameter, value), instead in GONE.items():
            if name == mechanism and parameters.get(parameter, "") == value:
                what = f"{parameter} {value!r} of {mechanism}" if parameter else f"mechanism {mechanism!r}"
                return f"The design names the {what}, which this version does not have any more: {instead}."
    return ""


def _split(name: str) -> tuple[str, dict[str, str]]:
    return variants.split(name) or (name, {})
