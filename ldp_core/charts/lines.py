"""Lines over a range, one colour per mechanism, with what no mechanism can reach as a shaded region."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.theme import BOUND_LINES, BOUND_TITLES, IMPOSSIBLE, Theme, colour, log_axis, marker, title

FEW = 5
"""Up to this many lines are named beside their ends, more in a legend."""
LABEL_HEIGHT = 0.05  # of the chart


def add_lines(fig: go.Figure, frame: pd.DataFrame, x: str, y: str, hover: str, look: Theme) -> None:
    """One line per name on two log axes; the region below the strongest bound is shaded. ``frame``: name, ``x``, ``y``.

    ``hover`` describes a point, as a Plotly template. Points at which a bound says nothing (0) are not drawn.
    """
    shown = frame[(frame[x] > 0) & (frame[y] > 0)]
    names = list(dict.fromkeys(shown["name"]))
    strongest = next((name for name in reversed(BOUND_LINES) if name in names), None)
    for name in names:
        points, bound = shown[shown["name"] == name].sort_values(x), name in BOUND_TITLES
        dash, width = BOUND_LINES.get(name, ("solid", 1.5))
        line = {"color": look.faint, "width": width, "dash": dash}
        fig.add_scatter(
            x=points[x],
            y=points[y],
            name=title(name),
            mode="lines" if bound else "lines+markers",
            line=line if bound else {"color": colour(name), "width": 2.5},
            marker={"symbol": marker(name), "size": 9},
            fill="tozeroy" if name == strongest else None,
            fillcolor="rgba(127,127,127,0.14)",
            hovertemplate=f"{title(name)}, {hover}<extra></extra>",
        )
    if not names:
        return
    axes = log_axis(shown[x].min(), shown[x].max(), 1.1), log_axis(shown[y].min(), shown[y].max(), 2)
    fig.update_xaxes(**axes[0])
    fig.update_yaxes(**axes[1])
    fig.update_layout(showlegend=len(names) > FEW)
    if len(names) <= FEW:
        _name_ends(fig, shown, x, y, axes[1]["range"], look)
    if strongest:
        fig.add_annotation(
            xref="paper", yref="paper", x=0.01, y=0.01, xanchor="left", yanchor="bottom",
            text=IMPOSSIBLE, showarrow=False, font={"size": 12, "color": look.faint},
        )  # fmt: skip


def _name_ends(fig: go.Figure, shown: pd.DataFrame, x: str, y: str, heights: list[float], look: Theme) -> None:
    """Names to the right of the last points, moved apart upwards where lines end close together."""
    ends = shown.sort_values(x).groupby("name", sort=False).tail(1).sort_values(y)
    lowest, apart = -np.inf, LABEL_HEIGHT * (heights[1] - heights[0])
    for end in ends.to_dict("records"):
        lowest = max(lowest + apart, np.log10(end[y]))
        shade = look.faint if end["name"] in BOUND_TITLES else colour(end["name"])
        fig.add_annotation(
            xref="paper", x=1.0, y=lowest, xanchor="left", xshift=6, text=title(end["name"]), showarrow=False,
            font={"size": 13, "color": shade},
        )  # fmt: skip
    fig.update_layout(margin={"r": 190})
