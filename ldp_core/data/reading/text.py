"""Text tables (CSV and its kin with ; tab |): encoding, delimiter, header and decimal sign are found out, or taken as given.

Cells stay text ("007" stays "007"); numbers are parsed column by column when asked for.
"""

from __future__ import annotations

import csv
import io
import math
import re
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ldp_core.data.reading.common import (
    UnreadableTable,
    blank_note,
    check_cells,
    check_columns,
    column_names,
    numbered,
)
from ldp_core.data.reading.numerals import Numerals, columns_of_text
from ldp_core.data.reading.options import ReadOptions
from ldp_core.limits import Limits

_DELIMITERS = ",;\t|"
_SAMPLE = 65536
_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
VALUE = r"\S"
"""Every cell with a value matches this pattern."""


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the table as an Arrow stream; returns the options used and notes."""
    table, used, notes = read_text(content, ReadOptions(**options), limits)
    with pa.ipc.new_stream(output, table.schema) as stream:
        stream.write_table(table)
    return {"options": used.model_dump(), "notes": notes}


def read_text(content: bytes, options: ReadOptions, limits: Limits) -> tuple[pa.Table, ReadOptions, list[str]]:
    """The table in a text file of at least one line, the options used, and notes."""
    text, encoding, notes = decode(content, options.encoding)
    text, told = without_hint(text)
    delimiter, first = sniff(text, options.delimiter or told)
    header, found_out = has_header(first, options)
    notes += found_out
    names = column_names(first if header else numbered(len(first)), options.names)
    text = text[blank_start(text, delimiter, len(first)) :]
    table = _parse(text, delimiter, len(first)).rename_columns(names)
    table = table.slice(1) if header else table
    filled = _without_blank_rows(table)
    if filled.num_rows < table.num_rows:
        notes.append(blank_note(table.num_rows - filled.num_rows))
    table = filled
    check_cells(table.num_rows, len(names), limits.cells)
    numerals = Numerals(options, delimiter)
    for name, cells in columns_of_text(table):
        numerals.add(name, cells)
    notes += numerals.notes()
    used = options.model_copy(
        update={"delimiter": delimiter, "encoding": encoding, "header": header, **numerals.used()}
    )
    return numerals.rewritten(table), used, notes


def decode(content: bytes, encoding: str | None) -> tuple[str, str, list[str]]:
    """Text without its byte order mark and the line ends after the last row, its encoding, and notes."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    notes = []
    if encoding is None:
        encoding = marked or "utf-8"
        if encoding == "utf-8" and not _decodes(content, "utf-8") and b"\0" not in content:
            encoding = "cp1252" if _decodes(content, "cp1252") else "latin-1"
            called = "Windows-1252" if encoding == "cp1252" else "Latin-1"
            letter = next(sign for sign in content.decode(encoding) if sign > "\x7f")
            notes.append(
                f"This file is not UTF-8 and was read as {called}: check "
                f'that letters such as "{letter}" look right, or choose another encoding.'
            )
    if marked and marked != encoding and marked != "utf-8":
        raise UnreadableTable(f'This file is {marked.upper()} text: save it as "CSV UTF-8", or choose that encoding.')
    if b"\0" in content and encoding not in ("utf-16", "utf-32"):
        raise UnreadableTable(
            f"This file holds binary data (a zero byte at byte {content.index(0) + 1:,}), not text: save the table "
            "as CSV or Parquet and load that."
        )
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        kind = "UTF-8" if encoding == "utf-8" else encoding
        raise UnreadableTable(
            f"This file is not {kind} text (byte {error.start + 1:,}, on line {line:,}): "
            'save it again as "CSV UTF-8", or choose another encoding.'
        ) from error
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableTable("This file holds only blank lines: choose one with a header line and at least one row.")
    return text.rstrip("\r\n"), encoding, notes


def sniff(text: str, delimiter: str | None) -> tuple[str, list[str]]:
    """The delimiter (the one given, or the one that splits the first lines most evenly), and the cells of line one."""
    sample = text.lstrip("\r\n")[:_SAMPLE]
    if len(sample) == _SAMPLE:
        end = max(sample.rfind("\n"), sample.rfind("\r"))
        if end < 0:
            raise UnreadableTable("The first line of this file is too long for a table: check that it is a CSV file.")
        sample = sample[:end]
    best = (-1.0, 0, ",", [""])
    for candidate in delimiter or _DELIMITERS:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=candidate) if row]
        rows = rows[next((i for i, row in enumerate(rows) if _filled(row)), 0) :]
        width = len(rows[0])
        # One column is always even, so it only counts when no delimiter splits the header.
        even = sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0
        if (even, width) > best[:2]:
            best = (even, width, candidate, rows[0])
    return best[2], best[3]


def blank_start(text: str, delimiter: str, width: int) -> int:
    """How many characters the rows of delimiters alone before the first row of values take up."""
    blank = re.match(rf"[\s{re.escape(delimiter)}]*[\r\n]", text) if width > 1 else None
    return blank.end() if blank else 0


def has_header(first: list[str], options: ReadOptions) -> tuple[bool, list[str]]:
    """True if line one names the columns, and a note where that was a guess: names are hardly ever numbers."""
    if options.header is not None:
        return options.header, []
    if not any(_is_number(cell) for cell in first):
        return True, []
    called = "" if options.names else " and the columns are called column_1, column_2, ..."
    return False, [f"The first line holds numbers, so it was read as a row{called}; say so if it is a header."]


def ragged(text: str, delimiter: str, width: int) -> str:
    """The sentence for lines of unequal length; the slow reader is used here because it knows line numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row and len(row) != width:
                return (
                    f"Line {reader.line_num:,} splits into {len(row):,} value{'s' if len(row) != 1 else ''} and the first line into {width:,}: "
                    'fix that line, or put values that contain the delimiter in "quotes".'
                )
    except csv.Error:
        pass
    return "This file cannot be read as CSV, perhaps because of an unclosed quotation mark: save it again as CSV UTF-8."


def _parse(text: str, delimiter: str, width: int) -> pa.Table:
    """All lines as text cells, the first one included."""
    check_columns(numbered(width))
    options = pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False, block_size=16 * 1024 * 1024)
    # A blank line is a missing value where there is one column, and nothing otherwise.
    layout = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=width > 1)
    types = pa.csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(width)})
    try:
        table = pa.csv.read_csv(io.BytesIO(text.lstrip("\r\n").encode() + b"\n"), options, layout, types)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise UnreadableTable(ragged(text, delimiter, width)) from error
    # An open quotation mark swallows all further lines, down to the line end added above.
    if text.count('"') % 2 and table.num_rows and str(table.column(width - 1)[-1]).endswith("\n"):
        raise UnreadableTable(
            "A quotation mark in this file is opened and never closed, so the lines after it cannot be separated: "
            'close it, or double it ("") where it is meant literally.'
        )
    return table


def _without_blank_rows(table: pa.Table) -> pa.Table:
    """The rows with a value. Spreadsheets write rows that hold only delimiters; these are no people.
    In a single column, a blank cell is a missing value."""
    if table.num_columns == 1:
        return table
    blank = np.arange(table.num_rows)
    for cells in table.columns:  # each column is examined only in the rows that are blank so far
        blank = blank[~pc.match_substring_regex(cells.take(pa.array(blank)), VALUE).to_numpy()]
        if not len(blank):
            return table
    return table.filter(pa.array(np.isin(np.arange(table.num_rows), blank, invert=True)))


def without_hint(text: str) -> tuple[str, str | None]:
    """The text without a first line such as sep=; and the delimiter that line names: Excel writes and obeys it."""
    hint = re.match(r"sep=([^\w\s\"'.]|\t)[\r\n]+", text)
    return (text[hint.end() :], hint.group(1)) if hint else (text, None)


def _filled(row: list[str]) -> bool:
    return any(cell.strip() for cell in row)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(re.sub(r"^([^,]*),([^,]*)$", r"\1.\2", cell.strip())))
    except ValueError:
        return False


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
