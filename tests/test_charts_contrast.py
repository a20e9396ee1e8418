"""Text, lines and marks of every chart can be seen on the page, light and dark."""

import numpy as np
import plotly.graph_objects as go
import pytest

from ldp_core import charts, library
from ldp_core.charts.contrast import GRAPHICS, TEXT, ratio, readable, seen

LOOKS = [charts.LIGHT, charts.DARK]
FIXED = {charts.colour(name) for name in library.REGISTRY}


@pytest.mark.parametrize("look", LOOKS)
def test_words_of_every_chart_can_be_read(look):
    for words in (look.text, look.faint, look.accent):
        assert ratio(words, look.paper) >= TEXT


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("least", [TEXT, GRAPHICS])
def test_every_mechanism_is_seen_and_those_that_are_keep_their_colour(look, least):
    for colour in FIXED:
        drawn = seen(colour, look, least)
        assert ratio(drawn, look.paper) >= least
        assert (drawn == colour) == (ratio(colour, look.paper) >= least)


@pytest.mark.parametrize("look", LOOKS)
def test_no_two_mechanisms_become_one(look):
    assert len({seen(colour, look) for colour in FIXED}) == len(FIXED)


@pytest.mark.parametrize("look", LOOKS)
def test_everything_drawn_is_mended_and_scales_are_not(look):
    fig = go.Figure()
    fig.add_scatter(
        x=[1, 2],
        y=[1, 2],
        text=["a", "b"],
        line={"color": look.paper},
        marker={"color": [look.paper, look.text], "line": {"color": look.paper}},
        error_y={"array": [1, 1], "color": look.paper},
        textfont={"color": look.paper},
    )
    fig.add_hline(y=1, line={"color": look.paper}, annotation={"text": "here", "font": {"color": look.paper}})
    fig.add_heatmap(z=np.eye(2), colorscale=[[0, look.paper], [1, look.text]])
    fig.add_bar(x=[1], y=[1], marker={"color": np.array([0.5]), "colorscale": [[0, look.paper], [1, look.text]]})
    curve, heat, bars = readable(fig, look).data
    for drawn in (curve.line.color, *curve.marker.color, curve.marker.line.color, curve.error_y.color):
        assert ratio(drawn, look.paper) >= GRAPHICS
    assert curve.marker.color[1] == look.text
    assert ratio(fig.layout.shapes[0].line.color, look.paper) >= GRAPHICS
    for words in (curve.textfont.color, fig.layout.annotations[0].font.color):
        assert ratio(words, look.paper) >= TEXT
    assert heat.colorscale[0][1] == look.paper
    assert list(bars.marker.color) == [0.5]
