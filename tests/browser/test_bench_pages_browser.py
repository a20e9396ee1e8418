"""What a person meets on each page: words and buttons, what stands above the fold, time until the page is quiet, and the clicks from Start
to a fitted design with its verdict. The sample, a fitted design of 784 types, and a table of six columns."""

import io
import time

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PAGES, hand

pytestmark = pytest.mark.benchmark
WORDS = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const labels = 'button, a, label, input, textarea, select, summary, [role=tab], [role=radiogroup], [data-baseweb=select], ' +
        '[data-testid=stWidgetLabel], [data-testid=stIconMaterial], .js-plotly-plot, [data-testid=stDataFrame], table, .katex, style, ' +
        '.stSlider, .stSelectbox, .stMultiSelect, .stButtonGroup, [data-testid=stMetricValue]';
    const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {
        const place = walk.currentNode.parentElement;
        if (!place.closest(labels) && place.checkVisibility())
            found.push(...walk.currentNode.textContent.split(/[^\\p{L}\\p{N}'’-]+/u).filter(word => /\\p{L}/u.test(word)));
    }
    const end = element => element ? Math.round(element.getBoundingClientRect().bottom + main.scrollTop) : null;
    return {
        words: found.length,
        buttons: [...main.querySelectorAll('button')].filter(one => one.checkVisibility() && !one.closest('.js-plotly-plot')
            && !(one.getAttribute('aria-label') || '').startsWith('Help')).length,
        verdict: end(main.querySelector('.st-key-verdict')),
        picture: end([...main.querySelectorAll('.js-plotly-plot')].filter(one => one.checkVisibility())[0]),
    };
}"""


def table_of_six(rows=3000):
    """A realistic table: six columns, one of which has missing values."""
    rng = np.random.default_rng(0)
    ages = np.clip(rng.normal(45, 18, rows), 18, 95).round()
    table = pd.DataFrame(
        {
            "Age": np.where(rng.random(rows) < 0.03, np.nan, ages),
            "Region": rng.choice(["North", "South", "East", "West"], rows),
            "Smoking": rng.choice(["Yes", "No", "Former"], rows, p=[0.2, 0.6, 0.2]),
            "Income": rng.lognormal(10, 0.5, rows).round(-2),
            "Education": rng.choice(["Primary", "Secondary", "Tertiary"], rows),
            "Children": rng.integers(0, 6, rows),
        }
    )
    file = io.BytesIO()
    table.to_csv(file, index=False)
    return {"name": "people.csv", "mimeType": "text/csv", "buffer": file.getvalue()}


def quiet(visitor):
    """Until nothing is drawn any more and nothing runs in the background."""
    visitor.drawn()
    while True:
        visitor.page.wait_for_timeout(700)
        visitor.drawn()
        if not visitor.page.locator(".st-key-jobs").count():
            return


def sample(visitor):
    visitor.go("Start")
    visitor.button("begin").click()
    expect(visitor.page.locator("h1")).to_have_text("Design")


def choose_columns(visitor, columns):
    visitor.go("Data")
    visitor.page.locator(".st-key-data-source").get_by_text("Upload", exact=True).click()
    place = visitor.page.locator("[data-testid=stMain] input[type=file]")
    hand(visitor.page, place, table_of_six(), visitor.page.locator(".st-key-data-columns"))
    for name in columns:
        visitor.drawn()
        visitor.page.locator(".st-key-data-columns").get_by_role("combobox").click()
        visitor.page.keyboard.type(name)
        visitor.page.keyboard.press("Enter")
    visitor.page.keyboard.press("Escape")
    visitor.drawn()


def three_columns(visitor):
    choose_columns(visitor, ["Region", "Smoking"])
    visitor.go("Design")
    visitor.drawn()
    if visitor.page.locator(".st-key-optimise button:visible").count():
        visitor.button("optimise").click()


def six_columns(visitor):
    choose_columns(visitor, ["Region", "Smoking", "Income", "Education", "Children"])


@pytest.mark.parametrize("begin", [sample, three_columns, six_columns])
def test_words(visit, begin, capsys):
    visitor, rows = visit(), []
    begin(visitor)
    quiet(visitor)
    for title in PAGES:
        began = time.perf_counter()
        visitor.go(title)
        visitor.drawn()
        drawn = time.perf_counter() - began
        quiet(visitor)
        rows.append((title, visitor.page.evaluate(WORDS), drawn, time.perf_counter() - began))
    with capsys.disabled():
        print(f"\n{begin.__name__:12} words buttons verdict picture   drawn   quiet (pixels from the top; seconds)")
        for title, found, *seconds in rows:
            figures = [str(found[part] or "-") for part in ("words", "buttons", "verdict", "picture")]
            print(f"{title:12}" + "".join(f"{one:>8}" for one in figures) + "".join(f"{one:8.1f}" for one in seconds))


def test_from_start_to_a_verdict(visit, capsys):
    """Presses besides the one that opens the sample."""
    visitor, presses = visit(), 0
    began = time.perf_counter()
    sample(visitor)
    quiet(visitor)
    if visitor.page.locator(".st-key-optimise button:visible").count():
        visitor.button("optimise").click()
        presses += 1
        quiet(visitor)
    expect(visitor.page.get_by_test_id("stMain").get_by_text("usable").first).to_be_visible()
    with capsys.disabled():
        print(f"\nFrom Start to a verdict: {presses + 1} presses, {time.perf_counter() - began:.1f} s")
