"""How cells, or columns of 0/1, become several items chosen, a ranking, or several days."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core.data import tables
from ldp_core.data.tables import ChoiceRecipe, CourseRecipe, RankingRecipe, Together
from ldp_core.designs import UploadedData
from ldp_core.limits import MOST_COLUMN_NAME, MOST_DAYS
from ldp_core.wording import shortened
from pages.ui import layout
from pages.ui.controls import button, control
from pages.ui.data import actions, background_read
from pages.ui.session.state import Session
from pages.ui.sources import Source


def of_combinations(recipe: ChoiceRecipe | RankingRecipe | CourseRecipe, change: Callable[..., None]) -> None:
    """Which combinations of the items there are."""
    if isinstance(recipe, ChoiceRecipe):
        most = lambda many: change(most=int(many) if many else None)  # noqa: E731
        control(
            st.number_input,
            "At most so many at once",
            "data-most",
            recipe.most,
            most,
            min_value=1,
            placeholder="as in the data",
        )
    if isinstance(recipe, CourseRecipe):
        days = lambda many: change(days=int(many), changes=min(recipe.changes, int(many) - 1))  # noqa: E731
        control(st.number_input, "Days", "data-days", recipe.days, days, min_value=2, max_value=MOST_DAYS)
        control(
            st.number_input,
            "Changes at most",
            "data-changes",
            recipe.changes,
            lambda many: change(changes=int(many)),
            min_value=0,
            max_value=recipe.days - 1,
            help="From a day to the next. People who change more often cannot say so.",
        )
        st.caption(
            "Is the first day of use, or never, enough? Or the number of active days of 28? Those are columns of numbers, with 9 types for 8 days "
            "and 29: ask for running totals."
        )
    sign = lambda text: change(separator=text)  # noqa: E731
    control(st.text_input, "Sign between them in a cell", "data-sign", recipe.separator, sign, max_chars=3)


def of_columns(state: Session, choice: UploadedData, source: Source) -> None:
    """Columns of 0/1 that are one choice are named here, and those that were are taken apart."""
    made = choice.reading.together
    able = [name for name in background_read.columns_that(tables.can_tick, state, source) if name != choice.counts]
    if not made and len(able) < 2:
        return
    with layout.more("Columns that are one choice"):
        columns = st.multiselect(
            "Columns of 0/1",
            able,
            key="together-columns",
            help="Or no and yes, or a word where an item was chosen. Each column is an item.",
        )
        name = st.text_input("Name of the choice", key="together-name", max_chars=MOST_COLUMN_NAME)
        most = st.number_input(
            "At most so many at once", 1, value=None, key="together-most", placeholder="as in the data"
        )
        new = Together.model_construct(name=name.strip(), columns=tuple(columns))
        about = {"disabled": not (new.name and len(columns) > 1)}
        button(
            "Make them one choice",
            "together",
            "join",
            actions.put_together,
            state,
            source.id,
            (*made, new),
            most,
            **about,
        )
        for place, one in enumerate(made):
            rest = (*made[:place], *made[place + 1 :])
            label = f"Take {shortened(one.name, 30)} apart"
            button(label, f"apart-{place}", "call_split", actions.put_together, state, source.id, rest)
