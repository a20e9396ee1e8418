"""Pictures of what collections would look like: distributions, a few releases, intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.simulation import ESTIMATOR_DASH, pair_names
from ldp_core.charts.theme import LIGHT, Theme


def quantile_errors(frame: pd.DataFrame, unit: str, look: Theme = LIGHT) -> go.Figure:
    """Value error and quantile error of each quantile side by side, with ± 2 standard errors.

    ``frame``: `Outcomes.quantiles`; ``unit`` of the values, such as "types".
    """
    fig, names = theme.grid(look, 2, 1, height=520, vertical_spacing=0.16), pair_names(frame)
    panels = {"value_error": (1, 1.0, theme.literal(unit)), "quantile_error": (2, 100.0, "pp")}
    for column, (place, scale, what) in panels.items():
        for index, ((mechanism, estimator), points) in enumerate(frame.groupby(["mechanism", "estimator"], sort=False)):
            name, shade = names[mechanism, estimator], theme.colour(mechanism, look)
            fig.add_scatter(
                x=points["quantile"] + 0.012 * index,  # or the bars would hide each other
                y=scale * points[column],
                name=name,
                legendgroup=name,
                showlegend=place == 1,
                mode="lines+markers",
                line={"color": shade, "width": 2, "dash": ESTIMATOR_DASH.get(estimator, "solid")},
                marker={"symbol": theme.marker(mechanism), "size": 8},
                error_y=theme.bars(scale * points[column], scale * points[f"{column}_se"], shade),
                customdata=np.stack([points["quantile"], points["true_label"].map(theme.literal)], axis=-1),
                hovertemplate="quantile %{customdata[0]}, truly at %{customdata[1]}: off by %{y:.3g} "
                f"{what}<extra>{name}</extra>",
                row=place,
                col=1,
            )
        fig.update_yaxes(title_text=f"{column.replace('_', ' ')} ({what})", rangemode="tozero", row=place, col=1)
    fig.update_xaxes(tickvals=[0.1, 0.3, 0.5, 0.7, 0.9])
    fig.update_xaxes(title_text="quantile", row=2, col=1)
    if len(names) > 1:
        theme.show_legend(fig)
    return fig


def distribution(frame: pd.DataFrame, what: str, look: Theme = LIGHT) -> go.Figure:
    """True and private cumulative shares of one mechanism and estimator, and where nine of ten collections lie.

    ``frame``: those rows of `Outcomes.curves`; ``what``: what the types are values of.
    """
    fig = theme.figure(look, theme.literal(what), "share of people up to here (%)", height=420)
    shade = theme.colour(frame["mechanism"].iloc[0], look)
    x, named = frame["type"], frame["label"].map(theme.literal)
    outline = {"x": x, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    fig.add_scatter(y=100 * frame["low"], showlegend=False, **outline)
    fig.add_scatter(
        y=100 * frame["high"], fill="tonexty", fillcolor=theme.faded(shade), name="nine collections in ten", **outline
    )
    for column, name, line in (
        ("first", "one private collection", {"color": shade, "width": 2}),
        ("true", "true", {"color": look.text, "width": 2, "dash": "dash"}),
    ):
        fig.add_scatter(
            x=x,
            y=100 * frame[column],
            name=name,
            mode="lines",
            line=line,
            customdata=named,
            hovertemplate="up to %{customdata}: %{y:.2f} %" + f"<extra>{name}</extra>",
        )
    theme.name_ticks(fig, frame["type"], frame["label"], letters=theme.LETTERS, tickangle=0)
    theme.show_legend(fig)
    return fig
