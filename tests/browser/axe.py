"""What is wrong with a page for people who see little, or nothing: what axe-core finds, and what it leaves out."""

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]}
"""Light and dark differ in nothing but colours: in the dark, those are looked at."""
LIT = """scheme => [...document.querySelectorAll('.js-plotly-plot .xtick text')].filter(words => words.checkVisibility())
    .every(words => getComputedStyle(words).fill === {light: 'rgb(38, 39, 48)', dark: 'rgb(250, 250, 250)'}[scheme])"""
"""Whether the words in charts are made for light or dark."""
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


GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 20)"}


def turn(visitor, scheme):
    """Light or dark, as in a browser that follows the time of day, until the page has been drawn anew for it."""
    visitor.drawn()
    visitor.page.emulate_media(color_scheme=scheme)
    expect(visitor.page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[scheme])
    expect(visitor.page.locator(".st-key-look-again")).to_have_text(f"Draw the charts anew, now {scheme}")
    visitor.drawn()
    expect(visitor.page.locator("[data-stale=true]")).to_have_count(0)


def tint(visitor, scheme):
    """The same but for charts, which stay as they are until the next page is drawn."""
    again = visitor.page.locator(".st-key-look-again button")
    again.evaluate("button => { button.disabled = true; }")
    visitor.page.emulate_media(color_scheme=scheme)
    expect(visitor.page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[scheme])
    visitor.page.wait_for_timeout(200)  # longer than the page takes to see it
    again.evaluate("button => { button.disabled = false; }")


def faults(page, options=OPTIONS, context=None):
    """What axe-core finds wrong, on the page or in a part of it, but for what is minor and what Streamlit alone can change; what is
    too faint; what has no name; formulas that are not typeset."""
    page.mouse.move(1, 1)  # what lies under the pointer has another colour
    # While a page waits for its work Streamlit makes what it drew a little paler.
    expect(page.locator("[class*=st-key-job-]")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.locator("[data-testid=stSidebarNavItems] > div:not([role])")).to_have_count(
        0
    )  # mended a moment after it was drawn
    found = page.evaluate(FAINT) + page.locator(TORN).all_inner_texts()
    axe = Axe("" if page.evaluate("() => 'axe' in window") else AXE_SCRIPT)  # reading it takes long, and once is enough
    for rule in axe.run(page, context, options).response["violations"]:
        own = STREAMLITS_OWN.get(rule["id"])
        for node in rule["nodes"] if rule["impact"] != "minor" else []:
            # What opens over a page may have closed since: nothing is waited for.
            if not own or not page.locator(node["target"][0]).evaluate_all(
                "(all, own) => all.every(one => one.matches(own))", own
            ):
                found.append((rule["id"], node["html"][:200], node["failureSummary"]))
    return found + page.locator(NAMELESS).evaluate_all("all => all.map(one => 'no name: ' + one.className)")


def count_trial(visitor):
    """Count simulated reports on Collect, which then shows all it has."""
    visitor.page.get_by_role("radio", name="Try it").click()
    visitor.button("count").click()
    expect(visitor.main.locator("[class*=st-key-chart-collected] .js-plotly-plot:visible").first).to_be_visible()
    visitor.drawn()
