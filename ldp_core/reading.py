"""Uploaded bytes to a table: CSV (and its kin with ; tab |) and Parquet. Every refusal is one clear sentence.

Cells of a text file stay text ("007" stays "007"); numbers are parsed column by column when asked for.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import PurePath

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

MAX_BYTES = 200 * 1024 * 1024
MAX_COLUMNS = 500
MAX_CELLS = 100_000_000
"""A Parquet file is compressed, so its size in bytes does not bound the table it holds."""

_TEXT_ENDINGS = {".csv", ".tsv", ".tab", ".txt"}
_PARQUET_ENDINGS = {".parquet", ".pq"}
_DELIMITERS = ",;\t|"
_SAMPLE = 65536
_UTF8_MARK = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive (Excel and OpenOffice files are zip archives too)",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"SQLite format 3": "an SQLite database",
}


class UnreadableTable(ValueError):
    """The file is not a table we can read; the message says why and what to do."""


def read(content: bytes, filename: str, header: bool = True) -> pd.DataFrame:
    """Read an uploaded file.

    Args:
        content: the whole file, at most `MAX_BYTES`.
        filename: its name; the ending says what it should be (.csv .tsv .tab .txt .parquet .pq).
        header: the first line of a text file names the columns; otherwise they are column_1, column_2, ...

    Returns:
        A table with unique text column names and at least one row. Columns of text files hold unstripped text.

    Raises:
        UnreadableTable: with one sentence saying what is wrong and how to mend it.
    """
    ending = PurePath(filename).suffix.lower()
    if ending not in _TEXT_ENDINGS | _PARQUET_ENDINGS:
        kind = f'ending in "{ending[:20]}"' if ending else "without an ending"
        raise UnreadableTable(
            f"Files {kind} are not read: use a CSV file (.csv, .tsv, .txt) or a Parquet file (.parquet)."
        )
    if not content:
        raise UnreadableTable("This file is empty: choose one with a header line and at least one row.")
    if len(content) > MAX_BYTES:
        raise UnreadableTable(
            f"This file has {len(content) / 2**20:,.0f} MB and at most {MAX_BYTES / 2**20:,.0f} MB are read: "
            "keep only the columns you need, or save it as Parquet."
        )
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            raise UnreadableTable(f"This file is {kind}, not a table: save the table as CSV or Parquet and load that.")
    if content.startswith(b"PAR1") and ending in _TEXT_ENDINGS:
        raise UnreadableTable("This file is a Parquet file by its content: rename it to end in .parquet.")
    table = _read_parquet(content) if ending in _PARQUET_ENDINGS else _read_text(content, header)
    if len(table) == 0:
        raise UnreadableTable(
            "This file has column names but no rows: add rows, or say that the first line is not a header."
        )
    return table


def _read_parquet(content: bytes) -> pd.DataFrame:
    if not content.startswith(b"PAR1"):
        raise UnreadableTable(
            "This file is named like a Parquet file but is none: if it is text, rename it to end in .csv."
        )
    try:
        file = pa.parquet.ParquetFile(io.BytesIO(content))
        names = file.schema_arrow.names
        _check_columns(names)
        if file.metadata.num_rows * len(names) > MAX_CELLS:
            raise UnreadableTable(
                f"This table has {file.metadata.num_rows:,} rows and {len(names)} columns, more than {MAX_CELLS:,} "
                "cells in all: keep only the columns or rows you need."
            )
        # Without the pandas metadata a stored index is a column like any other.
        return file.read().to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableTable("This Parquet file is damaged or incomplete: save or download it again.") from error


def _read_text(content: bytes, header: bool) -> pd.DataFrame:
    text = _decode(content)
    delimiter, first = _sniff(text)
    names = [name.strip() or f"column_{i}" for i, name in enumerate(first, 1)] if header else None
    _check_columns(names or [f"column_{i}" for i in range(1, len(first) + 1)])

    options = pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False, block_size=16 * 1024 * 1024)
    # A blank line is a missing value where there is one column, and nothing otherwise.
    layout = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(first) > 1)
    types = pa.csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(len(first))})
    try:
        table = pa.csv.read_csv(io.BytesIO(text.lstrip("\r\n").encode() + b"\n"), options, layout, types)
    except pa.ArrowInvalid as error:
        raise UnreadableTable(_ragged(text, delimiter, len(first))) from error
    # An open quotation mark swallows all further lines, down to the line end added above.
    if text.count('"') % 2 and table.num_rows and str(table.column(len(first) - 1)[-1]).endswith("\n"):
        raise UnreadableTable(
            "A quotation mark in this file is opened and never closed, so the lines after it cannot be told apart: "
            'close it, or double it ("") where it is meant literally.'
        )
    table = table.rename_columns(names or [f"column_{i}" for i in range(1, len(first) + 1)])
    return (table.slice(1) if header else table).to_pandas()


def _decode(content: bytes) -> str:
    """UTF-8 text without its byte order mark and the line ends after the last row."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableTable('This file is UTF-16 text: save it as "CSV UTF-8".')
    if b"\0" in content:
        raise UnreadableTable(
            f"This file holds binary data (a zero byte at byte {content.index(0) + 1:,}), not text: save the table "
            "as CSV or Parquet and load that."
        )
    body = content.removeprefix(_UTF8_MARK)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        place = error.start + len(content) - len(body) + 1
        raise UnreadableTable(
            f'This file is not UTF-8 text (byte {place:,}, on line {line:,}): save it again as "CSV UTF-8".'
        ) from error
    if not text.strip():
        raise UnreadableTable("This file holds only blank lines: choose one with a header line and at least one row.")
    return text.rstrip("\r\n")


def _sniff(text: str) -> tuple[str, list[str]]:
    """The delimiter that splits the first lines most evenly, and the fields of the first line."""
    sample = text.lstrip("\r\n")[:_SAMPLE]
    if len(sample) == _SAMPLE:
        end = max(sample.rfind("\n"), sample.rfind("\r"))
        if end < 0:
            raise UnreadableTable("The first line of this file is too long for a table: check that it is a CSV file.")
        sample = sample[:end]
    best = (-1.0, 0, ",", [""])
    for delimiter in _DELIMITERS:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
        width = len(rows[0])
        # One column is always even, so it only counts when no delimiter splits the header.
        even = sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0
        if (even, width) > best[:2]:
            best = (even, width, delimiter, rows[0])
    return best[2], best[3]


def _ragged(text: str, delimiter: str, width: int) -> str:
    """The sentence for lines of unequal length; the slow reader is used here because it knows line numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row and len(row) != width:
                return (
                    f"Line {reader.line_num:,} splits into {len(row):,} and the first line into {width:,} values: "
                    'mend that line, or put values that contain the delimiter in "quotes".'
                )
    except csv.Error:
        pass
    return "This file cannot be read as CSV, perhaps because of an unclosed quotation mark: save it again as CSV UTF-8."


def _check_columns(names: list[str]) -> None:
    if not names:
        raise UnreadableTable("This table has no columns: choose one with at least one.")
    if len(names) > MAX_COLUMNS:
        raise UnreadableTable(
            f"This table has {len(names):,} columns and at most {MAX_COLUMNS} are read: keep only the ones you need."
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise UnreadableTable(
            f'Column names must differ and "{twice[0][:60]}" is there {Counter(names)[twice[0]]} times: rename one, '
            "or say that the first line is not a header."
        )
