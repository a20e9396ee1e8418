"""Every chart can be read, and is small: contrast with the page, words off the marks and the buttons, series distinguished without
colour, no lines between categories."""

import json
from itertools import combinations

import every_chart
import numpy as np
import pytest

from ldp_core import charts, library
from ldp_core.charts.theme import COLOUR_BAR, MODE_BAR, colour, contrast

LOOKS = {"light": charts.LIGHT, "dark": charts.DARK}
ROWS = ("users needed", "users needed, on the lines")


def figure(look, name):
    return every_chart.figure(name, LOOKS[look])


def joined(trace):
    return trace.type.startswith("scatter") and "lines" in (trace.mode or "lines")


def lines_of(text):
    return (text or "").split("<br>")


def colours(part, place=""):
    """(place, "#RRGGBB") of all lines, marks and words of a figure; fills and colour scales are pictures of numbers."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key not in ("colorscale", "fillcolor", "template"):
                yield from colours(value, key if key != "color" else place)
    elif isinstance(part, list):
        for value in part:
            yield from colours(value, place)
    elif isinstance(part, str) and len(part) == 7 and part.startswith("#"):
        yield place, part


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#FFFFFF") == contrast("#FFFFFF", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(
        4.54, abs=0.005
    )  # the lightest grey that WCAG allows for text


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_every_mechanism_has_a_colour_that_can_be_read_and_no_two_become_one(look):
    shown = {spec.style[0]: colour(name, look) for name, spec in library.REGISTRY.items()}
    assert len(set(shown.values())) == len(shown)
    for own, drawn in shown.items():
        assert contrast(drawn, look.paper) >= 4.5
        assert (drawn == own) == (contrast(own, look.paper) >= 4.5)  # those that can be read stay as they are


def shape(trace):
    mode = trace.mode or "lines"
    symbol = trace.marker.symbol if "markers" in mode else None
    symbol = tuple(symbol) if isinstance(symbol, tuple | list | np.ndarray) else symbol or "circle"
    width = trace.line.width if "lines" in mode else None
    return (
        symbol if "markers" in mode else None,
        (trace.line.dash or "solid", width) if "lines" in mode else None,
        trace.fill,
    )


def words_and_legend(fig):
    """The legend lies below, the top is left to the buttons, and words above the chart stand below these."""
    assert fig.layout.margin.t >= (MODE_BAR if fig.layout.height > 260 else 10)
    if (box := fig.layout.legend) and fig.layout.showlegend:
        bar_below = fig.layout.coloraxis.colorbar.orientation == "h"  # then the legend stands on their bar
        bottom = COLOUR_BAR / fig.layout.height if bar_below else 0
        assert (box.orientation, box.yref, box.y, box.yanchor) == ("h", "container", bottom, "bottom")
    for words in fig.layout.annotations:
        if words.yref == "paper" and words.yanchor == "bottom" and words.y >= 1 and words.xref == "paper":
            assert fig.layout.margin.t >= MODE_BAR + 15 * len(lines_of(words.text)), words.text


def series(fig):
    """Series differ in marker or dash as well as in colour, and no line joins categories."""
    lines = [trace for trace in fig.data if trace.type.startswith("scatter")]
    shown = {trace.name: trace for trace in lines if trace.name and trace.showlegend is not False}
    for one, other in combinations(shown.values(), 2):
        assert shape(one) != shape(other), (one.name, other.name)
    for trace in lines:
        assert not (joined(trace) and trace.x is not None and any(isinstance(x, str) for x in trace.x)), trace.name


@pytest.mark.promise
@pytest.mark.crossed
@pytest.mark.parametrize("look_name", LOOKS)
@pytest.mark.parametrize("family", every_chart.FAMILIES)
def test_every_chart_is_small_and_what_is_drawn_can_be_seen_and_told_apart(family, look_name):
    look = LOOKS[look_name]
    for name, fig in every_chart.figures(family, look).items():
        text = fig.to_json()
        assert len(text) < 2_000_000, name
        drawn = list(colours(json.loads(text)))
        assert drawn, name
        for place, shade in drawn:
            least = 4.5 if "font" in place else 3.0
            assert shade == look.paper or contrast(shade, look.paper) >= least, (name, place, shade)
        assert fig.layout.font.color == look.text, name
        assert fig.layout.paper_bgcolor == fig.layout.plot_bgcolor == "rgba(0,0,0,0)", name
        words_and_legend(fig)
        series(fig)


def test_queries_without_an_order_are_not_joined():
    assert not any(joined(trace) for trace in figure("light", "query errors").data)


@pytest.mark.parametrize("name", ROWS)
def test_names_are_the_axis_and_numbers_stand_at_their_marks_where_no_line_runs(name):
    fig = figure("light", name)
    assert [shape for shape in fig.layout.shapes if shape.type == "line"]
    assert not [trace for trace in fig.data if "text" in (trace.mode or "")]
    numbers = [words for words in fig.layout.annotations if words.xshift == 12]
    assert [words.y for words in numbers] == list(fig.layout.yaxis.tickvals) == list(fig.data[0].y)
    assert [words.x for words in numbers] == pytest.approx(np.log10(fig.data[0].x).tolist())
    assert {words.bgcolor for words in numbers} == {charts.LIGHT.paper}


def test_the_word_for_the_region_is_never_crossed_by_a_line():
    for name in ("users over epsilon", "users over epsilon, marks"):
        fig = figure("light", name)
        (words,) = [one for one in fig.layout.annotations if one.text == "impossible"]
        assert (words.xref, words.xanchor) == ("paper", "left")
        assert words.bgcolor == charts.LIGHT.paper, "the line of one's own users does not run through it"
