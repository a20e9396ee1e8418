"""Pictures of simulated collections against the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.estimators import ESTIMATORS

ESTIMATOR_DASH = {
    "unbiased": "solid",
    "wnnls": "dot",
    "wnnls_total": "dash",
    "norm_sub": "dashdot",
    "polytope": "longdash",
    "mle": "longdashdot",
    "ems": "10px,2px,2px,2px",
    "posterior": "8px,2px,2px,2px,2px,2px",
    "posterior_distribution": "12px,3px,3px,3px",
    "consistency": "2px,6px",
}


def answers(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """True answers to queries that have an order, and mean answers with one standard deviation of single collections to each side.
    ``frame``: the rows of `Outcomes.answers` of one mechanism and estimator."""
    fig = theme.figure(look, "answer", "share of people (%)", height=420)
    mechanism, estimator = frame[["mechanism", "estimator"]].iloc[0]
    name, shade = f"{theme.title(mechanism)}, {ESTIMATORS[estimator].short}", theme.colour(mechanism, look)
    said = {"customdata": frame["name"].map(theme.literal)}
    fig.add_scatter(
        x=frame["query"] + 1,
        y=frame["true"],
        name="true answer",
        mode="lines+markers",
        line={"color": look.text, "width": 2},
        marker={"size": 5},
        hovertemplate="%{customdata}: %{y:.2f} %<extra>true</extra>",
        **said,
    )
    fig.add_scatter(
        x=frame["query"] + 1.12,  # beside the truth
        y=frame["mean"],
        name=name,
        mode="markers",
        marker=theme.mark(mechanism, look, 8),
        error_y={"type": "data", "array": frame["deviation"], "thickness": 1.2, "width": 2, "color": shade},
        hovertemplate=f"%{{customdata}}: %{{y:.2f}} %<extra>{name}</extra>",
        **said,
    )
    theme.show_legend(fig)
    theme.query_ticks(fig, frame.rename(columns={"name": "label"}))
    return fig


def pair_names(frame: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Names of each (mechanism, estimator) of ``frame``, without the part that all share."""
    pairs = list(dict.fromkeys(zip(frame["mechanism"], frame["estimator"], strict=True)))
    names = {}
    for mechanism, estimator in pairs:
        parts = [theme.title(mechanism)] if len({m for m, _ in pairs}) > 1 else []
        if not parts or len({e for _, e in pairs}) > 1:
            parts.append(ESTIMATORS[estimator].short)
        name = ", ".join(parts)
        names[mechanism, estimator] = wording.capital(name)
    return names


def errors(frame: pd.DataFrame, look: Theme = LIGHT, scale: wording.Scale = wording.POINTS) -> go.Figure:
    """Observed error in targets (mean over trials, ±2 standard errors) and the predicted one as a bar mark.

    ``frame``: mechanism, estimator, observed, standard_error, predicted (NaN where no exact prediction exists).
    """
    fig = theme.figure(look, f"standard error ({theme.literal(scale.short)})", "", height=130)
    names = [pair_names(frame)[row.mechanism, row.estimator] for row in frame.itertuples()]
    places = np.arange(len(frame))
    fig.add_scatter(
        x=scale.times * frame["observed"],
        y=places,
        text=names,
        mode="markers",
        name="observed, ± 2 standard errors",
        marker={
            "size": 12,
            "color": [theme.colour(n, look) for n in frame["mechanism"]],
            "symbol": [theme.marker(n) for n in frame["mechanism"]],
        },
        error_x={
            "type": "data",
            "array": 2 * scale.times * frame["standard_error"],
            "thickness": 1.5,
            "color": look.text,
        },
        hovertemplate=f"%{{text}}: %{{x:.3g}} {theme.literal(scale.unit)} observed<extra></extra>",
    )
    fig.add_scatter(
        x=scale.times * frame["predicted"],
        y=places,
        text=names,
        mode="markers",
        name="predicted exactly",
        marker={"symbol": "line-ns-open", "size": 26, "color": look.text, "line": {"width": 3}},
        hovertemplate=f"%{{text}}: %{{x:.3g}} {theme.literal(scale.unit)} predicted<extra></extra>",
    )
    theme.show_legend(fig)
    fig.update_xaxes(rangemode="tozero")
    theme.name_axis(fig, names)
    return fig
