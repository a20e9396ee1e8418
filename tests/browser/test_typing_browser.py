"""What somebody types while the page is drawn anew by work in the background: it stands, and it is what counts."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_tray_browser import design

LATE = """(milliseconds) => {
    const listen = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (kind, heard, ...rest) {
        const late = kind === "message" ? (said) => setTimeout(() => heard(said), milliseconds) : heard;
        listen.call(this, kind, late, ...rest);
    };
}"""
"""Whatever the server says arrives late, in its order."""


def epsilon(visitor):
    """The line of the sidebar that says which epsilon counts."""
    return visitor.page.get_by_test_id("stSidebar").get_by_text("Epsilon: ").first


def test_what_is_typed_while_the_page_is_drawn_anew_stands_and_counts(guest):
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
    expect(visitor.page.locator(".st-key-tray").get_by_text("Fitting Optimized").first).to_be_visible()
    visitor.enter("epsilon-text", "2")
    stands(visitor, "2")
    visitor.page.get_by_test_id("stSidebar").get_by_role("button", name="Undo").click()
    stands(visitor, "1")
    # What is on offer may be gone when the page that offers it arrives.
    visitor.problems = [said for said in visitor.problems if "404" not in said]


def stands(visitor, value):
    """Epsilon is this, and stays it while clocks strike."""
    for _ in range(2):
        expect(epsilon(visitor)).to_have_text(f"Epsilon: {value}")
        expect(visitor.entry("epsilon-text")).to_have_value(value)
        visitor.page.wait_for_timeout(5000)
    expect(epsilon(visitor)).to_have_text(f"Epsilon: {value}")
    expect(visitor.entry("epsilon-text")).to_have_value(value)
