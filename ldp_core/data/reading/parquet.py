"""Parquet files to tables, bounded by what they unpack to: in a process of its own, since they may declare less."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ldp_core.data.reading.common import UnreadableTable, check_cells, column_names
from ldp_core.limits import Limits


def work(content: bytes, options: dict[str, Any], limits: Limits, output: BinaryIO) -> dict[str, Any]:
    """Write the table as an Arrow stream; a stored pandas index is a column like any other."""
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
    try:
        file = pa.parquet.ParquetFile(io.BytesIO(content))
        called = column_names(file.schema_arrow.names, names)
        check_cells(file.metadata.num_rows, len(called), limits.cells)
        groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
        _check_unpacked(sum(group.total_byte_size for group in groups), limits.unpacked)
        texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # A dictionary holds each text once: a text repeated in every row cannot fill the memory before it is measured.
        file = pa.parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        table = _plain_texts(file.read(), limits.unpacked)
        table.validate(full=True)  # texts that are none, which are found out only when somebody looks at them
        return table.rename_columns(called)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableTable("This Parquet file is damaged or incomplete: save or download it again.") from error


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)


def _plain_texts(table: pa.Table, most: int) -> pa.Table:
    """Dictionary columns as plain ones, once their full size is known to fit. Ordered categories stay."""
    size = 0
    for position, field in enumerate(table.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        for chunk in table.column(position).chunks:
            if _is_text(field.type.value_type):
                size += pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0
        _check_unpacked(size, most)
        column = table.column(position)
        column = column.unify_dictionaries() if field.type.ordered else column.cast(field.type.value_type)
        table = table.set_column(position, pa.field(field.name, column.type), column)
    return table


def _check_unpacked(size: int, most: int) -> None:
    if size > most:
        raise UnreadableTable(
            f"This file unpacks to {size / 2**20:,.0f} MB and at most {most / 2**20:,.0f} MB are read: "
            "keep only the columns or rows you need."
        )
