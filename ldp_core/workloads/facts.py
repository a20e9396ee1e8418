"""Public facts about the people who report, as text: a condition, a colon and how many people fulfil it.

    fact  = condition ":" total
    total = number | "at least" number | "at most" number | "between" number "and" number

Examples are ``sex = male : 480``, ``age >= 30 : at least 100`` and
``"marital status" = Widowed : between 20 and 40``. Conditions are those of
`ldp_core.workloads.expressions`; thousands may be separated by commas. `StatedFact` is a fact as it
was typed, `Fact` its meaning for the types of a domain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field, field_validator

from ldp_core import limits, wording
from ldp_core.workloads import expressions
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.part import Frozen

T = TypeVar("T")

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_TOTAL = re.compile(
    rf"(?P<exactly>{_NUMBER})|at\s+least\s+(?P<least>{_NUMBER})|at\s+most\s+(?P<most>{_NUMBER})"
    rf"|between\s+(?P<low>{_NUMBER})\s+and\s+(?P<high>{_NUMBER})",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, eq=False)
class Fact:
    """Between ``low`` and ``high`` people (inf where there is no maximum) are of the types where ``row`` (n,) is 1, or have
    that sum of any other ``row``. ``text`` is what sentences call it.

    ValueError for ends that are not numbers, or in the wrong order.
    """

    row: np.ndarray
    low: float
    high: float
    text: str

    def __post_init__(self) -> None:
        if not (-math.inf <= self.low <= self.high <= math.inf):  # nor nan
            raise ValueError(
                f"A fact holds from its lower to its upper end; got {self.low} and {self.high} for {self.text}."
            )

    def true_of(self, counts: np.ndarray) -> bool:
        """True if it is true of people ``counts`` (n,), but for rounding."""
        answer, rounding = float(self.row @ counts), 1e-9 * float(np.abs(self.row) @ np.abs(counts))
        return self.low - rounding <= answer <= self.high + rounding


class StatedFact(Frozen):
    """A public fact as it was typed, one line that may not fit the domain (any more). ``origin``: whether its total was declared,
    or counted in the data available."""

    text: Annotated[str, Field(min_length=1, max_length=limits.MOST_CONDITION_CHARACTERS)]
    origin: Literal["declared", "data"] = "declared"

    @field_validator("text")
    @classmethod
    def _one_line(cls, text: str) -> str:
        if text != text.strip() or "\n" in text or "\r" in text:
            raise ValueError("a public fact is one line, without spaces before or after it")
        return text

    @property
    def _total(self) -> str:
        return self.text.rpartition(":")[2].replace(",", "").strip()

    def known_from(self, before: Sequence[StatedFact]) -> StatedFact:
        """It as it stands after the facts ``before`` were edited: a total counted in the data stays so, whatever becomes of its
        condition."""
        counted = any(self._total == fact._total for fact in before if fact.origin == "data")
        return self.model_copy(update={"origin": "data" if counted else self.origin})

    def counted(self, attributes: Any, counts: np.ndarray) -> StatedFact | None:
        """The fact that as many people of ``counts`` (n,) fulfil its condition as do; None unless it is a condition without a
        total about ``attributes``."""
        if _read_as(_fact, self.text, attributes) is not None:
            return None
        for condition in (self.text, self.text.removesuffix(":").strip()):
            if (row := _read_as(_row, condition, attributes)) is not None:
                return StatedFact(text=f"{condition} : {round(float(row @ counts)):,}", origin="data")
        return None


def parse_facts(lines: str | Sequence[str], attributes: Any) -> tuple[Fact, ...]:
    """The facts stated in ``lines``, one a line (empty ones are passed over), about the attributes of a `Domain` (or a
    sequence of attributes or axes).

    ValueError, one sentence that says which fact and what is wrong with it.

    >>> sex = ldp.workloads.Axis("sex", ("female", "male"), 2)
    >>> [(fact.row.tolist(), fact.low, fact.high) for fact in ldp.workloads.parse_facts("sex = male : at least 480", [sex])]
    [([0.0, 1.0], 480.0, inf)]
    """
    lines = lines.splitlines() if isinstance(lines, str) else lines
    facts = []
    for i, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            facts.append(_fact(line.strip(), attributes))
        except ValueError as error:
            raise ValueError(
                f"Fact {i}, {wording.shortened(line.strip())}: {str(error)[0].lower()}{str(error)[1:]}"
            ) from None
    return tuple(facts)


def _fact(text: str, attributes: Any) -> Fact:
    condition, colon, total = text.rpartition(":")
    if not colon:
        axes = axes_of(attributes)
        example = f"{shortened(axes[0].name)} = {shortened(axes[0].labels[0])}"
        raise ValueError(f"write a condition, a colon and how many people fulfil it, such as {example} : 480.")
    low, high = _ends(total.strip())
    row = _row(condition, attributes)
    if low > 0 and not row.any():
        raise ValueError("its condition is true for no type; correct it, or leave it out.")
    return Fact(row, low, high, text)


def _row(condition: str, attributes: Any) -> np.ndarray:
    axes = axes_of(attributes)
    return expressions.row(expressions.parse(condition, axes), [axis.size for axis in axes])


def _read_as(read: Callable[[str, Any], T], text: str, attributes: Any) -> T | None:
    """None where ``text`` is no such thing."""
    try:
        return read(text, attributes)
    except ValueError:
        return None


def _ends(total: str) -> tuple[float, float]:
    match = _TOTAL.fullmatch(total)
    if match is None:
        got = f"got {wording.shortened(total, 40)}" if total else "nothing follows it"
        raise ValueError(
            f"after the colon stands a number of people, such as 480, at least 480, at most 480 or between 450 and 500; {got}."
        )
    numbers = {kind: float(number.replace(",", "")) for kind, number in match.groupdict().items() if number}
    exactly = numbers.get("exactly")
    low, high = numbers.get("low", numbers.get("least", 0.0)), numbers.get("high", numbers.get("most", math.inf))
    if low > high:
        raise ValueError(f"no number lies between {low:,.12g} and {high:,.12g}; put the lower one first.")
    return (low, high) if exactly is None else (exactly, exactly)
