"""A strategy matrix from a file: chosen on Design, and from then on a mechanism like any other."""

import io
import json
import zipfile

import numpy as np
import pytest

from ldp_core import charts, mechanisms
from ldp_core.designs.configuration import Optimizer
from pages.ui.session import exchange
from tests.library.test_own import npy, response

TITLE = "Strategy matrix from a file"


def bring(app, matrix, file="our_table.npy"):
    """Upload a matrix, or the bytes of a file, on the Design page."""
    content = matrix if isinstance(matrix, bytes) else npy(matrix)
    return app.hand("own", (file, content, "application/octet-stream"))


@pytest.fixture
def awaiting(app):
    """The mechanism is chosen, and its file is not there yet."""
    return app.declare(bins=16, users=5000).ask("prefix").go("design").enter("selectbox", "mechanism", "own")


@pytest.fixture
def ours(awaiting):
    return bring(awaiting, response(16))


def test_without_its_file_the_design_says_so_and_others_are_compared(awaiting):
    assert "Its file is missing" in awaiting.words
    awaiting.go("compare")
    assert f"{TITLE}: Its file is missing" in awaiting.words
    assert "Randomized response" in awaiting.costs.index
    assert "Its file is missing" in awaiting.go("export").words


def test_it_is_audited_judged_and_compared(ours):
    assert not ours.errors
    design, same = ours.session.setting, mechanisms.create("randomized_response", n=16, epsilon=1.0)
    assert design.mechanism("own").audit().epsilon <= 1
    assert design.gap(design.mechanism("own")) == pytest.approx(design.gap(same))
    found = ours.go("compare").costs
    assert found.loc[TITLE, "users_needed"] == pytest.approx(found.loc["Randomized response", "users_needed"])
    dots = [trace for chart in ours.charts for trace in chart["data"] if trace.get("marker", {}).get("symbol")]
    symbols = {symbol for trace in dots for symbol in np.atleast_1d(trace["marker"]["symbol"]).tolist()}
    assert charts.theme.marker("own") in symbols


def test_one_that_gives_more_away_is_left_out_until_epsilon_allows_it(awaiting):
    said = "A report can be e^2 times as likely for one person as for another, and your epsilon is 1"
    assert said in bring(awaiting, response(16, 2.0)).words
    assert said in awaiting.go("compare").words
    assert TITLE not in awaiting.costs.index
    awaiting.session.change(epsilon="3")
    assert TITLE in awaiting.go("compare").costs.index
    assert awaiting.session.setting.mechanism("own").audit().epsilon <= 2


def test_one_that_cannot_answer_says_why(awaiting):
    lumped = np.vstack([np.full(16, 0.25), np.repeat([0.5, 0.25], 8), np.repeat([0.25, 0.5], 8)])
    said = "sends the same reports for types that the workload distinguishes, so it cannot answer it"
    assert said in bring(awaiting, lumped).words
    assert said in awaiting.go("compare").words
    assert TITLE not in awaiting.costs.index


BAD = [
    (b"", "is empty"),
    (b"what is this\n", "columns"),
    (npy(response(15)), "15 columns and there are 16 types"),
    (npy(response(16) * 0.9), "must sum to 1; those of type 1 sum to 0.9."),
    (npy(np.eye(16)), "never send report 1"),
    (b"\x93NUMPY\x01\x00", "no array that can be read"),
]


def test_bad_files_leave_one_sentence_and_everything_as_it_was(ours):
    before = ours.configuration
    for content, said in BAD:
        bring(ours, content)
        assert len(ours.errors) == 1
        assert said in ours.errors[0]
        assert ours.errors[0].endswith("What you had set up is unchanged.")
        assert ours.configuration == before
    assert not bring(ours, response(16)).errors


def test_it_is_swept_and_simulated(ours):
    ours.session.change(optimizer=Optimizer(max_rounds=5))
    ours.go("compare").open("compare-tabs", "Over epsilon").press("sweep-epsilon").finish()
    assert f"{TITLE} at epsilon 0.5: A report can be e^1 times" in " ".join(ours.words.split())
    ours.go("simulate").enter("multiselect", "simulated", ["own", "haar"]).enter("number_input", "trials", 5)
    ours.press("run").finish().open("outcome-tabs", "Errors")
    estimates = next(found for found in ours.dataframes if "Estimate" in found)["Estimate"]
    assert sum(text.startswith("Matrix from a file") for text in estimates) == 2


def test_it_goes_out_as_a_kit(ours):
    outcome = json.loads(zipfile.ZipFile(io.BytesIO(exchange.export(ours.session))).read("outcome.json"))
    assert outcome["audit"]["epsilon"] <= 1
    assert "supplied strategy matrix, not computed here" in outcome["mechanism"]["explanation"]
    assert f"mechanism: {TITLE}" in ours.go("export").words
    assert TITLE in ours.go("bounds").words


def test_a_loaded_file_has_it_again(ours, another):
    expected = ours.go("compare").costs.loc[TITLE, "users_needed"]
    another = another().load(exchange.to_save(ours.session)).go("compare")
    assert another.configuration == ours.configuration
    assert another.costs.loc[TITLE, "users_needed"] == expected
