"""Every page: what it says without data, that it opens with every sample, workload and mechanism, and undo."""

import re
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from ldp_core import library
from ldp_core.designs.results import Results
from ldp_core.limits import MOST_FINISHED_JOBS
from pages.ui import streamlit_fixes
from pages.ui.controls import whole_number
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.sources import catalogue
from pages.ui.streamlit_fixes import page_polls
from pages.ui.tasks.jobs import Jobs, Task
from pages.ui.words import gap_in_words, people

APP = Path(__file__).parents[2] / "app.py"
FRAME = APP.parent / "pages/ui/main.py"
PAGES = ["start", "data", "workload", "design", "compare", "bounds", "simulate", "export", "collect", "guide"]
NEED_DATA = ["workload", "design", "compare", "bounds", "simulate", "export", "collect"]
FILES = [sample["file"] for sample in catalogue()]


@pytest.mark.parametrize(
    "begin",
    [
        lambda app: app.sample(),
        lambda app: app.sample("health_survey.csv"),
        lambda app: app.declare("18", "90", 24, users="1,000"),
    ],
    ids=["ages", "health", "declared"],
)
def test_those_who_come_with_data_have_what_is_pressed_and_typed_on_pages(app, another, begin):
    """Most tests begin as the second does, whose app is not open yet."""
    pressed, there = begin(app.go("data")), begin(another())
    assert there.configuration == pressed.configuration
    assert (there.session.source and there.session.source.id) == (pressed.session.source and pressed.session.source.id)
    assert there.go("data").words == pressed.go("data").words


@pytest.mark.parametrize("page", [*PAGES, "papers"])
def test_page_opens_without_data_and_all_lead_on(app, page):
    assert app.go(page).at.title[0].value
    assert app.has("button", "next")


@pytest.mark.parametrize("page", NEED_DATA)
def test_page_without_data_says_what_it_needs_and_links_there(app, page):
    app.go(page)
    assert "needs" in app.at.info[0].value
    main = [link.proto.label for link in app.at.main.get("page_link")]
    assert main == ["Choose or declare data"]
    assert not app.charts


@pytest.mark.parametrize("page", ["design", "compare", "simulate", "export", "collect"])
def test_page_without_workload_links_to_workloads(ages, page):
    ages.session.history.configuration = ages.configuration.with_(workload=None)
    ages.go(page)
    assert "workload" in ages.at.info[0].value
    assert [link.proto.label for link in ages.at.main.get("page_link")] == ["Choose a workload"]


@pytest.mark.parametrize("file", [*FILES[:3], *(pytest.param(file, marks=pytest.mark.slow) for file in FILES[3:])])
def test_each_sample_carries_through_every_page(app, file):
    app.sample(file)
    users = f"{app.session.design().users:,} users"
    for page in PAGES:
        assert users in app.go(page).words, page


@pytest.mark.parametrize("file", FILES)
def test_samples_on_the_data_page_take_one_click(app, file):
    app.go("data").press(f"pick-{file}")
    assert app.configuration.data.file == file
    assert app.charts
    assert "First of " in app.words


@pytest.mark.parametrize(("kind", "charts"), [("histogram", 1), ("prefix", 2), ("all_range", 2)])
def test_each_workload_is_pictured_and_named(ages, kind, charts):
    ages.ask(kind).go("workload")
    workload = ages.session.design().workload
    assert workload.kind == kind
    assert f"Queries (p) {workload.num_queries:,}" in ages.words
    assert workload.query_name(0, ages.session.design().labels) in ages.words
    assert len(ages.charts) == charts
    assert ("spread evenly over all directions" in ages.words) == (charts == 1)


def test_sums_along_unordered_categories_are_warned_about(app):
    app.sample("favourites.csv").ask("prefix").go("workload")
    assert "no natural order" in app.at.warning[0].value


@pytest.mark.parametrize("name", [n for n, spec in library.REGISTRY.items() if spec.choices and spec.fitted])
def test_each_parameter_of_a_fit_can_be_chosen(ages, name):
    app = ages.go("design").enter("selectbox", "mechanism", name)
    for parameter, values in library.spec(name).choices.items():
        for value in values:
            app.enter("selectbox", f"choice-{parameter}", value)
            assert app.at.selectbox(key=f"choice-{parameter}").value == value
            assert app.session.setting.parameters_for(name).get(parameter, values[0]) == value
            assert app.has("button", "optimise")


def test_start_shows_a_demonstration_and_hands_it_over(app):
    assert len(app.go("start").charts) == 2  # the answers, and what a report can tell
    assert "At epsilon 1 a typical answer is off by" in app.words
    app.enter("slider", "demo-epsilon", 2.0)
    assert "At epsilon 2 " in app.words
    app.press("begin")
    assert app.configuration.epsilon == "2"
    assert app.at.title[0].value == "Design"


def test_demonstration_errs_more_the_more_private(app):
    def off():
        return float(app.words.split("typical answer is off by ± ")[1].split()[0])

    app.go("start")
    loose = off()
    app.enter("slider", "demo-epsilon", 0.1)
    assert off() > 5 * loose


def test_guide_never_rounds_a_guess_up_to_certainty(app):
    odds, mechanism_table = app.go("guide").dataframes
    guesses = odds.iloc[:, 2].str.removesuffix(" %").astype(float)
    assert guesses.is_monotonic_increasing
    assert guesses.iloc[-1] == 99.97  # e^8 / (1 + e^8) = 0.999665
    assert guesses.iloc[2] == 73.11
    assert list(mechanism_table["Mechanism"]) == [spec.title for spec in library.REGISTRY.values()]


def test_guide_leads_through_every_page_in_the_order_of_the_links(app):
    links = [title for title in re.findall(r' title="(\w+)"', FRAME.read_text()) if title not in ("Plan", "Ask")]
    steps = re.findall(r"^\d+\. \*\*(\w+)\*\*:", app.go("guide").words, flags=re.M)
    assert steps == [page for page in links if page not in ("Start", "Papers", "Guide")]


def test_undo_goes_back_step_by_step_with_the_data(ages):
    before = ages.go("design").configuration
    ages.enter("text_input", "epsilon-text", "2")
    ages.sample("commutes.csv")
    assert ages.session.tally.users != 3000
    ages.press("undo")
    assert (ages.configuration.epsilon, ages.session.tally.users) == ("2", 3000)
    ages.press("undo")
    assert ages.configuration == before
    ages.press("undo")
    assert ages.configuration.domain is None
    assert ages.at.button(key="undo").disabled


def test_two_sessions_do_not_see_each_other(ages, another):
    ages.upload("secret.csv", b"diagnosis\nflu\ncold\nflu\n")
    other = another()
    for page in PAGES:
        other.go(page)
        assert "diagnosis" not in other.words
        assert "flu" not in other.words
    other.sample("commutes.csv")
    assert ages.go("data").session.tally.users == 3
    assert "diagnosis" in ages.words


@given(number=st.integers(1, 10**9))
@settings(max_examples=50)
def test_whole_numbers_are_read_as_shown(number):
    assert whole_number(f" {number:,} ", "it", 1, 10**9) == number


@given(text=st.text(max_size=30))
@settings(max_examples=200)
def test_texts_are_whole_numbers_or_refused_with_the_range(text):
    digits = re.sub(r"[,_ ]", "", text.strip())
    if re.fullmatch("[0-9]{1,9}", digits) and int(digits) >= 1:
        assert whole_number(text, "the number of users", 1, 10**9) == int(digits)
    elif not re.fullmatch("[0-9]+", digits):
        with pytest.raises(ValueError, match="from 1 to 1,000,000,000"):
            whole_number(text, "the number of users", 1, 10**9)


def test_signs_in_the_guide_quote_nothing(app):
    """A line that begins with ">", as in ">=", would be a quotation."""
    lines = [line for element in app.go("guide").at.markdown for line in element.value.splitlines()]
    assert any(">=" in line for line in lines)
    assert not [line for line in lines if re.match(r"\s*(- |\d+\. )?\s*>", line)]


def test_refused_epsilon_is_named_once(app):
    app.go("design").sample(page="design").enter("text_input", "epsilon-text", "0")
    (sentence,) = app.errors
    assert sentence.startswith("Epsilon 0 is too small")


def test_phrases():
    assert [people(n) for n in (1, 2, 3000)] == ["1 user", "2 users", "3,000 users"]
    assert [gap_in_words(gap) for gap in (-1e-12, 0.0593, 25, float("inf"))] == [
        "0.01\N{NO-BREAK SPACE}%",
        "5.93\N{NO-BREAK SPACE}%",
        "26 times",
        "unknown",
    ]


def test_a_deep_link_to_a_fresh_server_still_comes_through_the_app(monkeypatch):
    # Streamlit's own navigation of pages/, which is on until app.py has run once in a process.
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    monkeypatch.setattr(app_test, "PagesManager", PagesManager)
    at = AppTest.from_file(APP, default_timeout=3600)
    at.switch_page("pages/design.py").run()
    assert not at.exception
    assert "Current design" in at.sidebar.markdown[0].value
    assert at.title[0].value == "Start"


def test_a_poll_that_begins_beside_a_click_on_a_link_does_not_take_the_page_back(ages, monkeypatch):
    """Both write down the page they are asked for in one place of the session, each in its own thread."""
    ages.go("bounds")
    polls, resolve = [calc_hash("bounds")], PagesManager.set_pages_and_resolve

    def beside(manager, *arguments, **options):
        if polls:
            poll = threading.Thread(target=manager.set_script_intent, args=(polls.pop(), ""))
            poll.start()
            poll.join()
        return resolve(manager, *arguments, **options)

    monkeypatch.setattr(PagesManager, "set_pages_and_resolve", beside)
    ages.go("simulate")
    assert not polls
    assert ages.at.title[0].value == "Simulate"


def asked(page, poll=False):
    return ClientState(page_script_hash=page, is_auto_rerun=poll, fragment_id="poll" if poll else "")


def test_polls_for_a_page_that_a_click_has_left_are_dropped():
    session = SimpleNamespace(page_script_hash="plan")

    def late(page, poll=False):
        return page_polls.comes_late(session, asked(page, poll))

    assert not page_polls.comes_late(session, None)
    assert not late("")  # the first request of a visit
    assert not late("plan", True)
    assert not late("simulate")  # the click
    assert late("plan", True)  # before its run begins
    session.page_script_hash = "simulate"
    assert late("plan", True)  # and after
    assert not late("simulate", True)
    assert not late("plan")  # back again
    assert not late("plan", True)
    session.page_script_hash = "plan"
    assert late("simulate", True)
    assert not late("plan")  # a button that takes the visitor to the page left before
    session.page_script_hash = "simulate"
    assert not late("simulate", True)


def test_late_polls_do_not_reach_the_session(app):
    session = AppSession.__new__(AppSession)  # without a server to belong to
    session._state, session._scriptrunner, begun = None, None, []
    session._client_state = ClientState(page_script_hash="plan")
    session._fragment_storage = SimpleNamespace(contains=lambda fragment: True)
    session._create_scriptrunner = begun.append
    for request in (asked("plan", True), asked("simulate"), asked("plan", True)):
        session.request_rerun(request)
    session._state = AppSessionState.SHUTDOWN_REQUESTED  # nothing to shut down
    assert [(data.page_script_hash, data.is_auto_rerun) for data in begun] == [("plan", True), ("simulate", False)]


def test_a_poll_for_what_the_page_no_longer_shows_draws_nothing(monkeypatch):
    """The page has ended early, and the poll came in before: there is no place any more for what it would draw."""
    streamlit_fixes.install()

    def page():
        import streamlit as st

        @st.fragment(run_every=1.0)
        def follow():
            st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1

        if st.session_state.get("works", True):
            follow()
        st.stop()

    at = AppTest.from_function(page, default_timeout=3600).run()

    def poll():
        with monkeypatch.context() as polled:
            polled.setattr(local_script_runner, "RerunData", partial(RerunData, fragment_id_queue=[fragment]))
            at.run()
        return at.session_state["drawn"]

    (fragment,) = at._fragment_storage._fragments
    assert poll() == 2
    assert poll() == 3
    at.session_state["works"] = False
    at.run()
    assert poll() == 3
    at.session_state["works"] = True
    at.run()
    assert poll() == 5


def test_results_keep_the_newest_within_their_limit(monkeypatch):
    monkeypatch.setattr("ldp_core.designs.results.MOST_RESULT_BYTES", 100)
    results = Results()
    results.put("weightless", 0)
    for name in "abc":
        results.put(name, name, 40)
    assert [results.get(name) for name in ("weightless", "a", "b", "c")] == [0, None, "b", "c"]
    results.get("b")
    results.put("d", "d", 40)  # c was used longest ago
    assert [results.get(name) for name in "bcd"] == ["b", None, "d"]
    results.put("huge", "huge", 1000)
    assert results.get("huge") == "huge"


def wait_while(busy):
    while busy():
        time.sleep(0.01)


def test_equal_work_runs_once_and_finished_jobs_are_forgotten():
    work, go = Jobs(), threading.Event()
    first = work.submit("me", "key", "waiting", lambda job: go.wait())
    assert work.submit("me", "key", "waiting", lambda job: None) is first
    other = work.submit("you", "key", "waiting", lambda job: go.wait())
    assert other is not first
    queued = work.submit("me", "next", "queued", lambda job: None)
    assert {job.key for job in work.active("me")} == {"key", "next"}
    go.set()
    wait_while(lambda: work.active("me") + work.active("you"))
    assert (first.state, queued.state) == ("done", "done")
    for i in range(2 * MOST_FINISHED_JOBS):
        work.submit("me", f"many {i}", "", lambda job: None)
    wait_while(lambda: work.active("me"))
    work.submit("me", "last", "", lambda job: None)
    assert work.find("me", "key") is None


def test_work_that_breaks_ends_in_a_sentence():
    work = Jobs()

    def fail(job):
        raise KeyError("secret")

    job = work.submit("me", "key", "", fail)
    wait_while(lambda: job.active)
    assert job.state == "failed"
    assert "stopped unexpectedly" in job.error
    assert "secret" not in job.error


def test_a_task_keeps_one_result_for_equal_inputs():
    state, done = Session("who counts"), []

    def task(key="count", work=lambda job: done.append(1) or len(done)):
        return Task(state, key, "counting", work, lambda found: found)

    assert task().get() is None
    wait_while(lambda: task().running)
    assert task().get() == task().result == 1  # by another object with the same key
    assert task("more").get(True) == 2
    assert task("more").job is None
    assert done == [1, 1]


def test_a_task_without_a_result_says_why():
    state, begun = Session("who fails"), threading.Event()

    def fail(job):
        raise ValueError("There is nothing to count.")

    def stop(job):
        begun.set()
        while not job.cancelled():
            time.sleep(0.005)

    failing, stopped = Task(state, "fail", "failing", fail), Task(state, "stop", "stopping", stop)
    assert failing.get() is None
    wait_while(lambda: failing.running)
    with pytest.raises(ValueError, match="nothing to count"):
        failing.get()
    assert failing.error == "There is nothing to count."
    assert not failing.cut_short
    stopped.start()
    begun.wait()
    stopped.running.cancel()
    wait_while(lambda: stopped.running)
    assert stopped.cut_short
    assert stopped.result is None
    assert not stopped.error


@pytest.mark.parametrize("page", ["design", "compare", "workload", "export", "collect"])
def test_what_cannot_be_worked_out_is_a_sentence_in_its_place(ages, monkeypatch, page):
    def failed(task, at_once=False):
        raise ValueError("This needs more memory than the server has.")

    monkeypatch.setattr(Task, "get", failed)
    ages.session.view["sides"] = True  # on Design
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go(page)
    if page == "compare":
        ages.open("compare-tabs", "Error of each query")
    said = " ".join([ages.words, *ages.errors]).replace("\\", "")
    assert "This needs more memory than the server has" in said
