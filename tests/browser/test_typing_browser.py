"""Long work in a real browser: what somebody types while it draws the page anew stands, and is what counts; its line in the job list reads
whole, it outlives a change of the design, and is stopped as an earlier design's."""

import pytest
from playwright.sync_api import expect

from ldp_core.data.domain import Domain
from ldp_core.data.tables import declare_range
from ldp_core.designs import Configuration, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart

pytestmark = pytest.mark.slow
"""They walk the pages as they were before these became eight; run on request until they follow."""

LATE = """(milliseconds) => {
    const listen = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (kind, heard, ...rest) {
        const late = kind === "message" ? (said) => setTimeout(() => heard(said), milliseconds) : heard;
        listen.call(this, kind, late, ...rest);
    };
}"""
"""Whatever the server says arrives late, in its order."""
CUT = "all => all.filter(one => one.scrollWidth > one.clientWidth && one.clientWidth > 0).map(one => one.outerHTML)"


def design(**optimizer):
    """Running totals along 256 bins, whose search takes many seconds, as a file."""
    made = Configuration(
        domain=Domain(attributes=(declare_range("x", 0, 256, 256),)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="x"),)),
        population=Population(users=10_000, origin="declared", shape="uniform"),
        optimizer=Optimizer(**optimizer),
    )
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": made.to_json()}


def epsilon(visitor):
    """The line of the sidebar that says which epsilon counts."""
    return visitor.page.get_by_test_id("stSidebar").get_by_text("Epsilon: ").first


def test_what_is_typed_while_work_ends_stands_and_counts_and_its_line_reads_whole(guest):
    guest.load(design(time_limit=2.0), "The design was loaded.")
    guest.go("Design")
    guest.drawn()
    guest.button("optimise").click()  # what loading had to say goes; later the result comes
    entry, typed = guest.entry("epsilon-text"), "1."
    place = entry.element_handle()
    entry.click()
    entry.press("Control+a")
    guest.page.keyboard.type(typed)
    gap = guest.page.get_by_test_id("stSidebar").get_by_text("Gap to the best: at most")
    while not gap.count() or len(typed) < 8:
        guest.page.keyboard.type("25"[len(typed) % 2], delay=300)
        typed += "25"[len(typed) % 2]
        expect(entry).to_have_value(typed)
    line = guest.page.locator("[class*=st-key-jobs] a").filter(has_text="Fitting Optimized (column generation)")
    expect(line).to_contain_text("done, see Design")
    expect(line).to_be_visible()
    assert not line.locator("css=:scope, :scope *").evaluate_all(CUT)
    assert place.evaluate("entry => entry === document.activeElement")
    entry.press("Enter")
    expect(epsilon(guest)).to_have_text(f"Epsilon: {typed}")
    guest.drawn()
    expect(entry).to_have_value(typed)
    assert place.evaluate("entry => entry === document.activeElement")


@pytest.mark.slow  # pages/test_page_pressed_meanwhile.py has the same without a browser
def test_what_is_typed_or_undone_counts_over_a_slow_connection(visit):
    """Clocks of the page go on telling what its controls showed before the page, drawn anew, has arrived."""
    visitor = visit()
    visitor.load(design(), "The design was loaded.")
    visitor.page.add_init_script(f"({LATE})(2000)")
    visitor.page.reload()
    visitor.go("Design")
    visitor.drawn()
    visitor.button("optimise").click()  # there is something to follow from here on
    expect(visitor.page.locator(".st-key-jobs").get_by_text("Fitting Optimized").first).to_be_visible()
    visitor.enter("epsilon-text", "2")
    stands(visitor, "2")
    visitor.page.get_by_test_id("stSidebar").get_by_role("button", name="Undo").click()
    stands(visitor, "1")
    # What is on offer may be gone when the page that offers it arrives.
    visitor.problems = [said for said in visitor.problems if "404" not in said]


@pytest.mark.slow  # pages/test_page_pressed_meanwhile.py has the same without a browser
def test_two_choices_count_over_a_slow_connection(visit):
    """The slider has not followed what was typed when something else is chosen."""
    visitor = visit()
    visitor.page.add_init_script(f"({LATE})(2000)")
    visitor.load(design(), "The design was loaded.")
    visitor.go("Design")
    visitor.enter("epsilon-text", "2")
    stands(visitor, "2")
    entry, reports = visitor.entry("epsilon-text"), visitor.entry("reports")
    entry.fill("0.5")
    entry.press("Enter")
    visitor.page.wait_for_timeout(500)  # it is being drawn
    reports.fill("3")
    reports.press("Enter")
    expect(visitor.page.get_by_text("3 reports of 0.5 each").first).to_be_visible()
    stands(visitor, "0.5")
    expect(reports).to_have_value("3")


def stands(visitor, value):
    """Epsilon is this, and stays it while clocks strike."""
    for _ in range(2):
        expect(epsilon(visitor)).to_have_text(f"Epsilon: {value}")
        expect(visitor.entry("epsilon-text")).to_have_value(value)
        visitor.page.wait_for_timeout(5000)
    expect(epsilon(visitor)).to_have_text(f"Epsilon: {value}")
    expect(visitor.entry("epsilon-text")).to_have_value(value)


@pytest.mark.slow  # what the page does is tested in pages/test_page_tray.py
def test_work_for_a_design_that_was_left_is_stopped_in_the_tray(visit):
    visitor = visit()
    visitor.load(design(), "The design was loaded.")
    visitor.go("Design")
    visitor.button("optimise").click()
    job_list = visitor.page.locator(".st-key-jobs")
    expect(job_list.get_by_text("Fitting Optimized (column generation)").first).to_be_visible()
    expect(job_list.get_by_text("left").first).to_be_visible()
    visitor.enter("epsilon-text", "2")
    expect(job_list.get_by_text("for epsilon 1:").first).to_be_visible()
    job_list.get_by_role("button", name="for earlier designs").click()
    expect(job_list.get_by_role("button", name="for earlier designs")).to_have_count(0)
    expect(job_list.get_by_text("stopping").first.or_(visitor.button("optimise")).first).to_be_visible()
