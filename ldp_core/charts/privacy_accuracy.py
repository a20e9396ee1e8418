"""The beliefs that a report allows, over epsilon; `ldp_core.charts.epsilon` draws the users that answers need."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.beliefs import out_of
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme

HEIGHT = 320
EPSILON = "epsilon (← more private)"
_BELIEF = "strongest belief"
_GUESS = "best guess"
_ROOM = 118  # of 100: the name of a line that ends near certainty stands above it


def beliefs(
    frame: pd.DataFrame,
    epsilon: float,
    suspicion: float,
    name: str,
    single: float | None = None,
    guess: float | None = None,
    look: Theme = LIGHT,
) -> go.Figure:
    """The most that any mechanism allows over epsilon (lines), and the belief that ``name`` allows
    at ``epsilon`` (marks), out of 100.

    ``frame``: epsilon, belief, guess, such as by `ldp_core.beliefs.over_epsilon`. ``single`` is the strongest belief in one value
    against all others, ``guess`` how often the best guess is right, both with the mechanism; None where that is not known.
    """
    fig = theme.figure(look, EPSILON, "chance (%)", HEIGHT)
    end = frame.iloc[-1]
    fig.add_hline(y=100 * suspicion, line={"color": look.faint, "width": 1, "dash": "dot"})
    for column, called, style, value in (("belief", _BELIEF, "solid", single), ("guess", _GUESS, "dash", guess)):
        shade = look.text if column == "belief" else look.accent
        fig.add_scatter(
            x=frame["epsilon"],
            y=100 * frame[column],
            name=f"{called}, any mechanism",
            mode="lines",
            line={"color": shade, "width": 2.5, "dash": style},
            hovertemplate=f"epsilon %{{x:.3g}}: {called} %{{y:.3g}} of 100 at most<extra>any mechanism</extra>",
        )
        at = float(np.interp(epsilon, frame["epsilon"], frame[column]))
        left = "top left" if epsilon > 0.12 * end["epsilon"] else "bottom right"  # or the edge cuts the number
        apart = value is None or abs(value - at) > 0.03
        _mark(fig, epsilon, at, shade, "circle", left, f"{called} %{{y:.3g}} of 100<extra>any mechanism</extra>", apart)
        if value is not None:
            said = "belief in one value against all others" if column == "belief" else called
            hover = f"{said} %{{y:.3g}} of 100<extra>{theme.title(name)}</extra>"
            _mark(fig, epsilon, value, theme.colour(name, look), theme.marker(name), "bottom right", hover)
    corner = {"xanchor": "right", "yanchor": "bottom"}
    theme.note(fig, _BELIEF, look.text, None, 13, x=end["epsilon"], y=100 * end["belief"], **corner)
    # Below a rising line to the right, or above it to the left: there the line is not, nor is the mark.
    beside = (0.72 if 0.2 < epsilon / end["epsilon"] < 0.65 else 0.45) * end["epsilon"]
    height = float(np.interp(beside, frame["epsilon"], frame["guess"]))
    side = corner if height < 0.2 else {"xanchor": "left", "yanchor": "top"}
    theme.note(fig, _GUESS, look.accent, None, 13, x=beside, y=100 * height, **side)
    ahead = end["guess"] - suspicion
    x, end_of_text = (0.01, "left") if -0.1 < ahead < 0.25 else (1, "right")
    level = {"y": 100 * suspicion, "yanchor": "bottom" if ahead <= -0.1 else "top"}
    theme.note(fig, "prior", look.faint, xref="paper", x=x, xanchor=end_of_text, **level)
    fig.add_vline(x=epsilon, line={"color": look.text, "width": 1, "dash": "dot"})
    fig.update_xaxes(range=[0, 1.02 * float(end["epsilon"])])
    fig.update_yaxes(range=[0, _ROOM], tickvals=[0, 25, 50, 75, 100])
    return fig


def _mark(
    fig: go.Figure, x: float, chance: float, shade: str, symbol: str, side: str, hover: str, apart: bool = True
) -> None:
    """A mark with its number beside it, where that is ``apart`` from another."""
    fig.add_scatter(
        x=[x],
        y=[100 * chance],
        mode="markers+text" if apart else "markers",
        marker={"color": shade, "symbol": symbol, "size": 10},
        text=[out_of(chance).removesuffix(" of 100")],
        textposition=side,
        textfont={"color": shade, "size": 13},
        hovertemplate=hover,
    )
