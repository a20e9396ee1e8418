"""Finds numbers that are written with a unit: "45%", "$1,178.00", "1.178,00 €", "61 kg"."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa

from ldp_core.data import columns
from ldp_core.data.reading.numerals import evidence_of
from ldp_core.data.reading.options import ReadOptions

_MOSTLY, _LOOKED_AT, _LONGEST = 0.9, 1_000, 100
"""The unit is looked for in the first texts that are not too long; all of them are then read with it."""
_SIGN = "[%‰°$€£¥₹₽₩₺₫₴₪₱฿]"
_CURRENCY = (
    "usd|eur|gbp|chf|jpy|cny|inr|rs|sek|nok|dkk|kr|pln|czk|huf|aud|cad|nzd|sgd|hkd|zar|brl|mxn|try|ils|krw|thb|fr"
)
_DIGITS = r"[.,]?\d[\d.,'\u2019\s]*"
_WITH_UNIT = re.compile(
    rf"(?i)[(+\u2212-]*\s*(?:(?P<before>[a-z]{{0,3}}{_SIGN}|{_CURRENCY})\.?\s*[+\u2212-]?\s*{_DIGITS}|"
    rf"{_DIGITS}(?!(?:st|nd|rd|th|[ap]\.?m)\b)(?P<behind>(?:[^\W\d_]|{_SIGN})(?:[^\d()+-]{{0,13}}[^\d\s()+.-])?)\.?)\)?"
)


def unit_of(column: columns.Column) -> tuple[str, tuple[str, ...]] | None:
    """The unit that nine in ten values of a column are numbers of.

    Parameters
    ----------
    column : Column
        One whose texts are not plain numbers.

    Returns
    -------
    tuple or None
        The unit, in the singular, and the decimal signs that the numbers may have, the likelier one first; None where the texts
        are something else.
    """
    texts, users = column.texts[~column.missing][:_LOOKED_AT], column.rows_per_text[~column.missing][:_LOOKED_AT]
    units, plain = [_unit(text) for text in texts], np.isfinite(column.numbers[~column.missing][:_LOOKED_AT])
    people = Counter[str]()
    for unit, some in zip(units, users.tolist(), strict=True):
        people[unit.casefold()] += some
    same = max(filter(None, people), key=people.__getitem__, default="")
    if not same or people[same] < _MOSTLY * users.sum() - users[plain].sum():
        return None
    unit = next(unit for unit in units if unit.casefold() == same)
    such = np.array([unit.casefold() == same for unit in units])
    bare = [re.sub(rf"(?i){re.escape(unit)}s?\.?", "", text, count=1).strip() for text in texts[such]]
    ways = evidence_of(pa.array(bare, pa.large_string()), users[such]).best(ReadOptions())
    decimals = tuple(dict.fromkeys(way.decimal for way in sorted(ways, key=lambda way: not way.thousands)))
    numbers = columns.in_unit(column, unit, decimals[0]).numbers if decimals else np.zeros(0)
    return (unit, decimals) if np.unique(numbers[np.isfinite(numbers)]).size > 1 else None


def _unit(text: str) -> str:
    """The unit before or behind the number that a text is, in the singular; empty where there is none."""
    written = _WITH_UNIT.fullmatch(text) if len(text) <= _LONGEST else None
    return re.sub(r"(?i)(?<=\w\w)s$", "", written["before"] or written["behind"]) if written else ""
