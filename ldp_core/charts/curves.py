"""Curves over epsilon and the number of types: a colour per mechanism, what no mechanism can reach shaded, names in the
corner that the curves leave empty."""

from __future__ import annotations

from collections.abc import Collection
from itertools import cycle

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.frames import BOUND_TITLES

THEOREM_DASHES = ("dot", "longdash", "2px,8px")
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
    look: Theme = LIGHT,
    theorems: pd.DataFrame | None = None,
) -> go.Figure:
    """People needed over epsilon, on log axes; ``theorems`` (title, epsilon, users_needed) are thin broken
    lines, or a mark where there is a single point.

    ``frame``: name, epsilon, users_needed. Below bounds the region is shaded: those in closed form hold all along their curve, certificates at their
    marks, with a dotted line between. Mechanisms named in ``points`` were computed at their epsilons only, and are marks joined by a thin line.
    ``epsilon`` and ``users`` are those of the design. Without ``users`` the axis ends where the curves do.
    """
    fig = theme.figure(look, "epsilon (← more private)", "people needed (log scale)", 300 if users else 420)
    # Where the closed form says nothing, its edge goes down past the end of the axis.
    drawn = (frame["users_needed"] > 0) | (frame["name"] == "centred_svd")
    shown = frame[drawn].assign(users_needed=lambda part: theme.whole_people(part["users_needed"]))
    reached = shown["users_needed"][(shown["name"] != "centred_svd") | (shown["users_needed"] > 1)]
    levels = [*reached, *([max(users, 1.0)] if users else [])]
    _draw(fig, _shaded(fig, shown), "epsilon", "epsilon %{x:.3g}: %{y:,.0f} people", look, points)
    if theorems is not None and len(theorems):
        for dashes, (name, rows) in zip(cycle(THEOREM_DASHES), theorems.groupby("title", sort=False), strict=False):
            fig.add_scatter(
                x=rows["epsilon"],
                y=rows["users_needed"],
                name=name,
                mode="lines" if len(rows) > 1 else "markers",
                marker={"symbol": "x-thin-open", "size": 10, "color": look.text},
                line={"color": look.text, "width": 1.2, "dash": dashes},
                hovertemplate=f"{name}, epsilon %{{x:.3g}}: %{{y:,.0f}} people<extra></extra>",
            )
        levels += [level for level in theorems["users_needed"] if level > 0]
    ends = (0.1, 5.0) if users or not len(shown) else (shown["epsilon"].min(), shown["epsilon"].max())
    across = theme.log_axis(min(epsilon, ends[0]), max(epsilon, ends[1]), 1.02)
    heights = theme.log_axis(min(levels, default=1.0), max(levels, default=10.0), 1.6)
    _name(fig, shown, "epsilon", look, theorems is not None)
    _mark_design(fig, epsilon, users, across["range"], heights["range"], look)
    fig.update_xaxes(**across)
    fig.update_yaxes(**heights)
    return fig


def _mark_design(
    fig: go.Figure, epsilon: float, users: float | None, across: list[float], heights: list[float], look: Theme
) -> None:
    """The lines of the design's epsilon and people, with words that do not lie on them."""
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
        height = np.log10(max(users, 1.0))
        level = (height - heights[0]) / (heights[1] - heights[0])
        fig.add_hline(y=max(users, 1.0), line={"color": look.text, "width": 1, "dash": "dash"})
        theme.note(fig, f"your {users:,.0f} people", look.text, look.paper, y=height, **left)
    place = max(0.02 if level > 0.15 else level + 0.06, 0.14 if along < 0.45 else 0.0)  # not on other words
    theme.note(fig, "impossible", look.faint, look.paper, yref="paper", y=place, yanchor="bottom", **left)


def users_over_size(frame: pd.DataFrame, n: int | None, look: Theme = LIGHT) -> go.Figure:
    """People needed (worst case) against the number of types; ``n`` is the domain available. ``frame``: name, n, users_needed, such as
    the points of `ldp_core.studies.sweep.sizes`. Between two numbers of types nothing is proved, and bounds are marks."""
    fig = theme.figure(look, "types (log scale)", "people needed, worst case (log scale)", height=500)
    shown = frame[(frame["n"] > 0) & (frame["users_needed"] > 0)]  # where a bound says 0 it says nothing
    _draw(fig, shown, "n", "%{x:,} types: %{y:,.0f} people", look)
    if len(shown):
        fig.update_xaxes(**theme.log_axis(shown["n"].min(), shown["n"].max(), 1.1, most=6))
        fig.update_yaxes(**theme.log_axis(shown["users_needed"].min(), shown["users_needed"].max(), 2))
        _name(fig, shown, "n", look)
    if shown["name"].isin(BOUND_TITLES).any():
        place = {"x": 0.99, "xanchor": "right", "y": 0.01, "yanchor": "bottom"}
        theme.note(fig, BELOW_MARKS, look.faint, look.paper, xref="paper", yref="paper", **place)
    if len(frame):
        sizes = sorted(frame["n"].unique())
        fig.update_xaxes(tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    if n:
        fig.add_vline(x=n, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig


def _shaded(fig: go.Figure, shown: pd.DataFrame) -> pd.DataFrame:
    """Shade the region below the proved minima, and beyond the first and the last of them below the closed form, which is left out between."""
    closed, proved = (shown[shown["name"] == name] for name in ("centred_svd", "certificate"))
    joined = proved if len(proved) > 1 else proved[:0]
    between = closed["epsilon"].between(joined["epsilon"].min(), joined["epsilon"].max())
    edge = pd.concat([closed[~between], joined]).sort_values("epsilon")
    fig.add_scatter(
        x=edge["epsilon"],
        y=edge["users_needed"],
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        fill="tozeroy",
        fillcolor="rgba(127,127,127,0.15)",
    )
    rest = closed[:0] if between.all() else closed.assign(users_needed=closed["users_needed"].mask(between))
    return pd.concat([shown[shown["name"] != "centred_svd"], rest])


def _draw(fig: go.Figure, shown: pd.DataFrame, x: str, hover: str, look: Theme, points: Collection[str] = ()) -> None:
    """A curve per name. ``hover`` describes a point, as a Plotly template."""
    for name, rows in shown.groupby("name", sort=False):
        rows, bound, separate = rows.sort_values(x), name in BOUND_TITLES, name in points or x != "epsilon"
        dashes, width = theme.BOUND_LINES.get(name, (theme.dash(name), 1.5 if name in points else 2.5))
        shade, alone = look.faint if bound else theme.colour(name, look), len(rows) == 1 or (bound and x == "n")
        fig.add_scatter(
            x=rows[x],
            y=rows["users_needed"],
            name=theme.LIMITS.get(name, theme.title(name)),
            mode="markers" if alone else "lines+markers" if name == "certificate" or (separate and not bound) else "lines",
            line={"color": shade, "width": width, "dash": dashes},
            marker={"symbol": BOUND_MARKS[name], "size": 16, "line": {"width": 2.5, "color": shade}}
            if bound
            else {"color": shade, "symbol": theme.marker(name), "size": 9},
            hovertemplate=f"{theme.LIMITS.get(name, theme.title(name))}, {hover}<extra></extra>",
        )  # fmt: skip


def _name(fig: go.Figure, shown: pd.DataFrame, x: str, look: Theme, legend: bool = False) -> None:
    """The names of the mechanisms, and of bounds that are marks, in the order of their last points: a few in the upper corner that the
    curves leave empty at any width, which over the number of types is the left one; many in a legend."""
    if legend or shown["name"].nunique() > FEW:
        theme.show_legend(fig)
        return
    named = shown if x == "n" else shown[~shown["name"].isin(BOUND_TITLES)]
    ends = named.sort_values(x).groupby("name", sort=False).tail(1).sort_values("users_needed", ascending=False)
    side = {"x": 0.01, "xanchor": "left"} if x == "n" else {"x": 1.0, "xanchor": "right"}
    for above, name in enumerate(ends["name"]):
        shade = look.faint if name in BOUND_TITLES else theme.colour(name, look)
        place = {"xref": "paper", "yref": "paper", "y": 1, "yanchor": "top", "yshift": -LINE * above, "borderpad": 0}
        theme.note(fig, theme.LIMITS.get(name, theme.title(name)), shade, look.paper, 13, **place, **side)
