"""Designs that are saved whole, kept under names, and set side by side."""

import io
import json
import zipfile
from types import SimpleNamespace

import pytest

from ldp_core import designs
from ldp_core.designs import Configuration, Optimizer
from ldp_core.limits import MOST_HISTORY_BYTES
from pages.ui.session import exchange
from pages.ui.session.history import SavedDesigns
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from tests.pages.conftest import plain
from tests.refused import refused

ROWS = b"id,diagnosis,age\n1,flu,20\n2,cold,30\n3,flu,40\n4,flu,50\n"


# --- saving ---------------------------------------------------------------------------------------------------------


def test_save_holds_the_strategy_and_brings_back_the_same_numbers(ages, another):
    ages.session.change(optimizer=Optimizer(max_rounds=5))
    ages.go("design").press("optimise").finish()
    saved = exchange.to_save(ages.session)
    assert saved == exchange.export(ages.session)
    held = zipfile.ZipFile(io.BytesIO(saved)).namelist()
    assert {"configuration.json", "outcome.json", "strategy.npz"} <= set(held)
    assert "device.json" not in held
    (button,) = [b for b in ages.at.sidebar.get("download_button") if b.proto.id.endswith("save")]
    assert button.proto.deferred_file_id, "it is made when it is asked for"
    other = another().load(saved)
    assert other.at.title[0].value == "Design"
    assert other.go("design").metric("People needed") == ages.metric("People needed")


def test_save_works_where_nothing_can_be_worked_out(app, another):
    empty = designs.load(exchange.to_save(app.session))
    assert empty.configuration == Configuration()
    app.sample().session.change(mechanism=choose_mechanism("fourier"))  # 25 types are no power of two
    refused("power of two", exchange.export, app.session)
    saved = exchange.to_save(app.session)
    assert "power of two" in json.loads(zipfile.ZipFile(io.BytesIO(saved)).read("outcome.json"))["not_worked_out"]
    assert another().load(saved).configuration == app.session.setting.settled


def test_start_continues_with_a_design_and_says_what_replaces_it(ages):
    ages.go("design").enter("text_input", "epsilon-text", "2").go("start")
    before = ages.configuration
    assert plain(ages.at.button(key="begin").help) == "Undo brings your design back."
    ages.press("continue")
    assert (ages.at.title[0].value, ages.configuration) == ("Design", before)
    ages.go("start").press("begin")
    assert ages.configuration.epsilon == "1"
    ages.press("undo")
    assert ages.configuration == before  # data and epsilon in one step


def test_a_file_that_is_loaded_leaves_a_named_design_in_the_list(ages, another):
    ages.session.saved.keep("mine")
    before = ages.configuration
    other = another().sample("commutes.csv")
    ages.load(exchange.to_save(other.session))
    assert ages.at.title[0].value == "Design"
    assert (ages.session.saved.name, ages.configuration) == ("", other.session.setting.settled)
    assert [(one.name, one.configuration) for one in ages.session.saved.designs] == [("mine", before)]


# --- the list -------------------------------------------------------------------------------------------------------


def test_a_design_is_kept_renamed_copied_changed_and_found_again(ages):
    ages.press("design-keep")
    assert ages.session.saved.name == "Running totals along age, epsilon 1"
    ages.enter("text_input", "design-name", " one  [link](http://x) ")
    assert ages.session.saved.name == "one [link](http://x)"
    ages.press("design-duplicate").enter("text_input", "design-name", "two")
    ages.go("design").enter("text_input", "epsilon-text", "2")
    ages.press("design-show-0")
    assert (ages.session.saved.name, ages.configuration.epsilon) == ("one [link](http://x)", "1")
    assert ages.control("text_input", "epsilon-text").value == "1"
    ages.press("design-show-1")
    assert (ages.session.saved.name, ages.configuration.epsilon) == ("two", "2")
    ages.press("undo")
    assert ages.configuration.epsilon == "1"
    assert [one.configuration.epsilon for one in ages.session.saved.designs] == ["1", "1"]
    ages.press("design-show-0")
    assert not ages.session.history.future, "undo belongs to the other design"


def test_names_are_refused_in_a_sentence(ages):
    ages.press("design-keep").press("design-duplicate")
    first = ages.session.saved.designs[0].name
    ages.enter("text_input", "design-name", first)
    assert "choose another name" in ages.errors[0]
    ages.enter("text_input", "design-name", "  ")
    assert "needs a name" in ages.errors[0]
    assert len({one.name for one in ages.session.saved.designs}) == 2


def test_a_design_without_a_name_is_not_lost_by_switching(ages):
    ages.session.saved.keep("first")
    ages.session.saved.begin()
    ages.session.change(epsilon="3")
    ages.session.show_another(ages.session.saved.switch, "first")
    assert ages.configuration.epsilon == "1"
    ages.session.show_another(ages.session.saved.switch, "Running totals along age, epsilon 3")
    assert ages.configuration.epsilon == "3"


def test_each_design_has_its_own_table_and_what_was_worked_out(app):
    app.upload("rows.csv", ROWS).columns("diagnosis")
    app.session.saved.keep("rows")
    app.session.saved.begin()
    app.sample()
    app.session.change(optimizer=Optimizer(max_rounds=5))
    work.start_fit(app.session, "optimized")
    app.finish()
    found = app.session.setting.fitted("optimized")
    assert found is not None
    app.session.show_another(app.session.saved.switch, "rows")
    app.go("data")
    assert app.session.setting.counts.tolist() == [3, 1] or app.session.setting.counts.tolist() == [1, 3]
    app.press("design-show-1")
    assert app.session.setting.fitted("optimized") is found
    assert app.session.tally.users == 3000


def test_steps_of_designs_that_wait_keep_within_the_memory_of_a_session():
    """The tables of a session, those of earlier steps and other designs, stay within their part of the server's memory."""
    table = lambda name: SimpleNamespace(id=name, size=MOST_HISTORY_BYTES // 2)  # noqa: E731
    saved = SavedDesigns()
    for k in range(3):
        saved.shown.install(Configuration(epsilon=f"{k + 2}"), table("shown"))
        saved.shown.install(Configuration(epsilon=f"{k + 5}"), table(f"earlier {k}"))
        saved.shown.install(Configuration(epsilon=f"{k + 8}"), table("shown"))
        saved.keep()
        saved.duplicate()
    kept = {step[1].id for design in saved.designs for step in design.past if step[1]} | {"shown"}
    assert kept - {"shown"}
    assert len(kept) <= 2


def test_deleting_can_be_taken_back(ages):
    ages.press("design-keep").press("design-duplicate")
    first, second = (one.name for one in ages.session.saved.designs)
    ages.press("design-delete-0")
    assert [one.name for one in ages.session.saved.designs] == [second]
    ages.press("design-back")
    assert [one.name for one in ages.session.saved.designs] == [first, second]
    ages.press("design-delete")
    assert ages.session.saved.name == first
    ages.press("design-delete")
    assert ages.session.saved.empty
    ages.press("design-back")
    assert (ages.session.saved.name, ages.session.setting.users) == (first, 3000)


# --- side by side ---------------------------------------------------------------------------------------------------


def beside(app):
    return app.go("compare").enter("segmented_control", "beside", "designs")


def test_epsilon_one_against_two(ages):
    ages.go("design").enter("selectbox", "mechanism", "hierarchical")
    one = ages.session.setting.users_needed(ages.session.setting.mechanism("hierarchical"), "worst_case")
    beside(ages).press("design-copy")
    assert [tab.label for tab in ages.at.tabs] == []
    ages.go("design").enter("text_input", "epsilon-text", "2")
    two = ages.session.setting.users_needed(ages.session.setting.mechanism("hierarchical"), "worst_case")
    beside(ages)
    (table,) = ages.dataframes
    assert table["design"].tolist() == [item.name for item in ages.session.saved.designs]
    assert table["epsilon"].tolist() == ["1", "2"]
    assert [int(text.replace(",", "")) for text in table["users_needed"]] == [-int(-one // 1), -int(-two // 1)]
    assert "For the same questions and targets" in ages.words
    assert "cannot be compared" not in ages.words
    (chart,) = ages.charts
    dots = [x for trace in chart["data"] if trace.get("text") for x in trace["x"]]
    assert dots == pytest.approx([one, two])


def test_two_sets_of_questions_are_shown_and_said_not_to_compare(ages):
    ages.session.change(targets={"points": 5.0})  # else each set of questions has a target of its own
    ages.go("design").enter("selectbox", "mechanism", "hierarchical")
    ages.session.saved.keep("totals")
    ages.session.saved.duplicate()
    ages.session.saved.keep("ranges")
    ages.ask("all_range")
    ages.session.saved.duplicate()
    ages.session.saved.keep("sharper")
    ages.session.change(targets={"points": 1.0})
    beside(ages)
    assert "The cost of ranges cannot be compared with that: it has other questions or types." in ages.words.replace(
        "**", ""
    )
    assert "has other questions or types and has other targets" in ages.words
    marks = [s for trace in ages.charts[0]["data"] if trace.get("text") for s in trace["marker"]["symbol"]]
    assert [mark.endswith("-open") for mark in marks] == [False, True, True]
