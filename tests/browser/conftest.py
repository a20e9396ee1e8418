"""A real server on a free port of this machine and a real browser, each started once for all browser tests."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[2]
STARTING = 60  # seconds the server may take to answer
PATIENCE = 30_000  # milliseconds a page may take to show what is waited for
SIZE = {"width": 1280, "height": 800}  # a small laptop

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("server") / "log.txt") as (url, _):
        yield url


@contextmanager
def serve(log, options=(), environment=None):
    """A server of the app on a free port: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), *options]
    with log.open("wb") as said:
        server = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT, env=environment)
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{url}/_stcore/health", server)
            yield url, server
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait_for(url, server):
    deadline = time.monotonic() + STARTING
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, "the server ended before it answered"
            assert time.monotonic() < deadline, "the server did not answer"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield browser
        browser.close()


class Visitor:
    """A person with a fresh browser. Everything requested and every error in the console is noted."""

    def __init__(self, browser, address, scheme="light"):
        self.address, self.problems, self.elsewhere = address, [], []
        self.context = browser.new_context(viewport=SIZE, color_scheme=scheme, accept_downloads=True)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(address)
        expect(self.page.locator("h1")).to_be_visible()
        self.settle()

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    def settle(self):
        """Until the script has run to its end."""
        self.page.wait_for_timeout(150)
        self.page.wait_for_function(
            "() => document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
        )

    def go(self, title):
        self.settle()  # a click while the page is being drawn may be lost
        self.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
        expect(self.page.locator("h1")).to_have_text(title)
        self.settle()

    def button(self, key):
        return self.page.locator(f".st-key-{key} button:visible").first

    def entry(self, key):
        return self.page.locator(f".st-key-{key} input")

    def metric(self, label):
        return self.page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue").inner_text()

    def load(self, file, said):
        """Load a design in the sidebar; ``said`` is what the page has to say of it."""
        self.page.get_by_role("button", name="Load a design").click()
        self.page.get_by_test_id("stPopoverBody").locator("input[type=file]").set_input_files(file)
        expect(self.page.get_by_test_id("stMain").get_by_text(said)).to_be_visible()
        self.page.keyboard.press("Escape")

    def leave(self):
        self.context.close()
        assert not self.elsewhere, "requests left this machine"
        assert not self.problems


@pytest.fixture
def visit(browser, address):
    """Makes visitors, and checks when they leave that nothing went wrong."""
    visitors = []

    def arrive(scheme="light"):
        visitors.append(Visitor(browser, address, scheme))
        return visitors[-1]

    yield arrive
    for visitor in visitors:
        visitor.leave()
