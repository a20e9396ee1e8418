"""Finds numbers that are written with a unit: "45%", "$1,178.00", "1.178,00 €", "61 kg"."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa

from ldp_core.data import columns
from ldp_core.data.reading.numerals import evidence_of
from ldp_core.data.reading.options import ReadOptions

_MOSTLY, _LOOKED_AT = 0.9, 1_000
"""So many texts are looked at for a unit; all of them are then read with it."""
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
    texts, users = column.texts[~column.missing], column.rows_per_text[~column.missing]
    plain, units = (
        users[np.isfinite(column.numbers[~column.missing])].sum(),
        [_unit(text) for text in texts[:_LOOKED_AT]],
    )
    people = Counter[str]()
    for unit, some in zip(units, users.tolist(), strict=False):
        people[unit.casefold()] += some * bool(unit)
    same, most = max(people.items(), key=lambda pair: pair[1], default=("", 0))
    if not same or most < _MOSTLY * users[:_LOOKED_AT].sum() - plain:
        return None
    unit = next(unit for unit in units if unit.casefold() == same)
    bare = [re.sub(rf"(?i){re.escape(unit)}s?\.?", "", text, count=1).strip() for text in texts]
    ways = sorted(
        evidence_of(pa.array(bare, pa.large_string()), users).best(ReadOptions()), key=lambda way: not way.thousands
    )
    decimals = tuple(dict.fromkeys(way.decimal for way in ways))
    numbers = columns.in_unit(column, unit, decimals[0]).numbers if decimals else np.zeros(0)
    return (unit, decimals) if np.unique(numbers[np.isfinite(numbers)]).size > 1 else None


def _unit(text: str) -> str:
    """The unit before or behind the number that a text is, in the singular; empty where there is none."""
    written = _WITH_UNIT.fullmatch(text)
    return re.sub(r"(?i)(?<=\w\w)s$", "", written["before"] or written["behind"]) if written else ""
