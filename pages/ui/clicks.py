"""A click on a link to a page wins over polls that are under way: two faults of Streamlit 1.67, mended.

Fragments with ``run_every`` have the browser ask for a poll every so often, and every request names the page to show. On a
busy machine a poll can meet a click on a link, and the page that was asked for is lost in one of two ways:

* The poll comes first, the click next, and their runs begin side by side in two threads. Each writes the page it was asked for
  to the `PagesManager` of the session, and the run for the click draws the one written last. Here each thread reads what it wrote.
* The click comes first, but until the answer arrives the browser goes on polling for the old page. Carried out after the
  click, such a poll clears the new page, or goes back to the old one. Here it is dropped when it arrives.

Streamlit has no setting for either (with ``runner.fastReruns`` off one thread does all, but the newest of several requests
names the page, even if it is a poll).
"""

from __future__ import annotations

import threading
from functools import cache, wraps
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager


class OfThread:
    """An attribute that each thread reads as it wrote it last, or, if it never has, as any thread wrote it last."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._own = name, f"{name}_of_thread"

    def __get__(self, instance: Any, owner: type) -> Any:
        own = instance.__dict__.get(self._own)
        return getattr(own, "value", instance.__dict__.get(self._name))

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value
        instance.__dict__.setdefault(self._own, threading.local()).value = value


def comes_late(session: AppSession, request: ClientState | None) -> bool:
    """Whether this is a poll for a page that a click has left. To be called for every request in turn."""
    left = session.__dict__.setdefault("pages_left", set())
    if request is None or not request.page_script_hash:
        return False
    if request.is_auto_rerun:
        return request.page_script_hash in left
    if request.page_script_hash == session.page_script_hash:
        left.clear()  # browser and server agree on the page
    else:
        left.add(session.page_script_hash)
        left.discard(request.page_script_hash)
    return False


@cache
def keep() -> None:
    """To be called by app.py: mends both places, once per process."""
    for name in ("_intended_page_script_hash", "_intended_page_name", "_current_page_script_hash"):
        attribute = OfThread()
        attribute.__set_name__(PagesManager, name)
        setattr(PagesManager, name, attribute)
    request_rerun = AppSession.request_rerun

    @wraps(request_rerun)
    def unless_late(session: AppSession, client_state: ClientState | None) -> None:
        if not comes_late(session, client_state):
            request_rerun(session, client_state)

    setattr(AppSession, request_rerun.__name__, unless_late)
