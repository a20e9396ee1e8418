"""The types of an attribute that meet a comparison. Errors are sentences without the place in the
text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ldp_core import wording
from ldp_core.workloads.axes import Axis

LISTED = 6
"""Names listed in a sentence where none is near."""
SEARCHED = 5_000
"""Names among which the nearest is looked for."""
SHORTENED_LENGTH = 60
_BARE = re.compile(r"[^\s\"'`“<>=!≤≥≠(){},][^\s\"`“<>=!≤≥≠(){},]*")


def quoted(name: str) -> str:
    """``name`` as it is written in a condition: in quotes where it needs them."""
    if _BARE.fullmatch(name) and name.lower() not in ("and", "or", "not", "in", "between"):
        return name
    return '"' + name.replace('"', '""') + '"'


def shortened(name: str) -> str:
    """`quoted`, cut where a name is too long for a sentence."""
    return quoted(wording.shortened(name, SHORTENED_LENGTH))


def nearest(text: str, names: Sequence[str], otherwise: str) -> str:
    """ "did you mean ...?", or what there is."""
    if (close := wording.closest(text, names[:SEARCHED])) is not None:
        return f"did you mean {shortened(close)}?"
    listed = ", ".join(shortened(name) for name in names[:LISTED])
    return f"{otherwise} {listed}{f' and {len(names) - LISTED:,} more' if len(names) > LISTED else ''}."


def compare(axis: Axis, sign: str, text: str, number: float | None) -> np.ndarray:
    """(size,) the types of ``axis`` that stand in the relation ``sign`` (=, !=, <, <=, >, >=) to the value ``text``,
    which is ``number`` if it is one."""
    if sign in ("=", "!="):
        same = equal_to(axis, text, number)
        return same if sign == "=" else ~same
    if not axis.ordered:
        raise ValueError(
            f"{shortened(axis.name)} has no order; use = or in, or say on the Data page that it is ordered."
        )
    inclusive = sign in ("<=", ">")  # both part the types up to the value from those above
    place = axis.find(text)
    if place is not None:
        if place >= axis.ordinary:
            raise ValueError(f"{shortened(text)} has no place in the order of {shortened(axis.name)}; use = or !=.")
        parted = place + inclusive
    elif len(axis.edges) and number is not None:
        parted = _parted(axis, sign, number, inclusive)
    else:
        raise ValueError(_unknown(axis, text))
    places = np.arange(axis.size)
    return places < parted if sign in ("<", "<=") else (places >= parted) & (places < axis.ordinary)


def equal_to(axis: Axis, text: str, number: float | None) -> np.ndarray:
    """(size,) where the value of ``axis`` is ``text``: a label, or a whole number with a bin of its own."""
    place = axis.find(text)
    if place is not None:
        return np.arange(axis.size) == place
    if not len(axis.edges) or number is None:
        raise ValueError(_unknown(axis, text))
    name, label, cuts = shortened(axis.name), None, list[float]()
    if axis.edges[0] <= number <= axis.edges[-1] and (not axis.integer or number == int(number)):
        place = min(int(np.searchsorted(axis.edges, number, side="right")) - 1, axis.ordinary - 1)
        if axis.integer and axis.whole_bin(place) == (number, number):
            return np.arange(axis.size) == place
        label = quoted(axis.labels[place])
        if axis.integer:
            low, high = axis.whole_bin(place)
            cuts = [edge for edge in (number, number + 1) if low < edge <= high]
    if label is None:
        raise ValueError(f"{name} is never {shortened(text)}; its values range {_reach(axis)}.")
    sentence = f"{name} = {shortened(text)} would cut the bin {label}, whose users are not distinguished; use {name} = {label}."
    raise _with_edges(axis, sentence, cuts)


def _with_edges(axis: Axis, sentence: str, edges: Sequence[float]) -> ValueError:
    """A comparison that distinguishes users of one bin, which it would not with ``edges`` there as well: of whole numbers, the first ones
    of bins."""
    typed = " and ".join(f"{edge:.12g}" for edge in edges)
    return ValueError(
        f"{sentence} Or give {shortened(axis.name)} an edge at {typed} on the Data page." if edges else sentence
    )


def _unknown(axis: Axis, text: str) -> str:
    known = nearest(text, axis.labels, "its values are")
    if len(axis.edges):
        return f"{shortened(text)} is neither a value of {shortened(axis.name)} nor a number; {known}"
    return f"{shortened(axis.name)} has no value {shortened(text)}; {known}"


def _reach(axis: Axis) -> str:
    if axis.integer:
        return f"from {axis.whole_bin(0)[0]} to {axis.whole_bin(len(axis.edges) - 2)[1]}"
    return f"from {_shown(axis, 0)} to {_shown(axis, len(axis.edges) - 1)}"


def _shown(axis: Axis, i: int) -> str:
    """Edge i as labels show it."""
    if not 0 <= axis.decimals <= 15 or abs(axis.edges[i]) >= 1e15:
        return f"{axis.edges[i]:.17g}"
    text = f"{axis.edges[i]:.{axis.decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _parted(axis: Axis, sign: str, number: float, inclusive: bool) -> int:
    """How many bins lie below ``number`` (or up to it); ValueError where it cuts one."""
    edges = np.asarray(axis.edges)
    if axis.integer:
        if not edges[0] <= number <= edges[-1]:
            return axis.ordinary if number > edges[-1] else 0
        last = math.floor(number) if inclusive else math.ceil(number) - 1
        place = min(max(0, int(np.searchsorted(edges, last, side="right")) - 1), axis.ordinary - 1)
        low, high = axis.whole_bin(place)
        if low <= last < high:
            raise _with_edges(axis, _cut(axis, sign, number, place), [last + 1])
        return place + (last >= high)
    around = int(np.searchsorted(edges, number))
    for i in range(max(0, around - 1), min(len(edges), around + 2)):
        if number == float(_shown(axis, i)):  # an edge is what labels show it as
            number = edges[i]
    if number > edges[-1] or (number == edges[-1] and inclusive):
        return axis.ordinary
    place = int(np.searchsorted(edges, number, side="right")) - 1
    if place < 0:
        return 0
    if place < axis.ordinary and edges[place] == number and not inclusive:
        return place
    # Bins begin at their edges, so none ends with a number that need not be whole.
    raise _with_edges(axis, _cut(axis, sign, number, min(place, axis.ordinary - 1)), [] if inclusive else [number])


def _cut(axis: Axis, sign: str, number: float, place: int) -> str:
    """The sentence for a comparison that cuts bin ``place``, with the nearest ones that do not."""
    name, last = shortened(axis.name), place == axis.ordinary - 1
    below = sign in ("<", "<=")
    if axis.integer:
        low, high = axis.whole_bin(place)
        ways = {"<": (low, high + 1), "<=": (low - 1, high), ">": (low - 1, high), ">=": (low, high + 1)}[sign]
        options = [f"{name} {sign} {way}" for way in ways]
    else:
        strict = "<" if below else ">="
        options = [f"{name} {strict} {_shown(axis, place)}"]
        options.append(f"{name} <= {_shown(axis, place + 1)}" if last else f"{name} {strict} {_shown(axis, place + 1)}")
    if below and place == 0:
        options = options[1:]  # the other holds for no one
    elif not below and last:
        options = options[:1]
    return (
        f"{name} {sign} {number:.12g} would cut the bin {quoted(axis.labels[place])}, whose users are not distinguished; "
        f"use {' or '.join(options)}."
    )
