"""The shared part of all attributes: special types, encoding, decoding; and the categorical one."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ldp_core.data import columns
from ldp_core.data.scales import is_no_answer
from ldp_core.limits import MOST_FITTED_TYPES, MOST_LISTED_TYPES
from ldp_core.problems import sentences
from ldp_core.wording import quote_examples, quoted

# Marks used while encoding, before the attribute's rules turn them into types or drop them.
MISSING = -1
OUTSIDE = -2

Missing = Literal["drop", "category", "refuse"]
Origin = Literal["declared", "data"]
Model = TypeVar("Model", bound=BaseModel)
Placed = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The destination of the distinct texts of a column: (distinct,) types or marks, and which are outside, or unread."""


@dataclass(frozen=True)
class Encoding:
    """Types of some records.

    Attributes:
        codes: (rows,) int64 type index of each row, -1 for a dropped row.
        missing: (rows,) mask of those with a missing value (dropped or in the "(missing)" type).
        outside: those with a value outside the domain (in the "(other)" type or clamped).
        unread: those whose text should be a number or a date and is neither, so that it counts as missing.
        numbers: where types are bins of numbers, the (rows,) numbers themselves, moved to the nearest end; NaN where there is none.
    """

    codes: np.ndarray
    missing: np.ndarray
    outside: np.ndarray
    unread: np.ndarray
    numbers: np.ndarray | None = None


def check_size(size: int, what: str = "this domain") -> None:
    """Raise ValueError when `size` types are more than `MOST_LISTED_TYPES`."""
    if size > MOST_LISTED_TYPES:
        raise ValueError(
            f"{size:,} types are too many for {what}: at most {MOST_LISTED_TYPES:,} are allowed. "
            "Use coarser bins, merge rare categories into (other), or leave an attribute out."
        )


def build(model: type[Model], **fields: Any) -> Model:
    """Make an attribute or domain. ValueError, in plain sentences instead of pydantic's report, for what is wrong."""
    try:
        return model(**fields)
    except ValidationError as error:
        raise ValueError(sentences(error, fields)) from error


class BaseAttribute(BaseModel):
    """The shared part of all kinds of attributes: special types, encoding, decoding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    ways_out: ClassVar[str] = "send them to (other), clamp them"
    _blank: ClassVar[int | None] = None
    """The type of a blank cell, where that is an answer."""
    missing: Missing = "drop"
    origin: Origin = "declared"
    known: bool = Field(default=False, exclude_if=lambda known: not known)
    """True if the collector knows everybody's value already, so that it is no secret: see `ldp_core.workloads.strata`."""
    secret: tuple[str, ...] | None = Field(default=None, exclude_if=lambda secret: secret is None)
    """The values that are secret, by their labels; None where all are. See `ldp_core.workloads.secret`."""
    if TYPE_CHECKING:  # each kind has this field where its files have it
        outside: Literal["other", "clamp", "refuse"]

    @model_validator(mode="after")
    def _check_secret(self) -> Self:
        if self.secret is None:
            return self
        if self.known:
            raise ValueError("the collector knows its values already, so that none is secret: choose one of the two.")
        if self.size > MOST_FITTED_TYPES:
            raise ValueError(
                f"values that are not secret are handled for at most {MOST_FITTED_TYPES:,} values; there are {self.size:,}: use coarser bins."
            )
        if len(set(self.secret)) < len(self.secret) or not set(self.secret) <= set(self.labels):
            wrong = [name for name in self.secret if name not in self.labels] or list(self.secret)
            raise ValueError(f"secret values must be different values of the column; got {quote_examples(wrong)}.")
        return self

    @property
    def secret_types(self) -> tuple[bool, ...] | None:
        """Which types are secret, None where all are."""
        return None if self.secret is None else tuple(label in self.secret for label in self.labels)

    @abstractmethod
    def _ordinary_size(self) -> int:
        """Number of types, special ones left out."""

    @abstractmethod
    def _ordinary_labels(self, which: np.ndarray) -> list[str]:
        """Labels of ordinary types by their index."""

    @abstractmethod
    def _place(self, column: columns.Column) -> Placed:
        """The destination of the texts of a column."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Unique label of each type: the ordinary types, then "(other)", then "(missing)" where they exist.

        If an ordinary label already reads "(other)" or "(missing)", the special one gets more
        parentheses.
        """
        return tuple(self.decode(np.arange(self.size)))

    @property
    def size(self) -> int:
        """Number of types, special ones included."""
        return self._ordinary_size() + (self.outside == "other") + (self.missing == "category")

    @property
    def special(self) -> int:
        """Number of types without a place in the order, which come last: "(other)" and "(missing)"."""
        return self.size - self._ordinary_size()

    @property
    def in_order(self) -> bool:
        """True if the order of the types means something, so that prefix and range queries make sense."""
        return True

    def decode(self, codes: np.ndarray) -> list[str]:
        """Labels of type indices; ValueError for an index outside 0..size-1."""
        # Only the labels asked for are made: a range may have millions.
        distinct, position = np.unique(checked_indices(codes, self.size), return_inverse=True)
        ordinary = distinct[distinct < self._ordinary_size()]
        special = list(self._special_labels().values())
        labels = [
            *self._ordinary_labels(ordinary),
            *(special[i - self._ordinary_size()] for i in distinct[ordinary.size :]),
        ]
        return [labels[i] for i in position.tolist()]

    def encode(self, values: pd.Series | columns.Column, weights: np.ndarray | None = None) -> Encoding:
        """Type index of each value of a column (any dtype, a list, or one that has been parsed); refusals count people by the (rows,)
        weights.

        An attribute's own labels are accepted as values, so that decoded records encode to themselves.

        Raises:
            ValueError: a missing, unreadable or outside value where the attribute says "refuse".
        """
        parsed = isinstance(values, columns.Column)
        column = values if parsed else columns.parse(pd.Series(values, name=self.name), weights)
        types, outside, unread = self._place(column)
        specials = self._special_labels()
        unread = unread & ~np.isin(column.texts, list(specials.values()))
        self._refuse_unread(column, unread)
        for mark, label in specials.items():
            is_label = (column.texts == label) & (types < 0)
            types[is_label] = mark
            outside[is_label] = mark == OUTSIDE

        # A null cell has no text; the entry appended here is where its code of -1 points.
        missing_rows = np.append(types == MISSING, self._blank is None)[column.codes]
        outside_rows = np.append(outside, False)[column.codes]
        unread_rows = np.append(unread, False)[column.codes]
        self._refuse(column, missing_rows, outside, outside_rows)

        for position, mark in enumerate(specials):
            types[types == mark] = self._ordinary_size() + position
        null_type = self.size - 1 if self.missing == "category" else -1
        null_type = null_type if self._blank is None else self._blank
        numbers = self._numbers(column)
        known = None if numbers is None else np.append(numbers, np.nan)[column.codes]
        return Encoding(np.append(types, null_type)[column.codes], missing_rows, outside_rows, unread_rows, known)

    def _numbers(self, column: columns.Column) -> np.ndarray | None:
        """(distinct,) the numbers in the texts of a column, where types are bins of numbers."""
        return None

    def _taken_labels(self) -> set[str]:
        """Ordinary labels that could read like a special one."""
        return set()

    def _refuse_unread(self, column: columns.Column, unread: np.ndarray) -> None:
        """Refuse texts that cannot be read, where the attribute says so."""

    def _special_labels(self) -> dict[int, str]:
        """Labels of the special types that exist, by the mark they stand for, in the order of the types."""
        there = {OUTSIDE: self.outside == "other", MISSING: self.missing == "category"}
        wanted = {mark: label for mark, label in ((OUTSIDE, "(other)"), (MISSING, "(missing)")) if there[mark]}
        taken = self._taken_labels()
        for mark, label in wanted.items():
            while label in taken:
                label = f"({label})"
            wanted[mark] = label
        return wanted

    def _refuse(
        self, column: columns.Column, missing_rows: np.ndarray, outside: np.ndarray, outside_rows: np.ndarray
    ) -> None:
        if self.missing == "refuse" and missing_rows.any():
            raise ValueError(
                f"{column.total(missing_rows):,} of {column.rows:,} values of {self.name} are missing, and missing "
                "values are refused here: drop them, make them a category of their own, or fill them in."
            )
        if self.outside == "refuse" and outside_rows.any():
            raise ValueError(
                f"{column.total(outside_rows):,} of {column.rows:,} values of {self.name} are outside its domain, "
                f"such as {quote_examples(column.texts[outside])}: {self.ways_out}, or widen the domain."
            )


class CategoricalAttribute(BaseAttribute):
    """A column of categories, compared as text.

    Attributes:
        values: the categories, in the order of the types; unique and not blank, stripped of outer spaces.
        merged: (text, category) pairs: further texts that count in a category. A merged text may
        not be a category itself.
        ordered: the order means something, so that prefix and range queries make sense.
        missing: what becomes of missing values.
        outside: what becomes of other values: one "(other)" type, or an error.
        origin: whether the values were declared, or taken from the data (and so reveal something about it).
    """

    ways_out: ClassVar[str] = "send them to (other)"
    kind: Literal["categorical"] = "categorical"
    values: tuple[str, ...]
    # Left out of files where empty, so that designs made before it existed keep their digest.
    merged: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=lambda merged: not merged)
    ordered: bool = False
    outside: Literal["other", "refuse"] = "refuse"

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        values = tuple(value.strip() for value in values)
        if not values:
            raise ValueError("there are no categories: name at least one.")
        if "" in values:
            raise ValueError(f"category {values.index('') + 1} is blank: give it a name or remove it.")
        if len(set(values)) < len(values):
            twice = [value for value, times in Counter(values).items() if times > 1]
            raise ValueError(
                f"categories must differ, and {quote_examples(twice)} appears more than once: keep it once."
            )
        return values

    @model_validator(mode="after")
    def _check_merged(self) -> CategoricalAttribute:
        values, texts = set(self.values), [text for text, _ in self.merged]
        for text, category in self.merged:
            if not text or text != text.strip():
                raise ValueError(
                    f"the merged value {quoted(text)} is blank or has outer spaces: fill it in, or write it without them."
                )
            if text in values:
                raise ValueError(
                    f"{quoted(text)} is a category and cannot be merged into another: remove one of the two."
                )
            if category not in values:
                raise ValueError(f"{quoted(text)} is merged into {quoted(category)}, which is not a category: add it.")
        if len(set(texts)) < len(texts):
            twice = next(text for text, times in Counter(texts).items() if times > 1)
            raise ValueError(f"{quoted(twice)} is merged into two categories: keep one.")
        return self

    @property
    def in_order(self) -> bool:
        """True if the order of the types means something, so that prefix and range queries make sense."""
        return self.ordered

    @property
    def apart(self) -> tuple[str, ...]:
        """The categories at the end of an order that give no answer, such as "Don't know": they have no place in it."""
        last = takewhile(is_no_answer, reversed(self.values[1:]))
        return tuple(last)[::-1] if self.ordered else ()

    @property
    def special(self) -> int:
        """Number of types without a place in the order, which come last: those `apart`, "(other)" and "(missing)"."""
        return super().special + len(self.apart)

    def _ordinary_labels(self, which: np.ndarray) -> list[str]:
        return [self.values[i] for i in which]

    def _ordinary_size(self) -> int:
        return len(self.values)

    def _taken_labels(self) -> set[str]:
        return {*self.values, *(text for text, _ in self.merged)}

    def _place(self, column: columns.Column) -> Placed:
        position = {value: index for index, value in enumerate(self.values)}
        position |= {text: position[category] for text, category in self.merged}
        for text, place in list(position.items()):  # files may name texts in other forms
            position.setdefault(columns.plain(text), place)
        # A declared category wins over a missing word: "None" may be an answer.
        types = np.array(
            [
                position.get(text, MISSING if missing else OUTSIDE)
                for text, missing in zip(column.texts, column.missing, strict=True)
            ],
            dtype=np.int64,
        )
        return types, types == OUTSIDE, np.zeros(types.size, dtype=bool)


def checked_indices(indices: np.ndarray, size: int) -> np.ndarray:
    """`indices` as an integer array, or ValueError unless all lie in 0..size-1."""
    indices = np.atleast_1d(np.asarray(indices))
    if indices.size == 0:
        return indices.astype(np.int64)
    if not np.issubdtype(indices.dtype, np.integer):
        raise ValueError("type indices must be whole numbers: pass an integer array.")
    if indices.min() < 0 or indices.max() >= size:
        raise ValueError(
            f"type indices must lie in 0..{size - 1:,} and these reach from {indices.min():,} to {indices.max():,}: "
            "leave dropped rows (-1) out before decoding."
        )
    return indices
