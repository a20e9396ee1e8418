"""CSV and Parquet files of any size by their path, read by DuckDB in flat memory: chosen columns, counted.

Reading a large file takes minutes: inside `watched` it reports its progress and can be cancelled.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from ldp_core import limits
from ldp_core.data.reading.child import run
from ldp_core.data.reading.common import (
    PARQUET_ENDINGS,
    TEXT_ENDINGS,
    UnreadableTable,
    blank_note,
    check_cells,
    column_names,
    first_line,
)
from ldp_core.data.reading.database import checked_path
from ldp_core.data.reading.duck import BATCH, ERRORS, LOCKS, SETTINGS, identifier, literal
from ldp_core.data.reading.limits_in_words import MEND, too_long
from ldp_core.data.reading.local_text import LocalText, look
from ldp_core.data.reading.numerals import Evidence, Numerals, columns_of_text, evidence_of, is_text
from ldp_core.data.reading.options import ReadOptions
from ldp_core.data.reading.stored import frame_of, is_ordered, type_notes
from ldp_core.data.reading.text import VALUE
from ldp_core.data.reading.totals import Line, extra_lines
from ldp_core.data.reading.watch import Watch, watch
from ldp_core.limits import MOST_DISTINCT_ROWS, MOST_TOTALLED_COLUMNS, MOST_TOTALLED_ROWS
from ldp_core.wording import quoted

KEPT_BYTES = 2**27
"""Counts are kept for the column sets asked about last, up to this size: other bins, and fewer columns, then need no further look
at the file."""
SUMMED = 300_000
"""Up to this many rows of counts are added up when fewer columns are requested; past it reading the
file again is faster."""
EACH_DISTINCT = 100_000
"""Most different values of a column that is counted along with others."""
PORTION = 30
"""Columns that are counted in one look."""
_TOO_MANY = "These columns have more distinct rows than fit in memory: choose fewer."
_POLL = 0.1  # seconds between looks at who watches
_BATCH = 2**18
_HELD = 2**26
"""Rows, and bytes, that are handled at once."""
_LONG_ROW = f"A row of this file holds more than the {limits.MOST_CELL_BYTES:,} bytes of text that are read: leave out the columns of long texts."
_TEXTS = {"varchar", "blob", "list", "array", "struct", "map", "union"}


class TooManyRows(UnreadableTable):
    """A result larger than was asked for."""


class LocalTable:
    """A table in a local file; memory holds only counts and batches of chosen columns.

    Attributes:
        columns: the names of the columns.
        options: the options used, with everything that was found out filled in.
    """

    def __init__(self, path: str, options: ReadOptions | None = None):
        """Look at the start of the file.

        Raises:
            UnreadableTable: no such file, another kind of file, or a beginning that is no table.
        """
        self.path: Path = checked_path(path)
        options = options or ReadOptions()
        ending = self.path.suffix.lower()
        self._text: LocalText | None = None
        self._schema: pa.Schema | None = None
        self._orders: dict[str, list[str]] = {}
        notes: tuple[str, ...] = ()
        if ending in PARQUET_ENDINGS:
            self._schema, places = _parquet_schema(self.path)
            names = column_names(self._schema.names, options.names)
            self._schema = pa.schema([field.with_name(name) for field, name in zip(self._schema, names, strict=True)])
            self._orders = {names[place]: order for place, order in places.items()}
            notes, self._numerals = tuple(type_notes(self._schema)), Numerals(options, None)
        elif ending in TEXT_ENDINGS:
            self._text = look(self.path, options)
            names, notes, options = self._text.names, self._text.notes, self._text.options
            self._numerals = self._text.numerals
        else:
            raise UnreadableTable(
                "Local files are read as CSV (.csv, .tsv, .txt) or Parquet (.parquet): convert this one."
            )
        self.columns, self.options, self._notes = tuple(names), options, notes
        self._extra: list[Line] = []
        self._last_notes: tuple[str, ...] = ()
        self._learnt: set[str] = set()  # the columns all of whose cells are known to `numerals`
        self._counted: dict[tuple[str, ...], tuple[pd.DataFrame, np.ndarray]] = {}
        self._lock = threading.Lock()
        self._version = _version(self.path)
        # DuckDB renames columns that differ in case alone, so they are known by their position.
        with self._query("SELECT * FROM source LIMIT 0", by_arrow=False) as result:
            self._stored = dict(zip(self.columns, result.columns, strict=True))
            self._texts = {
                name: str(kind) for name, kind in zip(self.columns, result.types, strict=True) if kind.id in _TEXTS
            }
        if self._text is None:
            for name, cells in columns_of_text(self._beginning(BATCH).rename_columns(names)):
                self._numerals.add(name, cells)
        self._extra = self._find_extra()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was guessed, and rows left out. Columns that have been counted are judged by all their cells,
        others by the first; blank rows are known once any column has been counted."""
        blank = 0 if self._text is None else self._text.blank_rows
        numerals = self._numerals.notes()
        return (*self._notes, *([blank_note(blank)] if blank else []), *numerals, *self._last_notes)

    def _find_extra(self) -> list[Line]:
        """The lines of a small table that are no people, and left out from now on."""
        if not 2 <= len(self.columns) <= MOST_TOTALLED_COLUMNS:
            return []
        try:
            lines = extra_lines(self.first(MOST_TOTALLED_ROWS + 1), self.options.total)
        except UnreadableTable:  # said when its columns are counted
            return []
        self._last_notes = tuple(line.note for line in lines)
        gone = [line for line in lines if line.left_out]
        if lines:
            self.options = self.options.model_copy(update={"total": bool(gone)})
        return gone

    def counts(self, columns: list[str], most: int = MOST_DISTINCT_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
        """The distinct rows of some columns, and how many rows hold each: (k, columns) and (k,) int64.

        Raises:
            UnreadableTable: more than `most` distinct rows, an unknown column, or a file that turns out to be damaged.
        """
        frame, users = self._known(columns) or self._count(columns, most)  # two threads may look at the same time
        if len(users) > most:
            raise TooManyRows(_TOO_MANY)
        self._keep(tuple(columns), frame, users)
        return frame.copy(), users.copy()

    def count_each(self, columns: list[str], beside: str | None = None) -> dict[str, int]:
        """Count each of some columns on its own (with the column ``beside`` it, such as one of counts), so that `counts` needs no
        look at the file for them: two looks at it for all together. Columns of more than `EACH_DISTINCT` different values are not counted.

        Returns:
            About how many different values each of these has.

        Raises:
            UnreadableTable: as `counts`.
        """
        sets = {name: [name] if beside in (None, name) else [name, beside] for name in columns}
        left = {name: needed for name, needed in sets.items() if self._known(needed) is None}
        many: dict[str, int] = {}
        for names in _portions(list(left)):
            many |= self._distinct(names)
        few = [name for name in left if many[name] <= EACH_DISTINCT]
        for names in _portions(few):
            self._count_sets({name: left[name] for name in names})
        return {name: values for name, values in many.items() if values > EACH_DISTINCT}

    def _distinct(self, columns: list[str]) -> dict[str, int]:
        """About how many different values each column has."""
        chosen = ", ".join(f"approx_count_distinct(c{i})" for i in range(len(columns)))
        with self._query(f"SELECT {chosen} FROM (SELECT {self._select(columns)} FROM source)") as result:
            values = result.to_arrow_table()
        return {name: int(values.column(i)[0].as_py()) for i, name in enumerate(columns)}

    def _count_sets(self, sets: dict[str, list[str]]) -> None:
        """Count and keep the distinct rows of each of these sets of columns."""
        every = list(dict.fromkeys(name for needed in sets.values() for name in needed))
        place = {name: f"c{i}" for i, name in enumerate(every)}
        names, own = (
            ", ".join(place.values()),
            [f"({', '.join(place[name] for name in needed)})" for needed in sets.values()],
        )
        sql = (
            f"SELECT {names}, grouping({names}) AS which, count(*) AS n FROM (SELECT {self._select(every)} FROM source) "
            f"GROUP BY GROUPING SETS ({', '.join(own)})"
        )
        with self._query(sql) as result:
            rows_fetched = _fetch(result, MOST_DISTINCT_ROWS)
        which = rows_fetched.column("which").to_numpy()
        for needed in sets.values():
            bits = sum(1 << (len(every) - 1 - i) for i, name in enumerate(every) if name not in needed)
            rows = rows_fetched.filter(pa.array(which == bits))
            chosen = rows.select([place[name] for name in needed])
            users = rows.column("n").to_numpy().astype(np.int64)
            self._learn(chosen, needed, users)
            self._keep(tuple(needed), self._frame(chosen, needed), users)

    def _count(self, columns: list[str], most: int) -> tuple[pd.DataFrame, np.ndarray]:
        chosen = self._select(columns)
        with self._query(f"SELECT {chosen}, count(*) AS n FROM source GROUP BY ALL") as result:
            fetched = _fetch(result, most)
        if fetched.num_rows == 0:
            raise UnreadableTable("This file has column names but no rows: choose one with rows.")
        users = fetched.column("n").to_numpy().astype(np.int64)
        self._learn(fetched, columns, users)
        return self._frame(fetched.drop_columns("n"), columns), users

    def _known(self, columns: list[str]) -> tuple[pd.DataFrame, np.ndarray] | None:
        """The known counts of these columns, or of more, which are then added up."""
        with self._lock:
            wider = [(key, *counted) for key, counted in self._counted.items() if set(columns) <= set(key)]
        for key, frame, users in wider:
            if len(key) == len(columns):
                return frame[columns], users
        return next((_summed(frame[columns], users) for _, frame, users in wider if _may_be_summed(frame)), None)

    def _keep(self, columns: tuple[str, ...], frame: pd.DataFrame, users: np.ndarray) -> None:
        """As what was asked about last."""
        with self._lock:
            self._counted.pop(columns, None)
            self._counted[columns] = frame, users
            sizes = {key: int(frame.memory_usage().sum()) + n.nbytes for key, (frame, n) in self._counted.items()}
            while sum(sizes.values()) > KEPT_BYTES:
                oldest = next(iter(sizes))
                del self._counted[oldest], sizes[oldest]

    def first(self, rows: int) -> pd.DataFrame:
        """The first rows."""
        try:
            return self._first(rows, self._text is not None and self._text.by_arrow is True)
        except TooManyRows:
            raise
        except UnreadableTable:  # perhaps for its line ends: then the whole file is examined
            return self._first(rows)

    def _first(self, rows: int, by_arrow: bool | None = None) -> pd.DataFrame:
        return self._frame(self._beginning(rows, by_arrow), list(self.columns))

    def _beginning(self, rows: int, by_arrow: bool | None = None) -> pa.Table:
        with self._query(f"SELECT {self._select(list(self.columns))} FROM source LIMIT {rows:d}", by_arrow) as result:
            return _fetch(result, rows, BATCH * limits.MOST_CELL_BYTES)

    def batches(self, columns: list[str], rows: int = _BATCH) -> Iterator[pd.DataFrame]:
        """All rows of some columns, a few at a time."""
        self._scan(columns)
        self._settle(columns)
        for table in self._parts(columns, rows):
            yield self._frame(table, columns)

    def _parts(self, columns: list[str], rows: int) -> Iterator[pa.Table]:
        with self._query(f"SELECT {self._select(columns)} FROM source") as result:
            guard, batches, held = watch(), list[pa.RecordBatch](), 0
            for batch in result.to_arrow_reader(BATCH):
                _check(guard)
                batches, held = [*batches, batch], held + batch.nbytes
                if held > _HELD or len(batches) * BATCH >= rows:
                    yield pa.Table.from_batches(batches)
                    batches, held = [], 0
            if batches:
                yield pa.Table.from_batches(batches)

    def _learn(self, table: pa.Table, columns: list[str], users: np.ndarray) -> None:
        """Judge how columns write their numbers by all their cells: those of ``table``, each held by so many ``users``."""
        for place, name in enumerate(columns):
            if name not in self._learnt and is_text(table.schema.field(place).type):
                self._numerals.add(name, table.column(place), users)
                self._learnt.add(name)
        self._settle(columns)

    def _settle(self, columns: list[str]) -> None:
        """Where other columns decide how one of these is read, judge them by all their cells, too."""
        if any(map(self._numerals.ambiguous, columns)):
            self._scan(list(self.columns))

    def _scan(self, columns: list[str]) -> None:
        """Judge columns by all their cells, except those whose first cells are plainly no numbers."""
        known = self._numerals.evidence
        columns = [name for name in columns if name in known]
        left = [name for name in columns if name not in self._learnt and not known[name].plainly_other]
        evidence_by_column = [Evidence() for _ in left]
        for table in self._parts(left, _BATCH) if left else ():
            evidence_by_column = [
                before + evidence_of(cells) for before, cells in zip(evidence_by_column, table.columns, strict=True)
            ]
        for name, evidence in zip(left, evidence_by_column, strict=True):
            known[name] = evidence
        self._learnt.update(left)

    def _frame(self, table: pa.Table, columns: list[str]) -> pd.DataFrame:
        table = self._numerals.rewritten(table.rename_columns(list(columns)))
        if self._schema is not None:
            stored = pa.schema([self._schema.field(name) for name in columns])
            return frame_of(table, stored, self._orders)
        return frame_of(table)

    def _select(self, columns: list[str]) -> str:
        absent = [name for name in columns if name not in self.columns]
        if absent:
            raise UnreadableTable(f"The file has no column {quoted(absent[0])}: choose one of its columns.")
        cells = {name: identifier(self._stored[name]) for name in columns}
        texts = [name for name in cells if name in self._texts]
        if texts:  # measured where they are: they may be many times larger than the file
            sizes = (f"coalesce({_size(cells[name], self._texts[name])}, 0)" for name in texts)
            one = cells[texts[0]]
            cells[texts[0]] = f"if({' + '.join(sizes)} > {limits.MOST_CELL_BYTES}, error({literal(_LONG_ROW)}), {one})"
        return ", ".join(f"{cells[name]} AS c{i}" for i, name in enumerate(columns))

    @contextmanager
    def _query(self, sql: str, by_arrow: bool | None = None) -> Iterator[duckdb.DuckDBPyRelation]:
        """The result of ``sql`` over the table ``source``; a text is read ``by_arrow`` or not.
        None: as its line ends demand, which requires a look at the whole file."""
        try:
            if _version(self.path) != self._version:
                raise UnreadableTable("This file has changed since it was opened: open it again.")
            whole = by_arrow is None
            if by_arrow is None:
                by_arrow = self._text is not None and self._text.needs_arrow(partial(_check, watch()))
            with duckdb.connect(config={**SETTINGS}) as connection:
                self._open(connection, by_arrow)
                connection.execute("SET enable_progress_bar = true")
                connection.execute("SET enable_progress_bar_print = false")
                for name, value in LOCKS.items():
                    connection.execute(f"SET {name} = {value}")
                with _followed(connection):
                    if whole and self._text is not None and self._text.blank_rows is None:
                        sql_blank = f"SELECT count(*) FROM lines WHERE ({self._text.has_value}) IS NOT TRUE"
                        (self._text.blank_rows,) = connection.execute(sql_blank).fetchall()[0]
                    yield connection.sql(sql)
        except ERRORS as error:
            if _LONG_ROW in str(error):
                raise UnreadableTable(_LONG_ROW) from error
            if "Out of Memory" in str(error):
                raise TooManyRows("Counting these columns takes more memory than is allowed: choose fewer.") from error
            wrong = "" if self._text is None else self._text.undecodable(partial(_check, watch()))
            raise UnreadableTable(wrong or f"This file cannot be read to its end: {first_line(error)}.") from error

    def _open(self, connection: duckdb.DuckDBPyConnection, by_arrow: bool) -> None:
        """Name the table ``source`` on a connection that may read this file."""
        connection.execute(f"SET allowed_paths = [{literal(self.path)}]")
        table, blank = f"read_parquet({literal(self.path)})", 0
        if self._text is not None:
            table, blank = self._text.table, self._text.blank()
        if by_arrow and self._text is not None:
            connection.register("by_arrow", self._text.dataset())
            table = "by_arrow"
        wanted = f"LIMIT greatest(0, (SELECT count(*) FROM {table}) - {blank})" if blank else ""
        connection.execute(f"CREATE TEMPORARY VIEW lines AS SELECT * FROM {table} {wanted}")
        kept = "true" if self._text is None else self._text.has_value
        for line in self._extra:
            cell = f"coalesce(CAST({identifier(self._stored[line.column])} AS VARCHAR), '')"
            other = f"{cell} <> {literal(line.cell)}" if line.cell else f"regexp_matches({cell}, '{VALUE}')"
            kept = f"({kept}) AND {other}"
        connection.execute(f"CREATE TEMPORARY VIEW source AS SELECT * FROM lines WHERE {kept}")


def _portions(names: list[str]) -> list[list[str]]:
    return [names[start : start + PORTION] for start in range(0, len(names), PORTION)]


def _version(path: Path) -> tuple[int, int]:
    """Changes with the file."""
    now = path.stat()
    return now.st_size, now.st_mtime_ns


def _may_be_summed(frame: pd.DataFrame) -> bool:
    """Few rows of texts: of the other types that Parquet has, not all can be grouped."""
    return len(frame) <= SUMMED and all(isinstance(kind, pd.StringDtype) for kind in frame.dtypes)


def _summed(frame: pd.DataFrame, users: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """The distinct rows of a table of texts, and the users of each."""
    names = [f"c{i}" for i in range(frame.shape[1])]
    rows = pa.table([*(pa.array(frame.iloc[:, i]) for i in range(frame.shape[1])), users], [*names, "n"])
    sums = rows.group_by(names).aggregate([("n", "sum")])
    return sums.select(names).rename_columns(list(frame.columns)).to_pandas(), sums.column("n_sum").to_numpy()


@contextmanager
def _followed(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Whoever watches hears how far the connection is; it is interrupted when they cancel, or past its time."""
    guard, ended = watch(), threading.Event()

    def follow() -> None:
        while not ended.wait(_POLL):
            if guard.cancelled() or _late(guard):
                connection.interrupt()  # again and again: one that comes before the query starts is lost
            else:
                guard.progress(max(0.0, connection.query_progress()) / 100)

    thread = threading.Thread(target=follow, daemon=True)
    _check(guard)
    thread.start()
    try:
        yield
    except ERRORS:
        _check(guard)
        raise
    finally:
        ended.set()
        thread.join()  # before the connection closes


def _late(guard: Watch) -> bool:
    return time.monotonic() - guard.begun > limits.READ_LOCAL.seconds


def _check(guard: Watch) -> None:
    """Raises Stopped when it is cancelled, UnreadableTable past its time."""
    guard.check()
    if _late(guard):
        mend = "choose fewer columns, or save the file as Parquet, which is read faster."
        raise UnreadableTable(too_long(limits.READ_LOCAL.seconds, mend))


def _fetch(result: duckdb.DuckDBPyRelation, most: int, allowed: int = limits.READ_LOCAL.unpacked) -> pa.Table:
    """The result of a query by batches, refused when it exceeds `most` rows or the limits."""
    reader = result.to_arrow_reader(BATCH)
    batches, rows, size = [], 0, 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        check_cells(rows, batch.num_columns, limits.READ_LOCAL.cells)
        if size > allowed or rows > most:
            raise TooManyRows(_TOO_MANY)
    return pa.Table.from_batches(batches, reader.schema)


def _size(cell: str, kind: str) -> str:
    """Bytes of a cell, as SQL."""
    return f"octet_length({cell})" if kind == "BLOB" else f"strlen(CAST({cell} AS VARCHAR))"


def _parquet_schema(path: Path) -> tuple[pa.Schema, dict[int, list[str]]]:
    """The types of the columns, and the ordered categories of each column that has them, by position."""
    try:
        with pa.parquet.ParquetFile(path) as file:
            schema, empty = file.schema_arrow, not file.num_row_groups
    except (pa.ArrowException, OSError) as error:
        raise UnreadableTable("This Parquet file is damaged or incomplete: save or download it again.") from error
    places = [place for place, field in enumerate(schema) if is_ordered(field.type)]
    if empty or not places:
        return schema, {}
    _, answer = run("parquet", {"path": str(path), "places": places}, limits.READ_PARQUET, b"", MEND)
    return schema, dict(zip(places, answer["orders"], strict=True))
