"""From a column to its categories: taken from the data or declared, merged, ordered, and rare ones put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import CategoricalAttribute, Missing, Origin, build
from ldp_core.data.population import check_types, checked_name
from ldp_core.limits import MOST_CATEGORY_TEXT, MOST_LISTED_TYPES
from ldp_core.wording import quote_examples, quoted


def categorical_attribute(
    series: pd.Series | None,
    *,
    missing: Missing = "drop",
    rare_below: int = 0,
    values: Iterable[object] | None = None,
    outside: Literal["other", "refuse"] | None = None,
    merged: Mapping[str, Iterable[object]] | None = None,
    ordered: bool | None = None,
    origin: Origin = "declared",
    name: str | None = None,
    weights: np.ndarray | None = None,
    answers: Iterable[str] = (),
) -> CategoricalAttribute:
    """The categories of a column, in the order of their numbers when all have one, else alphabetical ("a2" < "a10").

    Args:
        series: the column; not needed where `values` and `name` are given.
        rare_below: values held by fewer rows than this are merged into "(other)".
        values: a declared list, kept in its order; what else the column holds is outside.
        outside: by default "other" when rare values were merged, else "refuse".
        merged: for each category under a new name, the texts that count in it besides the name itself.
        ordered: the order means something; by default when all categories are numbers.
        origin: of `values`: whether they were declared, or originally taken from the data.
        weights: (rows,) people each row stands for; one each by default.
        answers: texts of the column that are categories although they are words for a missing value.

    Raises:
        ValueError: fewer than two types or more than `MOST_LISTED_TYPES`, repeated or blank declared values, contradictory
            choices, a merged text that the column does not hold.
    """
    if rare_below < 0:
        raise ValueError(
            f"rare_below is {rare_below}: use 0 to keep all values, or the fewest users a category may have."
        )
    if values is not None and rare_below:
        raise ValueError(
            "rare values are merged only when the categories are taken from the data: drop one of the two."
        )
    pairs = _pairs(merged or {})
    if values is None:
        if series is None:
            raise ValueError("there are no categories: list them, or load the data they are in.")
        column = columns.parse(series, weights)
        column = replace(column, missing=column.missing & ~np.isin(column.texts, list(answers)))
        name, origin = column.name if name is None else name, "data"
        values, complete = _found(column, pairs, rare_below)
        ordered = True if column.order and ordered is None else ordered
        if not complete:
            if outside == "refuse":
                raise ValueError('merging rare values needs outside="other": choose that, or keep all values.')
            outside = "other"
        pairs = {text: category for text, category in pairs.items() if category in values}
    else:
        values = tuple(str(value) for value in values)
        name = series.name if name is None and series is not None else name
    if ordered is None:
        numbers = columns.to_numbers(np.array(values, dtype=object))
        ordered = bool(np.isfinite(numbers).all() and (np.diff(numbers) >= 0).all())
    attribute = build(
        CategoricalAttribute,
        name=checked_name("the column" if name is None else name),
        values=values,
        merged=tuple(pairs.items()),
        ordered=ordered,
        missing=missing,
        outside=outside or "refuse",
        origin=origin,
    )
    return check_types(attribute)


def _pairs(merged: Mapping[str, Iterable[object]]) -> dict[str, str]:
    """The category each merged text goes to. A text that is its category's own name needs no entry."""
    pairs: dict[str, str] = {}
    for category, texts in merged.items():
        for text in (columns.plain(str(text)) for text in texts):
            if pairs.get(text, category) != category:
                raise ValueError(f"{quoted(text)} is merged into two categories: keep one.")
            pairs[text] = columns.plain(str(category))
    return {text: category for text, category in pairs.items() if text != category}


def _found(column: columns.Column, pairs: dict[str, str], rare_below: int) -> tuple[tuple[str, ...], bool]:
    """The categories of a column in order, and whether these are all of them."""
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
    if column.order:
        return tuple(categories.tolist()), bool(kept.all())
    return _in_order(categories, columns.to_numbers(categories)), bool(kept.all())


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
    """Texts by their numbers when all have one, else in natural order."""
    if np.isfinite(numbers).all():
        return tuple(text for _, text in sorted(zip(numbers.tolist(), texts, strict=True)))
    return tuple(sorted(texts, key=_natural))


def _natural(text: str) -> tuple[list[object], str]:
    # Pieces alternate between text and digits, so like is compared with like; 18 digits keep int() cheap.
    pieces = re.split(r"(\d{1,18})", text.casefold())
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], text
