"""Columns that no question uses: said where questions and costs are on screen, with one button that drops them."""

from __future__ import annotations

import math

import streamlit as st

from ldp_core import wording
from ldp_core.data.domain import Domain
from ldp_core.designs import DeclaredData
from pages.ui.controls import guarded
from pages.ui.data import choice as data_choice
from pages.ui.session.state import Session
from pages.ui.words import plain


def show(state: Session) -> None:
    """The sentence and the button; nothing where every column is used, or the data on screen is not the design's."""
    design = state.design()
    if design is None or state.draft is not None or not (names := design.unused_columns):
        return
    times = math.prod(a.size for a in design.domain.attributes if a.name in names)
    with st.container(horizontal=True, vertical_alignment="center", key="unused-columns"):
        st.warning(
            plain(
                f"No question uses {wording.listed([wording.shortened(name, 30) for name in names])}: without {'it' if len(names) == 1 else 'them'} there would be "
                f"{wording.magnitude(design.domain.size // times)} types instead of {wording.magnitude(design.domain.size)}."
            ),
        )
        st.button(
            f"Drop {plain(wording.shortened(names[0], 30)) if len(names) == 1 else f'{len(names):,} columns'}",
            key="drop-unused",
            icon=":material/playlist_remove:",
            on_click=guarded,
            args=(state, _drop, state, names),
            help="The questions stay. Undo brings the columns back.",
        )


def _drop(state: Session, names: tuple[str, ...]) -> None:
    """The design without these columns."""
    c, domain = state.configuration, state.present.domain
    kept = [i for i, attribute in enumerate(domain.attributes) if attribute.name not in names]
    recipes = () if c.data is None else tuple(c.data.recipes[i] for i in kept)
    if state.source is not None:
        data_choice.choose_columns(state, state.source.id, [recipe.column for recipe in recipes])
    elif isinstance(c.data, DeclaredData):
        data_choice.declare(state, recipes, 0)
    else:  # a design that was loaded without its rows
        data = None if c.data is None else c.data.model_copy(update={"recipes": recipes})
        state.change(data=data, domain=Domain(attributes=tuple(domain.attributes[i] for i in kept)))
