"""What a person meets on each page: words and buttons, what stands above the fold, time until the page is quiet, and the
presses from Start to a fitted design with its verdict. With the sample, a fitted design of 784 types, and six columns."""

import io
import re
import time

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import (  # noqa: F401
    MORE,
    PAGES,
    SIZE,
    address,
    browser,
    server,
    until,
    visit,
)

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


def people(rows=3000):
    """A realistic table: of its six columns, the first three have 28 x 7 x 4 types."""
    rng = np.random.default_rng(0)
    regions = ["North", "South", "East", "West", "Centre", "Coast", "Isles"]
    table = pd.DataFrame(
        {
            "Age": np.clip(rng.normal(55, 20, rows), 18, 101).round().astype(int),
            "Region": rng.choice(regions, rows),
            "Smoking": rng.choice(["Never", "Former", "Sometimes", "Daily"], rows, p=[0.5, 0.2, 0.1, 0.2]),
            "Income": rng.lognormal(10, 0.5, rows).round(-2),
            "Education": np.where(rng.random(rows) < 0.03, None, rng.choice(["Primary", "Tertiary"], rows)),
            "Children": rng.integers(0, 6, rows),
        }
    )
    file = io.BytesIO()
    table.to_csv(file, index=False)
    return {"name": "people.csv", "mimeType": "text/csv", "buffer": file.getvalue()}


def quiet(visitor):
    """Wait until nothing is drawn any more and nothing runs in the background."""
    visitor.drawn()

    def still():
        visitor.page.wait_for_timeout(700)
        visitor.drawn()
        return not visitor.page.locator("[class*=st-key-stop-]").count()

    until(visitor.page, still)


def sample(visitor):
    visitor.begin()


def three_columns(visitor, columns=("Region", "Smoking")):
    visitor.upload(people(), visitor.page.locator(".st-key-data-all"))
    for name in columns:
        visitor.choose_column(name)
    visitor.go("Design")
    quiet(visitor)
    button = visitor.page.locator(".st-key-optimise button:visible")
    if button.count() and words.OPTIMISE in button.inner_text():
        button.click()
        expect(visitor.sidebar.get_by_text(words.GAP).first).to_be_visible()


def six_columns(visitor):
    three_columns(visitor, ("Region", "Smoking", "Income", "Education", "Children"))


@pytest.mark.parametrize("begin", [sample, three_columns, six_columns])
def test_what_stands_on_each_page(visit, begin, capsys):  # noqa: F811
    visitor, rows = visit(), []
    begin(visitor)
    quiet(visitor)
    for title in PAGES[: -len(MORE)]:
        began = time.perf_counter()
        visitor.go(title)
        visitor.drawn()
        drawn = time.perf_counter() - began
        quiet(visitor)
        rows.append((title, visitor.page.evaluate(WORDS), drawn, time.perf_counter() - began))
    visitor.go("Data")
    types = visitor.metric("Types so far").inner_text()
    with capsys.disabled():
        print(
            f"\n{begin.__name__}, {types} types. Verdict and picture: pixels down to their ends, of {SIZE['height']}."
        )
        print(f"{'':12}   words buttons verdict picture   drawn   quiet (s)")
        for title, found, *seconds in rows:
            figures = [str(found[part] or "-") for part in ("words", "buttons", "verdict", "picture")]
            print(f"{title:12}" + "".join(f"{one:>8}" for one in figures) + "".join(f"{one:8.1f}" for one in seconds))


def test_from_start_to_a_verdict(visit, capsys):  # noqa: F811
    visitor, began = visit(), time.perf_counter()
    visitor.begin()
    expect(visitor.page.locator(".st-key-verdict")).to_contain_text(re.compile(words.USABLE))
    with capsys.disabled():
        print(f"\nFrom Start to a fitted design with its verdict: 1 press, {time.perf_counter() - began:.1f} s")
