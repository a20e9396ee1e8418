"""Start in a real browser: its buttons, and where the keyboard is after them."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import hand


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


def test_from_a_table_to_the_line_of_the_question_in_at_most_twelve_presses(guest, tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("arm,satisfied\n" + "new,yes\nold,no\nnew,no\nold,yes\nnew,yes\nold,no\n" * 200)
    presses = 0

    def pressed(act):
        nonlocal presses
        guest.drawn()
        act()
        presses += 1

    guest.go("Start")
    pressed(guest.button("door-groups").click)
    hand(
        guest.page,
        guest.main.locator(".st-key-controls-door input[type=file]"),
        table,
        guest.main.get_by_text("visits.csv"),
    )
    pressed(lambda: guest.enter("door-difference-satisfied", "10"))
    pressed(guest.button("door-open").click)
    expect(guest.main.locator("h1")).to_have_text("Design")
    expect(guest.main).to_contain_text("satisfied = yes, old minus new")
    assert presses <= 12
