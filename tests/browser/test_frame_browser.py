"""The frame of every page: results at full width under their controls, nothing cut, and in the dark all is seen."""

from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from ldp_core.data.tables import CategoricalRecipe, NumericRecipe, build_domain
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe
from tests.browser.axe import ASKED, COLOURS, LIT, ask, faults
from tests.browser.conftest import PAGES, Visitor

SIZES = [(1280, 800), (1024, 768), (390, 844)]
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


@pytest.fixture(scope="module")
def walk(browser, address, tmp_path_factory):
    """All pages of such a design in the dark, with what they show once asked: what is cut at each width, and what is too faint."""
    visitor, file = Visitor(browser, address, "dark"), tmp_path_factory.mktemp("design") / "configuration.json"
    file.write_bytes(many_users().to_json())
    visitor.load(file, "The design was loaded.")
    cut, faint = {}, {}
    for title in PAGES:
        resize(visitor, SIZES[0])
        visitor.go(title)
        visitor.drawn()
        if title in ASKED:
            ask(visitor, title, '"marital status" = widowed')
            visitor.drawn()
        visitor.page.wait_for_function(LIT)
        faint[title] = faults(visitor.page, COLOURS)
        for size in SIZES:
            resize(visitor, size)
            visitor.page.wait_for_function(FOLLOWED)
            cut[title, size] = visitor.page.evaluate(FAULTS)
            if title == "Design":
                assert len(visitor.metric("Users needed").inner_text()) >= len("1,000,000,000")
    yield SimpleNamespace(cut=cut, faint=faint)
    visitor.leave()


def test_nothing_is_cut_at_any_width_and_long_numbers_are_whole(walk):
    assert len(walk.cut) == len(PAGES) * len(SIZES)
    assert not {place: faults for place, faults in walk.cut.items() if faults}


def test_nothing_is_too_faint_in_the_dark(walk):
    assert len(walk.faint) == len(PAGES)
    assert not {title: faults for title, faults in walk.faint.items() if faults}


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
