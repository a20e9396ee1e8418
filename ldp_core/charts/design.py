"""Pictures of one mechanism: its strategy, and the optimiser at work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.inputs import label_ticks
from ldp_core.charts.theme import IMPOSSIBLE, LIGHT, PIXELS, Theme, binned, colour, figure, log_axis


def strategy(matrix: np.ndarray, labels: Sequence[str], look: Theme = LIGHT, relative: bool = True) -> go.Figure:
    """The strategy as a heat map, a row a report, ordered by where its likely types lie.

    ``relative`` shows how many times likelier a report is than for its least likely type (1 to e^epsilon), which makes
    rare and common reports comparable; otherwise the probability itself.
    """
    shown = matrix / matrix.min(axis=1, keepdims=True) if relative else matrix
    weight = shown - shown.min(axis=1, keepdims=True)
    total = np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
    order = np.argsort(weight @ np.arange(matrix.shape[1]) / total, kind="stable")
    fig = figure(look, "type of person", "report", height=460)
    unit = "times as likely as for<br>the least likely type" if relative else "probability"
    fig.add_heatmap(
        z=binned(shown[order]),
        colorscale=look.sequential,
        colorbar={"title": {"text": unit}, "thickness": 12},
        hovertemplate="%{z:.4g} " + ("times as likely" if relative else "(probability)") + "<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed", showgrid=False, showticklabels=False)
    fig.update_xaxes(showgrid=False)
    if matrix.shape[1] <= PIXELS:
        fig.update_xaxes(**label_ticks(labels))
    return fig


def convergence(history: pd.DataFrame, bound: float, name: str, look: Theme = LIGHT) -> go.Figure:
    """Best mechanism so far, in users needed on average, above the region that a lower bound proves impossible.

    ``history`` has columns seconds and users_needed; ``bound`` is in users, 0 where it says nothing.
    """
    fig = figure(look, "seconds", "users needed (average case)", height=340)
    users, end = history["users_needed"], max(float(history["seconds"].max()), 1e-3)
    fig.add_scatter(
        x=history["seconds"],
        y=users,
        mode="lines",
        line={"color": colour(name), "width": 3, "shape": "hv"},
        hovertemplate="after %{x:.2f} s: %{y:,.0f} users<extra></extra>",
    )
    low = bound if bound > 0 else float(users.min())
    if bound > 0:
        fig.add_hrect(y0=1e-9, y1=bound, fillcolor=look.faint, opacity=0.12, line_width=0)
        fig.add_hline(y=bound, line={"color": look.faint, "width": 2})
        fig.add_annotation(
            x=end / 2,
            y=np.log10(bound),
            yanchor="top",
            yshift=-4,
            text=f"below {np.ceil(bound):,.0f} users {IMPOSSIBLE}",
            showarrow=False,
            font={"size": 13, "color": look.faint},
        )
    fig.update_yaxes(**log_axis(low, float(users.max())))
    fig.update_xaxes(range=[0, end])
    return fig
