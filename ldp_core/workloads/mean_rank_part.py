"""The mean rank of each item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ldp_core.people import Tables
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.combined_part import CombinedPart
from ldp_core.workloads.grouped import places_of
from ldp_core.workloads.part import AveragePart
from ldp_core.workloads.units import Unit

RANKS = "ranks"


class MeanRankPart(CombinedPart, AveragePart):
    """The mean rank of each item, 1 for the first, of all people or of those in each group of the attributes ``by``: the unit is a rank."""

    kind: Literal["mean_rank"] = "mean_rank"
    _kinds = ("ranking",)
    _about = "Mean ranks of {}"
    _besides = " of everybody, without other or missing values"
    _names = ("A mean rank", "mean ranks")

    @classmethod
    def fits(cls, axis: Axis) -> bool:
        return super().fits(axis) and axis.ordinary == axis.size

    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        return made.members.T - self._unit(axis).middle, [f"mean rank of {item} in {axis.name}" for item in made.items]

    def _unit(self, axis: Axis) -> Unit:
        many = len(axis.combined.items)
        return Unit(RANKS, 1.0, (many + 1) / 2, many - 1.0, 1.0)

    def measured(self, axes: Sequence[Axis], people: Tables | None) -> tuple[Unit, float]:
        axis = self._axis(axes)
        if people is None:
            return self._unit(axis), 0.0
        counts = people.table((places_of(axes, [self.attribute])[0],))[: axis.ordinary]
        shares = counts / max(1, counts.sum())
        each = shares @ axis.combined.members**2 - (shares @ axis.combined.members) ** 2
        return self._unit(axis), float(np.sqrt(np.maximum(each, 0).mean()))
