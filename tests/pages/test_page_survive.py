"""Who gets which session: tabs of one browser that come, go and come back. In real browsers: tests/browser/test_survive_browser.py."""

import itertools
import uuid

import pytest

from pages.ui.session import browser, state
from pages.ui.session.held import Holder, Visitor
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Jobs, jobs
from tests.pages.conftest import App


@pytest.fixture
def holder():
    return Holder(Jobs())


@pytest.fixture
def arrived(holder):
    """Makes sessions, each in a tab of its name."""

    def make(tab, browser="mine"):
        made = Session(uuid.uuid4().hex)
        holder.add(made, Visitor(browser, tab))
        return made

    return make


def nobody(tab):
    return False


def test_only_a_session_whose_tab_has_gone_is_taken_over_and_only_once(holder, arrived):
    first, second = arrived("one"), arrived("two")
    assert holder.take(Visitor("mine", "three"), {"one", "two"}.__contains__) is None
    assert holder.take(Visitor("mine", "three"), {"two"}.__contains__) is first
    assert not holder.shows(first, Visitor("mine", "one"))  # should it come back after all
    assert holder.shows(first, Visitor("mine", "three"))
    assert holder.take(Visitor("mine", "four"), {"two", "three"}.__contains__) is None
    assert holder.shows(second, Visitor("mine", "two"))


def test_the_one_left_last_comes_first(holder, arrived):
    states = {tab: arrived(tab) for tab in "abcd"}
    here = set("abcd")
    for now, gone in enumerate("cad"):
        here.discard(gone)
        holder.look(float(now), here.__contains__, 3600.0, 120.0, 2**40)
    here.discard("b")  # no look has missed it yet
    taken = [holder.take(Visitor("mine", f"new {i}"), lambda tab: tab.startswith("new")) for i in range(5)]
    assert taken == [states["b"], states["d"], states["a"], states["c"], None]


def test_a_tab_that_says_it_left_has_gone_even_if_the_server_has_not_noticed(holder, arrived):
    left, other = arrived("left"), arrived("other")
    mark = holder.mark(left)
    assert mark not in ("", holder.mark(other))
    everyone = {"left", "other", "new"}.__contains__
    assert holder.take(Visitor("a stranger's", "new", mark), everyone) is None
    assert holder.take(Visitor("mine", "new", mark), everyone) is left
    assert holder.take(Visitor("mine", "newer", mark), everyone) is None  # it said so once


def test_a_browser_opens_its_own_sessions_only(holder, arrived):
    mine, yours = arrived("one"), arrived("two", browser="yours")
    assert holder.knows("mine")
    assert not holder.knows("nobody's")
    assert holder.take(Visitor("nobody's", "three"), nobody) is None
    assert holder.take(Visitor("yours", "three"), nobody) is yours
    assert holder.forget("yours") == ["two", "three"]
    assert not holder.knows("yours")
    assert holder.take(Visitor("yours", "four"), nobody) is None
    assert holder.take(Visitor("mine", "four"), nobody) is mine


@pytest.fixture
def tabs(monkeypatch):
    """Opens tabs of one browser; ``close`` is for those that are to go."""
    mine, live, current = Holder(jobs()), set(), []
    monkeypatch.setattr(state, "holder", lambda: mine)
    monkeypatch.setattr("pages.ui.forget.holder", lambda: mine)
    monkeypatch.setattr("pages.ui.forget.departed.empty", list)
    monkeypatch.setattr(state, "tab_lives", live.__contains__)
    monkeypatch.setattr(browser, "visitor", lambda: Visitor("mine", current[0]))
    numbers = itertools.count()

    class Tab(App):
        def __init__(self):
            self.name = f"tab {next(numbers)}"
            live.add(self.name)
            self.come()
            super().__init__()
            self.go("guide")

        def come(self):
            current[:] = [self.name]
            return self

        def close(self):
            live.discard(self.name)

    yield Tab
    mine.forget("mine")


def test_after_a_refresh_widgets_show_what_they_showed_and_work_goes_on(tabs, busy):
    before = tabs().sample()
    before.session.change(epsilon="0.7")
    work.fit(before.session, "optimized").start()
    before.go("design")
    words = before.words
    before.close()
    after = tabs().go("design")
    assert after.session is before.session
    assert after.at.slider[0].value == 0.7
    assert after.has("button", "cancel")
    assert jobs().active(after.session.id)
    assert after.words == words
    after.press("undo")
    assert after.configuration.epsilon == "1"


def test_a_tab_that_was_taken_over_says_so_when_it_comes_back(tabs):
    before = tabs().sample()
    before.close()
    after = tabs()
    assert after.configuration.domain is not None
    before.come().at.run()
    assert before.session is not after.session
    assert before.configuration.domain is None
    assert "went on in another tab" in before.words
    assert after.come().go("design").configuration.domain is not None


def test_forget_everything_asks_then_forgets_in_all_tabs(tabs, busy):
    here, there, left = tabs().sample(), tabs().sample(), tabs().sample()
    held_sessions = [tab.session for tab in (here, there, left)]
    left.close()
    work.fit(there.session, "optimized").start()
    assert len({made.id for made in held_sessions}) == 3
    here.come().go("design")
    assert "cannot be undone" in here.words
    here.press("forget-confirmed")
    assert "Everything has been forgotten" in here.words
    assert "Data: not chosen" in here.words
    for made in held_sessions:
        assert made.design() is None
        assert not made.history.past
        assert not jobs().active(made.id)
    assert tabs().configuration.domain is None
    there.come().at.run()
    assert "has been forgotten" in there.words
    assert there.configuration.domain is None
    assert here.come().sample().configuration.domain is not None  # and on it goes
