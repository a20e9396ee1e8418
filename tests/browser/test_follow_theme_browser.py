"""A page that stays open when the browser turns dark, as many do in the evening: its charts can be read at once."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

WORDS = """colour => { const words = [...document.querySelectorAll('.js-plotly-plot .xtick text')];
    return words.length > 0 && words.every(one => getComputedStyle(one).fill === colour); }"""
LIGHT, DARK = "rgb(38, 39, 48)", "rgb(250, 250, 250)"


@pytest.fixture(scope="module")
def designer(guest):
    guest.button("begin").click()
    expect(guest.page.locator("h1")).to_have_text("Design")
    return guest


@pytest.mark.promise
@pytest.mark.parametrize("page", ["Design", pytest.param("Bounds", marks=pytest.mark.slow)])
def test_charts_follow_the_browser_into_the_dark_and_back(designer, page):
    designer.go(page)
    for scheme, colour in (("light", LIGHT), ("dark", DARK), ("light", LIGHT)):
        designer.page.emulate_media(color_scheme=scheme)
        designer.page.wait_for_function(WORDS, arg=colour, timeout=PATIENCE)
    expect(designer.page.locator(".st-key-look-again")).to_be_hidden()
