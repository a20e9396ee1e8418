"""The frame of every page, in light and dark, with names that are long, and that are images, links, HTML, icons, colours, mathematics or
scripts: results at full width under their controls, nothing cut, all of it seen, and every name is text; axe-core has nothing serious or
moderate to say, every page leads on, and what matters most is above the fold."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PAGES, SIZE
from tests.browser.walk import ABOUT_PEOPLE, LEADS_ON, LOOKED_BEHIND, PHONE, PRIMARY, SIZES, WITH_TABS, Walk, resize

pytestmark = pytest.mark.slow
"""They walk the pages as they were before these became eight; run on request until they follow."""

TABS = {"short": 4, "whole": 9}
"""So many are opened."""


@pytest.fixture(scope="module", params=["short", pytest.param("whole", marks=pytest.mark.slow)])
def walk(request, guest, tmp_path_factory):
    if not guest.page.get_by_test_id("stSidebar").get_by_text("Data: not chosen").count():
        guest.forget()  # the other walk
    return Walk(guest, tmp_path_factory.mktemp("chart"), request.param == "whole")


def places(walk):
    """How many places there are on the way with words to be read."""
    if walk.whole:
        return len(PAGES) + TABS["whole"] + len(("upload", "conditions", "search"))
    return len(PAGES) + TABS["short"] + len(("upload", "conditions"))


def test_nothing_is_cut_at_any_width_and_long_numbers_are_whole(walk):
    assert len(walk.cut) == len(PAGES) * (len(SIZES) if walk.whole else 2)
    assert {size for _, size in walk.cut} == {*SIZES}
    assert not {place: faults for place, faults in walk.cut.items() if faults}


def test_nothing_is_wrong_with_a_design_that_is_optimised(walk):
    behind = TABS["whole"] + len(WITH_TABS) + len(("upload",)) if walk.whole else len(LOOKED_BEHIND)
    assert len(walk.wrong) == len(PAGES) + behind
    assert not {place: faults for place, faults in walk.wrong.items() if faults}


@pytest.mark.parametrize("walk", [pytest.param("whole", marks=pytest.mark.slow)], indirect=True)
def test_nothing_is_too_faint_once_it_has_turned_light_or_dark(walk):
    assert len(walk.faint) == len(PAGES)
    assert not {title: faults for title, faults in walk.faint.items() if faults}


def test_every_page_leads_on(walk):
    assert walk.leads.keys() == LEADS_ON.keys() == {*PAGES} - {"Start"}
    assert not {title: said for title, said in walk.leads.items() if f"Next: {LEADS_ON[title]}" not in said}


def test_primary_buttons_and_what_a_design_costs_are_above_the_fold(walk):
    assert len(walk.ends) == len(PRIMARY) + 2
    assert not {part: end for part, end in walk.ends.items() if end > SIZE["height"]}


def test_names_stand_on_every_page_letter_by_letter(walk):
    assert len(walk.missing) == places(walk)
    assert walk.missing.keys() > {*ABOUT_PEOPLE}
    assert not {place: texts for place, texts in walk.missing.items() if texts}


def test_nothing_is_escaped_twice(walk):
    assert len(walk.words) == places(walk)
    assert not [place for place, words in walk.words.items() if "\\" in words]


def test_no_name_leads_away(walk):
    assert len(walk.links) == places(walk) + len(("chart alone",))
    assert not {place: links for place, links in walk.links.items() if links}
    assert not walk.visitor.elsewhere


def test_no_name_becomes_an_image_a_formula_or_a_script(walk):
    assert len(walk.markup) == places(walk) + len(("chart alone",))
    assert not {place: markup for place, markup in walk.markup.items() if markup}
    assert not walk.visitor.problems  # dialogs that a script opens among them


def test_on_a_phone_the_sidebar_closes_after_a_choice(guest):
    resize(guest, PHONE)
    page, sidebar = guest.page, guest.page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "true")

    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Sample data").click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Commutes").click()
    expect(sidebar).to_have_attribute("data-collapsed", "true")

    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar.get_by_role("link", name="Workload:").click()
    expect(page.locator("h1")).to_have_text("Workload")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
