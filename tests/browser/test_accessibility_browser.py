"""Every page, light and dark, before there is a design and with one: axe-core has nothing serious or moderate to say, and keys are enough."""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import PAGES

ASKED = {"Plan": "recommend", "Simulate": "run", "Ask": "ask-put", "Collect": "count"}
"""What has to be pressed before a page shows all it has."""
MAIN = "[data-testid=stMain]"
WITH_TABS = ("Workload", "Design", "Compare", "Simulate")
EXPLAINED = ("Workload", "Design", "Simulate")
"""Pages with formulas among what is folded away."""
OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]}
"""Light and dark differ in nothing but colours: in the dark, those are looked at."""
LIT = """() => [...document.querySelectorAll('.js-plotly-plot .xtick text')].filter(words => words.checkVisibility())
    .every(words => getComputedStyle(words).fill === 'rgb(250, 250, 250)')"""
"""Whether the words in charts are made for the dark."""
STREAMLITS_OWN = {
    # Lists of choices and help are put beside the page, outside its landmarks; they have names, and are left with Escape.
    "region": "[role=listbox], [data-floating-ui-portal], #stFloatingOverlayPortal",
}
"""What cannot be changed from here: rule, and the only elements that may break it."""
TORN = ".katex-error"
"""Formulas that are not typeset."""
NAMELESS = """.stPlotlyChart:not([aria-label]), [data-testid=stDataFrame]:not(:has([role=region][aria-label])),
    [data-testid=stTable]:not(:has(table[aria-label]))"""
# axe-core leaves out what something might lie above, such as the sidebar, and hints in empty entries.
FAINT = """() => {
    const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
    const over = (above, below) => above.slice(0, 3).map((c, i) => c * (above[3] ?? 1) + below[i] * (1 - (above[3] ?? 1)));
    const ground = element => {
        if (!element) return [255, 255, 255];
        const own = numbers(getComputedStyle(element).backgroundColor);
        return (own[3] ?? 1) === 1 ? own : over(own, ground(element.parentElement));
    };
    const light = colour => colour.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (element, colour) => {
        const below = ground(element), lights = [light(over(numbers(colour), below)), light(below)];
        return (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    };
    const captions = [...document.querySelectorAll('[data-testid=stCaptionContainer] p')].map(e => [e, getComputedStyle(e).color]);
    const hints = [...document.querySelectorAll('[placeholder]')].map(e => [e, getComputedStyle(e, '::placeholder').color]);
    return [...captions, ...hints].filter(([e, colour]) => e.checkVisibility() && ratio(e, colour) < 4.5)
        .map(([e, colour]) => `${e.textContent || e.placeholder}: ${ratio(e, colour).toFixed(2)}`);
}"""
FOCUSED = """() => {
    const element = document.activeElement, style = getComputedStyle(element);
    return {
        name: element.ariaLabel || element.innerText || element.tagName,
        chart: element.closest('.stPlotlyChart') !== null,
        // The border around entries changes; the page itself is where the link at the beginning leads.
        seen: style.outlineStyle !== 'none' || style.boxShadow !== 'none' || element.matches('input, textarea, main'),
        over: element === document.body,
    };
}"""


@pytest.fixture
def visitor(visit):
    return visit()


def begin(visitor):
    visitor.button("begin").click()
    expect(visitor.page.locator("h1")).to_have_text("Design")


def turn(visitor, scheme):
    """Light or dark from the next page on, as in a browser that follows the time of day."""
    visitor.page.emulate_media(color_scheme=scheme)
    grounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 20)"}
    expect(visitor.page.get_by_test_id("stApp")).to_have_css("background-color", grounds[scheme])


def faults(page, options=OPTIONS, context=None):
    """What axe-core finds wrong, on the page or in a part of it, but for what is minor and what Streamlit alone can change; what is
    too faint; what has no name; formulas that are not typeset."""
    found = page.evaluate(FAINT) + page.locator(TORN).all_inner_texts()
    axe = Axe("" if page.evaluate("() => 'axe' in window") else AXE_SCRIPT)  # reading it takes long, and once is enough
    for rule in axe.run(page, context, options).response["violations"]:
        own = STREAMLITS_OWN.get(rule["id"])
        for node in rule["nodes"] if rule["impact"] != "minor" else []:
            if not own or not page.locator(node["target"][0]).first.evaluate("(one, own) => one.matches(own)", own):
                found.append((rule["id"], node["html"][:200], node["failureSummary"]))
    return found + page.locator(NAMELESS).evaluate_all("all => all.map(one => 'no name: ' + one.className)")


def behind_tabs_and_folds(visitor, title):
    """The faults of every tab of the page but the open one, and then of the page with all that is folded away open."""
    page, found = visitor.page, {}
    for tab in page.get_by_test_id("stMain").get_by_role("tab").all()[1:]:
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        visitor.drawn()
        found[title, tab.inner_text()] = faults(page, context=MAIN)  # the rest has not changed
    folded = page.locator("[data-testid=stMain] details:not([open]) > summary:visible")
    while folded.count():
        folded.first.click()
        visitor.drawn()
    if title in EXPLAINED:
        expect(page.locator("[data-testid=stMain] .katex:visible").first).to_be_visible()
    found[title, "unfolded"] = faults(page, context=MAIN)
    return found


def test_nothing_is_wrong_before_there_is_a_design(visitor):
    visitor.drawn()
    assert not faults(visitor.page)
    visitor.go("Data")
    visitor.drawn()
    assert not faults(visitor.page)
    turn(visitor, "dark")
    for title in ("Data", "Start"):
        open_page(visitor, title)
        visitor.drawn()
        assert not faults(visitor.page, COLOURS), title


def open_page(visitor, title):
    visitor.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
    expect(visitor.page.locator("h1")).to_have_text(re.compile("Learn about" if title == "Start" else title))


def test_nothing_is_wrong_with_a_design_that_is_optimised(visitor):
    begin(visitor)
    visitor.optimise()
    found = {}
    for title in PAGES:
        open_page(visitor, title)
        if title == "Ask":
            visitor.entry("ask-condition").fill("age >= 30")
            visitor.entry("ask-condition").press("Enter")
        if title == "Collect":
            visitor.page.get_by_role("radio", name="Try it").click()
        if title in ASKED:
            visitor.button(ASKED[title]).click()
            expect(shown(visitor)).to_be_visible()
        visitor.drawn()
        found[title, "light"] = faults(visitor.page)
        if title in WITH_TABS:
            found.update(behind_tabs_and_folds(visitor, title))
    assert len(found) > len(PAGES) + 10
    turn(visitor, "dark")
    for title in PAGES:
        open_page(visitor, title)
        visitor.drawn()
        tabs = visitor.page.get_by_test_id("stMain").get_by_role("tab")
        if tabs.count():
            tabs.first.click()  # the last one was left open
        if title in ASKED:
            expect(shown(visitor)).to_be_visible()
        visitor.drawn()
        visitor.page.wait_for_function(LIT)
        found[title, "dark"] = faults(visitor.page, COLOURS)
    assert not {title: wrong for title, wrong in found.items() if wrong}


def shown(visitor):
    """The first table in the results."""
    return visitor.page.locator("[data-testid=stMain] [data-testid=stDataFrame]:visible").first


def test_nothing_is_wrong_with_what_opens_and_escape_closes_it(visitor):
    begin(visitor)
    visitor.drawn()
    found = {}
    for scheme, options in (("light", OPTIONS), ("dark", COLOURS)):
        turn(visitor, scheme)
        for name, wrong in opened(visitor.page, options):
            found[name, scheme] = wrong
    assert len(found) > 6
    assert not {place: wrong for place, wrong in found.items() if wrong}


def opened(page, options):
    """(name, faults) of everything that opens, opened and closed with keys."""
    for button in page.get_by_test_id("stPopoverButton").filter(visible=True).all():
        button.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        page.keyboard.press("Tab")
        yield button.inner_text(), faults(page, options)
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        expect(button).to_be_focused()


def test_the_tab_key_leads_everywhere_and_its_way_is_seen(visit):
    visitor = visit()
    begin(visitor)
    visitor.go("Compare")
    page, tools = visitor.page, visitor.page.locator(".stPlotlyChart:visible .modebar")
    expect(tools).to_have_count(1)
    page.locator("h1").click()
    stops = []
    while not stops or not stops[-1]["over"]:
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        if stops[-1]["chart"]:
            expect(tools).to_have_css("opacity", "1")
            page.keyboard.press("ArrowRight")
            assert page.evaluate(FOCUSED)["chart"]
            assert page.evaluate(FOCUSED)["name"] != stops[-1]["name"]
    assert sum(stop["chart"] for stop in stops) == 1
    assert not [stop["name"] for stop in stops[:-1] if not stop["seen"]]
