"""What Streamlit keeps of browser tabs: which are open, and copies of what closed ones have shown.

Streamlit keeps its state of a tab that has gone for ``server.disconnectedSessionTTL`` seconds (120
unless set). After that no one can come back to it, but Streamlit drops it only when another
tab goes, and its main loop and the threads of scripts may hold it longer still, with copies of
uploads and everything that callbacks of widgets refer to. It has no setting for that. So both are
emptied here as soon as their time is over: what others still hold is a shell.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from pages.ui.streamlit_fixes.guard import Fix

OPEN_TABS = Fix(
    "tabs that are closed are noticed",
    "What they showed stays in memory until the server is stopped, as the pages then say.",
)
COPIES = Fix(
    "Streamlit's copies of uploads are freed",
    "Copies may stay in memory until the server is stopped, as the pages then say.",
)
_TRIED = "tried by the app"


def install() -> None:
    OPEN_TABS.attempt(lambda: _is_open(_TRIED))
    COPIES.attempt(_try)


@OPEN_TABS.guarded(otherwise=True)
def is_open(tab: str) -> bool:
    """True if a browser still shows this tab. All are taken to be open where that is not known: a
    session that is in use must not be forgotten."""
    return _is_open(tab)


@COPIES.guarded(otherwise=None)
def free(tabs: Iterable[str]) -> None:
    """Free what Streamlit holds of these tabs: their uploads, and where no browser shows them, everything."""
    if (server := _server()) is None:
        return
    files, _, cache, lock = _parts(server)
    for tab in tabs:
        files.remove_session_files(tab)
        with lock:
            left = cache.pop(tab, None)
        if left is not None:
            _empty(left.session)


@COPIES.guarded(otherwise=False)
def expire(known: weakref.WeakValueDictionary[str, Any]) -> bool:
    """Free the tabs that no one can come back to any more. ``known`` are those seen before, and is
    brought up to date. Returns whether any was freed."""
    if (server := _server()) is None:
        return False
    _, manager, cache, lock = _parts(server)
    with lock:  # no one comes back meanwhile
        expired = cache.expire()
        kept = {info.session.id: info.session for info in manager.list_sessions()}
    known.update({tab: info.session for tab, info in expired})
    gone = [known.pop(tab) for tab in list(known) if tab not in kept]
    known.update(kept)
    for session in gone:
        _empty(session)
    return bool(gone)


def _is_open(tab: str) -> bool:
    server = _server()
    return server is not None and server.is_active_session(tab)


def _server() -> Any:
    """The server that runs this script; None for a script without one, and for what stands for a server in Streamlit's own tests."""
    from streamlit.runtime import Runtime, get_instance

    try:
        found = get_instance()
    except RuntimeError:
        return None
    return found if issubclass(type(found), Runtime) else None


def _parts(server: Any) -> tuple[Any, Any, Any, Any]:
    """The uploads of all tabs, the manager of tabs, what it keeps of those that have gone, and the lock of these. AttributeError where
    another version keeps them differently."""
    manager = server._session_mgr
    return server.uploaded_file_mgr, manager, manager._session_storage._cache, manager._storage_lock


def _empty(session: Any) -> None:
    session.shutdown()
    session.session_state.__init__()  # its clear() keeps the callbacks, and with them all variables of pages


def _try() -> None:
    """Free an upload, a tab that has expired and a state, none of them anybody's. RuntimeError where one of them stays."""
    if (server := _server()) is None:
        return
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.state import SessionState
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    files, manager, cache, lock = _parts(server)
    files.add_file(_TRIED, UploadedFileRec(file_id=_TRIED, name=_TRIED, type="", data=b"copy"))
    files.remove_session_files(_TRIED)
    if files.get_files(_TRIED, [_TRIED]):
        raise RuntimeError("an upload stays")
    expired = type(cache)(maxsize=2, ttl=0)
    expired[_TRIED] = _TRIED
    if list(expired.expire()) != [(_TRIED, _TRIED)] or cache.pop(_TRIED, None) is not None:
        raise RuntimeError("a tab that has expired stays")
    with lock:
        manager.list_sessions()
    _ = AppSession.shutdown, AppSession.session_state
    state = SessionState()
    state[_TRIED] = _TRIED
    state.__init__()  # type: ignore[misc]
    if _TRIED in state:
        raise RuntimeError("the state of a tab stays")
