"""The common part of questions about attributes whose values are combinations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.grouped import placed, places_of
from ldp_core.workloads.part import Name, Part

COMBINED = {"choice": "several items chosen", "ranking": "a ranking", "course": "the course of several days"}
"""What the kinds of combined attributes are, in words."""


class CombinedPart(Part):
    """A question about the attribute ``attribute``, of a kind that the question fits: people with other or missing values count nowhere."""

    kind: str
    attribute: Name
    _kinds: ClassVar[tuple[str, ...]]
    _about: ClassVar[str]
    _besides: ClassVar[str] = ""
    """What else `fits` asks of the attribute, in words."""

    @property
    def _summary(self) -> str:
        return self._about.format(self.attribute)

    @classmethod
    def fits(cls, axis: Axis) -> bool:
        """True if this can be asked about an attribute."""
        return axis.combined is not None and axis.combined.kind in cls._kinds

    def _axis(self, axes: Sequence[Axis]) -> Axis:
        axis = axes[places_of(axes, [self.attribute])[0]]
        if not self.fits(axis):
            wanted = " or ".join(COMBINED[kind] for kind in self._kinds)
            raise ValueError(
                f"{shortened(self.attribute)} is not {wanted}{self._besides}; choose an attribute that is, or ask for its histogram."
            )
        return axis

    @abstractmethod
    def _rows(self, axis: Axis, made: Any) -> tuple[np.ndarray, list[str]]:
        """(p, combinations) the queries on what the attribute is ``made`` of, and their names."""

    def _build(self, axes: Sequence[Axis]) -> Workload:
        axis = self._axis(axes)
        rows, names = self._rows(axis, axis.combined)
        rows = np.pad(rows.astype(float), ((0, 0), (0, axis.size - axis.ordinary)))
        return placed(axes, places_of(axes, [self.attribute]), Custom(rows, names))
