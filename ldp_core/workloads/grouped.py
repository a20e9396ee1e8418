"""Questions within groups of people: each once for every group, or as the difference of two groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ldp_core import wording
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import nearest, shortened
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram


class Grouped(Product):
    """Every query of the first factor within each group, or in each comparison of groups, that the others are about."""

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        name, indices = "", [int(q[0]) for q in self._located(np.array([query]))]
        for factor, q in zip(self.factors, indices, strict=True):
            name += ("" if not name else ", " if isinstance(factor, Custom) else " and ") + factor.query_name(q)
        return name


def places_of(axes: Sequence[Axis], names: Sequence[str]) -> list[int]:
    """The places of the named attributes. ValueError for an attribute that does not exist, is named
    twice, or has one type only."""
    places = {axis.name: i for i, axis in enumerate(axes)}
    for name in names:
        if name not in places:
            known = nearest(name, list(places), "the attributes are")
            raise ValueError(f"The domain has no attribute {shortened(name)}; {known}")
        if axes[places[name]].size < 2:
            raise ValueError(f"{shortened(name)} has one type only, so there is nothing to ask about it; leave it out.")
    if len(set(names)) < len(names):
        named = wording.shortened(", ".join(map(shortened, names)), 300)
        raise ValueError(f"An attribute is named twice: {named}; name each once.")
    return [places[name] for name in names]


def two_values(axis: Axis, first: str, second: str) -> tuple[int, int]:
    """The types with two labels that are compared. ValueError where these are not two of them."""
    one, other = axis.find(first), axis.find(second)
    if one is None or other is None or one == other:
        raise ValueError(
            f"A difference compares two values of {shortened(axis.name)}; {shortened(first)} and {shortened(second)} are not two of them."
        )
    return one, other


def placed(axes: Sequence[Axis], places: Sequence[int], base: Workload, used: Sequence[int] | None = None) -> Workload:
    """``base`` on its attributes, the others summed out."""
    left_out = math.prod(axes[i].size for i in set(range(len(axes))) - set(places))
    if used is None and left_out == 1 and all(a < b for a, b in pairwise(places)):
        return base
    return OnAttributes([axis.size for axis in axes], places, base, used)


def within(base: Workload, axes: Sequence[Axis], groups: Sequence[int], of_groups: Sequence[Workload]) -> Workload:
    """The queries ``base``, about the other ``axes`` in their order, in each query that ``of_groups`` ask about the attributes
    at the places ``groups``."""
    others = [i for i in range(len(axes)) if i not in groups]
    if isinstance(base, Union):
        return Union([within(part, axes, groups, of_groups) for part in base.parts], base.weights)
    if isinstance(base, OnAttributes) and base.shape == tuple(axes[i].size for i in others):
        others, used, base = [others[k] for k in base.kept], base.used, base.base
    else:
        used = tuple(axes[i].size for i in others)
    whole = used == tuple(axes[i].size for i in others)
    sizes = None if whole else [*used, *(axes[i].size for i in groups)]
    factors = [*(base.factors if isinstance(base, Grouped) else (base,)), *of_groups]
    if all(isinstance(factor, Histogram) for factor in factors):
        named = [axis for factor in factors for axis in factor.axes or [axes[i] for i in others]]  # of a list of types
        return placed(axes, [*others, *groups], Histogram(math.prod(factor.n for factor in factors), named), sizes)
    return placed(axes, [*others, *groups], Grouped(factors), sizes)


def by_groups(base: Workload, axes: Sequence[Axis], groups: Sequence[int]) -> Workload:
    """The queries ``base``, about the other ``axes``, within each group of the attributes at the places ``groups``."""
    return within(base, axes, groups, [Histogram(axes[i].size, [axes[i]]) for i in groups])
