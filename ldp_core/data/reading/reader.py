"""CSV and Parquet files of any size by their path, read by Arrow in flat memory: chosen columns, counted.

Reading a large file takes a while: inside `watched` it can be cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core import limits
from ldp_core.data.reading.common import (
    PARQUET_ENDINGS,
    TEXT_ENDINGS,
    UnreadableTable,
    blank_note,
    first_line,
    watch,
)
from ldp_core.data.reading.numerals import Evidence, Numerals, columns_of_text, evidence_of, is_text
from ldp_core.data.reading.options import ReadOptions
from ldp_core.data.reading.parquet import ParquetTable
from ldp_core.data.reading.stored import frame_of, type_notes
from ldp_core.data.reading.text import TextTable, without_blank_rows
from ldp_core.data.reading.together import Ticks, put_together, there_of
from ldp_core.data.reading.totals import left_out
from ldp_core.limits import MOST_DISTINCT_ROWS, MOST_TOTALLED_COLUMNS, MOST_TOTALLED_ROWS
from ldp_core.wording import quoted

_MEND = "choose fewer columns, or save the file as Parquet, which is read faster."
_ROWS = 2**18
_FIRST = 2**11
_HELD = 2**26
"""Rows, the first of a large file, and bytes that are handled at once."""


class TooManyRows(UnreadableTable):
    """A result larger than was asked for."""


class LocalTable:
    """A table in a local file; memory holds a small one, and of a large one only counts and batches of chosen columns.

    Attributes:
        columns: the names of the columns.
        options: the options used, with everything that was found out filled in.
    """

    def __init__(self, path: str, options: ReadOptions | None = None):
        """Look at the start of the file.

        Parameters
        ----------
        path : str
        options : ReadOptions, optional
            How to read it; what they leave open is found out.

        Raises
        ------
        UnreadableTable
            No such file, another kind of file, or a beginning that is no table.
        """
        self.path = _checked(path)
        self._version = _version(self.path)
        options, ending = options or ReadOptions(), self.path.suffix.lower()
        self._file: TextTable | ParquetTable
        if ending in PARQUET_ENDINGS:
            self._file, self.options = ParquetTable.look(self.path, options.names), options
            self._notes = type_notes(self._file.schema)
        elif ending in TEXT_ENDINGS:
            self._file = TextTable.look(lambda: self.path.open("rb"), self.path.stat().st_size, options, ending)
            self.options, self._notes = self._file.options, self._file.notes
        else:
            raise UnreadableTable(
                "Local files are read as CSV (.csv, .tsv, .txt) or Parquet (.parquet): convert this one."
            )
        self._stored = list(self._file.names)
        self._together, columns, notes = there_of(options.together, self._stored)
        self.columns, self._notes = tuple(columns), [*self._notes, *notes]
        self._numerals = Numerals(options, self.options.delimiter if isinstance(self._file, TextTable) else None)
        self._learnt: set[str] = set()  # the columns all of whose cells are known to `numerals`
        self._whole: pa.Table | None = None
        # The rows without any value, counted; None where they are not known yet.
        self._blank = None if isinstance(self._file, TextTable) and len(self._stored) > 1 else _Counts(self._stored)
        self._last_notes: tuple[str, ...] = ()
        self._begin()

    def _begin(self) -> None:
        """Take a small table as a whole, without the lines that are no people; of a large one, judge how its first rows write numbers."""
        first, ended = self._beginning(MOST_TOTALLED_ROWS)
        for name, cells in columns_of_text(first if ended else first.slice(0, _FIRST)):
            self._numerals.add(name, cells)
        if isinstance(self._file, TextTable):
            self.options = self.options.model_copy(update=self._numerals.used())
        if not ended:
            return
        self._learnt.update(self._stored)
        if len(self._stored) <= MOST_TOTALLED_COLUMNS:
            gone, self.options, self._last_notes = left_out(self._frame(first), self.options)
            first = first.filter(pa.array(np.isin(np.arange(first.num_rows), gone, invert=True)))
        self._whole = first

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was guessed, and rows left out. Columns that have been counted are judged by all their cells,
        others by the first; blank rows are known once any column has been counted."""
        blank = 0 if self._blank is None else self._blank.people
        return (*self._notes, *([blank_note(blank)] if blank else []), *self._numerals.notes(), *self._last_notes)

    def counts(self, columns: list[str], most: int = MOST_DISTINCT_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
        """The distinct rows of some columns, in one look at the file, and how many rows hold each.

        Parameters
        ----------
        columns : list of str
        most : int
            Distinct rows to hold at most.

        Returns
        -------
        rows : DataFrame
            (k, columns), numbers written plainly: all their cells are known then.
        people : ndarray
            (k,) int64, rows of the file without a value left out.

        Raises
        ------
        UnreadableTable
            More than ``most`` distinct rows, an unknown column, or a file that turns out to be damaged.
        """
        rows, people = self._counted(self._needed(columns), most)
        return put_together(rows, self._ticks(columns))[columns], people

    def _needed(self, columns: list[str]) -> list[str]:
        """The columns in the file that these are made of. UnreadableTable for one that is not there."""
        if absent := [name for name in columns if name not in self.columns]:
            raise UnreadableTable(f"The file has no column {quoted(absent[0])}: choose one of its columns.")
        made = {one.name: one.columns for one in self._together}
        return [stored for name in columns for stored in made.get(name, (name,))]

    def _ticks(self, columns: list[str]) -> list[Ticks]:
        """How those of these columns are read that are put together, by all rows."""
        made = [one for one in self._together if one.name in columns]
        return [Ticks.of(one, self._counted(list(one.columns))[0]) for one in made]

    def _counted(self, columns: list[str], most: int = MOST_DISTINCT_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
        """`counts` of columns as they stand in the file."""
        counted = _Counts(columns, most)
        for part in self._parts(columns):
            counted.add(part)
            if counted.many:
                break
        counted.group()
        if self._whole is None and len(without_blank_rows(counted.rows)[1]):
            counted.leave_out(self._find_blank())
        if counted.many:
            raise TooManyRows("These columns have more distinct rows than fit in memory: choose fewer.")
        rows, people = counted.rows, counted.users
        if not people.sum():
            raise UnreadableTable("This file has column names but no rows: choose one with rows.")
        for name in columns:
            cells = rows.column(name)
            if name not in self._learnt and is_text(cells.type):
                self._numerals.add(name, cells, people)
                self._learnt.add(name)
        self._settle(columns)
        return self._frame(rows.select(columns)), people

    def _find_blank(self) -> _Counts:
        """Count the rows without any value."""
        if self._blank is None:
            blank = _Counts(self._stored)
            for part in self._parts(self._stored):
                blank.add(part.take(pa.array(without_blank_rows(part)[1])))
            self._blank = blank
        return self._blank

    def _beginning(self, most: int) -> tuple[pa.Table, bool]:
        """The first rows with a value, and whether these are all."""
        parts, rows, size, blank = [], 0, 0, _Counts(self._stored)
        for part in self._parts(self._stored):
            filled, places = without_blank_rows(part) if self._blank is None else (part, ())
            blank.add(part.take(pa.array(places, pa.int64())))
            parts.append(_plain(filled.slice(0, most + 1 - rows)))
            rows, size = rows + parts[-1].num_rows, size + parts[-1].nbytes
            if rows > most or size > _HELD:
                return pa.concat_tables(parts).slice(0, most), False
        self._blank = self._blank or blank
        empty = pa.table([pa.array([], pa.string())] * len(self._stored), self._stored)
        return pa.concat_tables(parts) if parts else empty, True

    def batches(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        """All rows of some columns, a few at a time."""
        wanted, columns = columns, self._needed(columns)
        ticks = self._ticks(wanted)
        self._scan(columns)
        self._settle(columns)
        needed = self._stored if self._find_blank().people else columns
        for part in self._parts(needed):
            part = without_blank_rows(part)[0] if self._blank and self._blank.people else part
            for start in range(0, part.num_rows, _ROWS):
                watch().check()
                rows = self._frame(_plain(part.select(columns).slice(start, _ROWS)))
                yield put_together(rows, ticks)[wanted]

    def _settle(self, columns: list[str]) -> None:
        """Where other columns decide how one of these is read, judge them by all their cells, too."""
        if any(map(self._numerals.ambiguous, columns)):
            self._scan(self._stored)

    def _scan(self, columns: list[str]) -> None:
        """Judge columns by all their cells, except those whose first cells are plainly no numbers."""
        evidence = self._numerals.evidence
        unread = [
            name
            for name in columns
            if name in evidence and name not in self._learnt and not evidence[name].plainly_other
        ]
        whole = dict.fromkeys(unread, Evidence())
        for part in self._parts(unread) if unread else ():
            whole = {name: before + evidence_of(_plain(part).column(name)) for name, before in whole.items()}
        evidence.update(whole)
        self._learnt.update(unread)

    def _frame(self, table: pa.Table) -> pd.DataFrame:
        orders = self._file.orders if isinstance(self._file, ParquetTable) else {}
        return frame_of(self._numerals.rewritten(table), orders)

    def _parts(self, columns: list[str]) -> Iterator[pa.Table]:
        """All rows of some columns, blank ones among them, a part at a time."""
        if _version(self.path) != self._version:
            raise UnreadableTable("This file has changed since it was opened: open it again.")
        guard, allowed = watch(), limits.READ_LOCAL.seconds
        guard.check_time(allowed, _MEND)
        if self._whole is not None:
            yield self._whole.select(columns)
            return
        try:
            for part in self._file.tables(columns):
                guard.check_time(allowed, _MEND)
                yield part
        except (OSError, pa.ArrowException) as error:
            raise UnreadableTable(f"This file cannot be read to its end: {first_line(error)}.") from error


class _Counts:
    """The distinct rows of some ``columns`` of a table that comes in parts; ``many`` if these are more than ``most``."""

    def __init__(self, columns: list[str] | tuple[str, ...], most: int = MOST_DISTINCT_ROWS):
        self.columns, self._most, self.many = list(columns), most, False
        self._parts: list[pa.Table] = []
        self._waiting = self._grouped = 0

    def add(self, part: pa.Table) -> None:
        """Count the rows of a part."""
        if self.many or not part.num_rows:
            return
        names = [f"c{i}" for i in range(len(self.columns))]
        rows = part.select(self.columns).rename_columns(names).group_by(names, use_threads=False)
        rows = rows.aggregate([([], "count_all")]).rename_columns([*names, "n"])
        self._parts.append(_plain(rows))
        self._waiting += rows.num_rows
        if self._waiting > max(_ROWS, 2 * self._grouped):
            self.group()

    def group(self) -> None:
        """Add up what has been counted of each part."""
        if (self._waiting or len(self._parts) > 1) and not self.many:
            names = self._parts[0].column_names[:-1]
            rows = pa.concat_tables(self._parts).group_by(names, use_threads=False).aggregate([("n", "sum")])
            rows = rows.filter(pc.field("n_sum") > 0).select([*names, "n_sum"]).rename_columns([*names, "n"])
            self._parts, self._grouped, self._waiting = [rows], rows.num_rows, 0
            self.many = rows.num_rows > self._most or rows.nbytes > limits.READ_LOCAL.unpacked
            if self.many:
                self._parts = []

    @property
    def rows(self) -> pa.Table:
        """The distinct rows, by name."""
        self.group()
        if not self._parts:
            return pa.table([pa.array([], pa.string())] * len(self.columns), self.columns)
        return self._parts[0].drop_columns("n").rename_columns(self.columns)

    @property
    def users(self) -> np.ndarray:
        """How many rows hold each."""
        self.group()
        return self._parts[0].column("n").to_numpy().astype(np.int64) if self._parts else np.zeros(0, dtype=np.int64)

    @property
    def people(self) -> int:
        """All rows."""
        return int(self.users.sum())

    def leave_out(self, blank: _Counts) -> None:
        """Take the rows without any value out, where there are any."""
        if blank.people and not self.many:
            rows = blank.rows.select(self.columns).rename_columns(self._parts[0].column_names[:-1])
            self._parts.append(rows.append_column("n", pa.array(-blank.users)))
            self.group()


def _checked(path: str) -> Path:
    """The absolute path of an existing ordinary file, or UnreadableTable."""
    try:
        file = Path(path.strip()).expanduser().resolve()
        if not file.is_file():
            raise UnreadableTable(f'There is no file "{path.strip()[-80:]}" on this machine: check the path.')
        with file.open("rb"):
            return file
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, UnreadableTable):
            raise
        raise UnreadableTable(f'The file "{path.strip()[-80:]}" cannot be opened: {first_line(error)}.') from error


def _version(path: Path) -> tuple[int, int]:
    """Changes with the file."""
    try:
        now = path.stat()
    except OSError as error:
        raise UnreadableTable(f"This file cannot be read to its end: {first_line(error)}.") from error
    return now.st_size, now.st_mtime_ns


def _plain(table: pa.Table) -> pa.Table:
    """A table with its dictionaries written out."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table
