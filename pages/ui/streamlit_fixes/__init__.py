"""Everything that touches the insides of Streamlit, which may change with any of its versions.

The rest of the app imports only Streamlit's public interface. A fix whose insides a version lacks is off, with one line in the log that
says what that means; uploads are refused where they would be written to the disk.

    tab_storage    which tab a script runs for, which are open, and freeing the copies that Streamlit keeps of closed tabs
    page.css, page.js    what browsers show, and scripts that fix it
"""

import threading
from importlib import import_module
from pathlib import Path

import streamlit as st

from pages.ui import say
from pages.ui.streamlit_fixes.absent import off_where_absent

_HERE = Path(__file__).parent
SCRIPT = (_HERE / "page.js").read_text(encoding="utf-8")
_FRAMING_BYTES = 2**21
"""The most bytes that a form adds to its file."""
_LOCK = threading.Lock()
_DONE = threading.Event()


def install() -> None:
    """Apply every fix, once per process. app.py calls this before anything slow: a page left open
    may upload as soon as app.py runs."""
    with _LOCK:
        if not _DONE.is_set():
            _DONE.set()
            uploads_stay_in_memory()


@off_where_absent("uploads would be written to the disk, so none are taken", False)
def uploads_stay_in_memory() -> bool:
    """Raise the limit past which Starlette's form parser moves an upload to a temporary file on disk, 1 MB by default, beyond the
    largest upload: the limit is documented. Returns whether that could be done; else the app takes no uploads."""
    parser = import_module("starlette.formparsers").MultiPartParser
    if not isinstance(parser.spool_max_size, int):
        raise AttributeError("the limit is no number of bytes")
    parser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20 + _FRAMING_BYTES
    return True


def begin_page(remembered: str) -> None:
    """A page begins to be drawn: to be called by app.py. ``remembered`` is what the browser keeps, as JSON: see `browser.remembered`."""
    st.html(_HERE / "page.css")
    with st.container(key="page-scripts"):
        # Pressed by the script when the browser turns light or dark: the words of charts have the colour of the page that was drawn.
        look = "dark" if st.context.theme.type == "dark" else "light"
        st.button(say.text("Draw the charts anew, now {look}", look=look), key="look-again")
        keep = f"ldp.remember({remembered}); document.currentScript?.remove();" if remembered else ""
        st.html(f"<script>{SCRIPT}{keep}</script>", unsafe_allow_javascript=True)


def end_page() -> None:
    """The page has been drawn, and may go on waiting: to be called by app.py. By the mark at its end page.css hides what is left of the
    page before, which Streamlit removes once the script has ended."""
    with st.container(key="page-drawn"):
        st.html("<i></i>")
