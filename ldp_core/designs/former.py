"""Files of the version before: what it took for granted is written out, and what has gone since is refused by its name, in one sentence."""

from __future__ import annotations

import json
import math
from typing import Any

from ldp_core.data.domain import Domain
from ldp_core.library import variants
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.trees import hierarchical

GONE: dict[tuple[str, str, str], str] = {
    ("covering_sets", "", ""): "choose sampled_sets or optimized",
    ("hierarchical_2d", "reconstruction", "raw"): "choose consistent",
    ("optimized_gradient", "algorithm", "literal"): "leave it out",
    **{
        ("optimized_gradient", "start", value): "leave it out"
        for value in ("randomized_response", "hadamard", "hierarchical")
    },
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
    return found | _with_trees_of_version_9(document)


def _with_trees_of_version_9(document: dict[str, Any]) -> dict[str, Any]:
    """The mechanism and those compared, trees with the defaults of their day written out: Hadamard response with the optimal
    reconstruction where its strategy could be held, else OUE with the consistent one. Empty for a damaged file, which is said elsewhere."""
    try:
        chosen, compared, n = document["mechanism"], [], _types_asked(document)
        fits = 3 * n * n <= MOST_STRATEGY_ENTRIES

        def settled(parameters: dict[str, Any]) -> dict[str, Any]:
            oracle = parameters.get("oracle", "hadamard" if fits else "oue")
            optimal = fits and oracle in hierarchical.ORACLES
            return {"oracle": oracle, "reconstruction": "optimal" if optimal else "consistent", **parameters}

        for name in document["compared"]:
            mechanism, texts = _split(name)
            alone = name == mechanism == chosen["name"]  # it stands for the chosen one
            if mechanism == "hierarchical" and not alone:
                name = f"{mechanism}({', '.join(f'{key}={text}' for key, text in settled(texts).items())})"
            compared.append(name)
        if chosen["name"] == "hierarchical":
            chosen = {**chosen, "parameters": settled(chosen["parameters"])}
        return {"mechanism": chosen, "compared": compared}
    except (KeyError, TypeError, ValueError):
        return {}


def _types_asked(document: dict[str, Any]) -> int:
    """About how many combinations of secret values the questions distinguish; 1 without a domain."""
    if document["domain"] is None:
        return 1
    attributes = Domain.model_validate_json(json.dumps(document["domain"])).attributes
    every, questions = document["types"] == "all", json.dumps(document["workload"])
    return math.prod(a.size for a in attributes if not a.known and (every or json.dumps(a.name) in questions))


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
