"""Tabs and folds that draw what they hold only while they are open: what nobody looks at costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.session.state import Session


def tabs(state: Session, key: str, views: Mapping[str, Callable[[], None]]) -> None:
    """One tab for each of ``views`` by its title, of which the open one is drawn. Which one that is, is remembered when the page
    is left."""
    opened = state.view.get(key)
    if opened in views and key not in st.session_state:
        st.session_state[key] = opened
    for tab, (title, draw) in zip(st.tabs(list(views), key=key, on_change="rerun"), views.items(), strict=True):
        if tab.open:
            state.view[key] = title
            with tab:
                draw()


def fold(title: str, key: str) -> DeltaGenerator | None:
    """What is folded away under a title, to be drawn into; None while it is folded."""
    folded = st.expander(title, key=key, on_change="rerun")
    return folded if folded.open else None
