"""What the run of a script knows of its request: the tab it is for, and which page the visitor saw at the time.

A request holds the values of all controls of the page. If a choice is sent before the answer to the
last one is back, dependent controls (the slider beside the typed entry) still hold their old
values. These must not count as a choice to go back. So
every page ends with its number in a hidden entry. A request says with it which page the browser had
received as a whole, and a value that a control has shown since then is no choice.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

NUMBER = "page-shown"
_SHOWN = "shown-by-page"
_MOST_PAGES = 50
"""The number of remembered pages. A connection that is further behind counts as up to date."""


def tab() -> str:
    """Streamlit's id of the tab that runs this script; empty without a server."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def begin_page() -> None:
    """A page begins to be drawn."""
    pages = st.session_state.setdefault(_SHOWN, {})
    received = _received()
    last = max(pages, default=0)
    for number in [page for page in pages if page < max(received, last - _MOST_PAGES)]:
        del pages[number]
    pages[last + 1] = {}


def note(control: str, value: Any) -> None:
    """This ``control`` of the page shows ``value``."""
    if pages := st.session_state.get(_SHOWN):
        pages[max(pages)][control] = value


def is_outdated(control: str, entry: Any) -> bool:
    """True if ``entry`` is what the control showed on the page that the browser had received when
    it sent the request, or on one since, while a later page is drawn."""
    pages, received = st.session_state.get(_SHOWN, {}), _received()
    known = [shown for number, shown in pages.items() if 0 < received <= number < max(pages)]
    return any(control in shown and shown[control] == entry for shown in known)


def end_page() -> None:
    """The page has been drawn."""
    if pages := st.session_state.get(_SHOWN):
        st.session_state[NUMBER] = str(max(pages))
        st.text_input("Number of this page", key=NUMBER, label_visibility="collapsed")


def _received() -> int:
    """The page that the browser had received when it sent the request, 0 where that is not known."""
    number = st.session_state.get(NUMBER, "")
    return int(number) if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10 else 0
