"""Tables of overlapping sets of attributes, each from reports of its own, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate, FittedEstimate


@dataclass(frozen=True, repr=False)
class OwnEstimate(FittedEstimate):
    """Each table from the reports on its own set: what two of them have in common need not agree."""

    adds_up: ClassVar[bool] = False
    weights: dict[Set, float] = field(kw_only=True)

    def consistent(self, users: float) -> ComponentEstimate:
        """The optimal linear reconstruction from the same tables, which is still unbiased."""
        components = combined(self.tables, self.weights, self.sizes)
        return ComponentEstimate(unbiased=True, sizes=self.sizes, users=users, components=components)


def combined(
    tables: Mapping[Set, np.ndarray], weights: Mapping[Set, float], sizes: Sequence[int]
) -> dict[Set, np.ndarray]:
    """{A: component A, in users} that ``tables`` have in common, as the mean of theirs by ``weights``.

    Suppose that every table is unbiased, with equal errors in all its components, independent of
    those of other tables. Weights in proportion to one over the variance then make it the optimal
    linear reconstruction.
    """
    sums: dict[Set, np.ndarray] = {}
    totals: dict[Set, float] = {}
    for members, table in tables.items():
        shaped = table.reshape([sizes[i] for i in members])
        for within in anova.subsets(range(len(members))):
            if within:
                members_within = tuple(members[i] for i in within)
                part = anova.component(shaped, within)
                part *= weights[members] * (shaped.size // part.size)  # a sum over the others, where it was a mean
                sums[members_within] = sums[members_within] + part if members_within in sums else part
                totals[members_within] = totals.get(members_within, 0.0) + weights[members]
    return {members: part / totals[members] for members, part in sums.items()}


def components(tables: np.ndarray) -> dict[Set, np.ndarray]:
    """{A: P_A f} of ``tables`` f (q, n_1, ..., n_k), each with axes of length 1 for attributes (numbered from 0) outside A."""
    components: dict[Set, np.ndarray] = {(): tables}
    for axis in range(tables.ndim - 1):
        split: dict[Set, np.ndarray] = {}
        for members, part in components.items():
            mean = part.mean(axis=axis + 1, keepdims=True)
            split[members], split[(*members, axis)] = mean, part - mean
        components = split
    return components
