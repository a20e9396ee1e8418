"""What tabs leave behind when they depart is freed.

Our own sessions are held for an hour, see `pages.ui.session.held`. Streamlit keeps its state of a tab that has gone for
``server.disconnectedSessionTTL`` seconds (120 unless set). After that nobody can come back to it, but Streamlit lets go of it only
when another tab departs, and its main loop and the threads of scripts may hold it longer still, with all that callbacks of
widgets refer to. So both are emptied here as soon as their time is over: what others still hold is a shell.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import types
import weakref
from collections.abc import Iterable
from typing import Any

import streamlit as st
from streamlit.runtime import exists, get_instance

from pages.ui import promises
from pages.ui.session.held import Holder, holder, tab_lives
from pages.ui.session.state import Session


@st.cache_resource
def watch() -> threading.Thread:
    """Start looking, once per server. Streamlit looks through all objects there are whenever it has run a page, and nobody's page is
    drawn meanwhile: what has been imported by then stays, and looking through it would take longer than most pages do."""
    gc.collect()
    gc.freeze()
    thread = threading.Thread(target=_watch, args=(holder(),), daemon=True)
    thread.start()
    return thread


def empty(tabs: Iterable[str]) -> None:
    """Free what Streamlit holds of these tabs: their uploads, and where no browser shows them, everything."""
    manager, cache, lock = _streamlits()
    if manager is None or cache is None or lock is None:
        return
    for tab in tabs:
        get_instance()._uploaded_file_mgr.remove_session_files(tab)
        with lock:
            left = cache.pop(tab, None)
        if left is not None:
            _empty(left.session)


def _watch(held: Holder) -> None:
    streamlits: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
    while True:
        time.sleep(promises.EVERY)
        freed = held.look(
            time.monotonic(), tab_lives, promises.kept_for(), promises.returns_within(), promises.MOST_HELD_BYTES
        )
        if _let_streamlit_expire(streamlits) or freed:
            _clear_main()
            gc.collect()  # states and closures refer to each other in circles
            _give_back()


def _streamlits() -> tuple[Any, Any, Any]:
    """Streamlit's manager of tabs, what it keeps of those that have gone, and the lock of these; None where another version keeps
    them differently."""
    manager = getattr(get_instance(), "_session_mgr", None) if exists() else None
    cache = getattr(getattr(manager, "_session_storage", None), "_cache", None)
    return manager, cache, getattr(manager, "_storage_lock", None)


def _let_streamlit_expire(known: weakref.WeakValueDictionary[str, Any]) -> bool:
    """Streamlit's own sessions hold copies of uploads and the callbacks of widgets. It has no setting for when they go, so
    this asks its store directly. ``known`` are the sessions seen before. Returns whether any was emptied."""
    manager, cache, lock = _streamlits()
    expire = getattr(cache, "expire", None)
    if manager is None or expire is None or lock is None:
        return False
    with lock:  # nobody comes back meanwhile
        expired = expire()
        kept = {info.session.id: info.session for info in manager.list_sessions()}
    known.update({session: info.session for session, info in expired})
    gone = [known.pop(session) for session in list(known) if session not in kept]
    known.update(kept)
    for session in gone:
        _empty(session)
    return bool(gone)


def _empty(session: Any) -> None:
    session.shutdown()
    session.session_state.__init__()  # its clear() keeps the callbacks, and with them all variables of pages


def _clear_main() -> None:
    """The script that ran last stays the module __main__, with all its variables, unless its session has been forgotten."""
    held = getattr(sys.modules.get("__main__"), "state", None)
    if isinstance(held, Session) and not holder().holds(held):
        sys.modules["__main__"] = types.ModuleType("__main__")


def _give_back() -> None:
    """Return freed memory to the system: the allocator of the C library keeps it for its threads otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
