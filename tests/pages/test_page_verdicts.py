"""Usable, rough or noise on every page, by the difference that must be seen: first with fifty categories and 1,000 users."""

import json

import numpy as np
import pytest

from ldp_core import analysis, frames, mechanisms, verdicts, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import TypesPart

FIFTY = Configuration(
    domain=Domain(
        attributes=(CategoricalAttribute(name="trade", values=tuple(f"t{i}" for i in range(50)), origin="declared"),)
    ),
    population=Population(users=1000, origin="declared", shape="zipf"),
    workload=WorkloadRecipe(parts=(TypesPart(family="histogram", parameters={}),)),
    mechanism=MechanismRecipe(name="subset_selection"),
    compared=("randomized_response", "subset_selection"),
    difference="typical",
)


@pytest.fixture
def fifty(app):
    return app.load(FIFTY.model_dump(mode="json"))


def errors_with(users, shape="zipf"):
    counts = tables.expected_counts(shape, 50, users)
    mechanism = mechanisms.create("subset_selection", n=50, epsilon=1.0)
    return analysis.standard_errors(mechanism, workloads.histogram(50), counts) / users


def differences(users, target):
    """What each answer must show: the target, or its own size where that is smaller."""
    counts = tables.expected_counts("zipf", 50, users)
    return verdicts.differences(workloads.histogram(50), counts, np.arange(50), target)


def tally(users, target):
    return verdicts.tally(errors_with(users), differences(users, target), users=users)


def in_words(users, target):
    return tally(users, target).in_words()


def test_the_target_error_is_set_on_the_design_page(fifty):
    fifty.go("design")
    assert fifty.at.text_input(key="target").value == "1"
    suggested = verdicts.suggest(workloads.histogram(50), tables.expected_counts("zipf", 50, 1000))
    assert (suggested.difference, suggested.smallest_difference) == (0.02, 0.005)
    offered = fifty.at.pills(key="difference-from")
    assert offered.options == [
        "a quarter of a typical answer: ± 1 pp",
        "half of the smallest share that matters: ± 0.25 pp",
    ]
    assert offered.value == "typical"
    assert not fifty.has("button", "target-auto")
    fifty.enter("text_input", "target", "2.5")
    assert (fifty.configuration.target_alpha, fifty.configuration.difference) == (0.000625, None)
    assert fifty.at.text_input(key="alpha").value == "0.000625"
    fifty.enter("text_input", "alpha", "0.0123456789")
    assert fifty.configuration.target_alpha == 0.0123456789
    assert fifty.at.text_input(key="target").value == "11.1111"
    fifty.enter("text_input", "alpha", "0")
    assert "Alpha must be from 1e-08 to 1; 0.01 is common." in fifty.errors
    fifty.enter("text_input", "alpha", "much")
    assert "Please give alpha as a number" in fifty.errors[0]
    fifty.press("target-auto")
    assert fifty.configuration.difference == "typical"
    assert fifty.at.text_input(key="target").value == "1"
    fifty.enter("pills", "difference-from", "smallest")
    assert fifty.configuration.difference == "smallest"
    assert fifty.at.text_input(key="target").value == "0.25"


@pytest.mark.parametrize("entry", ["", "0", "-1", "abc", "nan", "inf", "101", "1,5"])
def test_refused_target_errors(fifty, entry):
    fifty.go("design")
    before = fifty.configuration
    fifty.enter("text_input", "target", entry)
    assert len(fifty.errors) == 1
    assert "target error" in fifty.errors[0]
    assert fifty.configuration == before
    assert fifty.at.text_input(key="target").value == entry


def test_no_page_calls_fifty_shares_that_drown_enough(fifty):
    assert in_words(1000, 0.004) == "all 50 answers are noise"
    needed = wording.users(tally(1000, 0.02).users_for_all).removesuffix(" users")
    fifty.go("design").finish()
    assert f"No answer is usable with 1,000 people at epsilon 1. All would be with {needed}." in fifty.words
    fifty.go("export").finish()
    assert "No answer is usable with 1,000 people at epsilon 1." in fifty.words
    fifty.go("compare").open("compare-tabs", "Recommendation").finish()
    assert "With your 1,000 users, all 50 answers are noise." in fifty.words


def test_what_would_help_is_offered_where_nothing_is_usable(fifty):
    fifty.go("design").finish()
    enough = int(wording.needed(tally(1000, 0.02).users_for_all).replace(",", ""))
    assert fifty.at.button(key="try-people").label == f"Plan with {enough:,} people"
    fifty.press("try-people").finish()
    assert fifty.session.setting.users == enough
    assert f"With {enough:,} people at epsilon 1, all 50 answers are usable." in fifty.words
    assert not fifty.has("button", "try-people")
    fifty.session.undo()
    fifty.go("design").finish().press("try-epsilon")
    assert fifty.configuration.epsilon == "2"


def test_verdicts_follow_the_target(fifty):
    """From the exact error of each answer, and from its size."""
    users = 200_000
    fifty.session.change(population=FIFTY.population.model_copy(update={"users": users}))
    counts = {target: tally(users, target).usable for target in (0.02, 0.005)}
    assert len(set(counts.values())) == 2
    for target, usable in counts.items():
        fifty.go("design").enter("text_input", "target", f"{50 * target:g}")
        said = f"{usable} of 50 answers are usable" if usable else "No answer is usable"
        assert said in fifty.words


def test_as_many_users_as_it_says_make_all_answers_usable(fifty):
    fifty.go("design").target(2.5)
    needed = tally(1000, 0.05).users_for_all
    fifty.session.change(population=FIFTY.population.model_copy(update={"users": int(1.01 * needed)}))
    fifty.at.run()
    assert "all 50 answers are usable." in fifty.check().words
    assert "All would be with" not in fifty.words


def test_compare_marks_every_answer_of_every_mechanism(fifty):
    fifty.go("compare").target(4).finish()
    fifty.open("compare-tabs", "Error of each query")
    assert "± is the standard error in percentage points" in fifty.words
    marks = next(table for table in fifty.dataframes if "Question" in table)
    assert list(marks.columns) == ["Question", "Randomized response", "Subset selection"]
    expected = verdicts.judge(errors_with(1000), differences(1000, 0.08))
    assert [text.split(",")[0] for text in marks["Subset selection"]] == [verdicts.marked(word) for word in expected]
    assert len(marks) == 50


def test_solve_for_marks_the_typical_answer_and_the_ranking(fifty):
    fifty.target(4).go("compare").open("compare-tabs", "Solve for")
    fifty.enter("segmented_control", "solved", "standard_error").finish()
    table = next(table for table in fifty.dataframes if "typical" in table)
    judged = verdicts.judge(table["standard_error"] / 100, 0.08)
    assert table["typical"].tolist() == [verdicts.marked(word) for word in judged]
    fifty.open("compare-tabs", "Recommendation").finish()
    ranking = next(table for table in fifty.dataframes if "bits" in table).set_index("name")
    assert ranking.loc["Subset selection", "typical"] in map(verdicts.marked, verdicts.MEANINGS)


def test_export_marks_every_answer_on_the_page_and_in_its_file(fifty):
    fifty.session.change(difference=None, target_alpha=verdicts.alpha_for(0.05))
    fifty.go("export").finish()
    expected = verdicts.judge(errors_with(1000), differences(1000, 0.05))
    (table,) = [table for table in fifty.dataframes if "Verdict" in table]
    assert table["Verdict"].tolist() == [verdicts.marked(word) for word in expected]
    design = fifty.session.setting
    mechanism = fifty.session.mechanism("subset_selection")
    listed = frames.query_errors([mechanism], design.workload, design.counts, design.labels, np.arange(50))
    assert listed["standard_error"].to_numpy() == pytest.approx(errors_with(1000))


def test_simulate_marks_answers_as_design_does_where_their_error_is_known(fifty):
    fifty.session.change(simulation=FIFTY.simulation.model_copy(update={"trials": 5}))
    fifty.go("simulate").press("run").finish()
    fifty.target(4)
    totals = next(table for table in fifty.dataframes if "Answers" in table)
    fifty.open("outcome-tabs", "By query")
    marks = next(table for table in fifty.dataframes if "Verdict" in table)
    shown, needed = marks["± percentage points"].to_numpy() / 100, differences(1000, 0.08)
    assert marks["Verdict"].tolist() == [verdicts.marked(word) for word in verdicts.judge(shown, needed)]
    found = verdicts.tally(shown, needed)
    assert totals["Answers"].iloc[0] == f"✓ {found.usable} usable, ≈ {found.rough} rough, ✕ {found.noise} noise"
    assert len(marks) == 50


def test_a_domain_too_large_to_judge_says_so(app):
    app.declare(bins=4096, high="4096").ask("histogram").go("design").enter(
        "selectbox", "mechanism", "subset_selection"
    )
    assert "With 10,000 people at epsilon 1, a typical answer is noise" in app.words


def test_an_old_design_keeps_its_target_as_a_difference(fifty):
    later = ("difference", "own", "types")
    old = {key: value for key, value in FIFTY.model_dump(mode="json").items() if key not in later}
    fifty.load({**old, "version": 3, "target_alpha": 0.0004})
    assert (fifty.session.setting.alpha, fifty.session.setting.difference) == (0.0004, pytest.approx(0.04))
    fifty.go("design")
    assert fifty.at.text_input(key="target").value == "2"
    assert json.loads(fifty.configuration.to_json())["version"] == 3


def test_a_new_design_takes_its_difference_from_the_answers(app):
    app.sample()
    assert app.configuration.difference == "typical"
    design = app.session.setting
    assert app.session.setting.difference == verdicts.suggest(design.workload, design.counts).difference
    assert app.session.setting.alpha == verdicts.alpha_for(app.session.setting.difference)


def test_where_nothing_can_be_taken_the_papers_default_is_and_that_is_said(fifty):
    fifty.session.change(population=FIFTY.population.model_copy(update={"users": 1}))
    fifty.go("design")
    assert fifty.session.setting.alpha == analysis.DEFAULT_ALPHA
    assert "No default: on the expected population every answer is nobody or everybody" in fifty.words


def test_differences_too_small_to_be_asked_for_are_not_said_to_be_half_of_an_answer(app):
    app.declare(high="8192", bins=8192, users=1_000_000).ask("histogram").go("design")
    assert app.session.setting.suggested.typical < verdicts.LEAST_DIFFERENCE == app.session.setting.difference
    assert app.at.pills(key="difference-from").options == [
        "a quarter of a typical answer, but at least: ± 0.01 pp",
        "half of the smallest share that matters, but at least: ± 0.01 pp",
    ]


def test_a_target_that_moves_with_the_questions_is_announced_and_can_be_kept(fifty):
    fifty.go("workload")
    before = fifty.session.setting.alpha
    assert not fifty.has("button", "target-keep")
    fifty.ask("prefix")
    assert fifty.session.setting.alpha != before
    assert "The target error moved from ± 1 pp to " in fifty.words
    fifty.press("target-keep")
    assert (fifty.configuration.difference, fifty.session.setting.alpha) == (None, before)
    assert "The target error moved" not in fifty.words
    fifty.session.undo()
    assert fifty.configuration.difference == "typical"
