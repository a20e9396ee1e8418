"""What sessions hold on to, and when they let go."""

import gc
import threading

import streamlit as st

from ldp_core import limits
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import DeclaredData
from pages.ui import promises
from pages.ui.data import actions as data_actions
from pages.ui.later import Task
from pages.ui.session.browser import SessionStore, Visitor
from pages.ui.session.state import Session
from tests.pages.conftest import plain

KEPT, RETURNS = 3600.0, 120.0
ROOM = 2**40
GONE = 1000.0  # when it is first missed: long after it was last seen, because a look came late


def nobody(tab):
    return False


def seated(store, name, browser="a browser"):
    state = Session(name)
    store.add(state, Visitor(browser, f"tab of {name}"))
    return state


def touched(state):
    state.change(epsilon="2")
    return state


def test_sessions_without_a_tab_keep_their_work_for_the_hour_then_lose_everything():
    go, here = threading.Event(), {"tab of me", "tab of you"}
    store = SessionStore()
    state, stays = seated(store, "me"), seated(store, "you")
    data_actions.upload(state, b"age\n1\n2\n3\n", "people.csv")
    first, results = state.source, state.results  # as callbacks of Streamlit's may for long
    data_actions.upload(state, b"age\n1\n2\n", "fewer.csv")
    later = state.source
    touched(state)  # and a step to undo
    state.results.put("counts", state.setting.counts)
    work = Task(state, "key", "", lambda work: go.wait()).start()
    other = Task(stays, "key", "", lambda work: go.wait()).start()

    def look(now):
        return store.look(now, here.__contains__, KEPT, RETURNS, ROOM)

    assert not look(0.0)
    here.discard("tab of me")
    assert not look(GONE)
    assert not look(GONE + RETURNS + 1)
    assert not look(GONE + KEPT)
    assert state.source is later  # who comes back finds everything
    assert len(first.table) == 3
    assert work.active
    assert not work.cancelled()
    assert look(GONE + KEPT + 0.1)
    assert work.cancelled()
    assert not state.works
    assert not store.holds(state)
    for source in (first, later):
        assert not len(source.table)
        assert not source.file.content
    assert not state.setting.has_domain
    results.put("late", 1)  # by work that ends after that
    assert results.get("counts") is results.get("late") is None
    assert not look(GONE + KEPT + 10)
    assert stays.works["key"] is other
    assert not other.cancelled()
    go.set()


def test_who_comes_back_in_time_is_counted_anew():
    store, here = SessionStore(), set()
    state = touched(seated(store, "back"))
    store.look(0.0, here.__contains__, KEPT, RETURNS, ROOM)
    store.look(KEPT, {"tab of back"}.__contains__, KEPT, RETURNS, ROOM)
    assert not store.look(2 * KEPT, here.__contains__, KEPT, RETURNS, ROOM)
    assert store.holds(state)


def test_where_nothing_was_done_nothing_is_held():
    store = SessionStore()
    idle, busy, unfinished = seated(store, "idle"), touched(seated(store, "busy")), seated(store, "unfinished")
    unfinished.set_data(DeclaredData(recipes=(CategoricalRecipe(column="kind"),)), None)
    store.look(0.0, nobody, KEPT, RETURNS, ROOM)
    assert store.look(RETURNS + 1, nobody, KEPT, RETURNS, ROOM)
    assert [store.holds(state) for state in (idle, busy, unfinished)] == [False, True, True]


def test_beyond_the_room_there_is_who_left_first_is_forgotten_first():
    store, here = SessionStore(), {f"tab of {i}" for i in range(4)}
    states = [seated(store, str(i)) for i in range(4)]
    for i, state in enumerate(states):
        data_actions.upload(state, b"age\n" + b"1\n2\n" * 500, f"{i}.csv")
    size = states[0].source.size
    assert [state.weight(shown=False) for state in states] == [size] * 4
    for now, gone in enumerate([2, 0, 1]):  # the last one stays, and what it shows is no matter of room
        here.discard(f"tab of {gone}")
        assert not store.look(float(now), here.__contains__, KEPT, RETURNS, ROOM)
    assert store.look(3.0, here.__contains__, KEPT, RETURNS, 2 * size)
    assert [store.holds(state) for state in states] == [True, True, False, True]
    assert not store.look(4.0, here.__contains__, KEPT, RETURNS, 2 * size)
    assert store.look(5.0, here.__contains__, KEPT, RETURNS, 0)
    assert [store.holds(state) for state in states] == [False, False, False, True]


def test_where_nobody_has_left_earlier_tables_go_and_that_is_said():
    store = SessionStore()
    few, many = seated(store, "few"), seated(store, "many")
    for state, uploads in ((few, 2), (many, 3)):
        for i in range(uploads):
            data_actions.upload(state, b"age\n" + b"1\n2\n" * (500 + i), f"{i}.csv")
    assert store.look(0.0, lambda tab: True, KEPT, RETURNS, few.weight(shown=True))
    assert (bool(few.history.past), many.history.past) == (True, [])
    assert len(many.source.table) == 1004
    assert "earlier steps can no longer be undone" in many.notices[-1][1]
    gc.collect()
    assert not store.look(1.0, lambda tab: True, KEPT, RETURNS, few.weight(shown=True))


def test_the_moment_of_forgetting_follows_from_the_settings(app, monkeypatch):
    """How long it takes a server is seen in tests/browser/test_server_keeps_nothing.py."""
    for held_for, returns, every, told, hour in [
        (3600, 120, 10, "at most 62 minutes", "for 60 minutes"),
        (0, 1, 10, "at most 2 minutes", "for less than a minute,"),
    ]:
        monkeypatch.setenv("LDP_HELD_SECONDS", str(held_for))
        monkeypatch.setattr(promises, "EVERY", float(every))
        monkeypatch.setattr(promises, "returns_within", lambda returns=returns: float(returns))
        store = SessionStore()
        state = touched(seated(store, "leaving"))

        def look(now, lives, store=store):
            return store.look(now, lives, promises.kept_for(), promises.returns_within(), ROOM)

        # The worst there is: it goes just after a look that saw it, and time runs out just after another.
        look(0.0, lambda tab: True)
        freed = next(now for now in range(every, 10_000, every) if look(float(now), nobody))
        assert held_for < freed <= 60 * promises.kept_minutes()
        assert not store.holds(state)
        sentence = promises.forgetting()
        assert told in sentence
        assert hour in promises.holding()
        app.go("guide")
        assert sentence in app.words
        assert promises.holding() in app.words
        app.go("data")
        app.enter("segmented_control", "data-source", "upload")
        (box,) = [u for u in app.at.file_uploader if u.key.startswith("upload-")]
        assert sentence in plain(box.help)


def test_the_settings_are_those_of_the_server(monkeypatch):
    monkeypatch.delenv("LDP_HELD_SECONDS", raising=False)
    assert promises.returns_within() == st.config.get_option("server.disconnectedSessionTTL") == 120
    assert promises.held_for() == promises.kept_for() == 3600
    assert f"{limits.MOST_SERVER_BYTES / 2**30} GB" in promises.holding()
