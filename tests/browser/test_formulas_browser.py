"""Formulas come out typeset, whatever page they are on."""

from playwright.sync_api import expect


def test_formulas_are_typeset(visit):
    person = visit(scheme="dark")
    person.button("begin").click()
    expect(person.page.locator("h1")).to_have_text("Design")
    person.page.locator(".st-key-mechanism input").click()
    person.page.get_by_role("option", name="Randomized response", exact=True).click()
    person.drawn()
    box = person.page.get_by_test_id("stExpander").filter(has_text="How this is computed")
    for page in ("Design", "Workload"):
        person.go(page)
        box.get_by_text("How this is computed").click()
        expect(box.locator(".katex").first).to_be_visible()
        assert box.locator(".katex-error").count() == 0
