"""How cells become several items chosen, a ranking, or several days."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core.data import tables
from ldp_core.data.tables import ChoiceRecipe, CourseRecipe, RankingRecipe
from ldp_core.limits import MOST_DAYS
from pages.ui import layout
from pages.ui.controls import control

KINDS = {"choice": "several chosen", "ranking": "a ranking", "course": "several days"}
BLANK = {"choice": ChoiceRecipe, "ranking": RankingRecipe, "course": CourseRecipe}
WORDS = {"choice": "Items to choose from", "ranking": "Items to rank", "course": "Values on a day"}


def of_combinations(
    recipe: ChoiceRecipe | RankingRecipe | CourseRecipe, change: Callable[..., None], key: str, example: str
) -> None:
    """The items, and which combinations of them there are; an ``example`` stands where none are named."""
    with layout.wide():
        control(
            st.text_area,
            f"{WORDS[recipe.kind]}, one per line (or separated by commas)",
            f"{key}-items",
            "\n".join(recipe.items or ()),
            lambda text: change(items=tables.listed(text) or None),
            placeholder=example,
        )
    if isinstance(recipe, ChoiceRecipe):
        most = lambda many: change(most=int(many) if many else None)  # noqa: E731
        control(st.number_input, "At most so many at once", f"{key}-most", recipe.most, most, min_value=1)
    if isinstance(recipe, CourseRecipe):
        days = lambda many: change(days=int(many), changes=min(recipe.changes, int(many) - 1))  # noqa: E731
        control(st.number_input, "Days", f"{key}-days", recipe.days, days, min_value=2, max_value=MOST_DAYS)
        control(
            st.number_input,
            "Changes at most",
            f"{key}-changes",
            recipe.changes,
            lambda many: change(changes=int(many)),
            min_value=0,
            max_value=recipe.days - 1,
            help="From a day to the next. People who change more often cannot say so.",
        )
    sign = lambda text: change(separator=text)  # noqa: E731
    control(st.text_input, "Sign between them in a cell", f"{key}-sign", recipe.separator, sign, max_chars=3)
