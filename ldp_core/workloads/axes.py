"""Attributes as workloads see them: names, labels, perhaps an order and edges of bins, and how queries about them read.

Workloads stand below tables and domains in the order of imports, so attributes are read by what they have (`Axis.of`).
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, SupportsInt, overload

import numpy as np

LISTED_TYPES = 2**16
"""Attributes of bins or dates with more types than this make their labels on demand: there may be millions."""

YES = {"yes", "y", "true", "1", "ja", "oui", "sí", "si", "sì", "sim"}
"""Where a column has two values, its share is that of a value with one of these names, else that of the second."""

_BIN = re.compile(r"\[(.+), (.+)([)\]])")
_START = re.compile(r"\[?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


class _Labels(Sequence[str]):
    """The labels of the first ``size`` types of an attribute, made as they are asked for."""

    def __init__(self, attribute: Any, size: int):
        self._attribute, self._size = attribute, size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return tuple(self._attribute.decode(np.arange(self._size)[i]))
        return self._attribute.decode(np.array([range(self._size)[i]]))[0]

    def first(self, k: int) -> _Labels:
        return _Labels(self._attribute, k)


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute of the types.

    Attributes:
        name: what the attribute is called. labels: of its types, the ordinary ones first. ordinary: number of ordinary
        types; those after them, such as "(other)" and "(missing)", have no place in the order. ordered: whether "up to"
        and "between" mean something. edges: of numeric bins [e_i, e_(i+1)), the last one closed; none where types are
        not bins. integer: the bins hold whole numbers only. known: the collector knows the value of everybody already.
        secret: which types are secret, None where all are. combined: an attribute whose types are combinations, with its kind,
        items and members (see `ldp_core.data.domain.combinations`).
    """

    name: str
    labels: Sequence[str]
    ordinary: int
    ordered: bool = False
    edges: Sequence[float] | np.ndarray = ()
    integer: bool = False
    known: bool = False
    secret: tuple[bool, ...] | None = None
    combined: Any = None

    @classmethod
    def of(cls, attribute: Any) -> Axis:
        """An `Axis` as it is, or what an attribute of a `Domain` says about itself."""
        if isinstance(attribute, cls):
            return attribute
        size = attribute.size
        return cls(
            attribute.name,
            tuple(attribute.labels)
            if size <= LISTED_TYPES or hasattr(attribute, "values")
            else _Labels(attribute, size),
            size - attribute.special,
            bool(attribute.in_order),
            getattr(attribute, "edges", ()),
            bool(getattr(attribute, "integer", False)),
            bool(getattr(attribute, "known", False)),
            getattr(attribute, "secret_types", None),
            attribute if hasattr(attribute, "members") else None,
        )

    @property
    def size(self) -> int:
        """Number of types."""
        return len(self.labels)

    def first(self, k: int) -> Axis:
        """The axis of the first ``k`` types only."""
        labels = self.labels.first(k) if isinstance(self.labels, _Labels) else self.labels[:k]
        return replace(self, labels=labels, ordinary=min(k, self.ordinary))

    def find(self, label: str) -> int | None:
        """The type that has this label, None where there is none."""
        if not isinstance(self.labels, _Labels):
            return self._by_label.get(label)
        if not len(self.edges):  # labels of dates sort as their periods do
            i = bisect.bisect_left(self.labels, label, 0, self.ordinary)
            near = [i]
        else:  # a label rounds the left edge of its bin by far less than a bin
            start = _START.match(label)
            i = int(np.searchsorted(self.edges, float(start[1]), side="right")) - 1 if start else 0
            near = [i - 1, i, i + 1]
        near += range(self.ordinary, self.size)
        return next((i for i in near if 0 <= i < self.size and self.labels[i] == label), None)

    @cached_property
    def _by_label(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def whole_bin(self, i: int) -> tuple[int, int]:
        """First and last whole number in bin i, where bins hold whole numbers."""
        right = self.edges[i + 1]
        return math.ceil(self.edges[i]), math.floor(right) if i == len(self.edges) - 2 else math.ceil(right) - 1

    @cached_property
    def decimals(self) -> int:
        """Digits after the point in labels of bins: a hundredth of the narrowest bin."""
        return max(0, math.ceil(-math.log10(np.diff(self.edges).min())) + 2)

    def at(self, i: int) -> str:
        """Type i: "age 30-39"."""
        return f"{self.name} {self.labels[i]}"

    def up_to(self, i: int) -> str:
        """Types 0 to i: "age up to 39", "weight below 80", "education up to Bachelors"."""
        if self.integer and i < self.ordinary:
            return f"{self.name} up to {self.whole_bin(i)[1]}"
        bin_ = self._bin(i)
        if bin_:
            return f"{self.name} {'below' if bin_[3] == ')' else 'up to'} {bin_[2]}"
        return f"{self.name} up to {self.labels[i]}"

    def between(self, i: int, j: int) -> str:
        """Types i to j: "age 20-39", "weight [60, 80)", "education HS-grad to Bachelors"."""
        if i == j:
            return self.at(i)
        if self.integer and j < self.ordinary:
            dash = " to " if self.whole_bin(0)[0] < 0 else "-"
            return f"{self.name} {self.whole_bin(i)[0]}{dash}{self.whole_bin(j)[1]}"
        first, last = self._bin(i), self._bin(j)
        if first and last:
            return f"{self.name} [{first[1]}, {last[2]}{last[3]}"
        return f"{self.name} {self.labels[i]} to {self.labels[j]}"

    def _bin(self, i: int) -> re.Match | None:
        """Left edge, right edge and closing bracket in the label of a bin of numbers that are not whole."""
        return _BIN.fullmatch(self.labels[i]) if len(self.edges) else None


def yes_of(labels: Sequence[str]) -> int:
    """Which of two labels stands for yes."""
    return next((k for k in (0, 1) if labels[k].casefold() in YES), 1)


def axes_of(attributes: Any) -> tuple[Axis, ...]:
    """The axes of a `Domain`, or of a sequence of its attributes or of axes."""
    return tuple(Axis.of(attribute) for attribute in getattr(attributes, "attributes", attributes))


def cell_name(axes: Sequence[Axis], values: Iterable[SupportsInt]) -> str:
    """Types with the given value on each axis: "age 30-39 and sex female"."""
    return " and ".join(axis.at(int(value)) for axis, value in zip(axes, values, strict=True))
