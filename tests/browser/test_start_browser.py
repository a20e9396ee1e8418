"""Start in a real browser: its link under any path, its buttons, and where the keyboard is after them."""

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import Visitor, begin, serve


def linked(visitor):
    """The address that Share a link gives."""
    visitor.menu(words.SHARE)
    shown = visitor.page.get_by_test_id("stPopoverBody").get_by_text("?design=")
    address = shown.inner_text()
    visitor.page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    return address


def test_a_link_leads_back_under_the_path_that_it_came_from(browser, tmp_path):
    """Also where that ends like the name of a page, and from every page."""
    with serve(tmp_path / "log.txt", path="tools/metadata") as (address, _):
        visitor = Visitor(browser, address)
        links = [linked(visitor)]
        for title in ("Data", "Start"):
            visitor.go(title)
            visitor.drawn()
            links.append(linked(visitor))
        assert {link.split("?")[0] for link in links} == {f"{address}/"}
        begin(visitor.page)
        link = linked(visitor)
        visitor.page.goto(link)
        expect(visitor.page.locator("h1")).to_have_text("Design")
        expect(visitor.main.get_by_text("The linked design is open").first).to_be_visible()
        visitor.leave()


@pytest.mark.parametrize(("key", "title"), [("begin", "Design"), ("own-data", "Data")])
def test_the_focus_goes_from_a_button_that_turns_the_page_to_the_new_heading(guest, key, title):
    guest.go("Start")
    guest.drawn()
    guest.button(key).focus()
    guest.page.keyboard.press("Enter")
    heading = guest.main.locator("h1")
    expect(heading).to_have_text(title)
    expect(heading).to_be_focused()
    guest.drawn()
    expect(heading).to_be_focused()
    guest.page.keyboard.press("Tab")
    expect(guest.page.locator(".st-key-next a, .st-key-next button").first).to_be_focused()
