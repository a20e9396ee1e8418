"""Draws the picture of the README anew, from the app itself: python tests/picture.py, in the virtual environment of the tests."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser.conftest import ROOT, Visitor, serve

PICTURE = ROOT / ".pictures" / "design.png"


def draw():
    """The Design page of the first sample, once its mechanism is optimised."""
    log = Path(tempfile.mkdtemp()) / "log.txt"
    with serve(log) as (address, _), sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        visitor = Visitor(browser, address)
        visitor.page.set_viewport_size({"width": 1280, "height": 1000})
        visitor.begin()
        visitor.optimise()
        expect(visitor.page.locator("[class*=st-key-job-]")).to_have_count(0)
        visitor.page.wait_for_timeout(3000)  # charts take their size a moment later
        PICTURE.parent.mkdir(exist_ok=True)
        visitor.page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    draw()
