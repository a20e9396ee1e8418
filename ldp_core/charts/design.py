"""Pictures of one mechanism being designed: the closing gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme


def closing_gap(history: pd.DataFrame, proved: pd.DataFrame, name: str, look: Theme = LIGHT) -> go.Figure:
    """Best mechanism so far falling towards the lower bound proved so far; below that is the impossible region.

    Both frames have columns seconds and users_needed; a bound of 0 users says nothing and is not drawn.
    """
    fig = theme.figure(look, "seconds", "people needed (log scale)", height=360)
    proved = proved[proved["users_needed"] > 0]
    both = pd.concat([history, proved])
    end = max(float(both["seconds"].max()), 1e-3) if len(both) else 1.0
    if len(proved):
        proved = _held_until(proved, end)
        # A filled curve, not a rectangle: the bound itself rises while the certificate is computed.
        fig.add_scatter(
            x=proved["seconds"], y=np.full(len(proved), 1e-9), mode="lines", line={"width": 0}, hoverinfo="skip"
        )
        fig.add_scatter(
            x=proved["seconds"],
            y=proved["users_needed"],
            mode="lines",
            fill="tonexty",
            fillcolor="rgba(127,127,127,0.16)",
            line={"color": look.faint, "width": 2.5, "shape": "hv"},
            hovertemplate="after %{x:.2f} s: proved that fewer than %{y:,.0f} people are impossible<extra></extra>",
        )
        theme.note(fig, theme.IMPOSSIBLE, look.faint, xref="paper", yref="paper", x=0.5, y=0, yanchor="bottom")
    if len(history):
        history = _held_until(history, end)
        fig.add_scatter(
            x=history["seconds"],
            y=history["users_needed"],
            mode="lines",
            line={"color": theme.colour(name, look), "width": 3, "shape": "hv"},
            hovertemplate="after %{x:.2f} s: the best mechanism needs %{y:,.0f} people<extra></extra>",
        )
        best = history["users_needed"].iloc[-1]
        said, corner = (
            f"best so far: {wording.needed(best)} people",
            {"xanchor": "right", "yanchor": "bottom", "yshift": 4},
        )
        theme.note(fig, said, theme.colour(name, look), None, 13, x=end, y=np.log10(best), **corner)
    if len(both):
        low, high = float(both["users_needed"].min()), float(both["users_needed"].max())
        room = max(1.06, (high / low) ** 0.4)  # for the words below the bound
        fig.update_yaxes(**theme.log_axis(low, high, room))
    fig.update_xaxes(range=[0, end])
    return fig


def _held_until(curve: pd.DataFrame, end: float) -> pd.DataFrame:
    """The curve from 0 to ``end`` seconds: what was found last still holds."""
    first, last = curve.iloc[:1].assign(seconds=0.0), curve.iloc[-1:].assign(seconds=end)
    return pd.concat([first, curve, last], ignore_index=True)
