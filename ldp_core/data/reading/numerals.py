"""How the numbers in a column of text are written, such as 1,234.5 or 1.234,5: what fits most of its cells is taken.

A way of writing is a decimal sign and a thousands sign. Where two ways fit a column alike, the other
columns of the file decide, then what is usual for its delimiter. A note says what was taken, and
names the alternative.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.data.missing import MISSING_WORDS
from ldp_core.data.reading.layout import is_number
from ldp_core.data.reading.options import ReadOptions
from ldp_core.wording import quote_examples

MOSTLY = 0.9
_SIGNS = {".": r"\.", ",": ",", "'": "['\u2019]", " ": "[ \u00a0\u2009\u202f]", "\u2212": "\u2212", "(": "[(]"}
"""The signs as regular expressions, with their typographic variants."""
_NAMED = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces"}
_MISSING = rf"^\s*(?i:{'|'.join(word.replace('?', '[?]') for word in sorted(MISSING_WORDS))})?\s*$"
_LIKE_NUMBERS = "^[\\s(+\u2212-]*[.,]?\\d"
_PLAIN = r"^\s*[+-]?\d+\s*$"
_LONG = r"^\s*[+-]?\d{4,}\s*$"
_PLAINLY = 100


def _number(digits: str) -> str:
    return f"^\\s*(?:[+\u2212-]?{digits}|\\({digits}\\))\\s*$"


_KINDS = {
    "whole": _number(r"\d+(?:[eE][+-]?\d+)?"),
    "bracketed": r"^\s*\(",
    "minus": "^\\s*\u2212",
    "exponents": r"^\s*[+-]?\d+[eE]\d+\s*$",
}
"""Kinds of numbers: of digits alone, which all ways read alike; negative ones such as (5) or with a typographic sign; 7E4."""


@dataclass(frozen=True)
class Writing:
    """A way of writing numbers; ``thousands`` is empty where their digits are not grouped."""

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def pattern(self) -> str:
        """The regular expression (RE2) of numbers written like this."""
        point = _SIGNS[self.decimal]
        grouped = rf"|[1-9]\d{{0,2}}(?:{_SIGNS[self.thousands]}\d{{3}})+" if self.thousands else ""
        return _number(rf"(?:(?:\d+{grouped})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?")


PLAIN = Writing()
WAYS = (PLAIN, Writing(","), *(Writing(d, t) for d, t in (".,", ",.", ".'", ",'", ". ", ", ")))


@dataclass(frozen=True)
class Evidence:
    """Evidence that the cells of a column give. The evidence of the parts of a column adds up.

    Attributes:
        cells: how many fit each of `WAYS` and are of each of `_KINDS`; how many are "filled", neither blank nor a word for a missing
            value, and "long", of four digits or more.
        examples: for each sign, the first cell in alphabetical order that holds it.
    """

    cells: Counter[str | Writing] = field(default_factory=Counter)
    examples: frozenset[str] = frozenset()

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(self.cells + other.cells, self.examples | other.examples)

    @property
    def most(self) -> int:
        """The cells that fit the best way."""
        return max(self.cells[way] for way in WAYS)

    @property
    def numeric(self) -> bool:
        """True if nine in ten cells are numbers in some way of writing, and not all of them in brackets."""
        return self.cells["bracketed"] < self.most and self.most >= MOSTLY * self.cells["filled"]

    @property
    def plainly_other(self) -> bool:
        """True for a hundred cells or more that mostly do not even begin like numbers."""
        return self.cells["filled"] >= _PLAINLY and 2 * self.most < self.cells["filled"]

    def best(self, options: ReadOptions) -> list[Writing]:
        """The ways that fit most cells, among those that the options allow; none for a column of other texts.

        Two ways that read all cells alike are listed once, by the simpler one.
        """
        fits = {way: self.cells[way] for way in WAYS if _allowed(way, options)}
        most = max(fits.values())
        if not self.numeric or most < MOSTLY * self.cells["filled"]:
            return []
        if most == self.cells["whole"]:
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
        return Evidence(Counter({"filled": filled} if filled else {}))
    plain = matches(cells, _PLAIN)
    rest = pc.and_not(likely, plain)  # unknown for a cell without a text, which a filter drops
    odd, odd_times = cells.filter(rest), None if times is None else times.filter(rest)
    found: Counter[str | Writing] = Counter(
        {kind: number(matches(odd, pattern), odd_times) for kind, pattern in _KINDS.items()}
    )
    for way in WAYS:
        simple = way.thousands and not pc.any(matches(odd, _SIGNS[way.thousands])).as_py()
        found[way] = found[Writing(way.decimal)] if simple else number(matches(odd, way.pattern), odd_times)
    found += Counter(dict.fromkeys(("whole", *WAYS), number(plain, times)))
    found += Counter(filled=filled, long=number(matches(cells, _LONG), times))
    shown = (odd.filter(matches(odd, sign)) for sign in _SIGNS.values())
    return Evidence(found, frozenset(pc.min(part).as_py() for part in shown if len(part)))


class Numerals:
    """How the columns of text of one file write their numbers.

    Parameters
    ----------
    options : ReadOptions
        Of the file, where a decimal or thousands sign may be stated.
    delimiter : str or None
        Of the file; other tables than text have none.
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
        if commas and evidence.cells["whole"] and not evidence.cells["long"]:
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
        way = self.way(name)
        return way is not None and (
            way != PLAIN or any(self.evidence[name].cells[kind] for kind in ("bracketed", "minus"))
        )

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
        if len(best) != 1 or evidence.most == evidence.cells["whole"]:
            return False
        return all(evidence.cells[best[0]] > evidence.cells[way] for way in WAYS if way.decimal != best[0].decimal)

    def _sentences(self, name: str, way: Writing) -> list[tuple[str, str]]:
        """The note on a column, and its addition."""
        best, evidence = self._best(name), self.evidence[name]
        other = next((other for other in best if other != way), None)
        commas = way.decimal == "," and any("," in text for text in evidence.examples)
        table = [
            (commas, "decimal commas", ",", "1,5"),
            (way.thousands, f"{_NAMED.get(way.thousands)} between thousands", way.thousands, "1234"),
            (other is not None and way == PLAIN, "decimal points before three digits", ".", "1.234"),
            (evidence.cells["minus"], "typographic minus signs", "\u2212", "\u22125"),
            (evidence.cells["bracketed"], "negative numbers in brackets", "(", "(5)"),
        ]
        said = [(what, self._example(name, way, sign, usual)) for true, what, sign, usual in table if true]
        if evidence.cells["exponents"] and evidence.most == evidence.cells["whole"]:
            said.append(("numbers with exponents", ": 7E4 counts as 70000 where they are binned."))
        if other is None:
            return said
        sign, use = (other.thousands, "thousands") if other.thousands else (other.decimal, "decimal")
        mend = f"If that is wrong, choose the {_NAMED[sign].removesuffix('s')} as {use} sign."
        return [(what, f"{more} {mend}") for what, more in said]

    def _example(self, name: str, way: Writing, sign: str, usual: str) -> str:
        """How a cell of a column with this sign was read, or the ``usual`` one."""
        texts = [text for text in sorted(self.evidence[name].examples) if re.search(_SIGNS[sign], text)]
        read = ((text, _rewritten(pa.scalar(text, pa.string()), way).as_py()) for text in [*texts, usual])
        shown, number = next((pair for pair in read if "," not in pair[1] and is_number(pair[1])), (usual, usual))
        return f": {shown.strip()} was read as {number}."


def _rewritten(cells: Any, way: Writing) -> Any:
    numbers = pc.match_substring_regex(cells, way.pattern)
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


def is_text(kind: pa.DataType) -> bool:
    """True for columns of text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def columns_of_text(table: pa.Table) -> Iterable[tuple[str, pa.ChunkedArray]]:
    """The columns of text of a table, by name."""
    return ((field.name, table.column(place)) for place, field in enumerate(table.schema) if is_text(field.type))
