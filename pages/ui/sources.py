"""The sources of rows: a sample or an uploaded file. Rows never leave the process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from ldp_core.data import tables
from ldp_core.data.columns import Column, parse
from ldp_core.data.tables import ReadOptions

SAMPLES = Path(__file__).parents[2] / "sample_data"
QUICK_BYTES = 2**21
QUICK_ROWS = 50_000
"""Text and tables up to this size are read, and looked at, in a tenth of a second or two."""


@dataclass(frozen=True)
class File:
    """A file that was given, and how it is to be read: all that is kept of one that could not be read.

    Attributes: kind: "sample", or "upload" with its content; query: the SELECT that reads a database.
    """

    kind: str
    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    content: bytes = b""
    query: str | None = None

    @property
    def ending(self) -> str:
        return Path(self.name).suffix.lower()

    @property
    def is_database(self) -> bool:
        return tables.is_database(self.content)

    @property
    def has_options(self) -> bool:
        """True if it may be read in another way."""
        there = self.is_database or self.ending in tables.TEXT_ENDINGS | tables.EXCEL_ENDINGS
        return there and bool(self.content)

    @property
    def slow(self) -> bool:
        """True if reading it may take longer than a page should wait."""
        return self.is_database or self.large

    @property
    def large(self) -> bool:
        """Other files than text need a process of their own, and up to ten times as long for a byte."""
        return len(self.content) > (QUICK_BYTES if self.ending in tables.TEXT_ENDINGS else QUICK_BYTES // 10)

    @cached_property
    def digest(self) -> str:
        """Equal for equal content."""
        return hashlib.sha256(self.content).hexdigest()

    def read(self) -> Source:
        """ValueError with a sentence when it is no table."""
        if self.kind == "sample":
            return Source(sample_table(self.name), f"sample:{self.name}", self)
        if self.is_database:
            loaded = tables.query(self.content, self.query or "", self.options)
            rows = pd.util.hash_pandas_object(loaded.table.astype(str), index=False).to_numpy()
            return self._loaded(loaded, f"query:{hashlib.sha256(rows).hexdigest()}")
        return self._loaded(tables.load(self.content, self.name, self.options), f"upload:{self.digest}")

    def _loaded(self, loaded: tables.Loaded, people: str) -> Source:
        how = hashlib.sha256(self.options.model_dump_json().encode()).hexdigest()
        return Source(loaded.table, f"{people}#{how}", self, loaded.options, loaded.notes, loaded.sheets)


@dataclass(eq=False)
class Source:
    """A table available.

    Attributes:
        id: equal for equal tables. file: that it came from, to read it again under other options.
        options: how it was read, with everything that was guessed filled in; notes: sentences about the guesses.
        sheets: of an Excel workbook.
    """

    table: pd.DataFrame
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
    def slow(self) -> bool:
        """True if a look at all its rows may take longer than a page should wait."""
        return len(self.table) > QUICK_ROWS or self.file.large

    @property
    def size(self) -> int:
        """Bytes it holds, roughly; samples are shared."""
        return 0 if self.file.kind == "sample" else len(self.file.content) + int(self.table.memory_usage().sum())

    def forget(self) -> None:
        """Drop the rows for good, even if other objects still hold this source."""
        self.table, self.file = pd.DataFrame(), replace(self.file, content=b"")

    def column(self, name: str, counts: str | None = None) -> Column:
        """A column, with the people that each of its rows stands for."""
        return parse(self.table[name], None if counts is None else tables.checked_weights(self.table, counts))


@st.cache_data
def catalogue() -> list[dict[str, Any]]:
    """The sample data sets on offer."""
    return json.loads((SAMPLES / "catalogue.json").read_text())


@st.cache_data
def sample_table(file: str) -> pd.DataFrame:
    """Rows of a sample data set (synthetic, so it may be shared between sessions)."""
    return tables.load((SAMPLES / file).read_bytes(), file).table
