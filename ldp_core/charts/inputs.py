"""Pictures of what goes in: the people and the queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts.theme import LIGHT, PIXELS, TICK_LENGTH, Theme, binned, figure, literal, short
from ldp_core.workloads import Workload

LABELLED_TYPES = 40


def histogram(labels: Sequence[str], counts: np.ndarray, name: str, look: Theme = LIGHT) -> go.Figure:
    """Users per type as bars from zero."""
    fig = figure(look, short(name, 60), "users", height=340)
    users = max(float(np.sum(counts)), 1.0)
    hover = [
        f"{literal(label)}<br>{c:,.0f} users ({wording.share(c / users)})"
        for label, c in zip(labels, counts, strict=True)
    ]
    fig.add_bar(
        x=np.arange(len(labels)),
        y=np.asarray(counts, dtype=float),
        marker_color=look.accent,
        marker_line_width=0,
        hovertext=hover,
        hoverinfo="text",
    )
    fig.update_xaxes(**label_ticks(labels), showgrid=False)
    fig.update_layout(bargap=0.12 if len(labels) <= 128 else 0)
    fig.update_yaxes(rangemode="tozero")
    return fig


def label_ticks(labels: Sequence[str]) -> dict:
    """Axis settings that name types by their labels, thinned out when there are many."""
    step = max(1, -(-len(labels) // 16)) if len(labels) > LABELLED_TYPES or _long(labels) else 1
    positions = np.arange(0, len(labels), step)
    return {"tickvals": positions, "ticktext": [short(labels[i]) for i in positions]}


def _long(labels: Sequence[str]) -> bool:
    return sum(min(len(label), TICK_LENGTH) for label in labels) > 140


def workload_matrix(workload: Workload, labels: Sequence[str], look: Theme = LIGHT) -> go.Figure:
    """The query matrix: a row a query, a filled cell where the query counts a type. Many queries are thinned evenly."""
    shown = np.unique(np.linspace(0, workload.num_queries - 1, min(workload.num_queries, PIXELS)).astype(np.int64))
    rows = binned(workload.rows(shown))
    fig = figure(look, "type of person", "query", height=420)
    few = len(shown) <= 64 and workload.n <= 64
    names = [literal(workload.query_name(int(query), labels)) for query in shown] if few else None
    fig.add_heatmap(
        z=rows,
        colorscale=[[0, "rgba(127,127,127,0.08)"], [1, look.accent]],
        showscale=False,
        zmin=0,
        zmax=1,
        xgap=1 if few else 0,
        ygap=1 if few else 0,
        customdata=None if names is None else [[name] * workload.n for name in names],
        hovertemplate="query: %{customdata}<extra></extra>" if few else "counts %{z:.2f}<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed", showgrid=False, showticklabels=False)
    fig.update_xaxes(showgrid=False)
    if workload.n <= PIXELS:
        fig.update_xaxes(**label_ticks(labels))
    return fig


def singular_values(workload: Workload, look: Theme = LIGHT) -> go.Figure:
    """The workload's singular values, largest first: a long flat tail is a hard workload."""
    values = workload.singular_values()
    fig = figure(look, "rank of the singular value", "singular value", height=300)
    fig.add_scatter(
        x=np.arange(1, len(values) + 1),
        y=values,
        mode="lines+markers" if len(values) <= 64 else "lines",
        line={"color": look.accent},
        hovertemplate="number %{x}: %{y:.4g}<extra></extra>",
    )
    fig.update_yaxes(rangemode="tozero")
    return fig
