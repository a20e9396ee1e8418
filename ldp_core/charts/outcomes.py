"""Pictures of what collections would look like: distributions, a few releases, intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.simulation import ESTIMATOR_DASH, pair_names
from ldp_core.charts.theme import LIGHT, Theme

FEW = 64
"""Up to this many points are drawn one by one."""
MISSED = "#CC3311"
LETTERS = 36
"""Of tick labels, that fit beside each other in the narrowest chart."""
_SORTED = "queries, by their true answer"
_FAINT = "rgba(127,127,127,0.30)"


def quantile_errors(frame: pd.DataFrame, unit: str, look: Theme = LIGHT) -> go.Figure:
    """Value error and quantile error of each quantile side by side, with ± 2 standard errors.

    ``frame``: `Outcomes.quantiles`; ``unit`` of the values, such as "types".
    """
    fig = theme.grid(look, 2, 1, height=520, vertical_spacing=0.16)
    panels = {"value_error": (1, 1.0, theme.literal(unit)), "quantile_error": (2, 100.0, "pp")}
    for column, (place, scale, what) in panels.items():
        for index, ((mechanism, _), name, points) in enumerate(_pairs(frame)):
            fig.add_scatter(
                x=points["quantile"] + 0.012 * index,  # or the bars would hide each other
                y=scale * points[column],
                name=name,
                legendgroup=name,
                showlegend=place == 1,
                mode="lines+markers",
                line=_line(points, look),
                marker={"symbol": theme.marker(mechanism), "size": 8},
                error_y=theme.bars(
                    scale * points[column], scale * points[f"{column}_se"], theme.colour(mechanism, look)
                ),
                customdata=np.stack([points["quantile"], points["true_label"].map(theme.literal)], axis=-1),
                hovertemplate="quantile %{customdata[0]}, truly at %{customdata[1]}: off by %{y:.3g} "
                f"{what}<extra>{name}</extra>",
                row=place,
                col=1,
            )
        fig.update_yaxes(title_text=f"{column.replace('_', ' ')} ({what})", rangemode="tozero", row=place, col=1)
    fig.update_xaxes(tickvals=[0.1, 0.3, 0.5, 0.7, 0.9])
    fig.update_xaxes(title_text="quantile", row=2, col=1)
    return _named(fig, frame)


def distribution(frame: pd.DataFrame, what: str, look: Theme = LIGHT) -> go.Figure:
    """True and private cumulative shares of one mechanism and estimator, and where nine of ten collections lie.

    ``frame``: those rows of `Outcomes.curves`; ``what``: what the types are values of.
    """
    fig = theme.figure(look, theme.literal(what), "share of users up to here (%)", height=420)
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
    theme.name_ticks(fig, frame["type"], frame["label"], letters=LETTERS, tickangle=0)
    theme.show_legend(fig)
    return fig


def releases(frame: pd.DataFrame, in_order: bool = True, look: Theme = LIGHT, people: bool = True) -> go.Figure:
    """Small charts of what the published answers of one mechanism and estimator might look like, the truth faint behind.

    ``frame`` as of `ldp_core.studies.outcomes.releases`. If there are many queries without an order of
    their own (``in_order`` False), they are sorted by their true answers. ``people``: see
    `Outcomes`.
    """
    frame, sorted_ = _arranged(frame, in_order)
    numbers = list(dict.fromkeys(frame["release"]))
    fig = theme.grid(
        look, 1, len(numbers), height=265, shared_yaxes="all",
        horizontal_spacing=0.025, subplot_titles=[f"collection {k}" for k in numbers],
    )  # fmt: skip
    shade = theme.colour(frame["mechanism"].iloc[0], look)
    for place, number in enumerate(numbers, start=1):
        points = frame[frame["release"] == number]
        cell = {"row": 1, "col": place}
        x, named = points["place"], points["label"].map(theme.literal)
        _truth(fig, x, 100 * points["true"], named, place == 1, cell)
        mode = theme.query_mode(points["query"], FEW) if _rising(points["true"]) and not sorted_ else "markers"
        fig.add_scatter(
            x=x,
            y=100 * points["released"],
            mode=mode.replace("lines+markers", "lines"),
            name="published",
            legendgroup="published",
            showlegend=place == 1,
            line={"color": shade, "width": 2},
            marker={"color": shade, "size": 6 if len(points) <= FEW else 3},
            customdata=named,
            hovertemplate="%{customdata}: %{y:.2f} %<extra>published</extra>",
            **cell,
        )
    fig.update_xaxes(showticklabels=False, showgrid=False)
    fig.update_xaxes(title_text=_SORTED if sorted_ else "queries, in their order", row=1, col=(len(numbers) + 1) // 2)
    fig.update_yaxes(nticks=5)
    fig.update_yaxes(title_text=_answer(people), row=1, col=1)
    fig.update_annotations(font={"size": 12, "color": look.faint})
    fig.update_layout(margin={"t": theme.MODE_BAR + 20})  # for the title of the first row
    theme.show_legend(fig)
    return fig


def intervals(frame: pd.DataFrame, in_order: bool = True, look: Theme = LIGHT, people: bool = True) -> go.Figure:
    """Intervals of one collection by one mechanism and estimator, and the truth. ``frame``: those of `Outcomes.intervals`;
    ``in_order`` and ``people`` as in `releases`."""
    frame, sorted_ = _arranged(frame, in_order)
    fig = theme.figure(look, _SORTED if sorted_ else "query", _answer(people), height=420)
    few = len(frame) <= FEW
    for holds, name, shade in (
        (True, "interval holds the truth", look.faint),
        (False, "interval misses the truth", theme.readable(MISSED, look)),
    ):
        points = frame[frame["holds"] == holds]
        ends = [(100 * row.low, 100 * row.high) for row in points.itertuples()]
        fig.add_scatter(
            x=[x for place in points["place"] for x in (place, place, None)],
            y=[y for low, high in ends for y in (low, high, None)],
            name=name,
            mode="lines" if holds else "lines+markers",
            line={"color": shade, "width": 3 if few else 1.2},
            marker={"symbol": "line-ew-open", "size": 9 if few else 4, "color": shade, "line": {"width": 2}},
            hoverinfo="skip",
            showlegend=len(points) > 0,
        )
    fig.add_scatter(
        x=frame["place"],
        y=100 * frame["true"],
        name="true answer",
        mode="markers",
        marker={"color": look.text, "size": 7 if few else 3},
        customdata=np.stack(
            [frame["label"].map(theme.literal), 100 * frame["low"], 100 * frame["high"], frame["method"]], axis=-1
        ),
        hovertemplate="%{customdata[0]}: %{y:.2f} % (true), interval %{customdata[1]:.2f} to %{customdata[2]:.2f} % "
        "(%{customdata[3]})<extra></extra>",
    )
    if sorted_:
        fig.update_xaxes(showticklabels=False, showgrid=False)
    else:
        theme.name_ticks(fig, frame["place"], frame["label"], letters=LETTERS, tickangle=0)
    theme.show_legend(fig)
    fig.update_layout(legend_itemsizing="constant")
    return fig


def _answer(people: bool) -> str:
    """Title of an axis of answers: parities may be negative, and uploaded queries anything."""
    return "share of users (%)" if people else "answer (% of the number of users)"


def _arranged(frame: pd.DataFrame, in_order: bool) -> tuple[pd.DataFrame, bool]:
    """``frame`` with the ``place`` of each query on the x axis, and whether that is by true answer, not by number."""
    truth = frame.drop_duplicates("query").set_index("query")["true"]
    if in_order or len(truth) <= FEW:
        return frame.assign(place=frame["query"] + 1), False
    places = pd.Series(np.arange(1, len(truth) + 1), index=truth.sort_values(kind="stable").index)
    return frame.assign(place=frame["query"].map(places)).sort_values("place", kind="stable"), True


def _truth(fig: go.Figure, x: pd.Series, y: pd.Series, named: pd.Series, first: bool, cell: dict) -> None:
    """The true answers faint behind: bars where there are few, else the area under them."""
    common = {
        "x": x,
        "y": y,
        "name": "true",
        "legendgroup": "true",
        "showlegend": first,
        "customdata": named,
        "hovertemplate": "%{customdata}: %{y:.2f} %<extra>true</extra>",
    }
    if len(x) <= FEW:
        fig.add_bar(marker={"color": _FAINT, "line": {"width": 0}}, **common, **cell)
    else:
        line = {"width": 0, "shape": "hvh"}
        fig.add_scatter(fill="tozeroy", fillcolor=_FAINT, mode="lines", line=line, **common, **cell)


def _pairs(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str], str, pd.DataFrame]]:
    """(mechanism, estimator), name and rows of each pair, in order."""
    names = pair_names(frame)
    for pair, points in frame.groupby(["mechanism", "estimator"], sort=False):
        yield pair, names[pair], points


def _named(fig: go.Figure, frame: pd.DataFrame) -> go.Figure:
    if len(pair_names(frame)) > 1:
        theme.show_legend(fig)
    return fig


def _line(points: pd.DataFrame, look: Theme) -> dict:
    dash = ESTIMATOR_DASH.get(points["estimator"].iloc[0], "solid")
    return {"color": theme.colour(points["mechanism"].iloc[0], look), "width": 2, "dash": dash}


def _rising(values: pd.Series) -> bool:
    return bool(np.all(np.diff(values) >= 0))
