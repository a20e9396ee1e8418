"""Every page before there is a design and with one: axe-core has nothing serious or moderate to say, and keys are enough; every page
leads on, and what matters most is above the fold. In the dark, pages are looked at in test_frame_browser.py."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from ldp_core.designs.configuration import Optimizer
from pages.ui.data import choice as data_choice
from pages.ui.session.state import Session
from tests.browser.axe import ASKED, COLOURS, OPTIONS, ask, faults, turn
from tests.browser.conftest import SIZE

LEADS_ON = {
    "Data": "Workload",
    "Workload": "Design",
    "Design": "Compare",
    "Compare": "Plan",
    "Plan": "Simulate",
    "Simulate": "Export",
    "Export": "Collect",
    "Collect": "Papers",
    "Papers": "Data",
    "Bounds": "Plan",
    "Ask": "Export",
    "Guide": "Data",
}
PRIMARY = {"Plan": "recommend", "Simulate": "run", "Export": "download"}
MAIN = "[data-testid=stMain]"
WITH_TABS = ("Workload", "Design", "Compare", "Simulate")
EXPLAINED = ("Workload", "Design", "Simulate")
"""Pages with formulas among what is folded away."""
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


@pytest.fixture(scope="module")
def walk(guest):
    """All pages of a design that is optimised, looked at once: what is wrong with each, where it leads, and where what matters ends."""
    seen = SimpleNamespace(found={}, leads={}, ends={})
    guest.page.set_viewport_size(SIZE)
    turn(guest, "light")
    guest.load(few_rounds(), "The design was loaded.")
    guest.go("Start")  # which takes that sentence away
    guest.go("Design")
    guest.drawn()
    seen.ends["Design"] = end(guest.button("optimise"))
    guest.optimise()
    expect(guest.metric("Audited epsilon")).to_be_visible()
    guest.drawn()
    seen.ends["what it costs"] = end(guest.page.locator(".st-key-metrics-design"))
    at = None
    for title in ("Start", *LEADS_ON):
        if LEADS_ON.get(at) == title:
            guest.button("next").click()
            expect(guest.page.locator("h1")).to_have_text(title)
        else:
            guest.go(title)
        guest.drawn()
        at = title
        if title in LEADS_ON:
            seen.leads[title] = guest.button("next").inner_text()
        if title in PRIMARY:
            seen.ends[title] = end(guest.button(PRIMARY[title]))
        if title in ASKED:
            ask(guest, title, "age >= 30")
            guest.drawn()
        seen.found[title] = faults(guest.page)
        if title in WITH_TABS:
            seen.found.update(behind_tabs_and_folds(guest, title))
    return seen


def begin(visitor):
    if visitor.page.get_by_test_id("stSidebar").get_by_text("Data: not chosen").count():
        visitor.go("Start")
        visitor.button("begin").click()
        expect(visitor.page.locator("h1")).to_have_text("Design")


def few_rounds():
    """The sample with a search of so many rounds: what is looked at does not depend on how good a design is."""
    state = Session("one")
    data_choice.load_sample(state, "survey_ages.csv")
    state.change(optimizer=Optimizer(max_rounds=20))
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": state.configuration.to_json()}


def end(part):
    """How far down the window a part of the page ends."""
    place = part.bounding_box()
    return place["y"] + place["height"]


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
        visitor.go(title)
        visitor.drawn()
        assert not faults(visitor.page, COLOURS), title


def test_nothing_is_wrong_with_what_opens_and_escape_closes_it(analyst):
    analyst.go("Design")
    analyst.drawn()
    found = {}
    for scheme, options in (("light", OPTIONS), ("dark", COLOURS)):
        turn(analyst, scheme)
        for name, wrong in opened(analyst.page, options):
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


def test_mechanisms_stay_beside_their_numbers_on_a_phone(analyst):
    analyst.go("Compare")
    analyst.drawn()
    analyst.page.set_viewport_size({"width": 390, "height": 844})
    table = analyst.page.locator(".st-key-league-table table")
    if not table.is_visible():
        analyst.page.locator("summary", has_text="League").click()
    for scheme in ("light", "dark"):
        turn(analyst, scheme)
        expect(table).to_be_visible()
        moved, left, behind, page, align = table.evaluate(BESIDE)
        assert moved > 100
        assert abs(left) < 2
        assert behind == page, scheme  # numbers that pass below it cannot be seen
        assert align == "right"


def test_nothing_is_wrong_with_a_design_that_is_optimised(walk):
    assert len(walk.found) > len(LEADS_ON) + 11
    assert not {place: wrong for place, wrong in walk.found.items() if wrong}


def test_every_page_leads_on(walk):
    assert walk.leads.keys() == LEADS_ON.keys()
    assert not {title: said for title, said in walk.leads.items() if f"Next: {LEADS_ON[title]}" not in said}


def test_primary_buttons_and_what_a_design_costs_are_above_the_fold(walk):
    assert len(walk.ends) == len(PRIMARY) + 2
    assert not {part: end for part, end in walk.ends.items() if end > SIZE["height"]}
