"""What a person stops by hand stays stopped until they open a page that shows it, ask for it, or it is about something else."""

import threading
import time

import pytest

from ldp_core.designs import Optimizer
from pages.ui.session import exchange
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Stopped, Task, jobs
from tests.pages.conftest import plain

COSTS = "working out what Hierarchical costs"


@pytest.fixture
def slow(busy, app, monkeypatch):
    """The Design page where the costs of the mechanism wait for a worker."""
    monkeypatch.setattr("ldp_core.designs.setting.UNASKED_TYPES", 16)
    app.session.change(mechanism=choose_mechanism("hierarchical"))
    return app.sample(page="design")


def found(app, title=COSTS):
    """The jobs of this title."""
    return [job for job in jobs().of(app.session.id) if job.title == title]


def stop(app, title=COSTS):
    (job,) = found(app, title)
    app.press(f"stop-{job.number}")
    return job


def ended(app, busy, title):
    """Stop it by hand, and wait for its end."""
    stop(app, title)
    busy.set()
    return app.finish()


@pytest.fixture
def stopped(slow, busy):
    """The same after somebody has stopped these, and they have ended."""
    stop(slow)
    assert "being worked out" in slow.words, "it has not ended yet"
    busy.set()
    return slow.finish()


def test_costs_stopped_by_hand_stay_stopped_until_a_page_that_shows_them_is_opened(stopped):
    (job,) = found(stopped)
    assert job.state == "cancelled"
    for _ in range(2):
        stopped.at.run()
        stopped.check()
        assert "Hierarchical. Its costs are not known yet" in stopped.words
        assert f"You stopped “{COSTS}”; it begins again when a page that shows it is opened." in stopped.words
        assert not stopped.errors
    stopped.go("guide").at.run()
    assert found(stopped) == [job], "nothing there shows them"
    stopped.go("design").finish()
    assert len(found(stopped)) == 2
    assert "You stopped" not in stopped.words
    assert any(metric.label == "People needed" for metric in stopped.at.metric)


@pytest.mark.parametrize(
    ("page", "known"),
    [
        ("compare", "The other mechanisms are compared without it."),
        ("bounds", "The bounds and predictions below do without its exact error."),
    ],
)
def test_a_stop_on_request_is_no_warning_and_what_is_known_is_said(slow, busy, page, known):
    slow.session.change(compared=("hierarchical",))
    slow.go(page)
    ended(slow, busy, COSTS)
    assert not slow.at.warning
    said = f"You stopped “{COSTS}”; it begins again when a page that shows it is opened."
    assert any(said in text for text in (plain(element.value) for element in slow.at.info))
    if page == "compare":
        assert "Choose at least one mechanism" not in slow.words
        assert "Nothing is left to compare so far. No unbiased mechanism with pure epsilon 1 can need" in slow.words
    else:
        assert known in slow.words


def test_a_stopped_sweep_says_how_much_of_it_there_is(busy, app):
    app.declare(bins=8).ask("prefix").session.change(compared=("hadamard",), optimizer=Optimizer(max_rounds=2))
    app.go("compare").open("compare-tabs", "Over epsilon").press("sweep-epsilon").press("cancel-epsilon")
    busy.set()
    app.finish()
    assert "You stopped this sweep before any point was computed." in app.words
    app.press("sweep-epsilon").finish()
    assert "You stopped" not in app.words
    assert not app.has("button", "sweep-epsilon")


def test_a_changed_design_begins_its_own_and_the_earlier_one_is_still_stopped(stopped):
    stopped.session.change(epsilon="2")
    stopped.finish()
    assert [job.state for job in found(stopped)] == ["cancelled", "done"]
    assert any(metric.label == "People needed" for metric in stopped.at.metric)
    stopped.session.change(epsilon="1")
    stopped.finish()
    assert len(found(stopped)) == 2
    assert "You stopped" in stopped.words


def test_what_the_program_cancels_is_not_stopped(slow, busy):
    (job,) = found(slow)
    slow.session.change(epsilon="2")
    slow.at.run()
    assert job.cancelled(), "nobody waits for it any more"
    slow.session.change(epsilon="1")
    busy.set()
    slow.finish()
    assert "You stopped" not in slow.words
    assert any(metric.label == "People needed" for metric in slow.at.metric)


def proofs(app):
    return {case: app.session.setting.proof(case) for case in app.session.setting.cases}


def proving(app):
    return [job for job in jobs().of(app.session.id) if job.key.startswith("certificate:")]


@pytest.mark.parametrize("begun", [False, True])
def test_proofs_given_up_with_their_epsilon_begin_again_when_it_comes_back(ages, busy, begun):
    if begun:
        busy.set()
    ages.go("compare")
    asked = proving(ages)
    assert len(asked) == len(ages.session.setting.cases)
    ages.session.change(epsilon="2")
    ages.at.run()
    assert all(job.cancelled() and not job.stopped for job in asked), "nobody waits for them any more"
    while begun and any(job.active for job in asked):
        time.sleep(0.01)
    ages.session.change(epsilon="1")
    ages.at.run()
    again = [job for job in proving(ages) if job.key in {job.key for job in asked} and not job.cancelled()]
    assert len(again) == len(asked), "they do not wait until those that were given up have ended"
    busy.set()
    ages.finish()
    assert all(proof is not None and proof.finished for proof in proofs(ages).values())


@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("compare", "cancel-proof"),
        pytest.param("bounds", "cancel-proof", marks=pytest.mark.slow),
        ("workload", "stop-proof"),
    ],
)
def test_a_proof_stopped_by_hand_stays_stopped_on_every_page(ages, busy, page, key):
    ages.go(page)
    asked = {job.key: job for job in proving(ages)}
    ages.press(key)
    (stopped,) = (job for job in asked.values() if job.stopped)
    for page in ("compare", "bounds", "workload", "design"):
        ages.go(page)
    busy.set()
    ages.finish()
    for page in ("compare", "bounds", "workload", "design"):
        ages.go(page).finish()
    assert [job for job in proving(ages) if job.key == stopped.key] == [stopped]


def test_who_asks_again_for_what_was_stopped_in_the_queue_does_not_wait_for_its_end(busy):
    task = Task(Session("who asks again"), "again", "something", lambda job: "found")
    task.start()
    first = task.job
    first.stop()
    task.start()
    assert (first.state, task.job is first, task.job.state) == ("cancelled", False, "queued")
    busy.set()
    while task.running:
        time.sleep(0.01)
    assert task.result == "found"


def test_a_fit_that_was_stopped_is_begun_with_its_button_as_ever(busy, ages):
    ages.session.change(mechanism=choose_mechanism("optimized"), optimizer=Optimizer(max_rounds=2))
    ages.go("design").press("optimise")
    (job,) = (job for job in jobs().active(ages.session.id) if job.title.startswith("fitting"))
    ages.press(f"stop-{job.number}")
    busy.set()
    ages.finish()
    assert "You stopped" not in ages.words
    ages.press("optimise").finish()
    assert ages.session.setting.fitted("optimized") is not None


def test_values_of_a_page_stay_stopped_and_the_rest_of_it_is_there(busy, ages, monkeypatch):
    monkeypatch.setattr("pages.ui.verdict_panel.AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("design")
    ended(ages, busy, "judging the answers")
    assert "a typical answer is off by" in ages.words
    assert "You stopped “judging the answers”" in ages.words
    ages.go("export").finish()
    assert "You stopped" not in ages.words, "another page that asks for the same"


def test_a_kit_or_a_proof_that_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("export")
    ended(ages, busy, "packing the kit")
    assert "There is no kit of this design. You stopped “packing the kit”" in ages.words
    assert ages.has("download_button", "download")
    ages.go("guide").go("export").finish()
    assert ages.has("download_button", "download-kit")


def test_a_proof_whose_writing_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    work.certificate(ages.session, ages.session.setting.aim("subset_selection")).get(True)
    monkeypatch.setattr(exchange, "UNASKED_TYPES", 2)
    ages.go("export")
    ended(ages, busy, "writing the proof")
    assert "You stopped “writing the proof”" in ages.words
    assert ages.has("download_button", "download")
    assert not ages.has("download_button", "download-proof")
    ages.go("guide").go("export").finish()
    assert ages.has("download_button", "download-proof")
    assert ages.has("download_button", "download-kit")


def test_what_devices_send_can_be_had_after_it_was_stopped(busy, ages, monkeypatch):
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("collect")
    ended(ages, busy, "describing what devices send")
    assert "You stopped “describing what devices send”" in ages.words
    assert not ages.errors
    ages.go("guide").go("collect").finish()
    assert "You stopped" not in ages.words
    assert any(uploader.key.startswith("reports") for uploader in ages.at.file_uploader)


def test_what_was_found_although_it_was_stopped_is_shown():
    state, begun, go = Session("who is late"), threading.Event(), threading.Event()

    def late(job):
        begun.set()
        go.wait()
        return "found" if job.key == "late" else None

    for key in ("late", "nothing"):
        begun.clear()
        go.clear()
        task = Task(state, key, "something late", late)
        assert task.get() is None
        begun.wait()
        task.running.stop()
        assert task.get() is None, "it has not ended yet"
        go.set()
        while task.running:
            time.sleep(0.01)
    assert Task(state, "late", "something late", late).get() == "found"
    with pytest.raises(Stopped, match="You stopped “something late”"):
        task.get()
