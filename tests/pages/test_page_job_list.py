"""The job list in the sidebar: what runs, how far it is, for which design, and how it is stopped."""

import threading
import time

import pytest

from pages.ui import sidebar
from pages.ui.session.history import History
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from pages.ui.tasks.jobs import jobs


def stops(app):
    """The buttons that stop one job."""
    return [button for button in app.at.button if button.label == "Stop"]


def lines(app):
    """What the job list says, a line for each job."""
    bars = [bar.proto.text for bar in app.at.get("progress")]
    return [line.value.replace("\\", "") for line in app.at.caption if ": waiting" in line.value] + bars


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


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_page_follows_work_that_ends_while_the_sidebar_is_drawn(ages, monkeypatch, cancelled):
    """After the line of the mechanism has said that it is being optimised, and before the job list looks what there is to follow."""
    ages.go("guide")
    end, drawn, draw = threading.Event(), [], sidebar.draw_jobs
    key = work.fit(ages.session, "optimized").key
    job = jobs().submit(ages.session.id, key, "fitting", lambda job: end.wait() and None)

    def late(*about):
        drawn.append(job.active)
        end.set()
        while job.active:
            time.sleep(0.001)
        return draw(*about)

    monkeypatch.setattr(sidebar, "draw_jobs", late)
    ages.session.change(mechanism=choose_mechanism("optimized"))
    ages.at.run()
    ages.check()
    assert drawn == [True, False], "the page is drawn again by itself, once"
    assert "optimising" not in ages.words
    assert "Not optimised for this design yet" in ages.words
