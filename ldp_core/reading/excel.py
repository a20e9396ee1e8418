"""Excel workbooks (.xlsx, .xlsm) to tables: stored results of formulas, never the formulas themselves.

openpyxl reads XML through defusedxml where that is installed, which refuses entities that expand without end.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import openpyxl
import pandas as pd
from openpyxl.utils import get_column_letter

from ldp_core.reading.common import (
    Loaded,
    ReadOptions,
    UnreadableTable,
    check_columns,
    check_rows,
    column_names,
    numbered,
)

MAX_UNPACKED = 400 * 1024 * 1024
"""Most bytes a workbook may unpack to; as objects in memory they take several times as much."""
MAX_CELLS = 2_000_000
"""Most cells of a sheet: a million take some ten seconds to read."""
_MAX_PARTS = 10_000


def sheets(content: bytes) -> tuple[str, ...]:
    """The names of the sheets that hold cells, in their order."""
    with _damage_in_words():
        return tuple(_open(content).sheetnames)


def read_excel(content: bytes, options: ReadOptions) -> Loaded:
    """Read one sheet: its first line that is not blank names the columns, unless the options say otherwise.

    Cells keep their type; blank rows are left out, and said so.
    """
    with _damage_in_words():
        return _read(content, options)


def _read(content: bytes, options: ReadOptions) -> Loaded:
    book = _open(content)
    if not book.sheetnames:
        raise UnreadableTable("This workbook has no sheet with cells: save the table as a sheet of its own.")
    sheet = options.sheet or book.sheetnames[0]
    if sheet not in book.sheetnames:
        found = ", ".join(f'"{name[:30]}"' for name in book.sheetnames[:5])
        raise UnreadableTable(f'This workbook has no sheet "{sheet[:30]}": choose one of {found}.')
    rows = _rows(book[sheet])
    if not rows:
        raise UnreadableTable(f'The sheet "{sheet[:30]}" is empty: choose one with a header line and at least one row.')
    _check_formulas(content, sheet, rows)
    width = max(len(cells) for _, cells in rows)
    blank = rows[-1][0] - rows[0][0] + 1 - len(rows)
    notes = []
    if len(book.sheetnames) > 1 and options.sheet is None:
        notes.append(f'The first of {len(book.sheetnames)} sheets, "{sheet[:30]}", was read.')
    if blank:
        notes.append(f"{blank:,} blank rows were left out.")
    first = [*rows[0][1], *[None] * (width - len(rows[0][1]))]
    header = options.header
    if header is None:
        header = not any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in first)
        if not header:
            notes.append("The first line holds numbers, so it was read as a row; say so if it is a header.")
    found = ["" if cell is None else str(cell) for cell in first] if header else numbered(width)
    names = column_names(found, options.names)
    body = [[*cells, *[None] * (width - len(cells))] for _, cells in rows[header:]]
    check_rows(len(body))
    table = pd.DataFrame(body, columns=names, dtype=object)
    return Loaded(table, options.model_copy(update={"header": header, "sheet": sheet}), tuple(notes))


def _open(content: bytes, formulas: bool = False) -> openpyxl.Workbook:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableTable(
            "This is an Excel file with a password, or an old one (.xls): open it in Excel and save it as .xlsx "
            "without a password."
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    # A part is never unpacked past the size it declares, so the declared sizes bound the memory.
    size = sum(part.file_size for part in parts)
    if len(parts) > _MAX_PARTS or size > MAX_UNPACKED:
        raise UnreadableTable(
            f"This workbook unpacks to {size / 2**20:,.0f} MB in {len(parts):,} parts, more than the "
            f"{MAX_UNPACKED // 2**20} MB that are read: save the table alone as CSV or Parquet."
        )
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableTable("This workbook is encrypted: save it without a password.")
    book = openpyxl.load_workbook(
        io.BytesIO(content), read_only=True, data_only=not formulas, keep_links=False, keep_vba=False
    )
    for chart in book.chartsheets:
        book.remove(chart)
    return book


def _rows(sheet) -> list[tuple[int, list[object]]]:
    """(row number, cells up to the last one filled) of the rows that are not blank."""
    rows, cells = [], 0
    for number, row in _walk(sheet):
        last = len(row)
        while last and row[last - 1] in (None, ""):
            last -= 1
        if last:
            check_columns(numbered(last))
            rows.append((number, list(row[:last])))
            cells += last
        if cells > MAX_CELLS:
            raise UnreadableTable(f"This sheet has more than {MAX_CELLS:,} cells: save the table as CSV or Parquet.")
    return rows


def _walk(sheet) -> Iterator[tuple[int, tuple[object, ...]]]:
    # The size a sheet declares may be wrong, and padding to it costs memory.
    sheet.reset_dimensions()
    return enumerate(sheet.iter_rows(values_only=True), 1)


def _check_formulas(content: bytes, sheet: str, rows: list[tuple[int, list[object]]]) -> None:
    """Refuse a formula without a stored result, since its cell would pass for a blank one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(b"<f" in archive.read(name) for name in names):
            return
    stored = dict(rows)
    for number, row in _walk(_open(content, formulas=True)[sheet]):
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
    except UnreadableTable:
        raise
    # A damaged workbook makes its parsers (zip, XML, openpyxl's own) fail in any way at all.
    except Exception as error:
        raise UnreadableTable(
            "This file is not an Excel workbook, or is damaged: open it in Excel and save it again as .xlsx, or as CSV."
        ) from error
