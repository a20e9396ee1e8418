"""The limits of every reader, and the sentences in which pages state them before a button is
pressed."""

from __future__ import annotations

from dataclasses import dataclass

_MB = 2**20
_GB = 2**30

MAX_BYTES = 200 * _MB
"""Largest upload: it sits in memory, several times over while it is read."""
MAX_NAME = 300
"""Characters of a column's name: sentences and pages show it."""
MAX_COLUMNS = 500
IN_PROCESS = 32 * _MB
"""Text files up to this size are read without a process of their own: at that size it takes a few seconds at most."""
MAX_ROW_NUMBER = 2**20
MAX_COLUMN_NUMBER = 2**14
"""The last row and column Excel itself can hold. A sheet may number its rows as it likes, and the gaps are filled."""
MAX_PARTS = 10_000
"""Most parts of a workbook."""


@dataclass(frozen=True)
class Limits:
    """The limits of one reading, past which it ends with a sentence.

    Attributes:
        seconds: wall time. memory: bytes of address space of the process that reads, all libraries included.
        cells: of the table. unpacked: bytes the file, or the table, may unpack to.
    """

    seconds: float
    memory: int
    cells: int
    unpacked: int


TEXT = Limits(seconds=60, memory=4 * _GB, cells=100_000_000, unpacked=2 * _GB)
PARQUET = Limits(seconds=60, memory=6 * _GB, cells=100_000_000, unpacked=2 * _GB)
EXCEL = Limits(seconds=120, memory=3 * _GB, cells=2_000_000, unpacked=400 * _MB)
"""A million cells take some ten seconds, and as objects several times the memory of their text."""
QUERY = Limits(seconds=60, memory=2 * _GB, cells=100_000_000, unpacked=_GB)
MEND = "select fewer columns or rows, or count in the query itself."
LOCAL = Limits(seconds=600, memory=_GB, cells=100_000_000, unpacked=2 * _GB)
"""One action on a file by its path, which may look at it several times; `memory` is what DuckDB may take."""


def upload_in_words() -> str:
    """The limits of an upload, for the page."""
    return (
        f"CSV, Excel or Parquet, at most {MAX_BYTES // _MB} MB, {MAX_COLUMNS} columns and {TEXT.cells // 10**6} million "
        f"cells ({EXCEL.cells // 10**6} million in Excel). Reading ends after {_minutes(TEXT.seconds)}, Excel after "
        f"{_minutes(EXCEL.seconds)}."
    )


def local_in_words() -> str:
    """The limits of looking at a local file, for the page."""
    from ldp_core.people import (
        MOST_VALUES,
    )  # importing it here would load NumPy, and the process that reads a database would wait for that

    return (
        f"Reading and counting take at most {_minutes(LOCAL.seconds)} and {LOCAL.memory // _GB} GB of memory, and can be "
        "cancelled. Of columns with more than a million combinations of values, people are kept one by one: up to "
        f"{MOST_VALUES // 10**6:,} million values, such as {MOST_VALUES // 11 // 10**6:,} million people with 11 columns."
    )


def query_in_words() -> str:
    """The limits of a query, for the page."""
    return (
        f"A query takes at most {_minutes(QUERY.seconds)} and {QUERY.memory // _GB} GB of memory, returns at most "
        f"{QUERY.unpacked // _GB} GB, and can be cancelled."
    )


def _minutes(seconds: float) -> str:
    return "a minute" if seconds == 60 else f"{seconds / 60:g} minutes" if seconds >= 60 else f"{seconds:g} seconds"


def too_much(size: int, mend: str) -> str:
    """The sentence for a reading that exceeds its memory."""
    shown = f"{size / _GB:g} GB" if size >= _GB else f"{size / _MB:,.0f} MB"
    return f"This takes more memory than is allowed ({shown}): {mend}"


def too_long(seconds: float, mend: str) -> str:
    """The sentence for a reading that exceeds its time."""
    allowed = f"{seconds:g} seconds" if seconds < 60 else _minutes(seconds)
    return f"This took longer than {allowed} and was stopped: {mend}"
