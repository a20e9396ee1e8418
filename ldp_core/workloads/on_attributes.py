"""Queries about some of the attributes of a larger domain; the others are summed out and cost nothing more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from types import EllipsisType

import numpy as np

from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import OnOtherTypes, padded
from ldp_core.workloads.symmetry import SymmetryGroup


class OnAttributes(OnOtherTypes):
    """The queries of ``base``, about the attributes ``kept`` (in the order of the types of ``base``) of types in a
    table of ``shape``: W is that of ``base`` where a type is replaced by its values of those attributes.

    ``used``: how many leading values of each kept attribute ``base`` is about (all by default); no query counts the
    others, such as "(missing)" where queries go along an order.
    """

    kind = "on_attributes"
    title = "On some attributes"
    meaning = "Queries about some of the attributes, whatever the others are."
    recipe = ("shape", "kept", "used", "base")

    def __init__(
        self, shape: Sequence[int], kept: Sequence[int], base: Workload, used: Sequence[int] | None = None
    ) -> None:
        self.shape, self.kept = tuple(map(int, shape)), tuple(map(int, kept))
        super().__init__(math.prod(self.shape))
        if len(set(self.kept)) < len(self.kept) or not set(self.kept) <= set(range(len(self.shape))):
            raise ValueError(
                f"The attributes kept must be different ones, from 0 to {len(self.shape) - 1}; got {list(kept)}."
            )
        sizes = tuple(self.shape[i] for i in self.kept)
        self.used = sizes if used is None else tuple(map(int, used))
        if len(self.used) != len(sizes) or any(not 1 <= u <= s for u, s in zip(self.used, sizes, strict=True)):
            raise ValueError(f"The values used of attributes of {list(sizes)} values cannot be {list(self.used)}.")
        if math.prod(self.used) != base.n:
            raise ValueError(
                f"The queries are about {base.n:,} types, the attributes kept have {math.prod(self.used):,}."
            )
        self._within: tuple[EllipsisType | slice, ...] = (..., *map(slice, self.used))
        self.base, self.title, self.meaning = base, base.title, base.meaning

    def among(self, attributes: Sequence[int]) -> Workload:
        """The same queries about types in a table of these ``attributes`` alone, in this order: all
        that are kept, or more."""
        shape = tuple(self.shape[i] for i in attributes)
        kept = [i for i in self.kept if i in attributes]  # those left out have a single value
        if kept == list(attributes) and self.base.n == math.prod(shape):
            return self.base
        used = [size for i, size in zip(self.kept, self.used, strict=True) if i in attributes]
        return OnAttributes(shape, [attributes.index(i) for i in kept], self.base, used)

    @cached_property
    def _known_symmetry(self) -> SymmetryGroup:
        group = self.base.symmetry_group
        same = dict.fromkeys(range(len(self.shape)), True)
        for i, kept in enumerate(self.kept):
            fits = tuple(size for size, _ in group.shifts) == self.used and group.shifts[i][1]
            same[kept] = self.used[i] == self.shape[kept] and (fits or group.kind == "exchangeable")
        return self._seen(tuple(zip(self.shape, same.values(), strict=True)))

    def _folded(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        batch = x.ndim - 1
        others = tuple(batch + i for i in range(len(self.shape)) if i not in self.kept)
        table = x.reshape(*x.shape[:-1], *self.shape).sum(axis=others)
        increasing = sorted(self.kept)
        table = table.transpose(*range(batch), *(batch + increasing.index(i) for i in self.kept))
        return table[self._within].reshape(*x.shape[:-1], -1)

    def _unfolded(self, y: np.ndarray) -> np.ndarray:
        batch = y.shape[:-1]
        table = np.zeros((*batch, *(self.shape[i] for i in self.kept)))
        table[self._within] = y.reshape(*batch, *self.used)
        table = table.transpose(*range(len(batch)), *(len(batch) + self.kept.index(i) for i in sorted(self.kept)))
        others = tuple(len(batch) + i for i in range(len(self.shape)) if i not in self.kept)
        spread = np.broadcast_to(np.expand_dims(table, others), (*batch, *self.shape))
        return np.require(spread.reshape(*batch, self.n), requirements=["W"])

    @property
    def gram_column(self) -> np.ndarray:
        return self._unfolded(self.base.gram_column)  # type 0 has the first, used, value of every attribute

    def singular_values(self) -> np.ndarray:
        alike = self.n // math.prod(self.shape[i] for i in self.kept)
        return padded(math.sqrt(alike) * self.base.singular_values(), self)
