"""What a file of an earlier version may name and this one does not have any more: refused by its name, in one sentence."""

from __future__ import annotations

from typing import Any

from ldp_core.library import variants

GONE: dict[tuple[str, str, str], str] = {
    ("covering_sets", "", ""): "choose sampled_sets or optimized",
    ("hierarchical_2d", "reconstruction", "raw"): "choose consistent",
    **{(name, "reconstruction", "optimal"): "choose known_total" for name in ("rappor", "oue", "olh")},
}
"""What to choose in place of a mechanism, or of the value that a parameter of one has: by the names of all three."""


def refusal(document: Any) -> str:
    """Why a configuration file cannot be used by this version, in a sentence; empty where nothing has gone of what it names."""
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
