"""All columns as rows of one table, edited in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from ldp_core.data import tables
from ldp_core.data.tables import AttributeRecipe
from ldp_core.designs import DataChoice
from pages.ui import say
from pages.ui.controls import guarded
from pages.ui.data import actions, background_read
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import Source

Rows = dict[int, dict[str, Any]]
"""Cells that somebody has edited, by row and name."""
Commit = Callable[["Shown", Rows], None]
BINS = (
    "Numbers: `8` for bins of one width, `8 of equal count`, `18, 30, 65` for your own edges, `10 to 90 in 8` with the lowest and the highest "
    "value. Dates: `week`, or `month, 2026-01 to 2026-12`. Categories: all of them, `never, often`; empty: as in the data."
)
PRIVACY = (
    "Known: the collector has this value of everybody already, such as the arm of an experiment or the region of a shop. Devices send it "
    "unprotected beside each report; all of epsilon goes to the other columns, which takes far fewer people."
)


@dataclass
class Shown:
    """The table on screen: its ``columns``, what it shows, {(row, cell): text, sentence} for what cannot be read, and whether the last edit is
    ``done``.

    Streamlit knows it by its ``key``: there is a new one where an edit was not done, or anything but edits in the table has changed the
    ``recipes``, so that what was typed before does not come back.
    """

    about: str
    recipes: tuple[AttributeRecipe, ...]
    key: str
    columns: list[str] = field(default_factory=list)
    cells: pd.DataFrame = field(default_factory=pd.DataFrame)
    refused: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    done: bool = True

    def read(self, row: int, recipe: AttributeRecipe, cells: dict[str, Any]) -> AttributeRecipe:
        """The recipe of a row with what was typed into it."""
        recipe, said = tables.with_cells(recipe, cells)
        for name, text in cells.items():
            self.refused.pop((row, name), None)
            if name in said:
                self.refused[row, name] = text, said[name]
        return recipe

    def typed(self, edited: Mapping[int, Mapping[str, Any]]) -> Rows:
        """The cells that show something else than before."""
        rows = {int(row): cells.items() for row, cells in edited.items()}
        new = {row: {name: to for name, to in cells if to != self.cells.at[row, name]} for row, cells in rows.items()}
        return {row: cells for row, cells in new.items() if cells}


def of_file(state: Session, choice: DataChoice, source: Source) -> None:
    """Every column of a table: which are asked, and how."""
    lacking = [recipe.column for recipe in choice.recipes if recipe.column not in source.columns]
    shown = _shown(state, source.id, [*source.columns, *lacking], choice.recipes)
    _draw(state, shown, partial(_edit, state, source.id), ["asked"], ["column"])


def of_declaration(state: Session) -> None:
    """The columns that are described without data."""
    recipes = actions.declared(state)
    shown = _shown(state, "", [recipe.column for recipe in recipes], recipes)
    _draw(state, shown, partial(_declare, state), [], [])


@background_read.looking
def _edit(state: Session, choice: DataChoice, source: Source, shown: Shown, rows: Rows) -> None:
    """The columns with what was typed into their table. A column comes back with its settings."""
    remembered, counts = actions.remember(state, choice, source), counts_column(choice)
    recipes = {recipe.column: recipe for recipe in choice.recipes}
    for row, cells in rows.items():
        name = shown.columns[row]
        if not cells.get("asked", True):
            recipes.pop(name, None)
            continue
        if name not in recipes:
            state.view.setdefault("picked", set()).add((source.id, name))
            recipes[name] = remembered.get((source.id, name)) or actions.suggested(state, source, name, counts)
        recipes[name] = shown.read(row, recipes[name], cells)
        state.view["attribute"] = name
    if not recipes:
        raise ValueError("Please keep at least one column.")
    shown.recipes, shown.done = tuple(recipes.values()), True
    state.set_data(choice.model_copy(update={"recipes": shown.recipes}), source)


def _declare(state: Session, shown: Shown, rows: Rows) -> None:
    """The same for columns that are described without data."""
    recipes = list(actions.declared(state))
    for row, cells in rows.items():
        recipes[row] = recipe = shown.read(row, recipes[row], cells)
        if "kind" in cells and recipe.kind == "numeric" and recipe.integer is None:
            recipes[row] = recipe.model_copy(update={"integer": False})  # 0 and 1 may be the ends of shares
    shown.recipes, shown.done = tuple(recipes), True
    actions.declare(state, shown.recipes, max(rows))


def _shown(state: Session, about: str, columns: list[str], recipes: tuple[AttributeRecipe, ...]) -> Shown:
    """The table on screen, or a new one: see `Shown`."""
    shown: Shown | None = state.view.get("columns")
    stays = shown is not None and ((shown.done and shown.recipes == recipes) or background_read.waits(state))
    if shown is None or shown.about != about or not stays:
        state.view["edits"] = state.view.get("edits", 0) + 1
        shown = state.view["columns"] = Shown(about, recipes, f"columns-{state.view['edits']}")
    shown.columns, shown.cells = columns, tables.column_table(columns, recipes)
    for (row, name), (text, _) in shown.refused.items():
        shown.cells.loc[row, name] = text
    return shown


def _draw(state: Session, shown: Shown, commit: Commit, first: list[str], fixed: list[str]) -> None:

    def changed() -> None:
        if rows := shown.typed(st.session_state[shown.key]["edited_rows"]):
            shown.done = False
            guarded(state, commit, shown, rows)

    choices = st.column_config.SelectboxColumn
    with st.container(key="columns"):
        st.data_editor(
            shown.cells,
            key=shown.key,
            on_change=changed,
            column_order=[*first, "column", "kind", "privacy", "bins", "missing"],
            disabled=fixed,
            hide_index=True,
            placeholder=" ",
            alt="The columns: which are asked, and how",
            column_config={
                "asked": st.column_config.CheckboxColumn("Ask", width=70, help="What each person reports."),
                "column": st.column_config.TextColumn("Column", width="small"),
                "kind": choices("Kind", options=list(tables.KINDS.values()), width="small"),
                "privacy": choices("Secret or known", options=list(tables.PRIVACY.values()), help=PRIVACY),
                "bins": st.column_config.TextColumn("Bins or categories", help=BINS),
                "missing": choices(
                    "Missing values",
                    options=list(tables.MISSING.values()),
                    width="small",
                    help="People without a value: left out, counted as a category of their own, or a reason to refuse the data.",
                ),
            },
        )
        for _, sentence in shown.refused.values():
            st.error(say.plain(sentence))
