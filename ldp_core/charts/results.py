"""The result picture: each answer with its interval in its own unit, questions one below the other. The same picture shows how wide the bars of a
design will be, what one collection might give, and what came."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import verdicts, wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.workloads.tabulated import FEW

WRITTEN, MARKED = 5, 40
"""Up to so many columns, cells of a table have room for answers and errors, and for marks of verdicts."""
PROMISED = 1.96
"""Standard errors that hold 95 of 100 answers."""
_PANEL = 230
_HEAD = 54
_TITLE = 20


def promised(answers: pd.DataFrame) -> pd.DataFrame:
    """What a design promises, for `result`: each answer as it is in the planning data, with 1.96 standard errors to each side. ``answers`` as
    of `ldp_core.analysis.answers`."""
    centre, reach = answers["value"].fillna(0.0), PROMISED * answers["standard_error"]
    return answers.assign(answer=answers["value"], low=centre - reach, high=centre + reach)


def result(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """The picture of ``frame``: line, question, name, unit, answer, low, high of each answer, perhaps ``true`` and ``verdict``.

    Questions of few answers share a panel with others of their unit, a row an answer; others have a panel of bars.
    """
    panels = _panels(frame)
    heights = [_HEAD + theme.ROW * len(own) if rows else _PANEL for rows, own in panels]
    titles = [_title(rows, own) for rows, own in panels]
    fig = theme.grid(
        look,
        len(panels),
        1,
        sum(heights) + 40 + _TITLE,
        row_heights=heights,
        vertical_spacing=min(0.9 / max(1, len(panels) - 1), 60 / sum(heights)),
        subplot_titles=titles,
    )
    fig.update_annotations(x=0, xanchor="left", font={"size": 13, "color": look.faint})
    fig.update_layout(margin={"t": theme.MODE_BAR + _TITLE})
    for k, (rows, own) in enumerate(panels, start=1):
        (_rows if rows else _bars)(fig, own.reset_index(drop=True), k, look)
    return fig


def _panels(frame: pd.DataFrame) -> list[tuple[bool, pd.DataFrame]]:
    """Whether it has rows, and its answers, of each panel in the order of the questions."""
    sizes = frame.groupby("line", sort=False)["name"].transform("size")
    few = frame[sizes <= FEW]
    found = [(int(own["line"].iloc[0]), True, own) for _, own in few.groupby("unit", sort=False)]
    found += [(int(line), False, own) for line, own in frame[sizes > FEW].groupby("line", sort=False)]
    return [(rows, own) for _, rows, own in sorted(found, key=lambda panel: panel[0])]


def _title(rows: bool, own: pd.DataFrame) -> str:
    """What the numbers of a panel count."""
    key = str(own["unit"].iloc[0])
    kind = "differences, " if key.startswith("difference of ") else ""
    unit = {"points": "% of people", "points of the group": "% of the group"}.get(key) or verdicts.unit_in_words(key)
    return theme.short(f"{kind}{unit}" if rows else f"{own['question'].iloc[0]} ({unit})", 2 * theme.ROW_LETTERS)


def _shades(own: pd.DataFrame, look: Theme) -> list[str]:
    """Noise is pale."""
    verdict = own["verdict"] if "verdict" in own else pd.Series([""] * len(own))
    return [look.faint if word == verdicts.NOISE else look.accent for word in verdict]


def _rows(fig: go.Figure, own: pd.DataFrame, panel: int, look: Theme) -> None:
    places, shades, said = np.arange(len(own)), _shades(own, look), _said(own)
    for place, shade, low, high in zip(places, shades, own["low"], own["high"], strict=True):
        line = {"color": shade, "width": 3}
        fig.add_scatter(x=[low, high], y=[place, place], mode="lines", line=line, hoverinfo="skip", row=panel, col=1)
    marks = {"size": 10, "color": shades}
    fig.add_scatter(
        x=own["answer"], y=places, mode="markers", marker=marks, customdata=said, hovertemplate=_HOVER, row=panel, col=1
    )
    if "true" in own:
        mark = {"symbol": "line-ns-open", "size": 16, "color": look.text, "line": {"width": 2}}
        fig.add_scatter(x=own["true"], y=places, mode="markers", marker=mark, hoverinfo="skip", row=panel, col=1)
    if str(own["unit"].iloc[0]).startswith("difference of "):
        fig.add_vline(0, line={"color": look.faint, "width": 1, "dash": "dash"}, row=panel, col=1)
    ends = own.reindex(columns=["low", "high", "answer", "true"]).stack().tolist()
    if ends:
        space = 0.06 * (max(ends) - min(ends) or 1.0)
        fig.update_xaxes(range=[min(ends) - space, max(ends) + space], row=panel, col=1)
    fig.update_yaxes(showticklabels=False, showgrid=False, range=[len(own) - 0.5, -0.8], row=panel, col=1)
    axis = next(fig.select_xaxes(row=panel, col=1)).plotly_name.replace("xaxis", "x")
    for place, name in zip(places, own["name"], strict=True):
        fig.add_annotation(
            text=theme.short(name, theme.ROW_LETTERS),
            x=0,
            xref=f"{axis} domain",
            xanchor="left",
            y=float(place) - theme.BAR / 2,
            yref=axis.replace("x", "y"),
            yanchor="bottom",
            showarrow=False,
            font={"size": 12, "color": look.text},
        )


def _bars(fig: go.Figure, own: pd.DataFrame, panel: int, look: Theme) -> None:
    places, shades = np.arange(1, len(own) + 1), _shades(own, look)
    fig.add_bar(
        x=places,
        y=own["answer"],
        marker={"color": [theme.faded(shade, 0.45) for shade in shades]},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": own["high"] - own["answer"].fillna(0.0),
            "arrayminus": own["answer"].fillna(0.0) - own["low"],
            "color": look.text,
            "thickness": 1.2,
            "width": 2 if len(own) <= 64 else 0,
        },
        customdata=_said(own),
        hovertemplate=_HOVER,
        row=panel,
        col=1,
    )
    if "true" in own:
        mark = {"symbol": "line-ew-open", "size": 9, "color": look.text, "line": {"width": 2}}
        fig.add_scatter(x=places, y=own["true"], mode="markers", marker=mark, hoverinfo="skip", row=panel, col=1)
    names = [theme.short(name, 14) for name in _apart(own["name"].tolist())]
    fit = max(2, theme.LETTERS // max(map(len, names)))
    shown = np.unique(np.linspace(0, len(own) - 1, min(6, fit)).astype(int))
    fig.update_xaxes(tickvals=places[shown], ticktext=[names[k] for k in shown], tickangle=0, row=panel, col=1)


def _apart(names: list[str]) -> list[str]:
    """The names without the words that all begin with."""
    words = [name.split(" ") for name in names]
    alike = takewhile(lambda own: len({*own}) == 1, zip(*words, strict=False))
    same = len(list(alike)) if len(words) > 1 else 0
    return [" ".join(own[min(same, len(own) - 1) :]) for own in words]


def table(cells: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """The answers to a question about two attributes as a heat map, and below it their standard errors where these are not written in the cells. What
    is not usable has its mark. ``cells``: of `ldp_core.workloads.AnswerTable.cells`."""
    rows, columns = (cells[side].cat.categories.tolist() for side in ("row", "column"))
    cells, shape = cells.sort_values(["row", "column"]), (len(rows), len(columns))
    unit, written = str(cells["unit"].iloc[0]), len(columns) <= WRITTEN
    texts = cells["verdict"].map(verdicts.MARKS).where(cells["verdict"] != verdicts.USABLE).fillna("")
    if written:
        answers, errors = (
            cells[column].map(lambda x: wording.significant(x) if x == x else "none")
            for column in ("answer", "standard_error")
        )
        texts = texts + " " + answers + "<br>± " + errors
    height = int(np.clip((44 if written else 22) * len(rows), 120, 900)) + _HEAD
    maps = ["answer"] if written else ["answer", "standard_error"]
    whole = len(maps) * height + 2 * _HEAD
    fig = theme.grid(look, len(maps), 1, whole, shared_xaxes=True, vertical_spacing=1.4 * _HEAD / whole)
    fig.update_layout(margin={"t": theme.MODE_BAR + _HEAD})
    for panel, (column, title) in enumerate(zip(maps, ("answers", "standard errors"), strict=False), start=1):
        values = cells[column].to_numpy().reshape(shape)
        low, high = np.nanmin(values, initial=0.0), np.nanmax(values, initial=0.0)
        if across_zero := column == "answer" and unit.startswith("difference of "):
            low, high = min(low, -high), max(high, -low)
        top = next(fig.select_yaxes(row=panel, col=1)).domain[1]
        above: dict[str, Any] = {"y": top, "yref": "paper", "yanchor": "bottom"}
        said = f"{title}, {verdicts.unit_in_words(unit)}"
        theme.note(fig, said, look.faint, x=0, xref="paper", xanchor="left", yshift=36, **above)
        theme.heat_map(
            fig,
            values,
            columns,
            f"{_HOVER.removesuffix('<extra></extra>')}, ± %{{customdata[4]:.3g}}<extra></extra>",
            y=theme.cell_names(rows),
            customdata=np.concatenate([_said(cells), cells[["standard_error"]]], axis=1).reshape(*shape, -1),
            text=texts.to_numpy().reshape(shape),
            texttemplate="%{text}" if column == "answer" and len(columns) <= MARKED else None,
            colorscale="PuOr" if across_zero else look.counts,
            zmin=low,
            zmax=high,
            colorbar=theme.colour_bar() | above,
            row=panel,
            col=1,
        )
    fig.update_yaxes(type="category", autorange="reversed", **theme.row_ticks(rows, 40))
    return fig


_HOVER = "%{customdata[0]}: %{customdata[1]:.4g}, 95 %: %{customdata[2]:.4g} to %{customdata[3]:.4g}<extra></extra>"


def _said(own: pd.DataFrame) -> np.ndarray:
    return np.stack([own["name"].map(theme.literal), own["answer"], own["low"], own["high"]], axis=-1)
