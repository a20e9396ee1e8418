"""A table of one's own in a real browser: columns, bins and categories set up by hand."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import hand

pytestmark = pytest.mark.slow
"""They walk the pages as they were before these became eight; run on request until they follow."""

ROWS = 3000
COUNTRIES = ["France", "Spain", "Malta", "Peru", "Fiji"]


@pytest.fixture
def visitor(guest, survey):
    """Somebody who has uploaded the survey, and nothing else."""
    page = guest.page
    if not page.get_by_test_id("stSidebar").get_by_text("Data: not chosen").count():
        guest.forget()
    guest.go("Data")
    page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
    hand(
        page,
        page.get_by_test_id("stMain").locator("input[type=file]"),
        survey,
        page.get_by_text("How survey.data was read"),
    )
    guest.drawn()
    return guest


@pytest.fixture
def survey(tmp_path):
    """Rows like those of a census extract: no header, spaces after the commas, a question mark for what is missing."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(17, 91, ROWS),
            "sex": rng.choice(["Male", "Female"], ROWS),
            "hours": rng.integers(1, 100, ROWS),
            "country": rng.choice(COUNTRIES, ROWS, p=[0.6, 0.3, 0.05, 0.03, 0.02]),
            "income": rng.choice(["<=50K", ">50K"], ROWS),
        }
    )
    table.loc[:20, "country"] = "?"
    path = tmp_path / "survey.data"
    path.write_text("\n".join(", ".join(map(str, row)) for row in table.to_numpy()) + "\n")
    return path


def choose(visitor, *columns):
    """Add columns as a person does: open the list, type, Enter."""
    page = visitor.page
    for name in columns:
        page.locator(".st-key-data-columns").get_by_role("combobox").click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(data_line(visitor, name)).to_have_count(1)
        visitor.drawn()
    page.keyboard.press("Escape")


def data_line(visitor, column):
    """The line of the sidebar that says what the data are, if this column is among them."""
    return visitor.page.get_by_test_id("stSidebar").get_by_text(re.compile(rf"^Data: .*\b{column}\b"))


def drop(visitor, column):
    visitor.page.locator(".st-key-data-columns").get_by_role("button", name=f"Remove {column}", exact=True).click()
    expect(data_line(visitor, column)).to_have_count(0)
    visitor.drawn()


def submit(visitor, key, text):
    box = visitor.page.locator(f".st-key-{key}").locator("input, textarea").first
    visitor.drawn()
    box.fill(text)
    box.press("Control+Enter" if box.evaluate("e => e.tagName") == "TEXTAREA" else "Enter")


def count_as(visitor, row, name):
    """Type another category into a row of the table of categories: click until its cell is the one with the frame (the page
    above may still grow), type, and see it there. Keys pressed faster than the grid draws are lost in it: then again."""
    page = visitor.page
    grid = page.get_by_test_id("stDataFrame").first
    cell = grid.get_by_test_id(f"glide-cell-2-{row}")  # what a screen reader finds of the canvas
    expect(cell).to_be_attached()
    while cell.text_content() != name:
        while cell.get_attribute("aria-selected") != "true":
            grid.scroll_into_view_if_needed()
            box = grid.bounding_box()
            page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 35 * (row + 1.5))
            page.wait_for_timeout(500)
        page.keyboard.type(name, delay=40)
        page.wait_for_timeout(300)
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)


def test_a_real_table_is_set_up_in_three_ways(visitor):
    page = visitor.page
    page.get_by_text("How survey.data was read").click()
    submit(visitor, "read-names", "age, sex, hours, country, income")
    expect(data_line(visitor, "age")).to_have_count(1)
    visitor.drawn()
    choose(visitor, "sex", "income")
    expect(page.get_by_text("× 2 sex × 2 income.").first).to_be_visible()
    expect(visitor.metric("Users (N)")).to_have_text(f"{ROWS:,}")

    choose(visitor, "hours")
    for column in ("age", "sex", "income"):
        drop(visitor, column)
    submit(visitor, "data-bins", "10")
    expect(visitor.metric("Types (n)")).to_have_text("10")

    choose(visitor, "country")
    drop(visitor, "hours")
    submit(visitor, "data-rare", "200")
    expect(visitor.metric("Types (n)")).to_have_text("3")
    expect(page.get_by_text("are left out because country is missing").first).to_be_visible()


@pytest.mark.slow
def test_categories_are_merged_in_the_table(visitor):
    page = visitor.page
    choose(visitor, "column_4")
    drop(visitor, "column_1")
    expect(visitor.metric("Types (n)")).to_have_text("5")
    page.locator("[data-testid=stExpander]").filter(has_text="Edit the categories").locator("summary").click()
    count_as(visitor, 0, "islands")  # Fiji
    count_as(visitor, 1, "islands")  # France, while the page still answers the first
    expect(page.get_by_test_id("stMetric").filter(has_text="Types (n)")).to_contain_text("4")
    visitor.button("undo").click()
    expect(page.get_by_test_id("stMetric").filter(has_text="Types (n)")).to_contain_text("5")
