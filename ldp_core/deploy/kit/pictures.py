"""Charts of the report as inline SVG: nothing to fetch, and they take the colours of the page they stand on."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence

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


def errors_by_query(names: Sequence[str], errors: Sequence[float], sentence: str, scale: wording.Scale) -> ET.Element:
    """One row for each answer, its error in targets as a dot, and a line at its target."""
    most = 1.08 * max([*errors, 1.0])
    bottom = _TOP + _ROW * len(names)

    def across(value: float) -> float:
        return _NAMES + (WIDTH - _NAMES - _RIGHT) * value / most

    x = across(1.0)
    drawn = [_line(x, _TOP, x, bottom, "mark"), _text("target error", x, _TOP - 8, "middle faint")]
    for row, (name, error) in enumerate(zip(names, errors, strict=True)):
        x, y = across(error), _TOP + _ROW * (row + 0.5)
        drawn += [
            _text(wording.shortened(name, _NAME_LENGTH), _NAMES - 10, y + 4, "end"),
            _line(_NAMES, y, x, y, "stem"),
            element("circle", cx=_at(x), cy=_at(y), r=4, class_="dot"),
            _text(scale.text(error), x + 9, y + 4),
        ]
    drawn.append(_line(_NAMES, _TOP, _NAMES, bottom, "axis"))
    for tick in _round_steps(scale.times * most):
        drawn.append(_text(wording.significant(tick), across(tick / scale.times), bottom + 18, "middle"))
    label = f"error of the answer ({scale.unit})"
    drawn.append(_text(label, (_NAMES + WIDTH - _RIGHT) / 2, bottom + 38, "middle"))
    return _svg(bottom + _FOOT, sentence, drawn)


def error_by_users(needed: float, least: float | None, users: int, sentence: str, scale: wording.Scale) -> ET.Element:
    """The error in targets against the number of people, on log axes: it falls as one over their square root.

    ``needed`` people reach the target; below what ``least`` people could reach no unbiased design can come.
    """
    target = 1.0
    ends = min(users, needed) / 10, max(users, needed) * 10
    at = lambda people, of: target * math.sqrt(of / people)  # noqa: E731
    low = min(at(ends[1], least or needed), target) / 1.3
    high = max(at(ends[0], needed), 2 * target) * 1.1
    right, bottom = WIDTH - 20, _HEIGHT - _FOOT - 10

    def across(people: float) -> float:
        return _LEFT + (right - _LEFT) * math.log(people / ends[0]) / math.log(ends[1] / ends[0])

    def down(error: float) -> float:
        return _TOP + (bottom - _TOP) * math.log(high / error) / math.log(high / low)

    def sloping(of: float) -> list[tuple[float, float]]:
        return [(across(people), down(at(people, of))) for people in ends]

    x, y = across(users), down(at(users, needed))
    drawn = []
    if least:
        path = " ".join(f"{_at(x)},{_at(y)}" for x, y in [*sloping(least), (right, bottom), (_LEFT, bottom)])
        drawn = [
            element("polygon", points=path, class_="impossible"),
            _text("no unbiased design comes below this edge", _LEFT + 12, bottom - 12, "faint"),
        ]
    for tick in _log_steps(*ends):
        drawn += [
            _line(across(tick), _TOP, across(tick), bottom, "grid"),
            _text(wording.magnitude(tick), across(tick), bottom + 18, "middle"),
        ]
    for tick in _log_steps(scale.times * low, scale.times * high):
        level = down(tick / scale.times)
        drawn += [
            _line(_LEFT, level, right, level, "grid"),
            _text(wording.significant(tick), _LEFT - 8, level + 4, "end"),
        ]
    (x1, y1), (x2, y2) = sloping(needed)
    drawn += [
        _line(_LEFT, down(target), right, down(target), "mark"),
        _text("target error", WIDTH - 24, down(target) - 6, "end faint"),
        _line(x1, y1, x2, y2, "line"),
        element("circle", cx=_at(x), cy=_at(y), r=5, class_="dot"),
        _text(f"{users:,} people", x + 9, y - 8),
        _text("people who take part (log scale)", (_LEFT + WIDTH) / 2, _HEIGHT - 8, "middle"),
        _text(f"error ({scale.unit}, log scale)", 8, 14),
    ]
    return _svg(_HEIGHT, sentence, drawn)


def _svg(height: float, sentence: str, drawn: Sequence[ET.Element]) -> ET.Element:
    box = f"0 0 {WIDTH} {_at(height)}"
    return element("svg", element("title", sentence), *drawn, viewBox=box, role="img", aria_label=sentence)


def _text(words: str, x: float, y: float, how: str = "start") -> ET.Element:
    return element("text", words, x=_at(x), y=_at(y), class_=how)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> ET.Element:
    return element("line", x1=_at(x1), y1=_at(y1), x2=_at(x2), y2=_at(y2), class_=kind)


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
