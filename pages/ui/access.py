"""Who reaches this server, and who may name files of this machine to it.

A web page whose name is pointed to 127.0.0.1 after it was loaded (DNS rebinding) talks to a server on this machine as to its own. What
gives it away is the name by which it came: `KnownHosts` refuses every name that `server.allowedHosts` lacks. Other users of
this machine reach the server by its own names. They do not see the terminal that it was started from, where a code stands, without
which no file is read by its path.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE = "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(3))
"""12 of 31 letters: nobody guesses one of 10^17, however often they may try."""
_OPENED: set[str] = set()
"""Digests of the cookies of browsers in which the code was typed."""
_TYPED = "paths-opened"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def named(address: str | None) -> str:
    """The name in a Host header, or in an origin; empty where there is none."""
    try:
        parts = urlsplit(address if address and "//" in address else f"//{address or ''}")
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


def _allowed(name: str) -> bool:
    """True for a name that `server.allowedHosts` lists, or any if it lists none: Streamlit's own rule for WebSockets."""
    hosts = [host.strip().lower().rstrip(".") for host in st.get_option("server.allowedHosts")]
    return not hosts or any(
        host in ("*", name) or (host.startswith("*.") and name.endswith(host[1:])) for host in hosts
    )


class KnownHosts:
    """An ASGI application that answers requests to names that are not this server's with one sentence, and passes on all others."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streamlit itself refuses WebSockets by the same rule. Whether the server is alive is told to everybody."""
        name = named(dict(scope.get("headers", ())).get(b"host", b"").decode("latin-1"))
        if scope["type"] != "http" or _allowed(name) or scope["path"].endswith("/_stcore/health"):
            return await self._app(scope, receive, send)
        said = (
            f"This app is not served under the name {escape(name[:100]) or '(none)'}: open it as localhost, or let its operator add the "
            "name to server.allowedHosts."
        )
        page = f"<!doctype html><meta charset=utf-8><title>Not served here</title><p>{said}</p>".encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(page)).encode())]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": page})


def announce() -> None:
    """Write the code in the terminal of the server, where files may be named at all."""
    if st.get_option("server.address") in LOOPBACK:
        print(f"\n  To read files of this machine by path, type this code on the page: {_CODE}\n", flush=True)


def may_read_local_files() -> bool:
    """True if only this machine can reach the server, and the visitor came by one of its names."""
    headers = st.context.headers  # none without a server, as in tests
    origin = headers.get("Origin")
    came = [headers.get("Host"), *([] if origin is None else [origin])] if headers else []
    return st.get_option("server.address") in LOOPBACK and all(named(one) in LOOPBACK for one in came)


def opened() -> bool:
    """True if the code was typed in this browser; until then, a box for it is on the page."""
    from pages.ui.session import browser  # which needs a running server, as this module at its start does not

    visitor = browser.visitor()
    if not st.context.headers or _TYPED in st.session_state or (visitor is not None and visitor.browser in _OPENED):
        return True
    typed = st.text_input(
        "Code from the terminal",
        key="paths-code",
        max_chars=20,
        help="Other users of this machine reach this page too, and must not read your files. Nothing else needs the code.",
    )
    st.caption("It stands in the terminal where the app was started. Type it once in this browser.")
    if hmac.compare_digest(typed.strip().lower().encode(), _CODE.encode()):
        st.session_state[_TYPED] = True
        if visitor is not None:
            _OPENED.add(visitor.browser)
        st.rerun()
    if typed:
        st.error("This is not the code in the terminal of this server; type the latest one there.")
    return False
