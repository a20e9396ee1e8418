"""A strategy matrix brought along: uploaded on Compare, and from then on a mechanism like any other."""

import io
import json
import zipfile

import numpy as np
import pytest

from ldp_core import charts, library, mechanisms, wording
from ldp_core.designs.configuration import Optimizer
from pages.ui.session import exchange
from tests.pages.conftest import plain


def response(n=16, epsilon=1.0):
    table = np.ones((n, n))
    np.fill_diagonal(table, np.exp(epsilon))
    return table / table.sum(axis=0)


def npy(matrix):
    content = io.BytesIO()
    np.save(content, matrix)
    return content.getvalue()


def unfold(app):
    """AppTest folds everything again with each run."""
    app.at.session_state["own-matrices"] = True
    return app


def bring(app, matrix, file="our_table.npy", name=""):
    """Upload a matrix, or the bytes of a file, on the Compare page."""
    if not any(u.key.startswith("own-") for u in app.at.file_uploader):
        app.unfold("own-matrices")
    if name:
        unfold(app).enter("text_input", "own-name", name)
    (box,) = [u for u in app.at.file_uploader if u.key.startswith("own-")]
    content = matrix if isinstance(matrix, bytes) else npy(matrix)
    box.set_value((file, content, "application/octet-stream"))
    unfold(app).at.run()
    return app.check().unfold("own-matrices")


def table(app, column):
    return next(found for found in app.dataframes if column in found)


def brought(app):
    return table(app, "In this design").set_index("Mechanism")


@pytest.fixture
def comparing(app):
    return app.declare(bins=16, users=5000).ask("prefix").go("compare")


@pytest.fixture
def ours(comparing):
    return bring(comparing, response())


def test_it_is_audited_judged_and_compared(ours):
    assert not ours.errors
    (one,) = ours.configuration.own
    same = mechanisms.create("randomized_response", n=16, epsilon=1.0)
    found = ours.costs
    assert found.loc["our table", "users_needed"] == pytest.approx(found.loc["Randomized response", "users_needed"])
    row = brought(ours).loc["our table"]
    assert (row["Reports"], row["Epsilon"]) == ("16", "1")
    assert row["Your questions"] == "It can answer them."
    assert row["In this design"] == "It takes part."
    assert row["Of the minimum, at most"] == plain(wording.gap(ours.session.setting.gap(same, "worst_case")))
    assert one.mechanism in ours.session.setting.side_by_side
    dots = [trace for chart in ours.charts for trace in chart["data"] if trace.get("marker", {}).get("symbol")]
    symbols = {symbol for trace in dots for symbol in np.atleast_1d(trace["marker"]["symbol"]).tolist()}
    assert charts.theme.marker(one.mechanism) in symbols
    assert charts.theme.marker(one.mechanism) not in {entry.style[1] for entry in library.REGISTRY.values()}


def test_one_that_gives_more_away_is_left_out_until_epsilon_allows_it(comparing):
    bring(comparing, response(epsilon=2.0), name="Bold")
    (one,) = comparing.configuration.own
    assert "Bold" not in comparing.costs.index
    said = "A report can be e^2 times as likely for one person as for another, and your epsilon is 1"
    assert said in comparing.words
    assert said in brought(comparing).loc["Bold", "In this design"]
    assert brought(comparing).loc["Bold", "Your questions"] == "It can answer them."
    comparing.session.change(epsilon="2")
    assert "Bold" in comparing.unfold("own-matrices").costs.index
    comparing.session.change(epsilon="3")
    assert (
        brought(comparing.unfold("own-matrices")).loc["Bold", "In this design"]
        == "It takes part with epsilon 2, less than the 3 you allow."
    )
    assert comparing.session.setting.mechanism(one.mechanism).audit().epsilon <= 2


def test_one_that_cannot_answer_says_why(comparing):
    lumped = np.vstack([np.full(16, 0.25), np.repeat([0.5, 0.25], 8), np.repeat([0.25, 0.5], 8)])
    bring(comparing, lumped, name="Halves")
    row = brought(comparing).loc["Halves"]
    assert row["Your questions"].startswith("No. ")
    assert row["In this design"].startswith("Left out. ")
    assert "Halves" not in comparing.costs.index


BAD = [
    (b"", "is empty"),
    (b"what is this\n", "columns"),
    (npy(response(15)), "15 columns and there are 16 types"),
    (npy(response() * 0.9), "must sum to 1; those of type 1 sum to 0.9."),
    (npy(np.eye(16)), "never send report 1"),
    (b"\x93NUMPY\x01\x00", "no array that can be read"),
]


def test_bad_files_leave_one_sentence_and_everything_as_it_was(comparing):
    before = comparing.configuration
    for content, said in BAD:
        bring(comparing, content)
        assert len(comparing.errors) == 1
        assert said in comparing.errors[0]
        assert comparing.errors[0].endswith("What you had set up is unchanged.")
        assert comparing.configuration == before
    assert not bring(comparing, response()).errors


def test_it_is_undone_and_removed(ours):
    one = ours.configuration.own[0]
    ours.press("undo")
    assert not ours.configuration.own
    assert "our table" not in ours.costs.index
    ours.press("redo")
    assert ours.configuration.own == (one,)
    ours.session.change(mechanism={"name": one.mechanism, "parameters": {}})
    unfold(ours.unfold("own-matrices")).press("remove-own-1")
    assert not ours.configuration.own
    assert ours.configuration.mechanism.name == "optimized"
    assert "our table" not in ours.costs.index


def test_it_is_swept_and_simulated(ours):
    name = ours.configuration.own[0].mechanism
    ours.session.change(optimizer=Optimizer(max_rounds=5))
    ours.open("compare-tabs", "Over epsilon").press("sweep-epsilon").finish()
    assert "our table at epsilon 0.5: A report can be e^1 times" in " ".join(ours.words.split())
    ours.go("simulate").enter("multiselect", "simulated", [name, "haar"]).enter("number_input", "trials", 5)
    ours.press("run").finish().open("outcome-tabs", "Errors")
    assert sum(text.startswith("Our table") for text in table(ours, "Estimate")["Estimate"]) == 2
    unfold(ours.go("compare").unfold("own-matrices")).press("remove-own-1").go("simulate")


def test_it_can_be_the_mechanism_of_the_design_and_goes_out_as_a_kit(ours):
    name = ours.configuration.own[0].mechanism
    ours.go("design").enter("selectbox", "mechanism", name)
    assert ours.configuration.mechanism.name == name
    assert "our table" in ours.words
    ours.go("bounds")
    assert "our table" in ours.words
    content = exchange.export(ours.session)
    outcome = json.loads(zipfile.ZipFile(io.BytesIO(content)).read("outcome.json"))
    assert outcome["audit"]["epsilon"] <= 1
    assert "supplied strategy matrix, not computed here" in outcome["mechanism"]["explanation"]
    ours.go("export")
    assert "strategy matrix: our table" in ours.words, ours.words


def test_a_loaded_file_has_it_again(ours, another):
    one = ours.configuration.own[0]
    expected = ours.costs.loc["our table", "users_needed"]
    another = another().load(exchange.to_save(ours.session)).go("compare")
    assert another.configuration.own == (one,)
    assert another.costs.loc["our table", "users_needed"] == expected
    np.testing.assert_array_equal(another.session.setting.mechanism(one.mechanism).strategy, one.table)


def test_other_types_leave_it_out_with_the_reason(ours):
    ours.declare(bins=8).go("compare").unfold("own-matrices")
    assert "It is for 16 types and there are 8 here" in ours.words
    row = brought(ours).loc["our table"]
    assert row["Your questions"] == "No: it is for other types."
    ours.go("design")
    assert "our table · yours" not in [one.lower() for one in ours.at.selectbox(key="mechanism").options]
    assert "**our table**: It is for 16 types and there are 8 here" in ours.words.replace("\\", "")
