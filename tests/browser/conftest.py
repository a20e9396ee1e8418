"""A real server on a free port of this machine and a real browser, each started once for all browser tests."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect, sync_playwright

from pages.ui import layout
from tests.browser import words

ROOT = Path(__file__).parents[2]
PAGES = tuple(title for titles in layout.PAGES.values() for title in titles)
"""The titles of all pages, in their order."""
MORE = tuple(layout.PAGES["More"])
"""Those in a menu."""
PATIENCE = int(os.environ.get("BROWSER_PATIENCE", "600")) * 1000
"""Milliseconds to wait for what is to be on the page: only what never comes takes this long."""
UNANSWERED = (
    20_000  # milliseconds after which a file that was handed over is handed anew; one that was only late comes twice
)
CLICKED = 4_000
"""Milliseconds in which something in a menu is clicked: a menu closes with the page that was being drawn, and then nothing ever is."""
SIZE = {"width": 1280, "height": 800}  # a small laptop
STILL = """document.addEventListener('DOMContentLoaded', () => {
    const style = document.createElement('style');
    style.textContent = '* { animation: none !important }';
    document.head.append(style);
})"""
"""What stands for a part that is waited for does not shimmer: each frame of it would be drawn without a graphics card."""

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server where Streamlit itself takes nobody back: its address, its process, what it says, and the file that holds its proofs."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    hold, holding = log.with_name("hold"), Path(__file__).parent / "holding"
    environment = {**os.environ, "PYTHONPATH": f"{holding}:{ROOT}", "HOLD": str(hold)}
    with serve(log, ["--server.disconnectedSessionTTL", "0"], environment) as (url, process):
        yield url, process, log, hold


@pytest.fixture(scope="session")
def address(server):
    return server[0]


@contextmanager
def serve(log, options=(), environment=None, port=None):
    """A server of the app on a free port, or a given one: its address and its process."""
    if port is None:
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
            server.wait()


def _wait_for(url, server):
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE / 1000):
                return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, "the server ended before it answered"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
        arguments.append("--host-resolver-rules=MAP elsewhere.example 127.0.0.1")  # a name that somebody pointed here
        arguments.append("--js-flags=--no-turbofan")  # pages are left before it pays to compile what they do best
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield browser
        browser.close()


def still(browser, **options):
    """A fresh browser on a small laptop, in which nothing shimmers."""
    context = browser.new_context(viewport=SIZE, **options)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(STILL)
    return context


def drawn(page):
    """Wait until the page has been drawn as a whole, whatever work it waits for: before that, parts may be there twice."""
    expect(page.locator(".st-key-page-drawn [data-stale=false]")).to_have_count(1)
    expect(page.locator("[data-stale=true]:visible")).to_have_count(0)


def design(page):
    """The lines of the sidebar about the design on screen."""
    return page.get_by_test_id("stSidebar").locator(".st-key-current-design")


def begin(page):
    """Start with the sample."""
    drawn(page)
    page.locator(".st-key-begin button:visible").first.click()
    expect(page.locator("h1")).to_have_text("Design")
    expect(design(page)).to_contain_text(words.SAMPLE)


def turn_to(page, title):
    """Open a page of the app."""

    def click():
        link = page.get_by_test_id("stTopNavLink").filter(has_text=title)
        first = page.get_by_test_id("stTopNavLink").first.bounding_box()
        if not link.count() or link.bounding_box()["y"] > first["y"]:  # in the menu, with those that have no room
            page.get_by_test_id("stTopNavSection").last.click(timeout=UNANSWERED)
            link = page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title)
        link.click(timeout=UNANSWERED)

    answered(click, lambda **patience: expect(page.locator("h1")).to_have_text(title, **patience))


def answered(act, seen):
    """``act()``, and again where ``seen(timeout=)`` does not come true: a click is lost where the page is drawn or connects anew."""
    for _ in range(20):
        with suppress(PlaywrightTimeout, AssertionError):
            act()
            return seen(timeout=UNANSWERED)
    return seen()


def until(page, done, pause=0):
    """Do ``done`` again, with a ``pause`` between in milliseconds, until it says that it is; AssertionError with what the page shows
    where it never is."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not done():
        assert time.monotonic() < deadline, f"Never on this page:\n{page.locator('body').inner_text()}"
        page.wait_for_timeout(pause)


def beside(page):
    """Another tab of the same browser, empty, in a window of its own, where it is drawn without being in front."""
    with page.context.expect_page() as opened:
        page.evaluate("() => { open('about:blank', '_blank', 'noopener,popup') }")
    return opened.value


def hand(page, place, file, arrived, choose=lambda: None):
    """Give a file to the uploader at ``place``, and again where it has not ``arrived``: an uploader that is replaced
    while the page is drawn anew takes the file with it. ``choose()`` brings the uploader to the page where it is not there; every fifth
    time the page is loaded again, as a person would."""
    drawn(page)
    expect(place).to_have_count(1)
    for attempt in range(1, 21):
        if place.count() == 1:  # not while one that is replaced still stands beside the new one
            place.set_input_files(file)
        with suppress(AssertionError):
            return expect(arrived.first).to_be_visible(timeout=UNANSWERED)
        if attempt % 5 == 0:
            page.reload()
        drawn(page)
        if not place.count():
            choose()
    raise AssertionError(f"The file never arrived on this page:\n{page.locator('body').inner_text()}")


class Visitor:
    """A person with a fresh browser. Everything requested, every error in the console and every dialog is noted."""

    def __init__(self, browser, address, scheme="light"):
        self.address, self.problems, self.elsewhere = address, [], []
        self.context = still(browser, color_scheme=scheme, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.on("console", lambda said: said.type == "error" and self._trouble(said.text))
        self.page.on("pageerror", lambda error: self._trouble(str(error)))
        self.page.on("dialog", self.dismiss)
        self.page.goto(address)
        expect(self.page.locator("h1")).to_be_visible()

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    def _trouble(self, text):
        """A page that is closed or left gives up what it is fetching, which is no trouble; one that stays without it shows nothing."""
        if "Failed to fetch dynamically imported module" not in text:
            self.problems.append(text)

    def dismiss(self, dialog):
        self.problems.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def go(self, title):
        turn_to(self.page, title)

    def drawn(self):
        """See `drawn`."""
        drawn(self.page)

    def button(self, key):
        return self.page.locator(f".st-key-{key} button:visible").first

    def control(self, key):
        """The control with this key, also one that came anew; not what is left of the page before."""
        return self.page.locator(f"[data-stale=false]:is(.st-key-{key}, [class*='st-key-{key}-'])")

    def entry(self, key):
        return self.control(key).locator("input")

    def more(self):
        """Open what Design has behind More options: it closes where something beside it was pressed."""
        self.page.keyboard.press("Escape")
        expect(self.entry("epsilon-text")).to_have_count(0)
        self.drawn()
        self.main.get_by_role("button", name=words.MORE).click()
        expect(self.entry("epsilon-text")).to_be_visible()

    def enter(self, key, text):
        """Type into an entry, anew where what was typed went with an entry that a page just opened has put elsewhere."""
        entry = self.entry(key)

        def typed():
            self.drawn()
            entry.fill(text)
            entry.press("Enter")
            self.page.wait_for_timeout(100)  # until it has left
            self.drawn()
            return entry.input_value() == text

        until(self.page, typed)

    def metric(self, label):
        return self.page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")

    @property
    def sidebar(self):
        return self.page.get_by_test_id("stSidebar")

    @property
    def main(self):
        return self.page.get_by_test_id("stMain")

    def begin(self):
        begin(self.page)

    def tab(self, title):
        """Open a tab of the page."""
        self.drawn()
        tab = self.main.get_by_role("tab", name=title).first
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        self.drawn()

    def optimise(self):
        """Wait until the design on Design is optimised, by itself or by the button."""
        gap, button = self.sidebar.get_by_text(words.GAP).first, self.button("optimise")
        expect(gap.or_(button).first).to_be_visible()
        if not gap.is_visible() and words.OPTIMISE in button.inner_text():
            button.click()
        expect(gap).to_be_visible()
        self.drawn()

    def menu(self, title):
        """Open one part of the File menu."""
        part = self.page.get_by_test_id("stPopoverBody").locator("summary").filter(has_text=title)
        for _ in range(20):  # a menu that opens while a page is drawn closes with it
            self.drawn()
            if not part.is_visible():
                self.sidebar.get_by_role("button", name="File").click()
            with suppress(PlaywrightTimeout):
                return part.click(timeout=CLICKED)
        raise AssertionError(f"The File menu does not stay open at {title}.")

    def unfold(self, title):
        """The expander with this title, open; clicked again where the page, drawn meanwhile, closed it."""
        expander = self.main.get_by_test_id("stExpander").filter(has_text=title)
        for _ in range(20):
            self.drawn()
            if expander.locator("details[open]").count():
                return expander
            expander.locator("summary").click()
        raise AssertionError(f"The expander {title} does not stay open.")

    def load(self, file, said=words.LOADED):
        """Load a design by the File menu; ``said`` is what the page has to say about it."""
        self.menu(words.OPEN)
        place = self.page.get_by_test_id("stPopoverBody").locator("input[type=file]")
        hand(self.page, place, file, self.main.get_by_text(said))
        self.page.keyboard.press("Escape")

    def upload(self, file, arrived):
        """Upload a table on Data, until the sidebar shows ``arrived``."""
        self.go("Data")
        self.drawn()
        if not self.main.get_by_test_id("stFileUploader").count():
            self.control("data-source").get_by_text(words.UPLOAD, exact=True).click()
        expect(self.main.get_by_test_id("stFileUploader")).to_have_count(1)
        hand(self.page, self.main.locator("input[type=file]"), file, arrived)
        self.drawn()

    def choose_column(self, name, asked="true"):
        """Tick a column on Data, or take its tick away with "false"; again where the page was drawn anew meanwhile."""
        grid = self.page.locator(".st-key-columns").get_by_test_id("stDataFrame")
        cells = grid.locator("[data-testid^=glide-cell-1-]")  # what a screen reader finds of the canvas
        expect(cells.filter(has_text=name)).to_have_count(1)
        row = cells.all_text_contents().index(name)
        tick = grid.get_by_test_id(f"glide-cell-0-{row}")

        def ticked():
            if tick.text_content() == asked:
                return True
            self.drawn()
            grid.scroll_into_view_if_needed()
            box = grid.bounding_box()
            return self.page.mouse.click(box["x"] + 60, box["y"] + 35 * (row + 1.5))

        until(self.page, ticked, 500)
        self.drawn()

    def start_anew(self):
        """Forget what a test before has begun."""
        if not self.sidebar.get_by_text(words.EMPTY).count():
            self.forget()

    def forget(self):
        """Begin anew as somebody else would, without loading the page again."""

        def click():
            self.menu(words.FORGET)
            self.button("forget-confirmed").click(timeout=CLICKED)

        answered(click, expect(self.main.get_by_text(words.FORGOTTEN).first).to_be_visible)
        expect(self.page.locator("h1")).to_have_text("Start")
        expect(self.sidebar).to_contain_text(words.EMPTY)
        expect(self.button("forget-confirmed")).to_have_count(0)

    def check(self):
        assert not self.elsewhere, "requests left this machine"
        assert not self.problems

    def leave(self):
        self.context.close()
        self.check()


@pytest.fixture(scope="session")
def regular(browser, address):
    """Somebody who comes once for all tests: loading the page takes as long as most of them."""
    visitor = Visitor(browser, address)
    yield visitor
    visitor.leave()


@pytest.fixture(scope="module")
def guest(request, regular, browser, address):
    """As if they had just come, whatever tests before have left open; after a test that failed, they do come."""
    visitor = Visitor(browser, address) if request.session.testsfailed else regular
    visitor.page.set_viewport_size(SIZE)
    visitor.page.emulate_media(color_scheme="light")
    visitor.page.keyboard.press("Escape")
    visitor.go("Start")
    visitor.drawn()
    sidebar = visitor.page.get_by_test_id("stSidebar")
    if sidebar.get_attribute("data-collapsed") == "true":  # a phone was tried
        visitor.page.get_by_test_id("stExpandSidebarButton").click()
    visitor.start_anew()
    yield visitor
    if visitor is not regular:
        visitor.context.close()
    visitor.check()


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
