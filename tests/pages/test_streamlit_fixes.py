"""Only one package touches the insides of Streamlit, and it wants the version that it knows."""

import importlib
import re
from pathlib import Path

import pytest

from pages.ui import streamlit_fixes

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


def test_another_version_of_streamlit_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("streamlit.__version__", "1.68.0")
    with pytest.raises(ImportError, match=r"1\.68\.0 is installed: run pip install -r requirements\.txt"):
        importlib.reload(streamlit_fixes)
