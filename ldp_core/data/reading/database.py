"""One SELECT over an SQLite or DuckDB file: it can read that file and nothing else, and change nothing.

It runs in a process of its own, within the limits `limits.READ_QUERY`, and nothing is written to a disk: SQLite reads the bytes, and DuckDB,
which opens files alone, one in the memory that processes of this machine share.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from ldp_core import limits
from ldp_core.data.reading.child import rows_of, run, table_of
from ldp_core.data.reading.common import UnreadableTable, column_names
from ldp_core.data.reading.limits_in_words import MEND
from ldp_core.data.reading.options import Loaded, ReadOptions
from ldp_core.data.reading.stored import frame_of, frame_of_rows, plain_numbers, type_notes
from ldp_core.data.reading.together import joined
from ldp_core.data.reading.totals import without_extra

SHARED = Path("/dev/shm")
_SQLITE_MAGIC = b"SQLite format 3\0"
_DUCKDB_MAGIC = b"DUCK"  # at byte 8, after a checksum


def is_database(content: bytes) -> bool:
    """True if a file is an SQLite or a DuckDB database by its first bytes."""
    return content.startswith(_SQLITE_MAGIC) or content[8:12] == _DUCKDB_MAGIC


def database_tables(content: bytes) -> tuple[str, ...]:
    """The names of the tables and views in a database.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    tuple of str

    Raises
    ------
    UnreadableTable
        It is neither an SQLite nor a DuckDB file, or is damaged.
    """
    return tuple(map(str, _run(content, "")[0].iloc[:, 0]))


def query(content: bytes, sql: str, options: ReadOptions | None = None) -> Loaded:
    """The result of one SELECT over a database.

    An authoriser lets SQLite read alone; DuckDB runs with external access off and its configuration locked.

    Parameters
    ----------
    content : bytes
        The whole file.
    sql : str
        One statement.
    options : ReadOptions, optional
        The names of the columns, how numbers in columns of text are written, and what becomes of a line of totals.

    Returns
    -------
    Loaded

    Raises
    ------
    UnreadableTable
        It is no database, or the query fails, is not one SELECT, takes too long, or returns too much or no rows.
    """
    if not sql.strip():
        raise UnreadableTable("The query is empty: write one such as SELECT age, sex FROM people.")
    options = options or ReadOptions()
    table, notes = _run(content, sql)
    table.columns = column_names([str(name) for name in table.columns], options.names)
    if len(table) == 0:
        raise UnreadableTable("This query returns no rows: loosen its conditions.")
    return joined(without_extra(plain_numbers(Loaded(table, options, notes))))


def _run(content: bytes, sql: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The result of a query, with notes; for an empty one, the names of the tables."""
    if content.startswith(_SQLITE_MAGIC):
        written, answer = run("sqlite", {"sql": sql}, limits.READ_QUERY, content, MEND)
        return frame_of_rows(rows_of(written), answer["names"]), tuple(answer["notes"])
    if not is_database(content):
        raise UnreadableTable(
            "This file is neither an SQLite nor a DuckDB database: choose one, or load it as a table."
        )
    with _in_shared_memory(content) as path:
        written, _ = run("duck", {"sql": sql, "path": path}, limits.READ_QUERY, b"", MEND)
    table = table_of(written)
    return frame_of(table, enumerations=True), tuple(type_notes(table.schema))


@contextmanager
def _in_shared_memory(content: bytes) -> Iterator[str]:
    """The path of a file in memory, for this user alone. The process that opens it removes it from its folder."""
    path = SHARED / f"ldp-database-{uuid.uuid4().hex}"
    try:
        try:
            with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(content)
        except OSError as error:
            raise UnreadableTable(
                f"DuckDB files are read in shared memory, and {SHARED} is missing or too small on this machine: save the table as Parquet "
                "or CSV and load that."
            ) from error
        yield str(path)
    finally:
        with suppress(OSError):  # the process that opened it has removed it
            path.unlink()
