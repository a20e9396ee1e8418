"""The part of the Data page that turns a column, or nothing but words, into an attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ldp_core.data.tables import AttributeRecipe
from pages.ui import layout
from pages.ui.controls import control, pick
from pages.ui.data import combined_controls

DAY_FIRST = {None: "as found", True: "day first: 31/12/2026", False: "month first: 12/31/2026"}
WHOLE = {None: "as found", True: "yes", False: "no"}
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
    """What only columns of one kind have, and what its table of columns has no room for."""
    change = _change(recipe, commit)
    if recipe.kind == "categorical":
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
        words = {None: "only if all are numbers", True: "yes", False: "no"}
        help = "Small, medium, large has an order; red, green, blue has none. Running totals and ranges need one."
        _pick("Does their order mean something?", "ordered", recipe, change, words, help=help)
    elif recipe.kind == "numeric":
        _pick("Whole numbers only", "integer", recipe, change, WHOLE)
    elif recipe.kind == "date":
        _pick("Day and month", "day_first", recipe, change, DAY_FIRST)
    else:
        combined_controls.of_combinations(recipe, change)
    if recipe.known:
        st.caption("Every device sends this value in the clear. Only the other columns are protected.")
    if recipe.known and (PERSONAL.search(recipe.column) or types > MANY_TYPES):
        st.warning("This column may be personal. Leave it secret unless the collector has it of everybody already.")
    with layout.more("Values that do not fit"):
        if recipe.kind in ("numeric", "date"):
            name, what = ("non_numbers", "a number") if recipe.kind == "numeric" else ("non_dates", "a date")
            control(
                st.checkbox,
                "Other texts count as missing",
                "data-texts",
                getattr(recipe, name) == "missing",
                lambda on: change(**{name: "missing" if on else "refuse"}),
                help=f"Any text in this column that is not {what}, such as “over 90”. Otherwise a column with such texts is refused.",
            )
        ways = {way: words for way, words in OUTSIDE.items() if way != "clamp" or recipe.kind in ("numeric", "date")}
        help = "What a person's device does with a value that is not listed or lies beyond the ends."
        _pick("Values outside the domain", "outside", recipe, change, ways, help=help)


def secret(recipe: AttributeRecipe, commit: Commit, labels: Sequence[str]) -> None:
    """Which of the values, which have these ``labels``, are secret; all of them unless somebody says otherwise."""
    if recipe.known or len(labels) < 2:
        return

    def chosen(some: Sequence[str]) -> None:
        named = tuple(label for label in labels if label in some)
        commit(recipe.model_copy(update={"secret": None if len(named) == len(labels) else named}))

    many = "all" if recipe.secret is None else f"{len(recipe.secret):,} of {len(labels):,}"
    with layout.more(f"Secret values: {many}"):
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


def _pick(
    label: str, name: str, recipe: AttributeRecipe, change: Change, shown: dict[Any, str], **options: Any
) -> None:
    """A selectbox that shows and changes one field of the recipe."""
    pick(label, f"data-{name}", getattr(recipe, name), lambda value: change(**{name: value}), shown, **options)
