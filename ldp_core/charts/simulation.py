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


def answers(frame: pd.DataFrame, look: Theme = LIGHT, in_order: bool = False) -> go.Figure:
    """True answers and the mean estimate with a band of one standard deviation over the trials.

    ``frame``: mechanism, estimator, query, label, true, mean, deviation, all answers as shares of users. Lines join
    queries only where these are ``in_order``.
    """
    fig = theme.figure(look, "query", "share of users (%)", height=420)
    groups = frame.groupby(["mechanism", "estimator"], sort=False)
    few = frame["query"].nunique() <= 48
    truth = frame.drop_duplicates("query").sort_values("query")
    fig.add_scatter(
        x=truth["query"] + 1,
        y=100 * truth["true"],
        name="true answer",
        mode=theme.query_mode(truth["query"], few=48) if in_order else "markers",
        line={"color": look.text, "width": 2},
        marker={"size": 5},
        customdata=truth["label"].map(theme.literal),
        hovertemplate="%{customdata}: %{y:.2f} %<extra>true</extra>",
    )
    mode = "markers" if few or not in_order or "markers" in theme.query_mode(truth["query"], few=48) else "lines"
    for index, ((mechanism, estimator), points) in enumerate(groups):
        shift = 0.12 * (index + 1) if few else 0
        fig.add_scatter(
            x=points["query"] + 1 + shift,
            y=100 * points["mean"],
            name=f"{theme.title(mechanism)}, {ESTIMATORS[estimator].short}",
            mode=mode if mode == "markers" or not theme.varied(mechanism) else "lines+markers",
            customdata=points["label"].map(theme.literal),
            marker={
                "color": theme.colour(mechanism, look),
                "symbol": theme.marker(mechanism),
                "size": 8,
                "maxdisplayed": 0 if mode == "markers" else theme.MARKED,
            },
            line={"color": theme.colour(mechanism, look), "width": 1.5, "dash": ESTIMATOR_DASH.get(estimator, "solid")},
            error_y={"type": "data", "array": 100 * points["deviation"], "thickness": 1.2, "width": 2 if few else 0},
            opacity=1.0 if estimator == "unbiased" else 0.6,
            hovertemplate="%{customdata}: %{y:.2f} %<extra>"
            + f"{theme.title(mechanism)}, {ESTIMATORS[estimator].short}</extra>",
        )
    theme.show_legend(fig)
    theme.query_ticks(fig, frame)
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
    """Observed error of a typical query (mean over trials, ±2 standard errors) and the predicted one as a bar mark.

    ``frame``: mechanism, estimator, observed, standard_error, predicted (NaN where no exact prediction exists), as shares.
    """
    fig = theme.figure(look, f"typical error ({theme.literal(scale.short)})", "", height=130 + theme.ROW * len(frame))
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
    theme.name_rows(fig, [theme.short(name, theme.ROW_LETTERS) for name in names], look)
    return fig
