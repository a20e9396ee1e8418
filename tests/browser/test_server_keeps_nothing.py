"""Rows do not reach a disk, and sessions leave nothing once their hour is over or everything is to be forgotten: read off a real
server's open files and objects."""

import json
import os
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import Visitor, begin, beside, serve
from tests.browser.raw import RawVisitor

MEGABYTE = 10**6
INSTALLED, COMPILED = tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix))), (".py", ".pyc")
"""What is read while something is imported."""
PATIENCE = 1200  # seconds until what is bound to happen has happened


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A server that says what it holds, and holds for an hour what was left: its address, its process, and where it says so."""
    folder = tmp_path_factory.mktemp("counted")
    place = folder / "counts.json"
    counting = {"PYTHONPATH": str(Path(__file__).parent / "counting"), "COUNTS": str(place), "LDP_HELD_SECONDS": "3600"}
    options = ["--server.disconnectedSessionTTL", "1"]
    with serve(folder / "log.txt", options, {**os.environ, **counting}) as (address, process):
        yield address, process, place


def at_uploader(address, cookies=""):
    visitor = RawVisitor(address, cookies)
    visitor.press("own-data")
    visitor.go("data")
    return visitor


def files_on_disk(process):
    """(target, bytes) of the regular files a process has open, deleted ones included. Shared memory is none."""
    found = {}
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            target, size = os.readlink(link), link.stat().st_size
        except OSError:  # closed meanwhile
            continue
        if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/memfd:")):
            found[target] = size
    return found


def rows(megabytes):
    line = b"17,Zanzibar,2026-01-01\n"
    yield b"age,place,day\n"
    for _ in range(megabytes):
        yield line * (MEGABYTE // len(line))


def counts(place, wanted, **settings):
    """What the server holds, once it has taken the ``settings`` and that is ``wanted`` of it."""
    deadline, asked = time.monotonic() + PATIENCE, place.with_suffix(".asked")
    while True:
        place.unlink(missing_ok=True)
        asked.with_suffix(".new-asked").write_text(json.dumps(settings))
        asked.with_suffix(".new-asked").replace(asked)
        while not place.exists():
            assert time.monotonic() < deadline, "the server does not count: its log says why"
            time.sleep(0.05)
        found = json.loads(place.read_text())
        if wanted(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.5)


def test_what_is_held_can_be_forgotten_at_once(counted, browser):
    """By one who has an open tab with a table, another with a sample, and has closed a third with a table."""
    address, _, place = counted
    visitor = Visitor(browser, address)
    with closing(visitor.context):
        page, other = visitor.page, beside(visitor.page)
        table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"age,place\n1,a\n2,b\n3,c\n2,c\n"}
        visitor.upload(table, page.get_by_text(words.READ.format("a.csv")))
        third = at_uploader(address, "; ".join(f"{one['name']}={one['value']}" for one in visitor.context.cookies()))
        third.upload("CSV", "a.csv", [table["buffer"]])
        other.goto(address)
        begin(other)
        third.leave()

        def all_there(found):  # a table that was handed over twice is kept twice, for undo
            return found.get("tabs") == 2 and found["tables"] >= 2

        found = counts(place, all_there)
        assert all_there(found)
        assert found["sessions"] == 3
        visitor.forget()
        page.reload()
        expect(page.get_by_test_id("stSidebar")).to_contain_text(words.EMPTY)
        found = counts(place, lambda found: not found["tables"] + found["bytes"])
        assert (found["tables"], found["bytes"]) == (0, 0)
        other.get_by_test_id("stTopNavLink").filter(has_text="Bounds").click()
        expect(other.get_by_text(words.GONE).first).to_be_visible()
        expect(other.get_by_test_id("stSidebar")).to_contain_text(words.EMPTY)
        found = counts(place, lambda found: not found["frames"] + found["designs"] and found["tabs"] == 2)
        assert (found["frames"], found["designs"], found["tabs"]) == (0, 0, 2)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")
def test_an_upload_stands_in_no_file_as_is_said(counted):
    address, process, _ = counted
    visitor = at_uploader(address)
    before, seen = files_on_disk(process), {}

    def pieces():
        for piece in rows(12):
            yield piece
            time.sleep(0.02)
            seen.update(files_on_disk(process))  # while the upload is under way: most of it has been sent and read

    stop = threading.Event()

    def look():
        while not stop.is_set():
            seen.update(files_on_disk(process))
            time.sleep(0.005)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        visitor.upload("CSV", "people.csv", pieces())
    finally:
        stop.set()
        looking.join()
        visitor.leave()
    read = {name for name in seen if name in before or name.startswith(INSTALLED) or name.endswith(COMPILED)}
    new = {name: size for name, size in seen.items() if name not in read}
    found = {name: size for name, size in new.items() if size > 100_000 or "deleted" in name}
    (said,) = [words for shown, words in visitor.helps.items() if shown.startswith("CSV")]
    assert "not written to disk" in said
    assert not found


@pytest.mark.parametrize("visits", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_sessions_that_have_left_are_gone(counted, visits):
    address, _, place = counted
    before = counts(place, lambda found: not any(found.values()), LDP_HELD_SECONDS="1")  # what other tests have left
    assert not any(before.values())
    visitors = [at_uploader(address) for _ in range(visits)]
    for i, visitor in enumerate(visitors):
        visitor.upload(
            "CSV", f"people{i}.csv", [b"age,place\n", *(b"%d,town %d\n" % (k + i, k % 7) for k in range(300))]
        )

    def all_there(found):
        return found.get("sessions") == found.get("tables") == visits

    held = counts(place, all_there)
    assert all_there(held)
    assert min(held["frames"], held["designs"]) >= visits
    assert held["bytes"] > 3000 * visits
    for visitor in visitors:
        visitor.go("workload")  # a certificate begins by itself there: a job that holds the design
        visitor.leave()
    left = counts(place, lambda found: not any(found.values()))
    assert left == dict.fromkeys(held, 0)
