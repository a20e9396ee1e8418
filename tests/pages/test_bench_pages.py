"""Seconds of processor time that the server takes to draw each page: first, on return, and after a control."""

import itertools
import time

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

pytestmark = pytest.mark.benchmark
PAGES = (
    *("start", "data", "workload", "design", "compare", "bounds"),
    *("simulate", "export", "collect", "papers", "guide"),
)


@pytest.mark.parametrize("types", [25, 1024])
def test_pages(app, types, monkeypatch, capsys):
    run, spent, number = ScriptRunner._run_script, [0.0], itertools.count(100)

    def timed(runner, data):
        begun = time.thread_time()  # of the script alone, however busy the machine is
        run(runner, data)
        spent[0] += time.thread_time() - begun

    monkeypatch.setattr(ScriptRunner, "_run_script", timed)

    def seconds(act):
        spent[0] = 0.0
        act()
        return spent[0]

    def another_epsilon():
        app.session.change(epsilon=f"1.{next(number)}")  # never one that was worked out before
        app.at.run()
        app.check()

    app.declare("0", str(types), types).ask("prefix")
    app.go("design").enter("selectbox", "mechanism", "hierarchical").finish()
    rows = []
    for page in PAGES:
        another_epsilon()  # nothing is known of it yet
        app.go("guide")
        first = seconds(lambda page=page: app.go(page))
        app.finish().go("guide")
        back = seconds(lambda page=page: app.go(page))
        rows.append((page, first, back, seconds(another_epsilon)))
        app.finish()
    with capsys.disabled():
        print(f"\n{types:,} types   first  return  epsilon (seconds of processor time)")
        for page, *figures in rows:
            print(f"{page:12}" + "".join(f"{figure:8.3f}" for figure in figures))
