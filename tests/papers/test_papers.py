"""Properties of every paper: keys, places, and that all texts of a panel can be shown."""

import math
import re

import pytest

from ldp_core import papers
from ldp_core.papers import league, stored
from ldp_core.papers.__main__ import main
from ldp_core.papers.settings import FAMILIES

PANELS = [panel for paper in papers.PAPERS for panel in paper.panels]


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.key)
def test_what_is_absent_is_named_with_its_reason(paper):
    assert paper.absent
    assert all(place and reason.endswith(".") for place, reason in paper.absent)
    assert not {place for place, _ in paper.absent} & {panel.place for panel in paper.panels}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.key)
def test_stored_results_are_small_and_whole(panel):
    if not panel.seconds:
        return
    frame = panel.frame()
    assert list(frame) == list(papers.COLUMNS)
    assert 0 < len(frame) <= 500
    assert frame["here"].notna().all()
    assert not frame.duplicated(["series", "x"]).any()


def test_every_file_that_is_stored_is_shown():
    stale = {panel.key for panel in PANELS if not panel.seconds}
    kept = {file.stem for file in stored.FOLDER.glob("*.csv")}
    assert not kept & stale
    assert kept == {panel.key for panel in PANELS} - stale | {"cormode_printed", league.KEY}


@pytest.mark.parametrize(
    ("name", "margin"),
    # Simulated, exact, and fitted in a set number of rounds: how far other processors may be off.
    [("bassily-theorem-4-2", 1e-3), ("cormode-figure-4-20-1", 1e-6), ("mckenna-program", 0.02)],
)
def test_what_is_stored_is_made_again(name, margin, monkeypatch, tmp_path):
    kept = stored.read(name)
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    main(["make", name])
    made = stored.read(name)
    assert made[["series", "x"]].to_numpy().tolist() == kept[["series", "x"]].to_numpy().tolist()
    assert made["here"].to_numpy() == pytest.approx(kept["here"].to_numpy(), rel=margin)


@pytest.mark.parametrize("panel", [panel for panel in PANELS if panel.design], ids=lambda panel: panel.key)
def test_settings_open_as_designs(panel):
    configuration = panel.design()
    workload = configuration.workload.build(configuration.domain)
    assert workload.n == configuration.domain.size
    users = configuration.population.users
    assert not re.search(r"[\d,]+ users drawn", panel.setting) or f"{users:,} users" in panel.setting
    title = next((family for family in FAMILIES if family.title == panel.title), None)
    assert title is None or workload.kind == title.on(workload.n).kind


def test_agreement_in_words():
    nothing = papers.frame_of([("a", 1.0, 2.0, math.nan, math.nan)])
    assert "no numbers here to compare with" in papers.agreement(nothing)
    one = papers.frame_of([("a", 1.0, 2.0, math.nan, 3.0)])
    assert papers.agreement(one) == "The printed number is 1.5 times the one found here."
    several = papers.frame_of([("a", x, 2.0, math.nan, x) for x in (1.0, 2.0, 3.0)])
    assert "between 0.5 and 1.5, and 1 in the middle, times those found here (3 numbers)" in papers.agreement(several)
