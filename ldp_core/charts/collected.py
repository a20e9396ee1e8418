"""The answers of a collection with their intervals, and what the design promised of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.theme import LIGHT, Theme, colour, figure, literal, marker, query_ticks, show_legend

FEW = 64
"""Up to this many answers are drawn large."""
PROMISED = 1.96
"""Standard errors that hold 95 of 100 answers."""


def collection(frame: pd.DataFrame, users: float, mechanism: str, look: Theme = LIGHT) -> go.Figure:
    """The answers of ``frame`` (see `ldp_core.deploy.collector.answers`) from ``users`` people as
    shares, with their intervals, on bars that extend 1.96 promised standard errors to each side."""
    fig = figure(look, "query", "share of people (%)", height=420)
    few, scale, shade = len(frame) <= FEW, 100 / users, colour(mechanism, look)
    answers, low, high = (scale * frame[name] for name in ("answer", "low", "high"))
    reach, places = PROMISED * scale * frame["promised"], frame["query"] + 1
    across = [x for place in places for x in (place, place, None)]
    fig.add_scatter(
        x=across,
        y=_ends(answers - reach, answers + reach),
        name="as promised",
        mode="lines",
        line={"color": look.faint, "width": 9 if few else 3},
        opacity=0.45,
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=across,
        y=_ends(
            low, high
        ),  # not error bars: an unbiased answer may lie beyond what people can answer, an interval never does
        name="interval",
        mode="lines",
        line={"color": shade, "width": 2.5 if few else 1.2},
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=places,
        y=answers,
        name="answer",
        mode="markers",
        marker={"color": shade, "symbol": marker(mechanism), "size": 9 if few else 4},
        customdata=np.stack([frame["name"].map(literal), low, high, reach], axis=-1),
        hovertemplate="%{customdata[0]}: %{y:.2f} %, interval %{customdata[1]:.2f} to %{customdata[2]:.2f} %, promised "
        "± %{customdata[3]:.2f}<extra></extra>",
    )
    query_ticks(fig, frame.rename(columns={"name": "label"}), shown=4)
    show_legend(fig)
    return fig


def _ends(low: pd.Series, high: pd.Series) -> list[float | None]:
    return [y for pair in zip(low, high, strict=True) for y in (*pair, None)]
