"""Answers about two attributes as heat maps: the answers, which of them are usable, and below them their errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import verdicts, wording
from ldp_core.charts import theme
from ldp_core.charts.queries import signed_scale
from ldp_core.charts.theme import LIGHT, Theme

WRITTEN = 5
"""Up to so many columns a cell has room for its answer and its error."""
MARKED = 16
"""Up to so many columns a cell has room for the mark of its verdict."""
_TITLE = 64
"""Pixels above a map: its title and its bar of colours."""
_NAMES = 50
"""Pixels below the last map, at least: the names of its columns."""


def answer_table(cells: pd.DataFrame, down: str, across: str, look: Theme = LIGHT) -> go.Figure:
    """The answers to a question about two attributes, ``down`` and ``across``, and their standard errors.

    Parameters
    ----------
    cells : DataFrame
        Of `ldp_core.workloads.AnswerTable.cells`: row, column, name, unit, answer, low, high, standard_error and verdict of each answer.
    down, across : str
        The attributes that rows and columns are values of.
    look : Theme

    Returns
    -------
    Figure
        Few columns have answers and errors written in their cells; more have a second map, of the errors. What is not usable has its mark.
    """
    grids = {
        column: cells.pivot(index="row", columns="column", values=column)
        for column in ("answer", "standard_error", "low", "high", "verdict")
    }
    rows, columns = ([str(label) for label in side] for side in (grids["answer"].index, grids["answer"].columns))
    written = len(columns) <= WRITTEN
    unit = verdicts.unit_in_words(str(cells["unit"].iloc[0]))
    maps = {"answer": f"answers, {unit}"} | ({} if written else {"standard_error": f"standard errors, {unit}"})
    height = int(np.clip((44 if written else 22) * len(rows), 120, 900))
    whole = len(maps) * (height + _TITLE) + _NAMES
    fig = theme.grid(
        look, len(maps), 1, whole + theme.MODE_BAR, shared_xaxes=True, vertical_spacing=1.3 * _TITLE / whole
    )
    fig.update_layout(margin={"t": theme.MODE_BAR + _TITLE})
    said, marks = _said(grids), grids["verdict"].map(lambda word: "" if word == verdicts.USABLE else _mark(word))
    for place, (column, title) in enumerate(maps.items(), start=1):
        axis = next(fig.select_yaxes(row=place, col=1))
        top = axis.domain[1]
        bar = theme.colour_bar() | {"yref": "paper", "y": top, "yanchor": "bottom", "ypad": 2}
        texts = _numbers(grids, marks) if written else marks if column == "answer" and len(columns) <= MARKED else None
        theme.heat_map(
            fig,
            grids[column].to_numpy(dtype=float),
            columns,
            "%{customdata}<extra></extra>",
            y=theme.cell_names(rows),
            customdata=said,
            text=None if texts is None else texts.to_numpy(),
            texttemplate=None if texts is None else "%{text}",
            colorbar=bar,
            **_colours(grids[column], str(cells["unit"].iloc[0]), look),
            row=place,
            col=1,
        )
        theme.note(
            fig, title, look.faint, x=0, xref="paper", xanchor="left", y=top, yref="paper", yanchor="bottom", yshift=36
        )
    fig.update_yaxes(type="category", autorange="reversed", title_text=theme.short(down, 40), title_standoff=10)
    fig.update_yaxes(**theme.row_ticks(rows, 40))
    fig.update_xaxes(title_text=theme.short(across, 40), row=len(maps), col=1)
    return fig


def _mark(word: str) -> str:
    return verdicts.MARKS.get(word, "")


def _said(grids: dict[str, pd.DataFrame]) -> np.ndarray:
    """What a hover says of each cell."""
    numbers = [grids[column].to_numpy(dtype=float) for column in ("answer", "standard_error", "low", "high")]
    said = [
        "none"
        if value != value
        else f"{value:.4g} ± {error:.3g}, 95 %: {low:.4g} to {high:.4g}{f', {word}' if word else ''}"
        for value, error, low, high, word in zip(
            *(x.ravel() for x in numbers), grids["verdict"].to_numpy().ravel(), strict=True
        )
    ]
    names = [
        f"{theme.short(str(row), 40)}, {theme.short(str(column), 40)}: "
        for row in grids["answer"].index
        for column in grids["answer"].columns
    ]
    return np.array([a + b for a, b in zip(names, said, strict=True)]).reshape(numbers[0].shape)


def _numbers(grids: dict[str, pd.DataFrame], marks: pd.DataFrame) -> pd.DataFrame:
    """The answer and its error in each cell, behind the mark."""
    answer, error = (
        grids[column].map(lambda x: wording.significant(x) if x == x else "none")
        for column in ("answer", "standard_error")
    )
    return marks + " " + answer + "<br>± " + error


def _colours(grid: pd.DataFrame, unit: str, look: Theme) -> dict:
    """Colours from nothing upwards; of differences to both sides of none."""
    most = float(np.nanmax(np.abs(grid.to_numpy(dtype=float)), initial=0.0)) or 1.0
    low = float(np.nanmin(grid.to_numpy(dtype=float), initial=0.0))
    if unit.startswith("difference of ") and low < 0:
        return {"colorscale": signed_scale(low, look), "zmin": -most, "zmax": most}
    return {"colorscale": look.counts, "zmin": low, "zmax": float(np.nanmax(grid.to_numpy(dtype=float), initial=low))}
