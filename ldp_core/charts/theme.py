"""One look for every figure: each mechanism keeps its colour and marker everywhere, light and dark, plain numbers on log axes; and
names of types and queries on axes and in hovers: few ticks, distinct names, bins of adjacent types."""

from __future__ import annotations

import html
import json
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb, sample_colorscale
from plotly.subplots import make_subplots

from ldp_core import library, wording
from ldp_core.data.domain import Attribute, NumericAttribute, RangeAttribute, bin_labels
from ldp_core.frames import BOUND_TITLES

UNKNOWN_STYLE = ("#7F7F7F", "x")
DOTLESS = ("square-cross", "circle-cross", "diamond-cross", "bowtie", "hourglass")
"""Shapes that cannot have a dot."""
# Dash and width, weakest bound first.
BOUND_LINES = {"svd": ("dash", 1.0), "centred_svd": ("solid", 1.0), "certificate": ("dot", 2.0)}
LIMITS = {"svd": "weaker limit", "centred_svd": "limit in closed form", "certificate": "proved minimum"}
"""Names of bounds on charts, weakest first."""
IMPOSSIBLE = "no unbiased ε-LDP<br>mechanism can be here"
PIXELS = 512
"""Heat maps are binned to at most this many cells along each side before they reach the browser."""
FEWEST_TICKS = 3
"""On any axis, however long their labels are."""
TICK_LENGTH = 18
"""Most letters of a label beside a tick."""
_TICK_LETTERS = 60
"""Letters in all labels of queries below a chart of half the page's width."""
LETTERS = 36
"""Of tick labels, that fit beside each other in the narrowest chart."""
TITLE_LENGTH = 30
"""Most letters in a line of the title of an axis: as long as the axis of a chart on a telephone."""
LEGEND_ROW = 20
ROW = 40
"""Pixels of a row: a name in one line, and below it the marks."""
NAME, LINE = 18, 17
"""Most letters in a line of a name beside a row, and the height of a line."""
ROW_LETTERS = 50
"""Most letters of a name above a row: as many as are as wide as a chart on a telephone."""
BAR = 0.4
"""Thickness of a bar in a row."""
COLOUR_BAR = 50
GAPS_UP_TO = 4096
"""Cells of a heat map that stand apart."""
CONTRAST = 4.5
"""Least contrast with the page of text, and here of lines and marks too (WCAG 2.2, success criteria 1.4.3 and 1.4.11)."""
MODE_BAR = 34
"""Pixels at the top that are left to the buttons of a chart."""


@dataclass(frozen=True)
class Theme:
    """Colours of the page a figure sits on. Backgrounds are transparent, so the page shows through."""

    text: str
    faint: str
    grid: str
    accent: str
    paper: str
    sequential: str

    @property
    def counts(self) -> list[str]:
        """Colours of cells by how much there is; the palest are left to cells with nothing."""
        return list(sample_colorscale(self.sequential, np.linspace(0.2, 1, 9).tolist()))


LIGHT = Theme("#262730", "#6B6F7B", "rgba(49,51,63,0.14)", "#0072B2", "#FFFFFF", "Blues")
DARK = Theme("#FAFAFA", "#A3A8B4", "rgba(250,250,250,0.18)", "#56B4E9", "#171614", "Cividis")


def colour(name: str, look: Theme = LIGHT) -> str:
    """The colour of a mechanism, readable on the page."""
    return readable(_style(name)[0], look)


@cache
def readable(shade: str, look: Theme) -> str:
    """``shade``, as "#RRGGBB", mixed with the colour of text as little as `CONTRAST` with the page asks for."""
    pairs = list(zip(hex_to_rgb(shade), hex_to_rgb(look.text), strict=True))
    mixtures = ([(1 - part / 50) * channel + part / 50 * text for channel, text in pairs] for part in range(51))
    mixed = ("#" + "".join(f"{round(channel):02X}" for channel in mixture) for mixture in mixtures)
    return next((one for one in mixed if contrast(one, look.paper) >= CONTRAST), look.text)


def contrast(shade: str, other: str) -> float:
    """Contrast of two colours, as "#RRGGBB": from 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    dark, light = sorted(map(_luminance, (shade, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(shade: str) -> float:
    shares = [channel / 255 for channel in hex_to_rgb(shade)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def marker(name: str) -> str:
    symbol = _style(name)[1]
    return symbol.removesuffix("-dot") if symbol.startswith(DOTLESS) else symbol


def mark(name: str, look: Theme, size: int) -> dict:
    """Settings of the markers of a mechanism."""
    return {"color": colour(name, look), "symbol": marker(name), "size": size}


def faded(shade: str, opacity: float = 0.3) -> str:
    """A colour, as "#RRGGBB", through which what is behind it shows."""
    red, green, blue = hex_to_rgb(shade)
    return f"rgba({red},{green},{blue},{opacity})"


def bars(values: pd.Series, errors: pd.Series, shade: str) -> dict:
    """Settings of bars of two standard ``errors`` to each side of ``values`` that are never negative."""
    size = 2 * errors
    down = np.minimum(size, values)
    return {"type": "data", "array": size, "arrayminus": down, "thickness": 1.2, "width": 0, "color": shade}


def from_nothing(name: str | None, look: Theme) -> list[tuple[float, str]]:
    """Colours from hardly any to that of the mechanism ``name``, of the page without one."""
    return [(0.0, "rgba(127,127,127,0.10)"), (1.0, colour(name, look) if name else look.accent)]


def hollow(symbol: str) -> str:
    """A marker without its fill."""
    return f"{symbol.removesuffix('-dot').removesuffix('-open')}-open"


def dash(name: str) -> str:
    """Dashes of the lines of a mechanism: solid but for variants, which share its colour."""
    known = library.known(name)
    return known.dash if known else "solid"


def _style(name: str) -> tuple[str, str]:
    known = library.known(name)
    return known.style if known else UNKNOWN_STYLE


def title(name: str) -> str:
    """The readable name of a mechanism or bound, short enough for a legend."""
    if name in BOUND_TITLES:
        return BOUND_TITLES[name]
    known = library.known(name)
    return (known.legend or known.title) if known else name


def figure(look: Theme, x: str, y: str, height: int = 380) -> go.Figure:
    """An empty figure with axis titles (each with its unit) in the look of the page."""
    axis = {
        "gridcolor": look.grid,
        "zeroline": False,
        "linecolor": look.grid,
        "automargin": True,
        "separatethousands": True,
        "exponentformat": "none",  # no one reads "60µ" percentage points as a number
    }
    across = wrapped(x, TITLE_LENGTH)
    upwards = wrapped(y, round(1.3 * TITLE_LENGTH))
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 34, "t": MODE_BAR, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": look.text, "size": 13, "family": "Source Sans, Source Sans Pro, sans-serif"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": look.faint, "activecolor": look.text},
        "showlegend": False,
        "hoverlabel": {"font": {"size": 13}},
        "legend": {
            "orientation": "h",
            "yref": "container",  # below the chart: above it are the buttons
            "yanchor": "bottom",
            "y": 0,
            "xref": "container",
            "xanchor": "left",
            "x": 0,
            "entrywidth": 180,  # two columns beside the controls of a laptop screen
        },
        "xaxis": {
            "title": {"text": across, "font": {"size": 14}},
            **axis,
            "autotickangles": [0, 90],
        },  # slanted ones leave the chart
        "yaxis": {"title": {"text": upwards, "font": {"size": 14}}, **axis},
    }
    return go.Figure(layout=layout)  # many times as fast as an empty figure that is updated


def grid(look: Theme, rows: int, columns: int, height: int, **spacing: Any) -> go.Figure:
    """Small charts side by side in the look of the page."""
    together, like = make_subplots(rows=rows, cols=columns, **spacing), figure(look, "", "", height)
    shared = like.layout.to_plotly_json().items()
    together.update_layout({key: value for key, value in shared if "axis" not in key and key != "template"})
    axis = {k: v for k, v in like.layout.xaxis.to_plotly_json().items() if k != "title"} | {"title_font_size": 14}
    together.update_xaxes(**axis)
    together.update_yaxes(**axis)
    return together


def show_legend(fig: go.Figure) -> None:
    """A legend with columns wide enough for its names, and a figure that is higher by the height of
    the legend on a telephone, where it has a single column."""
    names = {trace.name for trace in fig.data if trace.name and trace.showlegend is not False}
    longest = max(map(len, names), default=0)
    width = max(150, 48 + round(6.6 * longest))
    fig.update_layout(showlegend=True, legend_entrywidth=width, height=fig.layout.height + LEGEND_ROW * len(names))


def colour_bar(what: str = "") -> dict:
    """Settings of a bar of colours below a chart, which is to be higher by `COLOUR_BAR`: beside it, the bar would take a quarter of a
    telephone. It has no title, which Plotly would put over it: its first tick says ``what`` it counts."""
    place = {"x": 0, "xanchor": "left", "xpad": 0, "y": 0, "yanchor": "bottom", "yref": "container"}
    first = {"tickprefix": f"{what} ", "showtickprefix": "first"} if what else {}
    return {"orientation": "h", "len": 1, "thickness": 12, "outlinewidth": 0, **place, **first}


def wrapped(text: str, length: int) -> str:
    """``text``, which may be markup, in lines of at most ``length`` letters."""
    text = text.replace("log scale", "log\N{NO-BREAK SPACE}scale")
    return "<br>".join(textwrap.wrap(text, length, break_long_words=False, break_on_hyphens=False))


def name_rows(fig: go.Figure, names: Sequence[str], look: Theme) -> None:
    """Names, which may be markup, in one line each over the marks of rows 0, 1, ... from the top. What runs behind a name fades around it."""
    font = {"size": 12, "color": look.text, "shadow": ", ".join([f"0 0 3px {look.paper}"] * 4)}
    left = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom"}
    over = {"name": "row", "font": font, "showarrow": False, **left}
    # Not ticks inside the chart: for those Plotly hides the numbers of the other axis.
    rows = [{**over, "text": name, "y": place - BAR / 2} for place, name in enumerate(names)]
    fig.update_layout(annotations=[*fig.layout.annotations, *rows])
    fig.update_yaxes(showticklabels=False, showgrid=False, range=[len(names) - 0.5, -0.8])


def name_axis(fig: go.Figure, names: Sequence[str], spare: int = 0) -> None:
    """Names, which may be markup, of rows 0, 1, ... from the top as the vertical axis. The figure becomes as much higher as they and ``spare``
    rows below ask for."""
    named = [wrapped(name, NAME) for name in names]
    row = max(ROW, 8 + LINE * (1 + max(name.count("<br>") for name in named)))
    fig.update_layout(height=fig.layout.height + row * (len(named) + spare))
    fig.update_yaxes(
        range=[len(named) - 0.5 + spare, -0.8], tickvals=np.arange(len(named)), ticktext=named, showgrid=False
    )


def note_at(fig: go.Figure, value: float, row: float, text: str, look: Theme) -> None:
    """Words to the right of a mark on a log axis, on the page's colour, so that no line runs through them."""
    note(fig, text, look.text, look.paper, x=np.log10(value), y=row, xanchor="left", xshift=12)


def note(fig: go.Figure, text: str, shade: str, paper: str | None = None, size: int = 12, /, **place: Any) -> None:
    """Words on a chart; on the colour of its ``paper`` no line runs through them."""
    behind = {} if paper is None else {"bgcolor": paper, "borderpad": 1}
    fig.add_annotation(text=text, showarrow=False, font={"size": size, "color": shade}, **behind | place)


def heat_map(
    fig: go.Figure, cells: np.ndarray, across: Sequence[str], hover: str, length: int = TICK_LENGTH, /, **more: Any
) -> None:
    """``cells`` under the names ``across`` of their columns, with gaps where they are few; ``more`` settings of the trace."""
    gap = 1 if cells.size <= GAPS_UP_TO else 0
    fig.add_heatmap(x=cell_names(across), z=cells, hovertemplate=hover, **{"xgap": gap, "ygap": gap} | more)
    fig.update_xaxes(type="category", showgrid=False, **label_ticks(across, length))
    fig.update_yaxes(showgrid=False)


def whole_people(users: pd.Series) -> pd.Series:
    """Users needed, to be drawn: at least one."""
    return users.clip(lower=1.0)


def log_axis(low: float, high: float, pad: float = 1.4, most: int | None = None) -> dict:
    """Axis settings for a log axis over [low, high] labelled in plain numbers (100, 1,000, ...), about ``most`` of them."""
    low, high = max(low, 1e-12) / pad, max(high, 1e-12) * pad
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    span = np.log10(high / low)
    wide = span > 1.8
    steps = (1,) if span > 3.5 else (1, 3) if wide else (1, 2, 5) if span > 0.7 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    if most and sum(low <= tick <= high for tick in ticks) > most:
        within = sum(low <= 10.0**decade <= high for decade in decades)
        ticks = [10.0**decade for decade in decades[:: max(1, -(-within // most))]]
        if within < 2 and not wide:
            ticks = [step * 10.0**decade for decade in decades for step in (1, 3)]
    narrow = span <= 0.7 if most else not wide  # nearly linear
    if sum(low <= tick <= high for tick in ticks) < FEWEST_TICKS and narrow:
        unit = 10.0 ** np.floor(np.log10((high - low) / 4))
        unit *= next(step for step in (1, 2, 5, 10) if (high - low) / (step * unit) <= 8)
        unit *= 2 if most and (high - low) / unit > most else 1
        ticks = [float(tick) for tick in np.arange(np.ceil(low / unit), np.floor(high / unit) + 1) * unit]
    return {
        "type": "log",
        "range": [float(np.log10(low)), float(np.log10(high))],
        "tickvals": ticks,
        "ticktext": [f"{tick:,.12g}" if tick < 1e12 else wording.magnitude(tick) for tick in ticks],
        "minor": {"showgrid": False},
    }


def query_ticks(fig: go.Figure, frame: pd.DataFrame) -> None:
    """Name queries on the x axis by their labels. ``frame``: query, label."""
    queries = frame.drop_duplicates("query").sort_values("query")
    name_ticks(fig, queries["query"] + 1, queries["label"])


def name_ticks(
    fig: go.Figure,
    places: Sequence[int],
    labels: Sequence[str],
    shown: int = 12,
    letters: int = _TICK_LETTERS,
    **axis: Any,
) -> None:
    """Labels on the x axis at some ``places``, thinned evenly so that these fit side by side; ``axis`` has more settings of it."""
    named = dict(zip(places, map(short, labels), strict=True))
    longest = max(map(len, named.values()), default=1)
    count = min(shown, len(named), max(FEWEST_TICKS, letters // max(longest, 1)))
    kept = np.array(list(named))[np.unique(np.linspace(0, len(named) - 1, count).astype(int))] if named else []
    fig.update_xaxes(tickvals=kept, ticktext=[named[place] for place in kept], **axis)


def short(label: str, length: int = TICK_LENGTH) -> str:
    """A label cut to the width of so many average letters, shown literally."""
    ends = np.cumsum([_breadth(letter) for letter in label[: 2 * length]])
    if len(label) <= 2 * length and (not label or ends[-1] <= length):
        return literal(label)
    return literal(label[: int(np.searchsorted(ends, length - 1, side="right"))] + "…")


@cache
def _breadth(letter: str) -> float:
    """The width of a letter of the font, of which an average one has 1."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in "fijlrtI.,:;'|!()[]-/ ":
        return 0.6
    return 1.6 if letter in "mwMW@%" else 1.2 if letter.isupper() else 1.0


def literal(label: str) -> str:
    """A label of the user's as text: Plotly would read ``<b>`` and ``&amp;`` in it as markup."""
    return html.escape(wording.visible(label), quote=False)


LABELLED_TYPES = 16
TICKS = 12
TICK_LETTERS = 80
"""Most ticks of an axis with more labels than fit, and most letters in all of them."""
HOVER_BYTES = 100_000
"""The names on one axis of a heat map take up about this much of a figure at most."""
ROW_LENGTH = 24
"""Most letters of a label beside a row."""
GAP = 1.0
"""Bars of "(other)" and "(missing)" stand this many bars apart from those in order."""
BESIDE = 2.0**-10
"""Ticks stand this far beside whole positions: an axis of names takes tick 17 for the type called "17"."""


@dataclass(frozen=True)
class Bins:
    """An attribute's types in bins of ``width`` adjacent ones, the last possibly fewer; "(other)" and "(missing)" alone.

    ``starts`` (k,) first type of each bin, ``labels`` their names: "17-24", "[0.5, 2)", "2026-01 to 2026-03".
    """

    starts: np.ndarray
    labels: Sequence[str]
    width: int

    def sums(self, counts: np.ndarray, axis: int = 0) -> np.ndarray:
        """``counts`` of types along ``axis`` added up to bins."""
        return np.add.reduceat(counts, self.starts, axis=axis)


def bins_of(attribute: Attribute, most: int) -> Bins:
    """At most ``most`` bins of the types of ``attribute``; single types where these are few enough."""
    special = attribute.special
    ordinary = attribute.size - special
    width = -(-ordinary // (most - special))
    if width == 1:
        every = np.arange(attribute.size)
        return Bins(every, attribute.decode(every), 1)
    firsts, specials = np.arange(0, ordinary, width), np.arange(ordinary, attribute.size)
    ends = np.append(firsts[1:], ordinary)
    if isinstance(attribute, NumericAttribute | RangeAttribute):
        labels = list(bin_labels(np.asarray(attribute.edges)[np.append(firsts, ordinary)], attribute.integer))
    else:
        pairs = zip(attribute.decode(firsts), attribute.decode(ends - 1), strict=True)
        labels = [first if first == last else f"{first} to {last}" for first, last in pairs]
    return Bins(np.concatenate([firsts, specials]), labels + attribute.decode(specials), width)


def label_ticks(labels: Sequence[str], length: int = TICK_LENGTH) -> dict:
    """Axis settings that name types by their labels, in two lines at most, thinned out when there are many or they are long."""
    letters = [min(len(label), length) for label in labels]
    step = 1
    if len(labels) > LABELLED_TYPES:
        step = -(-len(labels) // min(TICKS, max(FEWEST_TICKS, TICK_LETTERS // max(letters))))
    elif sum(letters) > 140:
        step = -(-len(labels) // TICKS)
    return _ticks(labels, step, length) | {
        "ticktext": [
            "<br>".join(
                short(line, length)
                for line in textwrap.wrap(
                    label, length, max_lines=2, placeholder="…", break_long_words=False, break_on_hyphens=False
                )
            )
            for label in labels[::step]
        ]
    }


def apart(labels: Sequence[str], special: int) -> tuple[np.ndarray, dict]:
    """Where bars with these ``labels`` stand, and `label_ticks` for them: the last ``special`` ones beyond a gap, each named."""
    ordinary = len(labels) - special
    places = np.arange(len(labels)) + GAP * (np.arange(len(labels)) >= ordinary)
    ticks = label_ticks(labels[:ordinary])
    if special:
        step = int(np.diff(ticks["tickvals"][:2]).sum()) or 1
        kept = ticks["tickvals"] <= ordinary + GAP - step
        ticks["tickvals"] = np.append(ticks["tickvals"][kept], places[ordinary:] + BESIDE)
        named = [short(label, TICK_LENGTH) for label in labels[ordinary:]]
        ticks["ticktext"] = [text for text, shown in zip(ticks["ticktext"], kept, strict=True) if shown] + named
    return places, ticks


def row_ticks(labels: Sequence[str], most: int) -> dict:
    """As `label_ticks` for an axis of rows, where only their number matters: at most ``most`` ticks."""
    return _ticks(labels, -(-len(labels) // most), ROW_LENGTH)


def _ticks(labels: Sequence[str], step: int, length: int) -> dict:
    shown = [short(label, length) for label in labels[::step]]
    return {"tickvals": np.arange(0, len(labels), step) + BESIDE, "ticktext": shown}


def cell_names(names: Sequence[str]) -> list[str]:
    """``names`` as the values of an axis of names: literal, cut where they are many and long, and all different."""
    written = lambda most: sum(len(json.dumps(short(name, most))) for name in names)  # noqa: E731
    length = next((most for most in (200, 80, 40, 20) if written(most) <= HOVER_BYTES), 10)
    unique_names: dict[str, None] = {}
    times: dict[str, int] = {}
    for name in names:
        base = unique = short(name.strip() or "(no name)", length)
        while unique in unique_names:
            times[base] = times.get(base, 1) + 1
            unique = f"{base} ({times[base]})"
        unique_names[unique] = None
    return list(unique_names)


def in_template(text: str) -> str:
    """A text of the user's inside a hover template, where ``%{x}`` in it would be filled in."""
    return literal(text).replace("{", "&#123;")
