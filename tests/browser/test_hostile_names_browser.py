"""Names that are images, links, HTML, icons, colours, mathematics or scripts, on every page of a real browser: all are text."""

import re

import pytest
from playwright.sync_api import expect

from pages.ui.words import JOINER
from tests import hostile

FIRST, SECOND, THIRD = hostile.COLUMNS
LINKS = """() => [...document.querySelectorAll('a, area, form, iframe, object, embed, base')]
    .map(e => e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? e.src ?? e.action ?? '')
    .filter(to => to && new URL(to, location.href).host !== location.host)"""
MARKUP = """() => [...document.querySelectorAll(
    'img, [data-testid=stMain] .katex:not([data-testid=stExpander] .katex), sup, mark, [data-testid=stMarkdownContainer] del,'
    + ' [data-testid=stMarkdownContainer] [role=img], [data-testid=stMarkdownContainer] span[style*=color]')]
    .map(e => e.outerHTML.slice(0, 200))"""

FOLLOW = f"""() => {{
    window.said = []; window.linked = [];
    new MutationObserver(() => {{
        const side = document.querySelector('[data-testid=stSidebar]').textContent;
        const at = side.search(/Working/);
        if (at >= 0) window.said.push(side.slice(at));
        window.linked.push(...({LINKS})());
    }}).observe(document.body, {{subtree: true, childList: true, characterData: true}});
}}"""


@pytest.fixture
def attacked(visit):
    """A visitor who has uploaded the table, asks about two of its columns, and counts the dialogs that open."""
    visitor = visit()
    page = visitor.page
    visitor.dialogs = []
    page.on("dialog", lambda dialog: (visitor.dialogs.append(dialog.message), dialog.dismiss()))
    visitor.go("Data")
    page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
    page.locator("[data-testid=stMain] input[type=file]").set_input_files(
        {"name": hostile.FILE, "mimeType": "text/csv", "buffer": hostile.rows()}
    )
    expect(page.get_by_text("400 users, 4 types")).to_be_visible()
    for name, types in ((SECOND, 12), (THIRD, 24)):
        page.locator(".st-key-data-columns").get_by_role("combobox").click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"400 users, {types} types")).to_be_visible()
        visitor.drawn()
    page.keyboard.press("Escape")
    return visitor


def seen(visitor):
    """What is written on the page, sidebar and figures included; formulas are typeset, and have their source with them."""
    text = visitor.page.locator("[data-testid=stApp]").evaluate(
        """e => {
            const copy = e.cloneNode(true);
            copy.querySelectorAll('[data-testid=stExpander] .katex').forEach(formula => formula.remove());
            return copy.textContent;
        }"""
    )
    return re.sub(r"\s+", " ", text).replace(JOINER, "")


def check(visitor, *texts, named=True):
    """All ``texts``, and where the page is about people some name of the table, are there letter by letter."""
    visitor.drawn()
    names = [*hostile.COLUMNS, *(name for values in hostile.CATEGORIES for name in values)]
    for _ in range(1200):  # a part of the page may still be on its way
        shown = seen(visitor)
        about_people = any(name in shown.split("Redo", 1)[-1] for name in names)
        if all(text in shown for text in texts) and (about_people or not named):
            break
        visitor.page.wait_for_timeout(100)
    assert about_people or not named
    for text in texts:
        assert text in shown, text
    assert "\\" not in shown  # nothing is escaped twice
    assert visitor.page.evaluate(LINKS) == []
    assert visitor.page.evaluate(MARKUP) == []
    assert visitor.dialogs == []
    assert visitor.elsewhere == []


def _check_alone(visitor, download, file):
    """A chart as a file of its own is as harmless as on the page."""
    download.save_as(file)
    alone = visitor.context.new_page()
    requested = []
    alone.on("request", lambda request: requested.append(request.url))
    alone.on("dialog", lambda dialog: (visitor.dialogs.append(dialog.message), dialog.dismiss()))
    alone.goto(file.as_uri())
    expect(alone.locator(".xtitle")).to_have_text(THIRD)
    alone.locator(".nsewdrag").hover()
    expect(alone.locator(".hoverlayer")).to_contain_text(f"{FIRST} ")
    assert requested == [file.as_uri()]
    assert alone.locator(".js-plotly-plot a[href], .js-plotly-plot img, svg a").count() == 0
    alone.close()


def _fits_until_said(visitor, *texts):
    """Fit mechanisms until the sidebar has said all ``texts`` of one at work: a quick fit may be over before it is mentioned."""
    for attempt in range(1, 50):
        visitor.entry("epsilon-text").fill(f"1.{attempt:02}")
        visitor.entry("epsilon-text").press("Enter")
        expect(visitor.page.locator(".st-key-optimise")).to_contain_text("Optimise")
        visitor.drawn()
        visitor.button("optimise").click()
        expect(visitor.page.locator(".st-key-chart-patterns .js-plotly-plot")).to_be_visible()
        visitor.drawn()
        said = [line.replace(JOINER, "") for line in visitor.page.evaluate("() => window.said")]
        if any(all(text in line for text in texts) for line in said):
            return
    raise AssertionError(said)


def test_names_are_text_on_every_page(attacked, tmp_path):
    visitor, page = attacked, attacked.page
    check(visitor, f"× 3 {SECOND} × 2 {THIRD}.", f"How {hostile.FILE} was read", f"People by {THIRD} and {FIRST},")
    check(visitor, f"The most common value of {THIRD} is ", f"Column {FIRST}: 4 distinct values, 0 missing.")
    page.locator(".st-key-chart-joint .nsewdrag").hover()
    expect(page.locator(".st-key-chart-joint .hoverlayer")).to_contain_text(f"{FIRST} ")
    page.get_by_test_id("stDataFrame").last.hover()
    expect(page.get_by_label("Search").last).to_be_visible()  # the table's own tools, without their CSV
    assert page.get_by_label("Download as CSV").count() == 0
    with page.expect_download() as download:
        visitor.button("html-joint").click()
    _check_alone(visitor, download.value, tmp_path / "joint.html")

    visitor.go("Workload")
    page.locator(".st-key-group-0-questions").get_by_role("combobox").click()
    page.get_by_role("option", name="Conditions").click()
    visitor.drawn()
    box = page.locator(".st-key-group-0-conditions textarea")
    box.fill(hostile.condition() + f"\n{hostile.quoted(THIRD)} = {hostile.quoted(hostile.CATEGORIES[2][1])}")
    box.press("Control+Enter")
    expect(page.get_by_text(hostile.SAID).first).to_be_attached()
    page.get_by_text("How to write them").click()
    check(visitor, f"Examples: {hostile.SAID}", f'"{hostile.CATEGORIES[1][1]}"')
    visitor.button("undo").click()
    expect(page.get_by_test_id("stMain").get_by_text("Examples:")).not_to_contain_text(hostile.SAID[:4])

    visitor.go("Design")
    page.evaluate(FOLLOW)
    _fits_until_said(visitor, "Fitting Optimized (column generation) to ", FIRST[:6])
    assert page.evaluate("() => window.linked") == []
    check(visitor, "The largest ratio lies between ")

    visitor.go("Compare")
    check(visitor, named=False)
    page.get_by_role("tab", name="Patterns").click()
    check(visitor, named=False)
    page.get_by_role("tab", name="Error of each query").click()
    expect(page.get_by_text("the hardest query is")).to_be_visible()
    check(visitor)
    visitor.go("Plan")
    page.get_by_role("tab", name="Recommendation").click()
    visitor.button("recommend").click()
    expect(page.get_by_text("Of all mechanisms within")).to_be_visible()
    check(visitor, named=False)
    visitor.go("Simulate")
    visitor.button("run").click()
    expect(page.locator(".st-key-chart-simulated-errors .js-plotly-plot")).to_be_visible()
    for tab in ("By query", "Possible releases", "Intervals", "Predicted", "Distribution"):
        page.get_by_role("tab", name=tab).click()
        check(visitor, named=False)  # not every view names types in words
    visitor.go("Export")
    page.locator("summary").filter(has_text="configuration.json").click()
    check(visitor, *hostile.COLUMNS)
    visitor.go("Guide")
    check(visitor, named=False)
    page.get_by_test_id("stTopNavLink").filter(has_text="Start").click()
    expect(page.locator("h1")).to_contain_text("Learn about everybody")
    check(visitor, named=False)
