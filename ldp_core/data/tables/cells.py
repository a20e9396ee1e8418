"""Columns as rows of one table that a person edits: what all kinds have in a cell each, bins as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

import pandas as pd

from ldp_core.data.domain import Origin, Unit
from ldp_core.data.population import listed
from ldp_core.data.tables.dates import other_unit
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    ChoiceRecipe,
    CombinedRecipe,
    CourseRecipe,
    DateRecipe,
    NumericRecipe,
    RankingRecipe,
)
from ldp_core.limits import MOST_BINS_ON_PAGES, MOST_SHOWN_CHARACTERS
from ldp_core.wording import quoted, shortened

KINDS = {
    **{"categorical": "categories", "numeric": "numbers", "date": "dates"},
    **{"choice": "several chosen", "ranking": "a ranking", "course": "several days"},
}
PRIVACY = {False: "secret", True: "known: sent as it is"}
MISSING = {"drop": "left out", "category": "a category", "refuse": "refused"}
_BLANK: dict[str, Any] = {
    **{"categorical": CategoricalRecipe, "numeric": NumericRecipe, "date": DateRecipe},
    **{"choice": ChoiceRecipe, "ranking": RankingRecipe, "course": CourseRecipe},
}
_COUNT = re.compile(r"(\d+)(?: bins?)?(?: of (equal|one) (count|width))?", re.IGNORECASE)
_BETWEEN = re.compile(r"(\S+) to (\S+?)(?:,? in (\d+)(?: bins?)?)?", re.IGNORECASE)
_DATES = re.compile(rf"(?:by )?({'|'.join(get_args(Unit))})s?(?:[,:]? (\S+) to (\S+))?", re.IGNORECASE)
_OPEN = "?"
"""Stands for an end that is not given."""


def column_table(names: Sequence[str], recipes: Iterable[AttributeRecipe]) -> pd.DataFrame:
    """All columns of a table, or of a declaration, as rows that a person edits.

    Parameters
    ----------
    names : sequence of str
        The columns, in the order of the rows.
    recipes : iterable of recipes
        Of those that are asked about.

    Returns
    -------
    DataFrame
        A row for each of ``names``: `asked` (bool), whether it has a recipe, `column`, and texts, empty where it has none:
        `kind` of `KINDS`, `privacy` of `PRIVACY`, `bins` (see `bins_as_text`), `missing` of `MISSING`.
    """
    cells = {
        recipe.column: (KINDS[recipe.kind], PRIVACY[recipe.known], bins_as_text(recipe), MISSING[recipe.missing])
        for recipe in recipes
    }
    rows = [(name in cells, name, *cells.get(name, [""] * 4)) for name in names]
    return pd.DataFrame(rows, columns=["asked", "column", "kind", "privacy", "bins", "missing"])


def with_cells(recipe: AttributeRecipe, cells: Mapping[str, Any]) -> tuple[AttributeRecipe, dict[str, str]]:
    """The recipe with what was typed into cells of its row of a `column_table`, and {cell: sentence} for those that cannot be read, which
    change nothing. Which values are secret is forgotten with other bins."""
    refused = {}
    for name, change in _CHANGES.items():
        if name in cells:
            try:
                recipe = change(recipe, str(cells[name] or "").strip())
            except ValueError as error:
                refused[name] = str(error)
    return recipe, refused


def bins_as_text(recipe: AttributeRecipe) -> str:
    """The bins of numbers ("8", "8 of equal count", "18, 30, 65", "10 to 90 in 8"), the unit of dates ("month", "month, 2026-01 to
    2026-12") or the categories or items ("no, yes"); nothing where these are taken from the data. ``?`` is an end taken from them."""
    if recipe.kind == "date":
        ends = f"{recipe.first or _OPEN} to {recipe.last or _OPEN}"
        return recipe.unit + (f", {ends}" if recipe.first or recipe.last else "")
    if recipe.kind != "numeric":
        values = (recipe.categories if isinstance(recipe, CategoricalRecipe) else recipe.items) or ()
        text = ("; " if any("," in value for value in values) else ", ").join(values)
        whole = len(text) <= MOST_SHOWN_CHARACTERS and _categories(text) == values
        return text if whole else f"{len(values):,} categories"
    if recipe.method == "own_edges":
        return ", ".join(map(_typed, recipe.edges))
    if recipe.method == "range":
        return f"{_typed(recipe.low)} to {_typed(recipe.high)} in {recipe.bins}"
    return f"{recipe.bins}{' of equal count' if recipe.method == 'equal_count' else ''}"


def with_bins(recipe: AttributeRecipe, text: str) -> AttributeRecipe:
    """The recipe with the bins, the dates or the categories of a text as `bins_as_text` writes it.

    Raises
    ------
    ValueError
        A sentence on what may be written.
    """
    if recipe.kind == "numeric":
        fields = _bins(recipe, text)
    else:
        fields = _dates(recipe, text) if recipe.kind == "date" else _listed(recipe, text)
    if fields is None:
        raise ValueError(
            f"{shortened(recipe.column)}: {quoted(text)} cannot be read as {_TAKEN.get(recipe.kind, _NAMED)}."
        )
    return recipe.model_copy(update={"secret": None, **fields})


_TAKEN = {
    "numeric": "bins. Write 8 for bins of one width, 18, 30, 65 for your edges, or 10 to 90 in 8 with the lowest and highest value",
    "date": "dates. Write day, week, month, quarter or year, or month, 2026-01 to 2026-12",
}
_NAMED = "categories. Write two or more with commas between them, such as never, sometimes, often"


def _bins(recipe: NumericRecipe, text: str) -> dict[str, Any] | None:
    if not text:
        return {"method": "equal_width", "edges": (), "low": None, "high": None}
    if (count := _COUNT.fullmatch(text)) is not None:
        way = "equal_count" if (count[3] or "").lower() == "count" else "equal_width"
        kept = "range" if recipe.method == "range" and way == "equal_width" else way
        return {"method": kept, "bins": _whole(recipe, count[1]), "edges": ()}
    if (between := _BETWEEN.fullmatch(text)) is not None:
        ends = [None if end == _OPEN else _number(end) for end in between.group(1, 2)]
        if any(end is not None and end != end for end in ends):
            return None
        bins = recipe.bins if between[3] is None else _whole(recipe, between[3])
        return {
            "method": "range",
            "low": ends[0],
            "high": ends[1],
            "bins": bins,
            "edges": (),
            "origin": _origin(recipe, ends),
        }
    edges = [_number(part) for part in re.split("[,;]", text) if part.strip()]
    if len(edges) < 2 or any(edge != edge for edge in edges):
        return None
    return {"method": "own_edges", "edges": tuple(edges), "low": None, "high": None, "origin": _origin(recipe, edges)}


def _dates(recipe: DateRecipe, text: str) -> dict[str, Any] | None:
    found = _DATES.fullmatch(text or recipe.unit)
    if found is None:
        return None
    unit = next(unit for unit in get_args(Unit) if unit == found[1].lower())
    first, last = (None if end == _OPEN else end for end in found.group(2, 3))
    origin = _origin(recipe, [first, last])
    if unit != recipe.unit:
        first, last = other_unit(first, recipe.unit, unit), other_unit(last, recipe.unit, unit, end=True)
    return {"unit": unit, "first": first, "last": last, "origin": origin}


def _listed(recipe: CategoricalRecipe | CombinedRecipe, text: str) -> dict[str, Any] | None:
    named = _categories(text)
    if len(named) == 1:
        return None
    if not isinstance(recipe, CategoricalRecipe):
        return {"items": named or None, "origin": _origin(recipe, named)}
    return {"categories": named or None, "merges": (), "rare_below": 0, "origin": _origin(recipe, named)}


def _categories(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip()) if ";" in text else listed(text)


def _origin(recipe: AttributeRecipe, typed: Iterable[Any]) -> Origin:
    """Declared, but for what is typed beside ends, edges or categories that were taken from the data, and stay."""
    names = ("categories", "items", "low", "high", "edges", "first", "last")
    held = [getattr(recipe, name, None) for name in names]
    before = {part for one in held for part in (one if isinstance(one, tuple) else [one])} - {None}
    return recipe.origin if before & set(typed) else "declared"


def _whole(recipe: NumericRecipe, text: str) -> int:
    """A number of bins. ValueError for one that no column can have."""
    if len(text) > 9 or not 2 <= int(text) <= MOST_BINS_ON_PAGES:
        raise ValueError(
            f"{shortened(recipe.column)}: {shortened(text, 30)} bins are not possible: write a number from 2 to {MOST_BINS_ON_PAGES:,}."
        )
    return int(text)


def _number(text: str) -> float:
    """A finite number, or NaN."""
    try:
        value = float(text.strip())
    except ValueError:
        return float("nan")
    return value if abs(value) < float("inf") else float("nan")


def _typed(value: float | None) -> str:
    return _OPEN if value is None else f"{value:.15g}"


def _named(recipe: AttributeRecipe, text: str) -> AttributeRecipe:
    if not text:
        raise ValueError(f"{shortened(recipe.column)}: a column needs a name.")
    return recipe.model_copy(update={"column": text})


def _kind(recipe: AttributeRecipe, text: str) -> AttributeRecipe:
    kind = _key(KINDS, text or KINDS[recipe.kind])
    return recipe if kind == recipe.kind else recipe.other(_BLANK[kind])


def _key(titles: Mapping[Any, str], text: str) -> Any:
    """What has this title; the first for none."""
    for key, title in titles.items():
        if title == text or not text:
            return key
    raise ValueError(f"{quoted(text)} is not among {', '.join(titles.values())}.")


_CHANGES: dict[str, Callable[[AttributeRecipe, str], AttributeRecipe]] = {
    "column": _named,
    "kind": _kind,
    "privacy": lambda recipe, text: recipe.model_copy(update={"known": _key(PRIVACY, text), "secret": None}),
    "bins": with_bins,
    "missing": lambda recipe, text: recipe.model_copy(update={"missing": _key(MISSING, text), "secret": None}),
}
"""What each cell changes; the kind before the bins."""
