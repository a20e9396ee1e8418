"""The differences that a design compares, how many people find one of a size, and which one its people find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import verdicts, wording
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.studies import detection
from ldp_core.workloads import Custom, DifferencePart, Workload, over_attributes
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.shown import shown_queries
from ldp_core.workloads.strata import stratified

MEANING = (
    "The power is the chance to find a difference that is there; the level is the chance to find one where there is none, on either side. "
    "One of the two is as it is, and the other differs from it by that much, whichever of them takes more people. "
    "Sizes are shares of the people of each group, or parts of the range for averages; the chance of who takes part is counted."
)
GROUPS = "the two groups compared"
COLLECTIONS = "two collections (this month's and the next, say)"

OF_EQUAL_SIZE = " (groups of equal size)"
"""What averages of groups are called as questions of a design: a difference of two is one whatever their sizes."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Detection:
    """What is compared ``between`` whom, and the ``names`` (q,) of the answers; ``expected`` are the people of the design."""

    contrasts: detection.Contrasts
    names: list[str]
    between: str
    expected: int

    def table(self, difference: float, power: float, level: float) -> pd.DataFrame:
        """name, users_needed for a ``difference`` (share), and the difference (share) that the people of the design find."""
        found = self.contrasts
        users, least = found.users(difference, power, level), found.difference(self.expected, power, level)
        return pd.DataFrame({"name": self.names, "users_needed": users, "difference": least})

    def in_words(self, table: pd.DataFrame, difference: float, power: float, level: float) -> str:
        """What a `table` of these numbers comes to, by the answer that needs the most people."""
        groups = self.between == GROUPS
        answers = "" if len(table) == 1 else f" in each of {len(table):,} answers"
        needed, most = wording.needed(table["users_needed"].max()), float(table["difference"].max())
        found = f"differences from {wording.points(most)} up" if most < 1 else "no difference, however large"
        return (
            f"{needed} people{'' if groups else ' in each'} find a difference of {wording.points(difference)} between {self.between}{answers}, with "
            f"a power of {wording.share(power)} at the {wording.share(level)} level. "
            f"{wording.plural(self.expected, 'person', 'people')}{'' if groups else ' in each'} find {found}."
        )


def of_design(setting: Setting, mechanism: Mechanism) -> Detection:
    """Differences between known groups where the questions ask for these, else any answer in two collections. ValueError, one sentence,
    where single answers take too long, or a group has no people."""
    if reason := verdicts.too_large(setting.workload):
        raise ValueError(reason)
    compared = _compared(setting)

    found, names = [], []
    for workload, groups in compared or [(setting.workload, list[np.ndarray]())]:
        queries = shown_queries(workload.without_strata)
        given = mechanism, workload, setting.counts, queries
        one = detection.of_groups(*given, groups) if groups else detection.of_collections(*given)
        told = one.spread > _ROUNDING  # others are known without a report
        found.append(one.only(told))
        names += [workload.query_name(int(query), setting.labels) for query in queries[told]]
    if not names:
        raise ValueError("Every answer compared is known without a report, so there is no difference to detect.")
    return Detection(detection.joined(found), names, GROUPS if compared else COLLECTIONS, setting.users)


def _compared(setting: Setting) -> list[tuple[Workload, list[np.ndarray]]]:
    """Of each difference by a known attribute, the question as one of counts, and the types of its two groups."""
    axes, found = axes_of(setting.domain), []
    for part in setting.configuration.parts:
        axis = next((axis for axis in axes if axis.known and axis.name == getattr(part, "attribute", None)), None)
        if axis is not None and isinstance(part, DifferencePart):
            values = np.unravel_index(np.arange(setting.domain.size), [axis.size for axis in axes])[axes.index(axis)]
            if (sides := part.sides(axes)) is None:
                workload = over_attributes([part.model_copy(update={"weight": 1.0})], axes)
            else:  # of shares or averages: the sums in both groups, one less the other
                (one, other), some = sides.sums, shown_queries(sides.sums[0])
                rows = (one.rows(some) - other.rows(some)) / sides.told.scale
                names = [f"{one.query_name(int(query))} less {part.second}" for query in some]
                workload = stratified(Custom(rows, [name.replace(OF_EQUAL_SIZE, "") for name in names]), axes)
            found.append((workload, [values == axis.find(label) for label in (part.first, part.second)]))
    return found
