"""A file of reports before it is read: what kind it is, which columns it has, whether it is whole, and its digest."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from ldp_core.deploy.collector.reasons import UnreadableReports
from ldp_core.wording import quote_examples, quoted

REPORT, DESIGN, ID, REPORTS = "report", "design", "id", "reports"
PARQUET_ENDINGS, TEXT_ENDINGS = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
_HEADER = 2**16
_CHUNK = 2**22
_NUMBERED = "file_row_number"
_PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class Source:
    """A file as the database reads it.

    Attributes:
        path: of the file. columns: the stored name of each of ours that it has. rows: how many there are, or can be at most.
        version: changes with the file. table: what stands after FROM. row: the number of a row, as SQL.
        whole_numbers: whether `REPORT` holds integers instead of texts. ids: "text", "uuid", or "" without ids.
    """

    path: Path
    columns: dict[str, str]
    rows: int
    version: tuple[int, int]
    table: str
    row: str
    whole_numbers: bool = False
    ids: str = ""

    @property
    def in_order(self) -> bool:
        """Whether the order of its rows is known only by reading them in turn."""
        return bool(self.ids) and self.row != _NUMBERED

    def query(self, numbered: bool = False) -> str:
        """SQL of a table with those of our columns that the file has, and where ``numbered`` the `row` as ``number``."""
        chosen = [f"{identifier(stored)} AS {name}" for name, stored in self.columns.items()]
        chosen += [f"{self.row} AS number"] if numbered else []
        return f"(SELECT {', '.join(chosen)} FROM {self.table})"


def look(path: Path) -> Source:
    """What kind of file this is. UnreadableReports for one that is none, has other columns, or ends too early."""
    try:
        version = now(path)
        if not path.is_file():
            raise FileNotFoundError
        with path.open("rb") as file:
            start = file.read(_HEADER)
            file.seek(-1 if start else 0, 2)
            end = file.read(1)
    except OSError as error:
        raise UnreadableReports(f"There is no file {quoted(path.name)} that can be read: check its path.") from error
    if not start:
        raise UnreadableReports(f"The file {quoted(path.name)} is empty: export the reports again.")
    if path.suffix.lower() in PARQUET_ENDINGS or start.startswith(_PARQUET_MAGIC):
        return _parquet(path, version)
    if path.suffix.lower() not in TEXT_ENDINGS:
        raise UnreadableReports(
            f"Reports are read from CSV (.csv, .tsv, .txt) and Parquet (.parquet) files, not from {quoted(path.name)}: convert it."
        )
    return _text(path, version, start, end)


def _parquet(path: Path, version: tuple[int, int]) -> Source:
    try:
        about = pa.parquet.read_metadata(path)
        schema = about.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise UnreadableReports(
            f"The Parquet file {quoted(path.name)} is damaged or was cut off: copy or export it again. Nothing of it was counted."
        ) from error
    columns = _columns(schema.names, path)
    report = schema.field(columns[REPORT]).type
    whole = pa.types.is_integer(report)
    if not whole and not _is_text(report):
        raise UnreadableReports(
            f"The column report of {quoted(path.name)} holds {report} where texts or whole numbers are needed: export it as text."
        )
    ids = ""
    if ID in columns:
        kind = schema.field(columns[ID]).type
        logical = about.schema.column(schema.names.index(columns[ID])).logical_type.type
        ids = "uuid" if logical == "UUID" else "text"
        if ids == "text" and not _is_text(kind):
            raise UnreadableReports(
                f"The column id of {quoted(path.name)} holds {kind} where texts or UUIDs are needed: export it as text."
            )
    if DESIGN in columns and not _is_text(schema.field(columns[DESIGN]).type):
        raise UnreadableReports(f"The column design of {quoted(path.name)} holds no texts: export it as text.")
    if REPORTS in columns and not pa.types.is_integer(schema.field(columns[REPORTS]).type):
        raise UnreadableReports(
            f"The column reports of {quoted(path.name)} holds no whole numbers: export it as whole numbers."
        )
    table = f"read_parquet({literal(path)}, file_row_number=true)"
    return Source(path, columns, about.num_rows, version, table, _NUMBERED, whole, ids)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _text(path: Path, version: tuple[int, int], start: bytes, end: bytes) -> Source:
    if end not in b"\r\n":
        raise UnreadableReports(
            f"The file {quoted(path.name)} ends in the middle of a line, so it may be cut off: copy it again, or end its last line "
            "if it is whole. Nothing of it was counted."
        )
    first = start.splitlines()[0]
    try:
        header = first.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableReports(f"The file {quoted(path.name)} is not UTF-8: export it as UTF-8.") from error
    delimiter = max(",;\t", key=header.count)
    names = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), [])
    columns = _columns(names, path)
    stored = [f"c{i}" for i in range(len(names))]
    columns = {name: stored[names.index(own)] for name, own in columns.items()}
    types = ", ".join(f"'{name}': 'VARCHAR'" for name in stored)
    table = (
        f"read_csv({literal(path)}, auto_detect=false, header=false, skip=1, columns={{{types}}}, delim={literal(delimiter)}, "
        "quote='\"', escape='\"', null_padding=true, strict_mode=true, max_line_size=16777216)"
    )
    most = path.stat().st_size // max(2, 33 * (ID in columns))
    return Source(path, columns, most, version, table, "row_number() OVER ()", False, "text" if ID in columns else "")


def _columns(names: Sequence[str], path: Path) -> dict[str, str]:
    """Our names of columns to those of the file."""
    found: dict[str, str] = {}
    for name in names:
        own = name.strip().lower()
        if own in found:
            raise UnreadableReports(f"The file {quoted(path.name)} has two columns {quoted(own)}: leave one out.")
        if own in (REPORT, DESIGN, ID, REPORTS):
            found[own] = name
    if REPORT not in found:
        raise UnreadableReports(
            f"The file {quoted(path.name)} has no column report, but {quote_examples(list(names)) or 'none at all'}: name the column of "
            "reports so in its first line."
        )
    if ID in found and REPORTS in found:
        raise UnreadableReports(
            f"The file {quoted(path.name)} has the columns id and reports: counted reports have no ids, so leave one of them out."
        )
    return found


def now(path: Path) -> tuple[int, int]:
    """Changes with the file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def digest(path: Path, check: Callable[[], None]) -> str:
    """SHA-256 (hex) of the bytes of a file; ``check`` is called now and then."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            check()
            found.update(chunk)
    return found.hexdigest()


def literal(text: object) -> str:
    """A text, as SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a column, as SQL."""
    return '"' + name.replace('"', '""') + '"'
