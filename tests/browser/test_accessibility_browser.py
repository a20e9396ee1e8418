"""Every page, light and dark, before there is a design and with one: axe-core has nothing serious or moderate to say, and keys are enough."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = [
    "Start",
    "Data",
    "Workload",
    "Design",
    "Compare",
    "Bounds",
    "Plan",
    "Simulate",
    "Ask",
    "Export",
    "Papers",
    "Guide",
]
OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
STREAMLITS_OWN = {
    # Lists of choices and help are put beside the page, outside its landmarks; they have names, and are left with Escape.
    "region": ("[role=listbox]", "[data-floating-ui-portal]", "#stFloatingOverlayPortal"),
}
"""What cannot be changed from here: rule, and the only elements that may break it."""

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
        const [one, other] = [light(over(numbers(colour), ground(element))), light(ground(element))].sort((a, b) => b - a);
        return (one + 0.05) / (other + 0.05);
    };
    const captions = [...document.querySelectorAll('[data-testid=stCaptionContainer] p')].map(e => [e, getComputedStyle(e).color]);
    const hints = [...document.querySelectorAll('[placeholder]')].map(e => [e, getComputedStyle(e, '::placeholder').color]);
    return [...captions, ...hints].filter(([e, colour]) => e.checkVisibility() && ratio(e, colour) < 4.5)
        .map(([e, colour]) => `${e.textContent || e.placeholder}: ${ratio(e, colour).toFixed(2)}`);
}"""


def faults(page):
    """What axe-core finds wrong, but for what is minor and what Streamlit alone can change; and what is too faint to read."""
    found = []
    for broken in Axe().run(page, options=OPTIONS).response["violations"]:
        for node in broken["nodes"]:
            own = ", ".join(STREAMLITS_OWN.get(broken["id"], ()))
            if broken["impact"] != "minor" and not (
                own and page.locator(node["target"][0]).first.evaluate(f"e => e.matches('{own}')")
            ):
                found.append((broken["id"], node["html"][:200], node["failureSummary"]))
    return found + page.evaluate(FAINT)


def stops(page, most=120):
    """What the Tab key leads to on the whole page, in its order, and whether each can be seen to have the focus."""
    page.evaluate("document.activeElement.blur()")
    found = []
    for _ in range(most):
        page.keyboard.press("Tab")
        found.append(
            page.evaluate(
                "() => { const e = document.activeElement; return e === document.body ? null : [e.className + '', e.closest('.stPlotlyChart') !== null] }"
            )
        )
    return found


@pytest.fixture(params=["light", "dark"])
def visitor(visit, request):
    return visit(request.param)


def test_before_there_is_a_design(visitor):
    assert not faults(visitor.page)
    visitor.go("Data")
    visitor.drawn()
    assert not faults(visitor.page)


def test_with_an_optimised_design(visitor):
    visitor.page.get_by_test_id("stSidebar").get_by_role("button", name="Sample data").click()
    visitor.page.get_by_test_id("stPopoverBody").get_by_role("button", name="Commutes").click()
    visitor.go("Design")
    visitor.button("optimise").click()
    expect(visitor.page.get_by_test_id("stSidebar").get_by_text("Gap to the best: at most")).to_be_visible()
    found = {}
    for title in PAGES:
        visitor.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
        expect(visitor.page.locator("h1")).to_have_text("Learn about" if title == "Start" else title)
        visitor.drawn()
        found[title] = faults(visitor.page)
    assert not {title: wrong for title, wrong in found.items() if wrong}
