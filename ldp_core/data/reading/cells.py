"""The cells of Arrow tables, measured where they are read: before anything of them is sent or built elsewhere."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.data.missing import NOTHING, NULL
from ldp_core.data.reading.common import check_text

_BATCH = 2**14


def measured(table: pa.Table, size: int = 0) -> tuple[pa.Table, int]:
    """The table with nested values as text, and ``size`` with the bytes of its texts, as they are where dictionaries are written out.

    Raises
    ------
    UnreadableTable
        A cell or all texts are too long, as in `check_text`.
    """
    for position, field in enumerate(table.schema):
        column = as_text(table.column(position))
        for chunk in column.chunks:
            longest, in_all = _bytes(chunk)
            size += in_all
            check_text(field.name, longest, size)
        if column.type != field.type:
            table = table.set_column(position, pa.field(field.name, column.type), column)
    return table, size


def written_out(table: pa.Table) -> pa.Table:
    """As `measured`, with dictionaries as plain columns, once their full size is known to fit. Ordered categories stay."""
    table, size = measured(table)
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            column = table.column(position)
            column = column.unify_dictionaries() if field.type.ordered else column.cast(field.type.value_type)
            table = table.set_column(position, pa.field(field.name, column.type), column)
            if field.type.ordered and column.num_chunks:  # also those that no row has
                size += column.chunk(0).dictionary.nbytes
                check_text(field.name, 0, size)
    return table


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of lists, structures or maps as text; others as they are. Lists have a sign between their items that none of these has: one without
    items is NOTHING, and what is no list is NULL."""
    if isinstance(column.type, pa.BaseExtensionType) and not pa.types.is_fixed_size_binary(column.type.storage_type):
        column = column.cast(column.type.storage_type)
    if not pa.types.is_nested(column.type):
        return column
    batches, sign = pa.table([column], ["cell"]).to_batches(max_chunksize=_BATCH), _between(column)

    def written(cell: Any) -> str | None:
        if sign is None:
            return None if cell is None else str(cell)
        return NULL if cell is None else sign.join(str(item) for item in cell if item is not None) or NOTHING

    texts = ([written(cell) for cell in batch.column(0).to_pylist()] for batch in batches)
    return pa.chunked_array([pa.array(cells, pa.large_string()) for cells in texts], pa.large_string())


def _between(column: pa.ChunkedArray) -> str | None:
    """A sign for lists of plain values; None for others, and where their items have all of these signs."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(kind(column.type) for kind in lists) or pa.types.is_nested(column.type.value_type):
        return None
    items = "".join(map(str, pc.list_flatten(column).unique().to_pylist()))
    return next((f"{sign} " for sign in ";|,/" if sign not in items), None)


def _bytes(cells: pa.Array) -> tuple[int, int]:
    """Bytes of the longest text, also one of a dictionary that no cell has, and of all cells; 0 where these are no texts."""
    dictionary = pa.types.is_dictionary(cells.type)
    texts = cells.dictionary if dictionary else cells
    if pa.types.is_string_view(texts.type) or pa.types.is_binary_view(texts.type):
        texts = texts.cast(pa.large_binary())
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    if not any(kind(texts.type) for kind in (*kinds, pa.types.is_fixed_size_binary)):
        return 0, 0
    lengths = pc.binary_length(texts)
    in_all = pc.sum(lengths.take(cells.indices) if dictionary else lengths).as_py()
    return pc.max(lengths).as_py() or 0, in_all or 0
