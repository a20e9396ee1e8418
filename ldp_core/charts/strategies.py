"""The picture of a strategy: which types share a report, and how often each report is sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from scipy.cluster import hierarchy
from scipy.sparse.linalg import svds

from ldp_core.charts.labels import label_ticks
from ldp_core.charts.theme import LIGHT, Theme, figure, literal
from ldp_core.pictures import binned

SLICES = 256
"""Most rows drawn, and most types drawn one by one."""
ORDERED_FINELY = 3
"""Fewer reports than this need no order."""


def patterns(
    strategy: np.ndarray,
    labels: Sequence[str],
    look: Theme = LIGHT,
    shade: str | None = None,
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
    fig = figure(look, "type of person", vertical, height)
    single = n <= SLICES
    strength = level[order]
    cells = np.round(binned(strength, SLICES), 3)
    fig.add_heatmap(
        x=[literal(label) for label in labels] if single else (np.arange(SLICES) + 0.5) * n / SLICES - 0.5,
        y=edges,
        z=cells,
        zmin=0,
        zmax=1,
        colorscale=[[0, "rgba(127,127,127,0.10)"], [1, shade or look.accent]],
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
    fig.update_xaxes(**label_ticks(labels))
    if compact:
        fig.update_xaxes(showticklabels=False)
        fig.update_layout(margin={"t": 10})
    return fig


def _levels(strategy: np.ndarray) -> np.ndarray:
    """(m, n) 0 for the types least likely to send a report, 1 for the likeliest, by the logarithm of the odds."""
    low = strategy.min(axis=1, keepdims=True)
    tiny = np.finfo(float).tiny
    odds = np.log(np.maximum(strategy, tiny) / np.maximum(low, tiny))
    return odds / np.maximum(odds.max(axis=1, keepdims=True), 1e-12)


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
