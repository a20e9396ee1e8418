"""Users needed over the size of the domain."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.lines import add_lines
from ldp_core.charts.theme import LIGHT, Theme, figure


def over_size(frame: pd.DataFrame, n: int | None, look: Theme = LIGHT) -> go.Figure:
    """Users needed (worst case) against the number of types, one line per mechanism; ``n`` is the domain at hand.

    ``frame``: name, n, users_needed, such as the points of `ldp_core.studies.sweep.sizes`.
    """
    fig = figure(look, "types (log scale)", "users needed, worst case (log scale)", height=500)
    add_lines(fig, frame, "n", "users_needed", "%{x:,} types: %{y:,.0f} users", look)
    if len(frame):
        sizes = sorted(frame["n"].unique())
        fig.update_xaxes(tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    if n:
        fig.add_vline(x=n, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig
