"""Who gets which session: tabs of one browser that come, go and come back. In real browsers: tests/browser/test_survive_browser.py."""

import itertools
import uuid

import pytest

from pages.ui.session import browser, state
from pages.ui.session.browser import SessionStore, Visitor
from pages.ui.session.state import Session
from pages.ui.tasks import work
from tests.pages.conftest import App


@pytest.fixture
def store():
    return SessionStore()


@pytest.fixture
def seated(store):
    """Makes sessions, each in a tab of its name."""

    def make(tab, browser="mine"):
        made = Session(uuid.uuid4().hex)
        store.add(made, Visitor(browser, tab))
        return made

    return make


def nobody(tab):
    return False


def test_only_a_session_whose_tab_has_gone_is_taken_over_and_only_once(store, seated):
    first, second = seated("one"), seated("two")
    assert store.take(Visitor("mine", "three"), {"one", "two"}.__contains__) is None
    assert store.take(Visitor("mine", "three"), {"two"}.__contains__) is first
    assert not store.shows(first, Visitor("mine", "one"))  # should it come back after all
    assert store.shows(first, Visitor("mine", "three"))
    assert store.take(Visitor("mine", "four"), {"two", "three"}.__contains__) is None
    assert store.shows(second, Visitor("mine", "two"))


def test_the_one_left_last_comes_first(store, seated):
    states = {tab: seated(tab) for tab in "abcd"}
    here = set("abcd")
    for now, gone in enumerate("cad"):
        here.discard(gone)
        store.look(float(now), here.__contains__, 3600.0, 120.0, 2**40)
    here.discard("b")  # no look has missed it yet
    taken = [store.take(Visitor("mine", f"new {i}"), lambda tab: tab.startswith("new")) for i in range(5)]
    assert taken == [states["b"], states["d"], states["a"], states["c"], None]


def test_what_was_begun_comes_before_a_tab_that_was_only_opened(store, seated):
    """Somebody whose connection ended without a word, and who refreshes before the server has missed them, and once more after."""
    lost = seated("lost")
    lost.change(epsilon="0.7")
    assert store.take(Visitor("mine", "refreshed"), {"lost", "refreshed"}.__contains__) is None
    empty = seated("refreshed")
    store.look(0.0, nobody, 3600.0, 120.0, 2**40)
    assert store.take(Visitor("mine", "again"), {"again"}.__contains__) is lost
    assert store.take(Visitor("mine", "beside"), {"again", "beside"}.__contains__) is empty


def test_a_browser_opens_its_own_sessions_only(store, seated):
    mine, yours = seated("one"), seated("two", browser="yours")
    assert store.knows("mine")
    assert not store.knows("nobody's")
    assert store.take(Visitor("nobody's", "three"), nobody) is None
    assert store.take(Visitor("yours", "three"), nobody) is yours
    assert store.forget("yours") == ["two", "three"]
    assert not store.knows("yours")
    assert store.take(Visitor("yours", "four"), nobody) is None
    assert store.take(Visitor("mine", "four"), nobody) is mine


@pytest.fixture
def tabs(monkeypatch):
    """Opens tabs of one browser; ``close`` is for those that are to go."""
    mine, live, current = SessionStore(), set(), []
    monkeypatch.setattr(state, "session_store", lambda: mine)
    monkeypatch.setattr("pages.ui.file_menu.session_store", lambda: mine)
    monkeypatch.setattr("pages.ui.file_menu.tab_storage.free", list)
    monkeypatch.setattr(state.tab_storage, "is_open", live.__contains__)
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
    assert after.working
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
        assert not made.setting.has_domain
        assert not made.history.past
        assert not made.works
    assert tabs().configuration.domain is None
    there.come().at.run()
    assert "has been forgotten" in there.words
    assert there.configuration.domain is None
    assert here.come().sample().configuration.domain is not None  # and on it goes
