"""Pictures of what the papers' theorems say of a design: all on one axis, and some of them put to the test."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme

BELOW = ("impossible", "large_sample")
"""Kinds of statements that are lower bounds."""
GROUPS = {"impossible": "Proved minimum", "large_sample": "With many people", "prediction": "Predictions"}
MARKS = {"impossible": "line-ns", "large_sample": "line-ns-open", "prediction": "diamond-open"}
AUTHORS = re.compile(r" \([^)]* et al\.\)")
"""Left out of the name of a row: they are in its hover."""


def on_one_axis(
    frame: pd.DataFrame,
    exact: float | None,
    mechanism: str,
    look: Theme = LIGHT,
    scale: wording.Scale = wording.POINTS,
) -> go.Figure:
    """Standard errors of every bound and prediction that says something, a row each in groups, beside the ``exact`` one of the mechanism.

    ``frame`` as `ldp_core.studies.theorems.table` makes it, errors as shares. Only what is impossible for any number of people is shaded.
    """
    shown = frame[np.isfinite(frame["standard_error"]) & (frame["standard_error"] > 0)]
    fig = theme.figure(
        look, f"standard error ({theme.literal(scale.short)}, log scale)", "", height=theme.MODE_BAR + 64
    )
    values = scale.times * np.append(shown["standard_error"], [] if exact is None else exact)
    if not len(values):
        return fig
    names = [] if exact is None else [f"<b>{theme.title(mechanism)}</b>"]
    places, heads = dict[str, int](), dict[str, int]()
    for kind, part in shown.groupby("kind", sort=False):
        heads[kind] = len(names)
        places |= {name: len(names) + k for k, name in enumerate(part["name"], start=1)}
        names += [f"<b>{GROUPS[kind]}</b>", *(AUTHORS.sub("", title) for title in part["title"])]
    if "impossible" in heads:
        bound = scale.times * shown["standard_error"][shown["kind"] == "impossible"].max()
        fig.add_vrect(x0=1e-12, x1=bound, fillcolor=look.faint, opacity=0.14, line_width=0, layer="below")
        about: dict[str, Any] = {"xref": "paper", "x": 0.01, "xanchor": "left"}
        theme.note(fig, "impossible", look.faint, look.paper, y=heads["impossible"], **about)
    if exact is not None:
        shade, name = theme.colour(mechanism, look), theme.title(mechanism)
        fig.add_vline(x=scale.times * exact, line={"color": shade, "width": 1.5, "dash": "dot"})
        fig.add_scatter(
            x=[scale.times * exact],
            y=[0.0],
            name=name,
            mode="markers",
            marker=theme.mark(mechanism, look, 14),
            hovertemplate=f"{name}, exact: {theme.literal(scale.in_words(exact))}<extra></extra>",
        )
    for _, part in shown.groupby("kind", sort=False):
        _add_group(fig, part, scale, [places[name] for name in part["name"]], look)
    for value, row in zip(values, [*(places[name] for name in shown["name"]), 0], strict=False):
        theme.note_at(fig, value, row, f"±\N{NO-BREAK SPACE}{wording.significant(value)}", look)
    low, high = np.log10([values.min(), values.max()])
    beyond = max(high - low, 0.2)  # numbers stand to the right of their marks
    axis = theme.log_axis(10 ** (low - 0.3 * beyond), 10 ** (high + 0.7 * beyond), 1.0, most=3)
    fig.update_xaxes(**axis, side="top", tickangle=0)  # in sight however many rows there are
    fig.update_layout(margin={"t": theme.MODE_BAR + 40})
    theme.name_axis(fig, names)
    return fig


def _add_group(fig: go.Figure, part: pd.DataFrame, scale: wording.Scale, places: list[float], look: Theme) -> None:
    kind, values = part["kind"].iloc[0], scale.times * part["standard_error"].to_numpy()
    words = [theme.literal(scale.in_words(value)) for value in part["standard_error"]]
    lines = kind in BELOW
    if lines:
        dash = "solid" if kind == "impossible" else "3px,3px"
        for name, value, place in zip(part["name"], values, places, strict=True):
            strong = name == "certificate"
            line = {"color": look.text if strong else look.faint, "width": 3.5 if strong else 1.5, "dash": dash}
            fig.add_shape(type="line", x0=value, x1=value, y0=place - 0.18, y1=place + 0.3, line=line)
    fig.add_scatter(
        x=values,
        y=places,
        name=GROUPS[kind],
        mode="markers",
        marker={
            "symbol": MARKS[kind],
            "size": 10,
            "color": look.text,
            "opacity": 0 if lines else 1,
        },
        customdata=np.column_stack([part["title"], words, part["ratio"].map(_ratio)]),
        hovertemplate="%{customdata[0]}: %{customdata[1]}%{customdata[2]}<extra></extra>",
    )


def _ratio(ratio: float) -> str:
    return f"<br>exact error, squared, over this: {wording.significant(ratio)}" if np.isfinite(ratio) else ""
