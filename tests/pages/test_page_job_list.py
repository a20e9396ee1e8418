"""The job list in the sidebar: what runs, how far it is, for which design, and how it is stopped."""

import threading
import time
from pathlib import Path

import pytest

from ldp_core.run import Progress
from pages.ui import job_list
from pages.ui.session.history import History
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Job, jobs


def running(seconds, progress=None, **about):
    """A job that has run for so long, whose clock stands still."""
    return Job(
        "key", "", "title", None, **about, progress=progress, state="running", started=100, finished=100 + seconds
    )


def stops(app):
    """The buttons that stop one job."""
    return [button for button in app.at.button if button.label == "Stop"]


def lines(app):
    """What the job list says, a line for each job."""
    bars = [bar.proto.text for bar in app.at.get("progress")]
    return [line.value.replace("\\", "") for line in app.at.caption if ": waiting" in line.value] + bars


@pytest.mark.parametrize(
    ("job", "share"),
    [
        (running(3.0), None),
        (running(3.0, 0.25), 0.25),
        (running(3.0, Progress(30, 3.0, 120)), 0.25),
        (running(3.0, Progress(30, 3.0)), None),
        (running(3.0, limit=12.0), 0.25),
        (running(30.0, expected=12.0), 1.0),
    ],
)
def test_how_much_of_a_job_is_done(job, share):
    assert job_list.share(job) == share


def test_how_long_a_job_still_takes():
    assert job_list.so_far(running(30, limit=90)) == "30 s, at most 1 min left"
    assert job_list.so_far(running(90, limit=90)) == "1 min 30 s, finishing"
    assert job_list.so_far(running(20, Progress(30, 20.0, 120))) == "20 s, about 1 min left"
    assert job_list.so_far(running(20, 0.25)) == "20 s"
    assert job_list.so_far(running(20)) == "20 s"
    stopped = running(20, 0.25)
    stopped.cancel()
    assert job_list.so_far(stopped) == "stopping"


def test_every_job_is_in_the_tray_on_every_page_and_can_be_stopped(busy, ages):
    work.start_certificate(ages.session, "people")
    work.fit(ages.session, "optimized").start()
    ages.go("guide")
    (proof, fit) = jobs().active(ages.session.id)
    assert [line.split(":")[0] for line in lines(ages)] == [
        "Proving what no mechanism can beat, your people",
        "Fitting Optimised to Running totals along age",
    ]
    assert len(stops(ages)) == 2
    ages.press(f"stop-{fit.number}")
    assert (fit.cancelled(), proof.cancelled()) == (True, False)


def test_work_for_a_design_that_was_left_is_given_up(busy, app):
    app.declare(users="500").session.change(simulation={**dict(app.configuration.simulation), "trials": 5})
    app.go("guide")
    state = app.session
    work.start_certificate(state, "worst_case")
    work.simulation(state, ["subset_selection"]).start()
    work.sweep(state, "epsilon").start()
    proof, trials, sweep = asked = jobs().active(state.id)

    def given_up():
        app.at.run()
        return [job for job in asked if job.cancelled()]

    assert not given_up()
    state.expect(users=700)
    assert given_up() == [trials], "the others hold for any people"
    state.change(epsilon="2")
    assert given_up() == [proof, trials], "the sweep holds at any epsilon"
    app.declare("0", "8", 8)
    assert given_up() == [proof, trials, sweep]


def test_work_for_a_saved_design_goes_on_while_another_is_shown(busy, ages):
    ages.go("guide")
    ages.session.saved.keep("first")
    other = ages.session.standing_for(History(ages.configuration.with_(epsilon="2")))
    work.fit(other, "optimized").start()
    (fit,) = jobs().active(ages.session.id)
    ages.session.change(epsilon="3")
    ages.at.run()
    assert not fit.cancelled()


def test_the_line_of_a_finished_job_stays_a_moment_and_says_where_to_look(ages, monkeypatch):
    monkeypatch.setattr(job_list, "KEPT_AFTER", 0.0)
    monkeypatch.setattr(job_list, "KEPT", 3600.0)
    for key, about in (("one", {"page": "Simulate"}), ("two", {})):
        jobs().submit(ages.session.id, key, f"{key} of two", lambda job: None, **about)
    ages.finish()
    assert "One of two: done, see Simulate" in ages.words
    assert "Two of two" not in ages.words
    monkeypatch.setattr(job_list, "KEPT", 0.0)
    ages.at.run()
    assert "see Simulate" not in ages.words


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_page_follows_work_that_ends_while_the_sidebar_is_drawn(ages, monkeypatch, cancelled):
    """After the line of the mechanism has said that it is being optimised, and before the job list looks what there is to follow."""
    ages.go("guide")
    end, drawn, draw = threading.Event(), [], job_list.draw
    key = work.fit(ages.session, "optimized").key
    job = jobs().submit(ages.session.id, key, "fitting", lambda job: end.wait() and None)

    def late(*about):
        drawn.append(job.active)
        if cancelled:
            job.cancel()
        end.set()
        while job.active:
            time.sleep(0.001)
        return draw(*about)

    monkeypatch.setattr(job_list, "draw", late)
    ages.session.change(mechanism=choose_mechanism("optimized"))
    ages.at.run()
    ages.check()
    assert drawn == [True, False], "the page is drawn again by itself, once"
    assert "optimising" not in ages.words
    assert "Not optimised for this design yet" in ages.words


def test_the_page_follows_work_that_begins_and_ends_while_the_sidebar_is_drawn(ages, monkeypatch):
    ages.go("guide")
    drawn, draw = [], job_list.draw

    def late(*about):
        if not drawn:
            job = jobs().submit(ages.session.id, "brief", "something brief", lambda job: None)
            while job.active:
                time.sleep(0.001)
        drawn.append(len(jobs().active(ages.session.id)))
        return draw(*about)

    monkeypatch.setattr(job_list, "draw", late)
    ages.at.run()
    ages.check()
    assert drawn == [0, 0]


@pytest.mark.parametrize("page", ["bounds", "compare"])
def test_work_that_a_page_begins_is_followed(busy, ages, monkeypatch, page):
    """The proof begun by a page that is drawn after the job list; these pages say that its line appears as it is ready."""
    followed = []
    monkeypatch.setattr(job_list, "poll", lambda lines: followed.extend(jobs().active(ages.session.id)))
    assert not jobs().active(ages.session.id)
    ages.go(page)
    assert any(job.title.startswith("proving") for job in followed)


def test_work_of_a_page_that_ends_early_is_followed(busy, ages, monkeypatch):
    followed = []
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 2)
    monkeypatch.setattr(job_list, "poll", lambda lines: followed.extend(jobs().active(ages.session.id)))
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("collect")
    assert "What devices of this design send is being described." in ages.words
    assert [job.title for job in followed] == ["describing what devices send"]


def test_no_page_ends_so_that_the_tray_cannot_follow():
    pages = [page for page in (Path(__file__).parents[2] / "pages").rglob("*.py") if page.name != "main.py"]
    assert pages
    assert not [page for page in pages if "st.stop(" in page.read_text()]


def test_work_is_followed_where_lines_of_what_has_ended_stand(ages, monkeypatch):
    monkeypatch.setattr(job_list, "KEPT_AFTER", 0.0)
    monkeypatch.setattr(job_list, "KEPT", 3600.0)
    jobs().submit(ages.session.id, "one", "one of two", lambda job: None, page="Simulate")
    ages.finish()
    assert "One of two: done, see Simulate" in ages.words
    before = len(jobs().of(ages.session.id))
    ages.go("bounds")
    assert len(jobs().of(ages.session.id)) > before


def test_what_ends_at_once_has_no_line(ages, monkeypatch):
    end = threading.Event()
    job = jobs().submit(ages.session.id, "short", "something short", lambda job: end.wait())
    monkeypatch.setattr(job_list, "SHOWN_AFTER", 3600.0)
    while job.state == "queued":
        time.sleep(0.01)
    ages.at.run()
    assert not stops(ages)
    monkeypatch.setattr(job_list, "SHOWN_AFTER", 0.0)
    ages.at.run()
    assert len(stops(ages)) == 1
    end.set()
