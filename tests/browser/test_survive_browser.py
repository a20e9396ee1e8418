"""What survives a refresh, a lost connection and a closed tab, for whom, and how it is forgotten."""

import json
import os
import re
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, SIZE, Visitor, serve

PEOPLE = b"age,place\n" + b"".join(b"%d,town %d\n" % (20 + i % 16, i % 4) for i in range(500))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that lets go of a tab's own state after a second, and says what it holds."""
    folder = tmp_path_factory.mktemp("server")
    counting = {"PYTHONPATH": str(Path(__file__).parent / "counting"), "COUNTS": str(folder / "counts.json")}
    with serve(folder / "log.txt", ["--server.disconnectedSessionTTL", "1"], {**os.environ, **counting}) as (url, _):
        yield url, folder


@pytest.fixture
def analyst(browser, server):
    """Somebody who has uploaded a table."""
    visitor = Visitor(browser, server[0])
    visitor.go("Data")
    visitor.page.get_by_text("Upload", exact=True).click()
    box = visitor.page.get_by_test_id("stMain").locator("input[type=file]")
    box.set_input_files({"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE})
    expect(design(visitor.page)).to_contain_text("Data: age")
    yield visitor
    visitor.context.close()


def design(page):
    return page.get_by_test_id("stSidebar").locator(".st-key-current-design")


def test_try(analyst):
    page = analyst.page
    print(design(page).inner_text())
    print(analyst.context.cookies())
    page.reload()
    expect(design(page)).to_contain_text("Data: age")
    print(design(page).inner_text(), page.url)
    print(analyst.context.cookies())
    page.screenshot(path="/tmp/sv1.png")
    print(page.evaluate("document.querySelector('.st-key-browser').parentElement.outerHTML"))
    print(analyst.problems)
