"""Everything that touches the insides of Streamlit, which may change with any of its versions.

The rest of the app imports only Streamlit's public interface. requirements.txt allows one minor version of Streamlit, and with
another the app does not start: promises about privacy rest on these fixes.

    uploads        files that are uploaded stay in memory
    run_context    which tab a script runs for, at which address, and whether a clock has asked for the run
    tab_storage    which tabs are open, and freeing the copies that Streamlit keeps of closed tabs
    page_polls     clicks win over the polls of background work
    stale_widgets  what a page has shown since the last choice is no choice
    follow_theme, keyboard, phones    scripts that fix what browsers show
"""

import threading

import streamlit as st

VERSION = "1.67."
if not st.__version__.startswith(VERSION):
    raise ImportError(
        f"This app mends Streamlit {VERSION}x, and {st.__version__} is installed: run pip install -r requirements.txt."
    )

from pages.ui.streamlit_fixes import (  # noqa: E402  they take their names from inside that version
    follow_theme,
    keyboard,
    page_polls,
    phones,
    stale_widgets,
    uploads,
)

_LOCK = threading.Lock()
_DONE = threading.Event()


def install() -> None:
    """Apply every fix, once per process. app.py calls this before anything slow: a page left open
    may upload as soon as app.py runs."""
    with _LOCK:
        if not _DONE.is_set():
            _DONE.set()
            uploads.install()
            page_polls.install()


def begin_page() -> None:
    """A page begins to be drawn: to be called by app.py."""
    stale_widgets.begin()
    phones.close_sidebar_after_choice()
    keyboard.stops()
    follow_theme.follow()


def end_page() -> None:
    """The page has been drawn: to be called by app.py."""
    stale_widgets.end()
