"""Which page somebody had before them when they chose something, and what its controls showed.

A request tells what all controls of the page hold. Where it was sent before the answer to the last choice had arrived, those that follow from that
choice (the slider beside the entry that was typed in) still hold what they showed before, which must not pass for a choice to go back. So every page
ends with its number in a hidden entry: a request tells with it which page had arrived as a whole, and what a control has shown since is no choice.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

NUMBER = "page-shown"
_SHOWN = "shown-by-page"
MOST_PAGES = 50
"""So many are known; a connection that is further behind is not told apart from one that follows."""


def begin() -> None:
    """A page begins to be drawn: to be called by app.py."""
    pages = st.session_state.setdefault(_SHOWN, {})
    arrived = _arrived()
    last = max(pages, default=0)
    for number in [one for one in pages if one < max(arrived, last - MOST_PAGES)]:
        del pages[number]
    pages[last + 1] = {}


def note(control: str, value: Any) -> None:
    """This ``control`` of the page shows ``value``."""
    if pages := st.session_state.get(_SHOWN):
        pages[max(pages)][control] = value


def is_outdated(control: str, entry: Any) -> bool:
    """Whether ``entry`` is what a page showed there that had arrived, or was about to, when the request was sent, while a later one is drawn."""
    pages, arrived = st.session_state.get(_SHOWN, {}), _arrived()
    known = [shown for number, shown in pages.items() if 0 < arrived <= number < max(pages)]
    return any(control in shown and shown[control] == entry for shown in known)


def end() -> None:
    """The page has been drawn: to be called by app.py."""
    if pages := st.session_state.get(_SHOWN):
        st.session_state[NUMBER] = str(max(pages))
        st.text_input("Number of this page", key=NUMBER, label_visibility="collapsed")


def _arrived() -> int:
    """The page that had arrived when the request was sent, 0 where that is not known."""
    told = st.session_state.get(NUMBER, "")
    return int(told) if isinstance(told, str) and told.isascii() and told.isdigit() and len(told) < 10 else 0
