"""How many people rank one item before another."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np

from ldp_core.workloads.axes import Axis
from ldp_core.workloads.combined_part import CombinedPart


class BeforePart(CombinedPart):
    """How many people rank the first item of each pair before the second."""

    kind: Literal["before"] = "before"
    _kinds = ("ranking",)
    _about = "Which of two items of {} comes before the other"

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        pairs = list(combinations(range(len(made.items)), 2))
        before = [made.members[:, a] < made.members[:, b] for a, b in pairs]
        return np.array(before), [f"{axis.name} {made.items[a]} before {made.items[b]}" for a, b in pairs]
