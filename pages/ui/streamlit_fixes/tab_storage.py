"""What Streamlit keeps of browser tabs: which are open, and copies of what closed ones have shown.

Streamlit keeps its state of a tab that has gone for ``server.disconnectedSessionTTL`` seconds (120
unless set). After that nobody can come back to it. Streamlit drops it only when another tab closes.
Its main loop and the threads of scripts may hold it longer, with copies of uploads and everything
that callbacks of widgets refer to. It has no setting for that. Both are therefore emptied here as
soon as their time is over; other owners then hold an empty shell.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.streamlit_fixes.absent import off_where_absent

KEPT = "what closed tabs held is freed when Streamlit frees it, which may be later than this app says"


def shown() -> str:
    """Streamlit's id of the tab that this script runs for; empty without a server."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def is_open(tab: str) -> bool:
    """True if a browser still shows this tab."""
    server = _server()
    return server is not None and server.is_active_session(tab)


@off_where_absent(KEPT, None)
def free(tabs: Iterable[str]) -> None:
    """Free what Streamlit holds of these tabs: their uploads, what their callbacks refer to, and where no browser shows them, everything."""
    if (server := _server()) is None:
        return
    manager, cache, lock = _stored(server)
    for tab in tabs:
        server.uploaded_file_mgr.remove_session_files(tab)
        with lock:
            left = cache.pop(tab, None)
        if left is not None:
            _empty(left.session)
        if (active := manager.get_active_session_info(tab)) is not None:
            # A callback holds all variables of its page as long as the tab is open, whatever page it shows since.
            known = active.session.session_state._new_widget_state.widget_metadata
            for name, one in list(known.items()):
                known[name] = replace(one, callback=None, callback_args=None, callback_kwargs=None)


@off_where_absent(KEPT, False)
def expire(known: weakref.WeakValueDictionary[str, Any]) -> bool:
    """Free the tabs that no one can come back to any more. ``known`` are those seen before, and is
    brought up to date. Returns whether any was freed."""
    if (server := _server()) is None:
        return False
    manager, cache, lock = _stored(server)
    with lock:  # no one comes back meanwhile
        expired = cache.expire()
        kept = {info.session.id: info.session for info in manager.list_sessions()}
    known.update({tab: info.session for tab, info in expired})
    gone = [known.pop(tab) for tab in list(known) if tab not in kept]
    known.update(kept)
    for session in gone:
        _empty(session)
    return bool(gone)


def _server() -> Any:
    """The server that runs this script; None for a script without one, and where Streamlit's own tests have a stand-in for it."""
    try:
        server = get_instance()
    except RuntimeError:
        return None
    return server if issubclass(type(server), Runtime) else None


def _stored(server: Any) -> tuple[Any, Any, Any]:
    """The manager of tabs, what it keeps of those that have gone, and the lock of these."""
    manager = server._session_mgr
    return manager, manager._session_storage._cache, manager._storage_lock


def _empty(session: Any) -> None:
    session.shutdown()
    session.session_state.__init__()  # its clear() keeps the callbacks, and with them all variables of pages
