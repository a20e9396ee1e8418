"""Bad entries as a person types them, and files as a person picks them. More of both, without a browser:
pages/test_page_bad_input.py and pages/test_page_design.py."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import hand

ENTRIES = {"0": "too small", "1,5": "write 1.5 with a point"}
FILES = (
    ("photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "This file is a PNG image, not a table"),
    ("empty.csv", b"", "This file is empty"),
)


@pytest.fixture(scope="module")
def visitor(guest):
    """One person who does everything wrong, one thing after the other; nothing of it changes the design."""
    guest.begin()
    return guest


def alerts(visitor):
    return visitor.page.get_by_test_id("stAlertContentError")


def unchanged(visitor):
    expect(alerts(visitor)).to_contain_text(words.UNCHANGED)
    expect(visitor.sidebar.get_by_role("link", name=words.SAMPLE_QUERIES)).to_be_visible()


def test_epsilon_typed_wrong_is_answered_and_changes_nothing(visitor):
    visitor.go("Design")
    entry = visitor.entry("epsilon-text")
    for typed, said in ENTRIES.items():
        visitor.enter("epsilon-text", typed)
        expect(alerts(visitor)).to_have_count(1)
        expect(alerts(visitor)).to_contain_text(said)
        expect(entry).to_have_value(typed)
        expect(visitor.sidebar.get_by_role("link", name="Epsilon: 1", exact=True)).to_be_visible()
    visitor.enter("epsilon-text", "0.5")
    expect(alerts(visitor)).to_have_count(0)
    expect(visitor.sidebar.get_by_role("link", name="Epsilon: 0.5", exact=True)).to_be_visible()


def test_files_that_cannot_be_read_are_answered_and_change_nothing(visitor):
    half = {"name": "configuration.json", "mimeType": "application/json", "buffer": b'{"format": "ldp-design"'}
    visitor.load(half, "not valid JSON")
    unchanged(visitor)
    uploader = visitor.main.get_by_test_id("stFileUploader")
    for name, content, said in FILES:
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        if not uploader.count():
            visitor.upload(file, alerts(visitor).filter(has_text=said))
        else:  # the uploader of the last file, with its name, is still there while the next one is drawn
            empty = uploader.filter(has_not_text=re.compile("photo[.]|empty[.]"))
            hand(visitor.page, empty.locator("input[type=file]"), file, alerts(visitor).filter(has_text=said))
        unchanged(visitor)


def test_markup_in_categories_is_shown_as_typed(visitor):
    page = visitor.page
    rows = b"<b>group</b>\n<b>x</b>\n:smile:\n$y$\n=1+1\n<b>x</b>\n"
    file = {"name": "markup.csv", "mimeType": "text/csv", "buffer": rows}
    visitor.upload(file, page.get_by_text("The most common value of <b>group</b> is <b>x</b>"))
    ticks = page.locator(".st-key-chart-histogram .xtick text")
    expect(ticks.filter(has_text="<b>x</b>")).to_have_count(1)
    title = page.locator(".st-key-chart-histogram .xtitle")
    expect(title).to_have_count(1)  # the picture of the sample has gone
    expect(title).to_have_text("<b>group</b>")
    assert page.locator(".st-key-chart-histogram .xtick text tspan[style*=bold]").count() == 0
