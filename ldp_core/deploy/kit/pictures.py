"""Charts of the report as inline SVG: nothing to fetch, and they take the colours of the page they stand on."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

from ldp_core import wording
from ldp_core.deploy.kit.markup import element

WIDTH = 720
_ROW = 22
_NAMES = 250
_RIGHT = 90
_FOOT = 46
_NAME_LENGTH = 38
_HEIGHT = 330
_LEFT = 70
_TOP = 26
_MOST_STEPS = 8


def errors_by_query(
    names: Sequence[str], errors: Sequence[float], target: float, sentence: str, scale: wording.Scale = wording.POINTS
) -> ET.Element:
    """One row for each query, its standard error as a dot, and a line at the ``target``; all are shares of all users."""
    most = 1.08 * max([*errors, target])
    bottom = _TOP + _ROW * len(names)

    def across(value: float) -> float:
        return _NAMES + (WIDTH - _NAMES - _RIGHT) * value / most

    drawn = _marks(across(target), _TOP, bottom, "target error", "middle")
    for row, (name, error) in enumerate(zip(names, errors, strict=True)):
        y = _TOP + _ROW * (row + 0.5)
        drawn += [
            element("text", wording.shortened(name, _NAME_LENGTH), x=_NAMES - 10, y=_at(y + 4), class_="end"),
            element("line", x1=_NAMES, x2=_at(across(error)), y1=_at(y), y2=_at(y), class_="stem"),
            element("circle", cx=_at(across(error)), cy=_at(y), r=4, class_="dot"),
            element("text", scale.text(error), x=_at(across(error) + 9), y=_at(y + 4)),
        ]
    drawn.append(element("line", x1=_NAMES, x2=_NAMES, y1=_TOP, y2=bottom, class_="axis"))
    for tick in _round_steps(scale.times * most):
        drawn.append(
            element(
                "text", wording.significant(tick), x=_at(across(tick / scale.times)), y=bottom + 18, class_="middle"
            )
        )
    label = f"standard error of the answer ({'percentage points of all people' if scale == wording.POINTS else scale.short})"
    drawn.append(element("text", label, x=_at((_NAMES + WIDTH - _RIGHT) / 2), y=bottom + 38, class_="middle"))
    return _svg(bottom + _FOOT, sentence, drawn)


def error_by_users(
    needed: float, least: float | None, users: int, target: float, sentence: str, scale: wording.Scale = wording.POINTS
) -> ET.Element:
    """The standard error of a typical query against the number of people, on log axes: it falls as one over their square root.

    ``needed`` people reach the ``target``; below what ``least`` people could reach no unbiased design can come.
    """
    ends = min(users, needed) / 10, max(users, needed) * 10
    at = lambda people, of: target * math.sqrt(of / people)  # noqa: E731
    low = min(at(ends[1], least or needed), target) / 1.3
    high = max(at(ends[0], needed), 2 * target) * 1.1

    def across(people: float) -> float:
        return _LEFT + (WIDTH - _LEFT - 20) * math.log(people / ends[0]) / math.log(ends[1] / ends[0])

    def down(error: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _FOOT - 10) * math.log(high / error) / math.log(high / low)

    bottom, named = _HEIGHT - _FOOT - 10, "percentage points" if scale == wording.POINTS else scale.short
    drawn = []
    if least:
        corners = [(ends[0], at(ends[0], least)), (ends[1], at(ends[1], least))]
        path = " ".join(f"{_at(across(x))},{_at(down(y))}" for x, y in corners)
        drawn.append(element("polygon", points=f"{path} {WIDTH - 20},{bottom} {_LEFT},{bottom}", class_="impossible"))
        drawn.append(
            element("text", "no unbiased design comes below this edge", x=_LEFT + 12, y=bottom - 12, class_="faint")
        )
    for tick in _log_steps(*ends):
        drawn += _grid(across(tick), bottom, wording.magnitude(tick))
    for tick in _log_steps(scale.times * low, scale.times * high):
        drawn += _level(down(tick / scale.times), wording.significant(tick))
    drawn += [
        element("line", x1=_LEFT, x2=WIDTH - 20, y1=_at(down(target)), y2=_at(down(target)), class_="mark"),
        element("text", "target error", x=WIDTH - 24, y=_at(down(target) - 6), class_="end faint"),
        _line(ends, lambda people: at(people, needed), across, down),
        element("circle", cx=_at(across(users)), cy=_at(down(at(users, needed))), r=5, class_="dot"),
        element("text", f"{users:,} people", x=_at(across(users) + 9), y=_at(down(at(users, needed)) - 8)),
        element("text", "people who take part (log scale)", x=_at((_LEFT + WIDTH) / 2), y=_HEIGHT - 8, class_="middle"),
        element("text", f"standard error of a typical answer ({named}, log scale)", x=8, y=14),
    ]
    return _svg(_HEIGHT, sentence, drawn)


def _line(
    ends: tuple[float, float],
    height: Callable[[float], float],
    across: Callable[[float], float],
    down: Callable[[float], float],
) -> ET.Element:
    (x1, y1), (x2, y2) = ((_at(across(people)), _at(down(height(people)))) for people in ends)
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="line")


def _svg(height: float, sentence: str, drawn: Sequence[ET.Element]) -> ET.Element:
    return element(
        "svg",
        element("title", sentence),
        *drawn,
        viewBox=f"0 0 {WIDTH} {_at(height)}",
        role="img",
        aria_label=sentence,
    )


def _marks(x: float, top: float, bottom: float, words: str, side: str) -> list[ET.Element]:
    return [
        element("line", x1=_at(x), x2=_at(x), y1=top, y2=bottom, class_="mark"),
        element("text", words, x=_at(x), y=top - 8, class_=f"{side} faint"),
    ]


def _grid(x: float, bottom: float, words: str) -> list[ET.Element]:
    return [
        element("line", x1=_at(x), x2=_at(x), y1=_TOP, y2=bottom, class_="grid"),
        element("text", words, x=_at(x), y=bottom + 18, class_="middle"),
    ]


def _level(y: float, words: str) -> list[ET.Element]:
    return [
        element("line", x1=_LEFT, x2=WIDTH - 20, y1=_at(y), y2=_at(y), class_="grid"),
        element("text", words, x=_LEFT - 8, y=_at(y + 4), class_="end"),
    ]


def _at(place: float) -> str:
    """A coordinate: two decimals are equal on every machine."""
    return f"{place:.2f}".rstrip("0").rstrip(".")


def _log_steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... between two numbers, or where these are many powers of ten alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in (1, 2, 5), (1,):
        steps = [factor * 10.0**power for power in powers for factor in factors if low <= factor * 10.0**power <= high]
        if len(steps) <= _MOST_STEPS:
            break
    return steps


def _round_steps(most: float) -> list[float]:
    """From 0 up to ``most`` in about five round steps."""
    unit = 10.0 ** math.floor(math.log10(most / 4))
    step = next(factor * unit for factor in (1, 2, 5, 10) if most / (factor * unit) <= 6)
    return [step * number for number in range(math.floor(most / step) + 1)]
