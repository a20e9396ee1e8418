"""A design that is saved whole, shared, and set beside another, in a real browser."""

import re

from playwright.sync_api import expect

NEEDED = "Users needed"


def test_a_design_is_saved_shared_and_compared(visit, tmp_path):
    visitor = visit()
    page = visitor.page
    visitor.button("begin").click()
    expect(page.locator("h1")).to_have_text("Design")
    visitor.drawn()
    visitor.button("optimise").click()
    expect(page.locator(".st-key-chart-patterns .js-plotly-plot")).to_be_visible()
    visitor.drawn()
    needed = visitor.metric(NEEDED).inner_text()

    with page.expect_download() as download:
        visitor.button("save").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    page.get_by_role("button", name="Share a link").click()
    link = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    page.keyboard.press("Escape")

    # The file brings back the strategy, on the page where it is looked at.
    reader = visit()
    reader.load(saved, "The design was loaded.")
    expect(reader.page.locator("h1")).to_have_text("Design")
    expect(reader.metric(NEEDED)).to_have_text(needed)
    expect(reader.page.locator(".st-key-chart-patterns .js-plotly-plot")).to_be_visible()

    # The link opens there as well, and the other pages show what it holds.
    reader.page.goto(re.sub(r"\s", "", link))
    expect(reader.page.locator("h1")).to_have_text("Design")
    expect(reader.page.get_by_text("The design was loaded.")).to_be_visible()
    reader.go("Data")
    expect(reader.page.locator(".st-key-chart-histogram .js-plotly-plot")).to_be_visible()
    reader.go("Workload")
    expect(reader.page.locator(".st-key-chart-workload .js-plotly-plot")).to_be_visible()
    reader.page.get_by_test_id("stTopNavLink").filter(has_text="Start").click()
    expect(reader.button("continue")).to_be_visible()

    # Epsilon 1 beside epsilon 2.
    visitor.go("Compare")
    page.get_by_text("Designs of your list").click()
    visitor.button("design-copy").click()
    expect(page.get_by_role("button", name="Designs (2)")).to_be_visible()
    visitor.go("Design")
    visitor.entry("epsilon-text").fill("2")
    visitor.entry("epsilon-text").press("Enter")
    expect(page.get_by_test_id("stSidebar").get_by_text("Epsilon: 2")).to_be_visible()
    visitor.go("Compare")
    visitor.button("optimise-designs").click()
    expect(page.get_by_text("For the same questions and target error")).to_be_visible()
    values = page.locator(".st-key-chart-designs .textpoint text")
    expect(values).to_have_count(2)
    assert values.first.text_content() == needed
