"""A file of reports before it is read: what kind it is, which columns it has, whether it is whole, and its digest."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from ldp_core import limits
from ldp_core.data.reading.duck import identifier, literal
from ldp_core.deploy.collector import slow_text
from ldp_core.deploy.collector.reasons import UnreadableReports
from ldp_core.wording import quote_examples, quoted

REPORT = "report"
DESIGN = "design"
ID = "id"
REPORTS = "reports"
PARQUET_ENDINGS = (".parquet", ".pq")
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
_COUNT_LIKE = re.compile(r"(^|[^a-z])(counts?|cnt|reports|number|num|times|freq|frequency|total)([^a-z]|$)|^n$|^#$")
"""The usual names of columns of counts, as databases write them: `COUNT(*)`, `count_star()`, `n`."""
_ID_LIKE = re.compile(
    r"(id|nonce|token|key|hash|cookie|session|serial|imei|mail|respondent|participant|submission|identifier|reference|user|client|customer|"
    r"member|person|panelist|subject|device|account|visitor|case)s?([^a-z]|$)"
)
"""The usual ends of words in names of columns of ids: `report_id`, `UUID`, `_id`, `ResponseId`."""
_RANDOM = re.compile(r"(?!\d{4}-?\d\d-?\d\d|[-+.\d]+e[-+]\d+$)(?=.*\d)(?=.*[a-zA-Z])[\w+/=.~-]{8,}|[^@\s]+@[^@\s]+")
"""Ids drawn at random are long, of letters and digits, and neither times nor numbers. Addresses of people are ids as well."""
_ALIKE = 10
"""A column of which as many values are alike on average holds no ids."""
_HELD = {REPORT: "texts or whole numbers", ID: "texts or UUIDs", DESIGN: "texts", REPORTS: "whole numbers"}
_HEADER = 2**16
_CHUNK = 2**22
_NUMBERED = "file_row_number"
_BY_ORDER = "row_number() OVER ()"
_PARQUET_MAGIC = b"PAR1"
_NO_TEXT = {
    b"PK\x03\x04": "a zip archive or an Excel file: unpack it, or save its table as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save its table as CSV UTF-8",
    b"\x1f\x8b": "compressed with gzip: unpack it",
    b"BZh": "compressed with bzip2: unpack it",
    b"\xfd7zXZ": "compressed with xz: unpack it",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it",
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it",
    b"SQLite format 3": "an SQLite database: export its reports as CSV",
    b"%PDF": "a PDF document: export the reports as CSV",
    b"\xff\xfe\0\0": "UTF-32 text: save it as CSV UTF-8",
    b"\0\0\xfe\xff": "UTF-32 text: save it as CSV UTF-8",
    b"\xff\xfe": "UTF-16 text: save it as CSV UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as CSV UTF-8",
}
"""Kinds of other files by their first bytes, with the remedy."""


@dataclass(frozen=True)
class Text:
    """The layout of a text file: its ``delimiter``, the ``places`` of our columns among all
    ``names`` (their number), and whether its header takes one line."""

    delimiter: str
    places: dict[str, int]
    names: int
    one_line: bool


@dataclass(frozen=True)
class Source:
    """A file as the database reads it.

    Attributes:
        path: of the file. place: of what the database reads. columns: the stored name of each of ours that it has. version: changes with the file. table: what stands after FROM. row: the number of a row, as SQL.
        whole_numbers: whether `REPORT` holds integers instead of texts. ids: whether there is a column of ids.
        text: how a text file is written; None for Parquet. others: the stored name of each column that is not ours, to its own.
    """

    path: Path
    place: Path
    columns: dict[str, str]
    version: tuple[int, int]
    table: str
    row: str
    whole_numbers: bool = False
    ids: bool = False
    text: Text | None = None
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_order(self) -> bool:
        """True if the order of its rows is known only by reading them in turn."""
        return self.ids and self.row != _NUMBERED

    def query(self, numbered: bool = False) -> str:
        """SQL of a table with those of our columns that the file has, and where ``numbered`` the `row`, called "number"."""
        chosen = [f"{identifier(stored)} AS {name}" for name, stored in self.columns.items()]
        chosen += [f"{self.row} AS number"] if numbered else []
        return f"(SELECT {', '.join(chosen)} FROM {self.table})"


def look(path: Path) -> Source:
    """The kind of a file. UnreadableReports for one that is none, has other columns, or ends too
    early."""
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
    kind = next((kind for magic, kind in _NO_TEXT.items() if start.startswith(magic)), None)
    if kind is None and b"\0" in start:
        wide = max(start[0:200:2].count(0), start[1:200:2].count(0)) > len(start[0:200:2]) / 2
        kind = f"{'UTF-16 text' if wide else 'no text, but binary data'}: save the table as CSV UTF-8"
    if kind is not None:
        raise UnreadableReports(f"The file {quoted(path.name)} is {kind}. No report in it was counted.")
    if path.suffix.lower() not in TEXT_ENDINGS:
        raise UnreadableReports(
            f"Reports are read from CSV (.csv, .tsv, .txt) and Parquet (.parquet) files, not from {quoted(path.name)}: convert it."
        )
    return _text(path, version, end)


def _parquet(path: Path, version: tuple[int, int]) -> Source:
    try:
        about = pa.parquet.read_metadata(path)
        schema = about.schema.to_arrow_schema()
    except (pa.ArrowException, OSError) as error:
        raise UnreadableReports(
            f"The Parquet file {quoted(path.name)} is damaged or was cut off: copy or export it again. No report in it was counted."
        ) from error
    columns = _columns(schema.names, path)
    kinds = {name: schema.field(stored).type for name, stored in columns.items()}
    whole = pa.types.is_integer(kinds[REPORT])
    for name, kind in kinds.items():
        integer = name in (REPORT, REPORTS) and pa.types.is_integer(kind)
        uuid = name == ID and about.schema.column(schema.names.index(columns[ID])).logical_type.type == "UUID"
        if not (integer or uuid or (name != REPORTS and _is_text(kind))):
            raise UnreadableReports(
                f"The column {name} of {quoted(path.name)} holds {kind} where {_HELD[name]} are needed: export it so. No report in it was counted."
            )
    others = {name: name for name in schema.names if name not in columns.values()}
    table, row = f"read_parquet({literal(path)}, file_row_number=true)", _NUMBERED
    if _NUMBERED in schema.names:  # a column of the file has the name of the database's own
        table, row = f"read_parquet({literal(path)})", _BY_ORDER
    return Source(path, path, columns, version, table, row, whole, ID in columns, others=others)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _text(path: Path, version: tuple[int, int], end: bytes) -> Source:
    if end not in b"\r\n":
        raise UnreadableReports(
            f"The file {quoted(path.name)} ends in the middle of a line, so it may be cut off: copy it again, or end its last line "
            "if it is whole. No report in it was counted."
        )
    delimiter, names, one_line = _header(path)
    columns = _columns(names, path)
    stored = [f"c{i}" for i in range(len(names))]
    text = Text(delimiter, {name: names.index(given) for name, given in columns.items()}, len(names), one_line)
    columns = {name: stored[place] for name, place in text.places.items()}
    others = {column: name for column, name in zip(stored, names, strict=True) if column not in columns.values()}
    types = ", ".join(f"'{name}': 'VARCHAR'" for name in stored)
    table = (
        f"read_csv({literal(path)}, auto_detect=false, header=false, skip=1, columns={{{types}}}, delim={literal(delimiter)}, "
        "quote='\"', escape='\"', null_padding=true, strict_mode=true, max_line_size=16777216)"
    )
    return Source(path, path, columns, version, table, _BY_ORDER, False, ID in columns, text, others=others)


def _header(path: Path) -> tuple[str, list[str], bool]:
    """The delimiter, the names of the columns, and whether these take one line, however long that is."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(limits.MOST_CELL_CHARACTERS)
            while first.count('"') % 2 and len(first) < limits.MOST_CELL_CHARACTERS and (more := file.readline(2**20)):
                first += more  # a name goes on in the next line
            # Signs between quotation marks belong to names.
            delimiter = max(",;\t", key=re.sub(r'"[^"]*"', "", first).count)
            lines = itertools.chain(io.StringIO(first, newline=""), file)
            reader = csv.reader(lines, delimiter=delimiter)
            names = next(reader, [])
    except UnicodeDecodeError as error:
        raise UnreadableReports(f"The file {quoted(path.name)} is not UTF-8: export it as UTF-8.") from error
    except csv.Error as error:
        raise UnreadableReports(f"The header of {quoted(path.name)} cannot be read: {error}.") from error
    return delimiter, names, reader.line_num == 1


def converted(source: Source, folder: Path, check: Callable[[], None]) -> Source:
    """The same rows as a Parquet file in the private ``folder``: what the database does not read as text, it reads so."""
    assert source.text is not None
    target = folder / "converted.parquet"
    text = source.text
    others = {} if {ID, REPORTS} & set(text.places) else {stored: int(stored[1:]) for stored in source.others}
    slow_text.convert(source.path, text.delimiter, text.places | others, text.names, target, check)
    table, columns = f"read_parquet({literal(target)}, file_row_number=true)", {name: name for name in text.places}
    return replace(source, columns=columns, table=table, row=_NUMBERED, place=target, text=None)


def _columns(names: Sequence[str], path: Path) -> dict[str, str]:
    """Our names of columns to those of the file."""
    columns: dict[str, str] = {}
    for name in names:
        plain = name.strip().lower()
        if plain in columns:
            raise UnreadableReports(f"The file {quoted(path.name)} has two columns {quoted(plain)}: leave one out.")
        if plain in (REPORT, DESIGN, ID, REPORTS):
            columns[plain] = name
    if REPORT not in columns:
        raise UnreadableReports(
            f"The file {quoted(path.name)} has no column report, but {quote_examples(list(names)) or 'none at all'}: name the column of "
            "reports so in its first line."
        )
    if ID in columns and REPORTS in columns:
        raise UnreadableReports(
            f"The file {quoted(path.name)} has the columns id and reports: counted reports have no ids, so leave one of them out."
        )
    others = [name for name in names if name not in columns.values() and _COUNT_LIKE.search(name.strip().lower())]
    if others and ID not in columns and REPORTS not in columns:
        raise like_counts(path, others[0])
    return columns


def like_counts(path: Path, name: str) -> UnreadableReports:
    """The refusal of a file whose column ``name`` may say how often each report was sent: if it does, a row is not one report."""
    return UnreadableReports(
        f"The file {quoted(path.name)} has no ids, and its column {quoted(name)} looks like counts of reports: name it reports if it is, and "
        "leave it out if not. No report in it was counted."
    )


def is_like_ids(name: str, values: Sequence[object]) -> bool:
    """True if a column of these ``values`` may hold ids of reports by its ``name`` or by what they look like. No id comes often."""
    texts = [value.hex() if isinstance(value, bytes) else str(value) for value in values if value not in (None, "")]
    different, random = len(set(texts)), sum(map(bool, map(_RANDOM.fullmatch, texts)))
    few_alike = len(texts) < _ALIKE * different and not different == 1 < len(texts)
    return few_alike and (4 * random > 3 * len(texts) or bool(_ID_LIKE.search(name.strip().lower())))


def now(path: Path) -> tuple[int, int]:
    """Changes with the file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def digest(path: Path, check: Callable[[], None]) -> tuple[str, bool]:
    """SHA-256 (hex) of the bytes of a file, and whether as a text its lines end in more than one way: with a line feed, a carriage return,
    or both. ``check`` is called now and then."""
    hasher, both, fed, returned = hashlib.sha256(), 0, 0, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            check()
            if chunk.endswith(b"\r"):  # its line feed may come next
                chunk += file.read(1)
            hasher.update(chunk)
            both, fed, returned = both + chunk.count(b"\r\n"), fed + chunk.count(b"\n"), returned + chunk.count(b"\r")
    return hasher.hexdigest(), (both > 0) + (fed > both) + (returned > both) > 1
