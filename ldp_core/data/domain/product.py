"""Domains: the product of some attributes."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ldp_core.data import columns
from ldp_core.data.domain.attributes import CategoricalAttribute, Encoding, check_size, checked_indices
from ldp_core.data.domain.combinations import ChoiceAttribute, CourseAttribute, RankingAttribute
from ldp_core.data.domain.dates import DateAttribute
from ldp_core.data.domain.numbers import NumericAttribute, RangeAttribute
from ldp_core.limits import MOST_COMBINATIONS, MOST_LISTED_TYPES
from ldp_core.wording import magnitude, quote_examples

_LARGEST_INDEX = 2**62
_SHOWN = 4  # attributes named in one line

Attribute = Annotated[
    CategoricalAttribute
    | NumericAttribute
    | RangeAttribute
    | DateAttribute
    | ChoiceAttribute
    | RankingAttribute
    | CourseAttribute,
    Field(discriminator="kind"),
]


class TypeLabels(Sequence):
    """The labels of all types of a domain, made as they are asked for."""

    def __init__(self, domain: Domain):
        self._domain = domain

    def __len__(self) -> int:
        return min(self._domain.size, sys.maxsize)  # no sequence may be longer

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self._domain.labels(np.arange(len(self))[index])
        return self._domain.labels(np.array([range(len(self))[index]]))[0]


class Domain(BaseModel):
    """The product of some attributes: n types, the last attribute running fastest (as `np.ravel_multi_index`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attributes: tuple[Attribute, ...]

    @field_validator("attributes")
    @classmethod
    def _check_attributes(cls, attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        if not attributes:
            raise ValueError("a domain needs at least one attribute: choose a column or declare one.")
        # In normal form KC, blanks as one space: what looks the same is the same. Devices are stricter.
        names = [" ".join(columns.plain(unicodedata.normalize("NFKC", one.name)).split()) for one in attributes]
        if len(set(names)) < len(names):
            twice = [name for name, times in Counter(names).items() if times > 1]
            raise ValueError(
                f"attribute names must differ, and look different, and these do not: {quote_examples(twice)}. Rename one."
            )
        if all(attribute.known for attribute in attributes):
            raise ValueError("the collector knows every attribute already, so there is no secret to protect: add one.")
        if all(attribute.known or attribute.secret == () for attribute in attributes):
            raise ValueError("no value is secret, so there is nothing to protect: name a secret value of some column.")
        if math.prod(attribute.size for attribute in attributes) > MOST_COMBINATIONS:
            raise ValueError(
                f"the attributes together have more than {magnitude(MOST_COMBINATIONS)} types: leave some out or use coarser bins."
            )
        return attributes

    def __repr__(self) -> str:
        named = " x ".join(f"{attribute.name} ({attribute.size:,})" for attribute in self.attributes[:_SHOWN])
        more = f" and {len(self.attributes) - _SHOWN} more" if len(self.attributes) > _SHOWN else ""
        return f"<Domain: {named}{more}, {self.size:,} types>"

    __str__ = __repr__

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of types of each attribute."""
        return tuple(attribute.size for attribute in self.attributes)

    @property
    def size(self) -> int:
        """Number of types n, the product of `shape`."""
        return math.prod(self.shape)

    @property
    def type_labels(self) -> Sequence[str]:
        """The labels of all types, made as they are asked for where there are more than `MOST_LISTED_TYPES`."""
        return tuple(self.labels()) if self.size <= MOST_LISTED_TYPES else TypeLabels(self)

    def labels(self, indices: np.ndarray | None = None) -> list[str]:
        """Labels of some types (all by default): "20-29" for one attribute, "age 20-29, income >50K" for several.

        All labels of a domain larger than `MOST_LISTED_TYPES` are refused with a ValueError: ask for the ones you need.
        """
        if indices is None:
            check_size(self.size, "listing all labels")
            indices = np.arange(self.size)
        columns = self._decoded(indices)
        if len(columns) == 1:
            return columns[0]
        named = [
            [f"{attribute.name} {label}" for label in column]
            for attribute, column in zip(self.attributes, columns, strict=True)
        ]
        return [", ".join(parts) for parts in zip(*named, strict=True)]

    def encode(self, frame: pd.DataFrame) -> Encoding:
        """Type index of each row of a table holding the attributes' columns; other columns are ignored.

        A row is dropped (-1) when any of its values is; `missing`, `outside` and `unread` are rows with such a value.
        """
        parts = self.encode_each(frame)
        some = [np.any([getattr(part, what) for part in parts], axis=0) for what in ("missing", "outside", "unread")]
        return Encoding(self.join([part.codes for part in parts]), *some)

    def encode_each(self, frame: pd.DataFrame, weights: np.ndarray | None = None) -> tuple[Encoding, ...]:
        """Each attribute of the rows on its own; (rows,) weights say how many people a row stands for."""
        absent = [attribute.name for attribute in self.attributes if attribute.name not in frame.columns]
        if absent:
            raise ValueError(f"the table lacks the column {quote_examples(absent)}: choose one that has it.")
        return tuple(attribute.encode(frame[attribute.name], weights) for attribute in self.attributes)

    def join(self, codes: list[np.ndarray]) -> np.ndarray:
        """(rows,) type indices from the (rows,) codes of each attribute; -1 where any of them is. ValueError past 2^62 types."""
        if self.size > _LARGEST_INDEX:
            raise ValueError(
                f"{magnitude(self.size)} types have no numbers of their own here: use the codes of each attribute."
            )
        dropped = np.any([part < 0 for part in codes], axis=0)
        index = np.ravel_multi_index([np.where(dropped, 0, part) for part in codes], self.shape).astype(np.int64)
        index[dropped] = -1
        return index

    def decode(self, indices: np.ndarray) -> pd.DataFrame:
        """A table of labels, a column per attribute; ValueError for an index outside 0..size-1."""
        names = [attribute.name for attribute in self.attributes]
        return pd.DataFrame(dict(zip(names, self._decoded(indices), strict=True)), dtype=object)

    def _decoded(self, indices: np.ndarray) -> list[list[str]]:
        """The labels of each attribute. Without a table, which takes longer to make than a few labels."""
        parts = np.unravel_index(checked_indices(indices, self.size), self.shape)
        return [attribute.decode(part) for attribute, part in zip(self.attributes, parts, strict=True)]
