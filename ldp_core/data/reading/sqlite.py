"""One SELECT over the bytes of an SQLite file, in the process that reads."""

from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing
from sys import getsizeof
from typing import Any, BinaryIO

from ldp_core.data.reading.common import UnreadableTable, check_cells, check_row, in_words
from ldp_core.data.reading.limits_in_words import MEND, too_much
from ldp_core.limits import Limits

TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name"
_BATCH = 4096
_LONGEST_CELL = 2**20
_VERSIONS = slice(18, 20)
_WAL, _JOURNAL = b"\2\2", b"\1\1"
"""The versions of the file format, to write and to read it (sqlite.org/fileformat2.html, section 1.3.3)."""
_LOG = (
    "The latest rows of this database may still be in its log, a file ending in -wal. Close the program that has it open, and load it "
    "again, so that no row is missing."
)
_REFUSED = {"load_extension", "fts3_tokenizer"}  # they run code, or give away addresses of it
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the rows of the query ``options["sql"]``; returns the names of its columns, and notes."""
    notes = []
    if content[_VERSIONS] == _WAL:  # a database in memory has no log
        content, notes = content[:18] + _JOURNAL + content[20:], [_LOG]
    with in_words(sqlite3.Error, sqlite3.Warning), closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(content)
        connection.execute("PRAGMA temp_store = MEMORY")
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
    return {"names": names, "notes": notes}


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action not in _READING or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _REFUSED):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
