"""From a column whose cells hold several items to the combinations of these that people may have."""

from __future__ import annotations

import numpy as np

from ldp_core.data import columns
from ldp_core.data.domain import (
    CategoricalAttribute,
    ChoiceAttribute,
    CombinedAttribute,
    CourseAttribute,
    RankingAttribute,
    build,
)
from ldp_core.data.missing import NOTHING
from ldp_core.data.reading import Together, items_of, sign_between
from ldp_core.data.scales import arranged
from ldp_core.data.tables.recipes import ChoiceRecipe, CombinedRecipe, CourseRecipe, RankingRecipe

_RECIPES: dict[str, type[CombinedRecipe]] = {"choice": ChoiceRecipe, "ranking": RankingRecipe, "course": CourseRecipe}


def combined_attribute(
    recipe: CombinedRecipe, column: columns.Column | None
) -> ChoiceAttribute | RankingAttribute | CourseAttribute:
    """The combinations that a recipe describes; items it does not name come from the column, in the order of categories.

    Raises
    ------
    ValueError
        Items that cannot be told apart, and more combinations than an attribute holds.
    """
    cells = [] if recipe.declared or column is None else _cells(column, recipe.separator)
    items = recipe.items
    if items is None:
        answers, _, apart = arranged(sorted({item for cell in cells for item in cell}))
        items = answers + apart
    shared = recipe.shared("separator")
    if isinstance(recipe, CourseRecipe):
        of = build(CategoricalAttribute, name=shared["name"], values=items)
        return build(CourseAttribute, of=of, days=recipe.days, changes=recipe.changes, **shared)
    if isinstance(recipe, RankingRecipe):
        return build(RankingAttribute, items=items, **shared)
    most = recipe.most or max((len(set(cell)) for cell in cells), default=1)
    return build(ChoiceAttribute, items=items, most=most, **shared)


def together_recipe(together: Together, most: int | None) -> ChoiceRecipe:
    """The recipe of columns that were put together."""
    items, sign = items_of(together.columns), sign_between(together.columns)
    return ChoiceRecipe(column=together.name, items=items, separator=sign, most=most)


def recipe_of_combinations(attribute: CombinedAttribute) -> CombinedRecipe:
    """The recipe that declares an attribute as it is."""
    about = {"missing", "known", "secret", "separator", "outside", "most", "days", "changes"}
    return _RECIPES[attribute.kind](
        column=attribute.name, items=tuple(attribute.parts), **attribute.model_dump(include=about)
    )


def _cells(column: columns.Column, separator: str) -> list[list[str]]:
    """The items in each distinct cell."""
    texts = column.texts[~column.missing & (column.texts != NOTHING)]
    split = ([columns.plain(item) for item in text.split(separator.strip() or separator)] for text in np.asarray(texts))
    return [[item for item in cell if item] for cell in split]
