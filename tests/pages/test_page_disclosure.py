"""What pages hand out of counted people: nothing that depends on the counts leaves without a mark or a tick."""

import io
import json
import zipfile

import pandas as pd
import plotly.graph_objects as go

from ldp_core import designs
from ldp_core.designs import disclosure
from pages.ui import layout
from pages.ui.session import exchange

PAGES = ("data", "workload", "design", "compare", "bounds", "simulate", "ask", "export", "collect")
TABS = {"workload-tabs": "workload", "design-tabs": "design", "compare-tabs": "compare", "outcome-tabs": "simulate"}
# Three counts each, of the same values and as many people.
ONE, OTHER = (400, 350, 250), (20, 30, 950)
SUFFIX = "-with-data"


def rows(counts):
    return ("age\n" + "".join(f"{age}\n" * n for age, n in zip((10, 30, 50), counts, strict=True))).encode()


def outcome(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("outcome.json"))


def counted(another, counts):
    app = another().upload("people.csv", rows(counts))
    return app.go("design").enter("selectbox", "mechanism", "hierarchical").finish()


def visited(app, files):
    """Everything on offer after a visit to every page, made as if each button were pressed."""
    files.clear()
    app.unfold("every-mechanism")
    for page in PAGES:
        (app.to_ask() if page == "ask" else app.go(page)).finish()
        if page == "simulate":
            app.enter("segmented_control", "simulate", "collections")
            app.enter("number_input", "trials", 3).press("run").finish()
        if page == "ask":
            app.enter("text_input", "ask-condition", "age >= 30").press("ask-put")
        for tabs in (key for key, place in TABS.items() if place == page):
            for tab in [tab.label for tab in app.at.tabs]:
                app.open(tabs, tab).finish()
    return {name: data for name, data in files.items() if not name.endswith(".html")}, [
        name for name in files if name.endswith(".html")
    ]


def read(data):
    made = data() if callable(data) else data
    return made.encode() if isinstance(made, str) else made


def test_what_depends_on_the_counts_is_marked_and_all_else_is_the_same_for_other_counts(another, offered):
    one, other = (counted(another, counts) for counts in (ONE, OTHER))
    for app in (one, other):  # a target that was left to the data would hold a digit of them, which the files say
        app.session.change(targets={"points": 5.0})
    assert one.configuration == other.configuration
    ours, pictures = visited(one, offered)
    ours = {name: read(data) for name, data in ours.items()}
    theirs = {name: read(data) for name, data in visited(other, offered)[0].items()}
    plain = {name for name in ours if SUFFIX not in name}
    assert {"ldp-kit.zip", "ldp-design.zip", "answers.csv"} <= plain
    assert not {name for name in plain if ours[name] != theirs[name]}
    marked = {name for name in ours if name.endswith(f"{SUFFIX}.csv") and not name.startswith("simulated-reports")}
    assert {f"{name}{SUFFIX}.csv" for name in ("histogram", "comparison", "costs", "simulated-errors")} <= marked
    for name in marked:
        assert set(pd.read_csv(io.BytesIO(ours[name]))["about_this_file"]) == {disclosure.MARK}, name
    assert pictures
    assert all(name.endswith(f"{SUFFIX}.html") for name in pictures)
    one.go("data")
    charts_drawn = one.at.get("plotly_chart")
    assert all(SUFFIX in json.loads(one.proto.config)["toImageButtonOptions"]["filename"] for one in charts_drawn)


def test_a_chart_as_a_page_says_in_words_that_it_is_of_data():
    assert f"<p>{disclosure.MARK}</p>" in layout.standalone(lambda look: go.Figure(), disclosure.MARK)
    assert disclosure.MARK not in layout.standalone(lambda look: go.Figure())


def test_downloads_of_what_was_declared_carry_no_mark(app, offered):
    app.declare().go("data").finish()
    assert "histogram.csv" in offered
    assert not [name for name in offered if SUFFIX in name]
    assert "about_this_file" not in read(offered["histogram.csv"]).decode()


def test_errors_on_the_data_are_exported_once_they_are_ticked(another, offered):
    app = counted(another, ONE).go("export").finish()
    assert "The counts are not exported: errors and people needed are those of people spread evenly." in app.words
    assert not {"value", "verdict"} & {*pd.read_csv(io.BytesIO(read(offered["answers.csv"])))}
    app.control("checkbox", "export-figures").check().run()
    app.check().finish()
    assert "may work out all counts" in app.words
    setting, mechanism = app.session.setting, app.session.setting.chosen_mechanism
    for name in ("ldp-design.zip", "ldp-kit.zip"):
        recorded = outcome(read(offered[name]))
        assert recorded["users_needed"]["people"] == setting.users_needed(mechanism, "people")
        assert any("may work out all counts" in sentence for sentence in recorded["read_off_the_data"])
    written = pd.read_csv(io.BytesIO(read(offered[f"answers{SUFFIX}.csv"])))
    assert written["value"].tolist() == [100 * sum(ONE[: k + 1]) / sum(ONE) for k in range(3)]
    assert "people" not in outcome(exchange.to_save(app.session))["users_needed"]
    assert designs.load(read(offered["ldp-design.zip"])).configuration == app.session.setting.recorded


def test_nothing_is_asked_where_nothing_is_kept_back(app, another):
    app.declare().go("design").enter("selectbox", "mechanism", "hierarchical").go("export")
    assert not app.has("checkbox", "export-figures")
    aimed = counted(another, ONE)
    aimed.session.change(optimizer=designs.Optimizer(aim="people", max_rounds=2), mechanism={"name": "optimized"})
    aimed.go("design").press("optimise").finish().go("export")
    assert not aimed.has("checkbox", "export-figures")
    assert "comes with the exact share of every type" in aimed.words
