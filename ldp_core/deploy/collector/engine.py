"""DuckDB, locked up: it reads the files that it is given, and writes to one private folder, which is removed."""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from ldp_core.data.reading.common import first_line
from ldp_core.data.reading.duck import ERRORS, LOCKS, SETTINGS, identifier, literal
from ldp_core.deploy.collector.alphabet import Alphabet
from ldp_core.deploy.collector.collection import ID_BYTES, MARK, marks
from ldp_core.deploy.collector.files import DESIGN, REPORT, REPORTS, Source, is_like_ids
from ldp_core.deploy.collector.private_folder import no_room
from ldp_core.deploy.collector.reasons import ANOTHER_DESIGN, ANOTHER_REPORT, NO_ID, NO_NUMBER, NotRead
from ldp_core.deploy.collector.rows import longest
from ldp_core.limits import MOST_DATABASE_MIB
from ldp_core.run import Interrupted
from ldp_core.threads import beside
from ldp_core.wording import quoted

OWN, _ANOTHER, _NAMELESS, AGAIN, _DIFFERS, _UNCOUNTED = range(6)
REFUSED = {_ANOTHER: ANOTHER_DESIGN, _NAMELESS: NO_ID, _DIFFERS: ANOTHER_REPORT, _UNCOUNTED: NO_NUMBER}
_NUMBERS_AT_ONCE = 2**22
_FEWEST = 2**8
_ROWS_AT_ONCE = 2**20
HASHES = 10_000_000
"""Hashes of ids compared at once: about 400 MB."""
_LOOKED_AT = 64
"""Columns that are not ours and may hold counts or ids; a table of counts has few."""
_SURPRISING = 0.2
"""Chance below which single reports are not taken to differ from each other by accident."""
_SAMPLE = 2_000
"""Rows looked at to see whether a column holds ids."""
_POLL = 0.1  # seconds between looks at whether somebody has cancelled

Progress = Callable[[float], None]


class Engine:
    """A database in memory for one file of reports of a ``design``, the marks of ``earlier`` ones (see `MARK`), and a ``folder`` of its own."""

    def __init__(
        self,
        source: Source,
        design: str,
        earlier: pa.ChunkedArray,
        folder: Path,
        cancelled: Callable[[], bool],
        progress: Progress,
    ):
        self.source, self.design, self.earlier, self.folder = source, design, earlier, folder
        self.cancelled, self.progress, self.phase = cancelled, progress, (0.0, 1.0)
        self.written = folder / "marks.parquet"
        columns, number = source.columns, "CAST(reports AS VARCHAR)"
        # As SQL: whether a row is of this design, whether it has an id, and how many reports it stands for, NULL where that is no whole number.
        self._own = f"coalesce(design = {literal(design)}, false)" if DESIGN in columns else "true"
        self._named = "coalesce(CAST(id AS VARCHAR) <> '', false)" if source.ids else "true"
        counted = f"CASE WHEN regexp_full_match({number}, '[0-9]{{1,15}}') THEN CAST({number} AS BIGINT) END"
        self._times = counted if REPORTS in columns else "CAST(1 AS BIGINT)"

    @contextmanager
    def connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that is interrupted when somebody cancels; its errors become one
        sentence."""
        settings: dict[str, str | bool | int | float | list[str]] = {
            **SETTINGS,
            "memory_limit": f"{MOST_DATABASE_MIB}MiB",
            "temp_directory": str(self.folder / "spill"),
            "max_temp_directory_size": "1000GiB",
            # Rows of text files are numbered by their order.
            "preserve_insertion_order": str(self.source.in_order).lower(),
        }
        allowed = ", ".join(literal(path) for path in (self.source.place, self.written))
        try:
            with duckdb.connect(config=settings) as connection:
                connection.execute(f"SET allowed_paths = [{allowed}]")
                connection.execute("SET enable_progress_bar = true")
                connection.execute("SET enable_progress_bar_print = false")
                for name, value in LOCKS.items():
                    connection.execute(f"SET {name} = {value}")
                connection.register("earlier", pa.table({"mark": self.earlier}))
                with beside(partial(self._follow, connection)):
                    yield connection
        except ERRORS as error:
            self.check()
            if no_room(error):
                raise OSError(str(error)) from error
            said = str(error)
            for path in (self.source.place, self.written, self.folder):
                said = said.replace(str(path), path.name)
            raise NotRead(
                f"The file {quoted(self.source.path.name)} cannot be read to its end, and nothing of it was counted: "
                f"{first_line(ValueError(said))}."
            ) from error

    def check(self) -> None:
        """Raises Interrupted once somebody has cancelled."""
        if self.cancelled():
            raise Interrupted("Collecting was cancelled; the files read before are in the state, where there is one.")

    def _follow(self, connection: duckdb.DuckDBPyConnection, ended: threading.Event) -> None:
        """Tell how far a query is until the connection is about to close, and interrupt it when somebody cancels."""
        while not ended.wait(_POLL):
            if self.cancelled():
                connection.interrupt()  # again and again: one that comes before the query starts is lost
            else:
                begin, end = self.phase
                share = max(0.0, connection.query_progress()) / 100
                self.progress(begin + share * (end - begin))

    # --- repeated ids -------------------------------------------------------------------------------------------

    def compare_ids(self, connection: duckdb.DuckDBPyConnection) -> tuple[bool, pa.ChunkedArray]:
        """The marks of the ids that come for the first time, in a file that is mapped into memory, and whether others came before. Then the table
        ``again`` (number, differs) holds these rows, and whether their report differs from the one that came first."""
        name = (
            "coalesce(CAST(TRY_CAST(id AS UUID) AS VARCHAR), CAST(id AS VARCHAR))"  # the same however a UUID is written
        )
        named = f"SELECT number, {literal(self.design + ' ')} || {name} AS named, coalesce(CAST(report AS VARCHAR), '') AS sent"
        connection.execute(
            f"COPY (SELECT number, unhex(left(sha256(named), {2 * ID_BYTES})) AS id, "
            f"unhex(left(sha256(named || ' ' || sent), {2 * (MARK.byte_width - ID_BYTES)})) AS report "
            f"FROM ({named} FROM {self.source.query(numbered=True)} WHERE {self._own} AND {self._named})) "
            f"TO {literal(self.written)} (FORMAT parquet, USE_TMP_FILE false)"
        )
        table = (
            f"(SELECT number, id, report FROM read_parquet({literal(self.written)}) UNION ALL "
            f"SELECT -1 AS number, mark[1:{ID_BYTES}] AS id, mark[{ID_BYTES + 1}:] AS report FROM earlier)"
        )
        # Hashes of ids that occur once are sorted out first, portion by portion, so that memory stays flat.
        portions = (pa.parquet.read_metadata(self.written).num_rows + len(self.earlier)) // HASHES + 1
        connection.execute("CREATE TABLE several (h UBIGINT)")
        for portion in range(portions):
            connection.execute(
                f"INSERT INTO several SELECT h FROM (SELECT hash(id) AS h FROM {table}) WHERE h % {portions} = {portion} "
                "GROUP BY h HAVING count(*) > 1"
            )
        connection.execute(
            "CREATE TABLE again AS SELECT number, report <> first_value(report) OVER same AS differs "
            f"FROM {table} WHERE hash(id) IN (SELECT h FROM several) WINDOW same AS (PARTITION BY id ORDER BY number) "
            "QUALIFY row_number() OVER same > 1"
        )
        ((repeated,),) = connection.execute("DROP TABLE several; SELECT count(*) FROM again").fetchall()
        new = f"SELECT id || report FROM read_parquet({literal(self.written)}) ANTI JOIN again USING (number)"
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            for batch in connection.sql(new).to_arrow_reader(_ROWS_AT_ONCE):
                self.check()
                file.write(batch.column(0).cast(MARK).buffers()[1])
        return repeated > 0, marks(pa.memory_map(file.name).read_buffer())

    def rounded(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        """An id that a spreadsheet has written as a rounded number, if there is one, or if most of the long whole numbers end in zeros."""
        ((written, ending, zeros, long),) = connection.execute(
            "SELECT any_value(id) FILTER (regexp_full_match(id, '[0-9]([.,][0-9]+)?[eE][+][0-9]+')), any_value(id) FILTER (zeros), "
            "count(*) FILTER (zeros), count(*) FILTER (regexp_full_match(id, '[0-9]{17,}')) FROM (SELECT id, "
            "regexp_full_match(id, '[1-9][0-9]{0,14}0{5,}') AS zeros FROM "
            f"(SELECT CAST(id AS VARCHAR) AS id FROM {self.source.query()}))"
        ).fetchall()
        return written or (ending if 2 * zeros > long else None)

    def like_ids(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        """A column that looks like ids in the first rows, if there is one."""
        others = list(self.source.others.items())[:_LOOKED_AT]
        columns = ", ".join(identifier(stored) for stored, _ in others) or "NULL"
        rows = connection.execute(f"SELECT {columns} FROM {self.source.table} LIMIT {_SAMPLE}").fetchall()
        cells = zip(others, zip(*rows, strict=True), strict=False)
        return next((name for (_, name), values in cells if is_like_ids(name, values)), None)

    def like_counts(self, connection: duckdb.DuckDBPyConnection, outcomes: int) -> str | None:
        """A column of whole numbers beside reports, of as many ``outcomes`` at most, that all differ and hardly do so by chance."""
        report, table = identifier(self.source.columns[REPORT]), f"(FROM {self.source.table} LIMIT {outcomes + 1})"
        ((rows, different),) = connection.execute(f"SELECT count(*), count(DISTINCT {report}) FROM {table}").fetchall()
        counted = 1 < rows == different and _all_differ(rows, outcomes) < _SURPRISING
        for stored, name in list(self.source.others.items())[:_LOOKED_AT] if counted else []:
            times = f"CAST({identifier(stored)} AS VARCHAR)"
            ((alike,),) = connection.execute(
                f"SELECT bool_and(regexp_full_match({times}, '[0-9]{{1,15}}')) AND sum(TRY_CAST({times} AS BIGINT)) > count(*) FROM {table}"
            ).fetchall()
            if alike:
                return name
        return None

    # --- what each row is ---------------------------------------------------------------------------------------

    def rows(
        self, connection: duckdb.DuckDBPyConnection, again: bool, letters: Alphabet
    ) -> Iterator[tuple[np.ndarray, pa.StringArray, np.ndarray]]:
        """Batches (status, text, times): all rows of the file, each once or together with others that are equal; ``again`` where
        `find_repeated` found some."""
        sql = self._statuses(again, longest(letters))
        if letters.small and REPORTS not in self.source.columns:
            sql = f"SELECT status, text, CAST(sum(times) AS BIGINT) AS times FROM ({sql}) GROUP BY ALL"
        sql = f"SELECT status, CAST(text AS VARCHAR) AS text, times FROM ({sql})"
        rows = min(max(_NUMBERS_AT_ONCE // letters.width, _FEWEST), _ROWS_AT_ONCE)
        for batch in connection.sql(sql).to_arrow_reader(rows):
            self.check()
            status, text, times = batch.columns
            yield status.to_numpy(), text.cast(pa.string()), times.to_numpy()

    def _statuses(self, again: bool, longest: int) -> str:
        """All rows as (status, text, times)."""
        differs, table = "NULL", self.source.query()
        if again:
            differs, table = "differs", f"({self.source.query(numbered=True)} LEFT JOIN again USING (number))"
        # texts longer than any report are dropped
        text = REPORT if self.source.whole_numbers else f"CASE WHEN strlen(report) <= {longest} THEN report END"
        cases = (
            f"WHEN NOT {self._own} THEN {_ANOTHER} WHEN NOT {self._named} THEN {_NAMELESS} "
            f"WHEN {differs} THEN {_DIFFERS} WHEN NOT {differs} THEN {AGAIN}"
        )
        status = f"CASE {cases} WHEN {self._times} IS NULL THEN {_UNCOUNTED} ELSE {OWN} END"
        return (
            f"SELECT status, CASE WHEN status = {OWN} THEN text END AS text, times FROM "
            f"(SELECT {status} AS status, {text} AS text, coalesce({self._times}, 1) AS times FROM {table})"
        )


def _all_differ(rows: int, outcomes: int) -> float:
    """The largest chance that as many single reports all differ; 0 where they are all there are, or more."""
    if rows >= outcomes:
        return 0.0
    return math.exp(math.lgamma(outcomes + 1) - math.lgamma(outcomes - rows + 1) - rows * math.log(outcomes))
