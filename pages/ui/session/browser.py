"""How a browser is known again: by a cookie with a random number that this server gave it.

Only the digest of the number is kept with what it opens; an unknown number opens nothing and is replaced. Streamlit reads
cookies but sets none, so a script on the page sets it, and renews it for as long as the page is open.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import promises
from pages.ui.session.session_store import Visitor, session_store
from pages.ui.streamlit_fixes import run_context

if TYPE_CHECKING:
    from pages.ui.session.state import Session

_VISITOR = "visitor"
_TOKEN = "browser-token"
_STALE = "browser-token-replaced"
_OURS = re.compile(r"[\w-]{43}", re.ASCII)
_RUN = secrets.token_urlsafe(8)
"""This run of the server. The browser keeps a cookie once its visitor has begun a design. The
cookie tells us that the server was restarted."""


def cookie_name() -> str:
    """Browsers share cookies between all ports of a machine, servers on different ports share nothing."""
    return f"ldp-{st.get_option('server.port')}"


def visitor() -> Visitor | None:
    """The visitor whose script is running; None without a server."""
    if _VISITOR in st.session_state:
        return st.session_state[_VISITOR]
    tab = run_context.tab()
    if not tab:
        return None
    cookies = st.context.cookies.to_dict()
    given = cookies.get(cookie_name(), "")
    token = given if session_store().knows(_digest(given)) else secrets.token_urlsafe(32)
    st.session_state[_TOKEN], st.session_state[_STALE] = token, given if _OURS.fullmatch(given) else ""
    left, work = (cookies.get(f"{cookie_name()}-{of}", "") for of in ("left", "work"))
    st.session_state[_VISITOR] = made = Visitor(_digest(token), tab, left, work not in ("", _RUN))
    return made


def remembered(state: Session) -> str:
    """What the browser keeps: its number, and what it says on leaving of the session that it left. For page.js, as JSON; empty without
    a server."""
    if _TOKEN not in st.session_state:
        return ""
    said = {
        "name": cookie_name(),
        "token": st.session_state[_TOKEN],
        "stale": st.session_state[_STALE],
        "mark": session_store().mark(state),
        "work": _RUN if session_store().has_work(_digest(st.session_state[_TOKEN])) else "",
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
