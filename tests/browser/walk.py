"""A walk over all pages, in light and dark, with one optimised design whose names are long, and try everything that a page would read as
more than text, and whose numbers have many digits. What every check needs is noted on the way. A whole walk looks at every page in light
and in dark, at every width and behind every tab; a short one at each page in light or in dark and at two of the widths."""

from contextlib import suppress

from playwright.sync_api import TimeoutError, expect

from ldp_core.data.domain import Domain
from ldp_core.data.tables import CategoricalRecipe, build_domain, declare_range
from ldp_core.designs import Configuration, DeclaredData, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart
from pages.ui.words import JOINER
from tests import hostile
from tests.browser.axe import ASKED, COLOURS, LIT, ask, faults, tint, turn
from tests.browser.conftest import PATIENCE, hand

FIRST, SECOND, THIRD = hostile.COLUMNS
NAMES = [*hostile.COLUMNS, *(name for values in hostile.CATEGORIES for name in values)]
LAPTOP, TABLET, PHONE = SIZES = (1280, 800), (1024, 768), (390, 844)
LEADS_ON = {
    "Data": "Workload",
    "Workload": "Design",
    "Design": "Compare",
    "Compare": "Bounds",
    "Simulate": "Export",
    "Export": "Collect",
    "Collect": "Papers",
    "Papers": "Data",
    "Bounds": "Simulate",
    "Guide": "Data",
}
"""What the button at the head of a page leads to, in the order of the walk."""
PRIMARY = {"Simulate": "run", "Export": "download"}
ON_A_LAPTOP = ("Design", *PRIMARY)
"""Pages that a short walk looks at in the width of a laptop; at the others, of a tablet."""
DAWN = "Bounds"
"""The first page that a short walk sees in the light."""
WITH_TABS = ("Workload", "Design", "Compare", "Simulate")
LOOKED_BEHIND = ("Design", "Compare")
"""Of these, those whose tabs a short walk opens."""
EXPLAINED = ("Workload", "Design", "Simulate")
"""Pages with formulas among what is folded away."""
MAIN = "[data-testid=stMain]"
SAID_ON = {
    "upload": (
        *(f"× 3 {SECOND} × 2 {THIRD}.", f"How {hostile.FILE} was read", f"People by {THIRD} and {FIRST},"),
        *(f"The most common value of {THIRD} is ", "First of "),
    ),
    "conditions": (f"Examples: {hostile.SAID}", f'"{hostile.CATEGORIES[1][1]}"'),
    "search": (f"Fitting Optimized (column generation) to Running totals along {FIRST[:8]}",),
    "Design": ("The largest ratio lies between ",),
    ("Compare", "Error of each query"): ("the hardest query is",),
    "Export": hostile.COLUMNS,
}
"""What has to be there, letter by letter."""
ABOUT_PEOPLE = (
    "upload",
    "Data",
    "Workload",
    "conditions",
    "Design",
    ("Compare", "Error of each query"),
    "Export",
)
"""Where names of the table stand."""
# Charts and tables follow a new size of the window a moment later.
FOLLOWED = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg, [data-testid=stDataFrame]')]
    .filter(element => element.checkVisibility())
    .every(element => element.clientWidth <= element.closest('.stElementContainer').clientWidth)"""
CUT = """() => {
    const seen = element => element.checkVisibility();
    const hides = element => element.tagName === 'INPUT' || getComputedStyle(element).overflowX !== 'visible';
    const main = document.querySelector('[data-testid=stMain]');
    const side = document.querySelector('[data-testid=stSidebarContent]');
    const open = !side.closest('[data-collapsed=true]');
    const wide = [document.documentElement, main, ...(open ? [side] : [])].filter(element => element.scrollWidth > element.clientWidth);
    const words = 'button, [data-testid=stMetric], [data-testid=stWidgetLabel], [data-testid=stPageLink], .stSelectbox input, summary';
    const cut = [...main.querySelectorAll(words)].filter(seen)
        .flatMap(element => [element, ...element.querySelectorAll('*')])
        .filter(element => element.clientWidth > 1 && element.scrollWidth > element.clientWidth && hides(element));
    const spilt = [...main.querySelectorAll('[data-testid=stMetricValue]')].filter(seen)
        .filter(element => element.scrollWidth > element.clientWidth);
    const primary = [...main.querySelectorAll('[data-testid=stBaseButton-primary]')].filter(seen);
    return [...wide.map(() => 'wider than the window'), ...[...cut, ...spilt].map(element => element.value || element.textContent),
            ...(primary.length > 1 ? ['more than one primary button'] : [])];
}"""
LINKS = """() => [...document.querySelectorAll('a, area, form, iframe, object, embed, base')]
    .map(e => e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? e.src ?? e.action ?? '')
    .filter(to => to && new URL(to, location.href).host !== location.host)"""
MARKUP = """() => [...document.querySelectorAll(
    'img, [data-testid=stMain] .katex:not([data-testid=stExpander] .katex), sup, mark, [data-testid=stMarkdownContainer] del,'
    + ' [data-testid=stMarkdownContainer] [role=img], [data-testid=stMarkdownContainer] span[style*=color]')]
    .filter(e => !e.matches('[aria-label^=check], :has(> [aria-label^=check])')) // the mark of what is proved, which is ours
    .map(e => e.outerHTML.slice(0, 200))"""
SAID = """joiner => {
    const copy = document.querySelector('[data-testid=stApp]').cloneNode(true);
    copy.querySelectorAll('[data-testid=stExpander] .katex').forEach(formula => formula.remove());
    return copy.textContent.replace(/\\s+/g, ' ').replaceAll(joiner, '');
}"""
"""What is written on the page, sidebar and figures included; formulas are typeset, and have their source with them."""
THERE = f"""([texts, names, joiner]) => {{
    const said = ({SAID})(joiner), people = said.slice(said.indexOf('Redo'));
    return texts.every(text => said.includes(text)) && (!names.length || names.some(name => people.includes(name)));
}}"""


def design():
    """The table's columns declared, with numbers of many digits."""
    recipes = [
        CategoricalRecipe(column=column, categories=values, ordered=column == FIRST)
        for column, values in zip(hostile.COLUMNS, hostile.CATEGORIES, strict=True)
    ]
    domain = build_domain(recipes)
    return Configuration(
        data=DeclaredData(recipes=tuple(recipes)),
        domain=domain,
        population=Population(users=10**9, origin="declared", shape="uniform"),
        workload=WorkloadRecipe.default(domain),
        epsilon="0.05",
        target_alpha=1e-8,
        optimizer=Optimizer(max_rounds=20),  # what is looked at does not depend on how good a design is
    )


def long_search():
    """Running totals along the first column in 256 bins, whose search goes on until it is stopped."""
    return Configuration(
        domain=Domain(attributes=(declare_range(FIRST, 0, 256, 256),)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute=FIRST),)),
        population=Population(users=10_000, origin="declared", shape="uniform"),
        optimizer=Optimizer(time_limit=3000.0),
    )


def resize(visitor, size):
    visitor.page.set_viewport_size({"width": size[0], "height": size[1]})


def end(part):
    """How far down the window a part of the page ends."""
    place = part.bounding_box()
    return place["y"] + place["height"]


class Walk:
    """What was seen where, by place: a page, or what was done on it."""

    def __init__(self, visitor, folder, whole):
        self.visitor, self.page, self.folder, self.whole = visitor, visitor.page, folder, whole
        self.cut, self.faint, self.words, self.missing, self.links, self.markup = {}, {}, {}, {}, {}, {}
        self.wrong, self.leads, self.ends = {}, {}, {}
        self.scheme = "dark"
        resize(visitor, LAPTOP)
        turn(visitor, self.scheme)
        self._upload()
        self._ask_conditions()
        self._load(design())
        before = None
        for title in ("Start", *LEADS_ON):
            if title == DAWN and not whole:
                self.scheme = "light"
                turn(visitor, self.scheme)
            self._turn_to(title, before)
            self._visit(title)
            before = title
        if whole:
            self._search()
        turn(visitor, "light")

    def _load(self, configuration):
        file = {"name": "configuration.json", "mimeType": "application/json", "buffer": configuration.to_json()}
        self.visitor.load(file, "The design was loaded.")

    def _read(self, place, *texts):
        """Wait until all ``texts``, and where the place is about people some name, are there letter by letter; note what is there."""
        self.visitor.drawn()
        names = NAMES if place in ABOUT_PEOPLE else []
        with suppress(TimeoutError):
            self.page.wait_for_function(THERE, arg=[texts, names, JOINER], polling=100, timeout=PATIENCE)
        words = self.page.evaluate(SAID, JOINER)
        self.missing[place] = [text for text in texts if text not in words]
        if names and not any(name in words.split("Redo", 1)[-1] for name in names):
            self.missing[place].append("a name")
        self.words[place], self.links[place] = words, self.page.evaluate(LINKS)
        self.markup[place] = self.page.evaluate(MARKUP)

    def _look(self, place):
        """Note what is wrong with the page, on a whole walk what is too faint once it has turned, and what is cut at each width. After
        that the next page is drawn as this one has turned."""
        self.page.wait_for_function(LIT, arg=self.scheme)
        self.wrong[place] = faults(self.page)
        if self.whole:
            self.scheme = "light" if self.scheme == "dark" else "dark"
            tint(self.visitor, self.scheme)
            self.faint[place] = faults(self.page, COLOURS)
        for size in SIZES if self.whole else (LAPTOP if place in ON_A_LAPTOP else TABLET, PHONE):
            resize(self.visitor, size)
            self.page.wait_for_function(FOLLOWED)
            self.cut[place, size] = self.page.evaluate(CUT)
            if place == "Design":
                assert len(self.visitor.metric("Users needed").inner_text()) >= len("1,000,000,000")
        resize(self.visitor, LAPTOP)

    def _turn_to(self, title, before):
        """Press the button that leads on where it leads here."""
        if LEADS_ON.get(before) == title:
            self.visitor.button("next").click()
            expect(self.page.locator("h1")).to_have_text(title)
        else:
            self.visitor.go(title)
        self.visitor.drawn()

    def _visit(self, title):
        if title in LEADS_ON:
            self.leads[title] = self.visitor.button("next").inner_text()
        if title in PRIMARY:
            self.ends[title] = end(self.visitor.button(PRIMARY[title]))
        if title == "Design":
            self._optimise()
        if title in ASKED:
            ask(self.visitor, title, f"{hostile.quoted(THIRD)} = {hostile.quoted(hostile.CATEGORIES[2][0])}")
        if title == "Export":
            self.page.locator("summary").filter(has_text="configuration.json").click()
        self._read(title, *SAID_ON.get(title, ()))
        self._look(title)
        if title in (WITH_TABS if self.whole else LOOKED_BEHIND):
            self._look_behind(title)

    def _optimise(self):
        self.ends["Design"] = end(self.page.locator(".st-key-verdict"))
        self.visitor.optimise()
        expect(self.visitor.metric("Audited epsilon")).to_be_visible()
        self.visitor.drawn()
        self.ends["what it costs"] = end(self.page.locator(".st-key-metrics-design"))

    def _look_behind(self, title):
        """Every tab of the page but the open one, and then all that is folded away, which a short walk has axe-core look at once."""
        for tab in self.page.get_by_test_id("stMain").get_by_role("tab").all()[1:]:
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
            place = (title, tab.inner_text())
            self._read(place, *SAID_ON.get(place, ()))
            if self.whole:
                self.wrong[place] = faults(self.page, context=MAIN)  # the rest has not changed
        folded = self.page.locator("[data-testid=stMain] details:not([open]) > summary:visible")
        while folded.count():
            folded.evaluate_all("all => all.forEach(one => one.click())")  # what one holds may be folded as well
            self.visitor.drawn()
        if title in EXPLAINED:
            expect(self.page.locator("[data-testid=stMain] .katex:visible").first).to_be_visible()
        self.wrong[title, "unfolded"] = faults(self.page, context=MAIN)

    def _upload(self):
        """The table as a file, two of whose columns are chosen in the page; one chart is looked at in a file of its own."""
        visitor, page = self.visitor, self.page
        visitor.go("Data")
        page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
        file = {"name": hostile.FILE, "mimeType": "text/csv", "buffer": hostile.rows()}
        hand(page, page.locator("[data-testid=stMain] input[type=file]"), file, page.get_by_text("400 users, 4 types"))
        for name, types in ((SECOND, 12), (THIRD, 24)):
            page.locator(".st-key-data-columns").get_by_role("combobox").click()
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            expect(page.get_by_text(f"400 users, {types} types").first).to_be_visible()
            visitor.drawn()
        page.keyboard.press("Escape")
        self._read("upload", *SAID_ON["upload"])
        if self.whole:
            self.wrong["upload"] = faults(page)
        page.locator(".st-key-chart-joint .nsewdrag").hover()
        expect(page.locator(".st-key-chart-joint .hoverlayer")).to_contain_text(f"{FIRST} ")
        page.get_by_test_id("stDataFrame").last.hover()
        expect(page.get_by_label("Search").last).to_be_visible()  # the table's own tools, without their CSV
        assert page.get_by_label("Download as CSV").count() == 0
        with page.expect_download() as download:
            visitor.button("html-joint").click()
        self._open_alone(download.value)

    def _open_alone(self, download):
        """A chart in a file of its own: what it asks for, and what of it leads away."""
        file, asked = self.folder / "joint.html", []
        download.save_as(file)
        alone = self.visitor.context.new_page()
        alone.on("request", lambda request: asked.append(request.url))
        alone.on("dialog", self.visitor.dismiss)
        alone.goto(file.as_uri())
        expect(alone.locator(".xtitle")).to_have_text(THIRD)
        alone.locator(".nsewdrag").hover()
        expect(alone.locator(".hoverlayer")).to_contain_text(f"{FIRST} ")
        self.links["chart alone"] = asked[1:] if asked[0] == file.as_uri() else asked
        self.markup["chart alone"] = alone.locator(
            ".js-plotly-plot a[href], .js-plotly-plot img, svg a"
        ).all_inner_texts()
        alone.close()

    def _ask_conditions(self):
        page = self.page
        self.visitor.go("Workload")
        expect(page.locator(".st-key-chart-workload .js-plotly-plot")).to_be_visible()
        self.visitor.drawn()
        kinds = page.get_by_role("option", name="Conditions")
        while not kinds.count():  # a page that is drawn anew meanwhile closes the list
            page.locator(".st-key-group-0-questions").get_by_role("combobox").click()
            page.wait_for_timeout(300)
        kinds.click()
        self.visitor.drawn()
        box = page.locator(".st-key-group-0-conditions textarea")
        box.fill(hostile.condition() + f"\n{hostile.quoted(THIRD)} = {hostile.quoted(hostile.CATEGORIES[2][1])}")
        box.press("Control+Enter")
        expect(page.get_by_text(hostile.SAID).first).to_be_attached()
        self.visitor.drawn()
        page.get_by_text("How to write them").click()
        self._read("conditions", *SAID_ON["conditions"])
        if not self.whole:
            return  # the design that is loaded next asks something else
        self.visitor.button("undo").click()
        examples = page.get_by_test_id("stMain").get_by_text(
            "Examples:"
        )  # for a moment there may be the old and the new ones
        expect(examples.filter(has_text=hostile.SAID[:4])).to_have_count(0)
        self.visitor.drawn()

    def _search(self):
        """What the job list says of a search while it goes on."""
        self._load(long_search())
        self.visitor.go("Design")
        self.visitor.button("optimise").click()
        self._read("search", *SAID_ON["search"])
        self.visitor.forget()
