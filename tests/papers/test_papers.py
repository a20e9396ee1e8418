"""Properties of every paper: keys, places, and that all texts of a panel can be shown."""

import math

import pytest

from ldp_core import papers

PANELS = [panel for paper in papers.PAPERS for panel in paper.panels]


def test_keys_are_unique():
    assert len({panel.key for panel in PANELS}) == len(PANELS)
    assert len({paper.key for paper in papers.PAPERS}) == len(papers.PAPERS)
    for paper in papers.PAPERS:
        assert len({(panel.place, panel.title) for panel in paper.panels}) == len(paper.panels)


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.key)
def test_what_is_absent_is_named_with_its_reason(paper):
    assert paper.absent
    assert all(place and reason.endswith(".") for place, reason in paper.absent)
    assert not {place for place, _ in paper.absent} & {panel.place for panel in paper.panels}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.key)
def test_stored_results_are_small_and_whole(panel):
    if panel.stored is None:
        return
    frame = panel.stored()
    assert list(frame) == list(papers.COLUMNS)
    assert 0 < len(frame) <= 500
    assert frame["here"].notna().all()
    assert not frame.duplicated(["series", "x"]).any()


def test_agreement_in_words():
    nothing = papers.frame_of([("a", 1.0, 2.0, math.nan, math.nan)])
    assert "no numbers here to compare with" in papers.agreement(nothing)
    one = papers.frame_of([("a", 1.0, 2.0, math.nan, 3.0)])
    assert papers.agreement(one) == "The printed number is 1.5 times the one found here."
    several = papers.frame_of([("a", x, 2.0, math.nan, x) for x in (1.0, 2.0, 3.0)])
    assert "between 0.5 and 1.5, and 1 in the middle, times those found here (3 numbers)" in papers.agreement(several)
