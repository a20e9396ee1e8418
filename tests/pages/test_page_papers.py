"""The Papers page: every panel shows and says where its numbers come from, settings open as designs."""

import pytest

from ldp_core import papers
from pages.ui.papers import gallery

PANELS = [(paper, panel) for paper in papers.PAPERS for panel in paper.panels]


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
        if app.has("segmented_control", choice) and app.control("segmented_control", choice).value != wanted:
            app.enter("segmented_control", choice, wanted)
    assert f"{panel.place}: {panel.title}" in app.words
    return app


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.key)
def test_every_panel_shows(app, paper):
    show(app, paper.panels[0].key)
    for panel in paper.panels:
        check(turn(app, panel.key), panel)


def check(app, panel):
    """Everything that this panel is to show is on screen."""
    assert panel.setting in app.words
    assert app.has("button", "papers-open") == (panel.design is not None)
    frame = gallery._points(panel.key)
    assert ("Worked out on this page." in app.words) == (panel.seconds == 0)
    assert (f"python -m ldp_core.papers make {panel.key}" in app.words) == (panel.seconds > 0)
    assert panel.remark in app.words
    assert papers.agreement(frame) in app.words
    (table,) = app.dataframes
    assert len(table) == len(frame)
    assert ("Printed / here" in table) == frame["printed"].notna().any()
    assert ("Standard error" in table) == frame["standard_error"].notna().any()


@pytest.mark.promise
def test_a_setting_opens_as_a_design_and_undo_takes_it_back(ages):
    before = ages.configuration
    show(ages, "lopuhaa-proposition-4.6").press("papers-open")
    assert ages.at.title[0].value == "Design"
    assert ages.configuration.domain.size == 2
    assert ages.configuration.mechanism.name == "randomized_response"
    ages.press("undo")
    assert ages.configuration == before
