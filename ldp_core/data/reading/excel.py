"""Excel workbooks (.xlsx, .xlsm) to tables: stored results of formulas, never the formulas themselves.

openpyxl reads XML through defusedxml where that is installed, which refuses entities that expand without end. It runs in a
process of its own, since its time and memory depend on far more than the size of the file.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.worksheet._reader import WorkSheetParser

from ldp_core.data.reading.common import (
    UnreadableTable,
    blank_note,
    check_columns,
    check_row,
    check_rows,
    column_names,
    damage_as,
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
from ldp_core.wording import plural, quote_examples, quoted

_BATCH = 4096
_DAMAGED = "This file is not an Excel workbook, or is damaged: open it in Excel and save it again as .xlsx, or as CSV."
_PARSED_WHOLE = re.compile(r"(?i)(.*/)?(styles|workbook|\[Content_Types\])\.xml|docProps/.*|.*\.rels")
"""Parts that openpyxl makes objects of, many times their size, whatever the cells are."""


Row = tuple[int, list[object]]
"""The number of a row in its sheet, from 1 on, and its cells up to the last one filled."""


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet that are not blank, and its ``parser``, which knows what is hidden and what is merged."""

    name: str
    rows: list[Row]
    parser: WorkSheetParser

    def hides(self, row: int) -> bool:
        """True for a row that Excel does not show, because of a filter or by hand."""
        return _is_hidden(self.parser.row_dimensions.get(str(row), {}))


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the rows of one sheet, pickled; returns names, sheets, options and notes.

    Its first line that is not blank names the columns, unless the options say otherwise. Cells keep their type; blank rows
    are left out, as a note says.
    """
    # A damaged workbook makes its parsers (zip, XML, openpyxl's own) fail in any way at all.
    with damage_as(_DAMAGED, Exception):
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
    sheet, notes = _chosen(book, options["sheet"], limits)
    _check_formulas(content, sheet, limits)
    width = max(len(cells) for _, cells in sheet.rows)
    rows = [(number, [*cells, *[None] * (width - len(cells))]) for number, cells in sheet.rows]
    layout = layout_of(
        [cells for _, cells in rows], width, options.get("above"), options["header"], options.get("below"), typed=True
    )
    values = rows[layout.lines :]
    blank = values[-1][0] - values[0][0] + 1 - len(values) if values else 0
    if blank:
        notes.append(blank_note(blank))
    names = column_names(layout.called if layout.header else numbered(width), tuple(options["names"]))
    notes += [
        *_merged(sheet, values, names, options.get("merged")),
        *_hidden(sheet, values, names, options.get("hidden")),
    ]
    body = [cells for number, cells in values if not (options.get("hidden") and sheet.hides(number))]
    check_rows(len(body))
    used = {"above": layout.above, "header": layout.header, "below": layout.below, "sheet": sheet.name}
    return names, body, {"sheets": book.sheetnames, "notes": [*notes, *layout.notes], "options": used}


def _merged(sheet: Sheet, values: list[Row], names: list[str], fill: bool | None) -> list[str]:
    """Give the ``values`` below each other that are merged into one cell its value, unless ``fill`` is False; sentences on these,
    and on cells merged side by side."""
    by_number, filled, found = dict(values), Counter[str](), sheet.parser.merged_cells
    merged = [range_boundaries(cells.ref) for cells in (found.mergeCell if found else ())]
    inside = [cells for cells in merged if cells[1] in by_number and cells[0] <= len(names)]
    for column, first, _, last in inside if fill is not False else ():
        value = by_number[first][column - 1]
        for number in range(first + 1, last + 1):
            if number in by_number and by_number[number][column - 1] is None:
                by_number[number][column - 1] = value
                filled[names[column - 1]] += value is not None
    beside = sum(last_column > column for column, _, last_column, _ in inside)
    said = {
        f"In {quote_examples([*filled])}, {plural(filled.total(), 'row')} merged with the row above got its value. If such a row is "
        'no person of its own, choose "only for the first row" under "Merged cells count".': filled.total(),
        f"{plural(beside, 'row has', 'rows have')} cells merged across columns: their value counts for the first of these columns and "
        "is missing in the others.": beside,
    }
    return [sentence for sentence, rows in said.items() if rows]


def _hidden(sheet: Sheet, values: list[Row], names: list[str], left_out: bool | None) -> list[str]:
    """Sentences on rows and columns that Excel does not show."""
    hidden = sum(sheet.hides(number) for number, _ in values)
    # A sheet may describe neighbouring columns together.
    ranges = [
        range(int(facts["min"]), int(facts["max"]) + 1)
        for facts in sheet.parser.column_dimensions.values()
        if _is_hidden(facts)
    ]
    columns = [name for place, name in enumerate(names, 1) if any(place in within for within in ranges)]
    said = {
        f"{plural(hidden, 'row')} that Excel hides {'was' if hidden == 1 else 'were'} left out.": hidden and left_out,
        f"{plural(hidden, 'row')} that Excel hides, by a filter or by hand, {'was' if hidden == 1 else 'were'} read like the others. "
        'If only what is shown counts, choose "left out" under "Hidden rows".': hidden and left_out is None,
        f"Excel hides {quote_examples(columns)}, which can be chosen here like any column.": columns,
    }
    return [sentence for sentence, true in said.items() if true]


def _is_hidden(facts: dict[str, str]) -> bool:
    return facts.get("hidden") in ("1", "true")


def _chosen(book: Any, stated: str | None, limits: Limits) -> tuple[Sheet, list[str]]:
    """The sheet to read, and a note: the first one that Excel shows, but a table rather than a cover note."""
    names = book.sheetnames
    if stated is not None and stated not in names:
        raise UnreadableTable(f"This workbook has no sheet {quoted(stated)}: choose one of {quote_examples(names, 5)}.")
    shown = [name for name in names if book[name].sheet_state == "visible"] or names
    sheet, notes = _sheet(book[stated or shown[0]], limits), []
    if stated is None and len(names) > 1:
        said = f"The first of {len(names)} sheets, {quoted(sheet.name)}, was read"
        if shown[0] != names[0]:
            said = f"The first sheet that Excel shows, {quoted(sheet.name)}, was read"
        if len(sheet.rows) <= MOST_TITLE_LINES and not holds_table([cells for _, cells in sheet.rows]):
            further = (_sheet(book[name], limits) for name in shown[1:])
            table = next((other for other in further if holds_table([row for _, row in other.rows])), None)
            if table is not None:
                said = f"The sheet {quoted(table.name)} was read, since {quoted(sheet.name)} before it seems to hold no table"
                sheet = table
        others = [f"{name} (hidden)" if name not in shown else name for name in names if name != sheet.name]
        notes = [f"{said}; {quote_examples(others, 5)} {'was' if len(others) == 1 else 'were'} not."]
    if not sheet.rows:
        raise UnreadableTable(
            f"The sheet {quoted(sheet.name)} is empty: choose one with a header line and at least one row."
        )
    return sheet, notes


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


def _sheet(sheet: Any, limits: Limits) -> Sheet:
    rows, filled, size = list[Row](), 0, 0
    with sheet._get_source() as source:
        parser = _parser(sheet, source)
        for number, row in _walk(sheet, parser):
            last = len(row)
            while last and row[last - 1] in (None, ""):
                last -= 1
            if last:
                check_columns(numbered(last))
                size = check_row(numbered(last), row, size)
                rows.append((number, list(row[:last])))
                filled += last
            if filled > limits.cells:
                raise UnreadableTable(
                    f"This sheet has more than {limits.cells:,} cells: save the table as CSV or Parquet."
                )
    return Sheet(sheet.title, rows, parser)


def _parser(sheet: Any, source: Any) -> WorkSheetParser:
    """The parser that openpyxl reads a sheet with: besides the cells, it remembers what is hidden and merged."""
    book = sheet.parent
    return WorkSheetParser(
        source,
        sheet._shared_strings,
        data_only=book.data_only,
        epoch=book.epoch,
        date_formats=book._date_formats,
        timedelta_formats=book._timedelta_formats,
    )


def _walk(sheet: Any, parser: WorkSheetParser) -> Iterator[tuple[int, tuple[object, ...]]]:
    for number, cells in parser.parse():
        row = sheet._get_row(cells, values_only=True)
        if number > MOST_SHEET_ROWS or len(row) > MOST_SHEET_COLUMNS:
            raise UnreadableTable(
                f"This sheet has a cell beyond row {MOST_SHEET_ROWS:,} or column {MOST_SHEET_COLUMNS:,}, the last that Excel "
                "knows: save the table as CSV or Parquet."
            )
        yield number, row


def _check_formulas(content: bytes, sheet: Sheet, limits: Limits) -> None:
    """Refuse a formula without a stored result, since its cell would pass for a blank one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(b"<f" in archive.read(name) for name in names):
            return
    stored, formulas = dict(sheet.rows), _open(content, limits, formulas=True)[sheet.name]
    with formulas._get_source() as source:
        for number, row in _walk(formulas, _parser(formulas, source)):
            for position, cell in enumerate(row):
                cells = stored.get(number, [])
                value = cells[position] if position < len(cells) else None
                if isinstance(cell, str) and cell.startswith("=") and value is None:
                    raise UnreadableTable(
                        f"Cell {get_column_letter(position + 1)}{number} holds a formula whose result is not stored: "
                        "open the file in Excel and save it again, or paste the values alone."
                    )
