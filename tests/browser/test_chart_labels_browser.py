"""Every chart as wide as on a telephone, a tablet and a laptop, in the font of the app: no two labels touch, none leaves the chart."""

import json
from pathlib import Path

import every_chart
import pytest
import streamlit
from plotly.offline import get_plotlyjs

from ldp_core import charts
from tests.browser.conftest import still

WIDTHS = {"telephone": 358, "tablet": 640, "laptop": 900}
"""Pixels of a chart in windows 390, 1024 and 1280 wide."""
(FONT,) = Path(streamlit.__file__).parent.glob("static/static/media/SourceSansVF-Upright.ttf*.woff2")
DRAW = """async ([figure, width]) => {
    const place = document.getElementById('chart');
    await Plotly.newPlot(place, figure.data, {...figure.layout, width}, {displayModeBar: false});
    const page = place.getBoundingClientRect(), said = element => element.dataset.unformatted ?? element.textContent;
    const boxes = [...place.querySelectorAll('.xtick text, .ytick text, .infolayer .annotation text, .cbaxis text, .gtitle, .xtitle, .ytitle, .legendtext')]
        .filter(element => element.textContent.trim() && getComputedStyle(element).opacity !== '0')
        .map(element => [said(element), element.getBoundingClientRect(), / rotate\\((?!0)/.test(` ${element.getAttribute('transform')}`)]);
    const wrong = [];
    boxes.forEach(([text, box, slanted], i) => {
        if (box.left < page.left - 1 || box.right > page.right + 1 || box.top < page.top - 1 || box.bottom > page.bottom + 1)
            wrong.push(`outside: ${text}`);
        for (const [other, its, too] of boxes.slice(i + 1)) {
            if (slanted && too) continue; // Plotly slants the ticks of an axis where they would touch
            const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
            const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
            if (across > 1 && down > 6) wrong.push(`${text} on ${other}`); // boxes hold the room for accents
        }
    });
    Plotly.purge(place);
    return wrong;
}"""


@pytest.fixture(scope="module")
def page(browser):
    context = still(browser)
    page = context.new_page()
    page.route("http://charts.test/*", lambda route: route.fulfill(path=FONT))
    page.route(
        "http://charts.test/",
        lambda route: route.fulfill(body="<!doctype html><div id=chart></div>", content_type="text/html"),
    )
    page.goto("http://charts.test/")
    page.add_script_tag(content=get_plotlyjs())
    page.evaluate("""async () => {
        for (const name of ['Source Sans', 'Source Sans Pro'])
            document.fonts.add(await new FontFace(name, 'url(font.woff2)', {weight: '200 900'}).load());
    }""")
    yield page
    context.close()


@pytest.mark.promise
@pytest.mark.parametrize("family", every_chart.FAMILIES)
@pytest.mark.parametrize("device", WIDTHS)
def test_no_two_labels_of_a_chart_touch(page, family, device):
    if family == "papers" and device != "telephone":
        pytest.skip("looked at where there is least room")
    drawn = every_chart.figures(family, charts.LIGHT).items()
    wrong = {name: page.evaluate(DRAW, [json.loads(fig.to_json()), WIDTHS[device]]) for name, fig in drawn}
    assert not {name: found for name, found in wrong.items() if found}
