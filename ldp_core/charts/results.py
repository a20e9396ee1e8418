"""The result picture: each question with its answers and their intervals in its unit, groups side by side. The same picture shows how wide the
bars of a design will be, what one collection might give, and what came."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
"""The most columns whose cells have room for answers and errors, and for marks of verdicts."""
PROMISED = 1.96
"""Standard errors that hold 95 of 100 answers."""
GROUPS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colours of groups (Okabe and Ito)."""
_ONE_EACH = 12
"""Groups with one answer each that are better read one below the other."""
_HEAD = 54
_LETTERS = 44
"""Letters of a line of a heading that fit on a telephone."""
_LINE, _SPACE = 17, 8
_BARS, _ONE, _FOOT = 130, 26, 40
_SUFFIX = {"points": "\N{NO-BREAK SPACE}%", "points of the group": "\N{NO-BREAK SPACE}%"}
_SUFFIX |= {f"difference of {unit}": " points" for unit in _SUFFIX}


def promised(answers: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """What a design promises, for `result`: each answer as it is in the planning data, with 1.96 standard errors, and what bins add, to each side. ``answers`` as
    of `ldp_core.analysis.answers`, ``lines`` of `question_lines`."""
    centre, reach = answers["value"].fillna(0.0), PROMISED * answers["standard_error"] + answers["bins"]
    said = [verdicts.comes_to(line) for line in lines.to_dict("records")]
    ends = {"answer": answers["value"], "low": centre - reach, "high": centre + reach}
    return answers.assign(**ends, said=answers["line"].map(dict(enumerate(said))), planned=True)


def result(frame: pd.DataFrame, look: Theme = LIGHT, like: pd.DataFrame | None = None) -> go.Figure:
    """The picture of ``frame``: line, question, name, group, unit, answer, low, high of each answer, perhaps true, verdict, found, said
    (of the question, in words) and planned (not collected). Axes reach as far as those of a similar frame ``like``.

    Questions of up to `FEW` answers have a row an answer; others have bars, those of a group together. A row or bar that is noise is pale.
    """
    blocks = [answers.reset_index(drop=True) for _, answers in frame.groupby("line", sort=False)]
    names = [name for name in frame["group"].unique() if name]
    shades = {name: theme.readable(GROUPS[k % len(GROUPS)], look) for k, name in enumerate(names)}
    heads = [_head(answers) for answers in blocks]
    bodies = [
        _BARS if not _in_rows(answers) else _ONE if len(answers) == 1 else theme.ROW * len(answers)
        for answers in blocks
    ]
    heights = [
        _LINE * (head.count("<br>") + said.count("<br>") + 2) + _SPACE + body + _FOOT
        for (head, said), body in zip(heads, bodies, strict=True)
    ]
    whole = sum(heights)
    fig = theme.grid(look, len(blocks), 1, whole + theme.MODE_BAR + 10)
    top = whole
    left = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "yanchor": "top", "align": "left"}
    for k, (answers, (head, said), body, height) in enumerate(
        zip(blocks, heads, bodies, heights, strict=True), start=1
    ):
        theme.note(fig, head, look.text, None, 13, y=top / whole, **left)
        fig.layout.annotations[-1].font.weight = "bold"
        below = _LINE * (head.count("<br>") + 1)
        theme.note(fig, said, look.text, None, 13, y=(top - below) / whole, **left)
        top -= height
        fig.update_yaxes(domain=[(top + _FOOT) / whole, (top + _FOOT + body) / whole], row=k, col=1)
        fig.update_xaxes(domain=[0, 1], row=k, col=1)
        (_rows if _in_rows(answers) else _bars)(fig, answers, k, look, shades)
        _reach(fig, answers, k, frame, like)
    return fig


def _in_rows(answers: pd.DataFrame) -> bool:
    """Where names have no room side by side on a telephone they stand one below the other."""
    return len(answers) <= FEW or (
        len(answers) <= _ONE_EACH
        and (
            answers["group"].is_unique
            or (
                answers["group"].nunique() == 1
                and sum(map(len, _apart(answers["name"].tolist()))) + len(answers) > theme.LETTERS
            )
        )
    )


def _head(answers: pd.DataFrame) -> tuple[str, str]:
    """The question, and what it comes to."""
    said = answers["said"].iloc[0] if "said" in answers else verdicts.result_in_words(answers)
    question, comes_to = (theme.wrapped(theme.literal(text), _LETTERS) for text in (answers["question"].iloc[0], said))
    return question, comes_to


def _colours(answers: pd.DataFrame, look: Theme, shades: dict[str, str], strong: float) -> tuple[list[str], list[str]]:
    """The colours of marks, and of the bars behind them."""
    plain = look.text if str(answers["unit"].iloc[0]).startswith("difference of ") else look.accent
    found = [shades.get(group, plain) for group in answers["group"]]
    noise = answers["verdict"] == verdicts.NOISE if "verdict" in answers else [False] * len(answers)
    return found, [theme.faded(shade, strong / 2 if pale else strong) for shade, pale in zip(found, noise, strict=True)]


def _rows(fig: go.Figure, answers: pd.DataFrame, panel: int, look: Theme, shades: dict[str, str]) -> None:
    places, (marks, behind) = np.arange(len(answers)), _colours(answers, look, shades, 0.4)
    about: dict[str, Any] = {"row": panel, "col": 1}
    fig.add_bar(
        orientation="h",
        base=answers["low"],
        x=answers["high"] - answers["low"],
        y=places,
        width=0.24 if len(answers) > 1 else 0.4,
        marker={"color": behind, "cornerradius": 4},
        hoverinfo="skip",
        **about,
    )
    symbol = "circle-open" if "planned" in answers else "circle"
    mark: dict[str, Any] = {"size": 10, "color": marks, "symbol": symbol, "line": {"width": 2}}
    hover = {"customdata": _said(answers), "hovertemplate": _HOVER}
    fig.add_scatter(x=answers["answer"], y=places, mode="markers", marker=mark, **hover, **about)
    if "true" in answers:
        mark = {"symbol": "line-ns-open", "size": 16, "color": look.text, "line": {"width": 2}}
        fig.add_scatter(x=answers["true"], y=places, mode="markers", marker=mark, hoverinfo="skip", **about)
    if str(answers["unit"].iloc[0]).startswith("difference of "):
        fig.add_vline(0, line={"color": look.faint, "width": 1, "dash": "dash"}, **about)
    many = len(answers) > 1
    fig.update_yaxes(showticklabels=False, showgrid=False, range=[len(answers) - 0.5, -0.8 if many else -0.5], **about)
    if many:
        axis = next(fig.select_xaxes(**about)).plotly_name.replace("xaxis", "x")
        labels = answers["group"] if answers["group"].is_unique else _apart(answers["name"].tolist())
        over: dict[str, Any] = {"xref": f"{axis} domain", "yref": axis.replace("x", "y"), "yanchor": "bottom"}
        for place, name, answer in zip(places, labels, answers["answer"], strict=True):
            y = float(place) - 0.14
            theme.note(fig, theme.short(name, theme.ROW_LETTERS - 12), look.text, x=0, xanchor="left", y=y, **over)
            value = verdicts.value_in_words(answer, str(answers["unit"].iloc[0])) if answer == answer else "unknown"
            theme.note(fig, theme.literal(value), look.text, x=1, xanchor="right", y=y, **over)


def _bars(fig: go.Figure, answers: pd.DataFrame, panel: int, look: Theme, shades: dict[str, str]) -> None:
    marks, behind = _colours(answers, look, shades, 0.3 if "planned" in answers else 0.6)
    groups = answers.groupby("group", sort=False).indices
    places = np.zeros(len(answers))
    begin, ticks = 0.0, {}
    for group, here in groups.items():
        names = [theme.short(name, 14) for name in _apart(answers["name"].iloc[here].tolist())]
        places[here] = begin + np.arange(len(here))
        if group:
            ticks[begin + (len(here) - 1) / 2] = _group_tick(str(group), names, theme.LETTERS // len(groups))
        else:
            fit = max(2, theme.LETTERS // max(map(len, names)))
            shown = np.unique(np.linspace(0, len(here) - 1, min(6, fit)).astype(int))
            ticks |= {begin + k: names[k] for k in shown}
        begin += len(here) + 1.5
    about: dict[str, Any] = {"row": panel, "col": 1}
    fig.add_bar(
        x=places,
        y=answers["answer"],
        marker={
            "color": behind,
            "line": {"color": marks, "width": 1 if "planned" in answers and len(answers) <= 64 else 0},
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": answers["high"] - answers["answer"].fillna(0.0),
            "arrayminus": answers["answer"].fillna(0.0) - answers["low"],
            "color": look.text,
            "thickness": 1.2,
            "width": 2 if len(answers) <= 64 else 0,
        },
        customdata=_said(answers),
        hovertemplate=_HOVER,
        **about,
    )
    if "true" in answers:
        mark = {"symbol": "line-ew-open", "size": 7, "color": look.text, "line": {"width": 2}}
        fig.add_scatter(x=places, y=answers["true"], mode="markers", marker=mark, hoverinfo="skip", **about)
    axis = {"tickvals": list(ticks), "ticktext": list(ticks.values()), "tickangle": 0, "showgrid": False}
    fig.update_xaxes(range=[-1 - 0.15 * begin, begin - 1.5], **axis, **about)  # beside the bars stand the numbers
    fig.update_yaxes(ticklabelposition="inside top", tickfont={"color": look.text}, **about)


def _group_tick(group: str, names: Sequence[str], room: int) -> str:
    """The name of a group, and the first and last of its answers where there is room for them."""
    ends = f"{names[0]} … {names[-1]}"
    return theme.short(group, max(4, room)) + (f"<br>{ends}" if len(ends) <= room else "")


def _reach(fig: go.Figure, answers: pd.DataFrame, panel: int, frame: pd.DataFrame, like: pd.DataFrame | None) -> None:
    """How far the axis of answers reaches: rows of one unit alike, and some way beyond all intervals."""
    rows, unit = _in_rows(answers), str(answers["unit"].iloc[0])
    ends, beyond, suffix = [], 1 / 2 if rows else 1 / 8, _SUFFIX.get(unit, "")
    for shown in (frame, like):
        if shown is not None:
            near = shown[shown["unit"] == unit] if rows else shown[shown["line"] == answers["line"].iloc[0]]
            near = near[near.groupby("line")["line"].transform("size") <= _ONE_EACH] if rows else near
            half = beyond * (near["high"] - near["low"])
            ends += [*(near["low"] - half), *(near["high"] + half)]
            ends += near.reindex(columns=["answer", "true"]).stack().tolist()
    ends = [end for end in ends if end == end] or [0.0, 1.0]
    if rows:
        fig.update_xaxes(
            range=[min(ends), max(ends)],
            nticks=6,
            ticksuffix=suffix,
            showticksuffix="last" if unit.startswith("difference of ") else "all",
            row=panel,
            col=1,
        )
    else:
        low, high = min(0.0, *ends), max(ends)
        room = high + (high - low) / 5  # the uppermost number stands above its line
        ticks = {tick: f"{tick:g}{suffix}".replace("-", "\N{MINUS SIGN}") for tick in _ticks(low, high)}
        fig.update_yaxes(
            range=[low, room],
            tickvals=list(ticks),
            ticktext=list(ticks.values()) if suffix else None,
            row=panel,
            col=1,
        )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``, three to six of them."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / 2))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (times * step) < 6)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def _apart(names: Sequence[str]) -> list[str]:
    """The names without the words that all begin or end with."""
    split = [name.split(" ") for name in names]
    if len(split) < 2:
        return list(names)
    before, after = _alike(split), _alike([words[::-1] for words in split])
    cut = (words[min(before, len(words) - 1) : max(len(words) - after, before + 1)] for words in split)
    return [" ".join(words).rstrip(",") for words in cut]


def _alike(split: Sequence[Sequence[str]]) -> int:
    """How many words all names begin with."""
    return len(list(takewhile(lambda words: len({*words}) == 1, zip(*split, strict=False))))


def difference_over_users(curve: pd.DataFrame, users: int, look: Theme = LIGHT) -> go.Figure:
    """The least difference that is found over the number of people, on log axes, a panel a unit, with marks at ``users`` and four times as many.
    ``curve``: that of `ldp_core.designs.detecting.Detection`."""
    units = curve["unit"].unique()
    fig = theme.grid(look, len(units), 1, 60 + 260 * len(units), vertical_spacing=0.3 / len(units))
    for k, unit in enumerate(units, start=1):
        points, about = curve[curve["unit"] == unit], {"row": k, "col": 1}
        hover = f"%{{x:,.0f}} people find %{{y:.3g}} {theme.literal(verdicts.unit_in_words(unit))}<extra></extra>"
        line = {"color": look.accent, "width": 2}
        fig.add_scatter(
            x=points["users"], y=points["difference"], mode="lines", line=line, hovertemplate=hover, **about
        )
        marks = points[points["users"].isin([users, 4 * users])]
        fig.add_scatter(
            x=marks["users"],
            y=marks["difference"],
            mode="markers+text",
            text=[
                f"{wording.count(x)} people: {wording.significant(y)}"
                for x, y in zip(marks["users"], marks["difference"], strict=True)
            ],
            textposition="top right",
            marker={"size": 10, "color": look.accent},
            hoverinfo="skip",
            **about,
        )
        fig.update_xaxes(
            **theme.log_axis(points["users"].min(), points["users"].max(), most=4),
            title_text="people (log scale)",
            **about,
        )
        title = theme.short(f"least difference, {verdicts.unit_in_words(unit)}", theme.TITLE_LENGTH)
        fig.update_yaxes(
            **theme.log_axis(points["difference"].min(), points["difference"].max(), most=5), title_text=title, **about
        )
    return fig


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


def _said(answers: pd.DataFrame) -> np.ndarray:
    return np.stack([answers["name"].map(theme.literal), answers["answer"], answers["low"], answers["high"]], axis=-1)
