"""The sessions of the server, and how a browser is known again: by a cookie with a random number that this server gave it.

Only the digest of the number is kept with what it opens; an unknown number opens nothing and is replaced. Streamlit reads
cookies but sets none, so a script on the page sets it, and renews it for as long as the page is open.

Sessions whose tab has gone are held for an hour, so that a refresh or a lost connection loses nothing. Each `Session` has a seat: the
browser it belongs to and the tab that shows it. While the tab lives, no one else gets the session. After that, a new tab of the same
browser takes over the session with its running jobs. Sessions in which something was begun come first, of them the one left last, so
that tabs opened together get one each. A second tab opened beside a live one starts with a session of its own. So does a refresh after
a connection that ended without a word, until the server has missed it: the next refresh then brings back what was begun.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ldp_core.designs import Results
from pages.ui import promises
from pages.ui.streamlit_fixes import tab_storage

if TYPE_CHECKING:
    from pages.ui.session.state import Session

_VISITOR = "visitor"
_TOKEN = "browser-token"
_STALE = "browser-token-replaced"
_OURS = re.compile(r"[\w-]{43}", re.ASCII)


def cookie_name() -> str:
    """Browsers share cookies between all ports of a machine, servers on different ports share nothing."""
    return f"ldp-{st.get_option('server.port')}"


def visitor() -> Visitor | None:
    """The visitor whose script is running; None without a server."""
    if _VISITOR in st.session_state:
        return st.session_state[_VISITOR]
    tab = tab_storage.shown()
    if not tab:
        return None
    given = st.context.cookies.to_dict().get(cookie_name(), "")
    token = given if session_store().knows(_digest(given)) else secrets.token_urlsafe(32)
    st.session_state[_TOKEN], st.session_state[_STALE] = token, given if _OURS.fullmatch(given) else ""
    st.session_state[_VISITOR] = made = Visitor(_digest(token), tab)
    return made


def remembered() -> str:
    """The number that the browser keeps, for page.js, as JSON; empty without a server."""
    if _TOKEN not in st.session_state:
        return ""
    said = {
        "name": cookie_name(),
        "token": st.session_state[_TOKEN],
        "stale": st.session_state[_STALE],
        "path": "/" + str(st.get_option("server.baseUrlPath") or "").strip("/"),
        "seconds": int(promises.held_for()),
    }
    return json.dumps(said).replace("<", "\\u003c")  # nothing in it can end the script


def clear(pressed: str) -> None:
    """Forget what the widgets of this tab hold, but for the button that was pressed; it stays the same browser."""
    for key in list(st.session_state):
        if key not in (_VISITOR, _TOKEN, _STALE, pressed):
            del st.session_state[key]


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


Lives = Callable[[str], bool]
"""True if a browser still shows this tab."""


@dataclass(frozen=True)
class Visitor:
    """The visitor who requests a page.

    Attributes:
        browser: a digest of its cookie. tab: Streamlit's id of the connection.
    """

    browser: str
    tab: str


@dataclass
class Seat:
    """``tabs`` have shown the session, the last one may still do; ``gone`` is when it was first missed."""

    state: Session
    browser: str
    tabs: list[str]
    gone: float | None = None

    @property
    def tab(self) -> str:
        return self.tabs[-1]


class SessionStore:
    """All sessions of the server. Safe across threads."""

    def __init__(self) -> None:
        self._seats: dict[str, Seat] = {}
        """By the id of the session; the one shown last is the last."""
        self._freed = False
        self._lock = threading.RLock()

    def add(self, state: Session, visitor: Visitor) -> None:
        """A new session, shown by this visitor."""
        with self._lock:
            self._seats[state.id] = Seat(state, visitor.browser, [visitor.tab])

    def shows(self, state: Session, visitor: Visitor) -> bool:
        """True if it is this visitor's tab that shows this session."""
        with self._lock:
            seat = self._seats.get(state.id)
            return seat is not None and (seat.browser, seat.tab) == (visitor.browser, visitor.tab)

    def take(self, visitor: Visitor, lives: Lives) -> Session | None:
        """The session that this browser left last, shown by this visitor from now on; None where it has left none. One in which
        nothing was begun comes after all others."""
        with self._lock:
            seats = [seat for seat in self._seats.values() if seat.browser == visitor.browser]
            left = [seat for seat in seats if not lives(seat.tab)]
            if not left:
                return None
            soonest = float("inf")  # not even missed yet
            seat = max(
                reversed(left),
                key=lambda seat: (seat.state.touched, soonest if seat.gone is None else seat.gone),
            )
            seat.tabs, seat.gone = [*seat.tabs, visitor.tab], None
            self._seats[seat.state.id] = self._seats.pop(seat.state.id)
            return seat.state

    def knows(self, browser: str) -> bool:
        """True if anything belongs to this browser."""
        with self._lock:
            return any(seat.browser == browser for seat in self._seats.values())

    def holds(self, state: Session) -> bool:
        """True if this session has not been forgotten."""
        with self._lock:
            return state.id in self._seats

    def look(self, now: float, lives: Lives, kept_for: float, returns_within: float, most_bytes: int) -> bool:
        """Forget sessions missed for ``kept_for`` seconds, and unused sessions not resumed within
        ``returns_within``. While the tables that no screen shows hold more than ``most_bytes``, forget the session missed longest, and
        where none is missed, the steps of the one that holds most. Results have what is left. Returns whether anything was freed
        since the last look."""
        with self._lock:
            for seat in list(self._seats.values()):
                if lives(seat.tab):
                    seat.gone = None
                elif seat.gone is None:  # not since it was last seen: a look may come late, and it may still come back
                    seat.gone = now
                    seat.state.results.show(False)
                elif now - seat.gone > (kept_for if seat.state.touched else returns_within):
                    self._forget(seat)
            weights = {seat.state.id: seat.state.weight(shown=seat.gone is None) for seat in self._seats.values()}
            missed = [(seat.gone, seat) for seat in self._seats.values() if seat.gone is not None]
            for _, seat in sorted(missed, key=lambda it: it[0]):
                if sum(weights.values()) > most_bytes:
                    self._forget(seat)
                    del weights[seat.state.id]
            steps = [name for name in weights if self._seats[name].state.history.past]
            if steps and sum(weights.values()) > most_bytes:
                self._seats[max(steps, key=weights.__getitem__)].state.forget_steps()
                self._freed = True
            Results.make_room(beside=sum(weights.values()))
            freed, self._freed = self._freed, False
            return freed

    def forget(self, browser: str) -> list[str]:
        """Forget all sessions of a browser, also those that its tabs show. Returns the tabs that have shown them."""
        with self._lock:
            seats = [seat for seat in self._seats.values() if seat.browser == browser]
            for seat in seats:
                self._forget(seat)
            return [tab for seat in seats for tab in seat.tabs]

    def _forget(self, seat: Seat) -> None:
        self._freed = True
        del self._seats[seat.state.id]
        seat.state.leave()


@st.cache_resource
def session_store() -> SessionStore:
    return SessionStore()
