"""DuckDB, locked up: it reads the one file it is given, and writes nothing. One SELECT over a database file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa

from ldp_core.data.reading.cells import measured
from ldp_core.data.reading.common import UnreadableTable, check_cells, in_words
from ldp_core.data.reading.limits_in_words import MEND, too_much
from ldp_core.limits import READ_LOCAL, Limits

TABLES = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
BATCH = 2048
SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # otherwise a query can read variables of this program
    "memory_limit": f"{READ_LOCAL.memory // 2**20}MiB",
    "temp_directory": "",  # rows are never written to disk
    "max_temp_directory_size": "0B",
}
LOCKS = {"enable_external_access": "false", "lock_configuration": "true"}
# Batches of a result come through Arrow, which has errors of its own.
ERRORS = (duckdb.Error, pa.ArrowException, OSError)


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the result of the query ``options["sql"]`` over the file ``options["path"]``, which is removed, as an Arrow stream."""
    with (
        in_words(*ERRORS),
        duckdb.connect(options["path"], read_only=True, config={**SETTINGS, **LOCKS}) as connection,
    ):
        Path(options["path"]).unlink()  # the open file stays readable here, and for no one else
        sql = options["sql"] or TABLES
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UnreadableTable("A query here is one SELECT: leave other statements out.")
        try:
            reader = connection.sql(sql).to_arrow_reader(BATCH)
            rows = size = texts = 0
            none, _ = measured(reader.schema.empty_table())
            with pa.ipc.new_stream(output, none.schema) as stream:
                for batch in reader:
                    rows, size = rows + batch.num_rows, size + batch.nbytes
                    check_cells(rows, batch.num_columns, limits.cells)
                    if size > limits.unpacked:
                        raise UnreadableTable(too_much(limits.unpacked, MEND))
                    part, texts = measured(pa.Table.from_batches([batch]), texts)
                    stream.write_table(part)
        except ERRORS as error:
            if "out of memory" in str(error).lower() or "bad_alloc" in str(error) or "allocate" in str(error):
                raise MemoryError from error
            raise
    return {}


def literal(text: object) -> str:
    """A text, as SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a column, as SQL."""
    return '"' + name.replace('"', '""') + '"'
