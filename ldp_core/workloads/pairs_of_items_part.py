"""How many people chose each pair of items together."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np

from ldp_core.workloads.axes import Axis
from ldp_core.workloads.combined_part import CombinedPart


class PairsOfItemsPart(CombinedPart):
    """How many people chose both items of each pair."""

    kind: Literal["pairs_of_items"] = "pairs_of_items"
    _kinds = ("choice",)
    _about = "Pairs of items of {} chosen together"
    _besides = ", two or more at once"

    @classmethod
    def fits(cls, axis: Axis) -> bool:
        return super().fits(axis) and axis.combined.most > 1

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        pairs = list(combinations(range(len(made.items)), 2))
        both = [made.members[:, a] * made.members[:, b] for a, b in pairs]
        return np.array(both), [f"{axis.name} {made.items[a]} and {made.items[b]}" for a, b in pairs]
