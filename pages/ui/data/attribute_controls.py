"""The part of the Data page that turns a column, or nothing but words, into an attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ldp_core.data import tables
from ldp_core.data.domain import Unit
from ldp_core.data.tables import AttributeRecipe, CategoricalRecipe, DateRecipe, NumericRecipe
from ldp_core.limits import MOST_BINS_ON_PAGES, MOST_LISTED_TYPES
from pages.ui import layout
from pages.ui.controls import control, number, pick, typed
from pages.ui.data import combined_controls

KINDS = {"categorical": "categories", "numeric": "numbers in bins", "date": "dates", **combined_controls.KINDS}
BLANK: dict[str, Any] = {
    "categorical": CategoricalRecipe,
    "numeric": NumericRecipe,
    "date": DateRecipe,
    **combined_controls.BLANK,
}
METHODS = {
    "equal_width": "equal width",
    "equal_count": "equal count",
    "own_edges": "own edges",
    "range": "equal width, between given ends",
}
UNITS = {unit: unit for unit in ("day", "week", "month", "quarter", "year")}
DAY_FIRST = {None: "as found", True: "day first: 31/12/2026", False: "month first: 12/31/2026"}
MISSING = {"drop": "leave those people out", "category": "a category of their own", "refuse": "refuse the data"}
OUTSIDE = {"other": "count as (other)", "clamp": "move to the nearest end", "refuse": "refuse the data"}

PERSONAL = re.compile(
    r"(?i)(?<![a-z])(age|sex|gender|health|diagnos|disease|illness|drug|smok|alcohol|income|salary|wage|religion|ethnic|party|vote|crim)"
)
"""Names of columns that are rarely known of everybody."""
MANY_TYPES = 50
"""Columns of more values tell people apart."""

Commit = Callable[[AttributeRecipe], None]
Change = Callable[..., None]
"""Commits the recipe with the fields that are given by name."""


def of_column(recipe: AttributeRecipe, commit: Commit, types: int) -> None:
    """How the values of a column become ``types``."""
    change = _change(recipe, commit)
    _kind(recipe, commit, "Treat its values as", "data-kind", KINDS)
    if recipe.kind == "categorical":
        _categories(recipe, change, commit)
    elif recipe.kind == "numeric":
        _numbers(recipe, change)
    elif recipe.kind == "date":
        _dates(recipe, change, "blank: as found")
        _pick("Day and month", "day_first", recipe, change, DAY_FIRST)
    else:
        combined_controls.of_combinations(recipe, change, "data", "blank: as found")
    _known(recipe, change, types)
    with layout.more("Values that do not fit"):
        if recipe.kind in ("numeric", "date"):
            name, what = ("non_numbers", "a number") if recipe.kind == "numeric" else ("non_dates", "a date")
            _texts(recipe, change, name, what)
        _pick("Missing values", "missing", recipe, change, MISSING)
        ways = {way: words for way, words in OUTSIDE.items() if way != "clamp" or recipe.kind in ("numeric", "date")}
        help = "What a person's device does with a value that is not listed or lies beyond the ends."
        _pick("Values outside the domain", "outside", recipe, change, ways, help=help)


def declared(recipe: AttributeRecipe, commit: Commit, types: int) -> None:
    """An attribute described in words, before there is data."""
    change = _change(recipe, commit)
    control(
        st.text_input, "Name of the value", "declare-name", recipe.column, lambda name: change(column=_checked(name))
    )
    ranges = {"method": "range", "integer": False}
    _kind(recipe, commit, "The values are", "declare-kind", {**KINDS, "numeric": "a range in bins"}, numeric=ranges)
    if recipe.kind == "categorical":
        control(
            st.text_area,
            "Categories, one per line (or separated by commas)",
            "declare-categories",
            "\n".join(recipe.categories or ()),
            lambda text: change(categories=tables.listed(text)),
            placeholder="never\nsometimes\noften",
        )
        _ordered(recipe, change)
    elif recipe.kind == "numeric" and recipe.method == "own_edges":
        _own_edges(recipe, change, "declare-edges")
        st.button(
            "Bins of one width again",
            key="declare-width",
            icon=":material/refresh:",
            on_click=change,
            kwargs={"method": "range", "edges": (), "low": recipe.edges[0], "high": recipe.edges[-1]},
        )
    elif recipe.kind == "numeric":
        _ends(recipe, change, "declare", "18", "90")
        _bins(recipe, change, "declare-bins", MOST_BINS_ON_PAGES)
        whole = bool(recipe.integer)
        control(st.checkbox, "Whole numbers only", "declare-integer", whole, lambda on: change(integer=on))
    elif recipe.kind == "date":
        _dates(recipe, change, "2026-01")
    else:
        combined_controls.of_combinations(recipe, change, "declare", "bus\ncar\nwalk")
    _known(recipe, change, types)


def _known(recipe: AttributeRecipe, change: Change, types: int) -> None:
    control(
        st.toggle,
        "The collector knows this already (not a secret)",
        "data-known",
        recipe.known,
        lambda on: change(known=on),
        help="Such as the arm of an experiment or the region of a shop. Devices send it in the clear beside each report, and nothing protects "
        "it; all of epsilon goes to the other columns, which takes far fewer people.",
    )
    if recipe.known:
        st.caption("Every device sends this value in the clear. Only the other columns are protected.")
        if PERSONAL.search(recipe.column) or types > MANY_TYPES:
            st.warning("This column may be personal. Leave it secret unless the collector has it of everybody already.")


def secret(recipe: AttributeRecipe, commit: Commit, labels: Sequence[str]) -> None:
    """Which of the values, which have these ``labels``, are secret; all of them unless somebody says otherwise."""
    if recipe.known or len(labels) < 2:
        return

    def chosen(some: Sequence[str]) -> None:
        named = tuple(label for label in labels if label in some)
        commit(recipe.model_copy(update={"secret": None if len(named) == len(labels) else named}))

    control(
        st.multiselect,
        "Which values are secret?",
        "data-secret",
        list(labels if recipe.secret is None else recipe.secret),
        chosen,
        options=list(labels),
        placeholder="none: not sensitive",
        help="Whoever has a secret value is hidden among everybody. A report may say any other value outright, which takes fewer people. With no "
        "value secret, the column is hidden only for people with a secret value elsewhere.",
    )


def _change(recipe: AttributeRecipe, commit: Commit) -> Change:
    """Commits a change; which values are secret is asked again, as there may be others then."""
    return lambda **fields: commit(recipe.model_copy(update={"secret": None, **fields}))


def _kind(
    recipe: AttributeRecipe, commit: Commit, label: str, key: str, kinds: dict[str, str], **fields: dict[str, Any]
) -> None:
    """Choose how values are read; ``fields`` are the initial settings of an attribute of a kind."""

    def chosen(kind: str | None) -> None:
        if kind is not None:  # a second click takes the choice away
            commit(recipe.other(BLANK[kind], **fields.get(kind, {})))

    control(st.segmented_control, label, key, recipe.kind, chosen, options=[*kinds], format_func=kinds.get)


def _categories(recipe: CategoricalRecipe, change: Change, commit: Commit) -> None:
    if recipe.categories is None:
        control(
            st.number_input,
            "Merge values of fewer than this many people into (other)",
            "data-rare",
            recipe.rare_below,
            lambda people: change(rare_below=people),
            min_value=0,
            help="0 keeps every value. To merge or rename values by hand, edit the table below.",
        )
    else:
        st.caption("The categories were edited by hand.")
        st.button(
            "As in the data",
            key="data-reread",
            icon=":material/refresh:",
            on_click=commit,
            args=(recipe.other(CategoricalRecipe, outside=recipe.outside),),
            help="Forget the edits and list the values of the data again.",
        )
    _ordered(recipe, change)


def _ordered(recipe: CategoricalRecipe, change: Change) -> None:
    words = {None: "only if all are numbers", True: "yes", False: "no"}
    help = "Small, medium, large has an order; red, green, blue has none. Running totals and ranges need one."
    _pick("Does their order mean something?", "ordered", recipe, change, words, help=help)


def _numbers(recipe: NumericRecipe, change: Change) -> None:
    _pick("Bins", "method", recipe, change, METHODS)
    if recipe.method == "own_edges":
        _own_edges(recipe, change, "data-edges")
    else:
        _bins(recipe, change, "data-bins", MOST_BINS_ON_PAGES if recipe.method == "range" else MOST_LISTED_TYPES)
    if recipe.method == "range":
        _ends(recipe, change, "data", "as found", "as found")


def _own_edges(recipe: NumericRecipe, change: Change, key: str) -> None:
    with layout.wide():
        control(
            st.text_input,
            "Edges, from low to high",
            key,
            ", ".join(map(typed, recipe.edges)),
            lambda text: change(edges=_edges(text)),
            placeholder="0, 18, 30, 45, 65, 100",
        )


def _dates(recipe: DateRecipe, change: Change, example: str) -> None:
    def by(unit: Unit) -> None:
        first = tables.other_unit(recipe.first, recipe.unit, unit)
        last = tables.other_unit(recipe.last, recipe.unit, unit, end=True)
        change(unit=unit, first=first, last=last)

    pick("Count by", "data-unit", recipe.unit, by, UNITS)
    _ends(recipe, change, "data", example, example)


def _texts(recipe: AttributeRecipe, change: Change, name: str, what: str) -> None:
    control(
        st.checkbox,
        "Other texts count as missing",
        "data-texts",
        getattr(recipe, name) == "missing",
        lambda on: change(**{name: "missing" if on else "refuse"}),
        help=f"Any text in this column that is not {what}, such as “over 90”. Otherwise a column with such texts is refused.",
    )


def _bins(recipe: NumericRecipe, change: Change, key: str, most: int) -> None:
    control(
        st.number_input,
        "Number of bins (at most)",
        key,
        min(recipe.bins, most),
        lambda bins: change(bins=int(bins)),
        min_value=2,
        max_value=most,
    )


def _ends(recipe: NumericRecipe | DateRecipe, change: Change, key: str, *examples: str) -> None:
    """The first and last value; an empty end is taken from the data."""
    if recipe.kind == "date":
        labels = {"first": f"First {recipe.unit}", "last": f"Last {recipe.unit}"}
    else:
        labels = {"low": "Lowest value", "high": "Highest value"}
    for name, example in zip(labels, examples, strict=True):
        _end(recipe, change, name, labels[name], f"{key}-{name}", example)


def _end(recipe: NumericRecipe | DateRecipe, change: Change, name: str, label: str, key: str, example: str) -> None:
    value, dates = getattr(recipe, name), recipe.kind == "date"

    def read(text: str) -> str | float | None:
        return (text.strip() if dates else number(text, f"the {label.lower()}")) if text.strip() else None

    shown = value or "" if dates else typed(value)
    control(st.text_input, label, key, shown, lambda text: change(**{name: read(text)}), placeholder=example)


def _pick(
    label: str, name: str, recipe: AttributeRecipe, change: Change, shown: dict[Any, str], **options: Any
) -> None:
    """A selectbox that shows and changes one field of the recipe."""
    pick(label, f"data-{name}", getattr(recipe, name), lambda value: change(**{name: value}), shown, **options)


def _checked(name: str) -> str:
    if not name.strip():
        raise ValueError("The value needs a name, such as age.")
    return name.strip()


def _edges(text: str) -> tuple[float, ...]:
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    return tuple(number(part, f"edge {i}") for i, part in enumerate(parts, start=1))
