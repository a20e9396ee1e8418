"""Before there is a design, and with what opens: axe-core has nothing serious or moderate to say, and keys are enough. Every page of a
design that is optimised is looked at in test_frame_browser.py."""

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.axe import OPTIONS, faults, turn
from tests.browser.conftest import SIZE, until

OPENED = {"include": [["[data-testid=stPopoverBody]"], ["[data-testid=stPopover]"]]}
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
SHOWN_OR_GONE = "tool => !tool.isConnected || getComputedStyle(tool.closest('.modebar')).opacity === '1'"


@pytest.fixture
def visitor(guest):
    """As if they had just come, whatever a test before has left open."""
    guest.page.set_viewport_size(SIZE)
    turn(guest, "light")
    return guest


@pytest.fixture
def analyst(visitor):
    """One who has begun with the sample."""
    begin(visitor)
    return visitor


def begin(visitor):
    if visitor.sidebar.get_by_text(words.EMPTY).count():
        visitor.go("Start")
        visitor.begin()


def test_nothing_is_wrong_before_there_is_a_design_and_with_what_opens(visitor):
    """What opens is closed by Escape."""
    visitor.start_anew()
    for title, scheme in (("Start", "light"), ("Data", "dark")):
        visitor.go(title)
        turn(visitor, scheme)
        assert not faults(visitor.page)
    turn(visitor, "light")
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.drawn()
    assert not faults(visitor.page)
    visitor.page.set_viewport_size(SIZE)
    begin(visitor)
    visitor.optimise()
    visitor.drawn()
    expect(visitor.page.locator(".st-key-chart-trade-off .js-plotly-plot").locator("visible=true")).to_have_count(1)
    visitor.drawn()
    found = dict(opened(visitor.page, OPTIONS))
    assert len(found) > 2
    assert not {name: wrong for name, wrong in found.items() if wrong}


def opened(page, options):
    """(name, faults) of everything that opens, opened and closed with keys."""
    for button in page.get_by_test_id("stPopoverButton").filter(visible=True).all():
        button.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        page.keyboard.press("Tab")
        yield button.inner_text(), faults(page, options, OPENED)  # the rest has not changed
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        expect(button).to_be_focused()


@pytest.mark.promise
def test_the_tab_key_leads_everywhere_and_its_way_is_seen(analyst):
    analyst.go("Compare")
    stops = []
    until(analyst.page, lambda: stops.extend(tabbed(analyst) or ()) or stops)
    assert sum(stop["chart"] for stop in stops) == 1
    assert not [stop["name"] for stop in stops[:-1] if not stop["seen"]]


def tabbed(visitor):
    """Where the Tab key leads on a page with one chart, and the arrow keys among its tools; None where the chart was drawn anew
    meanwhile, as when a proof has ended, and what was in focus is gone."""
    page, tools = visitor.page, visitor.page.locator(".stPlotlyChart:visible .modebar")
    visitor.drawn()
    expect(tools).to_have_count(1)
    tool = tools.locator("button").first.element_handle()
    page.locator("h1").click()
    stops = []
    for _ in range(1000):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
        if stops[-1]["chart"]:
            page.wait_for_function(SHOWN_OR_GONE, arg=tool)
            page.keyboard.press("ArrowRight")
            after = page.evaluate(FOCUSED)
            if not tool.evaluate("tool => tool.isConnected"):
                return None
            assert after["chart"]
            assert after["name"] != stops[-1]["name"]
        if stops[-1]["over"]:
            break
    assert stops[-1]["over"], f"the Tab key goes on and on: {stops[-20:]}"
    return stops if tool.evaluate("tool => tool.isConnected") else None
