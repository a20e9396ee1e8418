"""One SELECT over a local SQLite or DuckDB file: it can read that file and nothing else, and change nothing.

It runs in a process of its own, within the limits `limits.READ_QUERY`.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ldp_core import limits
from ldp_core.data.reading.child import rows_of, run, table_of
from ldp_core.data.reading.common import UnreadableTable, column_names, first_line
from ldp_core.data.reading.limits_in_words import MEND
from ldp_core.data.reading.options import Loaded, ReadOptions
from ldp_core.data.reading.stored import frame_of, frame_of_rows, plain_numbers, type_notes, with_ordered_enums
from ldp_core.data.reading.totals import without_extra

_SQLITE_MAGIC = b"SQLite format 3\0"
_DUCKDB_MAGIC = b"DUCK"  # at byte 8, after a checksum


def database_tables(path: str) -> tuple[str, ...]:
    """The names of the tables and views in a database file.

    Raises:
        UnreadableTable: no such file, or neither SQLite nor DuckDB.
    """
    return tuple(map(str, _run(path, "")[0].iloc[:, 0]))


def query(path: str, sql: str, options: ReadOptions | None = None) -> Loaded:
    """The result of one SELECT over a database file.

    SQLite files are opened read-only and an authoriser allows reading alone; DuckDB runs with external access off and
    its configuration locked.

    Args:
        path: of the file, on the machine this runs on.
        sql: one statement.
        options: the names of the columns, how numbers in columns of text are written, and what becomes of a line of totals.

    Raises:
        UnreadableTable: no such file, or a query that fails, is not one SELECT, takes too long, or returns too much or
            no rows.
    """
    if not sql.strip():
        raise UnreadableTable("The query is empty: write one such as SELECT age, sex FROM people.")
    options = options or ReadOptions()
    table, notes = _run(path, sql)
    table.columns = column_names([str(name) for name in table.columns], options.names)
    if len(table) == 0:
        raise UnreadableTable("This query returns no rows: loosen its conditions.")
    return without_extra(plain_numbers(Loaded(table, options, notes)))


def checked_path(path: str) -> Path:
    """The absolute path of an existing ordinary file, or UnreadableTable."""
    try:
        file = Path(path.strip()).expanduser().resolve()
        if not file.is_file():
            raise UnreadableTable(f'There is no file "{path.strip()[-80:]}" on this machine: check the path.')
        with file.open("rb"):
            return file
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, UnreadableTable):
            raise
        raise UnreadableTable(f'The file "{path.strip()[-80:]}" cannot be opened: {first_line(error)}.') from error


def _run(path: str, sql: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The result of a query, with notes; for an empty one, the names of the tables."""
    file = checked_path(path)
    with file.open("rb") as opened:
        start = opened.read(16)
    task = {"path": str(file), "sql": sql}
    if start == _SQLITE_MAGIC:
        written, answer = run("sqlite", task, limits.READ_QUERY, b"", MEND)
        return frame_of_rows(rows_of(written), answer["names"]), ()
    if start[8:12] == _DUCKDB_MAGIC:
        written, _ = run("duck", task, limits.READ_QUERY, b"", MEND)
        table = table_of(written)
        return frame_of(with_ordered_enums(table)), tuple(type_notes(table.schema))
    raise UnreadableTable("This file is neither an SQLite nor a DuckDB database: choose one, or load it as a table.")
