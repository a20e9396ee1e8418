"""Columns of 0/1 that belong together, read as one column of cells such as "bus, car"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.missing import NOTHING, NULL
from ldp_core.data.reading.common import UnreadableTable, check_columns
from ldp_core.data.reading.options import Loaded, Together
from ldp_core.wording import listed, quote_examples, quoted

_NO = frozenset({"no", "n", "false", "off", "nein", "non", "nee", "nej", "não", "not selected", "unchecked"})
"""The words for an item that was not ticked, in any case."""


@dataclass(frozen=True)
class Ticks:
    """How the columns that are ``together`` are read: a ``blank`` cell is an item that was not ticked where no column has a word for that,
    and else a missing value."""

    together: Together
    blank: bool

    @property
    def note(self) -> str:
        """What was read, in a sentence."""
        named = listed([quoted(name) for name in self.together.columns], 6)
        blank = "an item that was not chosen" if self.blank else "a missing value"
        return f"{named} were read as one choice, {quoted(self.together.name)}; a blank cell is {blank}."

    @classmethod
    def of(cls, together: Together, frame: pd.DataFrame) -> Ticks:
        """By all rows of a table, or by its distinct ones. UnreadableTable for a column with other values besides."""
        marks = [_marks(columns.parse(frame[name])) for name in together.columns]
        for name, (ticks, _) in zip(together.columns, marks, strict=True):
            if len(ticks) > 1:
                raise UnreadableTable(
                    f"{name} holds {quote_examples(ticks)}: a column of a choice holds 0 and 1, no and yes, or one word where its item was chosen."
                )
        return cls(together, not any(others for _, others in marks))

    def cells(self, frame: pd.DataFrame) -> np.ndarray:
        """(rows,) the items that each row ticks."""
        parsed = [columns.parse(frame[name]) for name in self.together.columns]
        ticked = np.stack([np.append(np.isin(one.texts, _marks(one)[0]), False)[one.codes] for one in parsed], axis=1)
        missing = np.any([np.append(one.missing, not self.blank)[one.codes] for one in parsed], axis=0)
        packed = np.packbits(ticked, axis=1)
        _, first, place = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        items, sign = np.array(items_of(self.together.columns), dtype=object), sign_between(self.together.columns)
        texts = np.array([f"{sign} ".join(items[row]) or NOTHING for row in ticked[first]], dtype=object)
        return np.where(missing, NULL, texts[place.ravel()])


def can_tick(column: columns.Column) -> bool:
    """True if a column can be one of those that belong together: it has one word for what was ticked at most, besides those for what was not."""
    ticks, others = _marks(column)
    return len(ticks) == 1 or (not ticks and bool(others))


def put_together(frame: pd.DataFrame, ticks: Sequence[Ticks]) -> pd.DataFrame:
    """The table with one column in the place of the first of those that belong together."""
    for one in ticks:
        frame = frame.assign(**{one.together.name: one.cells(frame)})[one.together.among(list(frame))]
    return frame


def joined(loaded: Loaded) -> Loaded:
    """The table with its columns put together as its options say, where it has them, and notes on both."""
    there, _, notes = there_of(loaded.options.together, list(loaded.table))
    ticks = [Ticks.of(one, loaded.table) for one in there]
    notes += [one.note for one in ticks]
    return replace(loaded, table=put_together(loaded.table, ticks), notes=(*loaded.notes, *notes))


def there_of(together: Sequence[Together], names: list[str]) -> tuple[list[Together], list[str], list[str]]:
    """Those whose columns are among ``names``, the names of the columns once these are put together, and notes on the others."""
    there, notes = list[Together](), list[str]()
    for one in together:
        if lacks := [name for name in one.columns if name not in names]:
            notes.append(f"{one.name} was not put together: the table lacks {quote_examples(lacks)}.")
        else:
            there, names = [*there, one], one.among(names)
            check_columns(names)
    return there, names, notes


def items_of(names: Sequence[str]) -> tuple[str, ...]:
    """What names of columns say after their common beginning, such as "way: bus" and "way: car"."""
    beginnings = [names[0][: i + 1] for i, sign in enumerate(names[0]) if sign in "_:.- /"]
    common = max((len(part) for part in beginnings if all(name.startswith(part) for name in names)), default=0)
    items = tuple(columns.plain(name[common:]) for name in names)
    return items if all(items) else tuple(map(columns.plain, names))


def sign_between(names: Sequence[str]) -> str:
    """A sign that is in none of the items."""
    return next((sign for sign in ",;|/" if sign not in "".join(items_of(names))), ",")


def _marks(column: columns.Column) -> tuple[list[Any], list[Any]]:
    """The words of a column for an item that was ticked, and for one that was not."""
    no = (column.numbers == 0) | np.array([text.casefold() in _NO for text in column.texts], dtype=bool)
    return column.texts[~column.missing & ~no].tolist(), column.texts[~column.missing & no].tolist()
