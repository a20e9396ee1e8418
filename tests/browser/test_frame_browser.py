"""The frame of every page: results at full width under their controls, nothing cut, one button that leads on."""

import pytest
from playwright.sync_api import expect

from ldp_core.data.tables import CategoricalRecipe, NumericRecipe, build_domain
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe

LEADS_ON = {
    "Data": "Workload",
    "Workload": "Design",
    "Design": "Compare",
    "Compare": "Plan",
    "Bounds": "Plan",
    "Plan": "Simulate",
    "Simulate": "Export",
    "Ask": "Export",
    "Export": "Collect",
    "Collect": "Papers",
    "Papers": "Data",
    "Guide": "Data",
}
PRIMARY = {"Design": "optimise", "Plan": "recommend", "Simulate": "run", "Export": "download"}
LAPTOP, SIZES = (1280, 800), [(1280, 800), (1024, 768), (390, 844)]
# Charts and tables follow a new size of the window a moment later.
FOLLOWED = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg, [data-testid=stDataFrame]')]
    .filter(element => element.checkVisibility())
    .every(element => element.clientWidth <= element.closest('.stElementContainer').clientWidth)"""
FAULTS = """() => {
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


def many_users():
    """A design with long names and numbers of many digits, whose mechanism needs no fitting."""
    recipes = (
        CategoricalRecipe(
            column="marital status", categories=("single", "married or in a partnership", "widowed"), ordered=False
        ),
        NumericRecipe(column="age", method="range", low=18, high=90, bins=12),
    )
    domain = build_domain(list(recipes))
    return Configuration(
        data=DeclaredData(recipes=recipes),
        domain=domain,
        population=Population(users=10**9, origin="declared", shape="uniform"),
        workload=WorkloadRecipe.default(domain),
        mechanism=MechanismRecipe(name="subset_selection"),
        epsilon="0.05",
        target_alpha=1e-8,
    )


def resize(visitor, size):
    visitor.page.set_viewport_size({"width": size[0], "height": size[1]})


@pytest.fixture
def framed(visit, tmp_path):
    visitor, file = visit(), tmp_path / "configuration.json"
    file.write_bytes(many_users().to_json())
    visitor.load(file, "The design was loaded.")
    return visitor


def test_nothing_is_cut_at_any_width_and_long_numbers_are_whole(framed):
    found = {}
    for title in LEADS_ON:
        resize(framed, LAPTOP)
        framed.go(title)
        framed.drawn()
        for size in SIZES:
            resize(framed, size)
            framed.page.wait_for_function(FOLLOWED)
            found[title, size] = framed.page.evaluate(FAULTS)
            if title == "Design":
                assert len(framed.metric("Users needed").inner_text()) >= len("1,000,000,000")
    assert not {place: faults for place, faults in found.items() if faults}


def test_every_page_leads_on_and_its_primary_button_is_above_the_fold(visit):
    visitor = visit()
    visitor.button("begin").click()
    expect(visitor.page.locator("h1")).to_have_text("Design")
    seen = []
    for title in LEADS_ON:
        if title not in seen:
            visitor.go(title)
        while title not in seen:  # follow the buttons as far as they lead to something new
            seen.append(title)
            visitor.drawn()
            if title in PRIMARY:
                place = visitor.button(PRIMARY[title]).bounding_box()
                assert place["y"] + place["height"] <= LAPTOP[1], title
            title = LEADS_ON[title]
            visitor.button("next").click()
            expect(visitor.page.locator("h1")).to_have_text(title)


def test_what_an_optimised_design_costs_is_above_the_fold(visit):
    visitor = visit()
    visitor.button("begin").click()
    visitor.optimise()
    expect(visitor.metric("Audited epsilon")).to_be_visible()
    visitor.drawn()
    place = visitor.page.locator(".st-key-metrics-design").bounding_box()
    assert place["y"] + place["height"] <= LAPTOP[1]


def test_on_a_phone_the_sidebar_closes_after_a_choice(visit):
    visitor = visit()
    resize(visitor, (390, 844))
    page, sidebar = visitor.page, visitor.page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "true")

    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Sample data").click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Commutes").click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")

    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar.get_by_role("link", name="Workload:").click()
    expect(page.locator("h1")).to_have_text("Workload")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
