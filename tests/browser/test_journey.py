"""The whole way in a real browser: sample data, prefix, epsilon 1, optimise, compare, simulate, export, load again."""

import io
import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, hand

pytestmark = pytest.mark.slow
"""They walk the pages as they were before these became eight; run on request until they follow."""

NEEDED = "Users needed"


@pytest.fixture(scope="module")
def reader(browser, address):
    """Somebody else, to whom designs are given."""
    reader = Visitor(browser, address)
    yield reader
    reader.leave()


@pytest.fixture(scope="module")
def beginner(guest):
    """Somebody who has begun with the sample, by keyboard."""
    page = guest.page
    expect(page.get_by_text("to about 73 of 100 at most").first).to_be_visible()
    expect(guest.button("begin")).to_be_enabled()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.closest('.st-key-begin') !== null"):
            break
    else:
        pytest.fail("Tab does not reach the primary button")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Design")
    return guest


@pytest.fixture(scope="module")
def visitor(beginner):
    """The same, who has optimised the sample at epsilon 1."""
    visitor, page = beginner, beginner.page
    visitor.go("Data")
    expect(page.get_by_text("The most common value of age is").first).to_be_visible()
    expect(page.locator(".st-key-chart-histogram .js-plotly-plot")).to_be_visible()
    visitor.go("Workload")
    expect(page.locator(".st-key-chart-workload .js-plotly-plot")).to_be_visible()

    visitor.go("Design")
    visitor.enter("epsilon-text", "1")
    visitor.optimise()
    page.get_by_role("tab", name="Progress").click()
    expect(page.locator(".st-key-chart-closing-gap .js-plotly-plot")).to_be_visible()
    return visitor


def test_what_one_begins_by_keyboard_another_does_not_see(reader, beginner):
    reader.go("Design")
    expect(reader.page.get_by_text("This page needs a domain").first).to_be_visible()
    expect(reader.page.get_by_text("Data: not chosen").first).to_be_visible()


def test_both_sides_of_epsilon_follow_the_slider_and_stay_open(beginner):
    visitor, page = beginner, beginner.page
    visitor.go("Design")
    expect(page.get_by_test_id("stSidebar").get_by_text("Gap to the best: at most").first).to_be_visible()
    visitor.drawn()
    page.get_by_role("tab", name="What a report tells").click()
    risk = page.locator(".st-key-chart-sides-beliefs .js-plotly-plot .main-svg").first
    expect(risk).to_be_visible()
    expect(page.get_by_text("about 73 of 100").first).to_be_visible()
    visitor.enter("epsilon-text", "2")
    expect(page.get_by_text("about 88 of 100").first).to_be_visible()
    slider = page.locator(".st-key-suspicion").get_by_role("slider")
    slider.focus()
    slider.press("ArrowLeft")
    expect(page.get_by_text("49 of 100").first).to_be_visible()
    visitor.drawn()


def test_from_a_sample_to_an_exported_design_and_back(visitor, reader, tmp_path):
    page = visitor.page
    page.get_by_role("tab", name="Proof").click()
    expect(page.get_by_text("of the best possible").first).to_be_visible()
    visitor.button("check-proof").click()
    expect(page.get_by_text("its bound holds").first).to_be_visible()
    expect(page.get_by_text("audited epsilon 1,").first).to_be_visible()
    needed = visitor.metric(NEEDED).inner_text()
    assert int(needed.replace(",", "")) > 0

    visitor.go("Compare")
    expect(page.locator(".st-key-chart-users-needed .js-plotly-plot")).to_be_visible()
    expect(page.get_by_text("Optimized (column generation) needs the fewest people").first).to_be_visible()
    page.get_by_role("tab", name="Error of each query").click()
    expect(page.locator(".st-key-chart-query-errors .js-plotly-plot")).to_be_visible()

    page.get_by_role("tab", name="Patterns").click()
    expect(page.locator(".st-key-chart-patterns-optimized .js-plotly-plot")).to_be_visible()

    page.get_by_role("tab", name="Recommendation").click()
    expect(page.get_by_text("Take Optimized (column generation)").first).to_be_visible()

    visitor.go("Simulate")
    expect(page.locator(".st-key-chart-simulated-errors .js-plotly-plot")).to_be_visible()
    expect(page.get_by_text("the exact prediction is").first).to_be_visible()

    visitor.go("Export")
    with page.expect_download() as download:
        visitor.button("download").click()
    design = download.value.path().read_bytes()
    page.get_by_test_id("stSidebar").get_by_role("button", name="File").click()
    with page.expect_download() as download:
        visitor.button("save").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    page.keyboard.press("Escape")
    assert contents(saved) == contents(io.BytesIO(design))
    archive = zipfile.ZipFile(saved)
    assert sorted(archive.namelist()) == [
        "certificate.json",
        "certificate.npz",
        "configuration.json",
        "outcome.json",
        "strategy.npz",
        "verify.py",
    ]
    configuration = json.loads(archive.read("configuration.json"))
    assert configuration["epsilon"] == "1"
    assert [part["kind"] for part in configuration["workload"]["parts"]] == ["prefix"]

    visitor.button("next").click()
    expect(page.locator("h1")).to_have_text("Collect")
    page.get_by_role("radio", name="Try it").click()
    with page.expect_download() as download:
        visitor.button("download-simulated").click()
    reports = tmp_path / download.value.suggested_filename
    download.value.save_as(reports)
    page.get_by_role("radio", name="Upload").click()
    box = page.locator("[data-testid=stMain] [data-testid=stFileUploader] input")
    hand(page, box, reports, page.locator(".st-key-count button:enabled").filter(has_text="Count these reports"))
    visitor.button("count").click()
    expect(visitor.metric("Reports counted")).to_have_text("3,000")
    expect(page.locator(".st-key-chart-collected .js-plotly-plot")).to_be_visible()

    # The link opens for somebody else, and other pages show what it holds.
    visitor.drawn()
    visitor.menu("Share a link")
    link = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    page.keyboard.press("Escape")
    reader.page.goto(re.sub(r"\s", "", link))
    expect(reader.page.locator("h1")).to_have_text("Design")
    expect(reader.page.get_by_text("The linked design is open.").first).to_be_visible()
    reader.go("Workload")
    expect(reader.page.locator(".st-key-chart-workload .js-plotly-plot")).to_be_visible()
    reader.page.get_by_test_id("stTopNavLink").filter(has_text="Start").click()
    expect(reader.button("continue")).to_be_visible()

    # The file brings back the strategy, on the page where it is looked at.
    reader.load(saved, "The design was loaded.")
    expect(reader.page.locator("h1")).to_have_text("Design")
    expect(reader.metric(NEEDED)).to_have_text(needed)
    expect(reader.page.locator(".st-key-chart-patterns .js-plotly-plot")).to_be_visible()


def contents(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_epsilon_1_is_compared_with_epsilon_2(visitor):
    page = visitor.page
    visitor.go("Design")
    expect(page.locator(".st-key-chart-patterns .js-plotly-plot")).to_be_visible()
    visitor.drawn()
    needed = visitor.metric(NEEDED).inner_text()
    visitor.go("Compare")
    page.get_by_test_id("stMain").get_by_text("Saved designs").click()
    visitor.button("design-copy").click()
    expect(page.get_by_role("button", name="Designs (2)")).to_be_visible()
    visitor.go("Design")
    visitor.enter("epsilon-text", "2")
    expect(page.get_by_test_id("stSidebar").get_by_text("Epsilon: 2").first).to_be_visible()
    visitor.go("Compare")
    visitor.button("optimise-designs").click()
    expect(page.get_by_text("For the same questions and target error").first).to_be_visible()
    values = page.locator(".st-key-chart-designs .textpoint text")
    expect(values).to_have_count(2)
    assert values.first.text_content() == needed
