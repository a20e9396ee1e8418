"""Text tables (CSV and its kin with ; tab |): encoding, delimiter, header and decimal sign are found out, or taken as given.

Cells stay text ("007" stays "007"); numbers are parsed column by column when asked for.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ldp_core.data.reading.cells import measured
from ldp_core.data.reading.common import (
    UnreadableTable,
    blank_note,
    check_cells,
    check_columns,
    column_names,
    numbered,
)
from ldp_core.data.reading.layout import layout_of
from ldp_core.data.reading.line_ends import number_of_ends
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
_NO_LINES = "This file holds only blank lines: choose one with a header line and at least one row."
VALUE = r"[^\s\p{Z}\x{ad}\x{200b}\x{200e}\x{200f}\x{2060}\x{feff}]"
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
    start = beginning(text, options)
    notes += start.notes
    table, _ = measured(_parse(text, start))
    filled = _without_blank_rows(table)
    if filled.num_rows < table.num_rows:
        notes.append(blank_note(table.num_rows - filled.num_rows))
    table = filled
    check_cells(table.num_rows, len(start.names), limits.cells)
    numerals = Numerals(options, start.options["delimiter"])
    for name, cells in columns_of_text(table):
        numerals.add(name, cells)
    notes += numerals.notes()
    used = options.model_copy(update={"encoding": encoding, **start.options, **numerals.used()})
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
        raise UnreadableTable(other_encoding(encoding, error.start, line)) from error
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableTable(_NO_LINES)
    return text.rstrip("\r\n"), encoding, notes


def other_encoding(encoding: str, byte: int, line: int) -> str:
    """The sentence for a text that is not in its encoding from a ``byte`` (the first is 0) on."""
    kind = "UTF-8" if encoding == "utf-8" else encoding
    return (
        f"This file is not {kind} text (byte {byte + 1:,}, on line {line:,}): "
        'save it again as "CSV UTF-8", or choose another encoding.'
    )


@dataclass(frozen=True)
class Beginning:
    """The first lines of a text table: the ``names`` of its columns; how many ``lines`` and
    ``characters`` come before its values, and whether a cell ``continues`` from one of these lines to
    the next; the ``options`` and ``notes`` on what was found out."""

    names: list[str]
    lines: int
    characters: int
    continues: bool
    options: dict[str, Any]
    notes: list[str]


def beginning(text: str, options: ReadOptions) -> Beginning:
    """The evidence of the first 65,536 characters, or of fewer where they end in the middle of a line."""
    rest, told = without_hint(text)
    sample = rest[:_SAMPLE]
    if len(sample) == _SAMPLE:
        end = max(sample.rfind("\n"), sample.rfind("\r"))
        if end < 0:
            raise UnreadableTable("The first line of this file is too long for a table: check that it is a CSV file.")
        sample = sample[: end + 1]
    delimiter, width, rows = sniff(sample, options.delimiter or told)
    layout = layout_of([row for _, row in rows], width, options.above, options.header, options.below)
    if len(rows[layout.above][1]) != width:
        raise UnreadableTable(ragged(text, delimiter, width))
    names = column_names(layout.called if layout.header else numbered(width), options.names)
    lines = rows[layout.lines - 1][0] if layout.lines else rows[0][0] - 1
    before = sum(len(line) for line in itertools.islice(io.StringIO(sample, newline=""), lines))
    hint = text[: len(text) - len(rest)]
    used = {"delimiter": delimiter, "above": layout.above, "header": layout.header, "below": layout.below}
    continues = any("\n" in cell or "\r" in cell for _, row in rows[: layout.lines] for cell in row)
    lines += number_of_ends(hint.encode())
    return Beginning(names, lines, before + len(hint), continues, used, layout.notes)


def sniff(sample: str, delimiter: str | None) -> tuple[str, int, list[tuple[int, list[str]]]]:
    """The delimiter (the one given, or the one that splits most lines alike), the number of columns, and the lines with cells,
    each with the number of the line it ends on."""
    best: tuple[float, float, int, str, list[tuple[int, list[str]]]] = (-1.0, 0.0, 0, ",", [])
    for candidate in delimiter or _DELIMITERS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=candidate)
        rows = [(reader.line_num, row) for row in reader if _filled(row)]
        if not rows:
            raise UnreadableTable(_NO_LINES)
        widths = Counter(len(row) for _, row in rows)
        width, often = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
        # One column is always even, so it only counts when no delimiter splits the lines.
        even = often / len(rows) if width > 1 else 0.0
        cells = [cell for _, row in rows for cell in row if re.match(r"\s*[+-]?\d", cell)]
        numbers = sum(map(_is_number, cells)) / max(1, len(cells))
        if (even, numbers, width) > best[:3]:
            best = (even, numbers, width, candidate, rows)
    return best[3], best[2], best[4]


def ragged(text: str, delimiter: str, width: int, lines: int = 0) -> str:
    """The sentence for lines of unequal length below the first ``lines``; the slow reader is used here because it knows line numbers."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row and len(row) != width and reader.line_num > lines:
                return (
                    f"Line {reader.line_num:,} splits into {len(row):,} value{'s' if len(row) != 1 else ''} and other lines into {width:,}: "
                    'fix that line, or put values that contain the delimiter in "quotes".'
                )
    except csv.Error:
        pass
    return "This file cannot be read as CSV, perhaps because of an unclosed quotation mark: save it again as CSV UTF-8."


def _parse(text: str, start: Beginning) -> pa.Table:
    """The values as text cells."""
    width, delimiter, body = len(start.names), start.options["delimiter"], text[start.characters :]
    body = body.rstrip() if width == 1 else body
    check_columns(numbered(width))
    names = pa.csv.ReadOptions(column_names=start.names, use_threads=False, block_size=16 * 1024 * 1024)
    # A blank line is a missing value where there is one column, and nothing otherwise.
    layout = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=width > 1)
    types = pa.csv.ConvertOptions(column_types=dict.fromkeys(start.names, pa.string()))
    if not body.strip("\r\n"):
        return pa.table([pa.array([], pa.string())] * width, start.names)
    try:
        table = pa.csv.read_csv(io.BytesIO(body.encode() + b"\n"), names, layout, types)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise UnreadableTable(ragged(text, delimiter, width, start.lines)) from error
    # An open quotation mark swallows all further lines, down to the line end added above.
    if body.count('"') % 2 and table.num_rows and str(table.column(width - 1)[-1]).endswith("\n"):
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
