"""The Papers page: every panel shows, long ones are jobs that can be cancelled, settings open as designs."""

from functools import partial

import pytest

from ldp_core import papers
from ldp_core.papers import Panel, frame_of, mckenna_fits
from ldp_core.papers.settings import FAMILIES
from pages.ui.papers import gallery
from pages.ui.tasks.jobs import jobs

PANELS = [(paper, panel) for paper in papers.PAPERS for panel in paper.panels]
LONG = "mckenna-figure-3b-ratio"
NOTHING = float("nan")


def find(key):
    return next(pair for pair in PANELS if pair[1].key == key)


def show(app, key):
    """Go to a panel as a visitor does, by its paper, its place and its title."""
    paper, _ = find(key)
    app.go("papers").enter("segmented_control", "papers-paper", paper.key)
    return turn(app, key)


def turn(app, key):
    """To another panel of the paper on screen."""
    paper, panel = find(key)
    for choice, wanted in ((f"papers-place-{paper.key}", panel.place), (f"papers-panel-{panel.place}", panel.key)):
        if app.has("pills", choice) and app.at.pills(key=choice).value != wanted:
            app.enter("pills", choice, wanted)
    assert f"{panel.place}: {panel.title}." in app.words
    return app


def chart(app):
    """Numbers by series."""
    return {trace["name"]: trace["y"] for trace in app.charts[0]["data"]}


def test_the_page_opens_with_a_picture(app):
    app.go("papers")
    assert len(app.charts) == 1
    assert "Optimised (gradient)" in chart(app)
    assert "no numbers here to compare with" in app.words
    assert "stored results of the same calculation" in app.words


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.key)
def test_every_panel_shows(app, paper):
    show(app, paper.panels[0].key)
    for panel in paper.panels:
        check(turn(app, panel.key), panel)


def check(app, panel):
    """Everything that this panel is to show is on screen."""
    assert panel.setting in app.words
    assert app.has("button", "papers-open") == (panel.design is not None)
    assert app.has("button", "papers-compute") == (panel.seconds > gallery.AT_ONCE)
    if panel.seconds > gallery.AT_ONCE and panel.stored is None:
        assert "not worked out unasked" in app.words
        assert not app.charts
        return
    frame = gallery._known(panel.key)
    assert panel.remark in app.words
    assert papers.agreement(frame) in app.words
    (table,) = app.dataframes
    assert len(table) == len(frame)
    assert ("Printed / here" in table) == frame["printed"].notna().any()
    assert ("Standard error" in table) == frame["standard_error"].notna().any()


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.key)
def test_what_is_not_here_is_said(app, paper):
    app.go("papers").enter("segmented_control", "papers-paper", paper.key)
    assert paper.title in app.words
    for place, reason in paper.absent:
        assert f"{place}**: {reason}" in app.words


def test_choices_stay_when_pages_are_turned(app):
    show(app, "mckenna-figure-2-parity").go("guide").go("papers")
    assert "Figure 2: Parity." in app.words
    app.enter("segmented_control", "papers-paper", "lopuhaa").enter("segmented_control", "papers-paper", "mckenna")
    assert "Figure 2: Parity." in app.words


def test_a_second_click_on_a_choice_keeps_it(app):
    show(app, "lopuhaa-table-1").enter("pills", "papers-place-lopuhaa", None)
    assert "Table I: " in app.words


@pytest.fixture
def swapped(monkeypatch):
    """Gives the panel `LONG` another calculation and other stored results."""

    def swap(compute, stored):
        _, old = find(LONG)
        others = tuple(_with(paper, old, compute, stored) for paper in papers.PAPERS)
        monkeypatch.setattr(gallery.papers, "PAPERS", others)
        gallery._known.clear()

    yield swap
    gallery._known.clear()


def endless(callback, cancel):
    """Ends only when it is cancelled, after its first point."""
    while not cancel():
        pass
    return frame_of([("Prefix", 0.5, 123.0, NOTHING, NOTHING)])


def _with(paper, old, compute, stored):
    """The paper with another calculation in the place of one of its panels."""
    fields = {**vars(old), "compute": compute, "stored": stored}
    panels = [Panel(**fields) if panel is old else panel for panel in paper.panels]
    return type(paper)(**{**vars(paper), "panels": panels})


def cancelled(app):
    app.press("papers-compute")
    assert app.has("button", "papers-cancel")
    assert not app.has("button", "papers-compute")
    app.press("papers-cancel")
    return app.finish()


def test_a_long_panel_is_a_job_that_can_be_cancelled(app, swapped):
    stored = frame_of([("Prefix", 0.5, 1.25, NOTHING, NOTHING)])
    swapped(endless, lambda: stored)
    cancelled(show(app, LONG))
    assert not jobs().active(app.session.id)
    assert chart(app)["Prefix"] == [1.25]
    assert "stored results" in app.words
    assert app.has("button", "papers-compute")


def test_what_was_finished_before_cancelling_is_shown_where_there_is_nothing_else(app, swapped):
    swapped(endless, None)
    cancelled(show(app, LONG))
    assert chart(app)["Prefix"] == [123.0]
    assert "It was cancelled: these are the points finished by then." in app.words


def test_working_out_again_replaces_what_is_stored(app, swapped):
    _, panel = find(LONG)
    kept = panel.stored()
    swapped(partial(mckenna_fits.worst_over_average, families=FAMILIES[:1]), lambda: kept)
    show(app, LONG).press("papers-compute").finish()
    assert "Worked out just now." in app.words
    assert list(chart(app)) == ["Histogram"]
    assert chart(app)["Histogram"] == pytest.approx(list(kept[kept["series"] == "Histogram"]["here"]), rel=0.01)


def test_a_failure_is_told_in_words(app, swapped):
    def failing(callback, cancel):
        raise ValueError("There is no more *room* here.")

    swapped(failing, None)
    show(app, LONG).press("papers-compute").finish()
    assert "There is no more *room* here." in app.errors


def test_a_setting_opens_as_a_design_and_undo_takes_it_back(ages):
    before = ages.configuration
    show(ages, "mckenna-example-5.5").press("papers-open")
    assert ages.at.title[0].value == "Design"
    assert ages.configuration.domain.size == 32
    assert ages.configuration.mechanism.name == "randomized_response"
    ages.press("undo")
    assert ages.configuration == before
