"""Text tables (CSV and its kin with ; tab |): encoding, delimiter, header and decimal sign are found out, or taken as given.

Cells stay text ("007" stays "007"); numbers are parsed column by column when asked for.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ldp_core import limits
from ldp_core.data.reading.cells import measured
from ldp_core.data.reading.common import (
    TAB_ENDINGS,
    UnreadableTable,
    blank_note,
    check_cells,
    column_names,
    numbered,
    watch,
)
from ldp_core.data.reading.layout import is_number, layout_of
from ldp_core.data.reading.numerals import Numerals, columns_of_text
from ldp_core.data.reading.options import ReadOptions

_DELIMITERS = ",;\t|"
_SAMPLE = 65536
_START = 4 * (_SAMPLE + 64)
"""Bytes of a file by its path that are looked at first: so many letters at least, a mark and a hint left out."""
_BLOCK = 2**22
_WIDE = ("utf-16", "utf-32")
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


@dataclass(frozen=True)
class TextTable:
    """A text table, read by Arrow some lines at a time, whatever its lines end in.

    Attributes:
        opened: the file, from its first byte on.
        names: of the columns.
        options: with what its beginning says filled in. notes: on what was guessed.
        lines, characters: that come before its values.
    """

    opened: Callable[[], BinaryIO]
    names: list[str]
    options: ReadOptions
    notes: list[str]
    lines: int
    characters: int

    @classmethod
    def look(
        cls, opened: Callable[[], BinaryIO], size: int, options: ReadOptions, ending: str, most: int = _START
    ) -> TextTable:
        """The table that the first ``most`` bytes and the ``ending`` of the name announce. UnreadableTable: they are no table."""
        with opened() as file:
            content = file.read(most)
        if not content:
            raise UnreadableTable("This file is empty: choose one with a header line and at least one row.")
        text, encoding, notes = decode(content, options.encoding, size <= most)
        # Excel writes and obeys a first line such as sep=; that names the delimiter.
        stated = re.match(r"sep=([^\w\s\"'.]|\t)[\r\n]+", text)
        hint, delimiter = (stated.group(), stated.group(1)) if stated else ("", None)
        sample = _whole_lines(text.removeprefix(hint))
        delimiter, width, rows = sniff(sample, options.delimiter or delimiter, ending in TAB_ENDINGS)
        layout = layout_of([row for _, row in rows], width, options.above, options.header, options.below)
        if len(rows[layout.above][1]) != width:
            raise UnreadableTable(ragged(io.StringIO(text, newline=""), delimiter, width))
        names = column_names(layout.called if layout.header else numbered(width), options.names)
        lines = rows[layout.lines - 1][0] if layout.lines else rows[0][0] - 1
        before = sum(len(line) for line in itertools.islice(io.StringIO(sample, newline=""), lines))
        found = {"delimiter": delimiter, "above": layout.above, "header": layout.header, "below": layout.below}
        used = options.model_copy(update={"encoding": encoding, **found})
        lines += len(hint.splitlines())
        return cls(opened, names, used, [*notes, *layout.notes], lines, before + len(hint))

    def tables(self, columns: list[str]) -> Iterator[pa.Table]:
        """All lines, as cells of text of some columns, a few at a time."""
        last = None
        with self.opened() as file:
            text = _Utf8(file, self.options.encoding or "utf-8", self.characters, len(self.names) == 1)
            try:
                for last in pa.csv.open_csv(
                    pa.PythonFile(text, mode="r"),
                    pa.csv.ReadOptions(column_names=self.names, use_threads=False, block_size=_BLOCK),
                    # Blank lines between the first and the last one are missing values where there is one column,
                    # and nothing otherwise.
                    pa.csv.ParseOptions(
                        delimiter=self.options.delimiter,
                        newlines_in_values=True,
                        ignore_empty_lines=len(self.names) > 1,
                    ),
                    pa.csv.ConvertOptions(column_types=dict.fromkeys(self.names, pa.string()), include_columns=columns),
                ):
                    yield measured(pa.Table.from_batches([last]))[0]
            except (pa.ArrowInvalid, UnicodeEncodeError) as error:
                if "Empty CSV" not in str(error):
                    raise UnreadableTable(self._ragged()) from error
        if text.marks % 2 and last is not None:
            self._check_closed(last)

    def _check_closed(self, last: pa.RecordBatch) -> None:
        """An open quotation mark swallows all further lines, down to the line end that is added after the last one."""
        name = self.names[-1]
        if name not in last.schema.names:
            for _ in self.tables([name]):
                pass
        elif str(last.column(name)[-1]).endswith("\n"):
            raise UnreadableTable(
                "A quotation mark in this file is opened and never closed, so the lines after it cannot be separated: "
                'close it, or double it ("") where it is meant literally.'
            )

    def _ragged(self) -> str:
        with self.opened() as file:
            lines = io.TextIOWrapper(file, self.options.encoding, newline="")
            pieces = iter(lambda: lines.readline(_BLOCK), "")
            return ragged(pieces, self.options.delimiter or ",", len(self.names), self.lines)


class _Utf8(io.RawIOBase):
    """A text from a character on, as UTF-8, with one line end after the last row; ``trimmed`` where no blank cells may follow it.

    Attributes: bytes: read so far. marks: quotation marks so far.
    """

    def __init__(self, file: BinaryIO, encoding: str, skip: int, trimmed: bool):
        self._file, self._encoding, self._skip = file, encoding, skip
        self._ends = None if trimmed else "\r\n"
        self._decoder: codecs.IncrementalDecoder | None = None
        self._held, self._some, self._ended = "", False, False
        self.bytes = self.marks = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next part, of about a block whatever the ``size``; nothing at the end."""
        while not self._ended:
            raw = self._file.read(_BLOCK)
            whole = self._held + self._decoded(raw)[self._skip :]
            self.bytes, self._ended = self.bytes + len(raw), not raw
            part = whole.rstrip(self._ends)
            self._skip, self._held, self._some = 0, whole[len(part) :], self._some or bool(part)
            part += "\n" * (self._ended and self._some)
            self.marks += part.count('"')
            if part:
                return part.encode()
        return b""

    def _decoded(self, raw: bytes) -> str:
        if b"\0" in raw and self._encoding not in _WIDE:
            raise UnreadableTable(_binary(self.bytes + raw.index(0)))
        first = self._decoder is None
        self._decoder = self._decoder or _decoder(self._encoding, raw)
        pending = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(raw, not raw)
        except UnicodeDecodeError as error:
            byte = self.bytes - pending + error.start
            raise UnreadableTable(other_encoding(self._encoding, byte, 1 + self._line_ends(byte))) from error
        return text.removeprefix("\ufeff") if first else text

    def _line_ends(self, most: int) -> int:
        """Lines that end in the first bytes."""
        self._file.seek(0)
        return sum(self._file.read(min(_BLOCK, most - at)).count(b"\n") for at in range(0, most, _BLOCK))


def read_text(content: bytes, options: ReadOptions, ending: str) -> tuple[pa.Table, ReadOptions, list[str]]:
    """The table in an uploaded text file, the options used, and notes."""
    guard, text = (
        replace(watch(), begun=time.monotonic()),
        TextTable.look(lambda: io.BytesIO(content), len(content), options, ending, len(content)),
    )
    parts, rows = [pa.table([pa.array([], pa.string())] * len(text.names), text.names)], 0
    for part in text.tables(text.names):
        guard.check_time(limits.READ_TEXT.seconds, "keep only the columns or rows you need.")
        rows += part.num_rows
        check_cells(rows, len(text.names), limits.READ_TEXT.cells)
        parts.append(part)
    whole = pa.concat_tables(parts)
    # In a single column, a blank cell is a missing value.
    table, blank = without_blank_rows(whole) if len(text.names) > 1 else (whole, ())
    numerals = Numerals(options, text.options.delimiter)
    for name, cells in columns_of_text(table):
        numerals.add(name, cells)
    notes = [*text.notes, *([blank_note(len(blank))] if len(blank) else []), *numerals.notes()]
    return numerals.rewritten(table), text.options.model_copy(update=numerals.used()), notes


def decode(content: bytes, encoding: str | None, whole: bool = True) -> tuple[str, str, list[str]]:
    """Text without its byte order mark and the line ends after the last row, its encoding, and notes. Where the content is not the
    ``whole`` file, a letter may be cut off at its end."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    notes = []
    if encoding is None:
        encoding = marked or "utf-8"
        if encoding == "utf-8" and not _decodes(content, "utf-8", whole) and b"\0" not in content:
            encoding = "cp1252" if _decodes(content, "cp1252", whole) else "latin-1"
            called = "Windows-1252" if encoding == "cp1252" else "Latin-1"
            letter = next(sign for sign in content.decode(encoding) if sign > "\x7f")
            notes.append(
                f"This file is not UTF-8 and was read as {called}: check "
                f'that letters such as "{letter}" look right, or choose another encoding.'
            )
    if marked and marked != encoding and marked != "utf-8":
        raise UnreadableTable(f'This file is {marked.upper()} text: save it as "CSV UTF-8", or choose that encoding.')
    if b"\0" in content and encoding not in _WIDE:
        raise UnreadableTable(_binary(content.index(0)))
    try:
        text = _decoder(encoding, content).decode(content, whole)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableTable(other_encoding(encoding, error.start, line)) from error
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableTable(_NO_LINES)
    return text.rstrip("\r\n"), encoding, notes


def _binary(byte: int) -> str:
    return f"This file holds binary data (a zero byte at byte {byte + 1:,}), not text: save the table as CSV or Parquet and load that."


def other_encoding(encoding: str, byte: int, line: int) -> str:
    """The sentence for a text that is not in its encoding from a ``byte`` (the first is 0) on."""
    kind = "UTF-8" if encoding == "utf-8" else encoding
    return (
        f"This file is not {kind} text (byte {byte + 1:,}, on line {line:,}): "
        'save it again as "CSV UTF-8", or choose another encoding.'
    )


def _whole_lines(text: str) -> str:
    """The first 65,536 characters, or fewer where they end in the middle of a line."""
    if len(text) < _SAMPLE:
        return text
    end = max(text.rfind("\n", 0, _SAMPLE), text.rfind("\r", 0, _SAMPLE))
    if end < 0:
        raise UnreadableTable("The first line of this file is too long for a table: check that it is a CSV file.")
    return text[: end + 1]


def sniff(sample: str, delimiter: str | None, tabs: bool) -> tuple[str, int, list[tuple[int, list[str]]]]:
    """The delimiter, the number of columns, and the lines with cells, each with the number of the line it ends on.

    The delimiter is the one given, or the one that splits most lines alike; ``tabs`` come first if they split half of the lines alike.
    """
    best: tuple[tuple[bool, float, float, int], str, list[tuple[int, list[str]]]] = ((False, -1.0, 0.0, 0), ",", [])
    for candidate in delimiter or _DELIMITERS:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=candidate)
        rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
        if not rows:
            raise UnreadableTable(_NO_LINES)
        widths = Counter(len(row) for _, row in rows)
        width, often = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
        # One column is always even, so it only counts when no delimiter splits the lines.
        even = often / len(rows) if width > 1 else 0.0
        cells = [cell for _, row in rows for cell in row if re.match(r"\s*[+-]?\d", cell)]
        numbers = sum(map(is_number, cells)) / max(1, len(cells))
        fit = (tabs and candidate == "\t" and even >= 1 / 2, even, numbers, width)
        best = max(best, (fit, candidate, rows), key=lambda found: found[0])
    return best[1], best[0][-1], best[2]


def ragged(text: Iterable[str], delimiter: str, width: int, lines: int = 0) -> str:
    """The sentence for lines of unequal length below the first ``lines``; the slow reader is used here because it knows line numbers."""
    reader, guard = csv.reader(text, delimiter=delimiter), watch()
    try:
        for row in reader:
            if not reader.line_num % 2**14:
                guard.check()
            if row and len(row) != width and reader.line_num > lines:
                return (
                    f"Line {reader.line_num:,} splits into {len(row):,} value{'s' if len(row) != 1 else ''} and other lines into {width:,}: "
                    'fix that line, or put values that contain the delimiter in "quotes".'
                )
    except (csv.Error, UnicodeError):
        pass
    return "This file cannot be read as CSV, perhaps because of an unclosed quotation mark: save it again as CSV UTF-8."


def without_blank_rows(table: pa.Table) -> tuple[pa.Table, np.ndarray]:
    """The rows with a value, and the places of the others. Spreadsheets write rows that hold only delimiters; these are no people."""
    blank = np.arange(table.num_rows)
    for cells in table.columns:  # each column is examined only in the rows that are blank so far
        if not len(blank):
            return table, blank
        blank = blank[~pc.match_substring_regex(cells.take(pa.array(blank)), VALUE).to_numpy()]
    return table.filter(pa.array(np.isin(np.arange(table.num_rows), blank, invert=True))), blank


def _decoder(encoding: str, content: bytes) -> codecs.IncrementalDecoder:
    """A decoder of a file that begins with these bytes. Without a mark, they are taken as most machines write them."""
    unmarked = encoding in _WIDE and not content.startswith(
        tuple(mark for mark, name in _MARKS.items() if name == encoding)
    )
    return codecs.getincrementaldecoder(f"{encoding}-le" if unmarked else encoding)()


def _decodes(content: bytes, encoding: str, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(content, whole)
    except UnicodeDecodeError:
        return False
    return True
