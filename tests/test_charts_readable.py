"""Every chart can be read: words off the marks and the buttons, series distinguished without
colour, no lines between categories."""

from itertools import combinations

import every_chart
import numpy as np
import pytest

from ldp_core import charts
from ldp_core.charts.theme import MODE_BAR, TITLE_LENGTH

LOOKS = {"light": charts.LIGHT, "dark": charts.DARK}
ROWS = ("users needed", "users needed, on the lines", "bounds, error", "bounds, users")


def figure(look, name):
    return every_chart.figure(name, LOOKS[look])


@pytest.fixture(params=LOOKS)
def look(request):
    return LOOKS[request.param]


@pytest.fixture(params=every_chart.FAMILIES)
def figs(request, look):
    """The charts of a family by their names, drawn in the process that looks at them, not in every one that collects tests."""
    return every_chart.figures(request.param, look)


def joined(trace):
    return trace.type.startswith("scatter") and "lines" in (trace.mode or "lines")


def lines_of(text):
    return (text or "").split("<br>")


@pytest.mark.crossed
def test_legends_lie_below_and_the_top_is_left_to_the_buttons(figs):
    for name, fig in figs.items():
        assert fig.layout.margin.t >= (MODE_BAR if fig.layout.height > 260 else 10), name
        if (box := fig.layout.legend) and fig.layout.showlegend:
            assert (box.orientation, box.yref, box.y, box.yanchor) == ("h", "container", 0, "bottom"), name


@pytest.mark.crossed
def test_words_above_a_chart_stand_below_the_buttons(figs):
    for name, fig in figs.items():
        for words in fig.layout.annotations:
            if words.yref == "paper" and words.yanchor == "bottom" and words.y >= 1 and words.xref == "paper":
                assert fig.layout.margin.t >= MODE_BAR + 15 * len(lines_of(words.text)), (name, words.text)


@pytest.mark.crossed
def test_names_in_a_legend_are_not_cut(figs):
    for name, fig in figs.items():
        if fig.layout.showlegend:
            longest = max(len(trace.name or "") for trace in fig.data if trace.showlegend is not False)
            assert fig.layout.legend.entrywidth >= 40 + 6 * longest, name


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


@pytest.mark.crossed
def test_series_differ_in_marker_or_dash_as_well_as_in_colour(figs):
    for name, fig in figs.items():
        shown = {
            trace.name: trace
            for trace in fig.data
            if trace.type.startswith("scatter") and trace.name and trace.showlegend is not False
        }
        for one, other in combinations(shown.values(), 2):
            assert shape(one) != shape(other), (name, one.name, other.name)


@pytest.mark.crossed
def test_no_line_joins_categories(figs):
    for name, fig in figs.items():
        for trace in fig.data:
            named = (
                trace.type.startswith("scatter") and trace.x is not None and any(isinstance(x, str) for x in trace.x)
            )
            assert not (named and joined(trace)), name


def test_sets_of_attributes_and_queries_without_an_order_are_not_joined():
    assert not any(joined(trace) for trace in figure("light", "group errors, sets").data)
    frame = every_chart.query_frame()
    assert not any(joined(trace) for trace in charts.query_errors(frame).data)
    assert all(joined(trace) for trace in charts.query_errors(frame, in_order=True).data)


@pytest.mark.crossed
def test_titles_of_axes_fit_on_one_line_but_for_some_of_papers(figs):
    for name, fig in figs.items():
        for axes, limit in ((fig.select_xaxes(), TITLE_LENGTH), (fig.select_yaxes(), 1.3 * TITLE_LENGTH)):
            for axis in axes:
                lines = lines_of(axis.title.text)
                longest = max(map(len, (axis.title.text or "").split()), default=0)
                assert max(map(len, lines)) <= max(limit, longest + 1), name
                assert len(lines) == 1 or name.startswith("panel "), name


@pytest.mark.parametrize("name", ROWS)
def test_numbers_of_rows_stand_with_their_names_where_no_line_runs(name):
    fig = figure("light", name)
    assert [shape for shape in fig.layout.shapes if shape.type == "line"]
    assert not [trace for trace in fig.data if "text" in (trace.mode or "")]
    names = [words.text for words in fig.layout.annotations if words.name == "row"]
    assert any(any(sign.isdigit() for sign in text) for text in names)


def test_the_word_for_the_region_is_never_crossed_by_a_line():
    for name in ("users over epsilon", "users over epsilon, marks"):
        fig = figure("light", name)
        (words,) = [one for one in fig.layout.annotations if one.text == "impossible"]
        assert (words.xref, words.xanchor) == ("paper", "left")
        assert words.bgcolor == charts.LIGHT.paper, "the line of one's own users does not run through it"
