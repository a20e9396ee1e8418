"""The list of named designs in the File menu: keep, rename, duplicate, switch, delete."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core import library
from ldp_core.limits import MOST_DESIGN_NAME, MOST_DESIGNS
from pages.ui.controls import control, guarded
from pages.ui.session.saved_designs import SavedDesign
from pages.ui.session.state import Session
from pages.ui.words import plain


def draw(state: Session) -> None:
    """The list, folded away."""
    count = f" ({len(state.saved.designs)})" if state.saved.designs else ""
    with st.expander(f"Saved designs{count}", icon=":material/folder_copy:", key="saved-designs"):
        _on_screen(state)
        for place, design in enumerate(state.saved.designs):
            if design.name != state.saved.name:
                _waiting(state, place, design)
        if state.saved.deleted is not None:
            _button(
                f"Bring back {plain(state.saved.deleted[1].name)}",
                "design-back",
                ":material/undo:",
                state,
                state.bring_back,
            )
        st.caption(f"At most {MOST_DESIGNS}, each with its own undo. They last as long as this session.")


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
        _button(
            "Keep it in this list",
            "design-keep",
            ":material/bookmark_add:",
            state,
            lambda: keep_suggested(state),
            disabled=state.saved.empty,
        )
        return
    left, right = st.columns(2)
    with left:
        _button("Duplicate", "design-duplicate", ":material/content_copy:", state, state.saved.duplicate)
    with right:
        _button("Delete", "design-delete", ":material/delete:", state, lambda: state.delete(state.saved.name))


def _waiting(state: Session, place: int, design: SavedDesign) -> None:
    """A design that can be switched to."""
    c = design.history.configuration
    asked = c.workload.summary if c.workload is not None else "no questions yet"
    title = library.spec(c.mechanism.name).title
    left, right = st.columns([5, 1], gap="small")
    with left:
        about = f"{asked}, epsilon {c.epsilon}, {title}"
        _button(
            plain(design.name),
            f"design-show-{place}",
            ":material/arrow_forward:",
            state,
            lambda: state.switch(design.name),
            plain(about),
        )
    with right:
        _button(
            "",
            f"design-delete-{place}",
            ":material/delete:",
            state,
            lambda: state.delete(design.name),
            f"Delete {plain(design.name)}",
        )


def _button(
    label: str, key: str, icon: str, state: Session, act: Callable[[], None], about: str = "", disabled: bool = False
) -> None:
    st.button(
        label,
        key=key,
        icon=icon,
        help=about or None,
        width="stretch",
        disabled=disabled,
        on_click=guarded,
        args=(state, act),
    )
