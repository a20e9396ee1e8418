"""Numbers as people read and write them: three significant digits, four for users needed, and always a unit; long texts cut;
and the name that somebody meant."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A finite decimal number as a text."""
USERS_DIGITS = 4
"""Significant digits of users needed: with three, a gap below 1 % could not be seen."""
LEAST_GAP = 1e-4
"""A smaller gap is given as this much, since no more than that can be saved."""


WRITTEN_OUT = 10**8
"""Below this, whole numbers are written in full."""
LEAST_WRITTEN_OUT = 1e-6
"""From this on, shares and probabilities are written with all their noughts; smaller ones by powers of ten."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_RIGHT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_TO_THE_LEFT = re.compile(rf"{_RIGHT}(?:[ \N{{NO-BREAK SPACE}}'\-]+{_RIGHT})*")


def visible(text: str) -> str:
    """``text`` from data or files as it can stand in a sentence: characters that cannot be seen, or turn the direction of writing, as
    "\\u202e", say, and words written from right to left isolated (Unicode Standard Annex 9), so that the numbers beside them stay in order.
    Once only, where text is put on a page, a screen or into a file."""
    seen = _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)
    return _TO_THE_LEFT.sub("\N{FIRST STRONG ISOLATE}\\g<0>\N{POP DIRECTIONAL ISOLATE}", seen)


def shortened(text: str, most: int = 90) -> str:
    """``text`` in at most ``most`` characters; the default fits in a sentence."""
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(text: object, most: int = 30) -> str:
    """A value for a message: in quotes, shortened."""
    return f'"{shortened(str(text), most)}"'


def quote_examples(texts: Sequence[object] | np.ndarray, limit: int = 3) -> str:
    """A few values for a message, separated by commas."""
    return ", ".join(map(quoted, texts[:limit])) + (", …" if len(texts) > limit else "")


def significant(value: float, digits: int = 3) -> str:
    """``value`` with at most ``digits`` significant digits and thousands separators: 18200 -> "18,200", 0.0000123 -> "0.0000123",
    2e-9 -> "2 × 10⁻⁹"."""
    if not math.isfinite(value):
        return "unlimited" if value > 0 else "unknown"
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if places <= 0:
        return f"{rounded:,.0f}"
    if abs(rounded) < LEAST_WRITTEN_OUT:
        return _with_power(f"{value:.{digits - 1}e}")
    return f"{rounded:,.{places}f}".rstrip("0").rstrip(".")


def rounded_up(value: float, digits: int) -> str:
    """``value`` >= 0 with this many significant digits, never below it: 0.98765432 -> "0.987655". A float next above such a number
    stands for it. From `LEAST_WRITTEN_OUT` on it reads back as a number."""
    if not math.isfinite(value):
        return "unlimited"
    below = Decimal(math.nextafter(value, 0))
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(below).normalize()
    return _with_power(f"{rounded:e}") if 0 < rounded < LEAST_WRITTEN_OUT else f"{rounded:f}"


def capital(text: str) -> str:
    """The same words as the beginning of a sentence: "no bound" -> "No bound"."""
    return text[:1].upper() + text[1:]


def uncapitalised(sentence: str) -> str:
    """The same words within a sentence: "No bound" -> "no bound"."""
    return sentence[:1].lower() + sentence[1:]


def count(value: float) -> str:
    """A whole number with separators: 18240 -> "18,240"."""
    return f"{value:,.0f}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """A whole number with what it counts: "1 column", "3,000 columns", "2 queries" with ``nouns`` given."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """At most ``most`` names, the rest as a number: "Age", "Age and Sex", "Age, Sex and 4 more"."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def magnitude(value: float) -> str:
    """A whole number that may be huge, such as how many combinations of values there are: 65536 -> "65,536", 1451520000 ->
    "1.45 × 10⁹"."""
    if value < WRITTEN_OUT:
        return count(value)
    return _with_power(f"{Decimal(int(value)):.2e}")  # also past the largest float


def _with_power(text: str) -> str:
    """A number in the form "1.20e-09" as people write it: "1.2 × 10⁻⁹"."""
    digits, power = text.split("e")
    shown = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{shown}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10{str(int(power)).translate(_RAISED)}"


def users(value: float) -> str:
    """People needed, rounded up: 18237 -> "18,240 people"."""
    return f"{needed(value)} {'person' if needed(value) == '1' else 'people'}"


def at_least(value: float) -> str:
    """A lower bound on people, rounded down so that it stays true: 18237 -> "18,230 people"."""
    return f"{minimum(value)} {'person' if minimum(value) == '1' else 'people'}"


def needed(value: float) -> str:
    """Users needed as a number, the same in sentences, tables and charts: whole, rounded up to four significant digits.
    18236.2 -> "18,240"."""
    return _people(value, up=True)


def minimum(value: float) -> str:
    """A lower bound on users as a number, rounded down to four significant digits: 18237 -> "18,230"."""
    return _people(value, up=False)


def whole(value: float) -> int:
    """People are whole: a finite number of them, rounded up."""
    return math.ceil(value - 1e-9)  # a whole number may come out of a computation a little above itself


def _people(value: float, up: bool) -> str:
    if not math.isfinite(value):
        return "unlimited"
    if value <= 0:
        return "0"
    people = whole(value)
    unit = 10 ** max(0, len(str(people)) - USERS_DIGITS)
    return f"{(-(-people // unit) if up else people // unit) * unit:,}"


def gap(value: float) -> str:
    """What a mechanism needs of the people that a bound allows, as a multiple of these, rounded up since it is the most: 0.04261 ->
    "1.043 times", 9.04 -> "10.04 times". "1 times" where whole people leave nothing to save; "unknown" where the bound says nothing (inf or nan)."""
    if not math.isfinite(value):
        return "unknown"
    times = 1 + (max(value, LEAST_GAP) if value > 0 else 0.0)
    return f"{significant(float(rounded_up(times * (1 - 1e-9), 4)), 4)}\N{NO-BREAK SPACE}times"


def share(value: float) -> str:
    """A share of all users in per cent: 0.032 -> "3.2 %"."""
    return f"{significant(100 * value)}\N{NO-BREAK SPACE}%"


def small_share(value: float) -> str:
    """A share given only by its order of magnitude: 3e-13 -> "less than 0.0001 %"."""
    return "less than 0.0001\N{NO-BREAK SPACE}%" if value < 1e-6 else share(value)


def chance(p: float) -> str:
    """The p-value of a test, in a sentence, as far as a normal approximation can be trusted: "p = 0.034", "p < 0.0001"."""
    return "p < 0.0001" if p < 1e-4 else f"p = {significant(p)}"


@dataclass(frozen=True)
class Scale:
    """How errors, known as shares of all users, are written: ``times`` as much, in a ``unit``; axes and tables call it ``short``."""

    times: float = 100.0
    short: str = "pp"
    unit: str = "percentage points"

    def text(self, error: float) -> str:
        """For a table: 0.045 -> "4.5"."""
        return significant(self.times * error)

    def in_words(self, error: float) -> str:
        """For a sentence: 0.045 -> "± 4.5 percentage points"."""
        if self.short == "targets":
            return f"{self.text(error)} {self.unit}"
        return f"±\N{NO-BREAK SPACE}{self.text(error)}\N{NO-BREAK SPACE}{self.unit}"


POINTS = Scale()


def points(value: float) -> str:
    """A difference of shares: 0.009 -> "0.9 percentage points"."""
    text = significant(100 * value)
    return f"{text} percentage point{'s' if text != '1' else ''}"


def duration(seconds: float) -> str:
    """A time span: 75 -> "1 min 15 s"."""
    if seconds < 1:
        return "under a second"
    if round(seconds) < 60:
        return f"{significant(seconds, 2)} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def closest(name: object, known: Iterable[str]) -> str | None:
    """The one of ``known`` that looks most like ``name``, whatever its case; None where none does."""
    folded = {known_name.casefold(): known_name for known_name in reversed(list(known))}
    text = str(name).casefold()
    close = difflib.get_close_matches(text, list(folded), n=1, cutoff=0.6)
    close = close or [known_name for known_name in folded if text and known_name.startswith(text)]
    return folded[close[0]] if close else None


def meant(name: object, known: Iterable[str]) -> str:
    """How to go on after an unknown name: "did you mean 'oue'?", or all there are: "choose one of rappor, oue, olh."."""
    known = list(known)
    close = closest(name, known)
    if close is not None:
        return f"did you mean {close!r}?"
    return f"choose one of {', '.join(known)}." if known else "there are none."


def check_parameters(owner: str, given: Iterable[str], known: Iterable[str]) -> None:
    """ValueError for the first of the names ``given`` that is no parameter of ``owner``."""
    known = list(known)
    for name in given:
        if name not in known:
            raise ValueError(f"{owner} has no parameter {shortened(name)!r}; {meant(name, known)}")
