"""The job list in the sidebar: what runs, how far it is, for which design, and how it is stopped."""

import threading
import time
from pathlib import Path

from pages.ui import job_list
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from pages.ui.tasks.jobs import jobs


def stops(app):
    """The buttons that stop one job."""
    return [button for button in app.at.button if button.label == "Stop"]


def lines(app):
    """What the job list says, a line for each job."""
    bars = [bar.proto.text for bar in app.at.get("progress")]
    return [line.value.replace("\\", "") for line in app.at.caption if " before it" in line.value] + bars


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


def test_jobs_for_a_design_that_was_left_are_marked_and_stopped_together(busy, ages):
    work.start_certificate(ages.session, "people")
    work.fit(ages.session, "optimized").start()
    work.sweep(ages.session, "epsilon").start()
    fit_and_proof, sweep = jobs().active(ages.session.id)[:2], jobs().active(ages.session.id)[2]
    ages.at.run()
    assert not any("for epsilon" in line for line in lines(ages))
    assert not ages.has("button", "stop-earlier")

    ages.session.change(epsilon="2")
    ages.at.run()
    assert ["for epsilon 1:" in line for line in lines(ages)] == [True, True, False]
    assert ages.at.button(key="stop-earlier").label == "Stop the 2 for earlier designs"
    ages.session.change(epsilon="1.0")  # back at the design, in another spelling
    ages.at.run()
    assert not ages.has("button", "stop-earlier")

    ages.ask("histogram")
    assert ["for other questions:" in line for line in lines(ages)] == [True, True, True]
    ages.session.change(epsilon="2")
    ages.at.run().button(key="stop-earlier").click().run()
    ages.check()
    assert all(job.cancelled() for job in (*fit_and_proof, sweep))


def test_the_page_follows_work_that_ends_while_the_sidebar_is_drawn(ages, monkeypatch):
    """After the line of the mechanism has said that it is being optimised, and before the job list looks what there is to follow."""
    ages.go("guide")
    end, drawn, draw = threading.Event(), [], job_list.draw
    key = work.fit(ages.session, "optimized").key
    job = jobs().submit(ages.session.id, key, "fitting", lambda job: end.wait() and None)

    def late(*about):
        drawn.append(job.active)
        end.set()
        while job.active:
            time.sleep(0.001)
        draw(*about)

    monkeypatch.setattr(job_list, "draw", late)
    ages.session.change(mechanism=choose_mechanism("optimized"))
    ages.at.run()
    ages.check()
    assert drawn == [True, False], "the page is drawn again by itself, once"
    assert "optimising" not in ages.words
    assert "Not optimised for this design yet" in ages.words


def test_no_page_ends_so_that_the_tray_cannot_follow():
    pages = [page for page in (Path(__file__).parents[2] / "pages").rglob("*.py") if page.name != "main.py"]
    assert pages
    assert not [page for page in pages if "st.stop(" in page.read_text()]
