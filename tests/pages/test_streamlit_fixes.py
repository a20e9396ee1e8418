"""Only one package touches the insides of Streamlit, and does without where they differ."""

import re
import weakref
from contextlib import suppress
from pathlib import Path

import streamlit as st

from pages.ui import access, streamlit_fixes
from pages.ui.streamlit_fixes import tab_storage

ROOT = Path(streamlit_fixes.__file__).parents[3]
INSIDES = re.compile(
    r"^\s*(?:from|import) (?:streamlit\.(?!delta_generator )|starlette|tornado|uvicorn).*|\bst\.(?:_[a-z]|config\b|runtime|elements)",
    re.MULTILINE,
)
"""Imports of what is inside, but for the type of a place on the page, and names behind the public ones."""


def test_nothing_else_touches_the_insides_of_streamlit():
    files = [path for path in (ROOT / "pages").rglob("*.py") if path.parent.name != "streamlit_fixes"]
    assert len(files) > 50
    assert not {str(path): found for path in files if (found := INSIDES.findall(path.read_text(encoding="utf-8")))}
    public = "    from starlette.middleware import Middleware"  # which st.App is given
    assert [line for line in (ROOT / "app.py").read_text().splitlines() if "starlette" in line] == [public]


def test_where_uploads_would_be_written_to_the_disk_none_are_taken(monkeypatch, caplog):
    assert streamlit_fixes.uploads_stay_in_memory()
    monkeypatch.delattr("starlette.formparsers.MultiPartParser.spool_max_size")
    assert not streamlit_fixes.uploads_stay_in_memory()
    streamlit_fixes.uploads_stay_in_memory()
    (line,) = caplog.messages
    assert f"With Streamlit {st.__version__} uploads would be written to the disk, so none are taken" in line

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})

    def status(method, app):
        sent = []

        async def send(message):
            sent.append(message)

        with suppress(StopIteration):  # it waits for nothing
            app({"type": "http", "method": method, "path": "/_stcore/upload_file/x/y"}, None, send).send(None)
        return sent[0]["status"]

    assert [status(method, access.NoUploads(app)) for method in ("PUT", "POST", "GET")] == [503, 503, 200]


def test_what_closed_tabs_held_is_left_to_streamlit_where_its_insides_differ(monkeypatch, caplog):
    monkeypatch.setattr(tab_storage, "_server", object)
    tab_storage.free(["tab"])
    assert tab_storage.expire(weakref.WeakValueDictionary()) is False
    assert ["is freed when Streamlit frees it" in line for line in caplog.messages] == [True, True]
    tab_storage.free(["tab"])
    assert len(caplog.messages) == 2
