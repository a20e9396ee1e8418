"""A page that waits for work answers whatever is pressed before that work ends, and leaves nothing of a tab that closes."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visitor
from tests.browser.raw import RawVisitor

TABS = 20
PROVING = "Proving what no mechanism can beat"


@pytest.fixture
def hold(server):
    """The proofs of the server wait while this file is there."""
    server[-1].touch()
    yield server[-1]
    server[-1].unlink(missing_ok=True)


def threads(process):
    return len(list(Path(f"/proc/{process.pid}/task").iterdir()))


@pytest.mark.promise
def test_what_is_pressed_is_answered_while_the_page_waits_and_work_outlives_it(browser, address, hold):
    visitor = Visitor(browser, address)
    visitor.begin()
    proving = visitor.page.locator(".st-key-jobs").get_by_text(PROVING)
    expect(proving.first).to_be_visible()
    visitor.more()
    visitor.enter("epsilon-text", "2")
    expect(visitor.sidebar.get_by_role("link", name="Epsilon: 2", exact=True)).to_be_visible()
    for page in ("Guide", "Data", "Export"):  # the last shows nothing of its kit without the proof
        visitor.go(page)
        visitor.drawn()
        expect(proving.first).to_be_visible()
    expect(visitor.button("writing")).to_be_visible()
    expect(visitor.button("download-kit")).to_have_count(0)
    visitor.page.reload()
    expect(visitor.button("writing")).to_be_visible()
    expect(proving.first).to_be_visible()
    visitor.go("Bounds")
    stop = visitor.button("cancel-proof")
    stop.click()
    expect(stop).to_have_count(0)
    expect(visitor.button("prove")).to_be_visible()
    hold.unlink()  # all of that came before the work was done
    expect(proving).to_have_count(0)
    visitor.go("Export")
    expect(visitor.button("download-kit")).to_be_visible()
    # Loaded anew under the address of a page, Streamlit asks for its server below that first, twice.
    assert [problem.count("404") for problem in visitor.problems] == [1, 1]
    visitor.problems.clear()
    visitor.leave()


@pytest.mark.slow
def test_tabs_closed_while_their_pages_wait_leave_no_thread(server, hold):
    url, process, *_ = server
    first = RawVisitor(url)
    first.press("begin", drawn=True)  # whatever is begun once is there
    before = threads(process)
    tabs = [RawVisitor(url) for _ in range(TABS)]
    for tab in tabs:
        tab.press("begin", drawn=True)
    assert threads(process) >= before + TABS, "each page waits in a thread"
    for tab in tabs:
        tab.leave()
    deadline = time.monotonic() + PATIENCE / 1000
    while threads(process) > before:
        assert time.monotonic() < deadline, f"{threads(process)} threads are left, and there were {before}"
        time.sleep(0.5)
    first.leave()
