"""Parquet files to tables, bounded by what they unpack to: in a process of its own, since they may declare less."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

from ldp_core.data.reading.cells import measured, written_out
from ldp_core.data.reading.common import UnreadableTable, check_cells, check_text, column_names, damage_as
from ldp_core.limits import Limits

_ROWS = 2**17
"""Rows that are read at once."""
_DAMAGED = (
    "This Parquet file is damaged or incomplete: save or download it again.",
    *(pa.ArrowException, OSError, UnicodeDecodeError),
)


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
    with damage_as(*_DAMAGED):
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
        file = _opened(io.BytesIO(content))
        table = written_out(file.read())
        table.validate(full=True)  # texts that are none, which are found out only when somebody looks at them
        return table.rename_columns(called)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file by its ``path``, with ``names`` for its columns, its ``schema``, and the ``orders`` of ordered categories."""

    path: Path
    names: list[str]
    schema: pa.Schema
    orders: dict[str, list[str]]

    @classmethod
    def look(cls, path: Path, names: tuple[str, ...]) -> ParquetTable:
        """What the file says of itself. UnreadableTable: it is no Parquet file."""
        with damage_as(*_DAMAGED):
            schema = pa.parquet.read_schema(path)
        called = column_names(schema.names, names)
        fields = [field.with_name(name) for field, name in zip(schema, called, strict=True)]
        table = cls(path, called, pa.schema(fields), {})
        ordered = [field.name for field in fields if pa.types.is_dictionary(field.type) and field.type.ordered]
        for part in table.tables(ordered) if ordered else ():
            dictionaries = ((name, part.column(name).chunk(0).dictionary) for name in ordered)
            table.orders.update({name: [str(text) for text in texts.to_pylist()] for name, texts in dictionaries})
            break
        return table

    def tables(self, columns: list[str]) -> Iterator[pa.Table]:
        """All rows of some columns, a few at a time."""
        with damage_as(*_DAMAGED), _opened(self.path) as file:
            stored = file.schema_arrow.names
            wanted = [stored[self.names.index(name)] for name in columns]
            # A name may be that of several columns, or the beginning of the names of fields within others.
            plain = len(set(stored)) == len(stored) and not any("." in name for name in stored)
            for batch in file.iter_batches(_ROWS, columns=wanted if plain else None):
                places = [
                    batch.schema.names.index(name) if plain else self.names.index(called)
                    for name, called in zip(wanted, columns, strict=True)
                ]
                table = pa.Table.from_arrays([batch.column(place) for place in places], columns)
                yield measured(table)[0]


def _opened(source: Path | io.BytesIO) -> pa.parquet.ParquetFile:
    """A file whose texts are no longer than is read, as far as it says. A dictionary holds each text once: a text repeated in every
    row cannot fill the memory before it is measured."""
    schema = pa.parquet.read_schema(source)
    texts = [field.name for field in schema if _is_text(field.type)]
    file = pa.parquet.ParquetFile(source, read_dictionary=texts)
    for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            # A page may state its smallest and its largest value besides: so large a column cannot do without a long cell.
            check_text(chunk.path_in_schema, chunk.total_uncompressed_size // (4 * chunk.num_values + 8), 0)
    return file


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)
