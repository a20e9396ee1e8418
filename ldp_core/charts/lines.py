"""Lines over a range, one colour per mechanism, with what no mechanism can reach as a shaded region."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts.theme import (
    BOUND_LINES,
    IMPOSSIBLE,
    LIGHT,
    Theme,
    colour,
    dash,
    figure,
    literal,
    log_axis,
    marker,
    note,
    show_legend,
    theorem_lines,
    title,
    whole_people,
    wrapped,
)
from ldp_core.frames import BOUND_TITLES

FEW = 5
"""Up to this many lines are named beside their ends, more in a legend."""
LABEL_HEIGHT = 0.09  # of the chart, in two lines

BETWEEN = {"epsilon": "vh", "users": "linear"}
"""How bounds go on between two computed places: what holds at an epsilon holds at every smaller one, and says nothing of larger ones;
errors over users are straight on log axes. Between two numbers of types nothing is proved, and bounds are marks."""
BOUND_MARKS = {"svd": "y-down", "centred_svd": "asterisk", "certificate": "line-ew"}
BELOW_MARKS = "below its mark no unbiased<br>ε-LDP mechanism can be"

_TRADE_OFFS = {
    "epsilon": ("epsilon (← more private)", "epsilon %{x:.3g}"),
    "users": ("users (log scale)", "%{x:,.0f} users"),
}


def over_epsilon(
    frame: pd.DataFrame, epsilon: float | None, look: Theme = LIGHT, theorems: pd.DataFrame | None = None
) -> go.Figure:
    """Worst-case users needed over epsilon, one line per mechanism, bounds grey. ``frame``: name, epsilon, users_needed;
    ``theorems``: title, epsilon, users_needed, each a dotted line.

    A bound of zero users says nothing and is not drawn.
    """
    fig = figure(look, "epsilon (← more private)", "users needed, worst case (log scale)", height=500)
    shown = frame[frame["users_needed"] > 0].assign(users_needed=lambda part: whole_people(part["users_needed"]))
    _draw(fig, shown, "epsilon", "users_needed", "epsilon %{x:g}: %{y:,.0f} users", look)
    if theorems is not None:
        theorem_lines(fig, theorems, look)
        shown = pd.concat([shown, theorems[theorems["users_needed"] > 0]])
    if epsilon:
        fig.add_vline(x=epsilon, line={"color": look.text, "width": 1, "dash": "dot"})
    show_legend(fig)
    if len(shown):
        fig.update_yaxes(**log_axis(shown["users_needed"].min(), shown["users_needed"].max()))
    fig.update_xaxes(range=[0, float(frame["epsilon"].max()) * 1.03] if len(frame) else None)
    return fig


def over_size(frame: pd.DataFrame, n: int | None, look: Theme = LIGHT) -> go.Figure:
    """Users needed (worst case) against the number of types, one line per mechanism; ``n`` is the domain available.

    ``frame``: name, n, users_needed, such as the points of `ldp_core.studies.sweep.sizes`.
    """
    fig = figure(look, "types (log scale)", "users needed, worst case (log scale)", height=500)
    _on_log_axes(fig, frame, "n", "users_needed", "%{x:,} types: %{y:,.0f} users", look)
    if len(frame):
        sizes = sorted(frame["n"].unique())
        fig.update_xaxes(tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    if n:
        fig.add_vline(x=n, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig


def trade_off(
    frame: pd.DataFrame,
    over: str,
    target: float | None = None,
    look: Theme = LIGHT,
    scale: wording.Scale = wording.POINTS,
) -> go.Figure:
    """Standard error of a typical query against ``over`` (epsilon or users), one line per mechanism.

    ``frame``: name, standard_error (a share of all users) and the column ``over``, as made by
    `ldp_core.studies.planning.errors_over_epsilon` and `ldp_core.studies.planning.errors_over_users`. ``target`` is the
    error aimed at. ValueError for another ``over``.
    """
    if over not in _TRADE_OFFS:
        raise ValueError(f"The trade-off is over {' or '.join(_TRADE_OFFS)}; got {over!r}.")
    label, hover = _TRADE_OFFS[over]
    fig = figure(look, label, f"standard error ({literal(scale.short)}, log scale)", height=500)
    points = frame.assign(error=scale.times * frame["standard_error"])
    _on_log_axes(fig, points, over, "error", f"{hover}: ± %{{y:.3g}} {literal(scale.unit)}", look)
    if target:
        fig.add_hline(y=scale.times * target, line={"color": look.text, "width": 1, "dash": "dot"})
    return fig


def mixed(frame: pd.DataFrame, users: int, look: Theme = LIGHT) -> go.Figure:
    """The central epsilon of mixed reports over the number of people, a line for each epsilon of a report. ``frame``: epsilon, users,
    central, as made by `ldp_core.shuffled.over_users`; ``users`` take part in the design."""
    fig = figure(look, "people (log scale)", "central epsilon (log scale)", height=360)
    for style, (epsilon, rows) in zip(("dot", "solid", "dash"), frame.groupby("epsilon"), strict=True):
        fig.add_scatter(
            x=rows["users"],
            y=rows["central"],
            name=f"epsilon {epsilon:.3g} a report",
            mode="lines",
            line={"color": look.accent if style == "solid" else look.text, "width": 2.5, "dash": style},
            hovertemplate=f"%{{x:,}} people: central epsilon %{{y:.3g}}<extra>epsilon {epsilon:.3g} a report</extra>",
        )
    fig.add_vline(x=users, line={"color": look.faint, "width": 1, "dash": "dot"})
    show_legend(fig)
    fig.update_xaxes(**log_axis(frame["users"].min(), frame["users"].max()))
    fig.update_yaxes(**log_axis(frame["central"].min(), frame["central"].max()))
    return fig


def _draw(fig: go.Figure, shown: pd.DataFrame, x: str, y: str, hover: str, look: Theme) -> str | None:
    """One line per name, or marks for bounds that say nothing in `BETWEEN`; the region below the strongest bound, whose name it returns,
    is shaded. ``hover`` describes a point, as a Plotly template."""
    strongest = next((name for name in reversed(BOUND_LINES) if (shown["name"] == name).any()), None)
    for name, rows in shown.groupby("name", sort=False):
        points, bound = rows.sort_values(x), name in BOUND_TITLES
        style, width = BOUND_LINES.get(name, (dash(name), 2.5))
        shade = look.faint if bound else colour(name)
        shape = BETWEEN.get(x) if bound else "linear"
        fig.add_scatter(
            x=points[x],
            y=points[y],
            name=title(name),
            mode="lines+markers" if not bound else "lines" if shape else "markers",
            line={"color": shade, "width": width, "dash": style, "shape": shape},
            marker={"symbol": BOUND_MARKS[name], "size": 16, "line": {"width": width, "color": shade}}
            if bound
            else {"symbol": marker(name), "size": 9},
            fill="tozeroy" if name == strongest and shape else None,
            fillcolor="rgba(127,127,127,0.14)",
            hovertemplate=f"{title(name)}, {hover}<extra></extra>",
        )
    return strongest


def _on_log_axes(fig: go.Figure, frame: pd.DataFrame, x: str, y: str, hover: str, look: Theme) -> None:
    """`_draw` on two log axes, with names. ``frame``: name, ``x``, ``y``. Points at which a bound says nothing (0) are not
    drawn."""
    shown = frame[(frame[x] > 0) & (frame[y] > 0)]
    strongest, names = _draw(fig, shown, x, y, hover, look), shown["name"].nunique()
    if not names:
        return
    axes = log_axis(shown[x].min(), shown[x].max(), 1.1, most=6), log_axis(shown[y].min(), shown[y].max(), 2)
    fig.update_xaxes(**axes[0])
    fig.update_yaxes(**axes[1])
    if names > FEW:
        show_legend(fig)
    else:
        _name_ends(fig, shown, x, y, axes[1]["range"], look)
    if strongest:
        bound = shown[shown["name"] == strongest].sort_values(x)[y]
        right = bound.iloc[0] < bound.iloc[-1]  # where there is most room below the bound
        side = {"x": 0.99, "xanchor": "right"} if right else {"x": 0.01, "xanchor": "left"}
        text = IMPOSSIBLE if x in BETWEEN else BELOW_MARKS
        note(fig, text, look.faint, look, xref="paper", yref="paper", y=0.01, yanchor="bottom", **side)


def _name_ends(fig: go.Figure, shown: pd.DataFrame, x: str, y: str, heights: list[float], look: Theme) -> None:
    """Names to the right of the last points, moved apart upwards where lines end close together."""
    ends = shown.sort_values(x).groupby("name", sort=False).tail(1).sort_values(y)
    lowest, apart = -np.inf, LABEL_HEIGHT * (heights[1] - heights[0])
    for end in ends.to_dict("records"):
        lowest = max(lowest + apart, np.log10(end[y]))
        shade = look.faint if end["name"] in BOUND_TITLES else colour(end["name"])
        fig.add_annotation(
            xref="paper", x=1.0, y=lowest, xanchor="left", xshift=6, text=wrapped(title(end["name"])), showarrow=False,
            align="left", font={"size": 13, "color": shade},
        )  # fmt: skip
    longest = max(len(line) for name in ends["name"] for line in wrapped(title(name)).split("<br>"))
    fig.update_layout(margin={"r": 16 + 7 * longest})
