"""What a design reveals of somebody's data. Files, kits and reports all read it."""

from __future__ import annotations

import math

from ldp_core import library
from ldp_core.data.domain import Attribute, CategoricalAttribute, CombinedAttribute
from ldp_core.data.tables import AttributeRecipe, DateRecipe, NumericRecipe
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.privacy_note import quoted


def observed_parts(configuration: Configuration, figures: bool = False) -> list[str]:
    """Facts that the configuration reveals because they were taken from the data, one sentence
    each, then how to avoid it. ``figures`` says whether errors on the data go with it (see `disclosure`).

    Empty if everything was declared.
    """
    parts = list(observed_attributes(configuration).values())
    population = configuration.population
    if population.users is not None and population.origin == "data":
        parts.append(f"The number of people, {population.users:,}, was counted in the data.")
    if population.shape == "data":
        known = configuration.mechanism.name in library.names()  # a later version may have written the file
        if configuration.aim == "people" and known and library.spec(configuration.mechanism.name).aimed:
            parts.append(
                "The strategy was optimised for this data and comes with the exact share of every type: with the number of "
                "people, anybody who gets the file knows all counts. Optimise for the worst case or a histogram of your own instead."
            )
        elif figures:
            parts.append(
                "Errors and people needed are computed from the counts of this data, and are in the files exactly: with the number of people, "
                "anybody who gets them may work out all counts."
            )
        else:
            parts.append(
                "The counts are not exported: errors and people needed are those of people spread evenly. Targets "
                "may be taken from the counts: one digit of how large a typical answer is, two of how far numbers are spread."
            )
        if configuration.planning == "people" and any(part.groups_by for part in configuration.parts):
            parts.append(
                "Of the questions within groups the file holds each share or average in the data and the size of each group, two digits of each. Take "
                "people as evenly spread instead, and it holds nothing of them."
            )
    if parts:
        parts.append("Values declared beforehand reveal nothing about the data.")
    return parts


def observed_attributes(configuration: Configuration) -> dict[str, str]:
    """A sentence for each attribute whose values were taken from the data, by name."""
    attributes = configuration.domain.attributes if configuration.domain is not None else ()
    recipes = {} if configuration.data is None else {recipe.column: recipe for recipe in configuration.data.recipes}
    return {
        attribute.name: _observed(attribute, recipes.get(attribute.name))
        for attribute in attributes
        if attribute.origin == "data"
    }


def _observed(attribute: Attribute, recipe: AttributeRecipe | None) -> str:
    """Facts about the data that an attribute reveals; its recipe, if there is one, says how."""
    name = quoted(attribute.name)
    if attribute.kind == "categorical":
        return _observed_categories(name, attribute, recipe)
    if isinstance(attribute, CombinedAttribute):
        return f"The {len(attribute.parts):,} items of {name}, and how they can be combined, were taken from the data."
    if attribute.kind == "date":
        given = (recipe.first, recipe.last) if isinstance(recipe, DateRecipe) else (None, None)
        return _observed_range(name, (attribute.first, attribute.last), given, ("the first", "the last"), "date")
    if attribute.binning == "equal_count":
        return f"The bin edges of {name} are quantiles of the data."
    if attribute.binning == "own_edges":
        return f"The bin edges of {name} were taken from the data and then edited."
    low, high = attribute.edges[0], attribute.edges[-1]
    if attribute.integer:
        low, high = math.ceil(low), math.floor(high)
    by_range = recipe if isinstance(recipe, NumericRecipe) and recipe.method == "range" else None
    if by_range is not None and by_range.declared:  # by the recipe's own word from the data: see `tables.crowd`
        return f"The range of {name}, {low:.12g} to {high:.12g}, was set by where most values in the data are."
    ends = (None, None) if by_range is None else (by_range.low, by_range.high)
    return _observed_range(name, (f"{low:.12g}", f"{high:.12g}"), ends, ("the smallest", "the largest"), "value")


def _observed_categories(name: str, attribute: CategoricalAttribute, recipe: AttributeRecipe | None) -> str:
    categories = f"The {len(attribute.values):,} categories of {name}"
    if getattr(recipe, "categories", None) is not None:
        return f"{categories} were taken from the data and then edited. They, and the values merged into them, show what values people have."
    words = "somebody has it"
    rare_below = getattr(recipe, "rare_below", 0)
    if rare_below > 1:
        words = f"at least {rare_below:,} people have it, and that fewer have any value that is left out"
    merged = (
        f" The {len(attribute.merged):,} values merged into them were observed as well." if attribute.merged else ""
    )
    return f"{categories} were observed in the data: each of them shows that {words}.{merged}"


def _observed_range(
    name: str, ends: tuple[str, str], given: tuple[object, object], extremes: tuple[str, str], what: str
) -> str:
    read = [extreme for extreme, end in zip(extremes, given, strict=True) if end is None] or extremes
    return f"The range of {name}, {ends[0]} to {ends[1]}, was set by {' and '.join(read)} {what} in the data."
