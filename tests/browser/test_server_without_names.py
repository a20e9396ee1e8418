"""A real server where Streamlit lacks a name: it serves, its log says which fix is off, and pages promise nothing that rests on it.
Every name, without a server: tests/pages/test_streamlit_fixes.py."""

import json
import os
from pathlib import Path

import pytest

from pages.ui import promises
from pages.ui.streamlit_fixes import run_context, tab_storage, uploads
from tests.browser.conftest import serve
from tests.browser.test_server_keeps_nothing import at_uploader

FORGETS, SPOOLS, KEPT = promises.COPIES_STAY, "temporary file on the server's disk", "not written to disk"
RUN = [run_context.KNOWN_TABS, run_context.KNOWN_POLLS, run_context.KNOWN_ADDRESS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fixes", "said", "not_said"),
    [
        ("streamlit._cache", [tab_storage.STATES], {FORGETS, KEPT}, {SPOOLS}),
        ("streamlit.uploaded_file_mgr", [tab_storage.UPLOADS], {FORGETS, KEPT}, {SPOOLS}),
        ("streamlit.get_script_run_ctx", RUN, {FORGETS}, {SPOOLS}),
        ("starlette.spool_max_size", [uploads.SPOOLING], {SPOOLS, "62 minutes"}, {FORGETS, KEPT}),
        ("streamlit.StopException", [], {KEPT, "62 minutes"}, {FORGETS, SPOOLS}),
    ],
)
def test_a_server_without_a_name_serves_and_promises_nothing_that_rests_on_it(tmp_path, name, fixes, said, not_said):
    log = tmp_path / "log.txt"
    changed = {"PYTHONPATH": str(Path(__file__).parent / "renaming"), "RENAMED": json.dumps([name])}
    with serve(log, environment={**os.environ, **changed}) as (address, _):
        for _ in range(2):  # the second finds what the first has begun
            visitor = at_uploader(address)
            (words,) = [words for label, words in visitor.helps.items() if label.startswith("CSV")]
            assert {text for text in said if text in words} == said
            assert not {text for text in not_said if text in words}
            visitor.upload("CSV", "people.csv", [b"age,place\n", *(b"%d,town %d\n" % (k, k % 7) for k in range(300))])
            assert any(line.startswith("Data\\: age") for line in visitor.lines)
            assert not visitor.errors
            visitor.leave()
    lines = [line for line in log.read_text().splitlines() if "Fix off" in line]
    assert len(lines) == len(fixes)
    assert all(any(fix.does in line for line in lines) for fix in fixes)
    assert "Traceback" not in log.read_text()
