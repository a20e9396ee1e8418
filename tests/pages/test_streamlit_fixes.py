"""Only one package touches the insides of Streamlit, and it wants the version that it knows."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from pages.ui import streamlit_fixes

ROOT = Path(streamlit_fixes.__file__).parents[3]
FOLDER = Path(streamlit_fixes.__file__).parent


def insides(path):
    """(line, name, whether when the module is imported) of what the source in ``path`` takes from inside Streamlit or its server."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types_only = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    skipped = {id(inner) for node in types_only for inner in ast.walk(node)}
    later = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        now = id(node) not in later
        if isinstance(node, ast.ImportFrom) and re.match(r"streamlit\.|starlette|tornado|uvicorn", node.module or ""):
            yield from ((node.lineno, f"{node.module.partition('.')[0]}.{alias.name}", now) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [
                alias.name for alias in node.names if re.match(r"streamlit\.|starlette|tornado|uvicorn", alias.name)
            ]
            yield from ((node.lineno, name, now) for name in names)
        elif isinstance(node, ast.Attribute) and re.match(r"st\.(_[a-z]|config\b|runtime|elements)", ast.unparse(node)):
            yield node.lineno, ast.unparse(node), now


def test_nothing_else_touches_the_insides_of_streamlit():
    files = [ROOT / "app.py", *(path for path in (ROOT / "pages").rglob("*.py") if path.parent != FOLDER)]
    assert len(files) > 50
    used = {(path.name, name) for path in files for _, name, _ in insides(path)}
    assert used == {("app.py", "starlette.Middleware")}  # which st.App is given, in public


def test_another_version_of_streamlit_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("streamlit.__version__", "1.68.0")
    with pytest.raises(ImportError, match=r"1\.68\.0 is installed: run pip install -r requirements\.txt"):
        importlib.reload(streamlit_fixes)
