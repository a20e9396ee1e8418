"""Forgetting everything at once: data, designs, results and work of this browser, in this tab and in others."""

from __future__ import annotations

import streamlit as st

from pages.ui import promises
from pages.ui.session import browser
from pages.ui.session.session_store import session_store
from pages.ui.session.state import Session, session
from pages.ui.streamlit_fixes import tab_storage
from pages.ui.tasks.jobs import jobs

_CONFIRMED = "forget-confirmed"


def draw(state: Session) -> None:
    """The button; a second one asks before anything is lost."""
    closed = f"forget-{session_store().mark(state)}"  # a new session begins with this folded away
    with (
        st.container(key="forget"),
        st.expander("Forget everything", key=closed, icon=":material/delete_forever:"),
    ):
        st.markdown(promises.FORGOTTEN_AT_ONCE)
        confirmed = st.button("Yes, forget everything", key=_CONFIRMED, on_click=_forget, args=(state,))
    if confirmed:
        st.switch_page("pages/start.py")


def _forget(state: Session) -> None:
    if (visitor := browser.visitor()) is not None:
        tab_storage.free(session_store().forget(visitor.browser))
    jobs().forget(state.id)
    state.leave()
    browser.clear(_CONFIRMED)
    session().notices = [("success", "Everything has been forgotten.")]
