"""Pictures of one mechanism being designed: the closing gap."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts.theme import IMPOSSIBLE, LIGHT, OPTIMUM, OPTIMUM_DASH, Theme, colour, figure, log_axis

CLOSE = 1.3
"""Users closer than this to each other by ratio have their words one above the other."""


def closing_gap(
    history: pd.DataFrame, proved: pd.DataFrame, name: str, look: Theme = LIGHT, optimum: float | None = None
) -> go.Figure:
    """Best mechanism so far falling towards the lower bound proved so far; below that is the impossible region. ``optimum`` is
    what the best of all mechanisms needs, in users, where that is known.

    Both frames have columns seconds and users_needed; a bound of 0 users says nothing and is not drawn.
    """
    fig = figure(look, "seconds", "users needed (log scale)", height=360)
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
            hovertemplate="after %{x:.2f} s: proved that fewer than %{y:,.0f} users are impossible<extra></extra>",
        )
        fig.add_annotation(
            xref="paper", yref="paper", x=0.5, y=0, yanchor="bottom", text=IMPOSSIBLE, showarrow=False,
            font={"size": 12, "color": look.faint},
        )  # fmt: skip
    best = 0.0
    if len(history):
        history = _held_until(history, end)
        fig.add_scatter(
            x=history["seconds"],
            y=history["users_needed"],
            mode="lines",
            line={"color": colour(name), "width": 3, "shape": "hv"},
            hovertemplate="after %{x:.2f} s: the best mechanism needs %{y:,.0f} users<extra></extra>",
        )
        best = history["users_needed"].iloc[-1]
        above = optimum is not None and best < CLOSE * optimum  # the words for the optimum are there
        text = f"best so far: {wording.needed(best)} users"
        _label(fig, text, end, best, "bottom", colour(name), "right", 24 if above else 4)
    if optimum:
        fig.add_hline(y=optimum, line={"color": look.accent, "width": 2, "dash": OPTIMUM_DASH})
        _label(
            fig,
            f"{OPTIMUM}: {wording.needed(optimum)} users",
            end,
            best if optimum < best < CLOSE * optimum else optimum,
            "bottom",
            look.accent,
            "right",
        )
    if len(both):
        low, high = min(float(both["users_needed"].min()), optimum or math.inf), float(both["users_needed"].max())
        room = max(1.06, (high / low) ** 0.4)  # for the words below the bound
        fig.update_yaxes(**log_axis(low, high, room))
    fig.update_xaxes(range=[0, end])
    return fig


def _held_until(curve: pd.DataFrame, end: float) -> pd.DataFrame:
    """The curve from 0 to ``end`` seconds: what was found last still holds."""
    first, last = curve.iloc[:1].assign(seconds=0.0), curve.iloc[-1:].assign(seconds=end)
    return pd.concat([first, curve, last], ignore_index=True)


def _label(fig: go.Figure, text: str, x: float, users: float, anchor: str, shade: str, side: str, up: int = 4) -> None:
    fig.add_annotation(
        x=x,
        y=np.log10(users),
        xanchor=side,
        yanchor=anchor,
        yshift=up,
        text=text,
        showarrow=False,
        font={"size": 13, "color": shade},
    )
