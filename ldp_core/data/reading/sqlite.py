"""One SELECT over an SQLite file, in the process that reads: nothing is written, not even beside the file."""

from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from sys import getsizeof
from typing import Any, BinaryIO

from ldp_core.data.reading.common import UnreadableTable, check_cells, check_row, in_words
from ldp_core.data.reading.limits_in_words import MEND, too_much
from ldp_core.limits import Limits

TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name"
_BATCH = 4096
_LONGEST_CELL = 2**20
_WAL = 2  # the file format version in bytes 18 and 19 of the header (sqlite.org/fileformat2.html, section 1.3.3)
_REFUSED = {"load_extension", "fts3_tokenizer"}  # they run code, or give away addresses of it
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the rows of the query ``options["sql"]`` over the file ``options["path"]``; returns the names of its columns."""
    path = Path(options["path"])
    before, address = _state(path), _address(path)
    with in_words(sqlite3.Error, sqlite3.Warning), closing(sqlite3.connect(address, uri=True)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA mmap_size = 0")
        connection.set_authorizer(_authorise)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
        cursor = connection.execute(options["sql"] or TABLES)
        if cursor.description is None:
            raise UnreadableTable("This statement returns no table: write one SELECT.")
        names, number, size, texts = [part[0] for part in cursor.description], 0, 0, 0
        while batch := cursor.fetchmany(_BATCH):
            number += len(batch)
            check_cells(number, len(names), limits.cells)
            # As the objects they will be: a small number takes far less when it is written.
            size += sum(8 + getsizeof(cell) for row in batch for cell in row)
            if size > limits.unpacked:
                raise UnreadableTable(too_much(limits.unpacked, MEND))
            for row in batch:
                texts = check_row(names, row, texts)
            pickle.dump(batch, output)
    if _state(path) != before:
        raise UnreadableTable("Another program changed this database while it was read: run the query again.")
    return {"names": names}


def _address(path: Path) -> str:
    """How to open the file so that reading it writes nothing."""
    with path.open("rb") as file:
        header = file.read(20)
    if _WAL not in header[18:20]:
        return f"{path.as_uri()}?mode=ro"
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise UnreadableTable(
            f"The latest rows of this database are still in {log.name[-60:]} beside it: close the program that has it open, or "
            "run PRAGMA wal_checkpoint(TRUNCATE) there, and ask again."
        )
    # Without this, SQLite makes two files beside the database; and all rows are in the database itself.
    return f"{path.as_uri()}?mode=ro&immutable=1"


def _state(path: Path) -> list[tuple[int, int] | None]:
    """Size and time of the file and of the log beside it."""
    files = (path, path.with_name(path.name + "-wal"))
    return [(file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else None for file in files]


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action not in _READING or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _REFUSED):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
