"""What is promised about rows, and what makes it true: one place, because pages and README repeat it.

Streamlit's server reads an upload through Starlette's form parser, which moves files of more than 1 MB to a temporary file on
disk. Its documented limit for that, `MultiPartParser.spool_max_size`, is raised beyond the largest upload. Should a later
version know no such limit, `uploads_stay_in_memory` finds out by trying, and the pages say what is then true.
"""

from __future__ import annotations

import asyncio
import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import streamlit as st

from ldp_core.deploy import collector

EVERY = 10.0
"""Seconds between looks for sessions that have departed."""
_FREEING = 30.0
"""Seconds that freeing may take on a busy server."""
_NOTICED = 60.0
"""Seconds until a server misses a browser that went without a word: it pings every half minute, and waits as long."""
MOST_HELD_BYTES = 2 * 2**30
"""Tables and results of all sessions whose tab has gone."""
FORGOTTEN_AT_ONCE = (
    "This removes your data, designs, results and running work from this server at once, also those of other tabs of this browser. "
    "It cannot be undone. Files you have saved stay with you."
)
_TRIED_BYTES = 2**21  # twice the parser's own limit
_FRAMING_BYTES = 2**21  # what a form adds to its file, at most


@cache
def uploads_stay_in_memory() -> bool:
    """Raise the limit past which uploads go to disk, and try whether that works. To be called before anybody uploads."""
    try:
        from starlette.formparsers import MultiPartParser

        MultiPartParser.spool_max_size = st.config.get_option("server.maxUploadSize") * 2**20 + _FRAMING_BYTES
        with ThreadPoolExecutor(1) as apart:  # whoever asks may be in a loop that runs already
            return apart.submit(lambda: asyncio.run(_stays_in_memory())).result()
    except Exception:  # another version of a library that is not ours: whatever it says, nothing is promised
        return False


async def _stays_in_memory() -> bool:
    from starlette.datastructures import UploadFile
    from starlette.requests import Request

    form = (
        b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
        + bytes(_TRIED_BYTES)
        + b"\r\n--b--\r\n"
    )

    async def receive() -> dict:
        return {"type": "http.request", "body": form, "more_body": False}

    headers = [(b"content-type", b"multipart/form-data; boundary=b")]
    async with Request({"type": "http", "method": "PUT", "headers": headers}, receive).form() as found:
        upload = found["f"]  # in Python's SpooledTemporaryFile, which says whether it has moved to disk
        return isinstance(upload, UploadFile) and not getattr(upload.file, "_rolled", True)


def reports_in_memory() -> str:
    """Where reports are, in a sentence or two that is true of this server."""
    here = (
        "Reports are counted in the memory of this server, for your session only, and let go of once they are counted"
    )
    if uploads_stay_in_memory() and collector.uploads_stay_in_memory():
        return f"{here}. They are not written to disk."
    return f"{here}; until then they are in a temporary file on the server's disk."


def returns_within() -> float:
    """Seconds for which Streamlit takes back somebody whose connection has ended."""
    return float(st.config.get_option("server.disconnectedSessionTTL"))


def held_for() -> float:
    """Seconds for which what a browser has left is held: an hour, unless the environment says otherwise."""
    return float(os.environ.get("LDP_HELD_SECONDS", "3600"))


def kept_for() -> float:
    """Seconds after which nobody can come back to what was left, neither through us nor through Streamlit."""
    return max(held_for(), returns_within())


def kept_minutes() -> int:
    """Whole minutes after which nothing is left of a session whose page was closed: `pages.ui.session.departed` misses it at one
    look, and frees it at the first look after the time for coming back is over."""
    return math.ceil((_NOTICED + kept_for() + 2 * EVERY + _FREEING) / 60)


def forgetting() -> str:
    """When rows are forgotten, in a sentence that is true of this server."""
    return (
        f"They are forgotten at most {_minutes(kept_minutes())} after the page is closed or its connection is lost, or at once when "
        "you press Forget everything."
    )


def holding() -> str:
    """What comes back after a refresh and to whom, in sentences that are true of this server."""
    minutes = kept_for() / 60
    held = _minutes(round(minutes)) if minutes >= 1 else "less than a minute"
    return (
        "A refresh or a lost connection loses nothing: data, designs, results and running work are held in the memory of this server "
        f"for {held}, and only the same browser gets them back, by a cookie with a random number. A copied address opens "
        "nothing. A second tab beside an open one starts with a design of its own. In all, at most "
        f"{MOST_HELD_BYTES / 2**30:.0f} GB are held for people whose page is closed: whoever left first is forgotten first."
    )


def _minutes(count: int) -> str:
    return f"{count} minute{'s' if count > 1 else ''}"


def rows_in_memory() -> str:
    """Where rows are, in a sentence or two that is true of this server."""
    here = "Rows stay in the memory of this server, for your session only"
    if uploads_stay_in_memory():
        return f"{here}. They are not written to disk."
    return f"{here}, but while a file of more than 1 MB is uploaded it is in a temporary file on the server's disk."
