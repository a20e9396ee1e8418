"""The league on Compare: stored at first, worked out again on request, and stopped like any long work."""

import pytest

from ldp_core.papers import league
from pages.ui.say import plain

FOLD = "league-fold"


@pytest.fixture
def opened(app):
    return app.declare(bins=8).go("compare").unfold(FOLD)


def shown(app):
    (found,) = [table.value for table in app.at.table if "Histogram, 0.5" in table.value]
    return found


def test_the_stored_table_shows_at_once(opened):
    told = league.table(league.read())
    assert shown(opened).to_numpy().tolist() == told.map(plain).to_numpy().tolist()
    assert league.MEANING in opened.words
    assert "stored results of the same calculation" in opened.words


def test_it_is_worked_out_again(opened, monkeypatch):
    whole = league.compute
    monkeypatch.setattr(
        league, "compute", lambda callback, cancel: whole(callback, cancel, ["subset_selection", "randomized_response"])
    )
    opened.press("league-compute").finish().unfold(FOLD)
    assert "Worked out just now." in opened.words
    assert list(shown(opened)["Mechanism"]) == ["Subset selection", "Randomized response"]
