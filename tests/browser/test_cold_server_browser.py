"""A server that has just started: before app.py has run, Streamlit knows nothing but files."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import MORE, PAGES, ROOT, design, drawn, serve, still, turn_to
from tests.browser.raw import RawVisitor

LISTED = """window.listed = [];
new MutationObserver(() => {
    for (const link of document.querySelectorAll('a[href]:not([data-testid="stTopNavLink"])'))
        if (link.closest('[data-testid*="Nav"]')) window.listed.push(link.innerText.trim());
}).observe(document, { childList: true, subtree: true });"""
"""Notes the words of every link in a navigation other than the app's."""
FILES = {path.stem for path in (ROOT / "pages").glob("*.py")}


@pytest.mark.promise
def test_no_browser_is_told_to_list_files(address):
    visitor = RawVisitor(address, page="guide")
    visitor.leave()
    assert not visitor.lists_files


def test_a_cold_server_shows_no_file_names(browser, tmp_path):
    page = still(browser).new_page()
    page.add_init_script(LISTED)
    with serve(tmp_path / "before.txt") as (address, _):
        assert 'id="outline"' in page.goto(f"{address}/design").text()  # any page may be the first; before any script
        expect(page.get_by_test_id("stTopNavLink")).to_have_count(len(PAGES) - len(MORE))
        turn_to(page, "Data")
        drawn(page)
        assert not named(page)
    with serve(tmp_path / "after.txt", port=urlsplit(address).port):
        turn_to(page, "Bounds")
        expect(design(page)).to_contain_text(words.EMPTY)
        assert not named(page)
    page.context.close()


def named(page):
    """The files that a navigation listed."""
    return {name.lower() for name in page.evaluate("window.listed")} & FILES
