"""Excel workbooks (.xlsx, .xlsm) to tables: stored results of formulas, never the formulas themselves.

openpyxl reads XML through defusedxml where that is installed, which refuses entities that expand without end. It runs in a
process of its own, since its time and memory depend on far more than the size of the file.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import openpyxl
from openpyxl.utils import get_column_letter

from ldp_core.data.reading.common import (
    UnreadableTable,
    blank_note,
    check_columns,
    check_row,
    check_rows,
    column_names,
    numbered,
)
from ldp_core.data.reading.layout import holds_table, layout_of
from ldp_core.limits import (
    MB,
    MOST_COLUMN_NAME,
    MOST_SHEET_COLUMNS,
    MOST_SHEET_ROWS,
    MOST_TITLE_LINES,
    MOST_WORKBOOK_PART_BYTES,
    MOST_WORKBOOK_PARTS,
    Limits,
)
from ldp_core.wording import quote_examples, quoted

_BATCH = 4096
_PARSED_WHOLE = re.compile(r"(?i)(.*/)?(styles|workbook|\[Content_Types\])\.xml|docProps/.*|.*\.rels")
"""Parts that openpyxl makes objects of, many times their size, whatever the cells are."""


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the rows of one sheet, pickled; returns names, sheets, options and notes.

    Its first line that is not blank names the columns, unless the options say otherwise. Cells keep their type; blank rows
    are left out, as a note says.
    """
    with _damage_in_words():
        names, body, details = _read(content, options, limits)
    for start in range(0, len(body), _BATCH):
        pickle.dump(body[start : start + _BATCH], output)
    return {"names": names, **details}


def _read(
    content: bytes, options: dict[str, Any], limits: Limits
) -> tuple[list[str], list[list[object]], dict[str, Any]]:
    book = _open(content, limits)
    if not book.sheetnames:
        raise UnreadableTable("This workbook has no sheet with cells: save the table as a sheet of its own.")
    sheet, rows, notes = _chosen(book, options["sheet"], limits)
    _check_formulas(content, sheet, rows, limits)
    width = max(len(cells) for _, cells in rows)
    rows = [(number, [*cells, *[None] * (width - len(cells))]) for number, cells in rows]
    layout = layout_of(
        [cells for _, cells in rows], width, options.get("above"), options["header"], options.get("below"), typed=True
    )
    values = rows[layout.lines :]
    blank = values[-1][0] - values[0][0] + 1 - len(values) if values else 0
    if blank:
        notes.append(blank_note(blank))
    names = column_names(layout.called if layout.header else numbered(width), tuple(options["names"]))
    body = [cells for _, cells in values]
    check_rows(len(body))
    used = {"above": layout.above, "header": layout.header, "below": layout.below, "sheet": sheet}
    return names, body, {"sheets": book.sheetnames, "notes": [*notes, *layout.notes], "options": used}


def _chosen(book: Any, stated: str | None, limits: Limits) -> tuple[str, list[tuple[int, list[object]]], list[str]]:
    """The sheet to read, its rows, and a note: the first one, but a table rather than a cover note."""
    names = book.sheetnames
    if stated is not None and stated not in names:
        raise UnreadableTable(f"This workbook has no sheet {quoted(stated)}: choose one of {quote_examples(names, 5)}.")
    sheet = stated or names[0]
    rows, notes = _rows(book[sheet], limits), []
    if stated is None and len(names) > 1:
        said = f"The first of {len(names)} sheets, {quoted(sheet)}, was read"
        if len(rows) <= MOST_TITLE_LINES and not holds_table([cells for _, cells in rows]):
            sheets = ((name, _rows(book[name], limits)) for name in names[1:])
            table = next(((name, cells) for name, cells in sheets if holds_table([row for _, row in cells])), None)
            if table is not None:
                said = f"The sheet {quoted(table[0])} was read, since {quoted(sheet)} before it seems to hold no table"
                sheet, rows = table
        others = [name for name in names if name != sheet]
        notes = [f"{said}; {quote_examples(others, 5)} {'was' if len(others) == 1 else 'were'} not."]
    if not rows:
        raise UnreadableTable(
            f"The sheet {quoted(sheet)} is empty: choose one with a header line and at least one row."
        )
    return sheet, rows, notes


def _open(content: bytes, limits: Limits, formulas: bool = False) -> openpyxl.Workbook:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableTable(
            "This is an Excel file with a password, or an old one (.xls): open it in Excel and save it as .xlsx "
            "without a password."
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    # A part is never unpacked past the size it declares, so the declared sizes bound the memory.
    size = sum(part.file_size for part in parts)
    if len(parts) > MOST_WORKBOOK_PARTS or size > limits.unpacked:
        raise UnreadableTable(
            f"This workbook unpacks to {size / 2**20:,.0f} MB in {len(parts):,} parts, more than the "
            f"{limits.unpacked // 2**20} MB that are read: save the table alone as CSV or Parquet."
        )
    large = [
        part for part in parts if part.file_size > MOST_WORKBOOK_PART_BYTES and _PARSED_WHOLE.fullmatch(part.filename)
    ]
    if large:
        raise UnreadableTable(
            f"The part {quoted(large[0].filename)} of this workbook (such as its formats) unpacks to {large[0].file_size / MB:,.0f} MB and "
            f"at most {MOST_WORKBOOK_PART_BYTES // MB} MB are read: save the table alone, without formats, or as CSV."
        )
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableTable("This workbook is encrypted: save it without a password.")
    book = openpyxl.load_workbook(
        io.BytesIO(content), read_only=True, data_only=not formulas, keep_links=False, keep_vba=False
    )
    for chart in book.chartsheets:
        book.remove(chart)
    if any(len(name) > MOST_COLUMN_NAME for name in book.sheetnames):
        raise UnreadableTable(f"A sheet has a name of more than {MOST_COLUMN_NAME} characters: shorten it.")
    return book


def _rows(sheet: Any, limits: Limits) -> list[tuple[int, list[object]]]:
    """(row number, cells up to the last one filled) of the rows that are not blank."""
    rows, cells, size = [], 0, 0
    for number, row in _walk(sheet):
        last = len(row)
        while last and row[last - 1] in (None, ""):
            last -= 1
        if last:
            check_columns(numbered(last))
            size = check_row(numbered(last), row, size)
            rows.append((number, list(row[:last])))
            cells += last
        if cells > limits.cells:
            raise UnreadableTable(f"This sheet has more than {limits.cells:,} cells: save the table as CSV or Parquet.")
    return rows


def _walk(sheet: Any) -> Iterator[tuple[int, tuple[object, ...]]]:
    # The size a sheet declares may be wrong, and padding to it costs memory.
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        # openpyxl fills the gap before a row with blank ones, however large its number.
        if number > MOST_SHEET_ROWS or len(row) > MOST_SHEET_COLUMNS:
            raise UnreadableTable(
                f"This sheet has a cell beyond row {MOST_SHEET_ROWS:,} or column {MOST_SHEET_COLUMNS:,}, the last that Excel "
                "knows: save the table as CSV or Parquet."
            )
        yield number, row


def _check_formulas(content: bytes, sheet: str, rows: list[tuple[int, list[object]]], limits: Limits) -> None:
    """Refuse a formula without a stored result, since its cell would pass for a blank one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(b"<f" in archive.read(name) for name in names):
            return
    stored = dict(rows)
    for number, row in _walk(_open(content, limits, formulas=True)[sheet]):
        for position, cell in enumerate(row):
            cells = stored.get(number, [])
            value = cells[position] if position < len(cells) else None
            if isinstance(cell, str) and cell.startswith("=") and value is None:
                raise UnreadableTable(
                    f"Cell {get_column_letter(position + 1)}{number} holds a formula whose result is not stored: "
                    "open the file in Excel and save it again, or paste the values alone."
                )


@contextmanager
def _damage_in_words() -> Iterator[None]:
    try:
        yield
    except (UnreadableTable, MemoryError):
        raise
    # A damaged workbook makes its parsers (zip, XML, openpyxl's own) fail in any way at all.
    except Exception as error:
        raise UnreadableTable(
            "This file is not an Excel workbook, or is damaged: open it in Excel and save it again as .xlsx, or as CSV."
        ) from error
