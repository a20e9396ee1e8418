"""Curves over epsilon, people and the number of types: a colour per mechanism, what no mechanism can reach shaded, names in the
corner that the curves leave empty."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.frames import BOUND_TITLES

FEW = 6
"""Up to this many names stand in the corner, more in a legend."""
LINE = 18
"""Pixels of a line of names."""
EDGE = 0.1
"""Closer to an end of the axis than this share of it, words stand beside their line."""
BOUND_MARKS = {"svd": "y-down", "centred_svd": "asterisk", "certificate": "line-ew"}
BELOW_MARKS = "below its mark no unbiased<br>ε-LDP mechanism can be"


def users_over_epsilon(
    frame: pd.DataFrame,
    epsilon: float,
    users: float | None = None,
    points: Collection[str] = (),
    proved: float | None = None,
    look: Theme = LIGHT,
    theorems: pd.DataFrame | None = None,
) -> go.Figure:
    """Users needed over epsilon, on log axes; ``theorems`` (title, epsilon, users_needed) are broken lines.

    ``frame``: name, epsilon, users_needed. The strongest bound is the edge of the shaded region; what is named in ``points`` was
    computed at its epsilons only: mechanisms are marks joined by a thin line, and bounds go down in steps, because what holds at an
    epsilon holds at every smaller one and says nothing of larger ones. ``epsilon`` and ``users`` are those of the design, and
    ``proved`` the users that its certificate shows to be needed, where there is one. Without ``users`` the axis ends where the curves do.
    """
    fig = theme.figure(look, "epsilon (← more private)", "users needed (log scale)", 300 if users else 420)
    shown = frame[frame["users_needed"] > 0].assign(users_needed=lambda part: theme.whole_people(part["users_needed"]))
    levels = [*shown["users_needed"], *(max(level, 1.0) for level in (users, proved) if level)]
    if proved:
        fig.add_scatter(
            x=[epsilon], y=[max(proved, 1.0)], mode="markers", name="proved minimum",
            marker={"symbol": "line-ew", "size": 22, "line": {"width": 3, "color": look.text}},
            hovertemplate="proved: no unbiased mechanism needs fewer than %{y:,.0f} users<extra></extra>",
        )  # fmt: skip
    _draw(fig, shown, "epsilon", "users_needed", "epsilon %{x:.3g}: %{y:,.0f} users", look, points)
    if theorems is not None and len(theorems):
        theme.theorem_lines(fig, theorems, look)
        levels += [level for level in theorems["users_needed"] if level > 0]
    ends = (0.1, 5.0) if users or not len(shown) else (shown["epsilon"].min(), shown["epsilon"].max())
    across = theme.log_axis(min(epsilon, ends[0]), max(epsilon, ends[1]), 1.02)
    heights = theme.log_axis(min(levels, default=1.0), max(levels, default=10.0), 1.6)
    _name(fig, shown, "epsilon", "users_needed", look, theorems is not None)
    _mark_design(fig, epsilon, users, across["range"], heights["range"], look)
    fig.update_xaxes(**across)
    fig.update_yaxes(**heights)
    return fig


def _mark_design(
    fig: go.Figure, epsilon: float, users: float | None, across: list[float], heights: list[float], look: Theme
) -> None:
    """The lines of one's own epsilon and people, and words that stand apart from them."""
    fig.add_vline(x=epsilon, line={"color": look.accent, "width": 2, "dash": "dot"})
    along = (np.log10(epsilon) - across[0]) / (across[1] - across[0])
    side = "left" if along < EDGE else "right" if along > 1 - EDGE else "center"
    theme.note(
        fig,
        "your epsilon",
        look.accent,
        look.paper,
        yref="paper",
        y=0,
        yanchor="bottom",
        x=np.log10(epsilon),
        xanchor=side,
    )
    left, level = {"xref": "paper", "x": 0.01, "xanchor": "left"}, 1.0
    if users:
        own = np.log10(max(users, 1.0))
        level = (own - heights[0]) / (heights[1] - heights[0])
        fig.add_hline(y=max(users, 1.0), line={"color": look.text, "width": 1, "dash": "dash"})
        theme.note(fig, f"your {users:,.0f} people", look.text, look.paper, y=own, **left)
    place = max(0.02 if level > 0.15 else level + 0.06, 0.14 if along < 0.45 else 0.0)  # not on other words
    theme.note(fig, "impossible", look.faint, look.paper, yref="paper", y=place, yanchor="bottom", **left)


def users_over_size(frame: pd.DataFrame, n: int | None, look: Theme = LIGHT) -> go.Figure:
    """Users needed (worst case) against the number of types; ``n`` is the domain available. ``frame``: name, n, users_needed, such as
    the points of `ldp_core.studies.sweep.sizes`. Between two numbers of types nothing is proved, and bounds are marks."""
    fig = theme.figure(look, "types (log scale)", "users needed, worst case (log scale)", height=500)
    _on_log_axes(fig, frame, "n", "users_needed", "%{x:,} types: %{y:,.0f} users", look)
    if len(frame):
        sizes = sorted(frame["n"].unique())
        fig.update_xaxes(tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    if n:
        fig.add_vline(x=n, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig


def error_over_users(
    frame: pd.DataFrame, target: float | None = None, look: Theme = LIGHT, scale: wording.Scale = wording.POINTS
) -> go.Figure:
    """Standard error of a typical query over the number of users. ``frame``: name, users, standard_error (a share of all users), as by
    `ldp_core.studies.curves.errors_over_users`; ``target`` is the error aimed at."""
    fig = theme.figure(
        look, "users (log scale)", f"standard error ({theme.literal(scale.short)}, log scale)", height=500
    )
    points, hover = (
        frame.assign(error=scale.times * frame["standard_error"]),
        f"%{{x:,.0f}} users: ± %{{y:.3g}} {theme.literal(scale.unit)}",
    )
    _on_log_axes(fig, points, "users", "error", hover, look)
    if target:
        fig.add_hline(y=scale.times * target, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig


def _draw(
    fig: go.Figure, shown: pd.DataFrame, x: str, y: str, hover: str, look: Theme, points: Collection[str] = ()
) -> None:
    """A curve per name, the region below the strongest bound shaded. ``hover`` describes a point, as a Plotly template."""
    strongest = next((name for name in reversed(theme.BOUND_LINES) if (shown["name"] == name).any()), None)
    for name, rows in shown.groupby("name", sort=False):
        rows, bound, few = rows.sort_values(x), name in BOUND_TITLES, name in points or x != "epsilon"
        dashes, width = theme.BOUND_LINES.get(name, (theme.dash(name), 1.5 if name in points else 2.5))
        shade, alone = look.faint if bound else theme.colour(name, look), len(rows) == 1 or (bound and x == "n")
        fig.add_scatter(
            x=rows[x],
            y=rows[y],
            name=theme.title(name),
            mode="markers" if alone else "lines+markers" if few and not bound else "lines",
            line={"color": shade, "width": width, "dash": dashes, "shape": "vh" if name in points and bound else "linear"},
            marker={"symbol": BOUND_MARKS[name], "size": 16, "line": {"width": width, "color": shade}}
            if bound
            else {"color": shade, "symbol": theme.marker(name), "size": 9},
            fill="tozeroy" if name == strongest and x != "n" else None,
            fillcolor="rgba(127,127,127,0.15)",
            hovertemplate=f"{theme.title(name)}, {hover}<extra></extra>",
        )  # fmt: skip


def _on_log_axes(fig: go.Figure, frame: pd.DataFrame, x: str, y: str, hover: str, look: Theme) -> None:
    """`_draw` on two log axes, with names. Points at which a bound says nothing (0) are not drawn."""
    shown = frame[(frame[x] > 0) & (frame[y] > 0)]
    _draw(fig, shown, x, y, hover, look)
    if not len(shown):
        return
    fig.update_xaxes(**theme.log_axis(shown[x].min(), shown[x].max(), 1.1, most=6))
    fig.update_yaxes(**theme.log_axis(shown[y].min(), shown[y].max(), 2))
    _name(fig, shown, x, y, look)
    if shown["name"].isin(BOUND_TITLES).any():
        place = {"x": 0.99, "xanchor": "right"} if x == "n" else {"x": 0.01, "xanchor": "left"}
        text = BELOW_MARKS if x == "n" else theme.IMPOSSIBLE
        theme.note(fig, text, look.faint, look.paper, xref="paper", yref="paper", y=0.01, yanchor="bottom", **place)


def _name(fig: go.Figure, shown: pd.DataFrame, x: str, y: str, look: Theme, legend: bool = False) -> None:
    """The names of the mechanisms, and of bounds that are marks, in the order of their last points: a few in the upper corner that the
    curves leave empty at any width, which over the number of types is the left one; many in a legend."""
    if legend or shown["name"].nunique() > FEW:
        theme.show_legend(fig)
        return
    named = shown if x == "n" else shown[~shown["name"].isin(BOUND_TITLES)]
    ends = named.sort_values(x).groupby("name", sort=False).tail(1).sort_values(y, ascending=False)
    side = {"x": 0.01, "xanchor": "left"} if x == "n" else {"x": 1.0, "xanchor": "right"}
    for above, name in enumerate(ends["name"]):
        shade = look.faint if name in BOUND_TITLES else theme.colour(name, look)
        place = {"xref": "paper", "yref": "paper", "y": 1, "yanchor": "top", "yshift": -LINE * above, "borderpad": 0}
        theme.note(fig, theme.title(name), shade, look.paper, 13, **place, **side)
