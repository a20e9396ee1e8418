"""Somebody presses whatever there is, in no order: no page ever shows a traceback, an empty screen or an error in the console."""

import os
import random

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PAGES

PRESSES = int(os.environ.get("MONKEY_PRESSES", "8"))
SEED = int(os.environ.get("MONKEY_SEED", "0"))
OTHERS = PAGES[1:]
"""All pages but the first, from which a button leads on."""
CONTROLS = ", ".join(
    f"{place} {what}"
    for place in ("[data-testid=stMain]", "[data-testid=stSidebar]", "[data-testid=stPopoverBody]")
    for what in (
        "button:not([disabled]):not([role=option])",
        "[data-testid=stPageLink] a",
        "summary",
        "input:not([type=file]):not([disabled])",
        "textarea:not([disabled])",
    )
)
TYPED = (
    "",
    "0",
    "1",
    "-1",
    "2.5",
    "1e9",
    "7",
    "abc",
    "=1+1",
    "<b>x</b>",
    "50 of 100",
    "age > 3",
    "1 2 3",
    "\N{SNOWMAN}",
    "0.01",
)
# Downloads and uploads are the browser's own business; these say where the page and its charts are, not what is designed.
LEFT_ALONE = (
    "stDownloadButton",
    "stFileUploader",
    "stElementToolbar",
    "modebar",
    "stToolbar",
    "stBaseButton-elementToolbar",
)


CHOOSE = """([controls, alone, chance]) => {
    const about = e => ({element: e, tag: e.tagName, type: e.type || '', role: e.getAttribute('role') || '',
        name: (e.getAttribute('aria-label') || e.textContent || '').slice(0, 60)});
    const around = e => [...function*() { for (let at = e; at; at = at.parentElement)
        yield (at.dataset?.testid || '') + ' ' + (at.className.baseVal ?? at.className); }()].join(' ');
    const there = [...document.querySelectorAll(controls)].filter(e => e.getClientRects().length)
        .filter(e => !alone.some(part => around(e).includes(part)));
    return about(there[Math.floor(chance * there.length)]);
}"""


def _choose(page, chance):
    """A visible control, and what a person would call it."""
    chosen = page.evaluate_handle(CHOOSE, [CONTROLS, LEFT_ALONE, chance])
    about = chosen.evaluate("({tag, type, role, name}) => ({tag, type, role, name})")
    return chosen.get_property("element").as_element(), about


def _press(page, control, about, chance):
    if about["tag"] == "TEXTAREA":
        control.fill(chance.choice(TYPED), timeout=2000)
        control.press("Control+Enter", timeout=2000)
    elif about["role"] == "combobox":
        control.click(timeout=2000)
        options = page.get_by_role("option")
        if many := options.count():  # once: the list may close meanwhile
            options.nth(chance.randrange(many)).click(timeout=2000)
        page.keyboard.press("Escape")
    elif about["type"] in ("checkbox", "radio"):
        control.evaluate("e => e.click()")
    elif about["role"] == "slider" or about["type"] == "range":
        control.press(chance.choice(("ArrowLeft", "ArrowRight", "Home", "End")), timeout=2000)
    elif about["tag"] == "INPUT":
        control.click(timeout=2000)
        page.keyboard.press("Control+a")
        page.keyboard.type(chance.choice(TYPED))  # what is no number cannot be typed everywhere
        page.keyboard.press("Enter")
    else:
        control.click(timeout=2000)


def _press_anything(visitor, presses, seed):
    """``presses`` controls on all pages; each step is written down, to be read where a check fails."""
    page, chance, steps = visitor.page, random.Random(seed), []
    while len(steps) < presses:
        broken = page.get_by_test_id("stException")
        expect(page.locator("h1").or_(broken).first).to_be_visible()  # an empty screen would get neither
        visitor.drawn()
        assert broken.count() == 0, steps
        assert visitor.problems == [], steps
        if chance.random() < 0.15:
            title = chance.choice(OTHERS)
            page.keyboard.press("Escape")
            page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
            steps.append(f"go to {title}")
            continue
        control, about = _choose(page, chance.random())
        steps.append(f"{page.title()}: {about['tag']} {about['type']} {about['name']}")
        try:
            _press(page, control, about, chance)
        except (
            Exception
        ) as error:  # it went away, or something lies over it: a person would have pressed something else
            if "Timeout" not in str(error) and "not attached" not in str(error) and "not visible" not in str(error):
                raise
            page.keyboard.press("Escape")
    return steps


@pytest.mark.promise
def test_some_random_presses(guest):
    guest.button("begin").click()
    expect(guest.page.locator("h1")).to_have_text("Design")
    _press_anything(guest, PRESSES, SEED)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_two_thousand_random_presses(visit, seed):
    visitor = visit()
    visitor.button("begin").click()
    expect(visitor.page.locator("h1")).to_have_text("Design")
    assert len(_press_anything(visitor, 250, seed)) == 250
