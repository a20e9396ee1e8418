"""Noisy tables as evidence about each component of the joint distribution (`ldp_core.anova`), with
their noise.

White noise of variance s^2 in each cell of a table over B is, in its marginal on A, white noise of variance s^2 n_B / n_A, and
independent between components: what all tables say about one component is their average, weighted by the inverse variances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.anova import Set, component, dimensions, subsets
from ldp_core.people import check_cells


@dataclass(frozen=True, eq=False)
class Evidence:
    """An estimate of the component A of the counts: ``values``, an array of the sizes of A's attributes that sums to zero along
    each axis, and the standard ``deviation`` of its noise in every direction, in users."""

    values: np.ndarray
    deviation: float

    @property
    def dimensions(self) -> float:
        return dimensions(self.values.shape, range(self.values.ndim))

    @property
    def gain(self) -> float:
        """Squared error that is saved by following this estimate rather than zero, in expectation (Mallows' C_p): the signal is
        estimated as |values|^2 less its noise, and following costs the noise."""
        return float(np.sum(self.values**2)) - 2 * self.dimensions * self.deviation**2


def evidence_of(sizes: Sequence[int], tables: Mapping[Sequence[int], tuple[np.ndarray, float]]) -> dict[Set, Evidence]:
    """What ``tables``, {attributes: (users by their values (cells,) row-major, standard deviation of each cell)}, say about every
    component of one attribute or more, the noise of all cells taken as independent. ValueError for tables that do not fit."""
    weighted: dict[Set, np.ndarray] = {}
    weights: dict[Set, float] = {}
    for attributes, (table, deviation) in tables.items():
        places, cells = _checked(sizes, attributes, table, deviation)
        for kept in subsets(places):
            if kept:
                summed = cells.size // math.prod(sizes[i] for i in kept)
                weight = 1 / (deviation**2 * summed)
                cells_kept = component(cells, [places.index(i) for i in kept]) * summed
                weighted[kept] = weighted.get(kept, 0.0) + weight * cells_kept
                weights[kept] = weights.get(kept, 0.0) + weight
    return {kept: Evidence(weighted[kept] / weights[kept], weights[kept] ** -0.5) for kept in weighted}


def _checked(
    sizes: Sequence[int], attributes: Sequence[int], table: np.ndarray, deviation: float
) -> tuple[Set, np.ndarray]:
    """The attributes in increasing order, and the table with an axis for each."""
    given = tuple(map(int, attributes))
    if not given or len(set(given)) < len(given) or not all(0 <= i < len(sizes) for i in given):
        raise ValueError(
            f"A measured table needs one or more different attributes from 0 to {len(sizes) - 1}; got {list(given)}."
        )
    check_cells(sizes, given)
    cells, shape = np.asarray(table, dtype=float), [sizes[i] for i in given]
    if cells.size != math.prod(shape) or not np.isfinite(cells).all():
        raise ValueError(
            f"The table of attributes {list(given)} must have {math.prod(shape):,} finite numbers; got shape {cells.shape}."
        )
    if not (deviation > 0 and math.isfinite(deviation)):
        raise ValueError(
            f"The standard deviation of the table of attributes {list(given)} must be a positive number, not {deviation}."
        )
    order = sorted(range(len(given)), key=given.__getitem__)
    return tuple(sorted(given)), cells.reshape(shape).transpose(order)
