"""How many people have each value on each day."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ldp_core.workloads.axes import Axis, yes_of
from ldp_core.workloads.combined_part import CombinedPart


class DaysPart(CombinedPart):
    """How many people have each value on each day; of two values, that which stands for yes."""

    kind: Literal["days"] = "days"
    _kinds = ("course",)
    _about = "{} on each day"

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        values = range(len(made.parts)) if len(made.parts) != 2 else [yes_of(made.parts)]
        pairs = [(value, day) for value in values for day in range(made.days)]
        rows = [made.members[:, day] == value for value, day in pairs]
        return np.array(rows), [f"{axis.name} {made.parts[value]} on {made.items[day]}" for value, day in pairs]
