"""Before there is a design, and with what opens: axe-core has nothing serious or moderate to say, and keys are enough. Every page of a
design that is optimised is looked at in test_frame_browser.py."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import COLOURS, OPTIONS, faults, turn
from tests.browser.conftest import SIZE

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
BESIDE = """table => {
    const [name, number] = table.querySelector('tbody tr').children, rest = table.parentElement;
    rest.scrollLeft = rest.scrollWidth;
    const moved = rest.scrollLeft, left = name.getBoundingClientRect().left - rest.getBoundingClientRect().left;
    return [moved, left, getComputedStyle(name).backgroundColor, getComputedStyle(document.querySelector('.stApp')).backgroundColor,
            getComputedStyle(number).textAlign];
}"""


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
    if visitor.page.get_by_test_id("stSidebar").get_by_text("Data: not chosen").count():
        visitor.go("Start")
        visitor.button("begin").click()
        expect(visitor.page.locator("h1")).to_have_text("Design")


BEFORE = [
    ("Start", "light"),
    ("Data", "dark"),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in (("Start", "dark"), ("Data", "light"))),
]


@pytest.mark.slow  # walks the pages as they were before these became eight
@pytest.mark.parametrize(("title", "scheme"), BEFORE)
def test_nothing_is_wrong_before_there_is_a_design(visitor, title, scheme):
    if not visitor.page.get_by_test_id("stSidebar").get_by_text("Data: not chosen").count():
        visitor.forget()
    visitor.go(title)
    turn(visitor, scheme)
    assert not faults(visitor.page)


@pytest.mark.slow  # walks the pages as they were before these became eight
@pytest.mark.parametrize(
    ("scheme", "options"), [("light", OPTIONS), pytest.param("dark", COLOURS, marks=pytest.mark.slow)]
)
def test_nothing_is_wrong_with_what_opens_and_escape_closes_it(analyst, scheme, options):
    analyst.go("Design")
    turn(analyst, scheme)
    found = dict(opened(analyst.page, options))
    assert len(found) > 3
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


def test_the_tab_key_leads_everywhere_and_its_way_is_seen(analyst):
    analyst.go("Compare")
    while (stops := tabbed(analyst)) is None:
        pass
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
    while not stops or not stops[-1]["over"]:
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
    return stops if tool.evaluate("tool => tool.isConnected") else None


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.slow)])
def test_mechanisms_stay_beside_their_numbers_on_a_phone(analyst, scheme):
    analyst.go("Compare")
    turn(analyst, scheme)
    analyst.page.set_viewport_size({"width": 390, "height": 844})
    table = analyst.page.locator(".st-key-league-table table")
    if not table.is_visible():
        analyst.page.locator("summary", has_text="League").click()
    expect(table).to_be_visible()
    moved, left, behind, page, align = table.evaluate(BESIDE)
    assert moved > 100
    assert abs(left) < 2
    assert behind == page  # numbers that pass below it cannot be seen
    assert align == "right"
