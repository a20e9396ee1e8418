"""Domains: from records to type indices and back.

An `Attribute` turns one column into a finite list of types, a `Domain` crosses several attributes into n types in
row-major order. Both are frozen pydantic models: the same object encodes the data and travels in an exported
configuration, where it says of every part whether it was declared or read off the data.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from . import columns

MAX_TYPES = 2048
"""Most types a domain may have when its mechanism is an explicit matrix; transforms and trees go further."""

_LARGEST_INDEX = 2**62

# Marks used while encoding, before the attribute's rules turn them into types or drop them.
_MISSING = -1
_OUTSIDE = -2

Missing = Literal["drop", "category", "refuse"]
Origin = Literal["declared", "data"]
# The bound keeps differences of edges finite.
Edge = Annotated[float, Field(ge=-1e300, le=1e300, allow_inf_nan=False)]


@dataclass(frozen=True)
class Encoding:
    """Types of some records.

    Attributes:
        codes: (rows,) int64 type index of each row, -1 for a dropped row.
        missing: rows with a missing value (dropped or in the "(missing)" type).
        outside: rows with a value outside the domain (in the "(other)" type or clamped).
    """

    codes: np.ndarray
    missing: int
    outside: int


def check_size(size: int, what: str = "this domain") -> None:
    """Raise ValueError when `size` types are more than `MAX_TYPES`."""
    if size > MAX_TYPES:
        raise ValueError(
            f"{size:,} types are too many for {what}: at most {MAX_TYPES:,} are allowed. "
            "Use coarser bins, merge rare categories into (other), or leave an attribute out."
        )


class _Attribute(BaseModel):
    """What categorical and numeric attributes share: special types, encoding, decoding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    missing: Missing = "drop"
    origin: Origin = "declared"

    @property
    def labels(self) -> tuple[str, ...]:
        """Unique label of each type: the ordinary types, then "(other)", then "(missing)" where they exist.

        Where an ordinary label already reads "(other)" or "(missing)", the special one gets further parentheses.
        """
        return (*self._ordinary_labels(), *self._special_labels().values())

    @property
    def size(self) -> int:
        """Number of types, special ones included."""
        return self._ordinary_size() + (self.outside == "other") + (self.missing == "category")

    def encode(self, series: pd.Series) -> Encoding:
        """Type index of each value of a column (any dtype, or a list).

        An attribute's own labels are accepted as values, so that decoded records encode to themselves.

        Raises:
            ValueError: a missing, unreadable or outside value where the attribute says "refuse".
        """
        codes, missing, outside = self._encode_rows(series)
        return Encoding(codes, int(missing.sum()), int(outside.sum()))

    def decode(self, codes: np.ndarray) -> list[str]:
        """Labels of type indices; ValueError for an index outside 0..size-1."""
        codes = _checked_indices(codes, self.size)
        labels = self.labels
        return [labels[code] for code in codes]

    def _special_labels(self) -> dict[int, str]:
        """Labels of the special types that exist, by the mark they stand for, in the order of the types."""
        wanted = {}
        if self.outside == "other":
            wanted[_OUTSIDE] = "(other)"
        if self.missing == "category":
            wanted[_MISSING] = "(missing)"
        taken = set(self._ordinary_labels())
        for mark, label in wanted.items():
            while label in taken:
                label = f"({label})"
            wanted[mark] = label
        return wanted

    def _encode_rows(self, series: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes, missing mask and outside mask, each (rows,)."""
        column = columns.parse(pd.Series(series, name=self.name))
        types, outside = self._place(column)
        specials = self._special_labels()
        for mark, label in specials.items():
            is_label = (column.texts == label) & (types < 0)
            types[is_label] = mark
            outside[is_label] = mark == _OUTSIDE

        # A null cell has no text; the entry appended here is where its code of -1 points.
        missing_rows = np.append(types == _MISSING, True)[column.codes]
        outside_rows = np.append(outside, False)[column.codes]
        self._refuse(column, missing_rows, outside, outside_rows)

        for position, mark in enumerate(specials):
            types[types == mark] = self._ordinary_size() + position
        null_type = self.size - 1 if self.missing == "category" else -1
        return np.append(types, null_type)[column.codes], missing_rows, outside_rows

    def _refuse(
        self, column: columns.Column, missing_rows: np.ndarray, outside: np.ndarray, outside_rows: np.ndarray
    ) -> None:
        if self.missing == "refuse" and missing_rows.any():
            raise ValueError(
                f"{missing_rows.sum():,} of {missing_rows.size:,} values of {self.name} are missing, and missing "
                "values are refused here: drop them, make them a category of their own, or fill them in."
            )
        if self.outside == "refuse" and outside_rows.any():
            ways = "send them to (other), clamp them" if isinstance(self, NumericAttribute) else "send them to (other)"
            raise ValueError(
                f"{outside_rows.sum():,} of {outside_rows.size:,} values of {self.name} are outside its domain, "
                f"such as {columns.quote_examples(column.texts[outside])}: {ways}, or widen the domain."
            )


class CategoricalAttribute(_Attribute):
    """A column of categories, compared as text.

    Attributes:
        values: the categories, in the order of the types; unique and not blank, stripped of outer spaces.
        ordered: the order means something, so that prefix and range queries make sense.
        missing: what becomes of missing values.
        outside: what becomes of other values: one "(other)" type, or an error.
        origin: were the values declared, or read off the data (and so reveal something of it).
    """

    kind: Literal["categorical"] = "categorical"
    values: tuple[str, ...]
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
                f"categories must differ, and {columns.quote_examples(twice)} is there more than once: keep it once."
            )
        return values

    def _ordinary_labels(self) -> tuple[str, ...]:
        return self.values

    def _ordinary_size(self) -> int:
        return len(self.values)

    def _place(self, column: columns.Column) -> tuple[np.ndarray, np.ndarray]:
        position = {value: index for index, value in enumerate(self.values)}
        # A declared category wins over a missing word: "None" may be an answer.
        types = np.array(
            [
                position.get(text, _MISSING if missing else _OUTSIDE)
                for text, missing in zip(column.texts, column.missing, strict=True)
            ],
            dtype=np.int64,
        )
        return types, types == _OUTSIDE


class NumericAttribute(_Attribute):
    """A column of numbers in bins [e_i, e_{i+1}), the last one closed.

    Attributes:
        edges: k+1 strictly increasing numbers, of magnitude 1e300 at most.
        binning: how the edges were chosen.
        integer: the data are whole numbers, so that labels read "20-29". Binned ranges of whole numbers have
            half-integer edges (19.5, 29.5, ...): no whole number lies on an edge.
        non_numbers: what a text that is not a number is: an error, or a missing value.
        missing: what becomes of missing values.
        outside: what becomes of numbers outside the edges, infinities included: one "(other)" type, the nearest bin
            ("clamp"), or an error.
        origin: were the edges declared, or read off the data (and so reveal something of it).
    """

    kind: Literal["numeric"] = "numeric"
    edges: tuple[Edge, ...]
    binning: Literal["equal_width", "equal_count", "own_edges"] = "own_edges"
    integer: bool = False
    non_numbers: Literal["refuse", "missing"] = "refuse"
    outside: Literal["other", "clamp", "refuse"] = "refuse"

    @model_validator(mode="after")
    def _check_edges(self) -> NumericAttribute:
        edges = np.array(self.edges)
        if edges.size < 2:
            raise ValueError(f"bins need at least two edges and there are {edges.size}: give the ends of the range.")
        if not (np.diff(edges) > 0).all():
            wrong = int(np.argmin(np.diff(edges) > 0))
            raise ValueError(
                f"bin edges must increase, and {edges[wrong]:g} is followed by {edges[wrong + 1]:g}: "
                "sort them and remove repeated ones."
            )
        if self.integer:
            low, high = whole_ends(edges)
            if (low > high).any():
                wrong = int(np.argmax(low > high))
                raise ValueError(
                    f"every bin of whole numbers must hold one, and none lies between {edges[wrong]:g} and "
                    f"{edges[wrong + 1]:g}: widen that bin or use integer=False."
                )
        return self

    def _ordinary_labels(self) -> tuple[str, ...]:
        return bin_labels(self.edges, self.integer)

    def _ordinary_size(self) -> int:
        return len(self.edges) - 1

    def _place(self, column: columns.Column) -> tuple[np.ndarray, np.ndarray]:
        edges = np.array(self.edges)
        numbers = column.numbers
        types = np.searchsorted(edges, numbers, side="right") - 1
        types = np.clip(types, 0, edges.size - 2).astype(np.int64)
        outside = (numbers < edges[0]) | (numbers > edges[-1])
        if self.outside != "clamp":
            types[outside] = _OUTSIDE
        types[np.isnan(numbers)] = _MISSING

        own = {label: index for index, label in enumerate(self._ordinary_labels())}
        special = set(self._special_labels().values())
        unread = []
        for position in np.flatnonzero(np.isnan(numbers) & ~column.missing):
            text = column.texts[position]
            types[position] = own.get(text, _MISSING)
            if text not in own and text not in special:
                unread.append(position)
        if unread and self.non_numbers == "refuse":
            raise ValueError(columns.not_numbers(column, unread))
        return types, outside


Attribute = Annotated[CategoricalAttribute | NumericAttribute, Field(discriminator="kind")]


class Domain(BaseModel):
    """The product of some attributes: n types, the last attribute running fastest (as `np.ravel_multi_index`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attributes: tuple[Attribute, ...]

    @field_validator("attributes")
    @classmethod
    def _check_attributes(cls, attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        if not attributes:
            raise ValueError("a domain needs at least one attribute: choose a column or declare one.")
        names = [attribute.name for attribute in attributes]
        if len(set(names)) < len(names):
            raise ValueError(f"attribute names must differ and these do not: {', '.join(names)}. Rename one.")
        if math.prod(attribute.size for attribute in attributes) > _LARGEST_INDEX:
            raise ValueError("the attributes together have more than 2^62 types: leave some out or use coarser bins.")
        return attributes

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of types of each attribute."""
        return tuple(attribute.size for attribute in self.attributes)

    @property
    def size(self) -> int:
        """Number of types n, the product of `shape`."""
        return math.prod(self.shape)

    def labels(self, indices: np.ndarray | None = None) -> list[str]:
        """Labels of some types (all by default): "20-29" for one attribute, "age 20-29, income >50K" for several.

        All labels of a domain larger than `MAX_TYPES` are refused with a ValueError: ask for the ones you need.
        """
        if indices is None:
            check_size(self.size, "listing all labels")
            indices = np.arange(self.size)
        table = self.decode(indices)
        if len(self.attributes) == 1:
            return table.iloc[:, 0].tolist()
        named = [[f"{name} {label}" for label in table[name]] for name in table.columns]
        return [", ".join(parts) for parts in zip(*named, strict=True)]

    def encode(self, frame: pd.DataFrame) -> Encoding:
        """Type index of each row of a table holding the attributes' columns; other columns are ignored.

        A row is dropped (-1) when any of its values is; `missing` and `outside` count rows with such a value.
        """
        absent = [attribute.name for attribute in self.attributes if attribute.name not in frame.columns]
        if absent:
            raise ValueError(f"the table lacks the column {columns.quote_examples(absent)}: choose one that has it.")
        codes, missing, outside = zip(
            *(attribute._encode_rows(frame[attribute.name]) for attribute in self.attributes), strict=True
        )
        dropped = np.any([part < 0 for part in codes], axis=0)
        index = np.ravel_multi_index([np.where(dropped, 0, part) for part in codes], self.shape).astype(np.int64)
        index[dropped] = -1
        return Encoding(index, int(np.any(missing, axis=0).sum()), int(np.any(outside, axis=0).sum()))

    def decode(self, indices: np.ndarray) -> pd.DataFrame:
        """A table of labels, a column per attribute; ValueError for an index outside 0..size-1."""
        parts = np.unravel_index(_checked_indices(indices, self.size), self.shape)
        return pd.DataFrame(
            {attribute.name: attribute.decode(part) for attribute, part in zip(self.attributes, parts, strict=True)},
            dtype=object,
        )


def build(model: type[BaseModel], **fields: object) -> BaseModel:
    """Make an attribute or domain; what is wrong comes as a ValueError of plain sentences, not pydantic's report."""
    try:
        return model(**fields)
    except ValidationError as error:
        raise ValueError(" ".join(part["msg"].removeprefix("Value error, ") for part in error.errors())) from error


def bin_labels(edges: tuple[float, ...], integer: bool) -> tuple[str, ...]:
    """Unique labels of the bins between `edges`: "20-29" for whole numbers, "[0.25, 0.5)" otherwise.

    Edges are shown to a hundredth of the narrowest bin, in as few digits as that takes.
    """
    edges = np.array(edges)
    if integer:
        low, high = whole_ends(edges)
        dash = " to " if low[0] < 0 else "-"
        return tuple(
            str(first) if first == last else f"{first}{dash}{last}"
            for first, last in zip(low.tolist(), high.tolist(), strict=True)
        )
    decimals = max(0, math.ceil(-math.log10(np.diff(edges).min())) + 2)
    if decimals <= 15 and np.abs(edges).max() < 1e15:
        texts = [f"{edge:.{decimals}f}" for edge in edges]
        texts = [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]
        texts = ["0" if text == "-0" else text for text in texts]
    else:
        texts = [f"{edge:.17g}" for edge in edges]
    closing = [")"] * (len(texts) - 2) + ["]"]
    return tuple(f"[{left}, {right}{end}" for left, right, end in zip(texts[:-1], texts[1:], closing, strict=True))


def whole_ends(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last whole number of each bin, as Python integers (floats past 2^63 do not fit an int64)."""
    low = np.array([math.ceil(edge) for edge in edges[:-1]], dtype=object)
    high = np.array([*(math.ceil(edge) - 1 for edge in edges[1:-1]), math.floor(edges[-1])], dtype=object)
    return low, high


def _checked_indices(indices: np.ndarray, size: int) -> np.ndarray:
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
