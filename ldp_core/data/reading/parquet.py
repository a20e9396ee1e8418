"""Parquet files to tables, bounded by what they unpack to: in a process of its own, since they may declare less."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

from ldp_core.data.reading.cells import written_out
from ldp_core.data.reading.common import UnreadableTable, check_cells, check_text, column_names
from ldp_core.limits import Limits


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the table as an Arrow stream; a stored pandas index is a column like any other. A file by its path
    only gives the ordered categories of the columns at ``options["places"]``."""
    if "path" in options:
        with _damage_in_words(), pa.parquet.ParquetFile(options["path"]) as file:
            names = [file.schema_arrow.names[place] for place in options["places"]]
            columns = written_out(file.read_row_group(0, columns=names)).columns
        return {"orders": [[str(text) for text in column.chunk(0).dictionary.to_pylist()] for column in columns]}
    table = read_parquet(content, tuple(options["names"]), limits)
    with pa.ipc.new_stream(output, table.schema) as stream:
        stream.write_table(table)
    return {}


def read_parquet(content: bytes, names: tuple[str, ...], limits: Limits) -> pa.Table:
    """The table in a Parquet file, with ``names`` for its columns where there are any."""
    if content.startswith(b"PARE"):
        raise UnreadableTable("This Parquet file is encrypted: save it without encryption and load that.")
    if not content.startswith(b"PAR1"):
        raise UnreadableTable(
            "This file is named like a Parquet file but is not one: if it is text, rename it to end in .csv."
        )
    with _damage_in_words():
        file = pa.parquet.ParquetFile(io.BytesIO(content))
        called = column_names(file.schema_arrow.names, names)
        check_cells(file.metadata.num_rows, len(called), limits.cells)
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if size > limits.unpacked:
            raise UnreadableTable(
                f"This file unpacks to {size / 2**20:,.0f} MB and at most {limits.unpacked / 2**20:,.0f} MB are read: "
                "keep only the columns or rows you need."
            )
        for chunk in (group.column(i) for group in groups for i in range(group.num_columns)):
            # A page may state its smallest and its largest value besides: so large a column cannot do without a long cell.
            check_text(chunk.path_in_schema, chunk.total_uncompressed_size // (4 * chunk.num_values + 8), 0)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # A dictionary holds each text once: a text repeated in every row cannot fill the memory before it is measured.
        file = pa.parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        table = written_out(file.read())
        table.validate(full=True)  # texts that are none, which are found out only when somebody looks at them
        return table.rename_columns(called)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)


@contextmanager
def _damage_in_words() -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableTable("This Parquet file is damaged or incomplete: save or download it again.") from error
