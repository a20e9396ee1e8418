"""How cells become several items chosen, a ranking, or several days."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core.data.tables import ChoiceRecipe, CourseRecipe, RankingRecipe
from ldp_core.limits import MOST_DAYS
from pages.ui.controls import control


def of_combinations(recipe: ChoiceRecipe | RankingRecipe | CourseRecipe, change: Callable[..., None]) -> None:
    """Which combinations of the items there are."""
    if isinstance(recipe, ChoiceRecipe):
        most = lambda many: change(most=int(many) if many else None)  # noqa: E731
        control(st.number_input, "At most so many at once", "data-most", recipe.most, most, min_value=1)
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
