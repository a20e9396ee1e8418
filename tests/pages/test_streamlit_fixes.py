"""The app runs where Streamlit has changed its private parts: it says which fix is off, and promises nothing that rests on it."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages.ui import promises, streamlit_fixes
from pages.ui.streamlit_fixes import page_polls, run_context, tab_storage, uploads
from pages.ui.streamlit_fixes.guard import Fix

ROOT = Path(streamlit_fixes.__file__).parents[3]
FOLDER = Path(streamlit_fixes.__file__).parent
SPOOLING, OPEN, UPLOADS, STATES = uploads.SPOOLING, tab_storage.OPEN_TABS, tab_storage.UPLOADS, tab_storage.STATES
TABS, POLLS, PAGES = run_context.KNOWN_TABS, run_context.KNOWN_POLLS, page_polls.PAGE_OF_THREAD
ADDRESS = run_context.KNOWN_ADDRESS
LATE, GONE = page_polls.LATE_POLLS, page_polls.GONE_FRAGMENTS
FIXES = [SPOOLING, OPEN, UPLOADS, STATES, TABS, POLLS, ADDRESS, PAGES, LATE, GONE]
OFF_WITHOUT = {
    "starlette.spool_max_size": [SPOOLING],
    "starlette.MultiPartParser": [SPOOLING],
    "starlette.UploadFile": [SPOOLING],
    "starlette.Request": [SPOOLING],
    "streamlit.get_script_run_ctx": [TABS, POLLS, ADDRESS],
    "streamlit.context_info": [ADDRESS],
    "streamlit.fragment_ids_this_run": [POLLS],
    "streamlit.Runtime": [OPEN, UPLOADS, STATES],
    "streamlit.get_instance": [OPEN, UPLOADS, STATES],
    "streamlit.is_active_session": [OPEN],
    "streamlit.uploaded_file_mgr": [UPLOADS],
    "streamlit.UploadedFileRec": [UPLOADS],
    "streamlit.add_file": [UPLOADS],
    "streamlit.get_files": [UPLOADS],
    "streamlit.remove_session_files": [UPLOADS],
    "streamlit._session_mgr": [STATES],
    "streamlit._session_storage": [STATES],
    "streamlit._cache": [STATES],
    "streamlit._storage_lock": [STATES],
    "streamlit._new_widget_state": [STATES],
    "streamlit.expire": [STATES],
    "streamlit.list_sessions": [STATES],
    "streamlit.SessionState": [STATES],
    "streamlit.AppSession": [STATES, LATE],
    "streamlit.request_rerun": [LATE],
    "streamlit.PagesManager": [PAGES],
    "streamlit._intended_page_script_hash": [PAGES],
    "streamlit._intended_page_name": [PAGES],
    "streamlit._current_page_script_hash": [PAGES],
    "streamlit.intended_page_script_hash": [PAGES],
    "streamlit.intended_page_name": [PAGES],
    "streamlit.current_page_script_hash": [PAGES],
    "streamlit.set_script_intent": [PAGES],
    "streamlit.set_current_page_script_hash": [PAGES],
    "streamlit.MemoryFragmentStorage": [GONE],
    "streamlit.clear_outside_wrappers": [GONE],
    "streamlit.lookup": [GONE],
    "streamlit.registration_sequence": [GONE],
    "streamlit.ids_registered_after": [GONE],
}
"""The fixes that are off where a name is absent."""
UNUSED = [
    f"streamlit.{name}" for name in ("FragmentStorageKeyError", "StopException", "DeltaGenerator", "_uploaded_file_mgr")
]
"""Names that the app once could not do without."""
BY_DEFAULT = ["_cache", "uploaded_file_mgr"]
"""Forgetting everything seemed to work without these, or failed. Each name takes a second, so the others are slow tests."""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A function that runs the app without the names it is given, and returns what the app does."""
    log = tmp_path_factory.mktemp("without_names") / "log.txt"
    command = [sys.executable, str(Path(__file__).parent / "without_names.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with log.open("w") as said, subprocess.Popen(command, stderr=said, cwd=ROOT, env=environment, **pipes) as running:

        def without(names):
            running.stdin.write(json.dumps(names) + "\n")
            running.stdin.flush()
            found = json.loads(running.stdout.readline() or "null")
            assert found, log.read_text()
            return found

        yield without
        running.stdin.close()


def check(told, off):
    """The app runs with these fixes off, says so, and promises nothing that rests on them."""
    assert told["errors"] == []
    assert told["titles"] == ["Start", "Guide"]
    assert told["off"] == sorted(fix.does for fix in off)
    lines = {fix.does: [line for line in told["lines"] if fix.does in line and fix.without in line] for fix in FIXES}
    assert {does: len(found) for does, found in lines.items()} == {fix.does: int(fix in off) for fix in FIXES}
    assert len(told["lines"]) == len(off)
    forgets = not {TABS.does, OPEN.does, UPLOADS.does, STATES.does} & set(told["off"])
    assert not (told["left"] and forgets)
    assert ("not written to disk" in told["guide"]) is (SPOOLING not in off)
    for said in (told["guide"], told["forgetting"], told["notice"]):
        assert (promises.COPIES_STAY in said.replace("\\", "")) is not forgets
    assert ("at most 62 minutes" in told["guide"]) is forgets
    assert ("from this server at once" in told["forgetting"]) is forgets
    assert ("also those of other tabs" in told["forgetting"]) is (TABS not in off)
    assert ("A refresh or a lost connection loses nothing" in told["guide"]) is not {TABS.does, OPEN.does} & set(
        told["off"]
    )
    assert ("Everything has been forgotten" in told["notice"]) is forgets


NAMES = [
    pytest.param(name, id=name, marks=[] if name.partition(".")[2] in BY_DEFAULT else pytest.mark.slow)
    for name in OFF_WITHOUT
]


@pytest.mark.parametrize("name", NAMES)
def test_without_a_name_the_app_runs_and_promises_nothing_that_rests_on_it(told, name):
    check(told([name]), OFF_WITHOUT[name])


def test_names_that_are_not_needed_are_not_missed(told):
    check(told(UNUSED), [])


def test_the_app_runs_without_any_fix(told):
    check(told(list(OFF_WITHOUT)), FIXES)


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


def test_what_touches_the_insides_of_streamlit_does_so_when_it_is_tried():
    """An import at the top of a file would stop the app where the name is absent. Each name is taken away in a test above."""
    found = [one for path in FOLDER.glob("*.py") for one in insides(path)]
    assert found
    assert not [one for one in found if one[2]]
    sent = {"streamlit.ClientState"}  # generated from what server and browser have agreed on
    assert {name for _, name, _ in found} - sent <= set(OFF_WITHOUT)
    private = {
        node.attr
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr) and ast.unparse(node.value) != "self"
    }
    assert {f"streamlit.{name}" for name in private | set(page_polls._PAGES)} <= set(OFF_WITHOUT)


def test_a_fix_that_fails_while_it_is_used_is_off_and_says_so_once(caplog):
    fix, calls = Fix("polls are dropped", "It is as it was."), []

    @fix.guarded(otherwise="nothing")
    def use(fails):
        calls.append(fails)
        return 1 / (not fails)

    with caplog.at_level("WARNING"):
        assert [use(False), use(True), use(False), use(True)] == [1.0, "nothing", "nothing", "nothing"]
    assert calls == [False, True]
    (said,) = caplog.messages
    assert "polls are dropped (ZeroDivisionError: division by zero). It is as it was." in said


def test_what_ends_a_run_is_no_failure_of_a_fix():
    fix = Fix("polls are dropped", "It is as it was.")

    class Ends(BaseException):
        """Streamlit has such for a page that runs again."""

    @fix.guarded(otherwise=None)
    def use():
        raise Ends

    with pytest.raises(Ends):
        use()
    assert not fix.off
