"""Collect: reports counted, files refused with a sentence, answers as the core gives them, collections merged by day."""

import json

import numpy as np
import pandas as pd
import pytest

from ldp_core import verdicts, wording
from ldp_core.deploy import collector
from ldp_core.deploy.collector import reasons
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import WorkloadRecipe
from ldp_core.workloads import HistogramPart, MeanPart
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import collecting, work

USERS = 3000


def text(number):
    return number.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def collect(ages):
    """The Collect page of 3,000 ages, reported by subset selection."""
    return ages.go("design").enter("selectbox", "mechanism", "subset_selection").go("collect")


def reports(app, seed=0, **columns):
    """A CSV file of reports of everybody, drawn by the mechanism itself, and what `aggregate` makes of them."""
    mechanism = app.session.setting.mechanism(app.configuration.mechanism.name)
    counts = app.session.setting.counts
    values = np.repeat(np.arange(len(counts)), counts)
    raw = mechanism.privatize(values, np.random.default_rng(seed))
    texts = [" ".join(map(str, row)) for row in raw.reshape(len(values), -1).tolist()]
    table = pd.DataFrame({"report": texts, **columns})
    return table.to_csv(index=False, lineterminator="\n").encode(), mechanism.aggregate(raw)


def count(app, *files):
    """Upload files of reports and count them."""
    app.enter("segmented_control", "collect-from", "upload")
    return app.hand("reports", [(name, content, "text/csv") for name, content in files]).finish()


def add(app, content, name="collection.npz"):
    """Add an earlier collection."""
    app.enter("segmented_control", "collect-from", "earlier")
    return app.hand("earlier", (name, content, "application/octet-stream")).finish()


def held(app):
    """The collection of the session."""
    found = [app.session.results.get(key) for key in list(app.session.results._items) if key.startswith("collection:")]
    return found[0] if found else None


def subject(app):
    return collecting.current_kit(app.session, app.session.setting.chosen_mechanism).result


def test_without_a_design_the_page_says_what_it_needs_and_a_kit_is_enough(another, collect):
    app = another().go("collect")
    assert "needs a domain" in app.words
    design, session = collect.session.setting, collect.session
    content = work.kit(session, session.setting.mechanism("subset_selection")).get(True)
    app.enter("segmented_control", "collect-whose", "The design of a kit")
    app.hand("kit", ("kit.zip", content, "application/zip"))
    app.finish()
    assert f"The kit of design {open_kit(content).design}: Subset selection, epsilon 1." in app.words
    csv, raw = reports(collect)
    count(app, ("monday.csv", csv))
    assert f"Reports counted {USERS:,}" in app.words
    assert np.array_equal(held(app).reports.data, raw.data)
    assert not app.session.setting.has_domain
    assert design.users == USERS
    assert app.session.touched
    assert not app.has("button", "simulated")  # of people that are not here
    assert "simulated" not in app.control("segmented_control", "collect-from").options


@pytest.mark.promise
def test_reports_become_the_answers_of_the_core(collect):
    content, raw = reports(collect)
    count(collect, ("monday.csv", content))
    assert np.array_equal(held(collect).reports.data, raw.data)
    about = subject(collect)
    answered = 100 * about.mechanism.estimate(raw).answers(about.workload) / USERS
    expected = collector.answers(held(collect), about.mechanism, about.workload)
    (figure,) = collect.charts
    (bars,) = figure["data"]
    assert np.allclose(bars["y"], answered)
    assert np.allclose(bars["error_y"]["array"], expected["high"] - answered)
    assert np.allclose(bars["error_y"]["arrayminus"], answered - expected["low"])
    table = next(frame for frame in collect.dataframes if "Answer" in frame)
    assert list(table["Answer"]) == [wording.significant(x, 4) for x in answered]
    assert list(table["±"]) == [wording.significant(x, 4) for x in expected["standard_error"]]
    assert set(table["Unit"]) == {"percentage points"}
    assert list(table["Verdict"]) == [verdicts.marked(word) for word in expected["verdict"]]
    adds = about.mechanism.query_contributions(about.workload, np.arange(25))
    promised = wording.significant(100 * np.sqrt(adds.variances.max() / USERS))
    assert f"however people answer, it would be at most ± {promised} percentage points." in collect.words
    needed = collect.session.setting.users_needed(about.mechanism, "worst_case")
    enough = "enough" if needed <= USERS else "fewer than that"
    assert (
        f"needs {text(wording.users(needed))} until every question meets its target: these are {enough}."
        in collect.words
    )
    for key in ("csv-collected", "download-collection"):
        assert collect.has("download_button", key)


@pytest.mark.promise
def test_repeats_and_refused_rows_are_told_by_reason(collect):
    content, _ = reports(collect, id=[f"{i:032x}" for i in range(USERS)])
    lines = content.decode().splitlines()
    lines[2] = lines[1]
    lines[6] = lines[5].replace(" ", " 9", 1)
    lines[3] = "x," + "b" * 32
    lines[4] = "99 1 2 3 4 5 6," + "c" * 32
    count(collect, ("monday.csv", ("\n".join(lines) + "\n").encode()))
    assert f"Reports counted {USERS - 4:,}" in collect.words
    assert "Repeated 1" in collect.words
    assert "Refused 3" in collect.words
    assert f"1 refused: {reasons.ANOTHER_REPORT}." in collect.words
    assert "1 refused: not whole numbers separated by single spaces." in collect.words


BAD = {"wrong.csv": b"answer\n1\n", "half.csv": b"report\n1 2", "empty.csv": b"", "cut.parquet": b"PAR1 and no more"}


def test_a_bad_file_has_a_sentence_and_changes_nothing(collect):
    good, _ = reports(collect)
    count(collect, ("monday.csv", good))
    before = held(collect).digest
    for name, content in BAD.items():
        count(collect, (name, content))
        (error,) = collect.errors
        assert name in error
        assert error.endswith("What was counted before is unchanged.")
        assert held(collect).digest == before
    assert f"Reports counted {USERS:,}" in collect.words
    count(collect, ("monday again.csv", good))
    assert "its reports would be counted twice" in collect.errors[0]
    assert held(collect).digest == before


@pytest.mark.promise
def test_collections_are_merged_by_day_and_none_twice(collect, another):
    (monday, one), (tuesday, two) = reports(collect, 1), reports(collect, 2)
    count(collect, ("monday.csv", monday))
    first = held(collect).to_bytes()
    collect.press("forget-collection")
    assert "Nothing has been counted for this design yet." in collect.words
    assert held(collect.press("bring-back")).to_bytes() == first
    collect.press("forget-collection")
    count(collect, ("tuesday.csv", tuesday))
    assert not collect.has("button", "bring-back")
    add(collect, first)
    assert f"Reports counted {2 * USERS:,}" in collect.words
    assert np.array_equal(held(collect).reports.data, (one + two).data)
    add(collect, first)
    assert "its reports would be counted twice." in collect.errors[0]
    add(collect, first[:-30])
    assert "or it is damaged" in collect.errors[0]
    assert held(collect).users == 2 * USERS
    other = another().sample().go("design").enter("selectbox", "mechanism", "randomized_response").go("collect")
    add(other, first)
    assert "of another mechanism" in other.errors[0]


def test_a_collection_goes_on_another_day_on_the_page_and_on_the_command_line(collect, another, tmp_path, capsys):
    """The same file for both: 1,500 people who report again, from one to the other and back, count once."""
    content, raw = reports(collect, id=[f"{i:032x}" for i in range(USERS)])
    lines = content.decode().splitlines()
    tuesday, wednesday = ("\n".join([*lines[:1], *some, ""]).encode() for some in (lines[1:1501], lines[2:1502]))
    count(collect, ("monday.csv", content))
    saved, kit, csv = tmp_path / "collection.npz", tmp_path / "kit.zip", tmp_path / "tuesday.csv"
    saved.write_bytes(held(collect).to_bytes())
    kit.write_bytes(work.kit(collect.session, collect.session.setting.chosen_mechanism).get(True))
    csv.write_bytes(tuesday)
    assert main(["collect", str(kit), str(csv), "--state", str(saved), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["files"]
    assert [(file["accepted"], file["repeated"]) for file in found] == [(USERS, 0), (0, 1500)]
    collect.press("forget-collection")
    add(collect, saved.read_bytes())
    count(collect, ("wednesday.csv", wednesday))
    assert f"Reports counted {USERS:,}" in collect.words
    assert "Repeated 3,000" in collect.words
    assert np.array_equal(held(collect).reports.data, raw.data)


def test_files_with_ids_and_without_are_counted_together_once_a_box_is_ticked(collect):
    (monday, one), (tuesday, two) = reports(collect, 1), reports(collect, 2, id=[f"{i:032x}" for i in range(USERS)])
    count(collect, ("monday.csv", monday))
    count(collect, ("tuesday.csv", tuesday))
    assert '"tuesday.csv" has ids and "monday.csv" has none' in collect.errors[0]
    assert held(collect).users == USERS
    (box,) = [box for box in collect.at.checkbox if box.key.startswith("apart")]
    box.check().run()
    count(collect, ("tuesday.csv", tuesday))
    assert np.array_equal(held(collect).reports.data, (one + two).data)
    collect.press("forget-collection")
    assert not [box for box in collect.at.checkbox if box.key.startswith("apart")]


def test_what_forged_reports_do_is_told_with_the_numbers_of_the_core(collect):
    count(collect, ("monday.csv", reports(collect)[0]))
    about = subject(collect)
    found = collector.manipulation(about.mechanism, about.workload)
    name, moved = about.workload.query_name(found.farthest), wording.significant(100 * found.reach.max() / USERS)
    told = f"by at most **{moved} percentage points** (an honest report by at most {wording.significant(100 / USERS)} on average)"
    assert f"One forged report can move the answer to **{name}** {told}" in collect.words
    share, number = text(wording.share(found.share(USERS))), wording.count(found.reports(USERS))
    assert f"Forged reports of **{share}** of people, {number} of {USERS:,} people, move" in collect.words


def test_a_forged_report_moves_an_average_in_its_own_unit(app):
    parts = (HistogramPart(attribute="x"), MeanPart(attribute="x"))
    app.declare(users=1000).session.change(
        workload=WorkloadRecipe(parts=parts), mechanism=choose_mechanism("randomized_response")
    )
    values, q = np.arange(16) + 0.5, 1 / (np.e + 15)  # the chance of each other value
    adds = (values - q * values.sum()) / (np.e * q - q)
    moved = wording.significant(np.abs(adds[:, None] - values).max() / 1000)
    assert f"the answer to **average of x** by at most **{moved} in x**" in app.go("export").words


@pytest.mark.promise
def test_reports_that_no_device_draws_are_said(collect):
    content, _ = reports(collect)
    header, first, *_ = content.decode().splitlines()
    count(collect, ("same.csv", "\n".join([header, *[first] * 500, ""]).encode()))
    assert any("do not draw such reports" in error for error in collect.errors)
    count(collect.press("forget-collection"), ("monday.csv", content))
    assert not collect.errors


def test_several_reports_of_a_person_are_answered_once_it_is_said_how_many_occasions_they_are_of(collect):
    collect.session.change(reports_per_user=4)
    content, raw = reports(collect)
    count(collect.go("collect"), ("monday.csv", content))
    assert "Say how many reports of each person these are" in collect.words
    assert not collect.charts
    collect.enter("number_input", "collect-occasions", 2).finish()
    about = subject(collect)
    answered = 100 * about.mechanism.estimate(raw).answers(about.workload) / USERS  # of twice as many reports as people
    table = next(frame for frame in collect.dataframes if "Answer" in frame)
    assert list(table["Answer"]) == [wording.significant(x, 4) for x in answered]
    assert f"From **{USERS // 2:,} reports**" in collect.words
