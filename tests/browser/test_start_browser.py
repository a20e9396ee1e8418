"""Start in a real browser: its buttons, and where the keyboard is after them."""

import pytest
from playwright.sync_api import expect


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
