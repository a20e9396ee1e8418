"""The tray in a real browser: long work is seen, outlives a change of the design, and is stopped as an earlier design's."""

import pytest
from playwright.sync_api import expect

from ldp_core.data.domain import Domain
from ldp_core.data.tables import declare_range
from ldp_core.designs import Configuration, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart


def design(**optimizer):
    """Running totals along 256 bins, whose search takes many seconds, as a file."""
    made = Configuration(
        domain=Domain(attributes=(declare_range("x", 0, 256, 256),)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="x"),)),
        population=Population(users=10_000, origin="declared", shape="uniform"),
        optimizer=Optimizer(**optimizer),
    )
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": made.to_json()}


@pytest.mark.slow  # what the page does is tested in pages/test_page_tray.py
def test_work_for_a_design_that_was_left_is_stopped_in_the_tray(visit):
    visitor = visit()
    visitor.load(design(), "The design was loaded.")
    visitor.go("Design")
    visitor.button("optimise").click()
    tray = visitor.page.locator(".st-key-tray")
    expect(tray.get_by_text("Fitting Optimized (column generation)").first).to_be_visible()
    expect(tray.get_by_text("left").first).to_be_visible()
    visitor.enter("epsilon-text", "2")
    expect(tray.get_by_text("for epsilon 1:").first).to_be_visible()
    tray.get_by_role("button", name="for earlier designs").click()
    expect(tray.get_by_role("button", name="for earlier designs")).to_have_count(0)
    expect(tray.get_by_text("stopping").first.or_(visitor.button("optimise")).first).to_be_visible()


def test_the_line_of_finished_work_reads_whole(guest):
    guest.load(design(time_limit=1.0), "The design was loaded.")
    guest.go("Design")
    guest.button("optimise").click()
    line = guest.page.locator("[class*=st-key-tray] a").filter(has_text="Fitting Optimized (column generation)")
    expect(line).to_contain_text("done, see Design")
    expect(line).to_be_visible()
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth && one.clientWidth > 0).map(one => one.outerHTML)"
    assert not line.locator("css=:scope, :scope *").evaluate_all(cut)
