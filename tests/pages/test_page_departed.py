"""What sessions and jobs hold on to, and when they let go."""

import gc
import threading
import weakref

import numpy as np
import pytest
import streamlit as st
from starlette.formparsers import MultiPartParser

from pages.ui import promises
from pages.ui.data import choice as data_choice
from pages.ui.session import departed
from pages.ui.session.state import SESSIONS, Session
from pages.ui.tasks.jobs import Jobs
from pages.ui.tasks.jobs import jobs as all_jobs
from pages.ui.tasks.later import Later

KEPT = 120.0
GONE = 1000.0  # when it is first missed: long after it was last seen, because a look came late


def ended(jobs, job):
    while job.active:
        threading.Event().wait(0.005)
    assert jobs.find(job.session, job.key) is job
    return job


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_lets_go_of_what_it_worked_on(fails):
    table, jobs = np.zeros(10), Jobs()
    held = weakref.ref(table)

    def work(job, table=table):
        if fails:
            raise ValueError(f"no {len(table)}")

    job = ended(jobs, jobs.submit("me", "key", "", work))
    assert job.error == ("no 10" if fails else "")
    del table, work
    gc.collect()
    assert held() is None


def test_sessions_without_a_browser_lose_their_jobs_then_everything():
    state, jobs, go = Session("me"), Jobs(), threading.Event()
    SESSIONS[state.id] = state
    data_choice.upload(state, b"age\n1\n2\n3\n", "people.csv")
    held, results = state.source, state.results  # as callbacks of Streamlit's may for long
    data_choice.upload(state, b"age\n1\n2\n", "fewer.csv")
    later = state.source
    state.change(epsilon="2")  # and a step to undo
    state.results.put("counts", state.design().counts)
    job = jobs.submit("me", "key", "", lambda job: go.wait())
    other = jobs.submit("you", "key", "", lambda job: go.wait())
    watch, here = departed.Watch(jobs), {"me", "you"}

    def look(now):
        return watch.look(now, here.__contains__, KEPT)

    assert not look(0.0)
    here.discard("me")
    assert not look(GONE)
    assert not look(GONE + departed.ABANDONED_AFTER)
    assert not job.cancelled()
    assert not look(GONE + departed.ABANDONED_AFTER + 0.1)
    assert job.cancelled()
    assert state.source is later  # who comes back finds everything
    assert not look(GONE + KEPT)
    assert len(held.table) == 3
    assert look(GONE + KEPT + 0.1)
    assert jobs.find("me", "key") is None
    assert "me" not in SESSIONS
    for source in (held, later):
        assert not len(source.table)
        assert not source.content
    assert state.design() is None
    results.put("late", 1)  # by work that ends after that
    assert results.get("counts") is results.get("late") is None
    assert not look(GONE + KEPT + 10)
    assert jobs.find("you", "key") is other
    assert not other.cancelled()
    go.set()


def test_who_comes_back_in_time_is_counted_anew():
    state, jobs = Session("back"), Jobs()
    SESSIONS[state.id] = state
    watch, here = departed.Watch(jobs), set()
    watch.look(0.0, here.__contains__, KEPT)
    watch.look(KEPT, {"back"}.__contains__, KEPT)
    assert not watch.look(2 * KEPT, here.__contains__, KEPT)
    assert "back" in SESSIONS


@pytest.fixture
def untried():
    promises.uploads_stay_in_memory.cache_clear()
    yield
    promises.uploads_stay_in_memory.cache_clear()


def test_the_largest_upload_stays_in_memory(untried):
    assert promises.uploads_stay_in_memory()
    assert MultiPartParser.spool_max_size >= 200 * 2**20
    assert "not written to disk" in promises.rows_in_memory()


def test_a_parser_without_the_limit_is_noticed_and_said(untried, monkeypatch):
    class Stubborn(MultiPartParser):
        """As a later version may be: it has a limit of its own, whatever is set."""

        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.spool_max_size = 2**20

    monkeypatch.setattr("starlette.requests.MultiPartParser", Stubborn)
    assert not promises.uploads_stay_in_memory()
    assert "temporary file on the server's disk" in promises.rows_in_memory()
    assert "not written" not in promises.rows_in_memory()


def test_pages_promise_what_is_true_of_this_server(app, monkeypatch):
    for true, told in [(True, "They are not written to disk"), (False, "a temporary file on the server's disk")]:
        monkeypatch.setattr(promises, "uploads_stay_in_memory", lambda true=true: true)
        app.go("guide")
        assert any(told in element.value for element in app.at.markdown)
        app.go("data")
        app.enter("segmented_control", "data-source", "upload")
        (box,) = [u for u in app.at.file_uploader if u.key.startswith("upload-")]
        assert told in box.help


def test_the_moment_of_forgetting_follows_from_the_settings(app, monkeypatch):
    """How long it takes a server is seen in tests/browser/test_server_keeps_nothing.py."""
    for kept, every, told in [
        (120, 10, "at most 3 minutes"),
        (1, 10, "at most 1 minute "),
        (600, 30, "at most 12 minutes"),
    ]:
        monkeypatch.setattr(promises, "EVERY", float(every))
        monkeypatch.setattr(promises, "returns_within", lambda kept=kept: float(kept))
        watch, here = departed.Watch(Jobs()), set()
        SESSIONS["leaving"] = state = Session("leaving")
        # The worst there is: it goes just after a look that saw it, and time runs out just after another.
        watch.look(0.0, {"leaving"}.__contains__, kept)
        looks = [every * i for i in range(1, 100)]
        freed = next(now for now in looks if watch.look(now, here.__contains__, kept))
        assert freed <= 60 * promises.kept_minutes()
        assert state.results.get("any") is None
        sentence = promises.forgetting()
        assert told in sentence
        app.go("guide")
        assert any(sentence in element.value for element in app.at.markdown)
        app.go("data")
        app.enter("segmented_control", "data-source", "upload")
        (box,) = [u for u in app.at.file_uploader if u.key.startswith("upload-")]
        assert sentence in box.help


def test_the_settings_are_those_of_the_server():
    assert promises.returns_within() == st.config.get_option("server.disconnectedSessionTTL") == 120


def test_work_that_a_page_waits_for_notices_when_it_is_cancelled():
    state, begun = Session("who goes away"), threading.Event()

    def compute(cancel):
        begun.set()
        while not cancel():
            threading.Event().wait(0.005)
        return "a part"

    def value(quick, compute):
        return Later(state).value("figure", "a figure", quick, compute)

    assert value(False, compute) is None
    begun.wait()
    (job,) = all_jobs().active(state.id)
    all_jobs().cancel(state.id)
    assert ended(all_jobs(), job).state == "cancelled"
    assert value(True, lambda cancel: "all of it") == "all of it"  # a part is not kept
    assert value(False, compute) == "all of it"
