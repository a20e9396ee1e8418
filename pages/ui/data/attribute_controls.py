"""The part of the Data page that turns a column, or nothing but words, into an attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from ldp_core.data import tables
from ldp_core.data.domain import MAX_TYPES
from ldp_core.data.tables import AttributeRecipe, CategoricalRecipe, DateRecipe, NumericRecipe
from pages.ui.controls import control, number, pick, typed

KINDS = {"categorical": "categories", "numeric": "numbers in bins", "date": "dates"}
BLANK = {"categorical": CategoricalRecipe, "numeric": NumericRecipe, "date": DateRecipe}
METHODS = {
    "equal_width": "equal width",
    "equal_count": "equal count",
    "own_edges": "own edges",
    "range": "one width, from and to as given",
}
UNITS = {unit: unit for unit in ("day", "week", "month", "quarter", "year")}
DAY_FIRST = {None: "as found", True: "day first: 31/12/2026", False: "month first: 12/31/2026"}
MISSING = {"drop": "leave those people out", "category": "a category of their own", "refuse": "refuse the data"}
OUTSIDE = {"other": "count as (other)", "clamp": "move to the nearest end", "refuse": "refuse the data"}
MANY_BINS = 2**20

Commit = Callable[[AttributeRecipe], None]


def of_column(recipe: AttributeRecipe, commit: Commit) -> None:
    """How the values of a column become types."""
    _kind(recipe, commit, "data-kind", KINDS)
    if recipe.kind == "categorical":
        _categories(recipe, commit)
    elif recipe.kind == "numeric":
        _numbers(recipe, commit)
    else:
        _dates(recipe, commit, "blank: as found")
        _pick("Day and month", "day_first", recipe, commit, DAY_FIRST)
        _texts(recipe, commit, "non_dates", "a date")
    _pick("Missing values", "missing", recipe, commit, MISSING)
    ways = {way: words for way, words in OUTSIDE.items() if way != "clamp" or recipe.kind != "categorical"}
    _pick(
        "Values outside the domain",
        "outside",
        recipe,
        commit,
        ways,
        help="What a person's device does with a value that is not listed or lies beyond the ends.",
    )


def declared(recipe: AttributeRecipe, commit: Commit) -> None:
    """An attribute described in words, before there is data."""
    control(
        st.text_input, "Name of the value", "declare-name", recipe.column, lambda name: commit(_named(recipe, name))
    )
    _kind(recipe, commit, "declare-kind", {**KINDS, "numeric": "a range in bins"})
    if recipe.kind == "categorical":
        control(
            st.text_area,
            "Categories, one per line (or separated by commas)",
            "declare-categories",
            "\n".join(recipe.categories or ()),
            lambda text: commit(_with(recipe, categories=tables.listed(text))),
            placeholder="never\nsometimes\noften",
        )
        _ordered(recipe, commit)
    elif recipe.kind == "numeric":
        low, high = st.columns(2)
        with low:
            _end(recipe, commit, "low", "Lowest value", "declare-low", "18")
        with high:
            _end(recipe, commit, "high", "Highest value", "declare-high", "90")
        _bins(recipe, commit, "declare-bins", MANY_BINS)
        control(
            st.checkbox,
            "Whole numbers only",
            "declare-integer",
            bool(recipe.integer),
            lambda on: commit(_with(recipe, integer=on)),
        )
    else:
        _dates(recipe, commit, "2026-01")


def _kind(recipe: AttributeRecipe, commit: Commit, key: str, kinds: dict[str, str]) -> None:
    def chosen(kind: str | None) -> None:
        if kind is not None:  # a second click takes the choice away
            own_range = {"method": "range", "integer": False} if kind == "numeric" and key == "declare-kind" else {}
            commit(BLANK[kind](column=recipe.column, missing=recipe.missing, **own_range))

    control(
        st.segmented_control,
        "Treat its values as" if key == "data-kind" else "The values are",
        key,
        recipe.kind,
        chosen,
        options=[*kinds],
        format_func=kinds.get,
    )


def _categories(recipe: CategoricalRecipe, commit: Commit) -> None:
    if recipe.categories is None:
        _setting(
            st.number_input,
            "Merge values of fewer than this many people into (other)",
            "rare_below",
            recipe,
            commit,
            min_value=0,
            step=1,
            help="0 keeps every value. To merge or rename values by hand, edit the table on the right.",
        )
    else:
        st.caption("The categories were edited by hand.")
        st.button(
            "As in the data",
            key="data-reread",
            icon=":material/refresh:",
            on_click=commit,
            args=(CategoricalRecipe(column=recipe.column, missing=recipe.missing, outside=recipe.outside),),
            help="Forget the edits and list the values of the data again.",
        )
    _ordered(recipe, commit)


def _ordered(recipe: CategoricalRecipe, commit: Commit) -> None:
    words = {None: "only if all are numbers", True: "yes", False: "no"}
    _pick(
        "Does their order mean something?",
        "ordered",
        recipe,
        commit,
        words,
        help="Small, medium, large has an order; red, green, blue has none. Running totals and ranges need one.",
    )


def _numbers(recipe: NumericRecipe, commit: Commit) -> None:
    _pick("Bins", "method", recipe, commit, METHODS)
    if recipe.method == "own_edges":
        control(
            st.text_input,
            "Edges, from low to high",
            "data-edges",
            ", ".join(map(typed, recipe.edges)),
            lambda text: commit(_with(recipe, edges=_edges(text))),
            placeholder="0, 18, 30, 45, 65, 100",
        )
    else:
        _bins(recipe, commit, "data-bins", MANY_BINS if recipe.method == "range" else MAX_TYPES)
    if recipe.method == "range":
        low, high = st.columns(2)
        with low:
            _end(recipe, commit, "low", "Lowest value", "data-low", "as found")
        with high:
            _end(recipe, commit, "high", "Highest value", "data-high", "as found")
    _texts(recipe, commit, "non_numbers", "a number")


def _dates(recipe: DateRecipe, commit: Commit, example: str) -> None:
    _pick("Count by", "unit", recipe, commit, UNITS)
    first, last = st.columns(2)
    for column, name, label in ((first, "first", "First"), (last, "last", "Last")):
        with column:
            control(
                st.text_input,
                f"{label} {recipe.unit}",
                f"data-{name}",
                getattr(recipe, name) or "",
                lambda text, name=name: commit(_with(recipe, **{name: text.strip() or None})),
                placeholder=example,
            )


def _texts(recipe: AttributeRecipe, commit: Commit, name: str, what: str) -> None:
    control(
        st.checkbox,
        "Other texts count as missing",
        "data-texts",
        getattr(recipe, name) == "missing",
        lambda on: commit(_with(recipe, **{name: "missing" if on else "refuse"})),
        help=f"Texts in this column that are not {what}, such as “over 90”. Otherwise such a column is refused.",
    )


def _bins(recipe: NumericRecipe, commit: Commit, key: str, most: int) -> None:
    control(
        st.number_input,
        "Number of bins (at most)",
        key,
        min(recipe.bins, most),
        lambda bins: commit(_with(recipe, bins=int(bins))),
        min_value=2,
        max_value=most,
        step=1,
    )


def _end(recipe: NumericRecipe, commit: Commit, name: str, label: str, key: str, example: str) -> None:
    control(
        st.text_input,
        label,
        key,
        typed(getattr(recipe, name)),
        lambda text: commit(_with(recipe, **{name: number(text, f"the {label.lower()}") if text.strip() else None})),
        placeholder=example,
    )


def _setting(widget: Any, label: str, name: str, recipe: AttributeRecipe, commit: Commit, **options: Any) -> None:
    """A widget that shows and changes one field of the recipe."""
    control(
        widget,
        label,
        f"data-{name.replace('rare_below', 'rare')}",
        getattr(recipe, name),
        lambda value: commit(_with(recipe, **{name: value})),
        **options,
    )


def _pick(
    label: str, name: str, recipe: AttributeRecipe, commit: Commit, shown: dict[Any, str], **options: Any
) -> None:
    """A selectbox that shows and changes one field of the recipe."""
    change = lambda value: commit(_with(recipe, **{name: value}))  # noqa: E731
    pick(label, f"data-{name}", getattr(recipe, name), change, shown, **options)


def _with(recipe: AttributeRecipe, **changes: Any) -> AttributeRecipe:
    return recipe.model_copy(update=changes)


def _named(recipe: AttributeRecipe, name: str) -> AttributeRecipe:
    if not name.strip():
        raise ValueError("The value needs a name, such as age.")
    return _with(recipe, column=name.strip())


def _edges(text: str) -> tuple[float, ...]:
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    return tuple(number(part, f"edge {i}") for i, part in enumerate(parts, start=1))
