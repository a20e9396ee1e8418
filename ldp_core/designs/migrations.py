"""Documents of older versions, step by step to the present one."""

import math
from collections.abc import Callable
from typing import Any

from ldp_core.data.population import declare_categories, declare_range
from ldp_core.data.tables.numbers import range_attribute
from ldp_core.designs.problems import ConfigurationError
from ldp_core.library.variants import is_variant

# Defaults of version 2 for settings of a column, or of a declared domain, that a file left out.
_TREATMENT = {
    "kind": None,
    "header": True,
    "method": "equal_width",
    "bins": 32,
    "edges_text": "",
    "missing": "drop",
    "outside": "refuse",
    "non_numbers": "refuse",
    "rare_below": 0,
}
_DECLARED = {
    "source": "declared",
    "kind": None,
    "name": "",
    "categories_text": "",
    "low_text": "",
    "high_text": "",
    "bins": 32,
    "integer": False,
}


def migrate(document: dict[str, Any], current: int) -> dict[str, Any]:
    """The document in the format of version ``current``. ConfigurationError, one sentence, where its version is newer or
    unknown, or where the document does not fit its version."""
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise ConfigurationError(f'The configuration must give its version as a number, such as "version": {current}.')
    if version > current:
        raise ConfigurationError(
            f"The configuration was made by a newer version of this program (format {version}, here {current}): "
            "update the program to load it."
        )
    while version < current:
        if version not in MIGRATIONS:
            raise ConfigurationError(
                f"The configuration has format version {version}, which is unknown: the current one is {current}."
            )
        try:
            document = MIGRATIONS[version](document)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise ConfigurationError(
                f"The configuration says it has format version {version} but does not look like it: export it again."
            ) from None
        version += 1
        document = {**document, "version": version}
    return document


def _aims_for_the_average(document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 optimised for the average over the types, until it converged, and had no other choice to record."""
    optimizer = {**document["optimizer"], "aim": "average", "histogram": None, "time_limit": None}
    return {**document, "optimizer": optimizer}


def _one_attribute(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 had one attribute, whose texts were kept as typed, and one of the papers' workloads."""
    data, workload = document["data"], document["workload"]
    if data is not None:
        data = _declared(data) if data["source"] == "declared" else _from_table(data)
    if workload is not None:
        known = _filled(workload, {"kind": None, "parameters": {}})
        workload = {"parts": [{"kind": "types", "family": known["kind"], "parameters": known["parameters"]}]}
    return {**document, "data": data, "workload": workload}


def _without_news(document: dict[str, Any]) -> dict[str, Any]:
    """Version 3 had shapes of populations without parameters, no public facts, rectangles or variants of mechanisms; the rest is as it was."""
    population, simulation = document.get("population"), document.get("simulation")
    if isinstance(population, dict) and population.get("shape") in ("cauchy", "dirichlet"):
        raise ValueError("a shape of a later version")
    if isinstance(simulation, dict) and "facts" in simulation:
        raise ValueError("facts of a later version")
    workload = document.get("workload")
    parts = workload.get("parts") if isinstance(workload, dict) else None
    if isinstance(parts, list) and any(isinstance(part, dict) and part.get("kind") == "rectangles" for part in parts):
        raise ValueError("rectangles, of a later version")
    compared = document.get("compared")
    if isinstance(compared, list) and any(isinstance(name, str) and is_variant(name) for name in compared):
        raise ValueError("variants of mechanisms, of a later version")
    return document


def _with_a_target_of_its_own(document: dict[str, Any]) -> dict[str, Any]:
    """Version 4 had a target error that was always given, never taken from the answers."""
    if "difference" in document:
        raise ValueError("a difference of a later version")
    return {**document, "difference": None}


def _without_own(document: dict[str, Any]) -> dict[str, Any]:
    """Version 5 had no strategy matrices of one's own."""
    if "own" in document:
        raise ValueError("matrices of a later version")
    return {**document, "own": []}


def _about_all_types(document: dict[str, Any]) -> dict[str, Any]:
    """Version 6 made reports about all types, whatever the questions distinguish. It had no priors of estimates, and the same people
    in every trial."""
    if "types" in document:
        raise ValueError("types of a later version")
    simulation = document.get("simulation")
    if isinstance(simulation, dict) and {"new_people", "prior", "prior_people"} & set(simulation):
        raise ValueError("settings of trials of a later version")
    return {**document, "types": "all"}


def _from_table(data: dict[str, Any]) -> dict[str, Any]:
    treatment = _filled(data["treatment"], _TREATMENT)
    rest = {key: value for key, value in data.items() if key not in ("column", "treatment")}
    if data["source"] == "upload":  # it never guessed whether there is a header
        rest["reading"] = {"header": treatment["header"]}
    return {**rest, "recipes": [_from_column(data["column"], treatment)]}


def _from_column(column: str, treatment: dict[str, Any]) -> dict[str, Any]:
    both = {"column": column, "kind": treatment["kind"], "missing": treatment["missing"]}
    outside = treatment["outside"]
    if treatment["kind"] == "categorical":
        outside = "refuse" if outside == "clamp" else outside
        return {**both, "outside": outside, "rare_below": treatment["rare_below"]}
    same = {key: treatment[key] for key in ("method", "bins", "non_numbers")}
    own = {"edges": _numbers(treatment["edges_text"])} if treatment["method"] == "own_edges" else {}
    return {**both, **same, **own, "outside": outside}


def _declared(data: dict[str, Any]) -> dict[str, Any]:
    data = _filled(data, _DECLARED)
    recipe = {"column": data["name"], "kind": data["kind"]}
    if data["kind"] == "categorical":
        recipe["categories"] = list(declare_categories(data["name"], data["categories_text"]).values)
    else:
        recipe |= _range(data["name"], float(data["low_text"]), float(data["high_text"]), data["bins"], data["integer"])
    return {"source": "declared", "recipes": [recipe]}


def _range(name: str, low: float, high: float, bins: int, integer: bool) -> dict[str, Any]:
    """A range where that gives the bins of version 2, else their edges: wide whole-number bins began at round ones."""
    before = declare_range(name, low, high, bins, integer)
    same = {"bins": bins, "integer": integer}
    if tuple(range_attribute(None, name=name, low=low, high=high, bins=bins, integer=integer).edges) == before.edges:
        return {"method": "range", "low": low, "high": high, **same}
    return {"method": "own_edges", "edges": list(before.edges), **same}


def _filled(given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    if unknown := set(given) - set(defaults):
        raise ValueError(f"unknown settings: {', '.join(unknown)}")
    return {**defaults, **given}


def _numbers(text: str) -> list[float]:
    numbers = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    if not all(map(math.isfinite, numbers)):
        raise ValueError("edges must be finite")
    return numbers


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _aims_for_the_average,
    2: _one_attribute,
    3: _without_news,
    4: _with_a_target_of_its_own,
    5: _without_own,
    6: _about_all_types,
}
"""Version v -> the function that turns a document of version v into one of v + 1."""
