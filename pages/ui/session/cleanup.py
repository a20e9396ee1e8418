"""This module frees the remains of closed tabs: our sessions (see `pages.ui.session.browser`)
and Streamlit's copies of them."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import streamlit as st

from ldp_core.limits import MOST_SERVER_BYTES
from pages.ui import promises
from pages.ui.session.browser import SessionStore, session_store
from pages.ui.streamlit_fixes import tab_storage


@st.cache_resource
def watch() -> threading.Thread:
    """Start looking, once per server. After every run of a page Streamlit collects garbage over all
    objects, and no page is drawn in the meantime. Modules imported by then are frozen, because they
    alone would take longer than most pages."""
    gc.collect()
    gc.freeze()
    thread = threading.Thread(target=_watch, args=(session_store(),), daemon=True)
    thread.start()
    return thread


def _watch(store: SessionStore) -> None:
    known: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
    while True:
        time.sleep(promises.EVERY)
        now, limits = time.monotonic(), (promises.kept_for(), promises.returns_within(), MOST_SERVER_BYTES)
        freed = store.look(now, tab_storage.is_open, *limits)
        if tab_storage.expire(known) or freed:
            gc.collect()  # states and closures refer to each other in circles
