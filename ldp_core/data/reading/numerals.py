"""How the numbers in a column of text are written, such as 1,234.5 or 1.234,5: what fits most of its cells is taken.

A way of writing is a decimal sign and a thousands sign. Where two ways fit a column alike, the other
columns of the file decide, then what is usual for its delimiter. A note says what was taken, and
names the alternative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.data.missing import MISSING_WORDS
from ldp_core.data.reading.options import ReadOptions
from ldp_core.wording import quote_examples

MOSTLY = 0.9
_SIGNS = {".": r"\.", ",": ",", "'": "['\u2019]", " ": "[ \u00a0\u2009\u202f]"}
"""The signs as regular expressions, with their typographic variants."""
_NAMED = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces"}
_MISSING = rf"^\s*(?i:{'|'.join(word.replace('?', '[?]') for word in sorted(MISSING_WORDS))})?\s*$"
_LIKE_NUMBERS = "^[\\s(+\u2212-]*[.,]?\\d"
_PLAIN = r"^\s*[+-]?\d+\s*$"
_LONG = r"^\s*[+-]?\d{4,}\s*$"
_EXPONENT = r"^\s*[+-]?\d+[eE]\d+\s*$"
_NEGATIVE = "\u2212("
_PLAINLY = 100


@dataclass(frozen=True)
class Writing:
    """A way of writing numbers; ``thousands`` is empty where their digits are not grouped."""

    decimal: str = "."
    thousands: str = ""


PLAIN = Writing()
WAYS = (PLAIN, Writing(","), *(Writing(d, t) for d, t in (".,", ",.", ".'", ",'", ". ", ", ")))


@dataclass(frozen=True)
class Evidence:
    """Evidence that the cells of a column give. The evidence of the parts of a column adds up.

    Attributes:
        filled: cells that are neither blank nor a word for a missing value.
        whole: cells of digits alone, which all ways read alike.
        long: those of four digits or more.
        fits: (ways,) the number of cells that each of `WAYS` fits.
        bracketed: negative numbers written as (5).
        minus: negative numbers written with a typographic minus sign.
        exponents: whole numbers written as 7E4.
        examples: for each sign, the first cell in alphabetical order that holds it.
    """

    filled: int = 0
    whole: int = 0
    long: int = 0
    fits: tuple[int, ...] = (0,) * len(WAYS)
    bracketed: int = 0
    minus: int = 0
    exponents: int = 0
    examples: frozenset[str] = frozenset()

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            self.filled + other.filled,
            self.whole + other.whole,
            self.long + other.long,
            tuple(map(sum, zip(self.fits, other.fits, strict=True))),
            self.bracketed + other.bracketed,
            self.minus + other.minus,
            self.exponents + other.exponents,
            self.examples | other.examples,
        )

    @property
    def numeric(self) -> bool:
        """True if nine in ten cells are numbers in some way of writing, and not all of them in brackets."""
        most = max(self.fits)
        return self.bracketed < most and most >= MOSTLY * self.filled

    @property
    def plainly_other(self) -> bool:
        """True for a hundred cells or more that mostly do not even begin like numbers."""
        return self.filled >= _PLAINLY and 2 * max(self.fits) < self.filled

    def best(self, options: ReadOptions) -> list[Writing]:
        """The ways that fit most cells, among those that the options allow; none for a column of other texts.

        Two ways that read all cells alike are listed once, by the simpler one.
        """
        fits = {way: cells for way, cells in zip(WAYS, self.fits, strict=True) if _allowed(way, options)}
        most = max(fits.values())
        if not self.numeric or most < MOSTLY * self.filled:
            return []
        if most == self.whole:
            return [PLAIN]
        best = [way for way, cells in fits.items() if cells == most]
        return [way for way in best if not any(same in best for same in _simpler(way))]


def evidence_of(cells: pa.ChunkedArray | pa.Array, weights: np.ndarray | None = None) -> Evidence:
    """The evidence of a column's cells (strings); (cells,) ``weights`` say how many rows hold each."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    # Arrow imports pandas, which takes long, to make an array of Python values: without weights there is none.
    times = None if weights is None else pa.array(weights, pa.int64())

    def number(mask: pa.BooleanArray, of: pa.Int64Array | None) -> int:
        return pc.sum(mask if of is None else pc.multiply(mask.cast(pa.int64()), of)).as_py() or 0

    def matches(texts: pa.Array, pattern: str) -> pa.BooleanArray:
        return pc.match_substring_regex(texts, pattern)

    filled = number(pc.invert(matches(cells, _MISSING)), times)
    likely = matches(cells, _LIKE_NUMBERS)
    if not filled or not pc.any(likely).as_py():
        return Evidence(filled)
    plain = matches(cells, _PLAIN)
    whole = number(plain, times)
    rest = pc.and_not(likely, plain)  # unknown for a cell without a text, which a filter drops
    all_times = times
    odd, times = cells.filter(rest), None if times is None else times.filter(rest)
    fits: dict[Writing, int] = {}
    for way in WAYS:
        simple = way.thousands and not pc.any(matches(odd, _SIGNS[way.thousands])).as_py()
        fits[way] = fits[Writing(way.decimal)] if simple else number(matches(odd, _pattern(way)), times)
    signed = number(matches(odd, _number(_WHOLE)), times)
    signs = {*_SIGNS, *_NEGATIVE}
    shown = (odd.filter(matches(odd, _SIGNS.get(sign, f"[{sign}]"))) for sign in sorted(signs))
    return Evidence(
        filled,
        whole + signed,
        number(matches(cells, _LONG), all_times),
        tuple(whole + fits[way] for way in WAYS),
        number(matches(odd, r"^\s*\("), times),
        number(matches(odd, "^\\s*\u2212"), times),
        number(matches(odd, _EXPONENT), times),
        frozenset(pc.min(part).as_py() for part in shown if len(part)),
    )


class Numerals:
    """How the columns of text of one file write their numbers.

    Args:
        options: of the file, where a decimal or thousands sign may be stated.
        delimiter: of the file; other tables than text have none.
    """

    def __init__(self, options: ReadOptions, delimiter: str | None):
        self._options, self._delimiter = options, delimiter
        self.evidence: dict[str, Evidence] = {}

    def add(self, name: str, cells: pa.ChunkedArray | pa.Array, weights: np.ndarray | None = None) -> None:
        """Take the cells of a column as all of it."""
        self.evidence[name] = evidence_of(cells, weights)

    def ambiguous(self, name: str) -> bool:
        """True if the other columns of the file decide how a column is read."""
        return len(self._best(name)) > 1

    def way(self, name: str) -> Writing | None:
        """How a column writes its numbers; None where it holds other texts, or is not known."""
        best = self._best(name)
        if len(best) < 2:
            return best[0] if best else None
        decimals = {self._best(other)[0].decimal for other in self.evidence if self._shows_decimal(other)}
        evidence, commas = self.evidence[name], Writing(",") in best
        if commas and evidence.whole and not evidence.long:
            wanted = "."  # 850 beside 12,345: decimals would be dropped from 12,340 as well
        elif len(decimals) == 1:
            wanted = decimals.pop()
        else:
            wanted = "," if commas and self._delimiter not in (",", None) else "."
        return next((way for way in best if way.decimal == wanted), best[0])

    def rewritten(self, table: pa.Table) -> pa.Table:
        """The table with its numbers written as 1234.5. Cells that do not fit stay as they are."""
        for place, name in enumerate(table.column_names):
            if is_text(table.schema.field(place).type) and self.rewrites(name):
                table = table.set_column(place, name, _rewritten(table.column(place), self.way(name) or PLAIN))
        return table

    def rewrites(self, name: str) -> bool:
        """True if numbers of a column are not written plainly."""
        way, evidence = self.way(name), self.evidence.get(name)
        return way is not None and evidence is not None and (way != PLAIN or evidence.bracketed + evidence.minus > 0)

    def notes(self) -> list[str]:
        """Sentences on the columns whose numbers are not written plainly."""
        said: dict[tuple[str, str], list[str]] = {}
        for name in self.evidence:
            way = self.way(name)
            for sentence in () if way is None else self._sentences(name, way):
                said.setdefault(sentence, []).append(name)
        return [
            f"{quote_examples(names)} {'has' if len(names) == 1 else 'have'} {what}{more}"
            for (what, more), names in said.items()
        ]

    def used(self) -> dict[str, str]:
        """The decimal and the thousands sign of the file, as options."""
        ways = [way for way in map(self.way, self.evidence) if way is not None]
        signs = [way.thousands for way in ways if way.thousands]
        decimal = "," if any(way.decimal == "," for way in ways) else self._options.decimal or "."
        return {"decimal": decimal, "thousands": self._options.thousands or (signs[0] if signs else "")}

    def _best(self, name: str) -> list[Writing]:
        evidence = self.evidence.get(name)
        return [] if evidence is None else evidence.best(self._options)

    def _shows_decimal(self, name: str) -> bool:
        """True if a column leaves no doubt about the decimal sign."""
        best, evidence = self._best(name), self.evidence[name]
        if len(best) != 1 or max(evidence.fits) == evidence.whole:
            return False
        other = "," if best[0].decimal == "." else "."
        fits = dict(zip(WAYS, evidence.fits, strict=True))
        return all(fits[best[0]] > cells for way, cells in fits.items() if way.decimal == other)

    def _sentences(self, name: str, way: Writing) -> list[tuple[str, str]]:
        """The note on a column, and its addition."""
        best, said = self._best(name), []
        other = next((other for other in best if other != way), None)
        if way.decimal == "," and any("," in text for text in self.evidence[name].examples):
            said.append(self._example(name, "decimal commas", way, "1,5"))
        if way.thousands:
            said.append(self._example(name, f"{_NAMED[way.thousands]} between thousands", way, "1234", way.thousands))
        if other is not None and way == PLAIN:
            said.append(self._example(name, "decimal points before three digits", way, "1.234", "."))
        evidence = self.evidence[name]
        if evidence.minus:
            said.append(self._example(name, "typographic minus signs", way, "\u22125", "\u2212"))
        if evidence.bracketed:
            said.append(self._example(name, "negative numbers in brackets", way, "(5)", "("))
        if evidence.exponents and max(evidence.fits) == evidence.whole:
            said.append(("numbers with exponents", ": 7E4 counts as 70000 where they are binned."))
        if other is None:
            return said
        sign, use = (other.thousands, "thousands") if other.thousands else (other.decimal, "decimal")
        mend = f"If that is wrong, choose the {_NAMED[sign].removesuffix('s')} as {use} sign."
        return [(what, f"{more} {mend}") for what, more in said]

    def _example(self, name: str, what: str, way: Writing, usual: str, sign: str = ",") -> tuple[str, str]:
        """What a column has, and how a cell of it was read."""
        sign = _SIGNS.get(sign, f"[{sign}]")
        texts = [text for text in [*sorted(self.evidence[name].examples), usual] if re.search(sign, text)]
        read = ((text, _rewritten(pa.scalar(text, pa.string()), way).as_py()) for text in texts)
        shown, number = next((pair for pair in read if _is_number(pair[1])), (usual, usual))
        return what, f": {shown.strip()} was read as {number}."


_WHOLE = r"\d+(?:[eE][+-]?\d+)?"


@lru_cache
def _pattern(way: Writing) -> str:
    """The regular expression (RE2) of numbers written in a way."""
    point = _SIGNS[way.decimal]
    grouped = rf"|[1-9]\d{{0,2}}(?:{_SIGNS[way.thousands]}\d{{3}})+" if way.thousands else ""
    return _number(rf"(?:(?:\d+{grouped})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


def _number(digits: str) -> str:
    return f"^\\s*(?:[+\u2212-]?{digits}|\\({digits}\\))\\s*$"


def _rewritten(cells: Any, way: Writing) -> Any:
    numbers = pc.match_substring_regex(cells, _pattern(way))
    texts = pc.utf8_trim_whitespace(cells)
    if way.thousands:
        texts = pc.replace_substring_regex(texts, _SIGNS[way.thousands], "")
    texts = pc.replace_substring(texts, ",", ".") if way.decimal == "," else texts
    texts = pc.replace_substring_regex(texts, "^[\u2212(]", "-")
    texts = pc.replace_substring(texts, ")", "")
    return pc.if_else(numbers, texts, cells)


def _simpler(way: Writing) -> list[Writing]:
    """The simpler ways that read all cells alike where both fit them all."""
    ways = [Writing(way.decimal)] if way.thousands else []
    return ways + ([Writing(".", way.thousands)] if way.decimal == "," and way.thousands in ("'", " ") else [])


def _allowed(way: Writing, options: ReadOptions) -> bool:
    """True for a way that agrees with the stated signs. A stated thousands sign may be left out of numbers."""
    decimal = options.decimal
    if decimal is None and options.thousands in (".", ","):
        decimal = "," if options.thousands == "." else "."
    return decimal in (None, way.decimal) and (options.thousands is None or way.thousands in ("", options.thousands))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_text(kind: pa.DataType) -> bool:
    """True for columns of text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def columns_of_text(table: pa.Table) -> Iterable[tuple[str, pa.ChunkedArray]]:
    """The columns of text of a table, by name."""
    return ((field.name, table.column(place)) for place, field in enumerate(table.schema) if is_text(field.type))
