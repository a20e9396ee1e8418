"""The content of a column, before any choice is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain.dates import are_dates
from ldp_core.data.tables.units import unit_of
from ldp_core.wording import quoted

# Below this many distinct numbers a column is a code or a score rather than a measurement.
_FEW_NUMBERS = 20
MOSTLY = 0.9
COUNT_NAMES = {
    "count",
    "counts",
    "count_star()",
    "count(*)",
    "n",
    "number",
    "users",
    "people",
    "persons",
    "frequency",
    "freq",
}


_NUMBERED = re.compile(r"(?i:(?:^|[^a-z])(?:id|uuid|guid)s?(?:$|[^a-z]))|[a-z]I[dD]$")
"""Names of columns that number people or rows: "id", "user_id", "Person ID", "rowId"."""


LOOKED_AT = 1_000
_RECORDS = (
    (r"(?s)^(\{.*\}|\[[\[({].*\])$", "records of several fields", "make a column of each field"),
    (r"^<?(DateOffset|MonthDayNano)", "spans of time", "save them as numbers, such as days,"),
)


@dataclass(frozen=True)
class ColumnSummary:
    """The content of a column, before any choice is made; for missing values and numbers see
    `ldp_core.data.columns`.

    Attributes:
        rows: all rows.
        distinct: different texts, not counting missing ones.
        missing: rows without a value.
        numbers: rows with a finite number.
        integer: there are numbers, and all are whole.
        minimum, maximum: of the finite numbers; None when there are none.
        suggested: the treatment to offer first.
        dates: rows with a date, whichever of day and month comes first in it; numbers are not looked at.
    """

    name: str
    rows: int
    distinct: int
    missing: int
    numbers: int
    integer: bool
    minimum: float | None
    maximum: float | None
    suggested: Literal["categorical", "numeric"]
    dates: int = 0


def summarise(column: columns.Column) -> ColumnSummary:
    """Look at a column; numeric is suggested when nine in ten values are numbers and over 20 differ. Where rows have weights, people are
    counted instead."""
    finite = np.isfinite(column.numbers)
    numbers = column.numbers[finite]
    users = column.rows_per_text
    present = int(users[~column.missing].sum())
    count = int(users[finite].sum())
    looks_numeric = not column.order and count >= MOSTLY * present and np.unique(numbers).size > _FEW_NUMBERS
    words = ~finite & ~column.missing
    dated = are_dates(column.texts[words])
    return ColumnSummary(
        name=column.name,
        rows=column.rows,
        distinct=int((~column.missing).sum()),
        missing=column.rows - present,
        numbers=count,
        integer=bool(count and whole(numbers)),
        minimum=float(numbers.min()) if count else None,
        maximum=float(numbers.max()) if count else None,
        suggested="numeric" if looks_numeric else "categorical",
        dates=int(users[words][dated].sum()),
    )


def called_id(name: str) -> bool:
    """True if the name of a column says that it numbers people or rows."""
    return _NUMBERED.search(name) is not None


def identifies(column: columns.Column) -> bool:
    """True if a column seems to tell people apart rather than to say something about them: it is called an id, or nearly all of its
    texts or whole numbers differ."""
    if called_id(column.name):
        return True
    summary = summarise(column)
    present = summary.rows - summary.missing
    measured = summary.numbers >= MOSTLY * present and not summary.integer
    dated = summary.dates >= MOSTLY * present
    different = summary.distinct > max(_FEW_NUMBERS, MOSTLY * present)
    return different and not (measured or dated or unit_of(column))


def records_in(column: columns.Column) -> str:
    """The sentence that refuses structures, maps and intervals of a file, of which each different one would be a category; else nothing."""
    texts = column.texts[~column.missing][:LOOKED_AT]
    for pattern, what, mend in _RECORDS if len(texts) else ():
        if columns.matching(texts, pattern).mean() >= MOSTLY:
            return f"{column.name} holds {what}, such as {quoted(texts[0])}, which cannot be counted: {mend} in the file first."
    return ""


def can_count(column: columns.Column) -> bool:
    """True if a column can say how many people each row stands for: whole numbers of at least 0, none missing."""
    return bool((column.codes >= 0).all() and whole(column.numbers) and (column.numbers >= 0).all())


def called_counts(name: str) -> bool:
    """True if the name of a column says that it holds numbers of people."""
    return name.strip().casefold() in COUNT_NAMES


def counts_column(table: pd.DataFrame) -> str | None:
    """The column that says how many people a row stands for, if a table looks like counts. Its name
    says so, it holds whole numbers of at least 0, and no two rows are alike in the other columns, ids
    left out."""
    for name in map(str, table.columns):
        rest = [other for other in table.columns if str(other) != name and not called_id(str(other))]
        if called_counts(name) and rest and not table.duplicated(rest).any() and can_count(columns.parse(table[name])):
            return name
    return None


def whole(numbers: np.ndarray) -> bool:
    """True if there are numbers and all are whole."""
    # Past 2^51 a float64 cannot hold the half-integer edges of whole numbers.
    return bool(numbers.size and (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2.0**51)
