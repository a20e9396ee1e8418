"""From recipes and a table to a domain, and the recipe to offer first for a column."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import Attribute, Domain, build
from ldp_core.data.domain.dates import day_comes_first
from ldp_core.data.reading import LocalTable
from ldp_core.data.tables.categories import categorical_attribute
from ldp_core.data.tables.combined import combined_attribute
from ldp_core.data.tables.counting import checked_weights, columns_needed
from ldp_core.data.tables.dates import crowd_of_dates, date_attribute
from ldp_core.data.tables.numbers import bins_of, numeric_attribute
from ldp_core.data.tables.recipes import AttributeRecipe, CategoricalRecipe, DateRecipe, NumericRecipe
from ldp_core.data.tables.summary import MOSTLY, records_in, summarise
from ldp_core.wording import quoted


def build_domain(
    recipes: list[AttributeRecipe] | AttributeRecipe,
    table: pd.DataFrame | LocalTable | None = None,
    weights: str | np.ndarray | None = None,
) -> Domain:
    """The domain that recipes describe, one attribute each, in their order.

    Parameters
    ----------
    recipes : recipe or list of recipes
    table : DataFrame or LocalTable, optional
        A table with the recipes' columns; None where all recipes are declared.
    weights : str or ndarray, optional
        People each row stands for: the name of a column of counts, or (rows,) numbers for a table
        in memory.

    Returns
    -------
    Domain

    Raises
    ------
    ValueError
        One sentence naming the column that does not work, and how to fix it.
    """
    recipes = list(recipes) if isinstance(recipes, list | tuple) else [recipes]
    return build(
        Domain, attributes=tuple(build_attribute(recipe, _column(recipe, table, weights)) for recipe in recipes)
    )


def build_attribute(recipe: AttributeRecipe, column: columns.Column | None = None) -> Attribute:
    """The attribute that one recipe describes; the column is only needed where the recipe is not `declared`. ValueError as in
    `build_domain`."""
    if column is None and not recipe.declared:
        raise ValueError(
            f"{quoted(recipe.column)} has to be taken from the data, and no data is loaded: load it, or "
            "declare the categories or the ends of the range."
        )
    if column is not None and not recipe.declared and (refused := records_in(column)):
        raise ValueError(refused)
    if recipe.kind == "categorical":
        return categorical_attribute(recipe, column)
    if recipe.kind == "numeric":
        return numeric_attribute(recipe, column)
    return date_attribute(recipe, column) if recipe.kind == "date" else combined_attribute(recipe, column)


def suggest_recipe(column: columns.Column) -> AttributeRecipe:
    """The recipe to offer first for a column: dates where nine in ten values are dates, else numbers in bins or categories."""
    summary = summarise(column)
    if summary.dates and summary.dates >= MOSTLY * (summary.rows - summary.missing):
        try:
            day_first = day_comes_first(column.texts)
        except ValueError:
            return CategoricalRecipe(column=summary.name)
        recipe = DateRecipe(column=summary.name, day_first=day_first)
        far = crowd_of_dates(column, recipe.unit, day_first)
        ends = {} if far is None else {"first": far[0], "last": far[1], "outside": "clamp", "origin": "data"}
        return recipe.model_copy(update=ends) if far is None or far[0] != far[1] else recipe
    if summary.suggested == "numeric":
        return NumericRecipe(column=summary.name, bins=bins_of(column.numbers, summary.integer))
    return CategoricalRecipe(column=summary.name)


def _column(
    recipe: AttributeRecipe, table: pd.DataFrame | LocalTable | None, weights: str | np.ndarray | None
) -> columns.Column | None:
    """The column a recipe is about, where it is needed."""
    if table is None:
        return None
    if recipe.column not in table.columns:
        raise ValueError(f"the table lacks the column {quoted(recipe.column)}: choose one that it has.")
    if recipe.kind == "categorical" and recipe.declared:
        return None
    if isinstance(table, LocalTable):
        frame, users = table.counts(columns_needed([recipe.column], weights))
        return columns.parse(frame[recipe.column], users * checked_weights(frame, weights))
    return columns.parse(table[recipe.column], None if weights is None else checked_weights(table, weights))
