"""The picture of a panel of a paper: what was computed here as lines, printed numbers as hollow markers beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import cycle

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import library, wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#999933")
"""Of series that are no mechanisms, in turn: Okabe and Ito's."""
MARKERS = ["circle", "square", "diamond", "cross", "triangle-up", "star", "x", "triangle-down"]
MORE_MARKERS = [
    "pentagon",
    "hexagon",
    "hexagram",
    "bowtie",
    "hourglass",
    "star-diamond",
    "triangle-left",
    "triangle-right",
]
"""Those of a second round of the colours."""
HEIGHT = 400
TICK_LETTERS = 16
"""Most letters in a line of a name below the horizontal axis."""


def panel(
    frame: pd.DataFrame, x: str, y: str, log_x: bool = False, log_y: bool = True, look: Theme = LIGHT
) -> go.Figure:
    """``frame``: series (the name of a mechanism or bound, or any words), x (numbers or names), here, standard_error (NaN: exact),
    printed (NaN: none). ``x`` and ``y`` are the titles of the axes."""
    names = list(dict.fromkeys(frame["series"]))
    titles = {name: theme.title(name) for name in names}
    fig, compared = theme.figure(look, x, y, HEIGHT), bool(frame["printed"].notna().any())
    named = not pd.api.types.is_numeric_dtype(frame["x"])
    styles = _styles(names, look)
    for name in names:
        _add_series(fig, frame[frame["series"] == name], name, titles[name], styles, named, look)
    if compared:
        fig.add_scatter(x=[None], y=[None], name="printed", mode="markers", marker=_hollow(look.text, "circle"))
    if len(names) > 1 or compared:
        theme.show_legend(fig)
    if named:
        places = list(dict.fromkeys(frame["x"]))
        words = ["<br>".join(map(theme.literal, textwrap.wrap(place, TICK_LETTERS))) for place in places]
        order = {"type": "category", "categoryorder": "array", "categoryarray": places}
        fig.update_xaxes(**order, tickvals=places, ticktext=words)
    elif log_x and len(frame):
        places = sorted(set(frame["x"]))
        axis = theme.log_axis(places[0], places[-1], 1.1)
        ticks = {"tickvals": places, "ticktext": [f"{place:,.12g}" for place in places]} if len(places) <= 10 else {}
        fig.update_xaxes(**{**axis, **ticks})
    values = frame[["here", "printed"]].to_numpy(dtype=float)
    values = values[np.isfinite(values) & (values > 0)]
    if log_y and values.size:
        fig.update_yaxes(**theme.log_axis(float(values.min()), float(values.max()), 1.3))
    return fig


def _styles(names: list[str], look: Theme) -> Mapping[str, tuple[str, str]]:
    """Colour and marker of every series: a mechanism's own, else the next of `COLOURS` with a colour and shape that no mechanism beside it has."""
    known = {name: (theme.colour(name, look), theme.marker(name)) for name in names if name in library.REGISTRY}
    taken = {part for style in known.values() for part in style}
    every = [
        (theme.readable(shade, look), symbol) for shade, symbol in zip(COLOURS * 2, MARKERS + MORE_MARKERS, strict=True)
    ]
    free = [style for style in every if not taken & set(style)] or every
    others = (name for name in names if name not in known)
    return known | dict(zip(others, cycle(free), strict=False))


def _add_series(
    fig: go.Figure,
    points: pd.DataFrame,
    name: str,
    shown: str,
    styles: Mapping[str, tuple[str, str]],
    named: bool,
    look: Theme,
) -> None:
    shade, symbol = styles[name]
    bound = name in theme.BOUND_LINES
    dash, width = theme.BOUND_LINES.get(name, ("solid", 2.5))
    errors = points["standard_error"]
    fig.add_scatter(
        x=points["x"],
        y=points["here"],
        name=theme.literal(shown),
        mode="markers" if named else "lines" if bound else "lines+markers",
        line={"color": look.faint if bound else shade, "width": width, "dash": dash},
        marker={"symbol": symbol, "size": 9, "color": look.faint if bound else shade},
        error_y={"type": "data", "array": errors.fillna(0.0), "color": shade, "thickness": 1.5}
        if errors.notna().any()
        else None,
        hovertemplate=f"{theme.literal(shown)}, %{{x}}: %{{y:,.4g}}<extra></extra>",
    )
    printed = points[points["printed"].notna()]
    if len(printed):
        fig.add_scatter(
            x=printed["x"],
            y=printed["printed"],
            name=f"{theme.literal(shown)}, printed",
            mode="markers",
            marker=_hollow(shade, symbol),
            showlegend=False,
            customdata=[wording.significant(ratio) for ratio in printed["printed"] / printed["here"]],
            hovertemplate=f"{theme.literal(shown)}, %{{x}}: %{{y:,.4g}} printed, %{{customdata}} times the value here<extra></extra>",
        )


def _hollow(shade: str, symbol: str) -> dict:
    return {"symbol": theme.hollow(symbol), "size": 15, "color": shade, "line": {"width": 2}}
