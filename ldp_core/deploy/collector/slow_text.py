"""Text files that the database does not read: mixed line ends, line ends in quoted cells, a header of several lines.

They are read row by row, as strictly, and written to the private folder as Parquet with the columns that are needed.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from ldp_core.deploy.collector.reasons import UnreadableReports
from ldp_core.limits import MOST_CELL_CHARACTERS
from ldp_core.wording import quoted

_ROWS = 2**16


def convert(
    path: Path, delimiter: str, places: dict[str, int], names: int, target: Path, check: Callable[[], None]
) -> None:
    """Write the columns at these ``places`` of a text file whose header has this number of
    ``names``.

    ``check`` is called now and then. UnreadableReports, one sentence, if the file is damaged.
    """
    schema = pa.schema([(name, pa.string()) for name in places])
    before = csv.field_size_limit(MOST_CELL_CHARACTERS)
    try:
        with (
            path.open(encoding="utf-8-sig", newline="") as file,
            pyarrow.parquet.ParquetWriter(target, schema, compression="zstd") as writer,
        ):
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            next(reader, None)
            rows = _checked(reader, names, path)
            while some := list(itertools.islice(rows, _ROWS)):
                check()
                columns = [[row[place] if place < len(row) else None for row in some] for place in places.values()]
                writer.write_table(pa.table([pa.array(column, pa.string()) for column in columns], schema=schema))
    except UnicodeDecodeError as error:
        raise UnreadableReports(f"The file {quoted(path.name)} is not UTF-8: export it as UTF-8.") from error
    except csv.Error as error:
        raise UnreadableReports(
            f"The file {quoted(path.name)} cannot be read to its end, and nothing of it was counted: line {reader.line_num:,}, {error}."
        ) from error
    finally:
        csv.field_size_limit(before)


def _checked(reader: Iterator[list[str]], names: int, path: Path) -> Iterator[list[str]]:
    for number, row in enumerate(reader, start=2):
        if not row and names > 1:  # a blank line, which the database passes over as well
            continue
        if len(row) > names:
            raise UnreadableReports(
                f"Row {number:,} of {quoted(path.name)} has {len(row)} cells, and its header {names}: nothing of the file was counted."
            )
        yield row
