"""A click on a link to a page, and a page drawn anew, win over polls that are under way: three faults of Streamlit 1.67, mended.

Fragments with ``run_every`` have the browser ask for a poll every so often, and every request names the page to show. On a
busy machine a poll can meet a click on a link or a page that is drawn anew, and the page is lost in one of three ways:

* The poll comes first, the click next, and their runs begin side by side in two threads. Each writes the page it was asked for
  to the `PagesManager` of the session, and the run for the click draws the one written last. Here each thread reads what it wrote.
* The click comes first, but until the answer arrives the browser goes on polling for the old page. Carried out after the
  click, such a poll clears the new page, or goes back to the old one. Here it is dropped when it arrives.
* The poll comes while the page is drawn anew, and its turn comes after that. Where the page ended early, by ``st.stop``, Streamlit
  has kept the fragments that were drawn before and no longer are: one is drawn at a place that the browser has not, whose
  window then stays empty until somebody loads it again. Here only fragments of the page as it was drawn last are drawn.

Streamlit has no setting for any of them (with ``runner.fastReruns`` off one thread does all, but the newest of several requests
names the page, even if it is a poll).
"""

from __future__ import annotations

import threading
from functools import cache, wraps
from typing import Any

from streamlit.errors import FragmentStorageKeyError
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import Fragment, MemoryFragmentStorage
from streamlit.runtime.pages_manager import PagesManager

_forget_wrappers, _lookup = MemoryFragmentStorage.clear_outside_wrappers, MemoryFragmentStorage.lookup


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


def _begin(storage: MemoryFragmentStorage) -> None:
    """The page is drawn anew: what is registered from here on is on it."""
    _forget_wrappers(storage)
    storage.__dict__["begun_at"] = storage.registration_sequence()


def _on_page(storage: MemoryFragmentStorage, fragment: str) -> Fragment:
    """A fragment to draw. Raises FragmentStorageKeyError, which skips it, where the page as it was drawn last has none such."""
    if storage._registration_sequence_by_id.get(fragment, 0) <= storage.__dict__.get("begun_at", 0):
        raise FragmentStorageKeyError(fragment)
    return _lookup(storage, fragment)


@cache
def keep() -> None:
    """To be called by app.py: mends all three, once per process."""
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
    setattr(MemoryFragmentStorage, _forget_wrappers.__name__, _begin)  # called as the page begins, and only then
    setattr(MemoryFragmentStorage, _lookup.__name__, _on_page)
