"""Twenty people at once on one server, acting at random for five minutes:  pytest -m slow -s tests/browser/test_soak.py

SOAK_MINUTES, SOAK_SESSIONS and SOAK_SEED change how long, how many and what they do.
"""

import contextlib
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Error

from ldp_core import designs
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.workloads import HistogramPart

ROOT = Path(__file__).parents[2]
MINUTES = float(os.environ.get("SOAK_MINUTES", 5))
SESSIONS = int(os.environ.get("SOAK_SESSIONS", 20))
SEED = int(os.environ.get("SOAK_SEED", random.SystemRandom().randrange(10**6)))
REPORTED = 30
"""Seconds between two lines about the server."""
LARGE = 3_000_000
"""Bytes of the largest upload: more than Starlette would hold in memory by itself."""

CLICKS = (
    "[data-testid=stTopNavLink], [data-testid=stMain] button, [data-testid=stMain] [role=tab], [data-testid=stMain] label, "
    "[data-testid=stMain] [role=combobox], [role=option], [data-testid=stSidebar] button, summary"
)
ENTRIES = "input[type=text], input[type=number], textarea"
PICK = """([selector, share]) => {
    const found = [...document.querySelectorAll(selector)].filter(e => e.offsetParent !== null && !e.disabled);
    return found.length ? found[Math.floor(share * found.length)] : null;
}"""
TYPED = ["1", "0.5", "-1", "nan", "1e400", "", "age", "=1+1", "![x](http://example.invalid/x.png)", "\u202e", "9" * 400]
NAMES = ["age", "![x](http://example.invalid/x.png)", "<img src=x onerror=alert(1)>", "$x$", "=1+1", ":smile:"]


class Server:
    """A server of this test's own, whose log, memory and open files are looked at."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address, self.log = f"http://127.0.0.1:{port}", folder / "log.txt"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        shorter = {**os.environ, "LDP_HELD_SECONDS": "60"}  # so that some who left come back and others are forgotten
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=self.log.open("wb"), stderr=subprocess.STDOUT, env=shorter
        )

    def wait(self):
        while self.process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=5):
                return
            time.sleep(0.2)
        pytest.fail(f"the server ended: {self.log.read_text()[-2000:]}")

    def memory(self):
        """MiB in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024

    def temporary_files(self):
        """Open files that lie, or lay before they were deleted, where temporary files do."""
        found = []
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(entry))
        there = (path for path in found if path != str(self.log) and not path.startswith(("/dev/", "/memfd:")))
        return [path for path in there if path.startswith(("/tmp/", "/var/tmp/")) or path.endswith("(deleted)")]

    def check(self):
        assert self.process.poll() is None, f"the server ended: {self.log.read_text()[-2000:]}"
        assert not self.temporary_files()
        log = self.log.read_text(errors="replace")
        assert "Traceback" not in log, log[log.index("Traceback") :][:3000]


class Person:
    """A browser of one's own, which does something at random now and then; what takes too long is left."""

    def __init__(self, browser, server, rng):
        self.server, self.rng, self.acts, self.elsewhere = server, rng, 0, []
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        self.context.set_default_timeout(3000)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self._note(request.url))
        self._come("")

    def _note(self, url):
        if url.startswith(("http:", "https:")) and not url.startswith(self.server.address):
            self.elsewhere.append(url)

    def _come(self, query):
        with contextlib.suppress(Error):
            self.page.goto(self.server.address + query, wait_until="commit", timeout=20_000)

    def act(self):
        self.acts += 1
        how = self.rng.random()
        with contextlib.suppress(Error):
            if how < 0.65:
                self._click()
            elif how < 0.85:
                self._type()
            elif how < 0.95:
                self._upload()
            elif how < 0.98:
                self._come("?design=" + (link(self.rng) if self.rng.random() < 0.7 else "eJxx"))
            else:
                self._come("")
        assert self.page.locator("[data-testid=stException]").count() == 0, self.page.inner_text("body")[:2000]

    def _click(self):
        element = self.page.evaluate_handle(PICK, [CLICKS, self.rng.random()]).as_element()
        if element:
            element.dispatch_event("click")  # at once, whatever is being drawn

    def _type(self):
        element = self.page.evaluate_handle(PICK, [ENTRIES, self.rng.random()]).as_element()
        if element:
            element.fill(self.rng.choice(TYPED), force=True)
            element.press("Enter", no_wait_after=True)

    def _upload(self):
        boxes = self.page.locator("input[type=file]")
        if boxes.count():
            name, content = table(self.rng)
            file = {"name": name, "mimeType": "text/csv", "buffer": content}
            boxes.nth(self.rng.randrange(boxes.count())).set_input_files(file)

    def leave(self):
        with contextlib.suppress(Error):
            self.context.close()


def table(rng):
    """A file's name and content: a table with hostile names, a large one, or none at all."""
    rows = [f"{rng.choice(NAMES)} {rng.randrange(5)},{rng.randrange(90)}" for _ in range(50)]
    content = "\n".join([f"{rng.choice(NAMES)},b", *rows]).encode()
    repeated = LARGE // len(content)
    return rng.choice(
        [
            ("a.csv", content),
            ("a.csv", content + b"\n" + b"\n".join([content.split(b"\n", 1)[1]] * repeated)),
            ("b.csv", b"\x89PNG" + bytes(99)),
            ("configuration.json", b'{"format": "ldp-design"'),
            ("configuration.json", design(rng).to_json()),
            ("a.xlsx", b"PK\x03\x04"),
        ]
    )


def design(rng):
    name = rng.choice(NAMES)
    values = tuple(f"{rng.choice(NAMES)} {i}" for i in range(rng.randint(2, 20)))
    domain = Domain(attributes=(CategoricalAttribute(name=name, values=values),))
    parts = (HistogramPart(attribute=name),)
    return designs.Configuration(domain=domain, workload=designs.WorkloadRecipe(parts=parts))


def link(rng):
    return designs.to_link(design(rng))


@pytest.mark.slow
@pytest.mark.timeout(60 * MINUTES + 900)
def test_many_people_at_once(browser, tmp_path):
    print(f"\nSOAK_SEED={SEED}, {SESSIONS} sessions, {MINUTES:g} minutes")
    rng, server = random.Random(SEED), Server(tmp_path)
    try:
        server.wait()
        people = [Person(browser, server, rng) for _ in range(SESSIONS)]
        start = reported = time.monotonic()
        while time.monotonic() < start + 60 * MINUTES:
            people[rng.randrange(len(people))].act()
            if time.monotonic() > reported + REPORTED:
                reported = time.monotonic()
                server.check()
                print(f"{reported - start:4.0f} s: {sum(p.acts for p in people):,} acts, {server.memory():,} MiB")
        for person in people:
            person.leave()
        server.check()
        server.wait()  # it still answers
        print(f"they have left: {server.memory():,} MiB")
        assert sum(person.acts for person in people) >= SESSIONS
        assert not [url for person in people for url in person.elsewhere]
    finally:
        server.process.terminate()
        server.process.wait(timeout=20)
