"""The File menu: sample data, designs opened and saved, the named designs of the session, and forgetting everything."""

from __future__ import annotations

import streamlit as st

from ldp_core import library
from ldp_core.limits import MOST_DESIGN_NAME, MOST_DESIGNS
from pages.ui import layout, promises, say
from pages.ui.controls import UNCHANGED, button, control
from pages.ui.data import actions as data_actions
from pages.ui.session import browser, exchange
from pages.ui.session.browser import session_store
from pages.ui.session.history import History
from pages.ui.session.state import Session, session
from pages.ui.sources import catalogue
from pages.ui.streamlit_fixes import tab_storage


def draw(state: Session) -> None:
    layout.download(
        "Save this design",
        lambda: exchange.to_save(state),  # made when it is asked for: drawing the sidebar stays quick
        "ldp-design.zip",
        "application/zip",
        "save",
        icon=":material/save:",
        width="stretch",
        help="The whole design as one file, with its strategy and results as far as they are computed. The rows of your data are not "
        "in it.",
    )
    with st.expander("Open a design", icon=":material/upload_file:"):
        opening(state, "load")
    with st.expander("Sample data", icon=":material/dataset:"):
        for sample in catalogue():
            key, act = f"sample-{sample['file']}", data_actions.load_sample
            button(sample["title"], key, "", act, state, sample["file"], help=sample["sentence"], width="stretch")
    _saved_designs(state)
    _forgetting(state)


def opening(state: Session, place: str) -> None:
    """An uploader for a saved design; ``place`` distinguishes two on one page."""
    # A new key after each load empties the uploader, so the same file can be chosen again.
    key = f"{place}-{st.session_state.setdefault('loads', 0)}"
    uploaded = st.file_uploader("Exported zip or configuration.json", type=["zip", "json"], key=key)
    if uploaded is not None:
        st.session_state["loads"] += 1
        try:
            exchange.load(state, uploaded.getvalue())
        except ValueError as error:
            state.notices = [("error", f"{error}{UNCHANGED}")]
            st.rerun()
        st.switch_page("pages/design.py")  # where it is looked at


def _saved_designs(state: Session) -> None:
    """The list of named designs, folded away: keep, rename, duplicate, switch, delete."""
    count = f" ({len(state.saved.designs)})" if state.saved.designs else ""
    with st.expander(say.plain(f"Saved designs{count}"), icon=":material/folder_copy:", key="saved-designs"):
        _on_screen(state)
        for place, design in enumerate(state.saved.designs):
            if design.name != state.saved.name:
                _waiting(state, place, design)
        if state.saved.deleted is not None:
            back = f"Bring back {state.saved.deleted[1].name}"
            button(back, "design-back", "undo", state.show_another, state.saved.bring_back, width="stretch")
        say.caption(
            "At most {most_designs}, each with its own undo. They last as long as this session.",
            most_designs=MOST_DESIGNS,
        )


def keep_suggested(state: Session) -> None:
    """Keep the design on screen under the name that is suggested, unless it has just been given one."""
    if not state.saved.name:
        state.saved.keep()


def continue_with_copy(state: Session) -> None:
    """Keep the design on screen and go on with a copy, to be changed and compared."""
    keep_suggested(state)
    state.saved.duplicate()


def _on_screen(state: Session) -> None:
    control(
        st.text_input,
        "Name of the design on screen",
        "design-name",
        state.saved.name,
        state.saved.keep,
        placeholder=state.saved.suggested_name(),
        max_chars=MOST_DESIGN_NAME,
    )
    if not state.saved.name:
        keep, nothing = "Keep it in this list", state.saved.empty
        button(keep, "design-keep", "bookmark_add", keep_suggested, state, width="stretch", disabled=nothing)
        return
    left, right = st.columns(2)
    with left:
        button("Duplicate", "design-duplicate", "content_copy", state.saved.duplicate, width="stretch")
    with right:
        button(
            "Delete",
            "design-delete",
            "delete",
            lambda: state.show_another(state.saved.delete, state.saved.name),
            width="stretch",
        )


def _waiting(state: Session, place: int, design: History) -> None:
    """A design that can be switched to."""
    c = design.configuration
    questions = c.workload.summary if c.workload is not None else "no questions yet"
    about, name = f"{questions}, epsilon {c.epsilon}, {library.spec(c.mechanism.name).title}", design.name
    show, delete = (
        lambda: state.show_another(state.saved.switch, design.name),
        lambda: state.show_another(state.saved.delete, design.name),
    )
    left, right = st.columns([5, 1], gap="small")
    with left:
        button(name, f"design-show-{place}", "arrow_forward", show, help=about, width="stretch")
    with right:
        button("", f"design-delete-{place}", "delete", delete, help=f"Delete {name}", width="stretch")


_CONFIRMED = "forget-confirmed"


def _forgetting(state: Session) -> None:
    """Everything of this browser is forgotten at once, in this tab and in others; a second button asks before anything is lost."""
    closed = f"forget-{state.id}"  # a new session begins with this folded away
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
    state.leave()
    browser.clear(_CONFIRMED)
    session().notices = [("success", "Everything has been forgotten.")]
