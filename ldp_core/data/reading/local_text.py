"""A text table in a local file: what is seen of it from its first lines, and the two ways to read its rows.

DuckDB reads most files, in parallel. If lines end in several ways, DuckDB refuses most files and
loses cells or rows of others: these are read by Arrow, as uploads are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset

from ldp_core.data.reading.common import UnreadableTable
from ldp_core.data.reading.duck import literal
from ldp_core.data.reading.line_ends import DelimitersAlone, blank_at_end, chunks, first_undecodable, mixed
from ldp_core.data.reading.numerals import Numerals
from ldp_core.data.reading.options import ReadOptions
from ldp_core.data.reading.text import VALUE, beginning, decode, other_encoding
from ldp_core.limits import MOST_CELL_CHARACTERS

_SAMPLE = 65536
# DuckDB reads these itself; other encodings would need an extension.
_DUCKDB_ENCODINGS = ("utf-8", "latin-1")


@dataclass
class LocalText:
    """A text table at ``path``, of columns ``names``: the ``options`` that it is read with, ``notes`` on what was guessed, how its
    ``numerals`` are written as far as is known, how many lines to ``skip`` before its values, and whether Arrow has to read it
    (None: not known yet)."""

    path: Path
    names: list[str]
    options: ReadOptions
    notes: tuple[str, ...]
    numerals: Numerals
    skip: int
    by_arrow: bool | None = None
    blank_rows: int | None = None
    """How many rows have no value and are left out (None: not known yet)."""

    @property
    def table(self) -> str:
        """The table as DuckDB reads it, as SQL."""
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        return (
            f"read_csv({literal(self.path)}, auto_detect=false, header=false, columns={{{types}}}, "
            f"skip={self.skip}, delim={literal(self.options.delimiter)}, quote='\"', escape='\"', "
            f"encoding='{self.options.encoding}', strict_mode=true, null_padding=false, max_line_size={MOST_CELL_CHARACTERS})"
        )

    @property
    def has_value(self) -> str:
        """True for rows that are kept, as SQL: those with a value, as in uploads."""
        if len(self.names) == 1 or self.blank_rows == 0:
            return "true"
        return " OR ".join(f"regexp_matches(c{i}, '{VALUE}')" for i in range(len(self.names)))

    def blank(self) -> int:
        """How many blank lines at the end would be taken for missing values: where there is one column, both readers do so."""
        return blank_at_end(self.path) if len(self.names) == 1 else 0

    def needs_arrow(self, check: Callable[[], None]) -> bool:
        """Whether DuckDB cannot read the file. The first time the whole file is looked at, and ``check`` called now and then."""
        if self.by_arrow is None:
            seen = DelimitersAlone(self.options.delimiter or ",")
            self.by_arrow = mixed(map(seen.look, chunks(self.path, check)))
            self.blank_rows = None if seen.any() else 0
        return self.by_arrow

    def undecodable(self, check: Callable[[], None]) -> str:
        """The sentence for a file that is not in its encoding to the end; empty for other faults."""
        encoding = self.options.encoding or "utf-8"
        place = first_undecodable(self.path, encoding, check) if self.path.exists() else None
        return "" if place is None else other_encoding(encoding, *place)

    def dataset(self) -> pa.dataset.Dataset:
        """The table as Arrow reads it, in parts."""
        names = [f"c{i}" for i in range(len(self.names))]
        read = pa.csv.ReadOptions(
            column_names=names,
            skip_rows=self.skip,
            encoding=self.options.encoding or "utf-8",
            use_threads=False,
            block_size=MOST_CELL_CHARACTERS,
        )
        layout = pa.csv.ParseOptions(
            delimiter=self.options.delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
        )
        cells = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
        )
        form = pa.dataset.CsvFileFormat(parse_options=layout, convert_options=cells, read_options=read)
        return pa.dataset.dataset(self.path, format=form)


def look(path: Path, options: ReadOptions) -> LocalText:
    """The format of a file, from its first lines.

    Raises:
        UnreadableTable: a beginning that is no table.
    """
    with path.open("rb") as file:
        start = file.read(4 * _SAMPLE)  # a letter has up to four bytes, and uploads are judged by as many letters
        if file.read(1):  # keep whole lines, so that no letter is cut in two
            start = start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1] or start
    if not start:
        raise UnreadableTable("This file is empty: choose one with a header line and at least one row.")
    whole, encoding, notes = decode(start, options.encoding)
    if encoding not in _DUCKDB_ENCODINGS:
        raise UnreadableTable(
            f"Large text files are read as UTF-8 or Latin-1 and this one is {encoding}: convert it to UTF-8, or "
            "choose Latin-1."
        )
    start_of_table = beginning(whole, options)
    delimiter, names = start_of_table.options["delimiter"], start_of_table.names
    numerals = Numerals(options, delimiter)
    body = io.StringIO(whole[start_of_table.characters :], newline="")
    lines = [line for line in csv.reader(body, delimiter=delimiter) if len(line) == len(names)]
    for place, name in enumerate(names):
        numerals.add(name, pa.array([line[place] for line in lines], pa.string()))
    used = options.model_copy(update={"encoding": encoding, **start_of_table.options, **numerals.used()})
    # Arrow counts skipped lines whether or not a cell goes on in the next one, as is done here; DuckDB does not.
    by_arrow = True if mixed([start]) or start_of_table.continues else None
    return LocalText(path, names, used, (*notes, *start_of_table.notes), numerals, start_of_table.lines, by_arrow)
