"""The two sides of epsilon in a browser: opened once, they follow the slider and stay open from page to page."""

from playwright.sync_api import expect


def test_both_sides_follow_the_slider_and_stay_open(visit):
    visitor = visit("dark")
    page = visitor.page
    expect(page.get_by_text("to about 73 of 100 at most")).to_be_visible()
    visitor.button("begin").click()
    expect(page.locator("h1")).to_have_text("Design")
    fold = page.locator(".st-key-sides")
    expect(fold.locator(".js-plotly-plot")).to_have_count(0)
    fold.locator("summary").click()
    expect(fold.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(fold.get_by_text("to about 73 of 100 at most")).to_be_visible()
    visitor.entry("epsilon-text").fill("2")
    visitor.entry("epsilon-text").press("Enter")
    expect(fold.get_by_text("to about 88 of 100 at most")).to_be_visible()
    slider = fold.get_by_role("slider")
    slider.focus()
    slider.press("ArrowLeft")
    expect(fold.get_by_text("gives it 49 of 100")).to_be_visible()
    visitor.go("Plan")
    expect(page.locator(".st-key-sides").get_by_text("gives it 49 of 100")).to_be_visible()
    visitor.go("Design")
    expect(fold.get_by_text("gives it 49 of 100")).to_be_visible()
    fold.locator("summary").click()
    expect(fold.locator(".js-plotly-plot")).to_have_count(0)
    visitor.drawn()
