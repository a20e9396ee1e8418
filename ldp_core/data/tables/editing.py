"""Attributes as tables a person can edit, and back: categories to rename, merge and order, and edges of bins."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import (
    Attribute,
    CategoricalAttribute,
    CombinedAttribute,
)
from ldp_core.data.scales import alike
from ldp_core.data.tables.attributes import build_attribute
from ldp_core.data.tables.combined import recipe_of_combinations
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    DateRecipe,
    Merge,
    NumericRecipe,
)
from ldp_core.limits import MOST_CATEGORY_NAME, MOST_CATEGORY_TEXT, MOST_EDITED_ROWS
from ldp_core.wording import quoted


def category_table(attribute: CategoricalAttribute, column: columns.Column | None = None) -> pd.DataFrame:
    """The categories of a column with the texts that count in each, to be edited for `recipe_of_categories`.

    A row is a distinct text of the column that is not missing, or a category or merged text that no one has. Rows
    follow the categories, each one's own text first; texts outside come last, the most common first. A category
    that is only a name for merged texts of the data has no row of its own: it is there as long as a text is in it.

    Parameters
    ----------
    attribute : CategoricalAttribute
    column : Column, optional
        Without it only what the attribute says is listed.

    Returns
    -------
    DataFrame
        Columns `value` (the text), `people` (int64; absent without a column), `category` (what it counts in; for a text
        outside, the label of "(other)", or None where such texts are refused) and `order` (Int64: 1, 2, ... by category, NA
        outside). At most `MOST_EDITED_ROWS` rows; `attrs["left_out"]` is how many more there were.
    """
    known = _known(attribute)
    if column is None:
        people, listed, outside = {}, list(known), []
    else:
        people = dict(zip(column.texts.tolist(), column.rows_per_text.tolist(), strict=True))
        named = {category for text, category in attribute.merged if text in people}
        listed = [text for text in known if text in people or text not in named]
        is_other = _lenient(attribute).encode(pd.Series(column.texts)).codes == len(attribute.values)
        short = (text for text in column.texts[is_other] if len(text) <= MOST_CATEGORY_TEXT)  # a page shows them all
        outside = sorted(short, key=lambda text: -people[text])
    order = {category: place for place, category in enumerate(attribute.values, 1)}
    other = _other_label(attribute) if attribute.outside == "other" else None
    rows = [*((text, known[text], order[known[text]]) for text in listed), *((text, other, pd.NA) for text in outside)]
    frame = pd.DataFrame(rows[:MOST_EDITED_ROWS], columns=["value", "category", "order"], dtype=object)
    frame["order"] = frame["order"].astype("Int64")
    if column is not None:
        frame.insert(1, "people", np.array([people.get(text, 0) for text in frame["value"]], dtype=np.int64))
    frame.attrs["left_out"] = max(0, len(rows) - MOST_EDITED_ROWS)
    return frame


def spellings(attribute: CategoricalAttribute) -> list[tuple[str, ...]]:
    """Values that look alike, as groups of two or more: [("Yes", "yes")]. They differ in capitals, spaces, typographic signs,
    or the digits of one number (1 and 1.0)."""
    spellings_by_key: dict[str, list[str]] = {}
    for value in attribute.values:
        number = re.fullmatch(r"([+-]?(?:0|[1-9]\d*))\.0+", alike(value))
        spellings_by_key.setdefault(number[1] if number else alike(value), []).append(value)
    return [tuple(group) for group in spellings_by_key.values() if len(group) > 1]


def merge_spellings(
    recipe: CategoricalRecipe, attribute: CategoricalAttribute, counts: Sequence[float] | np.ndarray
) -> CategoricalRecipe:
    """The recipe with the values of each of `spellings` merged under the most common one; ``counts`` (size,) are users by
    type. ValueError where fewer than two types would be left."""
    frame = category_table(attribute)
    users = dict(zip(attribute.values, counts, strict=False))
    common = {value: max(group, key=users.__getitem__) for group in spellings(attribute) for value in group}
    frame["category"] = [common.get(category, category) for category in frame["category"]]
    return recipe_of_categories(recipe, attribute, frame)


def recipe_of_categories(
    recipe: CategoricalRecipe, attribute: CategoricalAttribute, frame: pd.DataFrame
) -> CategoricalRecipe:
    """The recipe that an edited `category_table` describes; the same attribute where nothing was edited.

    Rows of one `category` are merged under it. A text whose category is blank or the label of
    "(other)" goes to "(other)", or is missing if it is a word for that. A text that was refused and
    has no category is still refused. One that a table of `MOST_EDITED_ROWS` rows had no room for
    stays where it was.

    Categories come in the order of the column `order`, or of the rows where there is none; equal numbers stay as they stand. Without a
    number a category stays where it was, and a new one comes last.

    Parameters
    ----------
    recipe, attribute : CategoricalRecipe, CategoricalAttribute
        What ``frame`` was made from.
    frame : DataFrame
        With columns `value` and `category`; `order` and `people` where it had them.

    Returns
    -------
    CategoricalRecipe
        With all categories and merges. Its origin is "data" when that of the attribute was, or when
        a text that somebody has was added to declared ones.

    Raises
    ------
    ValueError
        All values in "(other)", a category beside a value of the same name in another one, a name
        of more than `MOST_CATEGORY_NAME` characters, fewer than two types or too many.
    """
    known, other, texts = _known(attribute), _other_label(attribute), frame["value"].tolist()
    wanted = [None if category == other else category for category in _texts(frame["category"])]
    placed = dict(zip(texts, wanted, strict=True))
    placed |= {text: known[text] for text in list(known)[MOST_EDITED_ROWS:] if text not in placed}
    numbers = dict(zip(texts, _numbers(frame, "order").tolist(), strict=True)) if "order" in frame else None
    categories = _in_order(placed, numbers, attribute)
    _check_names(categories, placed, known)
    sent = other in _texts(frame["category"]) or any(placed.get(text, text) is None for text in known)
    people = zip(texts, _numbers(frame, "people"), strict=True)
    added = any(users > 0 and placed[text] is not None and text not in known for text, users in people)
    merged: dict[str, list[str]] = {category: [] for category in categories}
    for text, category in placed.items():
        if category is not None and category != text:
            merged[category].append(text)
    edited = recipe.model_copy(
        update={
            "categories": tuple(categories),
            "merges": _merges(merged),
            "ordered": attribute.ordered,
            "rare_below": 0,
            "outside": "other" if sent else attribute.outside,
            "origin": "data" if added else attribute.origin,
        }
    )
    build_attribute(edited)
    return edited


def declared_recipe(attribute: Attribute) -> AttributeRecipe:
    """The recipe that declares an attribute as it is, so that it no longer depends on the data.

    `build_attribute` makes the same attribute from it without data, except for the origin, the
    order of merged texts, which come by category, and listed edges, which become own edges.
    Categories, edges and ends do not change. If they were taken from the data they still reveal as
    much about it, and the person who declares them is responsible for that.
    """
    if isinstance(attribute, CombinedAttribute):
        return recipe_of_combinations(attribute)
    same = {
        "column": attribute.name,
        **attribute.model_dump(exclude={"name", "kind", "origin", "values", "merged", "binning"}),
    }
    if attribute.kind == "categorical":
        merged: dict[str, list[str]] = {}
        for text, category in attribute.merged:
            merged.setdefault(category, []).append(text)
        return CategoricalRecipe(categories=attribute.values, merges=_merges(merged), **same)
    if attribute.kind == "date":
        return DateRecipe(**same)
    return NumericRecipe(method="range" if attribute.kind == "range" else "own_edges", **same)


def apply_edits(frame: pd.DataFrame, edits: Mapping) -> pd.DataFrame:
    """A table after edits as an editor in the browser reports them; its index is 0, 1, ... and its cells are objects.

    Parameters
    ----------
    frame : DataFrame
    edits : mapping
        "edited_rows" as {row: {column: value}}, "deleted_rows" as [row], both by position (an int
        or its text) in ``frame``, and "added_rows" as [{column: value}], to come last; each may be
        absent. Cells are changed before rows are deleted; columns that the table does not have are
        ignored.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        A row that is not there.
    """
    rows = frame.astype(object).to_dict("records")

    def position(row: int | str) -> int:
        if not 0 <= int(row) < len(rows):
            raise ValueError(f"row {int(row) + 1:,} was edited and the table has {len(rows):,}: make the edit again.")
        return int(row)

    for row, cells in edits.get("edited_rows", {}).items():
        rows[position(row)] |= cells
    deleted = {position(row) for row in edits.get("deleted_rows", [])}
    rows = [row for place, row in enumerate(rows) if place not in deleted] + list(edits.get("added_rows", []))
    edited = pd.DataFrame(rows, columns=frame.columns, dtype=object)
    edited.attrs = dict(frame.attrs)
    return edited


def _known(attribute: CategoricalAttribute) -> dict[str, str]:
    """The category of each text that an attribute names, in the order of the table."""
    texts = {value: [value] for value in attribute.values}
    for text, category in attribute.merged:
        texts[category].append(text)
    return {text: category for category in texts for text in texts[category]}


def _lenient(attribute: Attribute) -> Attribute:
    """The attribute with "(other)" and dropped values in place of refusals."""
    update = {"outside": "other"} if attribute.outside == "refuse" else {}
    update |= {"missing": "drop"} if attribute.missing == "refuse" else {}
    return attribute.model_copy(
        update=update | ({"non_numbers": "missing"} if hasattr(attribute, "non_numbers") else {})
    )


def _other_label(attribute: CategoricalAttribute) -> str:
    return _lenient(attribute).decode(np.array([len(attribute.values)]))[0]


def _merges(merged: Mapping[str, list[str]]) -> tuple[Merge, ...]:
    return tuple(Merge(name=category, texts=tuple(texts)) for category, texts in merged.items() if texts)


def _texts(cells: pd.Series) -> list[str | None]:
    """The text of each cell, None for a blank one."""
    column = columns.parse(cells)
    texts = [*column.texts, None]
    return [texts[code] for code in column.codes]


def _numbers(frame: pd.DataFrame, name: str) -> np.ndarray:
    """(rows,) the numbers of a column, NaN where there is none or no such column."""
    if name not in frame:
        return np.full(len(frame), np.nan)
    return pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _in_order(
    placed: Mapping[str, str | None], numbers: Mapping[str, float] | None, attribute: CategoricalAttribute
) -> list[str]:
    """The categories of texts in the order of their numbers, or else of the texts; ties as they stand."""
    known, places = _known(attribute), dict[str, float]()
    order = {category: place for place, category in enumerate(attribute.values, 1)}
    for text, category in placed.items():
        if category is not None:
            before = order[known[text]] if text in known else math.inf
            now = (numbers or {}).get(text, math.nan)
            edited = not math.isnan(now) and now != before
            if edited or category not in places:
                places[category] = now if edited else before
    return list(places) if numbers is None else sorted(places, key=lambda category: places[category])


def _check_names(categories: list[str], placed: Mapping[str, str | None], known: Mapping[str, str]) -> None:
    if not categories:
        raise ValueError("all values go to (other): keep at least one category.")
    for category in categories:
        if placed.get(category, category) != category:
            raise ValueError(
                f"a category is called {quoted(category)}, and the value {quoted(category)} does not count in it: "
                "give the category another name, or put the value into it."
            )
        if len(category) > MOST_CATEGORY_NAME and category not in placed and category not in known:
            raise ValueError(
                f"the category {quoted(category)} has {len(category):,} characters: use at most {MOST_CATEGORY_NAME}."
            )
