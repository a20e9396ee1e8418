"""Cells of a raw column: their text, their number, and what counts as missing.

One set of rules serves summaries, domains and encoding, so that a count shown to the analyst is the count used:

* a cell is compared as text, without leading and trailing spaces; whole floats read as integers ("3", not "3.0"),
  because a column of integers with gaps is stored as floats;
* texts that look the same are the same (`plain`): letters are in Unicode's normal form C, every kind of
  space is a space, and signs without a width are left out;
* a cell is missing when it is null, NaN, blank, or one of `MISSING_WORDS` in any case, unless a declared category
  has exactly that text;
* a number is whatever `pandas.to_numeric` reads. Truth values and dates are text.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.data.missing import MISSING_WORDS as MISSING_WORDS
from ldp_core.wording import quote_examples

_LIKE_MISSING = rf"^(?i:{'|'.join(map(re.escape, sorted(MISSING_WORDS)))})$"
_BLANKS = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isspace())
"""What `str.strip` takes away."""

_SPACES = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_NO_WIDTH = "[\u00ad\u200b\u200e\u200f\u2060\ufeff]"
"""Signs without a width that no script needs: joiners (U+200C, U+200D) distinguish words of some."""

_NUMBER_SIGNS = r"^[0-9.+\-eE\s]+$|^(?i:\s*[+-]?(inf|infinity)\s*)$"
"""The signs that numbers consist of: trying to read other texts takes long."""

# Above this, neighbouring whole floats are further than 1 apart and writing them as integers would invent digits.
_EXACT_WHOLE = 2.0**53


@dataclass(frozen=True)
class Column:
    """A raw column, as its distinct texts.

    Attributes:
        name: the column's name, for messages.
        codes: (rows,) int64, position of each row's text in `texts`; -1 for a null or blank cell.
        texts: (distinct,) object array of stripped, non-empty texts.
        numbers: (distinct,) float64, NaN where the text is not a number; infinities stay infinite.
        missing: (distinct,) bool, the text is one of `MISSING_WORDS`.
        weights: (rows,) how many people each row stands for; None where each is one person.
        order: the ordered categories that the file states, also those that no row holds; else empty.
    """

    name: str
    codes: np.ndarray
    texts: np.ndarray
    numbers: np.ndarray
    missing: np.ndarray
    weights: np.ndarray | None = None
    order: tuple[str, ...] = ()

    @property
    def rows_per_text(self) -> np.ndarray:
        """(distinct,) int64: how many rows hold each text, or people where rows have weights."""
        filled = self.codes >= 0
        weights = None if self.weights is None else self.weights[filled]
        return np.bincount(self.codes[filled], weights, minlength=self.texts.size).astype(np.int64)

    @property
    def rows(self) -> int:
        """All rows, or people where rows have weights."""
        return self.total(np.ones(self.codes.size, dtype=bool))

    @property
    def nbytes(self) -> int:
        """Memory that it takes, roughly."""
        return self.codes.nbytes + 100 * self.texts.size + (0 if self.weights is None else self.weights.nbytes)

    def total(self, mask: np.ndarray) -> int:
        """Rows in a mask (rows,), or people where rows have weights."""
        return int(mask.sum() if self.weights is None else self.weights[mask].sum())


def parse(series: pd.Series, weights: np.ndarray | None = None) -> Column:
    """Read a column of any dtype (or a list of values) once; the work per row is a hash look-up."""
    series = pd.Series(series)
    if series.dtype == object:
        # As text before hashing: True, 1 and 1.0 are equal to a hash table but not to an analyst.
        series = pd.Series([_text(value) for value in series], dtype=object, name=series.name)
    if isinstance(series.dtype, pd.StringDtype) and series.dtype.storage == "pyarrow":
        codes, texts = _stripped(series)
        numbers = to_numbers(texts)
    else:
        row_codes, distinct = pd.factorize(series)
        # Different values can share a text ("a" and " a"), so the texts are factorised once more.
        merged, texts = pd.factorize(np.array([_text(value) for value in distinct], dtype=object))
        codes = np.append(merged, -1)[row_codes].astype(np.int64)
        if pd.api.types.is_numeric_dtype(distinct.dtype) and not pd.api.types.is_bool_dtype(distinct.dtype):
            numbers = np.full(texts.size, np.nan)
            # Nullable dtypes can hold NaN beside null, so a distinct value may still be without a text.
            filled = merged >= 0
            numbers[merged[filled]] = np.asarray(distinct[filled], dtype=np.float64)
        else:
            numbers = to_numbers(texts)
    missing = matching(texts, _LIKE_MISSING)
    missing[missing] = [is_missing_word(text) for text in texts[missing]]
    numbers[missing] = np.nan
    name = str(series.name) if series.name is not None else "the column"
    order: tuple[str, ...] = ()
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        order = tuple(text for text in map(_text, series.dtype.categories) if text is not None)
    return Column(name, codes, texts, numbers, missing, weights, order)


def plain(text: str) -> str:
    """A text as it is compared: what looks the same is the same."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", re.sub(_SPACES, " ", re.sub(_NO_WIDTH, "", text)))
    return text.strip()


def is_missing_word(text: str) -> bool:
    """True for texts that count as missing."""
    return text.casefold() in MISSING_WORDS


def to_numbers(texts: np.ndarray) -> np.ndarray:
    """Numbers written in `texts` (object array of strings); NaN where there is none. Float64, same shape."""
    likely = matching(texts, _NUMBER_SIGNS)
    numbers, words = np.full(texts.shape, np.nan), texts[likely]
    try:
        numbers[likely] = pc.cast(pa.array(words, pa.large_string()), pa.float64())
    except (pa.ArrowInvalid, UnicodeEncodeError):  # Arrow reads all or nothing
        numbers[likely] = pd.to_numeric(words, errors="coerce")
    return numbers


def in_unit(column: Column, unit: str, decimal: str) -> Column:
    """The column with the numbers in its texts read without their unit.

    Parameters
    ----------
    column : Column
    unit : str
        A currency, "%" or any other word before or behind numbers, whatever its case, in the singular. Numbers
        without it are read as well. A column without it holds plain numbers.
    decimal : str
        The decimal sign, "." or ","; other signs before three digits are between thousands.
    """
    if not unit or not matching(column.texts, f"(?i:{re.escape(unit)})").any():
        return column
    point, beside, minus = re.escape(decimal), rf"(?i:{re.escape(unit)}s?\.?)?", "\u2212"
    grouped = "".join(sign for sign in ",.'\u2019 " if sign != decimal)
    digits = rf"(?:\d+|[1-9]\d{{0,2}}(?:[{grouped}]\d{{3}})+)(?:{point}\d*)?|{point}\d+"
    number = rf"^([+{minus}(-]?)\s*{beside}\s*([+{minus}-]?)\s*({digits})\s*{beside}\s*\)?$"
    written = matching(column.texts, number) & ~column.missing
    numbers = column.numbers.copy()
    with suppress(UnicodeEncodeError):  # half of a pair of surrogates is no text to Arrow
        words = pc.replace_substring_regex(pa.array(column.texts[written], pa.large_string()), number, r"\1\2\3")
        words = pc.replace_substring_regex(pc.replace_substring_regex(words, f"[{minus}(]", "-"), f"[{grouped}]", "")
        numbers[written] = to_numbers(pc.replace_substring(words, decimal, ".").to_numpy(zero_copy_only=False))
    return replace(column, numbers=numbers)


def matching(texts: np.ndarray, pattern: str) -> np.ndarray:
    """(texts,) mask of the strings (object array) that contain a match of a regular expression of
    RE2; reading a million texts one by one takes seconds."""
    try:
        matches = pc.match_substring_regex(pa.array(texts, pa.large_string()), pattern)
        return np.array(matches, dtype=bool)
    except UnicodeEncodeError:  # half of a pair of surrogates is no text to Arrow
        return np.ones(texts.shape, dtype=bool)


def simplified(texts: np.ndarray, pattern: str, by: str) -> tuple[np.ndarray, np.ndarray]:
    """The texts (object array of strings) with the first place that a regular expression of RE2 is found in replaced ``by``
    another text, where Arrow can read them: position of each among the distinct ones, and these."""
    try:
        words = pc.replace_substring_regex(pa.array(texts, pa.large_string()), pattern, by, max_replacements=1)
    except UnicodeEncodeError:
        return pd.factorize(texts)
    encoded = words.dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy(zero_copy_only=False)


def not_numbers(column: Column, which: np.ndarray | list[int]) -> str:
    """The sentence that refuses the texts at positions (or mask) `which`, since they are not numbers."""
    rows = int(column.rows_per_text[which].sum())
    return (
        f"{rows:,} of {column.rows:,} values of {column.name} {'is not a number' if rows == 1 else 'are not numbers'}, "
        f"such as {quote_examples(column.texts[which])}: use the values as categories, or treat {'it' if rows == 1 else 'these'} as missing."
    )


def _stripped(series: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """What `_text` makes of each text, a million at once: (rows,) positions in the distinct ones (-1 where it is null or blank),
    and these (object)."""
    words = pa.array(series, pa.large_string())
    if isinstance(words, pa.ChunkedArray):
        words = words.combine_chunks()
    if pc.any(pc.invert(pc.string_is_ascii(words))).as_py():
        words = pc.utf8_normalize(words, form="NFC")
        words = pc.replace_substring_regex(pc.replace_substring_regex(words, _NO_WIDTH, ""), _SPACES, " ")
    stripped = pc.utf8_trim(words, characters=_BLANKS)
    encoded = pc.if_else(pc.equal(stripped, ""), None, stripped).dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_numpy(zero_copy_only=False)


def _text(value: object) -> str | None:
    """Stripped text of one cell; None when it is null or blank."""
    if isinstance(value, str):
        return plain(value) or None
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, float | np.floating) and value.is_integer() and -_EXACT_WHOLE < value < _EXACT_WHOLE:
        return str(int(value))
    return str(value).strip() or None
