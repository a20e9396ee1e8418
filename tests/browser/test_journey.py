"""A first visitor's way in a real browser: from Start by keyboard to a verdict, through the pages to a kit, reports that are
counted, and somebody else who opens the link and the file."""

import io
import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import hand

STORED = {"certificate.json", "certificate.npz", "configuration.json", "outcome.json", "strategy.npz", "verify.py"}
KIT = {"README.md", "audit.py", "client.js", "client.py", "collect.py", "device.json", "report.html"}


def picture(visitor, name):
    """A chart on the page, drawn."""
    chart = visitor.page.locator(f".st-key-chart-{name} .js-plotly-plot").first
    expect(chart).to_be_visible()
    return chart


def above_the_fold(part):
    """Seen whole without scrolling, as soon as it has been drawn: a chart that was drawn anew had no box for a moment."""
    expect(part).to_be_in_viewport(ratio=1)


def downloaded(visitor, button):
    with visitor.page.expect_download() as download:
        button.click()
    return download.value


def contents(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.promise
def test_from_start_to_a_kit_and_to_somebody_else(guest, visit, tmp_path):
    page = guest.page
    picture(guest, "demonstration")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.closest('.st-key-begin') !== null"):
            break
    page.keyboard.press("Enter")  # the only press: the design optimises itself
    expect(page.locator("h1")).to_have_text("Design")
    expect(page.locator(".st-key-verdict")).to_contain_text(re.compile(words.USABLE))
    expect(guest.sidebar.get_by_text(words.GAP).first).to_be_visible()
    guest.drawn()
    above_the_fold(page.locator(".st-key-verdict"))
    above_the_fold(picture(guest, "trade-off"))
    needed = guest.metric(words.NEEDED).inner_text()

    guest.tab(words.PROOF)
    guest.button("check-proof").click()
    expect(page.get_by_text(words.HOLDS).first).to_be_visible()
    guest.tab(words.REPORT)
    slider = page.locator(".st-key-suspicion").get_by_role("slider")
    slider.focus()
    slider.press("ArrowLeft")
    expect(slider).to_have_value("49")
    guest.drawn()
    expect(slider).to_be_focused()

    guest.button("next").click()
    expect(page.locator("h1")).to_have_text("Simulate")
    picture(guest, "simulated-release")
    guest.drawn()
    above_the_fold(picture(guest, "simulated-release"))
    guest.go("Compare")
    picture(guest, "users-needed")
    guest.drawn()
    above_the_fold(picture(guest, "users-needed"))

    guest.go("Export")
    kit = contents(downloaded(guest, guest.button("download-kit")).path())
    assert {name.rsplit("/")[-1] for name in kit} >= KIT
    alone = contents(io.BytesIO(downloaded(guest, guest.button("download")).path().read_bytes()))
    assert alone.keys() == STORED
    guest.sidebar.get_by_role("button", name="File").click()
    saved = tmp_path / "design.zip"
    downloaded(guest, guest.button("save")).save_as(saved)
    page.keyboard.press("Escape")
    assert contents(saved) == alone

    guest.button("next").click()
    expect(page.locator("h1")).to_have_text("Collect")
    page.get_by_role("radio", name="Try it").click()
    reports = tmp_path / "reports.csv"
    downloaded(guest, guest.button("download-simulated")).save_as(reports)
    choose = page.get_by_role("radio", name="Upload").click
    choose()
    box = guest.main.locator("[data-testid=stFileUploader] input")
    taken = page.locator(".st-key-reports-1")  # an empty one in its place
    hand(page, box, reports, taken, choose)
    expect(guest.metric(words.COUNTED)).to_have_text("3,000")
    picture(guest, "collected")

    reader = visit()
    expect(reader.sidebar).to_contain_text(words.EMPTY)  # what one has begun another does not see
    reader.load(saved)  # the file brings back the strategy
    expect(reader.page.locator("h1")).to_have_text("Design")
    expect(reader.metric(words.NEEDED)).to_have_text(needed)
    reader.tab(words.PATTERNS)
    picture(reader, "patterns")
