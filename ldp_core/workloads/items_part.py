"""How many people chose each item, or rank it first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ldp_core.workloads.axes import Axis
from ldp_core.workloads.combined_part import CombinedPart


class ItemsPart(CombinedPart):
    """How many people chose each item; of a ranking, how many rank it first."""

    kind: Literal["items"] = "items"
    _kinds = ("choice", "ranking")
    _about = "Each item of {}"

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        first = " first" if made.kind == "ranking" else ""
        return made.members.T == 1, [f"{axis.name} {item}{first}" for item in made.items]


class NumberOfItemsPart(CombinedPart):
    """How many people chose no item, one, two, and so on."""

    kind: Literal["number_of_items"] = "number_of_items"
    _kinds = ("choice",)
    _about = "How many items of {} were chosen"

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        numbers: Sequence[int] = range(made.most + 1)
        rows = made.members.sum(axis=1) == np.array(numbers)[:, None]
        return rows, [f"{axis.name} {number} chosen" for number in numbers]
