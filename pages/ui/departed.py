"""What browser sessions leave behind when they depart is freed.

Streamlit keeps the state of a session whose browser has gone for ``server.disconnectedSessionTTL`` seconds (120 unless set),
because a network may only have failed for a moment. After that nobody can come back to it, but Streamlit lets go of it only
when another session departs; so a session is emptied here as soon as that time is over.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import types
from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance

from pages.ui import promises
from pages.ui.jobs import Jobs, jobs
from pages.ui.state import SESSIONS, Session

ABANDONED_AFTER = 60.0
"""Seconds without a browser until a session's jobs are cancelled."""


def session_lives(session: str) -> bool:
    """Whether a browser still holds this session. Without a server (in tests) every session lives."""
    return get_instance().is_active_session(session) if exists() else True


class Watch:
    """Remembers when each session was last seen with a browser."""

    def __init__(self, jobs: Jobs):
        self._jobs = jobs
        self._seen: dict[str, float] = {}

    def look(self, now: float, lives: Callable[[str], bool], kept_for: float) -> bool:
        """Free what sessions leave behind that had no browser for ``kept_for`` seconds, and cancel the jobs of those that
        had none for `ABANDONED_AFTER`. Whether anything was freed."""
        known, freed = {*SESSIONS, *self._jobs.sessions()}, False
        self._seen = {session: now if lives(session) else self._seen.get(session, now) for session in known}
        for session, seen in self._seen.items():
            if now - seen > min(ABANDONED_AFTER, kept_for):
                self._jobs.cancel(session)
            if now - seen > kept_for:
                freed = True
                self._jobs.forget(session)
                if (left := SESSIONS.pop(session, None)) is not None:
                    left.leave()
        return freed


@st.cache_resource
def watch() -> threading.Thread:
    """Start looking, once a server."""
    thread = threading.Thread(target=_watch, args=(Watch(jobs()),), daemon=True)
    thread.start()
    return thread


def _watch(watch: Watch) -> None:
    while True:
        time.sleep(promises.EVERY)
        # Streamlit's time begins when the connection ends, which may be a whole turn after it was last seen.
        freed = watch.look(time.monotonic(), session_lives, promises.kept_seconds() - promises.EVERY)
        _let_streamlit_expire()
        if freed:
            _clear_main()
            gc.collect()  # states and closures refer to each other in circles
            _give_back()


def _let_streamlit_expire() -> None:
    """Streamlit's own copies of uploads go with its session. It has no setting for when, so this asks its store directly, and
    does without where another version keeps sessions differently."""
    manager = getattr(get_instance(), "_session_mgr", None) if exists() else None
    cache = getattr(getattr(manager, "_session_storage", None), "_cache", None)
    lock = getattr(manager, "_storage_lock", None)
    if lock is not None and hasattr(cache, "expire"):
        with lock:
            gone = cache.expire()
        del gone  # their files are cleared away without the lock


def _clear_main() -> None:
    """The script that ran last stays the module __main__, with all its variables: not where its session has departed."""
    held = getattr(sys.modules.get("__main__"), "state", None)
    if isinstance(held, Session) and held.id not in SESSIONS:
        sys.modules["__main__"] = types.ModuleType("__main__")


def _give_back() -> None:
    """Return freed memory to the system: the allocator of the C library keeps it for its threads otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
