"""Everything that touches the insides of Streamlit, which may change with any of its versions.

The rest of the app imports only Streamlit's public interface, and this package imports nothing from
inside Streamlit before `install`. Each fix is tried as it is applied, see `guard`.
A promise about privacy that rests on a fix is made by `pages.ui.promises` only while it works.

    uploads        files that are uploaded stay in memory
    run_context    which tab a script runs for, at which address, and whether a clock has asked for the run
    tab_storage    which tabs are open, and freeing the copies that Streamlit keeps of closed tabs
    page_polls     clicks win over the polls of background work
    stale_widgets  what a page has shown since the last choice is no choice
    follow_theme, keyboard, phones    scripts that fix what browsers show
"""

import threading

from pages.ui.streamlit_fixes import (
    follow_theme,
    keyboard,
    page_polls,
    phones,
    run_context,
    stale_widgets,
    tab_storage,
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
            for part in (uploads, run_context, tab_storage, page_polls):
                part.install()


def begin_page() -> None:
    """A page begins to be drawn: to be called by app.py."""
    stale_widgets.begin()
    phones.close_sidebar_after_choice()
    keyboard.stops()
    follow_theme.follow()


def end_page() -> None:
    """The page has been drawn: to be called by app.py."""
    stale_widgets.end()
