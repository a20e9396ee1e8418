"""The first visitor of a server that has just started: before app.py has run, Streamlit knows nothing but files."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PAGES, ROOT, drawn, serve, still

pytestmark = pytest.mark.slow
"""They walk the pages as they were before these became eight; run on request until they follow."""

LISTED = """window.listed = [];
new MutationObserver(() => {
    for (const link of document.querySelectorAll('a[href]:not([data-testid="stTopNavLink"])'))
        if (link.closest('[data-testid*="Nav"]')) window.listed.push(link.innerText.trim());
}).observe(document, { childList: true, subtree: true });"""
"""Notes the words of every link that stands in a navigation other than the app's."""
FILES = {path.stem for path in (ROOT / "pages").glob("*.py")}


@pytest.mark.parametrize("path", ["", pytest.param("/design", marks=pytest.mark.slow)])
def test_a_cold_server_never_shows_file_names(browser, tmp_path, path):
    with serve(tmp_path / "log.txt") as (address, _):
        context = still(browser)
        context.add_init_script(LISTED)
        page = context.new_page()
        page.goto(address + path)
        expect(page.get_by_test_id("stTopNavLink")).to_have_count(len(PAGES))
        drawn(page)
        listed = {words.lower() for words in page.evaluate("window.listed")}
        context.close()
    assert not listed & FILES
