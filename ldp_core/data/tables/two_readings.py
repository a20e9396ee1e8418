"""Columns that can be read in two ways: what was taken, in a sentence, and the other ways, each one click away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain.dates import periods_of
from ldp_core.data.tables.codes import codes_of
from ldp_core.data.tables.dates import crowd_of_dates
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    DateRecipe,
    NumericRecipe,
)
from ldp_core.data.tables.summary import MOSTLY
from ldp_core.wording import listed, plural, quote_examples, quoted

_TWO_DIGITS = r"^\d{1,2}[-/.]\d{1,2}[-/.]\d\d$"
_EXPONENT = r"^[+-]?\d+[eE]\d+$"


@dataclass(frozen=True)
class Reading:
    """``said`` is what was taken; ``ways`` are the alternatives, each by the label of its button."""

    said: str
    ways: tuple[tuple[str, AttributeRecipe], ...] = ()


def readings(recipe: AttributeRecipe, series: pd.Series, weights: np.ndarray | None = None) -> tuple[Reading, ...]:
    """The doubts about a column under its recipe; empty where it can be read in one way only."""
    column = columns.parse(series, weights)
    if isinstance(recipe, CategoricalRecipe):
        possible: list[Reading | None] = [_words(recipe, column), _dates(recipe, column), _exponents(recipe, column)]
    elif isinstance(recipe, DateRecipe):
        possible = [_dates(recipe, column), _far(recipe, column)]
    else:
        possible = [_exponents(recipe, column), _codes(recipe, column), _known_codes(recipe, column)]
    return tuple(reading for reading in possible if reading is not None)


def _words(recipe: CategoricalRecipe, column: columns.Column) -> Reading | None:
    """Texts such as None and N/A, which count as missing unless they are answers."""
    known = {*(recipe.categories or ()), *recipe.answers, *(text for merge in recipe.merges for text in merge.texts)}
    words = [text for text in column.texts[column.missing] if text not in known]
    if not words:
        return _kept_words(recipe, column)
    users = int(column.rows_per_text[np.isin(column.texts, words)].sum())
    said = f"{quote_examples(words)} in {column.name} {'counts' if len(words) == 1 else 'count'} as missing ({plural(users, 'user')})."
    update: dict[str, Any] = {"answers": (*recipe.answers, *words)}
    if recipe.categories is not None:
        update = {"categories": (*recipe.categories, *words)}
    return Reading(said, (("Keep as an answer", recipe.model_copy(update=update)),))


def _kept_words(recipe: CategoricalRecipe, column: columns.Column) -> Reading | None:
    kept = [text for text in recipe.answers if text in column.texts]
    if not kept:
        return None
    said = f"{quote_examples(kept)} in {column.name} {'counts' if len(kept) == 1 else 'count'} as an answer."
    return Reading(said, (("Count as missing", recipe.model_copy(update={"answers": ()})),))


def _dates(recipe: CategoricalRecipe | DateRecipe, column: columns.Column) -> Reading | None:
    """Dates that read as two days, or whose years have two digits."""
    texts = column.texts[~column.missing]
    if not len(texts):
        return None
    if columns.matching(texts, _TWO_DIGITS).mean() >= MOSTLY:
        said = (
            f"{column.name} seems to hold dates with years of two digits, such as {quoted(texts[0])}: these are not read as dates, "
            "since the century is open. Write the years with four digits to count by month or year."
        )
        return Reading(said)
    days = [periods_of(texts, "day", day_first) for day_first in (True, False)]
    if min((read >= 0).mean() for read in days) < MOSTLY or (days[0] == days[1]).all():
        return None
    if isinstance(recipe, DateRecipe) and recipe.day_first is None:
        return None
    example = quoted(texts[int(np.argmax(days[0] != days[1]))])
    kept: dict[str, Any] = {"column": recipe.column, "missing": recipe.missing}
    ways = [("Day first", DateRecipe(day_first=True, **kept)), ("Month first", DateRecipe(day_first=False, **kept))]
    if isinstance(recipe, DateRecipe):
        taken, way = ("day", ways[1]) if recipe.day_first else ("month", ways[0])
        return Reading(f"{example} in {column.name} was read with the {taken} first; it could be another date.", (way,))
    said = f"{example} in {column.name} could be two dates, so its values are categories: say which comes first, day or month."
    return Reading(said, tuple(ways))


def _far(recipe: DateRecipe, column: columns.Column) -> Reading | None:
    """Dates far from all others, such as 9999-12-31, which may stand for none."""
    far = crowd_of_dates(column, recipe.unit, recipe.day_first)
    if far is None or (recipe.origin == "declared" and (recipe.first or recipe.last)):
        return None
    first, last, beyond = far
    users, such = plural(int(column.rows_per_text[beyond].sum()), "user"), quote_examples(column.texts[beyond])
    if recipe.origin == "data":
        said = f"{recipe.column} goes from {first} to {last}; dates far from these, such as {such}, count in the end periods ({users})."
        ends: dict[str, Any] = {"first": None, "last": None, "outside": "other", "origin": "declared"}
        return Reading(said, (("All dates", recipe.model_copy(update=ends)),))
    said = f"Dates of {recipe.column} such as {such} lie far from all others ({users})."
    ends = {"first": first, "last": last, "outside": "clamp", "origin": "data"}
    return Reading(said, ((f"From {first} to {last}", recipe.model_copy(update=ends)),))


def _exponents(recipe: CategoricalRecipe | NumericRecipe, column: columns.Column) -> Reading | None:
    """Texts such as 7E4, which may be codes or numbers."""
    numbers, present = np.isfinite(column.numbers), ~column.missing
    texts = column.texts[columns.matching(column.texts, _EXPONENT)]
    if not len(texts) or numbers[present].mean() < MOSTLY:
        return None
    number = f"{columns.to_numbers(texts[:1])[0]:.15g}"
    kept: dict[str, Any] = {"column": recipe.column, "missing": recipe.missing}
    if isinstance(recipe, CategoricalRecipe):
        said = f"{quoted(texts[0])} in {column.name} is a category; it could be the number {number}."
        return Reading(said, (("Numbers in bins", NumericRecipe(**kept)),))
    said = f"{quoted(texts[0])} in {column.name} was read as the number {number}; it could be a code."
    return Reading(said, (("Categories", CategoricalRecipe(**kept)),))


def _codes(recipe: NumericRecipe, column: columns.Column) -> Reading | None:
    codes = codes_of(column, recipe.no_answer)
    if not codes:
        return None
    said = f"{_numbers(column, codes)}: a number so far from all others may be a code for no answer."
    return Reading(said, (("Count as missing", with_codes(recipe, codes)),))


def _known_codes(recipe: NumericRecipe, column: columns.Column) -> Reading | None:
    known = tuple(code for code in recipe.no_answer if code in column.numbers)
    if not known:
        return None
    kept = tuple(code for code in recipe.no_answer if code not in known)
    said = f"{_numbers(column, known)}, counted as missing."
    return Reading(
        said,
        (
            (
                "Keep as a number" if len(known) == 1 else "Keep as numbers",
                recipe.model_copy(update={"no_answer": kept}),
            ),
        ),
    )


def with_codes(recipe: NumericRecipe, codes: tuple[float, ...]) -> NumericRecipe:
    """The recipe with more numbers that count as missing. Ends that were taken from the data are so again, without these."""
    update: dict[str, Any] = {"no_answer": (*recipe.no_answer, *codes)}
    if recipe.method == "range" and recipe.origin == "data":
        update |= {"method": "equal_width", "low": None, "high": None, "outside": "refuse", "origin": "declared"}
    return recipe.model_copy(update=update)


def _numbers(column: columns.Column, codes: tuple[float, ...]) -> str:
    """Codes and who has them: 999 in age (12 users)."""
    users = int(column.rows_per_text[np.isin(column.numbers, codes)].sum())
    return f"{listed([f'{code:.15g}' for code in codes], 6)} in {column.name} ({plural(users, 'user')})"
