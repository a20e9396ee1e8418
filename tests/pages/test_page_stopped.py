"""What a person stops by hand stays stopped, on every page, until they ask for it again or it is about something else."""

import threading
import time

import pytest

from ldp_core.designs import Optimizer
from ldp_core.limits import MOST_FINISHED_JOBS
from pages.ui.session import exchange
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.tasks import kit, work
from pages.ui.tasks.jobs import Jobs, jobs
from pages.ui.tasks.later import Later
from pages.ui.tasks.task import Stopped, Task
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


def agains(app):
    return [button.key for button in app.at.button if plain(button.label).startswith("Begin again: ")]


@pytest.fixture
def stopped(slow, busy):
    """The same after somebody has stopped these, and they have ended."""
    stop(slow)
    assert "being worked out" in slow.words, "it has not ended yet"
    assert not agains(slow)
    busy.set()
    return slow.finish()


def test_costs_stopped_by_hand_stay_stopped_on_every_page(stopped):
    (job,) = found(stopped)
    assert job.state == "cancelled"
    assert "Hierarchical. You stopped working out its costs" in stopped.words
    for page in ("design", "bounds", "export", "compare", "design"):
        stopped.go(page).at.run()
        stopped.check()
        assert f"You stopped “{COSTS}”; press “Begin again” in the sidebar" in stopped.words
        assert not stopped.errors
        assert agains(stopped) == [f"again-{job.number}"], "once, though several places of a page go without"
        assert found(stopped) == [job]
    stopped.go("guide")
    assert agains(stopped) == [f"again-{job.number}"]
    assert found(stopped) == [job]


def test_a_stop_on_request_is_no_warning_and_what_is_known_is_said(stopped):
    said = f"You stopped “{COSTS}”; press “Begin again” in the sidebar if you want it after all."
    for page, known in (
        ("compare", "The other mechanisms are compared without it."),
        ("bounds", "The bounds and predictions below do without its exact error."),
    ):
        stopped.go(page)
        assert not stopped.at.warning
        assert f"{said} {known}" in [plain(element.value) for element in stopped.at.info]
    stopped.go("compare").enter("multiselect", "compared", ["hierarchical"])
    assert "Choose at least one mechanism" not in stopped.words
    assert (
        "Nothing is left to compare so far. No unbiased mechanism with pure epsilon 1 can need fewer" in stopped.words
    )


def test_a_stopped_sweep_says_how_much_of_it_there_is(busy, app):
    app.declare(bins=8).ask("prefix").session.change(compared=("hadamard",), optimizer=Optimizer(max_rounds=2))
    app.go("compare").open("compare-tabs", "Over epsilon").press("sweep-epsilon").press("cancel-epsilon")
    busy.set()
    app.finish()
    assert "You stopped this sweep before any point was computed." in app.words
    app.press("sweep-epsilon").finish()
    assert "You stopped" not in app.words
    assert not app.has("button", "sweep-epsilon")


def test_what_was_stopped_begins_again_when_somebody_asks(stopped):
    (job,) = found(stopped)
    stopped.press(f"again-{job.number}")
    assert len(found(stopped)) == 2
    stopped.finish()
    assert not agains(stopped)
    assert "You stopped" not in stopped.words
    assert any(metric.label == "People needed" for metric in stopped.at.metric)


def test_a_changed_design_begins_its_own_and_the_earlier_one_is_still_stopped(stopped):
    (job,) = found(stopped)
    stopped.session.change(epsilon="2")
    stopped.finish()
    assert [job.state for job in found(stopped)] == ["cancelled", "done"]
    assert any(metric.label == "People needed" for metric in stopped.at.metric)
    assert not agains(stopped)
    stopped.session.change(epsilon="1")
    stopped.finish()
    assert len(found(stopped)) == 2
    assert agains(stopped) == [f"again-{job.number}"]


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
    return {case: app.session.setting.proof(case) for case in app.session.present.cases}


def proving(app):
    return [job for job in jobs().of(app.session.id) if job.key.startswith("certificate:")]


@pytest.mark.parametrize("begun", [False, True])
def test_proofs_given_up_with_their_epsilon_begin_again_when_it_comes_back(ages, busy, begun):
    if begun:
        busy.set()
    ages.go("compare")
    asked = proving(ages)
    assert len(asked) == len(ages.session.present.cases)
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


def test_proofs_that_somebody_asked_for_as_well_are_not_given_up(ages, busy):
    ages.go("compare")
    asked = proving(ages)
    for case in ages.session.present.cases:
        work.start_certificate(ages.session, case)
    ages.session.change(epsilon="2")
    ages.at.run()
    assert asked
    assert not any(job.cancelled() for job in asked)


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


def test_stopping_all_for_earlier_designs_is_by_hand(slow, busy):
    work.price(slow.session, slow.session.mechanism("hadamard")).start()
    work.fit(slow.session, "optimized").start()
    slow.session.change(epsilon="2", mechanism=choose_mechanism("subset_selection"))
    slow.at.run().button(key="stop-earlier").click().run()
    slow.check()
    earlier = [job for job in jobs().of(slow.session.id) if job.cancelled()]
    assert [job.title for job in earlier if job.stopped and "fitting" in job.title]
    busy.set()
    slow.finish()


def test_a_fit_that_was_stopped_is_begun_with_its_button_as_ever(busy, ages):
    ages.session.change(mechanism=choose_mechanism("optimized"), optimizer=Optimizer(max_rounds=2))
    ages.go("design").press("optimise")
    (job,) = (job for job in jobs().active(ages.session.id) if job.title.startswith("fitting"))
    ages.press(f"stop-{job.number}")
    busy.set()
    ages.finish()
    assert not agains(ages)
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
    assert "You stopped “judging the answers”" in ages.words, "another page that asks for the same"
    ages.press(agains(ages)[0]).finish()
    assert "You stopped" not in ages.words


def test_a_kit_or_a_proof_that_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    monkeypatch.setattr(kit, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("export")
    ended(ages, busy, "packing the kit")
    assert "There is no kit of this design. You stopped “packing the kit”" in ages.words
    assert ages.has("download_button", "download")
    ages.press(agains(ages)[0]).finish()
    assert ages.has("download_button", "download-kit")


def test_a_proof_whose_writing_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    work.certificate(ages.session, ages.session.present.aim("subset_selection")).known(at_once=True)
    monkeypatch.setattr(exchange, "UNASKED_TYPES", 2)
    ages.go("export")
    ended(ages, busy, "writing the proof")
    assert "You stopped “writing the proof”" in ages.words
    assert ages.has("download_button", "download")
    assert not ages.has("download_button", "download-proof")
    ages.press(agains(ages)[0]).finish()
    assert ages.has("download_button", "download-proof")
    assert ages.has("download_button", "download-kit")


def test_what_devices_send_can_be_had_after_it_was_stopped(busy, ages, monkeypatch):
    monkeypatch.setattr(kit, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("collect")
    ended(ages, busy, "describing what devices send")
    assert "You stopped “describing what devices send”" in ages.words
    assert not ages.errors
    ages.press(agains(ages)[0]).finish()
    assert "You stopped" not in ages.words
    assert any(uploader.key.startswith("reports") for uploader in ages.at.file_uploader)


def test_of_what_was_stopped_only_that_is_remembered_and_for_as_long_as_the_session():
    work, go = Jobs(), threading.Event()
    job = work.submit("me", "key", "large", lambda job: setattr(job, "progress", "large") or go.wait())
    job.stop()
    go.set()
    for i in range(2 * MOST_FINISHED_JOBS):
        work.submit("me", f"many {i}", "", lambda job: None)
    while work.active("me"):
        time.sleep(0.01)
    last = work.submit("me", "last", "", lambda job: None)
    assert work.find("me", "key") is job
    assert (job.stopped, job.progress) == (True, None)
    assert len(work.of("me")) == MOST_FINISHED_JOBS + 2
    again = work.submit("me", "key", "large", lambda job: None)
    assert work.find("me", "key") is again
    assert (job.stopped, again.stopped) == (False, False)
    while last.active or again.active:
        time.sleep(0.01)
    work.forget("me")
    assert not work.of("me")


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
        assert Later(state).wait(task) is None
        begun.wait()
        task.running.stop()
        assert Later(state).wait(task) is None, "it has not ended yet"
        go.set()
        while task.running:
            time.sleep(0.01)
    assert Later(state).wait(Task(state, "late", "something late", late)) == "found"
    with pytest.raises(Stopped, match="You stopped “something late”"):
        Later(state).wait(task)
