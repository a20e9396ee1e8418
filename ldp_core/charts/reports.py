"""What reports say: the patterns of a strategy, tables of bits and numbers, and for a survey what is asked together, whom it
asks about which columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.cluster import hierarchy
from scipy.sparse.linalg import svds

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.queries import signed_scale, type_names
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.limits import MOST_DRAWN_SETS, MOST_DRAWN_SIDE
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.pictures import binned
from ldp_core.workloads import Survey

SLICES = 256
"""Most rows drawn, and most types drawn one by one."""
ORDERED_FINELY = 3
"""Fewer reports than this need no order."""


def patterns(
    strategy: np.ndarray,
    labels: Sequence[str],
    look: Theme = LIGHT,
    of: str | None = None,
    prior: np.ndarray | None = None,
    compact: bool = False,
) -> go.Figure:
    """A strategy (m, n), one band per report: filled where a type sends it more often, taller the more common it is.

    Bands are ordered so that like ones are neighbours. The best strategies have two-valued rows (a group of types, everyone
    else); others shade in between, on the scale of the logarithm. More than `SLICES` reports are drawn as that many slices of
    equal probability; where ``strategy`` holds some of the reports only, heights are shares of these. ``prior`` (n,) weights the types in what is common (None: evenly). ``compact`` is for several side by side.
    """
    m, n = strategy.shape
    shares = strategy @ (np.full(n, 1 / n) if prior is None else prior)
    level = _levels(strategy)
    order = _by_main_direction(level, shares)
    if m > SLICES:
        ends = np.cumsum(shares[order])
        middles = (np.arange(SLICES) + 0.5) / SLICES * ends[-1]
        order = order[np.minimum(np.searchsorted(ends, middles), m - 1)]
        heights = np.full(SLICES, 1 / SLICES)
    order = order[_by_likeness(level[order])]
    if m <= SLICES:
        heights = shares[order] / shares.sum()
    edges = 100 * np.concatenate([[0.0], np.cumsum(heights)])

    vertical, height = ("share of reports", 260) if compact else ("reports, by how common they are (%)", 460)
    fig = theme.figure(look, "type of person", vertical, height)
    single = n <= SLICES
    strength = level[order]
    cells = np.round(binned(strength, SLICES), 3)
    fig.add_heatmap(
        x=[theme.literal(label) for label in labels] if single else (np.arange(SLICES) + 0.5) * n / SLICES - 0.5,
        y=edges,
        z=cells,
        zmin=0,
        zmax=1,
        colorscale=theme.from_nothing(of, look),
        showscale=False,
        customdata=_hover_numbers(strategy[order], strength) if single else np.round(100 * cells),
        hovertemplate=(
            "%{x} sends this report with probability %{customdata[0]:.3g}<br>%{customdata[1]:.0f} of "
            f"{n:,} types do so about as often; everyone else with %{{customdata[2]:.3g}}<extra></extra>"
        )
        if single
        else "%{customdata:.0f} % of these types are in the group<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" %")
    fig.update_xaxes(showgrid=False, type="category" if single else "linear")
    fig.update_xaxes(**theme.label_ticks(labels))
    if compact:
        fig.update_xaxes(showticklabels=False)
        fig.update_layout(margin={"t": 10})
    return fig


def _levels(strategy: np.ndarray) -> np.ndarray:
    """(m, n) 0 for the types least likely to send a report, and those that never do, 1 for the likeliest, by the logarithm of the odds."""
    some = strategy > 0
    low = np.where(some, strategy, 1.0).min(axis=1, keepdims=True)
    odds = np.log(np.where(some, strategy, low) / low)
    most = odds.max(axis=1, keepdims=True)
    return np.where(most > 1e-12, odds / np.maximum(most, 1e-12), some & ~some.all(axis=1, keepdims=True))


def _by_main_direction(level: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The order (m,) along the direction of largest difference between the rows: a first order, for
    any number of rows."""
    if min(level.shape) < ORDERED_FINELY:
        return np.arange(len(level))
    weights = np.sqrt(shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares)))
    centred = (level - (weights**2) @ level) * weights[:, None]
    if not centred.any():
        return np.arange(len(level))
    direction = svds(centred, k=1, random_state=0)[2][0]
    direction = direction * np.sign(direction @ np.arange(len(direction)) or 1.0)
    return np.argsort(level @ direction, kind="stable")


def _by_likeness(level: np.ndarray) -> np.ndarray:
    """Order of at most `SLICES` rows that puts like rows next to each other: leaves of a tree of clusters."""
    centre = level @ np.arange(level.shape[1]) / np.maximum(level.sum(axis=1), 1e-12)
    order = np.argsort(centre, kind="stable")
    if len(level) < ORDERED_FINELY:
        return order
    tree = hierarchy.linkage(level[order], "average", metric="cityblock", optimal_ordering=True)
    if np.ptp(tree[:, 2]) <= 1e-9 * tree[-1, 2]:  # all equally unlike, as in randomized response: positions decide
        return order
    leaves = order[hierarchy.leaves_list(tree)]
    tenth = max(1, len(leaves) // 10)
    return leaves if centre[leaves[:tenth]].mean() <= centre[leaves[-tenth:]].mean() else leaves[::-1]


def _hover_numbers(strategy: np.ndarray, level: np.ndarray) -> np.ndarray:
    """(rows, n, 3): the probability, how many types are in the group, and the probability outside the group."""
    group = level > 0.5
    inside = group.sum(axis=1, keepdims=True)
    outside = np.where(group, 0, strategy).sum(axis=1, keepdims=True) / np.maximum(group.shape[1] - inside, 1)
    return np.stack(np.broadcast_arrays(strategy, inside, outside), axis=2).astype(np.float32)


ROW_TITLES = {"bits": "bit of a report", "numbers": "number in a report"}
CELL_TITLES = {"bits": "probability", "numbers": "mean"}


def report_table(
    table: ReportTable,
    labels: Sequence[str],
    look: Theme = LIGHT,
    of: str | None = None,
    prior: np.ndarray | None = None,
    compact: bool = False,
) -> go.Figure:
    """The picture of a mechanism's `ReportTable`: `patterns` of possible reports, otherwise a heat map of its rows.

    ``labels`` name the types, ``of`` names the mechanism whose colour they have, ``prior`` (n,) weights the types in what is common, and
    ``compact`` is for several side by side. At most `PIXELS` cells along each side are drawn, each the mean of what it
    stands for.
    """
    if table.kind == "reports":
        return patterns(table.entries, labels, look, of, prior, compact)
    cells = binned(table.entries, theme.PIXELS)
    low, high = float(cells.min()), float(cells.max())
    height = (320 if compact else 460) + theme.COLOUR_BAR
    fig = theme.figure(look, "type of person", ROW_TITLES[table.kind], height)
    names = type_names(table.entries.shape[1], labels)
    if table.kind == "numbers":
        reach = max(high, -low)
        colours = {"colorscale": signed_scale(low, look), "zmin": -reach if low < 0 else 0, "zmax": reach}
    else:  # from the chance for other types to that for the own type: near one another at a small epsilon
        colours = {"colorscale": theme.from_nothing(of, look), "zmin": low, "zmax": high}
    what, rows = CELL_TITLES[table.kind], np.linspace(0, len(table.entries), len(cells) + 1).astype(int)
    middles = (rows[:-1] + rows[1:] + 1) / 2  # from 1, of the rows that a cell stands for
    hover = f"row %{{y}}<br>%{{x}}: {what} %{{z:.4~g}}<extra></extra>"
    theme.heat_map(fig, cells, names, hover, y=middles, colorbar=theme.colour_bar(what), **colours)
    fig.update_yaxes(autorange="reversed")
    return fig


def asked_together(survey: Survey, look: Theme = LIGHT) -> go.Figure:
    """How many queries are about each attribute (on the diagonal) and about each two of them, alone or among others."""
    d = len(survey.shape)
    questions = np.zeros((d, d))
    for group in survey.groups:
        places = np.array(group.attributes)
        questions[np.ix_(places, places)] += group.base.num_queries
    names = [f"x{i + 1}" for i in range(d)] if survey.axes is None else [axis.name for axis in survey.axes]
    shown = theme.cell_names(names)
    decades = np.arange(int(np.ceil(np.log10(questions.max()))) + 1)
    fig = theme.figure(look, "", "", height=int(np.clip(180 + 22 * d, 320, 700)))
    theme.heat_map(
        fig,
        np.log10(
            np.where(questions > 0, questions, np.nan)
        ),  # a column is in many pairs: else only the diagonal would be seen
        names,
        "%{text}<extra></extra>",
        y=shown,
        text=[[_about(a, b, questions[i, j]) for j, b in enumerate(shown)] for i, a in enumerate(shown)],
        xgap=1,
        ygap=1,
        zmin=0,
        zmax=max(decades[-1], 1),
        colorscale=look.counts,
        colorbar={
            "title": {"text": "answers (log scale)", "side": "right"},
            "thickness": 14,
            "outlinewidth": 0,
            "tickvals": decades,
            "ticktext": [f"{10**decade:,}" for decade in decades.tolist()],
        },
    )
    fig.update_yaxes(type="category", autorange="reversed", **theme.row_ticks(names, 30))
    return fig


def _about(first: str, second: str, queries: float) -> str:
    both = first if first == second else f"{first} and {second}"
    return f"{both}: {queries:,.0f} answer{'' if queries == 1 else 's'}"


def attribute_sets(frame: pd.DataFrame, look: Theme = LIGHT) -> go.Figure:
    """The sets of attributes on which reports best spend most of their information. ``frame``: see `frames.attribute_sets`."""
    contrasts = [f"{wording.magnitude(d)} independent contrast{'s' if d > 1 else ''}" for d in frame["dimension"]]
    said = [
        f"{wording.share(share)} of the information<br>{more}"
        for share, more in zip(frame["share"], contrasts, strict=True)
    ]
    return _by_set(frame["attributes"], frame["share"], said, "information, at best (%)", look)


def people_by_design(frame: pd.DataFrame, look: Theme = LIGHT, of: str | None = None) -> go.Figure:
    """The share of people who take part in each design. ``frame``: see `frames.people_by_design`."""
    said = [
        f"{wording.share(row.share)} of people, {row.reports:,} "
        f"{'patterns' if pd.isna(row.cells) else f'reports, for {row.cells:,} types'}"
        for row in frame.itertuples(index=False)
    ]
    return _by_set(frame["columns"], frame["share"], said, "share of people (%)", look, of, len(frame))


def column_sets(frame: pd.DataFrame, look: Theme = LIGHT, of: str | None = None) -> go.Figure:
    """The share of people who report about each set of columns. ``frame``: see `frames.column_sets`."""
    said = [
        f"{wording.share(row.share)} of people, {row.patterns:,} pattern{'s' if row.patterns > 1 else ''} of {row.cells:,} cells"
        for row in frame.itertuples(index=False)
    ]
    return _by_set(frame["columns"], frame["share"], said, "share of people (%)", look, of)


def _by_set(
    names: pd.Series,
    shares: pd.Series,
    said: list[str],
    title: str,
    look: Theme,
    of: str | None = None,
    most: int = MOST_DRAWN_SETS,
) -> go.Figure:
    """A bar for each of the first ``most`` sets of columns, in their order from the top, with its share beside it and what is ``said``."""
    names, shares = names[:most], shares[:most]
    fig = theme.figure(look, title, "", height=100 + theme.ROW * len(names))
    fig.add_bar(
        x=100 * shares,
        y=np.arange(len(names)),
        orientation="h",
        width=theme.BAR,
        marker_color=theme.from_nothing(of, look)[1][1],
        marker_line_width=0,
        text=[wording.share(share) for share in shares],
        textposition="outside",
        cliponaxis=False,
        hovertext=[f"{theme.short(name, 200)}<br>{words}" for name, words in zip(names, said, strict=False)],
        hoverinfo="text",
    )
    theme.name_rows(fig, [theme.short(name, theme.ROW_LETTERS) for name in names], look)
    longest = 100 * float(shares.max()) if len(shares) else 0.0
    fig.update_xaxes(range=[0, 1.2 * longest or 1.0])  # room for the label of the longest bar
    return fig


DRAWN_PATTERNS = 6
PATTERNS_ABREAST = 2


def scrambled(
    mechanism: ScrambledPatterns,
    names: Sequence[str],
    look: Theme = LIGHT,
    of: str | None = None,
    part: float = 1.0,
) -> go.Figure:
    """The patterns that most people send, as small pictures of their cells before the values are shuffled: the first column down, the
    others across. ``names`` of the columns; ``part`` of all people send patterns."""
    chosen = drawn_patterns(mechanism)
    titles = [
        f"{theme.short(' x '.join(names[i] for i in mechanism.patterns[k].attributes), 24)}<br>"
        f"{wording.share(part * float(mechanism.shares[k]))} of people<br>"
        f"{np.count_nonzero(mechanism.patterns[k].cells):,} of {mechanism.patterns[k].cells.size:,} cells"
        for k in chosen
    ]
    across = min(PATTERNS_ABREAST, len(chosen))
    down = math.ceil(len(chosen) / across)
    top = theme.MODE_BAR + 17 * 3  # the lines of the titles in the first row
    spacing = {"vertical_spacing": 0.28 / down, "horizontal_spacing": 0.06}
    fig = theme.grid(look, down, across, top + 10 + 210 * down, subplot_titles=titles, **spacing)
    for place, k in enumerate(chosen):
        table = mechanism.patterns[k].cells
        flat = table.reshape(1, -1) if table.ndim == 1 else table.reshape(len(table), -1)
        fig.add_heatmap(
            z=flat.astype(np.float32)[:MOST_DRAWN_SIDE, :MOST_DRAWN_SIDE],
            zmin=0,
            zmax=1,
            colorscale=theme.from_nothing(of, look),
            showscale=False,
            hoverinfo="skip",
            xgap=1 if flat.shape[1] <= 64 else 0,
            ygap=1,
            row=place // across + 1,
            col=place % across + 1,
        )
    fig.update_xaxes(showticklabels=False, showgrid=False)
    fig.update_yaxes(showticklabels=False, showgrid=False, autorange="reversed")
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
