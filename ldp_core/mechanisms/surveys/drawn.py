"""Surveys in which each person draws one of several tables, or patterns, whatever their values are,
and reports about that alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ldp_core.anova import Set
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.parts import InParts, drawn
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.people import records_of


class DrawnSets(InParts, SurveyMechanism):
    """Part k, drawn with the probability ``shares[k]``, is about the cell of the table of
    ``sets[k]``; parts past these about whole records."""

    sets: tuple[Set, ...]
    shares: np.ndarray

    @property
    def table_reports(self) -> Sequence[tuple[Set, float, Mechanism]]:
        return list(zip(self.sets, self.shares.tolist(), self.parts, strict=False))

    def _taken(self, k: int, records: np.ndarray) -> np.ndarray:
        """What the mechanism of a part takes of people with ``records`` (users, d)."""
        return self._cells_of(records, self.sets[k]) if k < len(self.sets) else records

    def _assigned(
        self, people: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, Callable[[int, np.ndarray], np.ndarray]]:
        records = records_of(people, self.sizes)
        return drawn(len(records), self.shares, rng), lambda k, some: self._taken(k, records[some])

    def _type(self, k: int, cell: int) -> int:
        if k == len(self.sets):
            return cell
        places = np.unravel_index(cell, self._shape_of(self.sets[k]))
        return sum(int(place) * math.prod(self.sizes[i + 1 :]) for i, place in zip(self.sets[k], places, strict=True))
