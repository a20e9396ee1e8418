"""The answers of a collection with their intervals, and what the design promised of them; and those of a session of questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.studies.asking import AnsweredQuestion

FEW = 64
"""Up to this many answers are drawn large."""
PROMISED = 1.96
"""Standard errors that hold 95 of 100 answers."""


def collection(frame: pd.DataFrame, users: float, mechanism: str, look: Theme = LIGHT) -> go.Figure:
    """The answers of ``frame`` (see `ldp_core.deploy.collector.answers`) from ``users`` people as
    shares, with their intervals, on bars that extend 1.96 promised standard errors to each side; and the ``true`` answers where these are known."""
    fig = theme.figure(look, "query", "share of people (%)", height=310)
    few, scale, shade = len(frame) <= FEW, 100 / users, theme.colour(mechanism, look)
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
        marker=theme.mark(mechanism, look, 9 if few else 4),
        customdata=np.stack([frame["name"].map(theme.literal), low, high, reach], axis=-1),
        hovertemplate="%{customdata[0]}: %{y:.2f} %, interval %{customdata[1]:.2f} to %{customdata[2]:.2f} %, promised "
        "± %{customdata[3]:.2f}<extra></extra>",
    )
    if "true" in frame:
        fig.add_scatter(
            x=places,
            y=scale * frame["true"],
            name="true answer",
            mode="markers",
            marker={"symbol": "line-ew-open", "size": 12 if few else 5, "color": look.text, "line": {"width": 2}},
            hovertemplate="%{y:.2f} %<extra>true</extra>",
        )
    theme.query_ticks(fig, frame.rename(columns={"name": "label"}), shown=4)
    theme.show_legend(fig)
    return fig


def _ends(low: pd.Series, high: pd.Series) -> list[float | None]:
    return [y for pair in zip(low, high, strict=True) for y in (*pair, None)]


def asked(answered: Sequence[AnsweredQuestion], look: Theme = LIGHT) -> go.Figure:
    """Answers of a session, one below the other in the order asked, on the scale of what each query can be (0 to 100 %)."""
    fig = theme.figure(look, "answer (% of its range)", "", 120 + theme.ROW * len(answered))
    rounds, texts = list(range(len(answered))), [question.question.text for question in answered]
    means = [question.answer for question in answered]
    fig.add_scatter(
        x=[100 * mean.value for mean in means],
        y=rounds,
        name="private answer, with 95 % interval",
        mode="markers",
        marker={"color": theme.colour("adaptive", look), "size": 9},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [100 * max(0.0, mean.high - mean.value) for mean in means],
            "arrayminus": [100 * max(0.0, mean.value - mean.low) for mean in means],
            "color": theme.colour("adaptive", look),
        },
        customdata=[
            (100 * mean.low, 100 * mean.high, theme.literal(text)) for mean, text in zip(means, texts, strict=True)
        ],
        hovertemplate="%{customdata[2]}<br>answer %{x:.2f} %, interval %{customdata[0]:.2f} to %{customdata[1]:.2f} %<extra></extra>",
    )
    spans = [question.question.high - question.question.low for question in answered]
    fig.add_scatter(
        x=[
            100 * (question.truth - question.question.low) / span
            for question, span in zip(answered, spans, strict=True)
        ],
        y=rounds,
        name="truth on these people",
        mode="markers",
        marker={"color": look.text, "size": 9, "symbol": "line-ns-open", "line": {"width": 2}},
        hovertemplate="truth %{x:.2f} %<extra></extra>",
    )
    theme.name_rows(fig, [theme.short(f"{k + 1}. {text}", theme.ROW_LETTERS) for k, text in enumerate(texts)], look)
    theme.show_legend(fig)
    return fig
