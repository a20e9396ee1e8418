"""Uploads stay in memory.

Streamlit's server reads an upload through Starlette's form parser, which moves files of more than
1 MB to a temporary file on disk. Its documented limit, `MultiPartParser.spool_max_size`, is raised
beyond the largest upload. If a version has no such limit, a trial shows it.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import streamlit as st

from pages.ui.streamlit_fixes.guard import Fix

SPOOLING = Fix(
    "uploads stay in memory", "Uploads of more than 1 MB pass through a temporary file, as the pages then say."
)
_TRIED_BYTES = 2**21
"""Twice the limit that the parser has on its own."""
_FRAMING_BYTES = 2**21
"""The most bytes that a form adds to its file."""


def install() -> None:
    stay_in_memory()


@cache
def stay_in_memory() -> bool:
    """Raise the limit past which uploads go to disk, and try whether that works."""
    return SPOOLING.attempt(_raise_limit)


def _raise_limit() -> None:
    from starlette.formparsers import MultiPartParser

    MultiPartParser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20 + _FRAMING_BYTES
    with ThreadPoolExecutor(1) as apart:  # the caller may be in a loop that runs already
        if not apart.submit(lambda: asyncio.run(_stays_in_memory())).result():
            raise RuntimeError("an upload was moved to disk")


async def _stays_in_memory() -> bool:
    from starlette.datastructures import UploadFile
    from starlette.requests import Request

    head = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    form = head + bytes(_TRIED_BYTES) + b"\r\n--b--\r\n"

    async def receive() -> dict:
        return {"type": "http.request", "body": form, "more_body": False}

    headers = [(b"content-type", b"multipart/form-data; boundary=b")]
    async with Request({"type": "http", "method": "PUT", "headers": headers}, receive).form() as request:
        upload = request["f"]  # in Python's SpooledTemporaryFile, which knows whether it has moved to disk
        return isinstance(upload, UploadFile) and not getattr(upload.file, "_rolled", True)
