"""Pictures of the queries: their matrix, how hard they are, and which of them make up the error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.pictures import binned
from ldp_core.workloads import Workload
from ldp_core.workloads.shown import spread

ENTRIES = 2**25
"""A picture is made of at most this many entries of the workload: with millions of types it has fewer rows."""
AT_ONCE = 2**22
NAMED_ROWS = 24
NAMED_ROW = 18
"""Pixels of a row with a name beside it."""
GROUP_NAMES = 18
"""Most groups named beside the picture."""
NEGATIVE = theme.colour("optimized")
EMPTY = "rgba(127,127,127,0.08)"
BANDS = [theme.colour(name) for name in ("subset_selection", "haar", "hadamard", "hierarchical", "randomized_response")]


def workload_matrix(
    workload: Workload,
    labels: Sequence[str] | None,
    look: Theme = LIGHT,
    groups: Sequence[tuple[str, int]] | None = None,
) -> go.Figure:
    """The query matrix with its weights: one row per query, coloured where the query counts a type.

    More than `PIXELS` queries are thinned evenly, within ``groups`` (name and number of queries of each, in order) such
    that each keeps as many rows as it can; more types than that are averaged. ``labels`` name the types (None: there are too many).
    ValueError for groups that are not all queries.
    """
    groups = [group for group in groups or () if group[1]]
    if groups and sum(size for _, size in groups) != workload.num_queries:
        raise ValueError(
            f"The groups have {sum(size for _, size in groups):,} queries, the workload {workload.num_queries:,}."
        )
    most = int(np.clip(ENTRIES // workload.n, 8, theme.PIXELS))
    shown, ends = spread([size for _, size in groups] or [workload.num_queries], most)
    z, low, high, plain = _entries(workload, shown)
    thinned = len(shown) < workload.num_queries
    title = f"answer ({len(shown):,} of {workload.num_queries:,} drawn)" if thinned else "answer"
    fig = theme.figure(
        look,
        "type of person",
        title,
        height=max(420, 80 + NAMED_ROW * min(len(shown), NAMED_ROWS)) + (0 if plain else theme.COLOUR_BAR),
    )
    names = [workload.query_name(int(query), labels) for query in shown]
    types = type_names(workload.n, labels)
    theme.heat_map(
        fig,
        z,
        types,
        f"%{{y}}<br>%{{x}}: {'weight' if workload.n <= theme.PIXELS else 'average weight'} %{{z:.4~g}}<extra></extra>",
        28,
        y=theme.cell_names(names),
        colorscale=signed_scale(low, look),
        zmin=-max(high, -low) if low < 0 else 0,
        zmax=max(high, -low),
        showscale=not plain,
        colorbar=theme.colour_bar("weight"),
    )
    fig.update_yaxes(type="category", autorange="reversed", showticklabels=False, ticks="")
    if len(ends) > 1:
        _mark_groups(fig, [f"{theme.short(name)} ({size:,})" for name, size in groups], ends, look)
    elif len(shown) <= NAMED_ROWS:
        fig.update_yaxes(showticklabels=True, **theme.row_ticks(names, NAMED_ROWS))
    return fig


def _entries(workload: Workload, shown: np.ndarray) -> tuple[np.ndarray, float, float, bool]:
    """(rows, at most `PIXELS`) float32 cells, lowest and highest entry, and whether all are 0 or 1."""
    pieces, low, high, plain = [], 0.0, 0.0, True
    for some in np.array_split(shown, min(len(shown), -(-len(shown) * workload.n // AT_ONCE))):
        rows = np.clip(workload.rows(some), -1e38, 1e38)  # where float32 ends
        pieces.append(binned(rows, theme.PIXELS))
        low, high = min(low, float(rows.min())), max(high, float(rows.max()))
        plain = plain and bool(((rows == 0) | (rows == 1)).all())
    return np.concatenate(pieces), low, high, plain


def type_names(n: int, labels: Sequence[str] | None) -> list[str]:
    """Names of the types, or of the cells that `binned` averages them to."""
    edges = np.linspace(0, n, min(n, theme.PIXELS) + 1).astype(int)
    pairs = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True)
    if labels is None:
        return [f"type {a + 1:,}" if a == b else f"types {a + 1:,} to {b + 1:,}" for a, b in pairs]
    return [labels[a] if a == b else f"{labels[a]} to {labels[b]}" for a, b in pairs]


def signed_scale(low: float, look: Theme) -> list[tuple[float, str]]:
    """Colours from nothing, which is grey, with a step to the smallest weights so that these are seen."""
    up = [(0.0, EMPTY), (1e-6, theme.faded(look.accent)), (1.0, look.accent)]
    if low >= 0:
        return up
    down = [(0.0, NEGATIVE), (0.5 - 1e-6, theme.faded(NEGATIVE))]
    return down + [(0.5 + place / 2, colour) for place, colour in up]


def _mark_groups(fig: go.Figure, names: Sequence[str], ends: np.ndarray, look: Theme) -> None:
    """A coloured band beside the rows of each group, a line between groups, and the names of the largest."""
    starts = np.concatenate([[0], ends[:-1]])
    edges = starts - 0.5
    band = {"type": "rect", "xref": "paper", "x0": -0.014, "x1": -0.004, "line": {"width": 0}}
    line = {"type": "line", "xref": "paper", "x0": -0.014, "x1": 1, "line": {"color": look.faint, "width": 1}}
    bands = [
        {**band, "y0": start, "y1": end, "fillcolor": BANDS[i % len(BANDS)]}
        for i, (start, end) in enumerate(zip(edges, ends - 0.5, strict=True))
    ]
    fig.update_layout(shapes=[*bands, *({**line, "y0": edge, "y1": edge} for edge in edges[1:])])
    named = np.sort(np.argsort(starts - ends, kind="stable")[:GROUP_NAMES])
    middles = ((starts + ends - 1) / 2)[named]
    fig.update_yaxes(
        showticklabels=True,
        tickvals=_apart(middles, ends[-1] / GROUP_NAMES, ends[-1] - 1) + theme.BESIDE,
        ticktext=[names[i] for i in named],
        ticks="outside",
        ticklen=14,
        tickcolor="rgba(0,0,0,0)",
    )


def _apart(places: np.ndarray, gap: float, last: float) -> np.ndarray:
    """Increasing ``places`` moved as little as it takes to be ``gap`` apart and end by ``last``."""
    steps = gap * np.arange(len(places))
    down = np.maximum.accumulate(places - steps) + steps
    return np.minimum(down, last - steps[::-1])


def singular_values(workload: Workload, look: Theme = LIGHT) -> go.Figure:
    """The workload's singular values, largest first: a long flat tail is a hard workload."""
    values = workload.singular_values()
    fig = theme.figure(look, "rank of the singular value", "singular value", height=300)
    fig.add_scatter(
        x=np.arange(1, len(values) + 1),
        y=values,
        mode="lines+markers" if len(values) <= 64 else "lines",
        line={"color": look.accent},
        hovertemplate="number %{x}: %{y:.4g}<extra></extra>",
    )
    fig.update_yaxes(rangemode="tozero")
    return fig
