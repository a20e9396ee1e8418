"""What takes long: begun once, followed and stopped on every page, given up with its design, and gone with its session."""

import gc
import threading
import weakref

import numpy as np
import pytest

from ldp_core.limits import MOST_FINISHED_JOBS
from pages.ui import later
from pages.ui.later import Task
from pages.ui.session.history import History
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.tasks import work
from tests.refused import refused

COSTS = "working out what Hierarchical costs"


def wait_while(busy):
    while busy():
        threading.Event().wait(0.005)


@pytest.fixture
def mine():
    return Session("mine")


@pytest.mark.promise
def test_equal_work_runs_once_and_finished_work_is_forgotten(mine):
    go = threading.Event()
    first = Task(mine, "key", "waiting", lambda work: go.wait()).start()
    assert Task(mine, "key", "waiting", lambda work: None).start() is first
    assert Task(Session("yours"), "key", "waiting", lambda work: None).start() is not first
    go.set()
    wait_while(lambda: first.active)
    for i in range(2 * MOST_FINISHED_JOBS):
        another = Task(mine, f"many {i}", "", lambda work: None).start()
        wait_while(lambda another=another: another.active)
    assert "key" not in mine.works
    assert len(mine.works) <= MOST_FINISHED_JOBS + 1


def test_work_that_breaks_ends_in_a_sentence(mine):
    def fail(work):
        raise KeyError("secret")

    task = Task(mine, "key", "", fail)
    begun = task.start()
    wait_while(lambda: begun.active)
    assert "stopped unexpectedly" in task.error
    assert "secret" not in task.error
    refused("stopped unexpectedly", task.get)


def test_work_lets_go_of_what_it_worked_on(mine):
    table = np.zeros(10)
    held = weakref.ref(table)

    def fail(work, table=table):
        raise ValueError(f"no {len(table)}")

    begun = Task(mine, "key", "", fail).start()
    wait_while(lambda: begun.active)
    assert begun.error == "no 10"
    del table, fail
    gc.collect()
    assert held() is None


def test_a_page_waits_for_what_it_shows_and_is_drawn_with_it(app, monkeypatch):
    """Without anything that draws it again from outside, and again for each value that is asked for once another is there."""
    monkeypatch.setattr("ldp_core.designs.setting.UNASKED_TYPES", 16)
    app.session.change(mechanism=choose_mechanism("hierarchical"))
    app.sample(page="design")
    assert any(metric.label == "People needed" for metric in app.at.metric)
    assert COSTS in [begun.title for begun in app.session.works.values()]
    assert not app.working
    assert not [button for button in app.at.button if button.label == "Stop"]


def test_what_runs_has_a_line_on_every_page_with_its_progress_and_a_button_that_stops_it(ages, monkeypatch):
    """The script of the page waits for it, and a press interrupts that: here in place of looking a second time."""
    seen, go = [], threading.Event()

    def run(running):
        running.progress = 0.25
        go.wait()
        wait_while(lambda: not running.cancelled())
        return "the best so far"

    def looked(line):
        seen.append((line.work.title, later.share(line.work)))
        if line.work.progress is not None:
            go.set()
            line.work.stop()

    ages.go("guide")
    task = Task(ages.session, "key", "counting to a million", run)
    monkeypatch.setattr(later.Line, "draw", looked)
    task.start()
    ages.at.run()
    ages.check()
    assert seen[-1] == ("counting to a million", 0.25)
    assert (task.result, task.cut_short, ages.working) == ("the best so far", True, [])


def test_a_line_says_how_far_it_is(mine):
    begun = Task(mine, "key", "counting", lambda work: work.cancelled(), limit=100.0).start()
    wait_while(lambda: begun.active)
    begun.finished = begun.started + 25.0
    assert later.share(begun) == pytest.approx(0.25)
    assert later.so_far(begun) == "25 s, at most 1 min 15 s left"
    begun.cancel()
    assert later.so_far(begun) == "stopping"


def test_work_for_a_design_that_was_left_is_given_up_and_that_of_a_saved_one_goes_on(busy, ages):
    ages.go("guide")
    state = ages.session
    work.start_certificate(state, "worst_case")
    work.sweep(state, "epsilon").start()
    state.saved.keep("first")
    other = state.standing_for(History(ages.configuration.with_(epsilon="4")))
    work.fit(other, "optimized").start()
    proof, sweep, fit = asked = ages.working

    def given_up():
        ages.at.run()
        return [begun for begun in asked if begun.cancelled()]

    assert not given_up()
    state.change(epsilon="2")
    assert given_up() == [proof], "the sweep holds at any epsilon"
    ages.sample("commutes.csv")
    assert given_up() == [proof, sweep]
    assert not fit.cancelled()


@pytest.fixture
def slow(busy, app, monkeypatch):
    """The Design page where the costs of the mechanism wait for a worker."""
    monkeypatch.setattr("ldp_core.designs.setting.UNASKED_TYPES", 16)
    app.session.change(mechanism=choose_mechanism("hierarchical"))
    return app.sample(page="design")


def found(app, title=COSTS):
    (begun,) = (begun for begun in app.session.works.values() if begun.title == title)
    return begun


def test_what_is_stopped_by_hand_stays_stopped_until_a_page_that_shows_it_is_opened(slow, busy):
    begun = found(slow)
    begun.stop()
    busy.set()
    for _ in range(2):
        slow.finish()
        assert f"You stopped “{COSTS}”; it begins again when a page that shows it is opened." in slow.words
        assert not slow.errors
    slow.go("guide").at.run()
    assert found(slow) is begun, "nothing there shows it"
    slow.go("design").finish()
    assert found(slow) is not begun
    assert "You stopped" not in slow.words
    assert any(metric.label == "People needed" for metric in slow.at.metric)


def test_what_the_program_cancels_is_not_stopped(slow, busy):
    begun = found(slow)
    slow.session.change(epsilon="2")
    slow.at.run()
    assert begun.cancelled(), "nobody waits for it any more"
    slow.session.change(epsilon="1")
    busy.set()
    slow.finish()
    assert "You stopped" not in slow.words
    assert any(metric.label == "People needed" for metric in slow.at.metric)


def test_a_proof_stopped_by_hand_stays_stopped_on_every_page(ages, busy):
    ages.finish().go("workload").press("cancel-proof")
    (stopped,) = (begun for begun in ages.session.works.values() if begun.stopped)
    busy.set()
    for page in ("compare", "bounds", "workload", "design"):
        ages.go(page).finish()
    assert ages.session.works[stopped.key] is stopped


def test_a_kit_that_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    for case in ages.session.setting.cases:
        ages.session.setting.prove(case)
    ages.go("export")
    found(ages, "packing the kit").stop()
    busy.set()
    ages.finish()
    assert "There is no kit of this design. You stopped “packing the kit”" in ages.words
    assert ages.has("download_button", "download")
    ages.go("guide").go("export").finish()
    assert ages.has("download_button", "download-kit")
