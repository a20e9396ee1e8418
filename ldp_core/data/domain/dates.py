"""Attributes of dates: consecutive days, weeks, months, quarters or years, and how dates are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from ldp_core.data import columns
from ldp_core.data.domain.attributes import MISSING, OUTSIDE, BaseAttribute, Placed
from ldp_core.limits import MOST_BINS
from ldp_core.wording import quote_examples, quoted

Unit = Literal["day", "week", "month", "quarter", "year"]

_TIME = r"(?:[T ]+\d{1,2}:\d\d.*)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}|(\d{{4}})(\d\d)(\d\d)", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}", re.ASCII)
_NAMED = re.compile(
    rf"(?:(\d{{1,2}})[ -]([A-Za-z]{{3,9}})\.?|([A-Za-z]{{3,9}})\.? (\d{{1,2}}),?)[ -](\d{{4}}){_TIME}", re.ASCII
)
# For RE2, which finds them among a million texts: what all dates and labels of periods begin with, and their time of day.
_LIKE_DATES = r"^(\d{1,4}[-/. ]|\d{4}$|\d{8}$|[A-Za-z]{3,9}\.? \d)"
_LIKE_YEAR_LAST = r"^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
_TIME_OF_DAY = r"[T ]+\d{1,2}:\d\d.*$"
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_LABELS = {
    "day": r"(\d{4})-(\d\d)-(\d\d)",
    "week": r"(\d{4})-W(\d\d)",
    "month": r"(\d{4})-(\d\d)",
    "quarter": r"(\d{4})-Q([1-4])",
    "year": r"(\d{4})",
}
EXAMPLES = {"day": "2026-01-31", "week": "2026-W05", "month": "2026-01", "quarter": "2026-Q1", "year": "2026"}


class DateAttribute(BaseAttribute):
    """A column of dates by consecutive periods.

    Dates are read as 2026-01-31, 2026/1/31, 20260131, 31.1.2026, 31 Jan 2026 or Jan 31, 2026. A
    time of day is ignored (no time zones are converted). 31/1/2026 and 31-1-2026 are read if the
    order is clear or stated. Years have four digits. Weeks are those of ISO 8601, from Monday.

    Attributes:
        unit: how long a period is.
        first, last: labels of the first and last period: 2026-01-31, 2026-W05, 2026-01, 2026-Q1 or 2026 by unit.
        day_first: 1/2/2026 is the first of February (True), the second of January (False), or unreadable (None).
        non_dates: what a text that is not a date counts as: an error, or a missing value.
        outside: what becomes of dates before the first or after the last period: one "(other)" type, the nearest period
            ("clamp"), or an error.
    """

    kind: Literal["date"] = "date"
    unit: Unit
    first: str = Field(max_length=10)
    last: str = Field(max_length=10)
    day_first: bool | None = None
    non_dates: Literal["refuse", "missing"] = "refuse"
    outside: Literal["other", "clamp", "refuse"] = "refuse"

    @model_validator(mode="after")
    def _check_ends(self) -> DateAttribute:
        count = self._ordinary_size()
        if count < 1:
            raise ValueError(f"the dates cannot go from {self.first} to {self.last}: give the earlier one first.")
        if count > MOST_BINS:
            raise ValueError(f"{count:,} {self.unit}s are too many: at most {MOST_BINS:,} are allowed.")
        return self

    def _start(self) -> int:
        return period_of(first_day(self.first, self.unit), self.unit)

    def _ordinary_labels(self, which: np.ndarray) -> list[str]:
        start = self._start()
        return [label_of_period(start + i, self.unit) for i in which.tolist()]

    def _ordinary_size(self) -> int:
        return -self._start() + period_of(first_day(self.last, self.unit), self.unit) + 1

    def _refuse_unread(self, column: columns.Column, unread: np.ndarray) -> None:
        if self.non_dates == "refuse" and unread.any():
            raise ValueError(not_dates(column, unread))

    def _place(self, column: columns.Column) -> Placed:
        periods = periods_of(column.texts, self.unit, self.day_first)
        periods[column.missing] = -1
        types = periods - self._start()
        outside = (periods >= 0) & ((types < 0) | (types >= self._ordinary_size()))
        types = np.clip(types, 0, self._ordinary_size() - 1)
        if self.outside != "clamp":
            types[outside] = OUTSIDE
        types[periods < 0] = MISSING
        return types, outside, (periods < 0) & ~column.missing


def read_date(text: str, day_first: bool | None = None) -> date | None:
    """The date that a text holds; None when it holds none, or one whose order of day and month is not known."""
    if match := _YEAR_FIRST.fullmatch(text):
        parts = match.group(1, 3, 4) if match.group(1) else match.group(5, 6, 7)
        return _date(*map(int, parts))
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = int(match.group(1)), int(match.group(3)), int(match.group(4))
        # Points are only written between day, month and year in that order.
        if match.group(2) == "." or day_first or (day_first is None and (first > 12 or first == second)):
            return _date(year, second, first)
        return _date(year, first, second) if day_first is False or second > 12 else None
    if match := _NAMED.fullmatch(text):
        name = (match.group(2) or match.group(3)).lower()
        month = next((i for i, full in enumerate(_MONTHS, 1) if name in (full, full[:3], full[:4])), 0)
        return _date(int(match.group(5)), month, int(match.group(1) or match.group(4)))
    return None


def read_period(text: str, unit: Unit, day_first: bool | None = None) -> int | None:
    """The number of the period that a text names (2026-Q1) or that its date is in; months also name their quarter and year."""
    day = _first_day(text, unit)
    if day is None and unit in ("quarter", "year"):
        day = _first_day(text, "month")
    day = day or read_date(text, day_first)
    return None if day is None else period_of(day, unit)


def periods_of(texts: np.ndarray, unit: Unit, day_first: bool | None = None) -> np.ndarray:
    """(texts,) int64 numbers of the periods (object array of strings), -1 where there is none; see `read_period`."""

    def read(text: str) -> int:
        period = read_period(text, unit, day_first)
        return -1 if period is None else period

    return _each(texts, read, -1)


def are_dates(texts: np.ndarray) -> np.ndarray:
    """(texts,) mask of those (object array of strings) that are dates, whichever of day and month comes first."""
    return _each(texts, lambda text: int(bool(read_date(text, True) or read_date(text, False))), 0).astype(bool)


def _each(texts: np.ndarray, read: Callable[[str], int], nothing: int) -> np.ndarray:
    """``read`` of each text, ``nothing`` where it plainly is no date. A million times of day are read once for every day."""
    numbers = np.full(texts.shape, nothing, dtype=np.int64)
    likely = np.flatnonzero(columns.matching(texts, _LIKE_DATES))
    codes, distinct = columns.simplified(texts[likely], _TIME_OF_DAY, " 0:00")
    numbers[likely] = np.array([read(text) for text in distinct], dtype=np.int64)[codes]
    return numbers


def day_comes_first(texts: list[str] | np.ndarray) -> bool | None:
    """True if the day comes first in these texts, as in 31/1/2026; None when it makes no difference to any of them.

    Raises
    ------
    ValueError
        Both orders occur, or no text shows which one is meant.
    """
    texts = np.array(texts, dtype=object)
    pairs = [
        (int(match.group(1)), int(match.group(3)), text)
        for text in texts[columns.matching(texts, _LIKE_YEAR_LAST)]
        if (match := _YEAR_LAST.fullmatch(text)) and match.group(2) != "."
    ]
    day, month = (next((text for *both, text in pairs if both[side] > 12), None) for side in (0, 1))
    if day and month:
        raise ValueError(
            f"these dates are written in two orders: in {quoted(day)} the day comes first and in {quoted(month)} the month: "
            "write them all as 2026-01-31."
        )
    if day or month:
        return day is not None
    unclear = next((text for first, second, text in pairs if first != second), None)
    if unclear:
        raise ValueError(f"{quoted(unclear)} could be two dates: say whether the day comes first (day_first).")
    return None


def not_dates(column: columns.Column, which: np.ndarray) -> str:
    """The sentence that refuses the texts in mask `which`, since they are not dates."""
    return (
        f"{column.rows_per_text[which].sum():,} of {column.rows:,} values of {column.name} are not dates such as "
        f"2026-01-31 or 31.1.2026, for example {quote_examples(column.texts[which])}: fix them, say whether "
        "the day comes first, use the values as categories, or treat these as missing."
    )


def period_of(day: date, unit: Unit) -> int:
    """The number of the period a day is in; consecutive periods have consecutive numbers, none below 0."""
    numbers: dict[Unit, int] = {
        "day": day.toordinal(),
        "week": (day.toordinal() - 1) // 7,  # 1 January of year 1 was a Monday
        "month": day.year * 12 + day.month - 1,
        "quarter": day.year * 4 + (day.month - 1) // 3,
        "year": day.year,
    }
    return numbers[unit]


def label_of_period(period: int, unit: Unit) -> str:
    """2026-01-31, 2026-W05, 2026-01, 2026-Q1 or 2026."""
    labels: dict[Unit, Callable[[], str]] = {
        "day": lambda: date.fromordinal(period).isoformat(),
        "week": lambda: "{:04}-W{:02}".format(*date.fromordinal(period * 7 + 1).isocalendar()[:2]),
        "month": lambda: f"{period // 12:04}-{period % 12 + 1:02}",
        "quarter": lambda: f"{period // 4:04}-Q{period % 4 + 1}",
        "year": lambda: f"{period:04}",
    }
    return labels[unit]()


def first_day(label: str, unit: Unit) -> date:
    """The first day of the period with this label. ValueError where there is none: years go from 1 to 9998, so that every
    period ends within the calendar."""
    day = _first_day(label, unit)
    if day is None:
        raise ValueError(f'"{label}" is not a {unit}: write it like {EXAMPLES[unit]}, in the years 1 to 9998.')
    return day


def _first_day(label: str, unit: Unit) -> date | None:
    match = re.fullmatch(_LABELS[unit], label, re.ASCII)
    if not match or not 1 <= int(match.group(1)) <= 9998:
        return None
    year, number, day = (*map(int, match.groups()), 1, 1)[:3]
    if unit != "week":
        return _date(year, 3 * number - 2 if unit == "quarter" else number, day)
    try:
        return date.fromisocalendar(year, number, 1)
    except ValueError:
        return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
