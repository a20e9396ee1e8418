"""Recipes: how columns become attributes, kept as data; one function turns recipes and a table into a domain."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, Strict, field_validator

from ldp_core.data import columns
from ldp_core.data.domain import Attribute, Domain, Missing, Origin, Unit, build
from ldp_core.data.domain.dates import day_comes_first
from ldp_core.data.reading import LocalTable
from ldp_core.data.tables.categories import categorical_attribute
from ldp_core.data.tables.counting import checked_weights, columns_needed
from ldp_core.data.tables.dates import crowd_of_dates, date_attribute
from ldp_core.data.tables.numbers import numeric_attribute, range_attribute
from ldp_core.data.tables.summary import MOSTLY, summarise
from ldp_core.wording import quoted

Texts = Annotated[tuple[str, ...], Strict(False)]
Numbers = Annotated[tuple[Annotated[float, Field(allow_inf_nan=False)], ...], Strict(False)]


class _Recipe(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    column: str = Field(min_length=1)
    missing: Missing = "drop"
    known: bool = Field(default=False, exclude_if=lambda known: not known)
    """True if the collector knows the column already, so that it is no secret."""

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        raise NotImplementedError


class Merge(BaseModel):
    """Texts counted in one category, under a name that may be new."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1)
    texts: Texts


class CategoricalRecipe(_Recipe):
    """A column of categories.

    Attributes:
        categories: all of them in their order, after merging; None reads them off the data.
        merges: categories under new names.
        answers: texts that are categories although they are words for a missing value, such as None; only where
            `categories` is None.
        ordered: the order means something; None means that it does when all are numbers.
        rare_below: values that fewer people than this have go to "(other)"; only where `categories` is None.
        outside: values that are no category go to "(other)" or are refused; rare ones always go to "(other)".
        origin: whether `categories` were declared, or taken from the data and then edited (and so reveal some of it).
    """

    kind: Literal["categorical"] = "categorical"
    categories: Texts | None = None
    merges: Annotated[tuple[Merge, ...], Strict(False)] = ()
    answers: Texts = Field(default=(), exclude_if=lambda answers: not answers)
    ordered: bool | None = None
    rare_below: int = Field(default=0, ge=0)
    outside: Literal["other", "refuse"] = "refuse"
    origin: Origin = "declared"

    @field_validator("merges")
    @classmethod
    def _one_merge_a_name(cls, merges: tuple[Merge, ...]) -> tuple[Merge, ...]:
        names = [merge.name for merge in merges]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"values are merged into {quoted(twice)} twice: list them all at once.")
        return merges

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return self.categories is not None


class NumericRecipe(_Recipe):
    """A column of numbers in bins.

    Attributes:
        method: "equal_width", "equal_count" and "own_edges" as in `numeric_attribute`, at most 2,048 bins; "range" for
            bins of one width, up to millions, from `low` to `high`, each taken from the data where it is None.
        integer: the numbers are whole; None means that they are when those in the data are.
        no_answer: numbers that count as missing, such as 999.
        origin: whether own `edges`, or given ends, were declared, or taken from the data (and so reveal some of it).
    """

    kind: Literal["numeric"] = "numeric"
    method: Literal["equal_width", "equal_count", "own_edges", "range"] = "equal_width"
    bins: int = Field(default=32, ge=1)
    edges: Numbers = ()
    low: float | None = None
    high: float | None = None
    integer: bool | None = None
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    non_numbers: Literal["refuse", "missing"] = "refuse"
    no_answer: Numbers = Field(default=(), exclude_if=lambda codes: not codes)
    origin: Origin = "declared"

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return self.method == "own_edges" or (self.method == "range" and None not in (self.low, self.high))


class DateRecipe(_Recipe):
    """A column of dates by `unit`, from `first` to `last`, each taken from the data where it is None. ``origin`` says whether given
    ends were declared, or taken from the data."""

    kind: Literal["date"] = "date"
    unit: Unit = "month"
    first: str | None = None
    last: str | None = None
    day_first: bool | None = None
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    non_dates: Literal["refuse", "missing"] = "refuse"
    origin: Origin = Field(default="declared", exclude_if=lambda origin: origin == "declared")

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return None not in (self.first, self.last)


AttributeRecipe = Annotated[CategoricalRecipe | NumericRecipe | DateRecipe, Field(discriminator="kind")]


def build_domain(
    recipes: list[AttributeRecipe] | AttributeRecipe,
    table: pd.DataFrame | LocalTable | None = None,
    weights: str | np.ndarray | None = None,
) -> Domain:
    """The domain that recipes describe, one attribute each, in their order.

    Args:
        table: a table with the recipes' columns; None where all recipes are declared.
        weights: people each row stands for: the name of a column of counts, or (rows,) numbers for a table in memory.

    Raises:
        ValueError: one sentence naming the column that does not work, and how to fix it.
    """
    recipes = list(recipes) if isinstance(recipes, list | tuple) else [recipes]
    return build(
        Domain, attributes=tuple(build_attribute(recipe, *_column(recipe, table, weights)) for recipe in recipes)
    )


def build_attribute(
    recipe: AttributeRecipe, series: pd.Series | None = None, weights: np.ndarray | None = None
) -> Attribute:
    """The attribute that one recipe describes; the column is only needed where the recipe is not `declared`."""
    if recipe.known:
        secret = recipe.model_copy(update={"known": False})
        return build_attribute(secret, series, weights).model_copy(update={"known": True})
    name = recipe.column
    if recipe.kind == "categorical":
        same = recipe.model_dump(include={"missing", "ordered", "rare_below", "origin", "answers"})
        outside = "other" if recipe.rare_below else recipe.outside
        merged = {merge.name: merge.texts for merge in recipe.merges}
        return categorical_attribute(
            series, name=name, values=recipe.categories, merged=merged, outside=outside, weights=weights, **same
        )
    if recipe.kind == "date":
        same = recipe.model_dump(exclude={"column", "kind", "origin", "known"})
        dates = date_attribute(series, name=name, weights=weights, **same)
        return dates.model_copy(update={"origin": recipe.origin}) if recipe.declared else dates
    if recipe.method == "range":
        same = recipe.model_dump(exclude={"column", "kind", "method", "edges", "origin", "known"})
        ends = range_attribute(series, name=name, **same)
        return ends.model_copy(update={"origin": recipe.origin}) if recipe.declared else ends
    same = recipe.model_dump(exclude={"column", "kind", "edges", "low", "high", "origin", "known"})
    series = pd.Series(recipe.edges, name=name) if series is None else series
    attribute = numeric_attribute(series, edges=recipe.edges or None, weights=weights, **same)
    return attribute.model_copy(update={"origin": recipe.origin}) if recipe.declared else attribute


def suggest_recipe(series: pd.Series, weights: np.ndarray | None = None) -> AttributeRecipe:
    """The recipe to offer first for a column: dates where nine in ten values are dates, else numbers in bins or categories."""
    summary = summarise(series, weights)
    if summary.dates and summary.dates >= MOSTLY * (summary.rows - summary.missing):
        try:
            day_first = day_comes_first(columns.parse(series).texts)
        except ValueError:
            return CategoricalRecipe(column=summary.name)
        recipe = DateRecipe(column=summary.name, day_first=day_first)
        far = crowd_of_dates(columns.parse(series, weights), recipe.unit, day_first)
        ends = {} if far is None else {"first": far[0], "last": far[1], "outside": "clamp", "origin": "data"}
        return recipe.model_copy(update=ends) if far is None or far[0] != far[1] else recipe
    if summary.suggested == "numeric":
        return NumericRecipe(column=summary.name)
    return CategoricalRecipe(column=summary.name)


def _column(
    recipe: AttributeRecipe, table: pd.DataFrame | LocalTable | None, weights: str | np.ndarray | None
) -> tuple[pd.Series | None, np.ndarray | None]:
    """The column a recipe is about, and (rows,) people per row."""
    if table is None:
        if not recipe.declared:
            raise ValueError(
                f"{quoted(recipe.column)} has to be taken from the data, and no data is loaded: load it, or "
                "declare the categories or the ends of the range."
            )
        return None, None
    if recipe.column not in table.columns:
        raise ValueError(f"the table lacks the column {quoted(recipe.column)}: choose one that it has.")
    if isinstance(table, LocalTable):
        frame, users = table.counts(columns_needed([recipe.column], weights))
        return frame[recipe.column], users * checked_weights(frame, weights)
    return table[recipe.column], None if weights is None else checked_weights(table, weights)
