"""One SELECT over a local SQLite or DuckDB file: it can read that file and nothing else, and change nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa

from ldp_core.reading import common
from ldp_core.reading.common import Loaded, ReadOptions, UnreadableTable, check_cells, column_names, first_line

_BATCH = 4096
_LONGEST_CELL = 2**20
_TOO_MUCH = "This query returns more than fits in memory: select fewer columns or rows."
_SQLITE_MAGIC = b"SQLite format 3\0"
_DUCKDB_MAGIC = b"DUCK"  # at byte 8, after a checksum
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}

LIMITS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # otherwise a query can read variables of this program
    "memory_limit": "1GB",
    "temp_directory": "",  # rows are never written to disk
}
# Batches of a result come through Arrow, which has errors of its own.
DUCKDB_ERRORS = (duckdb.Error, pa.ArrowException, OSError)
LOCKS = {"enable_external_access": "false", "lock_configuration": "true"}


def database_tables(path: str) -> tuple[str, ...]:
    """The names of the tables and views in a database file.

    Raises:
        UnreadableTable: no such file, or neither SQLite nor DuckDB.
    """
    if _kind(path) == "sqlite":
        sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name"
    else:
        sql = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
    return tuple(map(str, _run(path, sql, 60.0).iloc[:, 0]))


def query(path: str, sql: str, *, names: tuple[str, ...] = (), time_limit: float = 60.0) -> Loaded:
    """The result of one SELECT over a database file.

    SQLite files are opened read-only and an authoriser allows reading alone; DuckDB runs with external access off and
    its configuration locked. Results hold at most `MAX_CELLS` cells.

    Args:
        path: of the file, on the machine this runs on.
        sql: one statement.
        names: names for all the columns, instead of the query's.
        time_limit: seconds.

    Raises:
        UnreadableTable: no such file, or a query that fails, is not one SELECT, takes too long, or returns too much or
            no rows.
    """
    if not sql.strip():
        raise UnreadableTable("The query is empty: write one such as SELECT age, sex FROM people.")
    table = _run(path, sql, time_limit)
    table.columns = column_names([str(name) for name in table.columns], names)
    if len(table) == 0:
        raise UnreadableTable("This query returns no rows: loosen its conditions.")
    return Loaded(table, ReadOptions(names=names))


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


def _kind(path: str) -> str:
    with checked_path(path).open("rb") as file:
        start = file.read(16)
    if start == _SQLITE_MAGIC:
        return "sqlite"
    if start[8:12] == _DUCKDB_MAGIC:
        return "duckdb"
    raise UnreadableTable("This file is neither an SQLite nor a DuckDB database: choose one, or load it as a table.")


def _run(path: str, sql: str, time_limit: float) -> pd.DataFrame:
    run = _run_sqlite if _kind(path) == "sqlite" else _run_duckdb
    try:
        return run(checked_path(path), sql, time_limit)
    except MemoryError as error:
        raise UnreadableTable(_TOO_MUCH) from error


def _run_sqlite(path: Path, sql: str, time_limit: float) -> pd.DataFrame:
    with (
        _in_words(sqlite3.Error, sqlite3.Warning),
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)) as connection,
    ):
        connection.set_authorizer(_authorise)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
        with _limited(connection, time_limit):
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise UnreadableTable("This statement returns no table: write one SELECT.")
            names = [part[0] for part in cursor.description]
            rows, size = [], 0
            while batch := cursor.fetchmany(_BATCH):
                rows += batch
                check_cells(len(rows), len(names))
                size += sum(len(cell) for row in batch for cell in row if isinstance(cell, str | bytes))
                if size > common.MAX_UNPACKED:
                    raise UnreadableTable(_TOO_MUCH)
    # Blobs are shown, not guessed at: their bytes may be in any encoding.
    return pd.DataFrame.from_records(rows, columns=range(len(names)), coerce_float=False).set_axis(names, axis=1)


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action not in _READING or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() == "load_extension"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _run_duckdb(path: Path, sql: str, time_limit: float) -> pd.DataFrame:
    with _in_words(*DUCKDB_ERRORS), duckdb.connect(str(path), read_only=True, config={**LIMITS, **LOCKS}) as connection:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UnreadableTable("A query here is one SELECT: leave other statements out.")
        with _limited(connection, time_limit):
            return fetch(connection.sql(sql)).to_pandas(ignore_metadata=True)


def fetch(result: duckdb.DuckDBPyRelation, most: int | None = None) -> pa.Table:
    """The result of a query by batches, refused when it passes `most` rows or `MAX_CELLS` cells."""
    reader = result.to_arrow_reader(_BATCH)
    batches, rows, size = [], 0, 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        check_cells(rows, batch.num_columns)
        if size > common.MAX_UNPACKED or (most is not None and rows > most):
            raise TooManyRows(_TOO_MUCH)
    return pa.Table.from_batches(batches, reader.schema)


class TooManyRows(UnreadableTable):
    """A result larger than was asked for."""


@contextmanager
def _limited(connection: sqlite3.Connection | duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt the connection after some seconds."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (sqlite3.OperationalError, *DUCKDB_ERRORS) as error:
        if late.is_set():
            raise UnreadableTable(
                f"This query took longer than {seconds:g} seconds: select fewer rows, or count in the query itself."
            ) from error
        raise
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def _in_words(*kinds: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kinds as error:
        if "not authorized" in str(error) or "prohibited" in str(error):
            raise UnreadableTable(
                "A query here is one SELECT over this file: it can read, and change nothing."
            ) from error
        raise UnreadableTable(f"The database refuses this query: {first_line(error)}.") from error
