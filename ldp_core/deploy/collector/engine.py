"""DuckDB, locked up: it reads the files that it is given, and writes to one private folder, which is removed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

from ldp_core.data.reading.common import first_line
from ldp_core.data.reading.duck import ERRORS, LOCKS, SETTINGS, identifier, literal
from ldp_core.deploy.collector.files import Source
from ldp_core.deploy.collector.reasons import NotRead, UnreadableReports
from ldp_core.limits import MOST_DATABASE_MIB
from ldp_core.run import Interrupted
from ldp_core.wording import quoted

HASHES = 10_000_000
"""Hashes of ids compared at once: about 400 MB."""
_LOOKED_AT = 64
"""Columns that are not ours and may hold counts; a table of counts has few."""
_POLL = 0.1  # seconds between looks at whether somebody has cancelled

Progress = Callable[[float], None]


class Engine:
    """A database in memory for one file of reports, those of ids ``kept`` of earlier ones, and a ``folder`` of its own."""

    def __init__(
        self, source: Source, kept: Sequence[Path], folder: Path, cancelled: Callable[[], bool], progress: Progress
    ):
        self.source, self.kept, self.folder = source, tuple(kept), folder
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

    def keep_ids(self, connection: duckdb.DuckDBPyConnection, usable: str) -> None:
        """Write the ids of the ``usable`` rows to `written`."""
        connection.execute(
            f"COPY (SELECT id FROM {self.source.query()} WHERE {usable}) TO {literal(self.written)} (FORMAT parquet)"
        )

    def find_repeated(self, connection: duckdb.DuckDBPyConnection, usable: str) -> bool:
        """Make the table ``twice`` of the ids (id, number) that several of the ``usable`` rows have, or a row and an earlier file: all
        but the row of this number are repeats. False, and no table, where there are none.

        Hashes of ids that occur once are sorted out first, portion by portion, so that memory stays flat; the ids that are left
        are compared themselves.
        """
        earlier = [f"read_parquet({literal(path)})" for path in self.kept]
        # The rows are numbered before any are left out.
        numbered = f"SELECT id, number FROM {self.source.query(numbered=True)} WHERE {usable}"
        tables = [
            f"SELECT id FROM {self.source.query()} WHERE {usable}",
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
