"""The league on Compare can be read on a phone."""

import pytest
from playwright.sync_api import expect

BESIDE = """table => {
    const [name, number] = table.querySelector('tbody tr').children, rest = table.parentElement;
    rest.scrollLeft = rest.scrollWidth;
    const moved = rest.scrollLeft, left = name.getBoundingClientRect().left - rest.getBoundingClientRect().left;
    return [moved, left, getComputedStyle(name).backgroundColor, getComputedStyle(document.querySelector('.stApp')).backgroundColor,
            getComputedStyle(number).textAlign];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_mechanisms_stay_beside_their_numbers(visit, scheme):
    visitor = visit(scheme)
    visitor.button("begin").click()
    expect(visitor.page.locator("h1")).to_have_text("Design")
    visitor.go("Compare")
    visitor.drawn()
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.page.locator("summary", has_text="League").click()
    table = visitor.page.locator(".st-key-league-table table")
    expect(table).to_be_visible()
    moved, left, behind, page, align = table.evaluate(BESIDE)
    assert moved > 100
    assert abs(left) < 2
    assert behind == page  # numbers that pass below it cannot be seen
    assert align == "right"
