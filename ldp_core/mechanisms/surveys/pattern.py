"""Patterns: what a report of a survey mechanism shows of a person, before it is scrambled.

A pattern is a set T of the cells of a table over the attributes B. A report holds the image S of T under independent uniformly
random permutations of the values of every attribute in B, and is e^epsilon times as likely where the person's cell lies in S.
With P_A the projection onto the functions that vary with exactly the attributes in A, s the share of the cells that T holds and
D = e^epsilon - 1, the reports add to the information on A the Fourier weight (this project)

    e_A(T) = D^2 |P_A 1_T|^2 / (n_B (1 + D s)^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, pairwise, product

import numpy as np

from ldp_core import anova
from ldp_core.privacy import exp_epsilon


@dataclass(frozen=True, eq=False)
class Pattern:
    """The ``cells`` T of the table over some ``attributes``, increasing numbers from 0: booleans, with an axis for each attribute,
    as long as it has values. Neither none nor all of the cells are in T.

    Patterns of many sets of attributes may share one array: it is made read-only. Raises ValueError for anything else.
    """

    attributes: tuple[int, ...]
    cells: np.ndarray

    def __post_init__(self) -> None:
        attributes = tuple(int(i) for i in self.attributes)
        if not attributes or min(attributes) < 0 or any(a >= b for a, b in pairwise(attributes)):
            raise ValueError(f"A pattern needs attributes in increasing order, numbered from 0; got {self.attributes}.")
        cells = np.asarray(self.cells)
        if cells.dtype != bool or cells.ndim != len(attributes):
            raise ValueError(
                f"The cells of a pattern on {len(attributes)} attributes are booleans with as many axes; got {cells.dtype} with "
                f"{cells.ndim} axes."
            )
        if not cells.any() or cells.all():
            raise ValueError("A pattern needs cells inside and outside: others say nothing about the person.")
        cells.flags.writeable = False
        object.__setattr__(self, "attributes", attributes)
        object.__setattr__(self, "cells", cells)

    @property
    def share(self) -> float:
        """s: the share of the cells that are inside."""
        return float(self.cells.mean())

    def fourier_weights(self, epsilon: float) -> dict[tuple[int, ...], float]:
        """{A: e_A(T)} for all non-empty sets A of the attributes."""
        weights = fourier_weights(self.cells[None], epsilon)[0]
        members = product((False, True), repeat=len(self.attributes))
        return {
            tuple(compress(self.attributes, chosen)): float(fourier_weight)
            for chosen, fourier_weight in zip(members, weights, strict=True)
            if any(chosen)
        }


def fourier_weights(cells: np.ndarray, epsilon: float) -> np.ndarray:
    """(r, 2^k) Fourier weights e_A of ``cells`` (r, n_1, ..., n_k), sets A numbered with a binary digit per axis, the last one lowest; the
    empty set has 0."""
    difference = exp_epsilon(epsilon) - 1
    count = cells[0].size
    shares = np.count_nonzero(cells.reshape(len(cells), -1), axis=1) / count
    weights = anova.squared_norms(cells)
    weights *= (difference**2 / (count * (1 + difference * shares) ** 2))[:, None]
    weights[:, 0] = 0.0
    return weights
