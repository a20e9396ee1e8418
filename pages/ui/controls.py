"""Widgets that show the typed state and change it, one way round: state -> widget -> callback -> state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.state import Session, session
from pages.ui.text import plain


def control(
    widget: Callable[..., Any], label: str, key: str, value: Any, commit: Callable[[Any], None], **options: Any
):
    """Draw ``widget`` showing ``value``; when a person changes it, ``commit(new)`` is called.

    A ValueError from ``commit`` leaves the design as it was: the entry stays as typed, with the sentence below it.
    """
    state = session()
    invalid = state.invalid.get(key)
    # The typed state is the only truth: without a refused entry, the widget always shows it (after undo or load as well).
    st.session_state[key] = invalid[0] if invalid else value

    def changed() -> None:
        entry = st.session_state[key]
        state.notices = []
        try:
            state.invalid.pop(key, None)
            commit(entry)
        except ValueError as error:
            state.invalid[key] = (entry, str(error))

    entered = widget(label, key=key, on_change=changed, **options)
    if invalid:
        st.error(plain(invalid[1]))
    return entered


def change(state: Session, field: str) -> Callable[[Any], None]:
    """A commit function that replaces one field of the configuration."""
    return lambda value: state.change(**{field: value})


def whole_number(text: str, what: str, low: int, high: int) -> int:
    """A whole number typed by a person ("3,000" is fine). ValueError with a sentence otherwise."""
    cleaned = text.strip().replace(",", "").replace(" ", "").replace("_", "")
    if not (cleaned.isascii() and cleaned.isdigit() and len(cleaned) < 20 and low <= int(cleaned) <= high):
        raise ValueError(
            f"Please give {what} as a whole number from {low:,} to {high:,}; {text.strip()[:30]!r} is not one."
        )
    return int(cleaned)
