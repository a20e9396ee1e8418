"""A table of one's own in a real browser: columns, bins and categories set up by hand, questions about them, named answers."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

A_MINUTE = 60  # seconds, on a machine that does nothing else
ROWS = 3000
COUNTRIES = ["France", "Spain", "Malta", "Peru", "Fiji"]


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
        visitor.settle()
    page.keyboard.press("Escape")


def drop(visitor, column):
    visitor.page.locator(".st-key-data-columns").get_by_role("button", name=f"Remove {column}", exact=True).click()
    visitor.settle()


def submit(visitor, key, text):
    box = visitor.page.locator(f".st-key-{key}").locator("input, textarea").first
    box.fill(text)
    box.press("Control+Enter" if box.evaluate("e => e.tagName") == "TEXTAREA" else "Enter")
    visitor.settle()


def count_as(visitor, row, name):
    """Type another category into a row of the table of categories."""
    page = visitor.page
    visitor.settle()
    page.wait_for_timeout(1000)  # the table is drawn on a canvas, some time after the script has ended
    grid = page.get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 35 * (row + 1.5))
    page.keyboard.type(name, delay=60)
    page.keyboard.press("Enter")


def test_three_set_ups_of_a_real_table_take_less_than_a_minute_each(visit, survey):
    visitor = visit()
    page = visitor.page
    visitor.go("Data")
    begun = time.monotonic()
    page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
    page.locator("[data-testid=stMain] input[type=file]").set_input_files(survey)
    expect(page.get_by_text("How survey.data was read")).to_be_visible()
    page.get_by_text("How survey.data was read").click()
    submit(visitor, "read-names", "age, sex, hours, country, income")
    choose(visitor, "sex", "income")
    expect(page.get_by_text("× 2 sex × 2 income.")).to_be_visible()
    assert visitor.metric("Users (N)") == f"{ROWS:,}"
    first = time.monotonic()
    assert first - begun < A_MINUTE

    choose(visitor, "hours")
    for column in ("age", "sex", "income"):
        drop(visitor, column)
    submit(visitor, "data-bins", "10")
    assert visitor.metric("Types (n)") == "10"
    second = time.monotonic()
    assert second - first < A_MINUTE

    choose(visitor, "country")
    drop(visitor, "hours")
    submit(visitor, "data-rare", "200")
    assert visitor.metric("Types (n)") == "3"
    expect(page.get_by_text("are left out because country is missing")).to_be_visible()
    assert time.monotonic() - second < A_MINUTE


def test_categories_are_merged_in_the_table(visit, survey):
    visitor = visit()
    page = visitor.page
    visitor.go("Data")
    page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
    page.locator("[data-testid=stMain] input[type=file]").set_input_files(survey)
    expect(page.get_by_text("How survey.data was read")).to_be_visible()
    choose(visitor, "column_4")
    drop(visitor, "column_1")
    assert visitor.metric("Types (n)") == "5"
    page.locator("[data-testid=stExpander]").filter(has_text="Edit the categories").locator("summary").click()
    count_as(visitor, 0, "islands")  # Fiji
    expect(page.get_by_text("The categories were edited by hand.")).to_be_visible()
    count_as(visitor, 1, "islands")  # France
    expect(page.get_by_test_id("stMetric").filter(has_text="Types (n)")).to_contain_text("4")
    visitor.button("undo").click()
    expect(page.get_by_test_id("stMetric").filter(has_text="Types (n)")).to_contain_text("5")


def test_questions_about_several_attributes_are_named_wherever_they_are_answered(visit):
    visitor = visit()
    page = visitor.page
    page.get_by_role("button", name="Sample data").click()
    page.get_by_role("button", name="Health survey").click()
    expect(page.get_by_text("6,000 users, 64 types")).to_be_visible()
    page.keyboard.press("Escape")
    visitor.go("Workload")
    expect(page.get_by_test_id("stMain").get_by_text("Joint counts of every 2 attributes").first).to_be_visible()
    assert visitor.metric("Queries (p)") == "60"
    expect(page.get_by_text("smokes no and high_blood_pressure no")).to_be_visible()
    visitor.go("Compare")
    page.get_by_role("tab", name="Error of each query").click()
    expect(page.get_by_text("the hardest query is")).to_contain_text(
        re.compile(r"query is \w+ (no|yes) and \w+ (no|yes) with")
    )
