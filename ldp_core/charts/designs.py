"""Whole designs side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts.theme import (
    LIGHT,
    ROW,
    ROW_LETTERS,
    Theme,
    colour,
    figure,
    filled,
    literal,
    log_axis,
    marker,
    name_rows,
    short,
    show_legend,
    title,
)


def side_by_side(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """A row per design on a log axis of users needed: the mechanism as a dot, the proved minimum as a line across, and between
    them the gap.

    ``frame`` has columns design, mechanism, users_needed, users_bound (NaN where nothing is proved) and alike: whether its cost
    can be compared with that of the first one; where not, its dot is open.
    """
    fig = figure(look, "users needed (log scale)", "", height=120 + ROW * len(frame))
    rows = np.arange(len(frame))
    proved = frame["users_bound"].to_numpy() > 0
    for i in rows[proved]:
        ends = [frame["users_bound"].iloc[i], frame["users_needed"].iloc[i]]
        fig.add_scatter(x=ends, y=[i, i], mode="lines", line={"color": look.grid, "width": 6}, hoverinfo="skip")
    fig.update_traces(showlegend=False)
    if proved.any():
        fig.add_scatter(
            x=frame["users_bound"][proved],
            y=rows[proved],
            mode="markers",
            name="proved minimum",
            marker={"symbol": "line-ns", "size": 22, "line": {"width": 2.5, "color": look.faint}},
            customdata=[literal(name) for name in frame["design"][proved]],
            hovertemplate="%{customdata}: no unbiased mechanism needs fewer than %{x:,.0f} users<extra></extra>",
        )
    for name, own in frame.assign(row=rows).groupby("mechanism", sort=False):
        fig.add_scatter(
            x=own["users_needed"],
            y=own["row"],
            mode="markers+text",
            name=title(str(name)),
            marker={
                "size": 15,
                "color": colour(str(name), look),
                "symbol": [
                    marker(str(name)) if alike else filled(marker(str(name)), "-open") for alike in own["alike"]
                ],
                "line": {"width": [0 if alike else 2.5 for alike in own["alike"]]},
            },
            text=[wording.needed(value) for value in own["users_needed"]],
            textposition="middle right",
            cliponaxis=False,
            customdata=[literal(name) for name in own["design"]],
            hovertemplate="%{customdata}: %{x:,.0f} users<extra></extra>",
        )
    show_legend(fig)
    name_rows(fig, [short(name, ROW_LETTERS) for name in frame["design"]], look)
    values = [*frame["users_needed"], *frame["users_bound"][proved]]
    low, high = np.log10(min(values) / 1.6), np.log10(max(values) * 3)
    fig.update_xaxes(**{**log_axis(min(values), max(values), most=4), "range": [float(low), float(high)]})
    return fig
