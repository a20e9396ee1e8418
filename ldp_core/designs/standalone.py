"""The setting of a configuration outside the app.

setting = ready(load_configuration(content))        # domain, workload, people
setting.users_needed(setting.build("haar"), "worst_case")
setting = realise(bundle.configuration, bundle)     # and the mechanism of the design, from its file
setting.chosen_mechanism
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from ldp_core import library
from ldp_core.data import columns, tables
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.data.domain.attributes import build
from ldp_core.designs.bundle import Bundle
from ldp_core.designs.configuration import Configuration, DataChoice, Population, UploadedData, WorkloadRecipe
from ldp_core.designs.fits import NotFitted
from ldp_core.designs.results import Results
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Cancel
from ldp_core.workloads import HistogramPart, ItemsPart

SAMPLES = Path(__file__).parents[2] / "sample_data"
NO_ROWS = (
    "The data itself is not in the file. Errors are for people spread evenly over the types until the table is given."
)
Table: TypeAlias = pd.DataFrame | tables.LocalTable


def realise(configuration: Configuration, bundle: Bundle | None = None, fit: bool = True) -> Setting:
    """A setting with the mechanism of the design built, from the ``bundle`` where that holds its fit.

    ValueError, one sentence, where something is not available; `NotFitted` where a fit is missing and is not to be made
    (``fit`` is False).
    """
    setting = ready(configuration)
    adopt(setting, bundle)
    spec = library.spec(configuration.mechanism.name)
    if not fit and spec.fitted and setting.fitted(spec.name) is None:
        raise NotFitted(
            f"The file lacks the strategy of its mechanism ({spec.title}): optimise it, and export it again."
        )
    setting.build(spec.name)
    return setting


def adopt(setting: Setting, bundle: Bundle | None) -> Mechanism | None:
    """Use the fitted mechanism of a file, if it holds one, in this setting; else what it records as having taken no search."""
    mechanism = None if bundle is None else mechanism_of(bundle)
    if mechanism is not None:
        setting.use(mechanism)
    elif bundle is not None:
        setting.unsearched(bundle.configuration.mechanism.name, bundle.recorded_parameters)
    return mechanism


def ready(configuration: Configuration, table: Table | None = None, cancel: Cancel | None = None) -> Setting:
    """The setting of a configuration.

    ``table`` holds the rows, one person each (or the people that its column of counts says). Without it people are those
    declared, those of the sample that was chosen, or spread evenly as in the app. ValueError, one sentence, where there is
    no domain or there are no questions, or these do not fit or are too many.
    """
    choice = configuration.data
    counts, unknown = counts_column(choice), False
    if table is None and configuration.population.shape == "data":
        table = sample(choice, configuration.domain)
        unknown = table is None
    if configuration.domain is None and choice is not None and (table is not None or choice.source == "declared"):
        made = tables.build_domain(list(choice.recipes), table, counts)
        configuration = configuration.with_(domain=made)
    domain = configuration.domain
    if domain is None:
        raise ValueError(
            "The configuration has no domain: give the table to take it from, or declare the values in the app."
        )
    tally = None if table is None else tables.tally(table, domain, counts)
    if tally is not None:
        configuration = configuration.with_(population=Population(users=tally.users, origin="data", shape="data"))
    if configuration.workload is None:
        raise ValueError(
            "The configuration asks no questions: choose them on the Workload page of the app, and save it again."
        )
    setting = Setting.of(configuration, tally, Results(), cancel=cancel, notes=(NO_ROWS,) if unknown else ())
    if not setting.has_questions:
        raise ValueError(setting.misfit)
    return replace(setting, configuration=setting.settled)


def with_secret(configuration: Configuration, named: Sequence[str]) -> Configuration:
    """The configuration where the values ``named`` as COLUMN=VALUE are secret, and the others of these columns are not. ValueError, one sentence, for
    what names no value of the domain."""
    if configuration.domain is None:
        raise ValueError("The configuration has no domain whose values could be secret: declare the values first.")
    secret: dict[str, tuple[str, ...]] = {}
    for column, sign, value in (one.partition("=") for one in named):
        if not sign or column not in {attribute.name for attribute in configuration.domain.attributes}:
            raise ValueError(f"Secret values are named as COLUMN=VALUE, by a column of the design; got {column!r}.")
        secret[column] = (*secret.get(column, ()), *([value] if value else []))
    attributes = [
        build(type(one), **{**one.model_dump(), "secret": secret.get(one.name, one.secret)})
        for one in configuration.domain.attributes
    ]
    changes: dict[str, object] = {"domain": build(Domain, attributes=tuple(attributes))}
    if configuration.data is not None:
        recipes = [
            recipe.model_copy(update={"secret": secret.get(recipe.column, recipe.secret)})
            for recipe in configuration.data.recipes
        ]
        changes["data"] = configuration.data.model_copy(update={"recipes": tuple(recipes)})
    return configuration.with_(**changes)


def with_split(configuration: Configuration, name: str, separator: str) -> Configuration:
    """The configuration where the cells of a column of categories hold several answers, with a separator between them, whose counts are asked for.

    Raises
    ------
    ValueError
        One sentence, for what is no such column, and where answers have too many combinations.
    """
    domain, data, workload = configuration.domain, configuration.data, configuration.workload
    attributes = {} if domain is None else {one.name: one for one in domain.attributes}
    recipes = {} if data is None else {one.column: one for one in data.recipes}
    old = attributes.get(name) or recipes.get(name)
    if not separator or old is None or old.kind != "categorical":
        raise ValueError(f"Answers to split are named as COLUMN=SIGN, by a column of categories; got {name!r}.")
    split: Any = tables.ChoiceRecipe(column=name, separator=separator, known=old.known, missing=old.missing)
    changes: dict[str, object] = {}
    if isinstance(old, CategoricalAttribute):
        made = tables.build_attribute(split, columns.parse(pd.Series(old.values, name=name)))
        changes["domain"] = build(Domain, attributes=tuple((attributes | {name: made}).values()))
        split = tables.declared_recipe(made)
    if data is not None and name in recipes:
        changes["data"] = data.model_copy(update={"recipes": tuple((recipes | {name: split}).values())})
    if workload is not None:
        parts = [
            ItemsPart(attribute=name, weight=part.weight)
            if isinstance(part, HistogramPart) and part.attribute == name
            else part
            for part in workload.parts
        ]
        changes["workload"] = WorkloadRecipe(parts=tuple(parts))
    return configuration.with_(**changes)


def mechanism_of(bundle: Bundle) -> Mechanism | None:
    """The fitted mechanism that a file holds, audited when it was read; None where it holds none."""
    return bundle.mechanism if library.spec(bundle.configuration.mechanism.name).fitted else None


def counts_column(choice: DataChoice | None) -> str | None:
    """The column that says how many people a row stands for, where a table has one."""
    return choice.counts if isinstance(choice, UploadedData) else None


def sample(choice: DataChoice | None, domain: Domain | None) -> pd.DataFrame | None:
    """The rows of the sample data that a design refers to; None where there are none, or they do not fit the domain."""
    if choice is None or choice.source != "sample":
        return None
    try:
        known = {entry["file"] for entry in json.loads((SAMPLES / "catalogue.json").read_text(encoding="utf-8"))}
        if choice.file not in known:
            return None
        table = tables.load((SAMPLES / choice.file).read_bytes(), choice.file).table
        if domain is not None:
            tables.tally(table, domain)
    except (OSError, ValueError):
        return None
    return table
