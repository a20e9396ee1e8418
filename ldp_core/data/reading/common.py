"""The shared part of all readers: the one kind of refusal, and checks of a table's shape.

Imported by the process that reads as well, which would wait for Pydantic: what only others need is in `options`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ldp_core.data.reading.limits_in_words import too_long
from ldp_core.limits import MB, MOST_CELL_BYTES, MOST_COLUMN_NAME, MOST_COLUMNS, MOST_TEXT_BYTES
from ldp_core.wording import quoted

TAB_ENDINGS = {".tsv", ".tab"}
TEXT_ENDINGS = {".csv", ".txt", ".data", ".dat"} | TAB_ENDINGS
PARQUET_ENDINGS = {".parquet", ".pq"}
EXCEL_ENDINGS = {".xlsx", ".xlsm"}


class UnreadableTable(ValueError):
    """The file is not a table we can read; the message says why and what to do."""


class Stopped(UnreadableTable):
    """Somebody cancelled the reading."""


@dataclass(frozen=True)
class Watch:
    """Whether somebody has ``cancelled`` a reading, asked now and then, and when it ``begun``."""

    cancelled: Callable[[], bool] = lambda: False
    begun: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raises Stopped once it is cancelled."""
        if self.cancelled():
            raise Stopped("Reading was cancelled.")

    def check_time(self, seconds: float, mend: str) -> None:
        """As `check`; UnreadableTable, with how to ``mend`` it, past so many ``seconds``."""
        self.check()
        if time.monotonic() - self.begun > seconds:
            raise UnreadableTable(too_long(seconds, mend))


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(cancelled: Callable[[], bool]) -> Iterator[None]:
    """All reading that this thread does inside is cancelled once ``cancelled()`` is true, and its time limit counts from here."""
    token = _WATCH.set(Watch(cancelled))
    try:
        yield
    finally:
        _WATCH.reset(token)


def watch() -> Watch:
    """The watch whose block we are in, or a new one that begins now and only knows the time."""
    return _WATCH.get() or Watch()


def column_names(names_read: list[str], given: tuple[str, ...]) -> list[str]:
    """The names of the columns: `given` where there are any, else `found` with blank ones numbered; checked."""
    if given and len(given) != len(names_read):
        raise UnreadableTable(
            f"{len(given):,} column names are given and the table has {len(names_read):,} columns: give a name for each."
        )
    names = [name.strip() or f"column_{i}" for i, name in enumerate(given or names_read, 1)]
    check_columns(names)
    return names


def numbered(width: int) -> list[str]:
    """column_1, column_2, ..."""
    return [f"column_{i}" for i in range(1, width + 1)]


def check_columns(names: list[str]) -> None:
    """Refuse a table of no columns or more than `MOST_COLUMNS`, names beyond `MOST_COLUMN_NAME`, or two columns of one name."""
    if not names:
        raise UnreadableTable("This table has no columns: choose one with at least one.")
    if len(names) > MOST_COLUMNS:
        raise UnreadableTable(
            f"This table has {len(names):,} columns and at most {MOST_COLUMNS} are read: keep only the ones you need."
        )
    long = [i for i, name in enumerate(names, 1) if len(name) > MOST_COLUMN_NAME]
    if long:
        raise UnreadableTable(
            f"The name of column {long[0]} has {len(names[long[0] - 1]):,} characters and at most {MOST_COLUMN_NAME} are read: "
            "shorten it, or say that the first line is not a header."
        )
    twice = [
        f"{quoted(name)} occurs {times:,} times (columns "
        f"{', '.join([f'{i:,}' for i, other in enumerate(names, 1) if other == name][:5])})"
        for name, times in Counter(names).items()
        if times > 1
    ]
    if twice:
        more = f" and {len(twice) - 3:,} more do so" if len(twice) > 3 else ""
        raise UnreadableTable(
            f"Column names must differ and {', '.join(twice[:3])}{more}: rename them, "
            "or say that the first line is not a header."
        )


def check_cells(rows: int, width: int, most: int) -> None:
    """Refuse more than ``most`` cells."""
    if rows * width > most:
        raise UnreadableTable(
            f"This table has {rows:,} rows and {width} columns, more than {most:,} cells in all: "
            "keep only the columns or rows you need."
        )


def check_text(name: str, longest: int, size: int) -> None:
    """Refuse a column ``name`` whose ``longest`` cell exceeds `MOST_CELL_BYTES`, and texts of ``size`` bytes in all past `MOST_TEXT_BYTES`."""
    if longest > MOST_CELL_BYTES:
        raise UnreadableTable(
            f"A cell of {quoted(name)} is longer than the {MOST_CELL_BYTES:,} bytes that are read: shorten it, or leave that column out."
        )
    if size > MOST_TEXT_BYTES:
        raise UnreadableTable(
            f"The texts of this table unpack to more than the {MOST_TEXT_BYTES // MB} MB that are read: keep only the columns or "
            "rows you need."
        )


def check_row(names: list[str], row: Sequence[object], size: int) -> int:
    """As `check_text` for a row of Python values; returns ``size`` with its texts."""
    for name, cell in zip(names, row, strict=False):
        if isinstance(cell, str | bytes):
            size += len(cell)
            check_text(name, len(cell), size)
    return size


def check_rows(rows: int) -> None:
    """Refuse a table without rows."""
    if rows == 0:
        raise UnreadableTable(
            "This file has column names but no rows: add rows, or say that the first line is not a header."
        )


def blank_note(rows: int) -> str:
    """The note on rows without any value, which are no people."""
    return f"{rows:,} blank row{' was' if rows == 1 else 's were'} left out."


def first_line(error: Exception) -> str:
    """The start of another program's message, to be part of a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160].rstrip(".:")


@contextmanager
def damage_as(sentence: str, *kinds: type[Exception]) -> Iterator[None]:
    """Errors of these ``kinds`` that a library has with a file, as one sentence; what is refused, or takes too much memory, stays so."""
    try:
        yield
    except (UnreadableTable, MemoryError):
        raise
    except kinds as error:
        raise UnreadableTable(sentence) from error


@contextmanager
def in_words(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of a database as one sentence."""
    try:
        yield
    except kinds as error:
        if "not authorized" in str(error) or "prohibited" in str(error):
            raise UnreadableTable(
                "A query here is one SELECT over this file: it can read but not change anything."
            ) from error
        raise UnreadableTable(f"The database refuses this query: {first_line(error)}.") from error
