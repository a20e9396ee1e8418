"""Tabs and folds that draw what they hold only while they are open: what no one looks at costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.session.state import Session
from pages.ui.words import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def panes(state: Session, key: str, titles: Sequence[str], draws: Sequence[Callable[[], None]]) -> None:
    """A tab for each of ``titles``; its function of ``draws`` draws the open one. The open tab is
    remembered when the page is left."""
    opened = state.view.get(key)
    if opened in titles and key not in st.session_state:
        st.session_state[key] = opened
    for place, tab in enumerate(st.tabs([plain(title) for title in titles], key=key, on_change="rerun")):
        if tab.open:
            state.view[key] = titles[place]
            with tab:
                draws[place]()


def fold(title: str, key: str) -> DeltaGenerator | None:
    """A folded section to draw into, with this title; None while it is folded."""
    folded = st.expander(title, key=key, on_change="rerun")
    return folded if folded.open else None
