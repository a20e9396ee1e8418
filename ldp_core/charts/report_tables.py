"""The picture of what one report says about each type: possible reports, bits, or numbers with noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ldp_core.charts.labels import cell_names, label_ticks
from ldp_core.charts.queries import signed_scale, type_names
from ldp_core.charts.strategies import patterns
from ldp_core.charts.theme import COLOUR_BAR, LIGHT, PIXELS, Theme, colour_bar, figure
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.pictures import binned

ROW_TITLES = {"bits": "bit of a report", "numbers": "number in a report"}
CELL_TITLES = {"bits": "probability", "numbers": "mean"}
GAPS_UP_TO = 4096  # cells


def report_table(
    table: ReportTable,
    labels: Sequence[str],
    look: Theme = LIGHT,
    shade: str | None = None,
    prior: np.ndarray | None = None,
    compact: bool = False,
) -> go.Figure:
    """The picture of a mechanism's `ReportTable`: `patterns` of possible reports, otherwise a heat map of its rows.

    ``labels`` name the types, ``shade`` colours the reports, ``prior`` (n,) weights the types in what is common, and
    ``compact`` is for several side by side. At most `PIXELS` cells along each side are drawn, each the mean of what it
    stands for.
    """
    if table.kind == "reports":
        return patterns(table.entries, labels, look, shade, prior, compact)
    cells = binned(table.entries, PIXELS)
    low, high = float(cells.min()), float(cells.max())
    height = (320 if compact else 460) + COLOUR_BAR
    fig = figure(look, "type of person", ROW_TITLES[table.kind], height)
    names = type_names(table.entries.shape[1], labels)
    gap = 1 if cells.size <= GAPS_UP_TO else 0
    if table.kind == "numbers":
        reach = max(high, -low)
        colours = {"colorscale": signed_scale(low, look), "zmin": -reach if low < 0 else 0, "zmax": reach}
    else:  # from the chance for other types to that for the own type: near one another at a small epsilon
        scale = [(0.0, "rgba(127,127,127,0.10)"), (1.0, shade or look.accent)]
        colours = {"colorscale": scale, "zmin": low, "zmax": high}
    fig.add_heatmap(
        x=cell_names(names),
        y=_row_numbers(len(table.entries)),
        z=cells,
        xgap=gap,
        ygap=gap,
        hovertemplate=f"row %{{y}}<br>%{{x}}: {CELL_TITLES[table.kind]} %{{z:.4~g}}<extra></extra>",
        colorbar={**colour_bar(), "tickprefix": f"{CELL_TITLES[table.kind]} ", "showtickprefix": "first"},
        **colours,
    )
    fig.update_xaxes(type="category", showgrid=False, **label_ticks(names))
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig


def _row_numbers(rows: int) -> np.ndarray:
    """The number of each row, from 1, or of the middle of the rows that a cell stands for."""
    edges = np.linspace(0, rows, min(rows, PIXELS) + 1).astype(int)
    return (edges[:-1] + edges[1:] + 1) / 2
