"""What browser sessions leave behind when they depart is freed.

Streamlit keeps the state of a session whose browser has gone for ``server.disconnectedSessionTTL`` seconds (120 unless set),
because a network may only have failed for a moment. After that nobody can come back to it, but Streamlit lets go of it only
when another session departs, and its main loop and the threads of scripts may hold it longer still, with all that callbacks of
widgets refer to. So a session is emptied here as soon as that time is over: what others still hold is a shell.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime import exists, get_instance

from pages.ui import promises
from pages.ui.session.state import SESSIONS, Session
from pages.ui.tasks.jobs import Jobs, jobs

ABANDONED_AFTER = 60.0
"""Seconds without a browser until a session's jobs are cancelled."""


def session_lives(session: str) -> bool:
    """Whether a browser still holds this session. Without a server (in tests) every session lives."""
    return get_instance().is_active_session(session) if exists() else True


class Watch:
    """Remembers since when each session has had no browser."""

    def __init__(self, jobs: Jobs):
        self._jobs = jobs
        self._missed: dict[str, float] = {}

    def look(self, now: float, lives: Callable[[str], bool], kept_for: float) -> bool:
        """Free what is left of sessions that have been missed for ``kept_for`` seconds, and cancel the jobs of those missed for
        `ABANDONED_AFTER`. Returns whether anything was freed."""
        known, freed = {*SESSIONS, *self._jobs.sessions()}, False
        # Not since they were last seen: a look may come late, and whoever has just gone may still come back.
        self._missed = {session: self._missed.get(session, now) for session in known if not lives(session)}
        for session, since in self._missed.items():
            if now - since > min(ABANDONED_AFTER, kept_for):
                self._jobs.cancel(session)
            if now - since > kept_for:
                freed = True
                self._jobs.forget(session)
                if (left := SESSIONS.pop(session, None)) is not None:
                    left.leave()
        return freed


@st.cache_resource
def watch() -> threading.Thread:
    """Start looking, once per server."""
    thread = threading.Thread(target=_watch, args=(Watch(jobs()),), daemon=True)
    thread.start()
    return thread


def _watch(watch: Watch) -> None:
    streamlits: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
    while True:
        time.sleep(promises.EVERY)
        freed = watch.look(time.monotonic(), session_lives, promises.returns_within())
        if _let_streamlit_expire(streamlits) or freed:
            _clear_main()
            gc.collect()  # states and closures refer to each other in circles
            _give_back()


def _let_streamlit_expire(known: weakref.WeakValueDictionary[str, Any]) -> bool:
    """Streamlit's own sessions hold copies of uploads and the callbacks of widgets. It has no setting for when they go, so
    this asks its store directly, and does nothing where another version keeps sessions differently. ``known`` are the sessions
    seen before. Returns whether any was emptied."""
    manager = getattr(get_instance(), "_session_mgr", None) if exists() else None
    cache = getattr(getattr(manager, "_session_storage", None), "_cache", None)
    expire, lock = getattr(cache, "expire", None), getattr(manager, "_storage_lock", None)
    if manager is None or expire is None or lock is None:
        return False
    with lock:  # nobody comes back meanwhile
        expired = expire()
        kept = {info.session.id: info.session for info in manager.list_sessions()}
    known.update({session: info.session for session, info in expired})
    gone = [known.pop(session) for session in list(known) if session not in kept]
    known.update(kept)
    for session in gone:
        session.shutdown()
        session.session_state.__init__()  # its clear() keeps the callbacks, and with them all variables of pages
    return bool(gone)


def _clear_main() -> None:
    """The script that ran last stays the module __main__, with all its variables, unless its session has departed."""
    held = getattr(sys.modules.get("__main__"), "state", None)
    if isinstance(held, Session) and held.id not in SESSIONS:
        sys.modules["__main__"] = types.ModuleType("__main__")


def _give_back() -> None:
    """Return freed memory to the system: the allocator of the C library keeps it for its threads otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
