"""Pictures that set mechanisms, and whole designs, side by side, with what no mechanism can beat."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme

LOG_FROM = 30
"""Errors further apart than this are drawn on a log axis."""


def users_needed(frame: pd.DataFrame, limit: float, users: int | None, look: Theme = LIGHT) -> go.Figure:
    """A row per mechanism on a log axis of people needed, its name on the axis and its number at its mark; the region below the proved ``limit`` (0: none)
    is shaded.

    ``frame`` has columns name, users_needed and, where some protect more, about: what follows their names. ``users`` is what is planned.
    """
    frame = frame.sort_values("users_needed").assign(users_needed=lambda part: theme.whole_people(part["users_needed"]))
    fig = theme.figure(look, "people needed (log scale)", "", height=130)
    limit, titles = max(limit, 1.0) if limit > 0 else 0.0, [theme.title(name) for name in frame["name"]]
    upright = {"xref": "x", "yref": "y domain", "y0": 0, "y1": 1}
    shapes = [
        {
            "type": "rect",
            "x0": 1e-9,
            "x1": limit,
            **upright,
            "fillcolor": look.faint,
            "opacity": 0.12,
            "line": {"width": 0},
        }
    ]
    fig.add_scatter(
        x=frame["users_needed"],
        y=np.arange(len(frame)),
        mode="markers",
        marker={
            "size": 15,
            "color": [theme.colour(name, look) for name in frame["name"]],
            "symbol": [theme.marker(name) for name in frame["name"]],
        },
        text=titles,
        hovertemplate="%{text}: %{x:,.0f} people<extra></extra>",
    )
    lines = [(limit, f"proved minimum {wording.minimum(limit)}", "solid", look.text)]
    lines += [(users, f"your {wording.plural(users, 'person', 'people')}", "dot", look.text)] if users else []
    lines = sorted(line for line in lines if line[0] > 0)
    values = [*frame["users_needed"], *(line[0] for line in lines)]
    low, high = np.log10(min(values) / 2.2), np.log10(max(values) * 4)
    for row, (value, text, style, shade) in enumerate(reversed(lines)):  # one row each: lines may be close together
        shapes.append(
            {"type": "line", "x0": value, "x1": value, **upright, "line": {"color": shade, "width": 2, "dash": style}}
        )
        place = (np.log10(value) - low) / (high - low)
        side = "left" if place < 1 / 3 else "right" if place > 2 / 3 else "center"  # none leaves the chart
        above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "yshift": 17 * row}
        theme.note(fig, text, shade, x=np.log10(value), xanchor=side, **above)
    for row, value in enumerate(frame["users_needed"]):
        theme.note_at(fig, value, row, wording.needed(value), look)
    if limit > 0:  # in a row of its own
        theme.note(fig, "impossible", look.faint, look.paper, xref="paper", x=0.01, y=len(frame), xanchor="left")
    fig.update_layout(margin={"t": theme.MODE_BAR + 17 * len(lines)}, shapes=shapes if limit > 0 else shapes[1:])
    about = frame["about"] if "about" in frame else [""] * len(frame)
    names = [f"{title} {more}".strip() for title, more in zip(titles, about, strict=True)]
    theme.name_axis(fig, names, spare=int(limit > 0))
    fig.update_xaxes(**theme.log_axis(10**low, 10**high, 1.0, most=3), tickangle=0)
    return fig


def query_errors(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """The error of each answer as a multiple of its target. ``frame``: mechanism, line, query, name, error. The axis is logarithmic where the worst
    mechanism would hide the differences between the others."""
    least, most = frame["error"].min(), frame["error"].max()
    log = least > 0 and most > LOG_FROM * least
    fig = theme.figure(look, "answer", f"error, in targets{' (log scale)' if log else ''}", height=430)
    places = frame.drop_duplicates(["line", "query"]).assign(place=lambda rows: range(len(rows)))
    placed = frame.merge(places[["line", "query", "place"]], on=["line", "query"])
    for mechanism, points in placed.groupby("mechanism", sort=False):
        fig.add_scattergl(
            x=points["place"] + 1,
            y=points["error"],
            name=theme.title(mechanism),
            mode="markers",
            marker={"symbol": theme.marker(mechanism), "size": 6, "color": theme.colour(mechanism, look)},
            customdata=points["name"].map(theme.literal),
            hovertemplate=f"%{{customdata}}: %{{y:.3g}} times its target<extra>{theme.title(mechanism)}</extra>",
        )
    theme.show_legend(fig)
    fig.update_yaxes(**(theme.log_axis(least, most) if log else {"rangemode": "tozero"}))
    theme.query_ticks(fig, places.assign(query=places["place"], label=places["name"]))
    return fig


def guesses(frame: pd.DataFrame, blind: float, epsilon: float, unit: str, look: Theme = LIGHT) -> go.Figure:
    """Errors, in their ``unit``, over the chance that the best guess at a person's value is right: a line for each mechanism, and a mark in the colour of
    its epsilon, larger at the design's ``epsilon``. A line stands where guesses are without a report, ``blind``.

    ``frame``: name, epsilon, guess, error.
    """
    fig = theme.figure(look, "right guesses, of 100 people (log scale)", f"error, {unit} (log scale)", 430)
    fig.add_vline(x=100 * blind, line={"color": look.faint, "width": 1, "dash": "dot"})
    above = {"yref": "paper", "y": 1.0, "yanchor": "bottom", "xanchor": "left"}
    theme.note(fig, "without a report", look.faint, x=np.log10(100 * blind), **above)
    for name, points in frame.sort_values("epsilon").groupby("name", sort=False):
        shade = theme.colour(name, look)
        fig.add_scatter(
            x=100 * points["guess"],
            y=points["error"],
            name=theme.title(name),
            mode="lines+markers",
            line={"color": shade, "width": 1.5, "dash": theme.dash(name)},
            marker={
                "symbol": theme.marker(name),
                "size": np.where(np.isclose(points["epsilon"], epsilon), 16, 10),
                "color": np.log(points["epsilon"]),
                "coloraxis": "coloraxis",
                "line": {"color": shade, "width": 2},
            },
            customdata=points["epsilon"],
            hovertemplate=f"epsilon %{{customdata:.3g}}: error %{{y:.3g}} {unit}, %{{x:.3g}} of 100 guessed<extra>{theme.title(name)}</extra>",
        )
    theme.show_legend(fig)
    height, at = fig.layout.height + theme.COLOUR_BAR, np.sort(frame["epsilon"].unique())
    ticks = [f"epsilon {at[0]:g}", *(f"{one:g}" for one in at[1:])]
    fig.update_layout(
        height=height,
        legend_y=theme.COLOUR_BAR / height,
        coloraxis={
            "colorscale": look.counts,
            "colorbar": theme.colour_bar("epsilon") | {"tickvals": np.log(at), "ticktext": ticks},
        },
    )
    fig.update_xaxes(**theme.log_axis(100 * blind, 100 * frame["guess"].max(), 1.1, most=6))
    fig.update_yaxes(**theme.log_axis(frame["error"].min(), frame["error"].max()))
    return fig


def side_by_side(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """A row per design on a log axis of users needed: the mechanism as a dot, the proved minimum as a line across, and between
    them the gap.

    ``frame`` has columns design, mechanism, users_needed, users_bound (NaN where nothing is proved) and alike: whether its cost
    can be compared with that of the first one; where not, its dot is open.
    """
    fig = theme.figure(look, "people needed (log scale)", "", height=120 + theme.ROW * len(frame))
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
            hovertemplate="%{customdata}: no unbiased mechanism needs fewer than %{x:,.0f} people<extra></extra>",
        )
    for name, designs in frame.assign(row=rows).groupby("mechanism", sort=False):
        fig.add_scatter(
            x=designs["users_needed"],
            y=designs["row"],
            mode="markers+text",
            name=theme.title(str(name)),
            marker={
                "size": 15,
                "color": theme.colour(str(name), look),
                "symbol": [
                    theme.marker(str(name)) if alike else theme.hollow(theme.marker(str(name)))
                    for alike in designs["alike"]
                ],
                "line": {"width": [0 if alike else 2.5 for alike in designs["alike"]]},
            },
            text=[wording.needed(value) for value in designs["users_needed"]],
            textposition="middle right",
            cliponaxis=False,
            customdata=[theme.literal(name) for name in designs["design"]],
            hovertemplate="%{customdata}: %{x:,.0f} people<extra></extra>",
        )
    theme.show_legend(fig)
    theme.name_rows(fig, [theme.short(name, theme.ROW_LETTERS) for name in frame["design"]], look)
    values = [*frame["users_needed"], *frame["users_bound"][proved]]
    low, high = np.log10(min(values) / 1.6), np.log10(max(values) * 3)
    fig.update_xaxes(**{**theme.log_axis(min(values), max(values), most=4), "range": [float(low), float(high)]})
    return fig
