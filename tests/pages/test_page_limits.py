"""What was fitted stays, every page survives what is missing, and limits are known before a button is pressed."""

from weakref import WeakSet

import pytest

from ldp_core import limits
from ldp_core.designs import results as kept
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.results import Results
from ldp_core.optimize.columns.generation import rows_held

PAGES = (
    "data",
    "workload",
    "design",
    "compare",
    "bounds",
    "simulate",
    "export",
    "collect",
    "guide",
    "papers",
)


def chosen(app, name="optimized"):
    return app.enter("selectbox", "mechanism", name)


@pytest.fixture
def brief(ages):
    """Fits end after a few rounds: how good they are is of no interest here."""
    ages.session.change(optimizer=Optimizer(max_rounds=20))
    return chosen(ages.go("design"))


@pytest.fixture
def fitted(brief):
    return brief.press("optimise").finish()


def only(monkeypatch, most, *apps):
    """A server of so many bytes, on which there is nobody but these."""
    monkeypatch.setattr(kept, "MOST_SERVER_BYTES", most)
    monkeypatch.setattr(Results, "_all", WeakSet(app.session.results for app in apps))
    monkeypatch.setattr(Results, "beside", 0)


def test_what_is_dear_goes_last(monkeypatch):
    only(monkeypatch, 100)
    results = Results()
    results.put("fit", "fit", 60, expensive=True)
    results.put("picture", "picture", 30)
    results.put("proof", "proof", 30, expensive=True)
    assert [results.get(name) for name in ("fit", "picture", "proof")] == ["fit", None, "proof"]
    results.put("another picture", "another", 90)  # of no use without what it shows
    results.put("a third", "third", 90)
    assert [results.get(name) for name in ("fit", "proof", "another picture", "a third")] == [
        "fit",
        "proof",
        None,
        "third",
    ]
    assert results.room(10)
    assert not results.room(11)
    results.put("another fit", "another fit", 60, expensive=True)  # the fit was used longest ago, and now the proof
    assert [results.get(name) for name in ("fit", "proof", "another fit")] == [None, "proof", "another fit"]


def test_pictures_do_not_push_out_what_they_show(fitted, monkeypatch):
    """Hours of work went like this: the picture of a strategy weighs more than there was left."""
    held = (
        fitted.session.setting.fitted("optimized").mechanism.bytes_held
        + fitted.session.setting.proof("worst_case").size
    )
    only(monkeypatch, held + 1000, fitted)
    for page in ("design", "compare", "bounds", "design", "start", "design"):
        fitted.go(page)
    assert fitted.session.setting.fitted("optimized") is not None
    assert fitted.session.setting.proof("worst_case") is not None
    assert "People needed" in fitted.words


def dear(session):
    """The keys and bytes of its fits and proofs."""
    return {key: held.size for key, held in session.results._items.items() if held.expensive}


def test_sessions_share_one_limit_and_what_was_used_longest_ago_comes_back(fitted, another, monkeypatch):
    def fit():
        other = chosen(another().sample(page="design"))
        other.session.change(optimizer=Optimizer(max_rounds=20))
        return other.press("optimise").finish()

    needed, before = fitted.metric("People needed"), dear(fitted.session)
    second = fit()
    for left in (fitted, second):
        left.session.results.show(False)  # their tabs are gone
    held = dear(second.session)
    only(monkeypatch, int(2.5 * sum(held.values())), fitted, second)
    third = fit()
    assert before.keys() - dear(fitted.session).keys()
    assert dear(second.session) == held
    assert dear(third.session) == held
    every = [one for app in (fitted, second, third) for one in app.session.results._items.values() if one.size]
    assert sum(one.size for one in every) - every[-1].size <= kept.MOST_SERVER_BYTES  # the last is the newest
    monkeypatch.setattr(kept, "MOST_SERVER_BYTES", limits.MOST_SERVER_BYTES)
    fitted.go("design")
    again = fitted.press("optimise").finish() if fitted.has("button", "optimise") else fitted.finish()
    assert again.metric("People needed") == needed
    assert again.session.setting.fitted("optimized") is not None


def test_what_another_session_has_on_screen_stays_and_more_is_refused(monkeypatch):
    only(monkeypatch, 100)
    mine, other = Results(), Results()
    other.show()
    other.put("on another screen", 1, 60, expensive=True)
    mine.put("my last one", 2, 40, expensive=True)
    assert "others have on screen leave no room" in mine.refused(50)
    assert not mine.refused(40)
    assert "too large to keep" in other.refused(101)
    mine.put("my next one", 3, 40, expensive=True)
    assert (other._items["on another screen"].value, mine.get("my last one")) == (1, None)
    other.show(False)  # the tab has gone
    assert not mine.refused(100)
    mine.put("the largest", 4, 100, expensive=True)
    assert (other.get("on another screen"), mine.get("the largest")) == (None, 4)


def test_tables_on_no_screen_take_room_from_results(monkeypatch):
    only(monkeypatch, 100)
    results = Results()
    results.put("earlier", 1, 40, expensive=True)
    results.put("later", 2, 40, expensive=True)
    Results.make_room(beside=30)
    assert (results.get("earlier"), results.get("later")) == (None, 2)


@pytest.mark.parametrize("lost", [("fitted:",), ("",)])
def test_every_page_survives_what_is_missing(fitted, lost):
    for page in PAGES:
        results = fitted.session.results
        with kept._LOCK:  # what the page before has begun may still add to them
            for key in [key for key in results._items if key.startswith(lost)]:
                del results._items[key]
        fitted.go(page)
        assert "Current design" in fitted.words


def test_one_limit_is_known_on_every_page(app, lower):
    """25 types where 16 are the most."""
    lower(MOST_FITTED_TYPES=16)
    app.sample(page="design")
    chosen(app)
    assert "at most 16 are" in app.errors[0]
    assert "a tree or Haar for running totals" in app.errors[0]
    assert app.at.button(key="optimise").disabled
    app.go("data")
    assert "25 types (25) are more than the 16 that" in app.words
    app.go("compare")
    app.session.change(compared=("subset_selection", "optimized", "optimized_gradient"))
    app.at.run()
    assert not app.has("button", "optimise")
    assert "at most 16 are" in app.words


def test_fewer_rows_for_more_types_fit_what_is_kept():
    """The largest fit, with the rows found in its last round, and its proof."""
    for n in (512, 1024, 1800, 2048):
        assert 3 * 8 * n * (rows_held(n) + n) + 2 * 8 * n**2 <= limits.MOST_SERVER_BYTES
