"""The trade-off of a design: users needed over epsilon, and the region that no unbiased mechanism reaches."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts.theme import (
    LIGHT,
    Theme,
    colour,
    dash,
    figure,
    log_axis,
    marker,
    note,
    show_legend,
    theorem_lines,
    title,
    whole_people,
)
from ldp_core.frames import BOUND_TITLES

HEIGHT = 250
ROW = 26
"""Pixels of a name beside the end of its line."""
APART = 0.075
"""Least distance between names, as a share of the height."""
EDGE = 0.1
"""Closer to an end of the axis than this share of it, words stand beside their line."""
FEW = 6
"""Up to this many names stand in the corner."""
LINE = 18
"""Pixels of a line of names."""
LETTER = 7.2
"""Pixels of a letter of a name."""


def users_over_epsilon(
    frame: pd.DataFrame,
    epsilon: float,
    users: float,
    points: Collection[str] = (),
    proved: float | None = None,
    look: Theme = LIGHT,
    theorems: pd.DataFrame | None = None,
) -> go.Figure:
    """Users needed over epsilon, on log axes; ``theorems`` (title, epsilon, users_needed) are broken lines named in a legend.

    ``frame``: name, epsilon, users_needed. Bounds are the edge of the shaded region; mechanisms named in ``points`` are marks
    joined by a thin line, because only those epsilons were computed; all others are lines. ``epsilon`` and ``users`` are those of
    the design, and ``proved`` the users that its certificate shows to be needed, where there is one.
    """
    height = max(HEIGHT, 60 + ROW * frame["name"].nunique())
    fig = figure(look, "epsilon (← more private)", "users needed (log scale)", height)
    shown = frame[frame["users_needed"] > 0].assign(users_needed=lambda part: whole_people(part["users_needed"]))
    proved = proved and max(proved, 1.0)
    levels = [*shown["users_needed"], max(users, 1.0), *([proved] if proved else [])]
    heights = log_axis(min(levels), max(levels), 1.6)
    across = log_axis(min(epsilon, 0.1), max(epsilon, 5.0), 1.02)
    if proved:
        fig.add_scatter(
            x=[epsilon], y=[proved], mode="markers", name="proved minimum",
            marker={"symbol": "line-ew", "size": 22, "line": {"width": 3, "color": look.text}},
            hovertemplate="proved: no unbiased mechanism needs fewer than %{y:,.0f} users<extra></extra>",
        )  # fmt: skip
    for name, rows in shown.groupby("name", sort=False):
        _series(fig, str(name), rows.sort_values("epsilon"), str(name) in points, look)
    if theorems is not None and len(theorems):
        fig.update_traces(showlegend=False)  # they have their names beside them
        theorem_lines(fig, theorems, look)
        show_legend(fig)
    fig.add_hline(y=max(users, 1.0), line={"color": look.text, "width": 1, "dash": "dash"})
    fig.add_vline(x=epsilon, line={"color": look.accent, "width": 2, "dash": "dot"})
    note(
        fig,
        f"your {users:,.0f} people",
        look.text,
        look,
        xref="paper",
        x=0.01,
        xanchor="left",
        y=np.log10(max(users, 1.0)),
    )
    low, high = heights["range"]
    level = (np.log10(max(users, 1.0)) - low) / (high - low)
    start, end = across["range"]
    along = (np.log10(epsilon) - start) / (end - start)
    side = "left" if along < EDGE else "right" if along > 1 - EDGE else "center"
    note(fig, "your epsilon", look.accent, look, yref="paper", y=0, yanchor="bottom", x=np.log10(epsilon), xanchor=side)
    note(
        fig,
        "impossible",
        look.faint,
        look,
        xref="paper",
        x=0.01,
        xanchor="left",
        yref="paper",
        y=max(0.02 if level > 0.15 else level + 0.06, 0.14 if along < 2 * EDGE else 0.0),  # not on other words
        yanchor="bottom",
    )
    _names(fig, shown[~shown["name"].isin(BOUND_TITLES)], heights["range"], look)
    fig.update_xaxes(**across)
    fig.update_yaxes(**heights)
    return fig


def _series(fig: go.Figure, name: str, rows: pd.DataFrame, marks: bool, look: Theme) -> None:
    bound = name in BOUND_TITLES
    said = "fewer are impossible below" if bound else title(name)
    fig.add_scatter(
        x=rows["epsilon"],
        y=rows["users_needed"],
        name=title(name),
        mode="lines+markers" if marks else "lines" if len(rows) > 1 else "markers",
        line={
            "color": look.faint if bound else colour(name),
            "width": 1.5 if bound or marks else 2.5,
            "dash": "dot" if marks else "solid" if bound else dash(name),
        },
        marker={"color": colour(name), "symbol": marker(name), "size": 10},
        fill="tozeroy" if bound else None,
        fillcolor="rgba(127,127,127,0.16)",
        hovertemplate=f"epsilon %{{x:.3g}}: {said} %{{y:,.0f}} users<extra></extra>",
    )


def _names(fig: go.Figure, shown: pd.DataFrame, heights: list[float], look: Theme) -> None:
    """The names of the mechanisms in the order of their last points: a few in the upper right corner, which lines that fall
    leave empty at any width; many beside the ends of the lines, moved up where these are close together."""
    if not len(shown):
        return
    ends = shown.sort_values("epsilon").groupby("name", sort=False).tail(1).sort_values("users_needed")
    many = len(ends) > FEW
    lowest, apart = -np.inf, APART * HEIGHT / fig.layout.height * (heights[1] - heights[0])
    for above, end in zip(range(len(ends) - 1, -1, -1), ends.to_dict("records"), strict=True):
        lowest = max(lowest + apart, np.log10(end["users_needed"]))
        place = (
            {"xanchor": "left", "xshift": 6, "y": lowest}
            if many
            else {"xanchor": "right", "yref": "paper", "y": 1, "yanchor": "top", "yshift": -LINE * above}
        )
        fig.add_annotation(
            xref="paper", x=1.0, text=title(end["name"]), showarrow=False, bgcolor=look.paper, borderpad=0,
            font={"size": 13, "color": colour(end["name"])}, **place,
        )  # fmt: skip
    if many:
        longest = max(len(title(name)) for name in ends["name"])
        fig.update_layout(margin={"r": 14 + round(LETTER * longest)})
