"""The meaning of the types of a stored table: Arrow tables to data frames, alike for uploads, files
by path and databases."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ldp_core.data.reading.cells import as_text
from ldp_core.data.reading.numerals import Numerals
from ldp_core.data.reading.options import Loaded
from ldp_core.wording import quote_examples

_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}
"""Whole numbers with gaps. As floats, those past 2^53 would merge with their neighbours."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def frame_of(table: pa.Table, orders: dict[str, list[str]] | None = None, enumerations: bool = False) -> pd.DataFrame:
    """The table as a data frame.

    Whole numbers stay whole where some are missing. Bytes that are UTF-8 become text, and durations
    become seconds. A time keeps the time zone of its column. Ordered categories become an ordered
    categorical column, with those that no row holds.

    Parameters
    ----------
    table : pyarrow.Table
    orders : dict, optional
        The ordered categories of columns that ``table`` holds as text.
    enumerations : bool
        Whether all dictionaries are enumerations, which have an order, as those of DuckDB are.

    Returns
    -------
    DataFrame
        One row a row of ``table``, with its names.
    """
    columns = [
        _series(cells, (orders or {}).get(name), enumerations)
        for name, cells in zip(table.column_names, table.columns, strict=True)
    ]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(table.num_rows))
    return frame.set_axis(table.column_names, axis=1)


def plain_numbers(loaded: Loaded) -> Loaded:
    """The table with the numbers in its columns of text written as 1234.5, and notes on them.

    Numbers among the texts of a column are evidence like texts of digits, and stay numbers.
    """
    frame, numerals, texts = loaded.table, Numerals(loaded.options, None), {}
    for name in frame:
        cells = frame[name]
        if cells.dtype == object:
            cells = pd.Series([cell if isinstance(cell, str) else _digits(cell) for cell in cells], dtype=object)
        if cells.dtype == object or isinstance(cells.dtype, pd.StringDtype):
            with suppress(pa.ArrowException, UnicodeEncodeError):  # half of a pair of surrogates is no text to Arrow
                texts[name] = pa.array(cells, pa.large_string(), from_pandas=True)
                numerals.add(name, texts[name])
    changed = {name: cells for name, cells in texts.items() if numerals.rewrites(name)}
    for name, cells in numerals.rewritten(pa.table(changed)).to_pandas().items():
        other = np.array([not isinstance(cell, str) for cell in frame[name]])
        frame = frame.assign(**{name: frame[name].where(other, cells.set_axis(frame.index))})
    used = loaded.options.model_copy(update=numerals.used())
    return replace(loaded, table=frame, options=used, notes=(*loaded.notes, *numerals.notes()))


def _digits(cell: object) -> str | None:
    return repr(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) and cell == cell else None


def type_notes(schema: pa.Schema) -> list[str]:
    """Sentences on the columns of a file that are not shown as they are stored."""
    durations = [field.name for field in schema if pa.types.is_duration(field.type)]
    texts = [field.name for field in schema if is_bytes(field.type)]
    said = {
        ": durations were read as numbers of seconds.": durations,
        ": bytes were read as UTF-8 text where they are UTF-8.": texts,
    }
    for field in schema:
        if pa.types.is_timestamp(field.type) and field.type.tz:
            zone = f": days and hours are those of the time zone {field.type.tz}, which the file states."
            said.setdefault(zone, []).append(field.name)
    return [f"{quote_examples(names)}{what}" for what, names in said.items() if names]


def is_bytes(kind: pa.DataType) -> bool:
    """True for columns of bytes."""
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)


def frame_of_rows(rows: list[tuple[object, ...]], names: list[str]) -> pd.DataFrame:
    """Rows of plain Python values as a data frame. Columns of mixed types keep their values."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    series = [_series_of(list(values)) for values in columns]
    return pd.concat(series, axis=1).set_axis(names, axis=1)


def _series_of(values: list[object]) -> pd.Series:
    try:
        cells = pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError, UnicodeEncodeError, OverflowError):
        return pd.Series(values, dtype=object)
    return _series(cells)


def _series(cells: pa.ChunkedArray, order: list[str] | None = None, enumeration: bool = False) -> pd.Series:
    cells = as_text(cells)
    kind = cells.type
    if order is not None:
        return pd.Series(_ordered(cells.to_pandas(), order))
    if pa.types.is_duration(kind):
        return (cells.cast(pa.int64()).to_pandas() / _PER_SECOND[kind.unit]).astype("float64")
    if pa.types.is_dictionary(kind):
        cells = cells.unify_dictionaries()
        if (kind.ordered or enumeration) and cells.num_chunks:
            categories = [str(text) for text in cells.chunk(0).dictionary.to_pylist() if text is not None]
            return pd.Series(_ordered(cells.cast(cells.type.value_type).to_pandas().astype(object), categories))
        cells = cells.cast(cells.type.value_type)
    if is_bytes(cells.type):
        return _text(cells)
    gaps = pa.types.is_integer(cells.type) and cells.null_count > 0
    return cells.to_pandas(types_mapper=_NULLABLE.get) if gaps else cells.to_pandas()


def _ordered(values: pd.Series, categories: list[str]) -> pd.Categorical:
    texts = values.map(str, na_action="ignore")
    others = sorted(set(texts.dropna()) - set(categories))
    return pd.Categorical(texts, categories=[*categories, *others], ordered=True)


def _text(cells: pa.ChunkedArray) -> pd.Series:
    """Bytes as text; those that are not UTF-8 are shown as they are."""
    try:
        return pc.cast(cells, pa.large_string()).to_pandas()
    except pa.ArrowInvalid:
        return pd.Series([_decoded(cell) for cell in cells.to_pylist()], dtype=object)


def _decoded(cell: bytes | None) -> object:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return cell
