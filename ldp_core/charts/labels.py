"""Names of types and queries on axes and in hovers: few ticks, distinct names, bins of adjacent types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.charts.theme import TICK_LENGTH, literal, short
from ldp_core.data.domain import Attribute, NumericAttribute, RangeAttribute, bin_labels

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
    """Axis settings that name types by their labels, thinned out when there are many or they are long."""
    letters = [min(len(label), length) for label in labels]
    step = 1
    if len(labels) > LABELLED_TYPES:
        step = -(-len(labels) // min(TICKS, max(3, TICK_LETTERS // max(letters))))
    elif sum(letters) > 140:
        step = -(-len(labels) // TICKS)
    return _ticks(labels, step, length)


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
    length = next((most for most in (200, 80, 40, 20) if sum(_size(name, most) for name in names) <= HOVER_BYTES), 10)
    unique_names: dict[str, None] = {}
    times: dict[str, int] = {}
    for name in names:
        base = unique = short(name.strip() or "(no name)", length)
        while unique in unique_names:
            times[base] = times.get(base, 1) + 1
            unique = f"{base} ({times[base]})"
        unique_names[unique] = None
    return list(unique_names)


def _size(name: str, length: int) -> int:
    return len(json.dumps(short(name, length)))


def in_template(text: str) -> str:
    """A text of the user's inside a hover template, where ``%{x}`` in it would be filled in."""
    return literal(text).replace("{", "&#123;")
