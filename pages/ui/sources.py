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


@dataclass(frozen=True)
class File:
    """A file that was given, and how it is to be read: all that is kept of one that could not be read.

    Attributes: kind: "sample", "upload" with its content, "local" with its path, or "query" with that of a database.
    """

    kind: str
    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    content: bytes = b""
    path: str = ""
    query: str | None = None

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
        return self.kind in ("local", "query") or self.large

    @property
    def large(self) -> bool:
        """Other files than text need a process of their own, and up to ten times as long for a byte."""
        return len(self.content) > (QUICK_BYTES if self.ending in tables.TEXT_ENDINGS else QUICK_BYTES // 10)

    def read(self) -> Source:
        """ValueError with a sentence when it is no table. Of a large local file only counts ever stay in memory; a workbook is read
        like an upload."""
        if self.kind == "sample":
            return Source(sample_table(self.name), f"sample:{self.name}", self)
        if self.kind == "query":
            return self._queried()
        path, content = None, self.content
        if self.kind == "local":
            path = tables.checked_path(self.path)
            if self.ending not in tables.EXCEL_ENDINGS:
                return self._counted(path)
            with path.open("rb") as opened:
                content = opened.read(MOST_UPLOAD_BYTES + 1)
        loaded = tables.load(content, self.name if path is None else path.name, self.options)
        return self._loaded(loaded, "upload", hashlib.sha256(content).hexdigest())

    def _counted(self, path: Path) -> Source:
        table = tables.LocalTable(self.path, self.options)
        state = path.stat()
        return Source(table, self._id("local", [str(path), state.st_size, state.st_mtime_ns]), self, table.options)

    def _queried(self) -> Source:
        loaded = tables.query(self.path, self.query or "", self.options)
        rows = pd.util.hash_pandas_object(loaded.table.astype(str), index=False).to_numpy()
        return self._loaded(loaded, "query", [self.path, self.query, hashlib.sha256(rows).hexdigest()])

    def _loaded(self, loaded: tables.Loaded, kind: str, identity: Any) -> Source:
        return Source(loaded.table, self._id(kind, identity), self, loaded.options, loaded.notes, loaded.sheets)

    def _id(self, kind: str, identity: Any) -> str:
        parts = (identity, self.options.model_dump())
        file, read = (hashlib.sha256(json.dumps(part).encode()).hexdigest() for part in parts)
        return f"{kind}:{file}#{read}"


@dataclass(eq=False)
class Source:
    """A table available.

    Attributes:
        id: equal for equal tables. file: that it came from, to read it again under other options.
        options: how it was read, with everything that was guessed filled in; notes: sentences about the guesses.
        sheets: of an Excel workbook.
    """

    table: pd.DataFrame | tables.LocalTable
    id: str
    file: File
    options: ReadOptions = field(default_factory=ReadOptions)
    notes: tuple[str, ...] = ()
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
        """True if a look at all its rows may take longer than a page should wait."""
        return isinstance(self.table, tables.LocalTable) or len(self.table) > QUICK_ROWS or self.file.large

    @property
    def size(self) -> int:
        """Bytes it holds, roughly; samples are shared."""
        if self.file.kind == "sample" or isinstance(self.table, tables.LocalTable):
            return 0
        return len(self.file.content) + int(self.table.memory_usage().sum())

    def forget(self) -> None:
        """Drop the rows for good, even if other objects still hold this source."""
        self.table, self.file = pd.DataFrame(), replace(self.file, content=b"")

    def column(self, name: str, counts: str | None = None) -> Column:
        """A column, with the people that each of its rows stands for."""
        if isinstance(self.table, tables.LocalTable):
            needed = [name] if counts in (None, name) else [name, counts]
            frame, rows = self.table.counts(needed)
            return parse(frame[name], rows * tables.checked_weights(frame, counts))
        return parse(self.table[name], None if counts is None else tables.checked_weights(self.table, counts))


def sample(file: str) -> Source:
    return File("sample", file).read()


@st.cache_data
def catalogue() -> list[dict[str, Any]]:
    """The sample data sets on offer."""
    return json.loads((SAMPLES / "catalogue.json").read_text())


@st.cache_data
def sample_table(file: str) -> pd.DataFrame:
    """Rows of a sample data set (synthetic, so it may be shared between sessions)."""
    return tables.load((SAMPLES / file).read_bytes(), file).table
