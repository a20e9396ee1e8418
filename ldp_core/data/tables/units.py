"""Finds numbers that are written with a unit: "45%", "$1,178.00", "1.178,00 €", "61 kg"."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa

from ldp_core.data import columns
from ldp_core.data.reading.numerals import evidence_of
from ldp_core.data.reading.options import ReadOptions

_MOSTLY = 0.9
_LOOKED_AT = 1_000
"""So many texts are looked at for a unit; all of them are then read with it."""
_CURRENCIES = re.compile(
    r"(?i)(usd|eur|gbp|chf|jpy|cny|inr|rs|sek|nok|dkk|kr|pln|czk|huf|aud|cad|nzd|sgd|hkd|zar|brl|mxn|try|ils|krw|thb|fr)\.?"
)
_WITH_UNIT = re.compile(
    r"\(?[+\u2212-]?\s*([^\d\s()+-]{0,4}?)\s*[+\u2212-]?\s*([.,]?\d[\d.,'\u2019\s]*)([^\d\s()+-](?:[^\d()+-]{0,13}[^\d\s()+-])?)?\)?"
)
_NO_UNIT = {"st", "nd", "rd", "th", "am", "pm", "a.m", "p.m"}


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
    found, spelled, plain = Counter[str](), dict[str, str](), users[np.isfinite(column.numbers[~column.missing])].sum()
    for text, people in zip(texts[:_LOOKED_AT], users[:_LOOKED_AT].tolist(), strict=True):
        if (written := _WITH_UNIT.fullmatch(text)) and (unit := _unit(written[1], (written[3] or "").strip())):
            found[unit.casefold()] += people
            spelled.setdefault(unit.casefold(), unit)
    unit, people = max(found.items(), key=lambda pair: pair[1], default=("", 0))
    if people < _MOSTLY * users[:_LOOKED_AT].sum() - plain or not unit:
        return None
    unit = spelled[unit]
    bare = [re.sub(rf"(?i){re.escape(unit)}s?\.?", "", text, count=1).strip() for text in texts]
    ways = sorted(
        evidence_of(pa.array(bare, pa.large_string()), users).best(ReadOptions()), key=lambda way: not way.thousands
    )
    decimals = tuple(dict.fromkeys(way.decimal for way in ways))
    numbers = columns.in_unit(column, unit, decimals[0]).numbers if decimals else np.zeros(0)
    return (unit, decimals) if np.unique(numbers[np.isfinite(numbers)]).size > 1 else None


def _unit(before: str, behind: str) -> str:
    """The unit that the words before or behind a number are, in the singular; empty where they are none."""
    if before:
        currency = _CURRENCIES.fullmatch(before) or any(map(_is_sign, before))
        return before.removesuffix(".") if currency and not behind else ""
    word = behind.removesuffix(".")
    if not word or word.casefold() in _NO_UNIT or not (word[0].isalpha() or _is_sign(word[0])):
        return ""
    return word.removesuffix("s") if len(word) > 2 else word


def _is_sign(sign: str) -> bool:
    """True for per cent, degrees and currencies."""
    return sign in "%‰°" or unicodedata.category(sign) == "Sc"
