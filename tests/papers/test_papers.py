"""Properties of every paper: keys, places, and that all texts of a panel can be shown."""

import re

import pytest

from ldp_core import papers
from ldp_core.papers import league, stored
from ldp_core.papers.__main__ import main
from ldp_core.papers.settings import FAMILIES

PANELS = [panel for paper in papers.PAPERS for panel in paper.panels]


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
