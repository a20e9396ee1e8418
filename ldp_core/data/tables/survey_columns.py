"""How each column of a table can take part in a survey of all of them, found without asking anybody."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.data import columns
from ldp_core.data.tables.attributes import build_attribute, suggest_recipe
from ldp_core.data.tables.doubts import codes_of, doubts_of, far_numbers, with_codes
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    DateRecipe,
    NumericRecipe,
)
from ldp_core.data.tables.summary import ColumnSummary, called_id, identifies, summarise
from ldp_core.limits import MOST_COMBINATIONS, MOST_KEPT_CATEGORIES
from ldp_core.wording import listed

_SHOWN = 6
"""Most notes that are written one by one."""


@dataclass(frozen=True)
class Suggestion:
    """The ``recipe`` of a column, None where it has to be left out; ``note`` says why, or what the recipe does, in a sentence; and
    how many ``types`` the attribute has."""

    recipe: AttributeRecipe | None
    note: str = ""
    types: int = 1


def suggest_for_survey(column: columns.Column) -> Suggestion:
    """The suggested use of a column in a survey of many columns. Missing values are a separate
    category, as hardly anyone would be left if a gap in any column left people out. Only the most
    common of many categories are kept. Numbers far from all others count in the end bins. A column
    that says nothing about people, or identifies them, is left out."""
    summary = summarise(column)
    name = summary.name
    if not summary.distinct:
        return Suggestion(None, f"{name} is empty.")
    if summary.distinct == 1 and not summary.missing:
        return Suggestion(None, f"{name} has the same value for everyone.")
    if identifies(column):
        return Suggestion(None, _told_apart(summary))
    recipe, note = _suited(column, summary)
    doubts = doubts_of(recipe or CategoricalRecipe(column=name), column)
    note = " ".join([*filter(None, [note]), *(doubt.said for doubt in doubts)])
    if recipe is None:
        return Suggestion(None, note)
    try:
        types = build_attribute(recipe, column).size
    except ValueError as error:
        return Suggestion(None, f"{name} cannot be used as it is: {error}")
    return Suggestion(recipe, note, types)


def _told_apart(summary: ColumnSummary) -> str:
    """Why a column is left out that seems to tell people apart. Whole numbers with gaps between them may as well be amounts."""
    if summary.suggested == "numeric" and summary.minimum is not None and summary.maximum is not None:
        gaps = summary.maximum - summary.minimum >= summary.distinct
        if gaps and not called_id(summary.name):
            return (
                f"{summary.name} has {summary.distinct:,} different whole numbers, nearly one for each person, as ids have; if they are "
                "amounts, such as salaries, choose it under Attributes, and it is counted in bins."
            )
    return f"{summary.name} identifies people instead of describing them: it has {summary.distinct:,} different values."


def _suited(column: columns.Column, summary: ColumnSummary) -> tuple[AttributeRecipe | None, str]:
    """The recipe that keeps everyone, with what is to be said about it; None with the reason where there is none."""
    recipe, gaps = suggest_recipe(column), summary.missing > 0
    if isinstance(recipe, CategoricalRecipe):
        return _categories(recipe, column, gaps)
    fits = summary.numbers if isinstance(recipe, NumericRecipe) else summary.dates
    stray = summary.rows - summary.missing - fits
    what = {"missing": "category" if gaps or stray else recipe.missing}
    if isinstance(recipe, DateRecipe):
        return recipe.model_copy(update=what | {"non_dates": "missing" if stray else recipe.non_dates}), ""
    if not isinstance(recipe, NumericRecipe):
        return recipe.model_copy(update=what), ""
    numeric = recipe.model_copy(update=what | {"non_numbers": "missing" if stray else recipe.non_numbers})
    said, codes = "", codes_of(column)
    if codes:  # people stay: missing values are a category of their own
        numeric = with_codes(numeric, codes).model_copy(update={"missing": "category"})
        said = f"{listed([f'{code:.15g}' for code in codes])} in {summary.name} {'counts' if len(codes) == 1 else 'count'} as missing."
    far = far_numbers(numeric, column)
    return (numeric, said) if far is None else (far.ways[0][1], f"{said} {far.effect}".strip())


def _categories(recipe: CategoricalRecipe, column: columns.Column, gaps: bool) -> tuple[AttributeRecipe | None, str]:
    users = np.sort(column.rows_per_text[~column.missing])[::-1]
    kept = recipe.model_copy(update={"missing": "category" if gaps else recipe.missing})
    if len(users) <= MOST_KEPT_CATEGORIES:
        return kept, ""
    least = int(users[MOST_KEPT_CATEGORIES]) + 1
    many = int((users >= least).sum())
    if not many:
        most = int(users[0])
        reason = f"{column.name} has {len(users):,} different values, none of more than {most:,} people: merge them into groups first."
        return None, reason
    note = (
        f"Of {column.name}, {'the most common value is' if many == 1 else f'the {many} most common values are'} kept and the other "
        f"{len(users) - many:,} count as (other)."
    )
    return kept.model_copy(update={"rare_below": least}), note


def told_of(suggestions: dict[str, Suggestion]) -> list[str]:
    """The notes after all columns have been looked at: how many are chosen, and a sentence for each
    special one."""
    chosen = [suggestion for suggestion in suggestions.values() if suggestion.recipe is not None]
    left = [suggestion.note for suggestion in suggestions.values() if suggestion.recipe is None]
    changed = [suggestion.note for suggestion in chosen if suggestion.note]
    said = f"{len(chosen):,} of {len(suggestions):,} columns {'is' if len(chosen) == 1 else 'are'} chosen."
    out = [f"Left out (choose them by hand if you need them): {_first(left)}"] if left else []
    return [said, *out, *([_first(changed)] if changed else [])]


def fitting(types: Sequence[int]) -> int:
    """How many attributes, from the first on, fit one domain.

    Parameters
    ----------
    types : sequence of int
        The number of types of each attribute.

    Returns
    -------
    int
        The largest number of first attributes with at most `MOST_COMBINATIONS` types together; at least one.
    """
    combinations = itertools.accumulate(types, operator.mul)
    return max(1, sum(size <= MOST_COMBINATIONS for size in combinations))


def _first(notes: list[str]) -> str:
    more = f" And {len(notes) - _SHOWN:,} more columns likewise." if len(notes) > _SHOWN else ""
    return " ".join(notes[:_SHOWN]) + more
