"""Colours that stay what they are and can be seen: each is mixed with the colour of text only as far as contrast asks for."""

from __future__ import annotations

from functools import cache
from typing import Any

import plotly.graph_objects as go

from ldp_core.charts.theme import Theme

TEXT = 4.5
GRAPHICS = 3.0
"""Least contrast of text, and of lines and marks (WCAG 2.2, success criteria 1.4.3 and 1.4.11)."""
_STEPS = 50
_KNOWN: dict[tuple[type, str], bool] = {}


def ratio(colour: str, other: str) -> float:
    """Contrast of two colours, as "#RRGGBB": from 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    dark, light = sorted((_luminance(_channels(colour)), _luminance(_channels(other))))
    return (light + 0.05) / (dark + 0.05)


@cache
def seen(colour: str, look: Theme, least: float = GRAPHICS) -> str:
    """``colour`` where it has the ``least`` contrast with the page, else the nearest mixture of it with the colour of text that has."""
    mixtures = (_mixed(colour, look.text, step / _STEPS) for step in range(_STEPS + 1))
    return next((mixed for mixed in mixtures if ratio(mixed, look.paper) >= least), look.text)


def readable(fig: go.Figure, look: Theme) -> go.Figure:
    """The same figure, which is changed, with every line, mark and word readable on the page. Fills and colour scales are
    pictures of numbers and stay."""
    for trace in fig.data:
        for place in ("line", "marker", "marker.line", "error_x", "error_y"):
            _mend(trace, place, look, GRAPHICS)
        _mend(trace, "textfont", look, TEXT)
    for shape in fig.layout.shapes:
        _mend(shape, "line", look, GRAPHICS)
    for annotation in fig.layout.annotations:
        _mend(annotation, "font", look, TEXT)
    return fig


def _mend(element: Any, place: str, look: Theme, least: float) -> None:
    if not _knows(type(element), place):
        return
    part = element[place]
    if part is None or not _knows(type(part), "color"):
        return
    given = part["color"]
    if _plain(given):
        part["color"] = seen(given, look, least)
    elif isinstance(given, list | tuple) and all(_plain(item) for item in given):
        part["color"] = [seen(item, look, least) for item in given]


def _knows(kind: type, place: str) -> bool:
    """True if parts of figures of this kind have a setting: Plotly looks that up again whenever it is asked."""
    if (kind, place) not in _KNOWN:
        _KNOWN[kind, place] = place in kind()
    return _KNOWN[kind, place]


def _plain(colour: object) -> bool:
    return isinstance(colour, str) and len(colour) == 7 and colour.startswith("#")


def _channels(colour: str) -> list[float]:
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def _luminance(channels: list[float]) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mixed(colour: str, other: str, share: float) -> str:
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(255 * ((1 - share) * channel + share * two)):02X}" for channel, two in pairs)
