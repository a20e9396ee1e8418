"""From a column to its categories: taken from the data or declared, merged, ordered, and rare ones put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import CategoricalAttribute, build
from ldp_core.data.scales import arranged
from ldp_core.data.tables.recipes import CategoricalRecipe, Merge, check_types
from ldp_core.limits import MOST_CATEGORY_TEXT, MOST_LISTED_TYPES
from ldp_core.wording import quote_examples, quoted


def categorical_attribute(recipe: CategoricalRecipe, column: columns.Column | None) -> CategoricalAttribute:
    """The categories of a column, in the order of their numbers when all have one, else as in `ldp_core.data.scales`; those of the
    recipe, which then needs no column, in its order.

    Raises
    ------
    ValueError
        Fewer than two types or more than `MOST_LISTED_TYPES`, repeated or blank declared values,
        contradictory choices, a merged text that the column does not hold.
    """
    pairs, values, ordered = _pairs(recipe.merges), recipe.categories, recipe.ordered
    if values is not None and recipe.rare_below:
        raise ValueError(
            "rare values are merged only when the categories are taken from the data: drop one of the two."
        )
    if values is None:
        if column is None:
            raise ValueError("there are no categories: list them, or load the data they are in.")
        column = replace(column, missing=column.missing & ~np.isin(column.texts, list(recipe.answers)))
        values = _found(column, pairs, recipe.rare_below)
        ordered = True if column.order and ordered is None else ordered
        pairs = {text: category for text, category in pairs.items() if category in values}
    if ordered is None:
        numbers = columns.to_numbers(np.array(values, dtype=object))
        ordered = bool(np.isfinite(numbers).all() and (np.diff(numbers) >= 0).all())
    same = recipe.shared() | ({"outside": "other"} if recipe.rare_below else {})
    attribute = build(CategoricalAttribute, values=values, merged=tuple(pairs.items()), ordered=ordered, **same)
    return check_types(attribute)


def _pairs(merges: Iterable[Merge]) -> dict[str, str]:
    """The category each merged text goes to. A text that is its category's own name needs no entry."""
    pairs: dict[str, str] = {}
    for merge in merges:
        category = columns.plain(merge.name)
        for text in map(columns.plain, merge.texts):
            if pairs.get(text, category) != category:
                raise ValueError(f"{quoted(text)} is merged into two categories: keep one.")
            pairs[text] = category
    return {text: category for text, category in pairs.items() if text != category}


def _found(column: columns.Column, pairs: dict[str, str], rare_below: int) -> tuple[str, ...]:
    """The categories of a column in order."""
    absent = sorted(set(pairs) - {*column.texts, *column.order}) if pairs else []
    if absent:
        raise ValueError(
            f"{column.name} does not hold {quote_examples(absent)}, which was to be merged into another category: "
            "check the spelling."
        )
    present = ~column.missing
    categories, users = column.texts[present], column.rows_per_text[present]
    if pairs:
        present |= np.isin(column.texts, list(pairs))
        texts = np.array([pairs.get(text, text) for text in column.texts[present]], dtype=object)
        position, categories = pd.factorize(texts)
        users = np.bincount(position, column.rows_per_text[present], minlength=len(categories)).astype(np.int64)
    if column.order:
        categories, users = _as_stated(column.order, pairs, dict(zip(categories, users.tolist(), strict=True)))
    kept = users >= rare_below
    _check_kept(column, users, kept, rare_below)
    categories = np.asarray(categories, dtype=object)[kept]
    if max(map(len, categories)) > MOST_CATEGORY_TEXT:
        raise ValueError(
            f"{column.name} holds a text of more than {MOST_CATEGORY_TEXT:,} characters, too long for a category: choose another "
            "column, or merge rare values into (other)."
        )
    return tuple(categories.tolist()) if column.order else _in_order(categories, columns.to_numbers(categories))


def _as_stated(order: tuple[str, ...], pairs: dict[str, str], users: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The categories in the order that the file states, also those without users, and the users of each."""
    stated = (pairs.get(text, text) for text in order if text in users or not columns.is_missing_word(text))
    names = list(dict.fromkeys([*stated, *users]))
    return np.array(names, dtype=object), np.array([users.get(name, 0) for name in names], dtype=np.int64)


def _check_kept(column: columns.Column, users: np.ndarray, kept: np.ndarray, rare_below: int) -> None:
    """Refuse, with what would help, when the categories `kept` (a mask; each has `users`) are none or too many."""
    if kept.sum() > MOST_LISTED_TYPES:
        # Room for "(other)" and "(missing)" beside the values that remain.
        users = np.sort(users[kept])[::-1]
        enough = int(users[MOST_LISTED_TYPES - 2]) + 1
        way = (
            f"merge values with fewer than {enough:,} users into (other)"
            if users[0] >= enough
            else "choose another column"
        )
        raise ValueError(
            f"{kept.sum():,} distinct values in {column.name}, and a domain holds at most {MOST_LISTED_TYPES:,}: "
            f"bin it as numbers, or {way}."
        )
    if kept.any():
        return
    if column.missing.all():
        raise ValueError(f"all {column.rows:,} values of {column.name} are missing: choose another column.")
    raise ValueError(
        f"no value of {column.name} has {rare_below:,} users: choose a lower number, so that fewer values are merged."
    )


def _in_order(texts: np.ndarray, numbers: np.ndarray) -> tuple[str, ...]:
    """Texts by their numbers when all have one, else as `arranged`."""
    if np.isfinite(numbers).all():
        return tuple(text for _, text in sorted(zip(numbers.tolist(), texts, strict=True)))
    answers, _, apart = arranged(texts.tolist())
    return answers + apart
