"""Pictures of a survey mechanism: whom it asks about which columns, what its patterns look like, and where its information goes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ldp_core import wording
from ldp_core.charts.columns import shares_by_set
from ldp_core.charts.theme import BAR, LIGHT, MODE_BAR, ROW, ROW_LETTERS, Theme, figure, name_rows, short, show_legend
from ldp_core.limits import MOST_DRAWN_SETS, MOST_DRAWN_SIDE
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns

DRAWN_PATTERNS = 6
PATTERNS_ABREAST = 2


def people_by_design(frame: pd.DataFrame, look: Theme = LIGHT, shade: str | None = None) -> go.Figure:
    """The share of people who take part in each design. ``frame``: see
    `frames.people_by_design`."""
    hover = [
        f"{short(row.columns, 200)}<br>{wording.share(row.share)} of people, {row.reports:,} "
        f"{'patterns' if pd.isna(row.cells) else f'reports, for {row.cells:,} types'}"
        for row in frame.itertuples(index=False)
    ]
    return shares_by_set(frame["columns"], frame["share"], hover, "share of people (%)", look, shade)


def column_sets(frame: pd.DataFrame, look: Theme = LIGHT, shade: str | None = None) -> go.Figure:
    """The share of people who report about each set of columns, the most common on top, `MOST_DRAWN_SETS`
    at most. ``frame``: see
    `frames.column_sets`."""
    top = frame.head(MOST_DRAWN_SETS)
    hover = [
        f"{short(row.columns, 200)}<br>{wording.share(row.share)} of people, {row.patterns:,} "
        f"pattern{'s' if row.patterns > 1 else ''} of {row.cells:,} cells"
        for row in top.itertuples(index=False)
    ]
    return shares_by_set(top["columns"], top["share"], hover, "share of people (%)", look, shade)


def fourier_weights(frame: pd.DataFrame, look: Theme = LIGHT, shade: str | None = None) -> go.Figure:
    """The information of reports by set of columns as bars, and the ideal split that the lower bound allows as marks beside it, largest
    on top, `MOST_DRAWN_SETS` at most. ``frame``: see `frames.fourier_weights`."""
    top = frame.head(MOST_DRAWN_SETS)
    fig = figure(look, "information (%)", "", height=120 + ROW * len(top))
    rows = np.arange(len(top))
    hover = [
        f"{short(row.columns, 200)}<br>{wording.share(row.fourier_weight)} of the information, ideally {wording.share(row.ideal)}"
        for row in top.itertuples(index=False)
    ]
    hover_texts = {"hovertext": hover, "hoverinfo": "text"}
    fig.add_bar(
        x=100 * top["fourier_weight"],
        y=rows,
        orientation="h",
        width=BAR,
        name="this mechanism",
        marker_color=shade or look.accent,
        marker_line_width=0,
        **hover_texts,
    )
    fig.add_scatter(
        x=100 * top["ideal"],
        y=rows,
        mode="markers",
        name="ideal, by the lower bound",
        marker={"color": look.text, "symbol": "line-ns-open", "size": 14, "line": {"width": 2}},
        **hover_texts,
    )
    name_rows(fig, [short(name, ROW_LETTERS) for name in top["columns"]], look)
    fig.update_xaxes(rangemode="tozero")
    show_legend(fig)
    return fig


def scrambled(
    mechanism: ScrambledPatterns,
    names: Sequence[str],
    look: Theme = LIGHT,
    shade: str | None = None,
    part: float = 1.0,
) -> go.Figure:
    """The patterns that most people send, as small pictures of their cells before the values are shuffled: the first column down, the
    others across. ``names`` of the columns; ``part`` of all people send patterns."""
    chosen = drawn_patterns(mechanism)
    titles = [
        f"{short(' x '.join(names[i] for i in mechanism.patterns[k].attributes), 24)}<br>"
        f"{wording.share(part * float(mechanism.shares[k]))} of people<br>"
        f"{np.count_nonzero(mechanism.patterns[k].cells):,} of {mechanism.patterns[k].cells.size:,} cells"
        for k in chosen
    ]
    across = min(PATTERNS_ABREAST, len(chosen))
    down = math.ceil(len(chosen) / across)
    top = MODE_BAR + 17 * 3  # the lines of the titles in the first row
    plain = figure(look, "", "", height=top + 10 + 210 * down)
    fig = make_subplots(
        rows=down, cols=across, subplot_titles=titles, vertical_spacing=0.28 / down, horizontal_spacing=0.06
    )
    fig.update_layout(plain.layout)
    for place, k in enumerate(chosen):
        table = mechanism.patterns[k].cells
        flat = table.reshape(1, -1) if table.ndim == 1 else table.reshape(len(table), -1)
        fig.add_heatmap(
            z=flat.astype(np.float32)[:MOST_DRAWN_SIDE, :MOST_DRAWN_SIDE],
            zmin=0,
            zmax=1,
            colorscale=[[0, "rgba(127,127,127,0.10)"], [1, shade or look.accent]],
            showscale=False,
            hoverinfo="skip",
            xgap=1 if flat.shape[1] <= 64 else 0,
            ygap=1,
            row=place // across + 1,
            col=place % across + 1,
        )
    fig.update_xaxes(showticklabels=False, showgrid=False, zeroline=False, title_text="")
    fig.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, title_text="", autorange="reversed")
    fig.update_annotations(font={"size": 12, "color": look.text})
    fig.update_layout(margin={"t": top, "l": 10, "r": 10, "b": 10})
    return fig


def drawn_patterns(mechanism: ScrambledPatterns) -> list[int]:
    """The numbers of the patterns that `scrambled` draws: those most often sent, of different cells where there are enough."""
    order = np.argsort(-mechanism.shares, kind="stable").tolist()
    different, seen = list[int](), set[bytes]()
    for k in order:
        cells = mechanism.patterns[k].cells
        key = repr(cells.shape).encode() + np.packbits(cells).tobytes()
        if key not in seen:
            seen.add(key)
            different.append(k)
        if len(different) == DRAWN_PATTERNS:
            break
    return different
