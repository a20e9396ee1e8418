"""Pictures of what the papers' theorems say of a design: all on one axis, and some of them put to the test."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts.theme import (
    BAR,
    IMPOSSIBLE,
    LIGHT,
    MODE_BAR,
    ROW,
    Theme,
    colour,
    figure,
    log_axis,
    marker,
    name_rows,
    show_legend,
    title,
    wrapped,
)
from ldp_core.studies.theorems import Approach

BELOW = ("impossible", "large_sample")
"""Kinds of statements that are lower bounds."""
AXES = {"standard_error": "standard error (pp, log scale)", "users_needed": "users needed (log scale)"}
SHORT = {"standard_error": "standard error (pp)", "users_needed": "users needed"}
GROUPS = {
    "impossible": "Impossible",
    "large_sample": "Impossible as users grow",
    "prediction": "Predictions",
}
MARKS = {"impossible": "line-ns", "large_sample": "line-ns-open", "prediction": "diamond-open"}
PREDICTED = "Theorem 4.5 (Cormode et al.)"
AUTHORS = re.compile(r" \([^)]* et al\.\)")
"""Left out of the name of a row: they are in its hover."""
SHADED = f": {IMPOSSIBLE.replace('<br>', ' ')}"
TOP = MODE_BAR + 40
LABEL_HEIGHT = 0.1


def on_one_axis(
    frame: pd.DataFrame,
    quantity: str,
    exact: Mapping[str, float],
    mechanism: str,
    look: Theme = LIGHT,
) -> go.Figure:
    """Every bound and prediction that says something, a row each in groups, beside the exact error of the mechanism.

    ``frame`` as `ldp_core.studies.theorems.table` makes it; ``quantity`` "standard_error" (share) or "users_needed"; ``exact`` has
    the mechanism's number by quantity, nothing where it is not known. Only what is impossible for any number of users is shaded.
    """
    scale = 100 if quantity == "standard_error" else 1
    shown = frame[np.isfinite(frame[quantity]) & (frame[quantity] > 0)]
    names, places, row = [], {}, 0.0
    if quantity in exact:
        said = _in_words(scale * exact[quantity], quantity)
        names, row = [(-BAR / 2, f"<b>{title(mechanism)}, exact: {said}</b>")], 1.2
    for kind, part in shown.groupby("kind", sort=False):
        names.append((row, f"<b>{GROUPS[kind]}</b>{SHADED if kind == 'impossible' else ''}"))
        for place, bound in enumerate(part.itertuples(), start=1):
            places[bound.name] = row + place
            said = _in_words(scale * getattr(bound, quantity), quantity, kind in BELOW)
            names.append((row + place - BAR / 2, f"{AUTHORS.sub('', bound.title)}: {said}"))
        row += len(part) + 1
    fig = figure(look, AXES[quantity], "", height=round(TOP + 24 + ROW * max(row, 2)))
    values = [*(scale * shown[quantity]), *(scale * exact[quantity] for _ in names[:1] if quantity in exact)]
    if not values:
        return fig
    if (shown["kind"] == "impossible").any():
        bound = scale * shown[quantity][shown["kind"] == "impossible"].max()
        fig.add_vrect(x0=1e-12, x1=bound, fillcolor=look.faint, opacity=0.14, line_width=0, layer="below")
    if quantity in exact:
        _add_mechanism(fig, mechanism, scale * exact[quantity], quantity, look)
    for _, part in shown.groupby("kind", sort=False):
        _add_group(fig, part, quantity, scale, [places[name] for name in part["name"]], look)
    axis = log_axis(min(values), max(values), 1.8, most=3)
    fig.update_xaxes(**axis, side="top", tickangle=0)  # in sight however many rows there are
    fig.update_layout(margin={"t": TOP})
    name_rows(fig, [text for _, text in names], look, [place for place, _ in names])
    fig.update_yaxes(range=[row - 0.4, -0.8])
    return fig


def _add_mechanism(fig: go.Figure, name: str, value: float, quantity: str, look: Theme) -> None:
    fig.add_vline(x=value, line={"color": colour(name), "width": 1.5, "dash": "dot"})
    fig.add_scatter(
        x=[value],
        y=[0.0],
        name=title(name),
        mode="markers",
        marker={"size": 14, "color": colour(name), "symbol": marker(name)},
        hovertemplate=f"{title(name)}, exact: {_in_words(value, quantity)}<extra></extra>",
    )


def _add_group(
    fig: go.Figure, part: pd.DataFrame, quantity: str, scale: float, places: list[float], look: Theme
) -> None:
    kind, values = part["kind"].iloc[0], scale * part[quantity].to_numpy()
    words = [_in_words(value, quantity, kind in BELOW) for value in values]
    lines = kind in BELOW
    if lines:
        dash = "solid" if kind == "impossible" else "3px,3px"
        for name, value, place in zip(part["name"], values, places, strict=True):
            strong = name == "certificate"
            line = {"color": look.text if strong else look.faint, "width": 3.5 if strong else 1.5, "dash": dash}
            fig.add_shape(type="line", x0=value, x1=value, y0=place - 0.18, y1=place + 0.3, line=line)
    random = quantity == "standard_error" and bool((part["high"] > part["low"]).any())
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
        error_x={
            "type": "data",
            "symmetric": False,
            "array": scale * part["high"].to_numpy() - values,
            "arrayminus": values - scale * part["low"].to_numpy(),
            "color": look.text,
        }
        if random
        else None,
        customdata=np.column_stack([part["title"], words, part["ratio"].map(_ratio)]),
        hovertemplate="%{customdata[0]}: %{customdata[1]}%{customdata[2]}<extra></extra>",
    )


def _ratio(ratio: float) -> str:
    return f"<br>exact error, squared, over this: {wording.significant(ratio)}" if np.isfinite(ratio) else ""


def _in_words(value: float, quantity: str, bound: bool = False) -> str:
    if quantity == "standard_error":
        return f"± {wording.significant(value)} pp"
    return wording.minimum(value) if bound else wording.needed(value)


def approach(limits_by_users: Approach, look: Theme = LIGHT) -> go.Figure:
    """N times the exact error of the best estimator over N, rising to its limit, and the large-N lines it crosses on the way."""
    frame = limits_by_users.frame
    fig = figure(look, "users N (log scale)", "N x squared error", height=440)
    fig.add_scatter(
        x=frame["users"], y=frame["error"], name="best estimator, exact", mode="lines+markers",
        line={"color": look.accent, "width": 2.5}, marker={"size": 7},
        hovertemplate="%{x:,} users: %{y:.4g}<extra>best estimator, exact</extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=frame["users"], y=frame["entropy_bound"], name="Theorem 4.1, at every N", mode="lines",
        line={"color": look.faint, "width": 1.5}, hovertemplate="%{x:,} users: %{y:.4g}<extra>Theorem 4.1, at every N</extra>",
    )  # fmt: skip
    lines = {
        "its limit": (limits_by_users.limit, "dot"),
        "Corollary 4.3": (limits_by_users.corollary, "dash"),
        "Theorem 4.5, sharper": (limits_by_users.sharp, "longdashdot"),
        "Theorem 4.5": (limits_by_users.paper, "dashdot"),
    }
    ends = [(value, f"{name}, large N") for name, (value, _) in lines.items()]
    for value, dash in lines.values():
        fig.add_hline(y=value, line={"color": look.text, "width": 1.2, "dash": dash})
    ends.append((frame["entropy_bound"].iloc[-1], "Theorem 4.1, at every N"))
    ends.append((frame["error"].iloc[-1], "best estimator, exact"))
    top = 1.12 * max(value for value, _ in ends)
    lowest = -np.inf
    for value, text in sorted(ends):
        lowest = max(lowest + LABEL_HEIGHT * top, value)
        own = text.startswith("best")
        fig.add_annotation(
            xref="paper", x=1.0, y=lowest, xanchor="left", xshift=6, text=wrapped(text, 20), align="left", showarrow=False,
            font={"size": 12, "color": look.accent if own else look.text},
        )  # fmt: skip
    fig.update_xaxes(**log_axis(frame["users"].min(), frame["users"].max(), 1.1, most=4))
    fig.update_yaxes(range=[0, max(top, lowest * 1.04)])
    fig.update_layout(margin={"r": 140})
    return fig


LINES = {"raw": ("dash", "circle-open"), "consistent": ("solid", "circle")}
"""Dash and marker of the trees of the paper, by their reconstruction."""
OWN = ("dot", "diamond")
"""Those of another kind of tree."""


def over_branching(
    frame: pd.DataFrame,
    quantity: str,
    formulas: Mapping[str, float],
    chosen: int | None,
    look: Theme = LIGHT,
    predicted: pd.DataFrame | None = None,
) -> go.Figure:
    """Exact errors of trees over the branching factor, each best one filled, and what the formulas take for the best. ``frame``:
    oracle, reconstruction, branching, and ``quantity``; ``predicted`` (branching, ``quantity``) is Theorem 4.5 of Cormode et al.;
    ``chosen`` is the branching factor of the design."""
    scale = 100 if quantity == "standard_error" else 1
    fig = figure(look, "branching factor B", SHORT[quantity], height=360)
    for (oracle, reconstruction), part in frame.groupby(["oracle", "reconstruction"], sort=False):
        name = f"{reconstruction} ({oracle.upper()})"
        dash, symbol = LINES[reconstruction] if oracle == "oue" else OWN
        best = part[quantity] == part[quantity].min()
        fig.add_scatter(
            x=part["branching"],
            y=scale * part[quantity],
            name=name,
            mode="lines+markers",
            line={"color": colour("hierarchical"), "width": 2, "dash": dash},
            marker={"size": np.where(best, 14, 7), "symbol": symbol},
            hovertemplate=f"B = %{{x}}: %{{y:.4g}}<extra>{name}</extra>",
        )
    if predicted is not None:
        fig.add_scatter(
            x=predicted["branching"],
            y=scale * predicted[quantity],
            name=PREDICTED,
            mode="lines",
            line={"color": look.text, "width": 1.5, "dash": "dot"},
            hovertemplate=f"B = %{{x}}: %{{y:.4g}}<extra>{PREDICTED}</extra>",
        )
    for row, (reconstruction, value) in enumerate(formulas.items()):
        fig.add_vline(x=value, line={"color": look.text, "width": 1.2, "dash": LINES[reconstruction][0]})
        fig.add_annotation(
            x=value, y=1, yref="paper", yanchor="bottom", yshift=17 * row, showarrow=False, font={"size": 12},
            text=f"formula, {reconstruction}: {value:.2f}",
        )  # fmt: skip
    if chosen is not None:
        fig.add_vline(x=chosen, line={"color": look.faint, "width": 8}, opacity=0.25)
    show_legend(fig)
    fig.update_layout(margin={"t": MODE_BAR + 17 * len(formulas)})
    fig.update_yaxes(rangemode="tozero")
    fig.update_xaxes(dtick=max(1, round(np.ptp(frame["branching"]) / 8)) if len(frame) else 1)
    return fig
