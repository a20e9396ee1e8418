"""Pictures that set mechanisms, and whole designs, side by side, with what no mechanism can beat."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.frames import BOUND_TITLES

LOG_FROM = 30
"""Errors further apart than this are drawn on a log axis."""


def users_needed(
    frame: pd.DataFrame,
    bounds: dict[str, float],
    users: int | None,
    look: Theme = LIGHT,
) -> go.Figure:
    """One dot per mechanism on a log axis of users needed; bounds are lines, the impossible region is shaded.

    ``frame`` has columns name and users_needed; ``bounds`` (any of svd, centred_svd, certificate) are in users; ``users`` is
    what is planned.
    """
    frame = frame.sort_values("users_needed").assign(users_needed=lambda part: theme.whole_people(part["users_needed"]))
    bounds = {name: max(value, 1.0) if value > 0 else value for name, value in bounds.items()}
    fig = theme.figure(look, "users needed (log scale)", "", height=150 + theme.ROW * (len(frame) + 1))
    best = max(bounds.values(), default=0)
    upright = {"xref": "x", "yref": "y domain", "y0": 0, "y1": 1}
    shade = {"fillcolor": look.faint, "opacity": 0.12, "line": {"width": 0}}
    shapes = [{"type": "rect", "x0": 1e-9, "x1": best, **upright, **shade}] if best > 0 else []
    fig.add_scatter(
        x=frame["users_needed"],
        y=np.arange(len(frame)),
        mode="markers",
        marker={
            "size": 15,
            "color": [theme.colour(name, look) for name in frame["name"]],
            "symbol": [theme.marker(name) for name in frame["name"]],
        },
        text=[theme.title(name) for name in frame["name"]],
        hovertemplate="%{text}: %{x:,.0f} users<extra></extra>",
    )
    lines = [
        (value, f"{BOUND_TITLES[name]} {wording.minimum(value)}", *theme.BOUND_LINES[name], _shade(name, look))
        for name, value in bounds.items()
    ]
    if users:
        lines.append((users, f"your {users:,} user{'s' if users != 1 else ''}", "dot", 1.5, look.text))
    lines = sorted((line for line in lines if line[0] > 0), key=lambda line: line[0])
    values = [value for value in [*frame["users_needed"], *(line[0] for line in lines)] if value > 0]
    low, high = np.log10(min(values) / 2.2), np.log10(max(values) * 2.2)
    for value, _, style, width, tint in lines:
        line = {"color": tint, "width": width, "dash": style}
        shapes.append({"type": "line", "x0": value, "x1": value, **upright, "line": line})
    fig.update_layout(
        margin={"t": theme.MODE_BAR + 17 * len(lines)}, shapes=shapes
    )  # one by one they take many times as long
    for row, (value, text, _, _, tint) in enumerate(reversed(lines)):  # one row each: lines may be close together
        place = (np.log10(value) - low) / (high - low)
        side = "left" if place < 1 / 3 else "right" if place > 2 / 3 else "center"  # none leaves the chart
        above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "yshift": 17 * row}
        theme.note(fig, text, tint, x=np.log10(value), xanchor=side, **above)
    if best > 0:  # in a row of its own, where there are neither marks nor names
        room = (np.log10(best) - low) / (high - low) > 1 / 3
        side, shift = ("right", -6) if room else ("left", 6)
        text = theme.IMPOSSIBLE if room else f"← {theme.IMPOSSIBLE.replace('here', 'there')}"
        theme.note(fig, text, look.faint, x=np.log10(best), y=len(frame), xanchor=side, xshift=shift, align=side)
    # The numbers stand with the names: beside the marks, lines would run through them.
    names = [
        f"{theme.title(name)}: {wording.needed(value)}"
        for name, value in zip(frame["name"], frame["users_needed"], strict=True)
    ]
    theme.name_rows(fig, names, look)
    fig.update_yaxes(range=[len(frame) + (0.5 if best > 0 else -0.5), -0.8])
    across = theme.log_axis(min(values), max(values), most=3)
    fig.update_xaxes(**{**across, "range": [float(low), float(high)], "tickangle": 0})
    return fig


def _shade(bound: str, look: Theme) -> str:
    """The certificate stands out: the other bounds are weaker."""
    return look.text if bound == "certificate" else look.faint


def query_errors(
    frame: pd.DataFrame, look: Theme = LIGHT, in_order: bool = False, scale: wording.Scale = wording.POINTS
) -> go.Figure:
    """Standard error of each query on the data, as a share of all users. ``frame``: name, query, label, standard_error.
    Lines join queries only if these are ``in_order``; the axis is logarithmic where the worst
    mechanism would hide the differences between the others."""
    least, most = scale.times * frame["standard_error"].min(), scale.times * frame["standard_error"].max()
    log = least > 0 and most > LOG_FROM * least
    fig = theme.figure(
        look, "query", f"standard error ({theme.literal(scale.short)}{', log scale' if log else ''})", height=430
    )
    for name, points in frame.groupby("name", sort=False):
        fig.add_scattergl(
            x=points["query"] + 1,
            y=scale.times * points["standard_error"],
            name=theme.title(name),
            mode=theme.query_mode(points["query"]) if in_order else "markers",
            line={"color": theme.colour(name, look), "width": 2, "dash": theme.dash(name)},
            marker={"symbol": theme.marker(name), "size": 6},
            customdata=points["label"].map(theme.literal),
            hovertemplate=f"%{{customdata}}: ±%{{y:.3g}} {theme.literal(scale.unit)}<extra>{theme.title(name)}</extra>",
        )
    theme.show_legend(fig)
    fig.update_yaxes(**(theme.log_axis(least, most) if log else {"rangemode": "tozero"}))
    theme.query_ticks(fig, frame)
    return fig


def side_by_side(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """A row per design on a log axis of users needed: the mechanism as a dot, the proved minimum as a line across, and between
    them the gap.

    ``frame`` has columns design, mechanism, users_needed, users_bound (NaN where nothing is proved) and alike: whether its cost
    can be compared with that of the first one; where not, its dot is open.
    """
    fig = theme.figure(look, "users needed (log scale)", "", height=120 + theme.ROW * len(frame))
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
            customdata=[theme.literal(name) for name in frame["design"][proved]],
            hovertemplate="%{customdata}: no unbiased mechanism needs fewer than %{x:,.0f} users<extra></extra>",
        )
    for name, own in frame.assign(row=rows).groupby("mechanism", sort=False):
        fig.add_scatter(
            x=own["users_needed"],
            y=own["row"],
            mode="markers+text",
            name=theme.title(str(name)),
            marker={
                "size": 15,
                "color": theme.colour(str(name), look),
                "symbol": [
                    theme.marker(str(name)) if alike else theme.hollow(theme.marker(str(name)))
                    for alike in own["alike"]
                ],
                "line": {"width": [0 if alike else 2.5 for alike in own["alike"]]},
            },
            text=[wording.needed(value) for value in own["users_needed"]],
            textposition="middle right",
            cliponaxis=False,
            customdata=[theme.literal(name) for name in own["design"]],
            hovertemplate="%{customdata}: %{x:,.0f} users<extra></extra>",
        )
    theme.show_legend(fig)
    theme.name_rows(fig, [theme.short(name, theme.ROW_LETTERS) for name in frame["design"]], look)
    values = [*frame["users_needed"], *frame["users_bound"][proved]]
    low, high = np.log10(min(values) / 1.6), np.log10(max(values) * 3)
    fig.update_xaxes(**{**theme.log_axis(min(values), max(values), most=4), "range": [float(low), float(high)]})
    return fig
