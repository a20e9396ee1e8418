"""A click on a link to a page, and a page drawn again, win over polls in progress: three faults of Streamlit 1.67, fixed.

A fragment with ``run_every`` has the browser ask for a poll every so often, and every request names the page to show:

* A poll and then a click begin their runs side by side in two threads; each writes its page to the `PagesManager` of the session, and
  the run for the click draws the one written last. Here each thread reads what it wrote.
* Until a click is answered the browser polls for the old page. Carried out after the click, such a poll clears the new page, or goes
  back to the old one. Here it is dropped when it arrives.
* Where a page ends early, Streamlit keeps fragments of the earlier page that are no longer drawn; a poll for one is drawn at a place
  unknown to the browser, whose window stays empty. Here only fragments of the page as it was drawn last are drawn.

Streamlit has no setting for any of them (with ``runner.fastReruns`` off the newest of several requests names the page, even a poll).
"""

from __future__ import annotations

import threading
from functools import wraps
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.pages_manager import PagesManager

_PAGES = ("_intended_page_script_hash", "_intended_page_name", "_current_page_script_hash")
_NO_FRAGMENT = "no fragment of the page as it was drawn last"


def install() -> None:
    for name in _PAGES:
        attribute = OfThread()
        attribute.__set_name__(PagesManager, name)
        setattr(PagesManager, name, attribute)
    _drop_late_polls()
    _draw_what_is_on_the_page()


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


def comes_late(session: Any, request: Any) -> bool:
    """True if this is a poll for a page that a click has left. The server calls this for every
    request in turn, with Streamlit's `AppSession` and its `ClientState` or None."""
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


def _drop_late_polls() -> None:
    request_rerun = AppSession.request_rerun

    @wraps(request_rerun)
    def unless_late(session: AppSession, client_state: ClientState | None, *more: Any, **options: Any) -> None:
        if not comes_late(session, client_state):
            request_rerun(session, client_state, *more, **options)

    setattr(AppSession, request_rerun.__name__, unless_late)


def _draw_what_is_on_the_page() -> None:
    forget_wrappers, lookup = MemoryFragmentStorage.clear_outside_wrappers, MemoryFragmentStorage.lookup

    def begin(storage: MemoryFragmentStorage) -> None:
        """The page is drawn again: what is registered from here on is on it."""
        forget_wrappers(storage)
        storage.__dict__["begun_at"] = storage.registration_sequence()

    def on_page(storage: MemoryFragmentStorage, fragment: str) -> Any:
        """A fragment to draw; where the page as it was drawn last has none such, Streamlit's own error, which skips it."""
        there = fragment in storage.ids_registered_after(storage.__dict__.get("begun_at", 0))
        return lookup(storage, fragment if there else _NO_FRAGMENT)

    setattr(MemoryFragmentStorage, forget_wrappers.__name__, begin)  # called as the page begins, and only then
    setattr(MemoryFragmentStorage, lookup.__name__, on_page)
