"""Bad entries as a person types them, and files as a person picks them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import hand

ENTRIES = {"0": "too small", "1,5": "write 1.5 with a point"}
"""More of them: pages/test_page_design.py."""
FILES = (
    ("photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "This file is a PNG image, not a table"),
    ("empty.csv", b"", "This file is empty"),
)
"""More of them: pages/test_page_bad_input.py."""
FILE = re.compile("(photo|empty)[.]")


@pytest.fixture(scope="module")
def visitor(guest):
    """One person who does everything wrong, one thing after the other; nothing of it changes the design."""
    guest.button("begin").click()
    expect(guest.page.locator("h1")).to_have_text("Design")
    return guest


def alerts(visitor):
    return visitor.page.get_by_test_id("stAlertContentError")


def to_uploads(visitor):
    """To where files are uploaded, which may be open from before."""
    visitor.go("Data")
    visitor.drawn()
    box = visitor.page.get_by_test_id("stMain").get_by_test_id("stFileUploader")
    if not box.count():
        visitor.page.locator(".st-key-data-source").get_by_text("Upload").click()
    expect(box).to_be_visible()


def test_epsilon_typed_wrong_is_answered_and_changes_nothing(visitor):
    visitor.go("Design")
    entry = visitor.entry("epsilon-text")
    for typed, said in ENTRIES.items():
        visitor.enter("epsilon-text", typed)
        expect(alerts(visitor)).to_have_count(1)
        expect(alerts(visitor)).to_contain_text(said)
        expect(entry).to_have_value(typed)
        expect(visitor.page.get_by_test_id("stSidebar").get_by_text("Epsilon: 1", exact=True).first).to_be_visible()
    visitor.enter("epsilon-text", "0.5")
    expect(alerts(visitor)).to_have_count(0)
    expect(visitor.page.get_by_test_id("stSidebar").get_by_text("Epsilon: 0.5", exact=True).first).to_be_visible()


@pytest.mark.slow  # walks the pages as they were before these became eight
def test_files_that_are_no_tables_are_answered_and_change_nothing(visitor):
    to_uploads(visitor)
    for name, content, said in FILES:
        # The box of the last file, with its name, is still there while the next one is drawn.
        empty = visitor.page.get_by_test_id("stMain").get_by_test_id("stFileUploader").filter(has_not_text=FILE)
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        hand(visitor.page, empty.locator("input[type=file]"), file, alerts(visitor).filter(has_text=said))
        expect(alerts(visitor)).to_contain_text(said)
        expect(alerts(visitor)).to_contain_text("What you had set up is unchanged.")
        expect(visitor.page.get_by_text("3,000 users, 25 types").first).to_be_visible()


@pytest.mark.slow  # walks the pages as they were before these became eight
def test_a_configuration_edited_by_hand_is_answered_and_changes_nothing(visitor):
    visitor.go("Design")
    file = {"name": "configuration.json", "mimeType": "application/json", "buffer": b'{"format": "ldp-design"'}
    visitor.load(file, "not valid JSON")
    expect(alerts(visitor)).to_contain_text("What you had set up is unchanged.")
    expect(visitor.page.get_by_text("3,000 users, 25 types").first).to_be_visible()


def test_markup_in_categories_is_shown_as_typed(visitor):
    page = visitor.page
    to_uploads(visitor)
    rows = b"<b>group</b>\n<b>x</b>\n:smile:\n$y$\n=1+1\n<b>x</b>\n"
    file = {"name": "markup.csv", "mimeType": "text/csv", "buffer": rows}
    said = page.get_by_text("The most common value of <b>group</b> is <b>x</b>")
    hand(page, page.locator("[data-testid=stMain] input[type=file]"), file, said)
    ticks = page.locator(".st-key-chart-histogram .xtick text")
    expect(ticks.filter(has_text="<b>x</b>")).to_have_count(1)
    title = page.locator(".st-key-chart-histogram .xtitle")
    expect(title).to_have_count(1)  # the picture of the sample has gone
    expect(title).to_have_text("<b>group</b>")
    assert page.locator(".st-key-chart-histogram .xtick text tspan[style*=bold]").count() == 0
