"""The trade-off between epsilon, the number of users and the error, with the region that no mechanism reaches."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.lines import add_lines
from ldp_core.charts.theme import LIGHT, Theme, figure

_AXES = {
    "epsilon": ("epsilon (log scale, more private on the left)", "epsilon %{x:.3g}"),
    "users": ("users (log scale)", "%{x:,.0f} users"),
}


def trade_off(frame: pd.DataFrame, over: str, target: float | None = None, look: Theme = LIGHT) -> go.Figure:
    """Standard error of a typical query against ``over`` (epsilon or users), one line per mechanism.

    ``frame``: name, standard_error (a share of all users) and the column ``over``, such as
    `ldp_core.studies.planning.errors_over_epsilon` and `ldp_core.studies.planning.errors_over_users` make. ``target`` is the error
    aimed at.
    """
    if over not in _AXES:
        raise ValueError(f"The trade-off is over {' or '.join(_AXES)}; got {over!r}.")
    label, hover = _AXES[over]
    fig = figure(look, label, "standard error (percentage points, log scale)", height=500)
    points = frame.assign(percent=100 * frame["standard_error"])
    add_lines(fig, points, over, "percent", f"{hover}: ± %{{y:.3g}} percentage points", look)
    if target:
        fig.add_hline(y=100 * target, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig
