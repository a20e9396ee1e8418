"""Pictures of what a survey asks: which attributes together, and which of these make the questions hard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from ldp_core import wording
from ldp_core.charts.labels import cell_names, label_ticks, row_ticks
from ldp_core.charts.theme import BAR, LIGHT, ROW, ROW_LETTERS, Theme, figure, name_rows, short
from ldp_core.limits import MOST_DRAWN_SETS
from ldp_core.workloads import Survey


def asked_together(survey: Survey, look: Theme = LIGHT) -> go.Figure:
    """How many queries are about each attribute (on the diagonal) and about each two of them, alone or among others."""
    d = len(survey.shape)
    questions = np.zeros((d, d))
    for group in survey.groups:
        places = np.array(group.attributes)
        questions[np.ix_(places, places)] += group.base.num_queries
    names = [f"x{i + 1}" for i in range(d)] if survey.axes is None else [axis.name for axis in survey.axes]
    shown = cell_names(names)
    decades = np.arange(int(np.ceil(np.log10(questions.max()))) + 1)
    fig = figure(look, "", "", height=int(np.clip(180 + 22 * d, 320, 700)))
    fig.add_heatmap(
        x=shown,
        y=shown,
        z=np.log10(
            np.where(questions > 0, questions, np.nan)
        ),  # a column is in many pairs: else only the diagonal would be seen
        text=[[_about(a, b, questions[i, j]) for j, b in enumerate(shown)] for i, a in enumerate(shown)],
        hovertemplate="%{text}<extra></extra>",
        xgap=1,
        ygap=1,
        zmin=0,
        zmax=max(decades[-1], 1),
        colorscale=sample_colorscale(look.sequential, np.linspace(0.2, 1, 9).tolist()),
        colorbar={
            "title": {"text": "queries (log scale)", "side": "right"},
            "thickness": 14,
            "outlinewidth": 0,
            "tickvals": decades,
            "ticktext": [f"{10**decade:,}" for decade in decades.tolist()],
        },
    )
    fig.update_xaxes(type="category", showgrid=False, **label_ticks(names))
    fig.update_yaxes(type="category", autorange="reversed", showgrid=False, **row_ticks(names, 30))
    return fig


def _about(first: str, second: str, queries: float) -> str:
    both = first if first == second else f"{first} and {second}"
    return f"{both}: {queries:,.0f} quer{'y' if queries == 1 else 'ies'}"


def attribute_sets(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """The sets of attributes on which reports best spend most of their information as bars, largest on top, `MOST_DRAWN_SETS` at most. ``frame``: see
    `frames.attribute_sets`."""
    top = frame.head(MOST_DRAWN_SETS)
    hover = [
        f"{short(row.attributes, 200)}<br>{wording.share(row.share)} of the information<br>"
        f"{wording.magnitude(row.dimension)} independent contrast{'s' if row.dimension > 1 else ''}"
        for row in top.itertuples(index=False)
    ]
    return shares_by_set(top["attributes"], top["share"], hover, "information, at best (%)", look)


def shares_by_set(
    names: pd.Series, shares: pd.Series, hover: list[str], title: str, look: Theme, shade: str | None = None
) -> go.Figure:
    """A bar for each set of columns, in the order given from the top, with its share beside it."""
    fig = figure(look, title, "", height=100 + ROW * len(names))
    fig.add_bar(
        x=100 * shares,
        y=np.arange(len(names)),
        orientation="h",
        width=BAR,
        marker_color=shade or look.accent,
        marker_line_width=0,
        text=[wording.share(share) for share in shares],
        textposition="outside",
        cliponaxis=False,
        hovertext=hover,
        hoverinfo="text",
    )
    name_rows(fig, [short(name, ROW_LETTERS) for name in names], look)
    longest = 100 * float(shares.max()) if len(shares) else 0.0
    fig.update_xaxes(range=[0, 1.2 * longest or 1.0])  # room for the label of the longest bar
    return fig
