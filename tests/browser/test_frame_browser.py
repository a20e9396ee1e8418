"""Every page, for a design whose names are long, and are images, links, HTML, icons, colours, mathematics or scripts, and
whose numbers have many digits. Nothing is cut, axe-core has nothing serious or moderate to say, every name is text, and every
page leads on. By default each page is seen in the dark or in the light, on a phone and in one wider window."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from ldp_core.data.tables import CategoricalRecipe, build_domain
from ldp_core.designs import Configuration, DeclaredData, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import DifferencePart, HistogramPart, PredicatesPart
from pages.ui.say import JOINER
from tests import hostile_table
from tests.browser import words
from tests.browser.axe import COLOURS, LIT, count_trial, faults, tint, turn
from tests.browser.conftest import PAGES, PATIENCE, SIZE, UNANSWERED, answered, until

LAPTOP, TABLET, PHONE = (1280, 800), (1024, 768), (390, 844)
MAIN = "[data-testid=stMain]"
LEADS_ON = {**dict(pairwise(PAGES)), "Guide": "Data"}
"""What the button at the head of a page leads to, in the order of the walk."""
NAMES = [*hostile_table.COLUMNS, *(name for values in hostile_table.CATEGORIES for name in values)]
BEHIND = {"Design": words.PATTERNS, "Compare": words.QUERY_ERRORS}
"""The tab that a short walk opens."""
WITH_TABS = ("Workload", "Design", "Compare", "Simulate")
ABOUT_PEOPLE = ("Data", "Workload", *(f"{title}, {tab}" for title, tab in BEHIND.items()), "Export")
"""Where some name has to be, letter by letter."""
# Charts and tables follow a new size of the window a moment later.
FOLLOWED = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg, [data-testid=stDataFrame]')]
    .filter(element => element.checkVisibility())
    .every(element => element.clientWidth <= element.closest('.stElementContainer').clientWidth)"""
CUT = """() => {
    const seen = element => element.checkVisibility();
    const hides = element => element.tagName === 'INPUT' || getComputedStyle(element).overflowX !== 'visible';
    const named = element => { // the value of a box is read whole, whatever room its entry asks for
        const pen = document.createElement('canvas').getContext('2d'), name = element.value || '';
        pen.font = getComputedStyle(element).font;
        return name !== '' && pen.measureText(name).width <= element.clientWidth;
    };
    const main = document.querySelector('[data-testid=stMain]');
    const side = document.querySelector('[data-testid=stSidebarContent]');
    const open = !side.closest('[data-collapsed=true]');
    const wide = [document.documentElement, main, ...(open ? [side] : [])]
        .filter(element => element.scrollWidth > element.clientWidth);
    const words = 'button, [data-testid=stMetric], [data-testid=stWidgetLabel], [data-testid=stPageLink], .stSelectbox input, summary';
    const cut = [...main.querySelectorAll(words)].filter(seen)
        .flatMap(element => [element, ...element.querySelectorAll('*')])
        .filter(element => element.clientWidth > 1 && element.scrollWidth > element.clientWidth && hides(element))
        .filter(element => !named(element));
    const spilt = [...main.querySelectorAll('[data-testid=stMetricValue]')].filter(seen)
        .filter(element => element.scrollWidth > element.clientWidth);
    const primary = [...main.querySelectorAll('[data-testid=stBaseButton-primary]')].filter(seen);
    return [...wide.map(() => 'wider than the window'), ...[...cut, ...spilt].map(e => e.value || e.textContent),
            ...(primary.length > 1 ? ['more than one primary button'] : [])];
}"""
LINKS = """() => [...document.querySelectorAll('a, area, form, iframe, object, embed, base')]
    .map(e => e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? e.src ?? e.action ?? '')
    .filter(to => to && new URL(to, location.href).host !== location.host)"""
MARKUP = """() => [...document.querySelectorAll(
    'img, [data-testid=stMain] .katex:not([data-testid=stExpander] .katex), sup, mark, [data-testid=stMarkdownContainer] del,'
    + ' [data-testid=stMarkdownContainer] [role=img], [data-testid=stMarkdownContainer] span[style*=color]')]
    .filter(e => !e.matches('[aria-label^=check], :has(> [aria-label^=check])')) // our mark of what is proved
    .map(e => e.outerHTML.slice(0, 200))"""
SAID = """joiner => {
    const copy = document.querySelector('[data-testid=stMain]').cloneNode(true);
    copy.querySelectorAll('[data-testid=stExpander] .katex').forEach(formula => formula.remove());
    const spoken = [...copy.querySelectorAll('[aria-label]')].map(one => one.ariaLabel).join(' ');
    return (copy.textContent + ' ' + spoken).replace(/\\s+/g, ' ').replaceAll(joiner, '');
}"""
"""What is written on the page, figures included, and said by screen readers; formulas are typeset, and have their source with them."""
NAMED = f"([names, joiner]) => {{ const said = ({SAID})(joiner); return names.some(name => said.includes(name)); }}"


def design():
    recipes = [
        CategoricalRecipe(column=column, categories=values, ordered=column == hostile_table.COLUMNS[0])
        for column, values in zip(hostile_table.COLUMNS, hostile_table.CATEGORIES, strict=True)
    ]
    domain = build_domain(recipes)
    condition = {"name": hostile_table.SAID, "expression": hostile_table.condition().split(": ", 1)[1]}
    _, told, group = hostile_table.COLUMNS
    first, second = hostile_table.CATEGORIES[2]
    over = DifferencePart(of=HistogramPart(attribute=told), attribute=group, first=first, second=second)
    asked = (*WorkloadRecipe.default(domain).parts, PredicatesPart(predicates=(condition,)), over)
    made = Configuration(
        data=DeclaredData(recipes=tuple(recipes)),
        domain=domain,
        population=Population(users=10**9, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=asked),
        epsilon="0.05",
        targets={"points": 0.01},
        optimizer=Optimizer(max_rounds=20),  # what is looked at does not depend on how good a design is
    )
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": made.to_json()}


def resize(visitor, size):
    width, height = size
    if visitor.page.viewport_size["width"] == width:
        return
    visitor.page.set_viewport_size({"width": width, "height": height})
    visitor.page.wait_for_function(FOLLOWED)


class Walk:
    """What is wrong where, by what is looked for; every page is looked at once."""

    def __init__(self, visitor, whole):
        self.visitor, self.page, self.whole, self.scheme = visitor, visitor.page, whole, "dark"
        self.wrong = {kind: {} for kind in ("cut", "axe", "faint", "links", "markup", "escaped", "leads")}
        turn(visitor, self.scheme)
        visitor.load(design())
        for before, title in zip(("", *PAGES), PAGES, strict=False):
            if LEADS_ON.get(before) == title:
                visitor.button("next").click()
                expect(self.page.locator("h1")).to_have_text(title)
            else:
                visitor.go(title)
            if title == "Compare" and not whole:
                self.scheme = "light"
                turn(visitor, self.scheme)
            self._visit(title)
        resize(visitor, LAPTOP)
        turn(visitor, "light")

    def _visit(self, title):
        visitor, page = self.visitor, self.page
        wide = LAPTOP if self.whole or title in ("Design", "Simulate", "Export") else TABLET
        resize(visitor, wide)
        visitor.drawn()
        if title == "Design":
            visitor.optimise()
        if title == "Collect":
            count_trial(visitor)
        self._note("leads", title, [] if f"Next: {LEADS_ON[title]}" in visitor.button("next").inner_text() else ["no"])
        page.wait_for_function(LIT, arg=self.scheme)
        self._read(title)
        tabs = visitor.main.get_by_role("tab") if title in WITH_TABS else None
        for tab in tabs.all_inner_texts()[1:] if tabs is not None else ():
            if self.whole or tab == BEHIND.get(title):
                visitor.tab(tab)
                self._read(f"{title}, {tab}")
        if self.whole:
            self.scheme = "light" if self.scheme == "dark" else "dark"
            tint(visitor, self.scheme)
            self._note("faint", title, faults(page, COLOURS))
        for size in (wide, *(TABLET,) * self.whole, PHONE):
            resize(visitor, size)
            self._note("cut", f"{title} at {size[0]}", page.evaluate(CUT))
        resize(visitor, wide)

    def _read(self, place):
        """What is folded away belongs to the page."""
        folded = self.page.locator(f"{MAIN} details:not([open]) > summary:visible")

        def unfold():
            folded.evaluate_all("all => all.forEach(one => one.click())")  # what one holds may be folded as well
            self.visitor.drawn()
            return not folded.count()

        until(self.page, unfold)
        if place in ABOUT_PEOPLE:
            self.page.wait_for_function(NAMED, arg=[NAMES, JOINER], polling=100, timeout=PATIENCE)
        self.page.keyboard.press("Tab")  # by which people who cannot point reach what scrolls
        self._note("axe", place, faults(self.page))
        self._note("links", place, self.page.evaluate(LINKS))
        self._note("markup", place, self.page.evaluate(MARKUP))
        said = self.page.evaluate(SAID, JOINER)
        self._note("escaped", place, re.findall(r".{,40}\\.{,40}", said))

    def _note(self, kind, place, found):
        self.wrong[kind][place] = found


@pytest.fixture(scope="module", params=["short", pytest.param("whole", marks=pytest.mark.slow)])
def walk(request, guest):
    guest.start_anew()  # the other walk
    return Walk(guest, request.param == "whole")


@pytest.mark.promise
def test_nothing_is_wrong_on_any_page(walk):
    looked_for = {kind: walk.wrong[kind] for kind in ("cut", "axe", "links", "markup", "escaped", "leads")}
    assert min(map(len, looked_for.values())) >= len(PAGES)
    assert not {(kind, place): found for kind, wrong in looked_for.items() for place, found in wrong.items() if found}
    assert not walk.visitor.elsewhere
    assert not walk.visitor.problems  # dialogs that a script opens among them


@pytest.mark.slow
@pytest.mark.parametrize("walk", ["whole"], indirect=True)
def test_nothing_is_too_faint_once_it_has_turned_light_or_dark(walk):
    assert len(walk.wrong["faint"]) == len(PAGES)
    assert not {place: found for place, found in walk.wrong["faint"].items() if found}


def test_a_chart_in_a_file_of_its_own_fetches_nothing_and_leads_nowhere(guest, tmp_path):
    visitor, page = guest, guest.page
    visitor.load(design())
    visitor.go("Data")
    visitor.drawn()
    page.locator(".st-key-downloads-joint button").first.click()
    with page.expect_download() as download:
        page.get_by_test_id("stPopoverBody").locator(".st-key-html-joint button").click()
    page.keyboard.press("Escape")
    file, asked = tmp_path / "joint.html", []
    download.value.save_as(file)
    alone = visitor.context.new_page()
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("dialog", visitor.dismiss)
    alone.goto(file.as_uri())
    expect(alone.locator(".xtitle")).to_have_text(re.compile(r"[!*]"))
    alone.locator(".nsewdrag").hover()
    expect(alone.locator(".hoverlayer")).to_contain_text(hostile_table.COLUMNS[0])
    assert [url for url in asked if url != file.as_uri()] == []
    assert alone.locator(".js-plotly-plot a[href], .js-plotly-plot img, svg a").all_inner_texts() == []
    alone.close()
    assert not visitor.problems


def test_on_a_phone_the_sidebar_closes_after_a_choice(guest):
    guest.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page, sidebar, expand = guest.page, guest.sidebar, guest.page.get_by_test_id("stExpandSidebarButton")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    expand.click()

    def choose():
        guest.menu(words.SAMPLES)
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="Commutes").click(timeout=UNANSWERED)

    answered(choose, lambda **patience: expect(sidebar).to_have_attribute("data-collapsed", "true", **patience))
    expand.click()
    sidebar.get_by_role("link", name="Workload:").click()
    expect(page.locator("h1")).to_have_text("Workload")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    page.set_viewport_size(SIZE)
