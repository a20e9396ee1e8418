"""Who reaches this server.

A web page whose name is pointed to 127.0.0.1 after it was loaded (DNS rebinding) talks to a server on this machine as to its own. What
gives it away is the name by which it came: `KnownHosts` refuses every name that `server.allowedHosts` lacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

_ROOT = b'<div id="root">'
_OUTLINE = b"""<style>#outline { color-scheme: light dark; position: fixed; inset: 0; background: light-dark(#FFFFFF, #171614); }
#outline i { position: absolute; left: 26%; width: 68%; height: 2.5rem; border-radius: 8px; background: light-dark(#ECECEC, #2A2927); }
#outline i:first-child { left: 0; top: 0; width: 23%; height: 100%; border-radius: 0; opacity: 0.5; }
@media (max-width: 768px) { #outline i { left: 5%; width: 90%; } #outline i:first-child { display: none; } }</style>
<div id="outline" aria-hidden="true"><i></i><i style="top: 5rem"></i><i style="top: 9rem"></i><i style="top: 13rem; height: 20rem"></i></div>"""
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


class _Around:
    """An ASGI application around another one."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]):
        self._app = app


class KnownHosts(_Around):
    """An ASGI application that answers requests to names that are not this server's with one sentence, and passes on all others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streamlit itself refuses WebSockets by the same rule. Whether the server is alive is told to everybody."""
        name = named(dict(scope.get("headers", ())).get(b"host", b"").decode("latin-1"))
        if scope["type"] != "http" or _allowed(name) or scope["path"].endswith("/_stcore/health"):
            return await self._app(scope, receive, send)
        said = (
            f"This app is not served under the name {escape(name[:100]) or '(none)'}: open it as localhost, or let its operator add the "
            "name to server.allowedHosts."
        )
        await _refuse(send, 403, said)


class NoUploads(_Around):
    """An ASGI application that refuses all uploads, for a server on which they would be written to the disk, and passes on all others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("PUT", "POST"):
            return await _refuse(send, 503, "Uploads would be written to the disk of this server, so it takes none.")
        return await self._app(scope, receive, send)


class Outlined(_Around):
    """An ASGI application that draws the outline of a page, in grey, until the scripts that draw the page itself are there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The outline stands where Streamlit's page begins, and goes once that is drawn. What has an ending is no page."""
        if scope["type"] != "http" or "." in scope["path"] or "_stcore" in scope["path"]:
            return await self._app(scope, receive, send)

        async def outlined(message: MutableMapping[str, Any]) -> None:
            kept = [one for one in message.get("headers", ()) if one[0] != b"content-length"]
            body = message.get("body", b"").replace(_ROOT, _ROOT + _OUTLINE)
            await send({**message, **({"headers": kept} if "headers" in message else {"body": body})})

        whole = [
            one for one in scope["headers"] if one[0] != b"accept-encoding"
        ]  # a compressed one has no place for it
        await self._app({**scope, "headers": whole}, receive, outlined)


async def _refuse(send: Send, status: int, said: str) -> None:
    page = f"<!doctype html><meta charset=utf-8><title>Not served here</title><p>{said}</p>".encode()
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(page)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": page})
