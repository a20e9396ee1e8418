"""The picture of a session of questions: each answer with its interval, and the truth of the simulated people."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ldp_core.charts.theme import LIGHT, ROW, ROW_LETTERS, Theme, colour, figure, literal, name_rows, short, show_legend
from ldp_core.studies.asking import AnsweredQuestion


def asked(answered: Sequence[AnsweredQuestion], look: Theme = LIGHT) -> go.Figure:
    """Answers of a session, one below the other in the order asked, on the scale of what each query can be (0 to 100 %)."""
    fig = figure(look, "answer (% of its range)", "", 120 + ROW * len(answered))
    rounds, texts = list(range(len(answered))), [question.question.text for question in answered]
    means = [question.answer for question in answered]
    fig.add_scatter(
        x=[100 * mean.value for mean in means],
        y=rounds,
        name="private answer, with 95 % interval",
        mode="markers",
        marker={"color": colour("adaptive", look), "size": 9},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [100 * max(0.0, mean.high - mean.value) for mean in means],
            "arrayminus": [100 * max(0.0, mean.value - mean.low) for mean in means],
            "color": colour("adaptive", look),
        },
        customdata=[(100 * mean.low, 100 * mean.high, literal(text)) for mean, text in zip(means, texts, strict=True)],
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
    name_rows(fig, [short(f"{k + 1}. {text}", ROW_LETTERS) for k, text in enumerate(texts)], look)
    show_legend(fig)
    return fig
