"""The sources of rows: a sample, an uploaded file, a local file or a database. Rows never leave the
process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from ldp_core.data import tables
from ldp_core.data.columns import Column, parse
from ldp_core.data.tables import ReadOptions
from ldp_core.limits import MOST_UPLOAD_BYTES

SAMPLES = Path(__file__).parents[2] / "sample_data"
QUICK_BYTES = 2**21
QUICK_ROWS = 50_000
"""Text and tables up to this size are read, and looked at, in a tenth of a second or two."""


@dataclass(eq=False)
class Source:
    """A table available.

    Attributes:
        id: equal for equal tables. kind: how it came.
        options: how it was read, with everything that was guessed filled in; notes: sentences about the guesses.
        name, content: of an upload, to read it again under other options. path, query: of a local file.
        sheets: of an Excel workbook.
    """

    table: pd.DataFrame | tables.LocalTable
    id: str
    kind: str
    options: ReadOptions = field(default_factory=ReadOptions)
    notes: tuple[str, ...] = ()
    name: str = ""
    content: bytes = b""
    path: str = ""
    query: str | None = None
    sheets: tuple[str, ...] = ()

    @property
    def whose(self) -> tuple[str, str | None]:
        """Equal where rows are those of the same people, however their file is read."""
        return self.id.partition("#")[0], self.options.sheet

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self.table.columns]

    @property
    def said(self) -> tuple[str, ...]:
        """All notes on reading; of a local file, some are known only when it has been counted."""
        return tuple(self.table.notes) if isinstance(self.table, tables.LocalTable) else self.notes

    @property
    def slow(self) -> bool:
        """True if reading it again, or a look at all its rows, may take longer than a page should wait."""
        if isinstance(self.table, tables.LocalTable):
            return True
        return len(self.table) > QUICK_ROWS or _takes_long(self.name, self.content)

    @property
    def size(self) -> int:
        """Bytes it holds, roughly; samples are shared."""
        if self.kind == "sample" or isinstance(self.table, tables.LocalTable):
            return len(self.content)
        return len(self.content) + int(self.table.memory_usage().sum())

    def forget(self) -> None:
        """Drop the rows for good, even if other objects still hold this source."""
        self.table, self.content = pd.DataFrame(), b""

    def column(self, name: str, counts: str | None = None) -> Column:
        """A column, with the people that each of its rows stands for."""
        if isinstance(self.table, tables.LocalTable):
            needed = [name] if counts in (None, name) else [name, counts]
            frame, rows = self.table.counts(needed)
            return parse(frame[name], rows * tables.checked_weights(frame, counts))
        return parse(self.table[name], None if counts is None else tables.checked_weights(self.table, counts))


@dataclass(frozen=True)
class PendingFile:
    """A file that was given, and how it is to be read: what is kept of one that could not be read, to read it in another way.

    Attributes: kind: "upload" with its content, or "local" with its path.
    """

    kind: str
    name: str
    options: ReadOptions
    content: bytes = b""
    path: str = ""

    @property
    def ending(self) -> str:
        return Path(self.name).suffix.lower()

    @property
    def has_options(self) -> bool:
        """True if it may be read in another way."""
        there = bool(self.content) if self.kind == "upload" else Path(self.path.strip()).expanduser().is_file()
        return there and self.ending in tables.TEXT_ENDINGS | tables.EXCEL_ENDINGS

    @property
    def slow(self) -> bool:
        """True if reading it may take longer than a page should wait."""
        return self.kind == "local" or _takes_long(self.name, self.content)

    def read(self) -> Source:
        """ValueError with a sentence when it is no table."""
        if self.kind == "local":
            return local_file(self.path, self.options)
        return uploaded(self.content, self.name, self.options)


def _takes_long(name: str, content: bytes) -> bool:
    """Other files than text need a process of their own, and up to ten times as long for a byte."""
    text = Path(name).suffix.lower() in tables.TEXT_ENDINGS
    return len(content) > (QUICK_BYTES if text else QUICK_BYTES // 10)


def uploaded(content: bytes, name: str, options: ReadOptions) -> Source:
    """ValueError with a sentence when it is no table."""
    loaded = tables.load(content, name, options)
    return Source(
        loaded.table,
        _id("upload", hashlib.sha256(content).hexdigest(), options),
        "upload",
        loaded.options,
        loaded.notes,
        name,
        content,
        sheets=loaded.sheets,
    )


def local_file(path: str, options: ReadOptions) -> Source:
    """A CSV, Parquet or Excel file by its path. Of a large one only counts ever stay in memory; a workbook is read like an upload."""
    file = tables.checked_path(path)
    if file.suffix.lower() in tables.EXCEL_ENDINGS:
        with file.open("rb") as opened:
            content = opened.read(MOST_UPLOAD_BYTES + 1)
        return replace(uploaded(content, file.name, options), kind="local", content=b"", path=path)
    table = tables.LocalTable(path, options)
    state = table.path.stat()
    return Source(
        table,
        _id("local", [str(table.path), state.st_size, state.st_mtime_ns], options),
        "local",
        table.options,
        name=table.path.name,
        path=path,
    )


def queried(path: str, query: str, options: ReadOptions | None = None) -> Source:
    """The result of one SELECT over a local database file."""
    options = options or ReadOptions()
    loaded = tables.query(path, query, options=options)
    digest = hashlib.sha256(pd.util.hash_pandas_object(loaded.table.astype(str), index=False).to_numpy()).hexdigest()
    return Source(
        loaded.table,
        _id("query", [path, query, digest], options),
        "query",
        loaded.options,
        loaded.notes,
        Path(path).name,
        path=path,
        query=query,
    )


def sample(file: str) -> Source:
    return Source(sample_table(file), f"sample:{file}", "sample", name=file)


def _id(kind: str, identity: Any, options: ReadOptions) -> str:
    file, read = (hashlib.sha256(json.dumps(part).encode()).hexdigest() for part in (identity, options.model_dump()))
    return f"{kind}:{file}#{read}"


@st.cache_data
def catalogue() -> list[dict[str, Any]]:
    """The sample data sets on offer."""
    return json.loads((SAMPLES / "catalogue.json").read_text())


@st.cache_data
def sample_table(file: str) -> pd.DataFrame:
    """Rows of a sample data set (synthetic, so it may be shared between sessions)."""
    return tables.read((SAMPLES / file).read_bytes(), file)
