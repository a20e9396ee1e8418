"""Texts to counted reports: which are reports of the design, why the others are not, and what they add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.deploy.collector.alphabet import Alphabet
from ldp_core.deploy.collector.reasons import MALFORMED, OUTSIDE, TOO_FEW_OR_MANY
from ldp_core.mechanisms.base import Mechanism, Reports

_NUMBER = "(0|-?[1-9][0-9]*)"
_REPORT = f"^{_NUMBER}( {_NUMBER})*$"
_DIGITS = {np.dtype(np.int64): 18, np.dtype(np.uint64): 20}
"""Longest numbers read; longer ones are of no report."""


def longest(letters: Alphabet) -> int:
    """Characters of a text, beyond which it is no report and need not be carried here to be refused."""
    return 64 + 21 * letters.width


@dataclass
class Tally:
    """The reports of a file so far: added up, and the others by reason."""

    letters: Alphabet
    reports: Reports
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, texts: pa.StringArray, times: np.ndarray) -> None:
        """Count ``texts`` (k,); each stands for ``times`` (k,) reports."""
        good = pc.fill_null(pc.match_substring_regex(texts, _REPORT), False)
        long = pc.list_value_length(pc.split_pattern(texts, " "))
        right = pc.and_(good, pc.fill_null(pc.equal(long, self.letters.width), False))
        read, fitting = (mask.to_numpy(zero_copy_only=False) for mask in (good, right))
        rows, known = numbers(texts.filter(right), self.letters)
        known &= self.letters.possible(rows)
        for reason, some in (
            (MALFORMED, times[~read]),
            (TOO_FEW_OR_MANY, times[read & ~fitting]),
            (OUTSIDE, times[fitting][~known]),
        ):
            self.refused[reason] += int(some.sum())
        self.reports = self.reports + weighed(self.letters, rows[known], times[fitting][known])


def numbers(texts: pa.StringArray, letters: Alphabet) -> tuple[np.ndarray, np.ndarray]:
    """The numbers (k, width) in well-formed ``texts`` (k,), and (k,) whether they are within what a computer word holds."""
    flat = pc.split_pattern(texts, " ").flatten()
    beyond = pc.greater(pc.binary_length(flat), _DIGITS[letters.dtype])
    if letters.dtype == np.uint64:
        largest = pc.and_(pc.equal(pc.binary_length(flat), 20), pc.greater(flat, str(2**64 - 1)))
        beyond = pc.or_(beyond, pc.or_(largest, pc.starts_with(flat, "-")))
    kept = pc.if_else(beyond, "0", flat) if pc.any(beyond).as_py() else flat
    shape = (len(texts), letters.width)
    values = pc.cast(kept, pa.from_numpy_dtype(letters.dtype)).to_numpy(zero_copy_only=False).reshape(shape)
    return values, ~beyond.to_numpy(zero_copy_only=False).reshape(shape).any(axis=1)


def weighed(letters: Alphabet, rows: np.ndarray, times: np.ndarray) -> Reports:
    """The reports ``rows`` (k, width), each sent ``times`` (k,) times: sums over the binary digits of ``times``, as `aggregate` is linear."""
    mechanism: Mechanism = letters.mechanism
    reports = mechanism.aggregate(letters.nothing)
    for digit in reversed(range(int(times.max(initial=0)).bit_length())):
        reports = reports + reports
        some = rows[(times >> digit & 1).astype(bool)]
        reports = reports + mechanism.aggregate(letters.shaped(some))
    return reports
