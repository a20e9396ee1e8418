"""DuckDB, locked up: it reads the files that it is given, and writes to one private folder, which is removed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from ldp_core.data.reading.common import first_line
from ldp_core.data.reading.duck import ERRORS, LOCKS, SETTINGS, identifier, literal
from ldp_core.deploy.collector.alphabet import Alphabet
from ldp_core.deploy.collector.files import DESIGN, REPORT, REPORTS, Source
from ldp_core.deploy.collector.reasons import ANOTHER_DESIGN, NO_ID, NO_NUMBER, NotRead, UnreadableReports
from ldp_core.deploy.collector.rows import longest
from ldp_core.limits import MOST_DATABASE_MIB
from ldp_core.run import Interrupted
from ldp_core.wording import quoted

OWN, _ANOTHER, _NAMELESS, AGAIN, _UNCOUNTED = range(5)
REFUSED = {_ANOTHER: ANOTHER_DESIGN, _NAMELESS: NO_ID, _UNCOUNTED: NO_NUMBER}
_NUMBERS_AT_ONCE = 2**22
_FEWEST = 2**8
_ROWS_AT_ONCE = 2**20
HASHES = 10_000_000
"""Hashes of ids compared at once: about 400 MB."""
_LOOKED_AT = 64
"""Columns that are not ours and may hold counts; a table of counts has few."""
_POLL = 0.1  # seconds between looks at whether somebody has cancelled

Progress = Callable[[float], None]


class Engine:
    """A database in memory for one file of reports of a ``design``, those of ids ``kept`` of earlier ones, and a ``folder`` of its own."""

    def __init__(
        self,
        source: Source,
        design: str,
        kept: Sequence[Path],
        folder: Path,
        cancelled: Callable[[], bool],
        progress: Progress,
    ):
        self.source, self.design, self.kept, self.folder = source, design, tuple(kept), folder
        self.cancelled, self.progress, self.phase = cancelled, progress, (0.0, 1.0)

    @contextmanager
    def connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that is interrupted when somebody cancels; its errors become one
        sentence."""
        spill = self.folder / "spill"
        settings: dict[str, str | bool | int | float | list[str]] = {
            **SETTINGS,
            "memory_limit": f"{MOST_DATABASE_MIB}MiB",
            "temp_directory": str(spill),
            "max_temp_directory_size": "1000GiB",
            # Rows of text files are numbered by their order.
            "preserve_insertion_order": str(self.source.in_order).lower(),
        }
        allowed = ", ".join(literal(path) for path in (self.source.place, *self.kept, self.written))
        try:
            with duckdb.connect(config=settings) as connection:
                connection.execute(f"SET allowed_paths = [{allowed}]")
                connection.execute("SET enable_progress_bar = true")
                connection.execute("SET enable_progress_bar_print = false")
                for name, value in LOCKS.items():
                    connection.execute(f"SET {name} = {value}")
                with self._followed(connection):
                    yield connection
        except ERRORS as error:
            self.check()
            self._check_kept()
            said = str(error)
            for path in (self.source.place, self.written, self.folder):
                said = said.replace(str(path), path.name)
            raise NotRead(
                f"The file {quoted(self.source.path.name)} cannot be read to its end, and nothing of it was counted: "
                f"{first_line(ValueError(said))}."
            ) from error

    def _check_kept(self) -> None:
        """UnreadableReports where the ids of earlier files are damaged, so that the file of reports is not blamed."""
        for path in self.kept:
            try:
                for _ in pa.parquet.ParquetFile(path).iter_batches(columns=["id"]):
                    self.check()
            except ERRORS as error:
                raise UnreadableReports(
                    f"The ids of earlier files, in the folder {quoted(path.parent.name)}, are damaged, so repeated reports could not be "
                    "found: put that folder back as it was, or collect into a new state. No report of this file was counted."
                ) from error

    def check(self) -> None:
        """Raises Interrupted once somebody has cancelled."""
        if self.cancelled():
            raise Interrupted("Collecting was cancelled; the files read before are in the state, where there is one.")

    @contextmanager
    def _followed(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        ended = threading.Event()

        def follow() -> None:
            while not ended.wait(_POLL):
                if self.cancelled():
                    connection.interrupt()  # again and again: one that comes before the query starts is lost
                else:
                    begun, ended_at = self.phase
                    share = max(0.0, connection.query_progress()) / 100
                    self.progress(begun + share * (ended_at - begun))

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()  # before the connection closes

    # --- repeated ids -------------------------------------------------------------------------------------------

    @property
    def written(self) -> Path:
        """Where `keep_ids` writes."""
        return self.folder / "ids.parquet"

    def keep_ids(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write the ids of the ``usable`` rows to `written`."""
        connection.execute(
            f"COPY (SELECT id FROM {self.source.query()} WHERE {self._usable}) TO {literal(self.written)} (FORMAT parquet)"
        )

    def find_repeated(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Make the table ``twice`` of the ids (id, number) that several of the ``usable`` rows have, or a row and an earlier file: all
        but the row of this number are repeats. False, and no table, where there are none.

        Hashes of ids that occur once are sorted out first, portion by portion, so that memory stays flat; the ids that are left
        are compared themselves.
        """
        earlier = [f"read_parquet({literal(path)})" for path in self.kept]
        # The rows are numbered before any are left out.
        numbered = f"SELECT id, number FROM {self.source.query(numbered=True)} WHERE {self._usable}"
        tables = [
            f"SELECT id FROM {self.source.query()} WHERE {self._usable}",
            *(f"SELECT id FROM {table}" for table in earlier),
        ]
        portions = (self.source.rows + sum(pa.parquet.read_metadata(path).num_rows for path in self.kept)) // HASHES + 1
        connection.execute("CREATE TABLE several (h UBIGINT)")
        for portion in range(portions):
            connection.execute(
                f"INSERT INTO several SELECT h FROM (SELECT hash(id) AS h FROM ({' UNION ALL '.join(tables)})) "
                f"WHERE h % {portions} = {portion} GROUP BY h HAVING count(*) > 1"
            )
        ((repetitions,),) = connection.execute("SELECT count(*) FROM several").fetchall()
        if not repetitions:
            return False
        candidates = [numbered, *(f"SELECT id, -1 AS number FROM {table}" for table in earlier)]
        connection.execute(
            f"CREATE TABLE twice AS SELECT id, min(number) AS number FROM ({' UNION ALL '.join(candidates)}) "
            "WHERE hash(id) IN (SELECT h FROM several) GROUP BY id HAVING count(*) > 1"
        )
        connection.execute("DROP TABLE several")
        return True

    def rounded(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        """An id that a spreadsheet has written as a rounded number, if there is one, or if most of the long whole numbers end in zeros."""
        ((written, ending, zeros, long),) = connection.execute(
            "SELECT any_value(id) FILTER (regexp_full_match(id, '[0-9]([.,][0-9]+)?[eE][+][0-9]+')), any_value(id) FILTER (zeros), "
            "count(*) FILTER (zeros), count(*) FILTER (regexp_full_match(id, '[0-9]{17,}')) FROM (SELECT CAST(id AS VARCHAR) AS id, "
            f"regexp_full_match(id, '[1-9][0-9]{{0,14}}0{{5,}}') AS zeros FROM {self.source.query()})"
        ).fetchall()
        return written or (ending if 2 * zeros > long else None)

    def like_counts(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, int] | None:
        """A column of whole numbers beside reports that all differ, if there is one, and how many these are."""
        table = f"(SELECT *, {identifier(self.source.columns['report'])} AS report FROM {self.source.table})"
        ((rows, different),) = connection.execute(f"SELECT count(*), count(DISTINCT report) FROM {table}").fetchall()
        for stored, name in list(self.source.others.items())[:_LOOKED_AT] if 1 < rows == different else []:
            times = f"CAST({identifier(stored)} AS VARCHAR)"
            ((alike,),) = connection.execute(
                f"SELECT bool_and(regexp_full_match({times}, '[0-9]{{1,15}}')) AND sum(TRY_CAST({times} AS BIGINT)) > count(*) FROM {table}"
            ).fetchall()
            if alike:
                return name, rows
        return None

    # --- what each row is ---------------------------------------------------------------------------------------

    def rows(
        self, connection: duckdb.DuckDBPyConnection, again: bool, letters: Alphabet
    ) -> Iterator[tuple[np.ndarray, pa.StringArray, np.ndarray]]:
        """Batches (status, text, times): all rows of the file, each once or together with others that are equal; ``again`` where `find_repeated`
        found some."""
        sql = self._statuses(again, longest(letters))
        if letters.few and REPORTS not in self.source.columns:
            sql = f"SELECT status, text, CAST(sum(times) AS BIGINT) AS times FROM ({sql}) GROUP BY ALL"
        sql = f"SELECT status, CAST(text AS VARCHAR) AS text, times FROM ({sql})"
        rows = min(max(_NUMBERS_AT_ONCE // letters.width, _FEWEST), _ROWS_AT_ONCE)
        for batch in connection.sql(sql).to_arrow_reader(rows):
            self.check()
            status, text, times = batch.columns
            yield status.to_numpy(), text.cast(pa.string()), times.to_numpy()

    @property
    def _own(self) -> str:
        """True if a row is of this design, as SQL."""
        return f"coalesce(design = {literal(self.design)}, false)" if DESIGN in self.source.columns else "true"

    @property
    def _named(self) -> str:
        """True if a row has an id."""
        return {"": "true", "uuid": "(id IS NOT NULL)", "text": "coalesce(id <> '', false)"}[self.source.ids]

    @property
    def _usable(self) -> str:
        return f"({self._own} AND {self._named})"

    @property
    def _times(self) -> str:
        """How many reports a row stands for; NULL where that is no whole number."""
        if REPORTS not in self.source.columns:
            return "CAST(1 AS BIGINT)"
        text = "CAST(reports AS VARCHAR)"
        return f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,15}}') THEN CAST({text} AS BIGINT) END"

    def _statuses(self, again: bool, longest: int) -> str:
        """All rows as (status, text, times)."""
        repeated, table = "false", self.source.query()
        if again:
            repeated = "coalesce(kept <> number, false)"
            table = f"(SELECT f.*, t.number AS kept FROM {self.source.query(numbered=True)} AS f LEFT JOIN twice AS t ON f.id = t.id)"
        # texts longer than any report are dropped
        text = REPORT if self.source.whole_numbers else f"CASE WHEN strlen(report) <= {longest} THEN report END"
        cases = (
            f"WHEN NOT {self._own} THEN {_ANOTHER} WHEN NOT {self._named} THEN {_NAMELESS} WHEN {repeated} THEN {AGAIN}"
        )
        status = f"CASE {cases} WHEN {self._times} IS NULL THEN {_UNCOUNTED} ELSE {OWN} END"
        return (
            f"SELECT status, CASE WHEN status = {OWN} THEN text END AS text, times FROM "
            f"(SELECT {status} AS status, {text} AS text, coalesce({self._times}, 1) AS times FROM {table})"
        )
