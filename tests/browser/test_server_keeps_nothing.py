"""Rows do not reach a disk, and sessions leave nothing once their hour is over or everything is to be forgotten: read off a real
server's open files and objects."""

import json
import os
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import Visitor, begin, beside, serve
from tests.browser.raw import RawVisitor

MEGABYTE = 10**6
INSTALLED, COMPILED = tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix, "/usr/lib"))), (".py", ".pyc")
"""What is read while something is imported."""
SHARED = Path("/dev/shm")
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


def files_on_disk(pid):
    """(target, bytes) of the regular files a process has open, deleted ones included. Shared memory is none."""
    found = {}
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):  # closed meanwhile
            target, size = os.readlink(link), link.stat().st_size
            if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/memfd:")):
                found[target] = size
    return found


def children(process):
    """The processes that a process has started, by any of its threads, and that still run."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [pid for listed in threads for pid in listed.read_text().split()]


def rows(megabytes):
    line = b"17,Zanzibar,2026-01-01\n18,Quito,2026-01-02\n"
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


def databases(folder):
    """An SQLite and a DuckDB file of some megabytes, by name."""
    names = ("people.db", "people.duckdb")
    with closing(sqlite3.connect(folder / names[0])) as small, duckdb.connect(str(folder / names[1])) as large:
        small.execute("CREATE TABLE people (age INTEGER, place TEXT)")
        small.executemany("INSERT INTO people VALUES (?, ?)", ((i % 90, f"Zanzibar {i}") for i in range(300_000)))
        small.commit()
        large.execute("CREATE TABLE people AS SELECT i % 90 AS age, 'Zanzibar ' || i AS place FROM range(300000) t(i)")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.promise
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")
@pytest.mark.parametrize("name", ["people.csv", "people.db", "people.duckdb"])
def test_an_upload_stands_in_no_file_as_is_said(counted, tmp_path, name):
    """Neither in one of the server nor of a process that it starts to read it."""
    address, process, _ = counted
    visitor = at_uploader(address)
    content = rows(12) if name.endswith(".csv") else [databases(tmp_path)[name]]
    before, shared, seen, stop = files_on_disk(process.pid), set(SHARED.iterdir()), {}, threading.Event()

    def pieces():
        for piece in content:
            yield piece
            time.sleep(0.02)

    def look():
        while not stop.is_set():
            for pid in [process.pid, *children(process)]:
                seen.update(files_on_disk(pid))
            time.sleep(0.005)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        visitor.upload("CSV", name, pieces())
        if not name.endswith(".csv"):
            visitor.type("given-query", "SELECT age, place FROM people ORDER BY place")
            visitor.press("given-run")
        deadline = time.monotonic() + PATIENCE
        while not any("age" in line for line in visitor.lines):  # it has been read, in the background
            assert time.monotonic() < deadline
            visitor.go("data")
    finally:
        stop.set()
        looking.join()
    read = {path for path in seen if path in before or path.startswith(INSTALLED) or path.endswith(COMPILED)}
    new = {path: size for path, size in seen.items() if path not in read}
    found = {path: size for path, size in new.items() if size > 100_000 or "deleted" in path}
    (said,) = {words for shown, words in visitor.helps.items() if shown.startswith("CSV")}
    visitor.leave()
    assert "not written to disk" in said
    assert not found
    assert not {path for path in set(SHARED.iterdir()) - shared if path.name.startswith("ldp-database")}


@pytest.mark.promise
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
