"""The answers of a session of questions, put one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.studies.asking import AnsweredQuestion


def session_answers(answered: Sequence[AnsweredQuestion], look: Theme = LIGHT) -> go.Figure:
    """Answers of a session, one below the other in the order asked, on the scale of what each query can be (0 to 100 %)."""
    fig = theme.figure(look, "answer (%, from the least to the most possible)", "", 120 + theme.ROW * len(answered))
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
