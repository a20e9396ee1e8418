"""Pictures of the people that go in: by one attribute, and by two."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ldp_core import wording
from ldp_core.charts import theme
from ldp_core.charts.theme import LIGHT, Theme
from ldp_core.data.domain import Attribute, Domain
from ldp_core.limits import MOST_BARS
from ldp_core.people import Counts, people_of

SIDE = 200
"""Most cells along a side of a joint picture: each has its colour and a text."""
LOG_FROM = 300
"""Counts are coloured by their logarithm where the largest is more than this many times the smallest."""
HOVER_LENGTH = 60
"""Most letters of a label in a hover; a chart may have 2,048 labels."""


def marginal(attribute: Attribute, counts: np.ndarray, look: Theme = LIGHT) -> go.Figure:
    """Users per type of an attribute, ``counts`` (attribute.size,), as bars from zero; adjacent types share a bar where
    there are more than `MOST_BARS`. Grey bars beyond a gap are types without a place in the order. ValueError for
    counts of another shape."""
    counts = np.asarray(counts, dtype=float)
    if counts.shape != (attribute.size,):
        raise ValueError(f"{attribute.name} has {attribute.size:,} types; got counts of shape {counts.shape}.")
    bins = theme.bins_of(attribute, MOST_BARS)
    people, name = bins.sums(counts), theme.short(attribute.name, 60)
    hover = [
        f"{name} {theme.short(label, HOVER_LENGTH)}: {words}"
        for label, words in zip(bins.labels, _in_words(people), strict=True)
    ]
    places, ticks = theme.apart(bins.labels, attribute.special)
    ordinary = len(people) - attribute.special
    fig = theme.figure(look, _axis_title(attribute.name, bins, "bar"), "people", height=340)
    fig.add_bar(
        x=places,
        y=people,
        marker_color=[look.accent] * ordinary + [look.faint] * attribute.special if attribute.special else look.accent,
        marker_line_width=0,
        hovertext=hover,
        hoverinfo="text",
    )
    fig.update_xaxes(**ticks, showgrid=False)
    fig.update_layout(bargap=0.12 if len(people) <= 128 else 0)
    fig.update_yaxes(rangemode="tozero")
    return fig


def joint(domain: Domain, counts: Counts, first: str, second: str, look: Theme = LIGHT) -> go.Figure:
    """Users by two attributes of ``domain``, ``first`` across and ``second`` down or up, the others summed out.

    ``counts`` (n,) users of each type, or people. Cells without people are left empty; adjacent types share a cell where an
    attribute has more than `SIDE`. ValueError for attributes that are not two of the domain, or counts of another shape.
    """
    cells = _two_way(domain, counts, first, second)
    across, up = (next(a for a in domain.attributes if a.name == name) for name in (first, second))
    columns, rows = theme.bins_of(across, SIDE), theme.bins_of(up, SIDE)
    people = rows.sums(columns.sums(cells, axis=1), axis=0)
    x_title, y_title = (_axis_title(a.name, bins, "cell") for a, bins in ((across, columns), (up, rows)))
    fig = theme.figure(
        look, x_title, y_title, height=theme.COLOUR_BAR + int(np.clip(200 + 30 * len(rows.labels), 360, 700))
    )
    written = people.size <= 60 and len(columns.labels) <= 5
    cells, colours = _coloured(people, look)
    theme.heat_map(
        fig,
        cells,
        columns.labels,
        f"{theme.in_template(first[:HOVER_LENGTH])} %{{x}}, {theme.in_template(second[:HOVER_LENGTH])} %{{y}}: %{{text}}<extra></extra>",
        y=theme.cell_names(rows.labels),
        text=_in_words(people),
        texttemplate="%{text}" if written else None,
        **colours,
    )
    fig.update_yaxes(type="category", **theme.row_ticks(rows.labels, 30))
    fig.update_yaxes(title_standoff=10)  # beside the names of the rows: Plotly puts it between two of them
    if not up.in_order:  # names read from the top down, numbers grow upwards
        fig.update_yaxes(autorange="reversed")
    return fig


def _two_way(domain: Domain, counts: Counts, first: str, second: str) -> np.ndarray:
    """(types of second, types of first) users."""
    names = [attribute.name for attribute in domain.attributes]
    if first == second or not {first, second} <= set(names):
        raise ValueError(f"Choose two different attributes of {', '.join(names)}; got {first} and {second}.")
    i, j = names.index(first), names.index(second)
    table = people_of(counts, domain.shape).table([j, i])
    return table.reshape(domain.shape[j], domain.shape[i]).astype(float)


def _in_words(people: np.ndarray) -> np.ndarray:
    """Each number of people with its share of all: "1,179 people (3.6 %)"."""
    users = max(float(people.sum()), 1.0)
    values, places = np.unique(people, return_inverse=True)
    words = [f"{c:,.0f} {'person' if c == 1 else 'people'} ({wording.share(c / users)})" for c in values]
    return np.array(words)[places].reshape(people.shape)


def _axis_title(name: str, bins: theme.Bins, mark: str) -> str:
    return theme.short(name, 60) if bins.width == 1 else f"{theme.short(name, 60)} (a {mark} is {bins.width:,} types)"


def _coloured(people: np.ndarray, look: Theme) -> tuple[np.ndarray, dict]:
    """Cells of a heat map of ``people`` and their colours: dark for many on light pages, bright on dark ones, none for no one."""
    some = people[people > 0]
    low, high = (float(some.min()), float(some.max())) if some.size else (1.0, 1.0)
    log = high > LOG_FROM * low
    z = np.full(people.shape, np.nan, dtype=np.float32)
    z[people > 0] = np.log10(some) if log else some
    bar = theme.colour_bar()
    if log:
        decades = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        texts = [f"{10.0**decade:,.12g}" for decade in decades]
        texts[0] += " person" if decades[0] == 0 else " people"
        bar |= {"tickvals": decades, "ticktext": texts}
    else:
        bar |= {"tickformat": ",", "ticksuffix": " people", "showticksuffix": "first"}
    return z, {
        "zmin": np.log10(low) if log else 0,
        "zmax": np.log10(high) if log else high,
        "colorscale": look.counts,
        "showscale": bool(some.size),
        "colorbar": bar,
    }
