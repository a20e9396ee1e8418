"""The differences that a design compares, how many people find one of a size, and which one its people find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import verdicts, wording
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.studies import detection
from ldp_core.workloads import DifferencePart, Union
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.shown import shown_queries

MEANING = (
    "The power is the chance to find a difference that is there; the level is the chance to find one where there is none, on either side. "
    "Sizes are shares of the people of each group, or parts of the range for averages; the chance of who takes part is counted."
)
GROUPS = "two groups, as your questions compare them"
COLLECTIONS = "two collections, such as this month's and the next"


@dataclass(frozen=True)
class Detection:
    """What is compared ``between`` whom, and the ``names`` (q,) of the answers; ``expected`` are the people of the design."""

    contrasts: detection.Contrasts
    names: list[str]
    between: str
    expected: int

    def table(self, difference: float, power: float, level: float) -> pd.DataFrame:
        """query, name, users_needed for a ``difference`` (share), and the difference (share) that the people of the design find."""
        found = self.contrasts
        return pd.DataFrame(
            {
                "query": found.queries,
                "name": self.names,
                "users_needed": found.users(difference, power, level),
                "difference": found.difference(self.expected, power, level),
            }
        )

    def in_words(self, table: pd.DataFrame, difference: float, power: float, level: float) -> str:
        """What a `table` of these numbers comes to, by the answer that needs the most people."""
        answers = "" if len(table) == 1 else f" in any of {len(table):,} answers"
        whose, most = " in all" if self.between == GROUPS else " in each", float(table["difference"].max())
        least = f"the least is {wording.points(most)}" if most < 1 else "no difference is large enough"
        return (
            f"A difference of {wording.points(difference)} between {self.between}, is found{answers} with a power of {wording.share(power)} at the "
            f"{wording.share(level)} level by {wording.needed(table['users_needed'].max())} people{whose}. "
            f"With {wording.plural(self.expected, 'person', 'people')}{whose}, {least}."
        )


def of_design(setting: Setting, mechanism: Mechanism) -> Detection:
    """Differences between known groups where the questions ask for these, else any answer in two collections. ValueError, one sentence,
    where single answers take too long, or a group has no people."""
    workload = setting.workload
    if reason := verdicts.too_large(workload):
        raise ValueError(reason)
    chosen, counts = shown_queries(workload.without_strata), setting.counts
    parts = [] if workload.strata is None else _compared(setting, chosen)
    key = ("detection", mechanism.digest, workload.digest, setting.people_digest, setting.naming)
    found = setting.results.cached(
        key,
        lambda: (
            detection.joined([detection.of_groups(mechanism, workload, counts, *part) for part in parts])
            if parts
            else detection.of_collections(mechanism, workload, counts, chosen)
        ),
    )
    names = [workload.query_name(int(query), setting.labels) for query in found.queries]
    return Detection(found, names, GROUPS if parts else COLLECTIONS, setting.users)


def _compared(setting: Setting, chosen: np.ndarray) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Of each difference by a known attribute, those of the ``chosen`` queries that ask for it, and the types of its two groups."""
    recipe, whole, axes = setting.configuration.workload, setting.workload.without_strata, axes_of(setting.domain)
    if recipe is None:
        return []
    ends = whole.offsets[1:] if isinstance(whole, Union) else np.array([whole.num_queries])
    owner = np.searchsorted(ends, chosen, side="right")
    values = np.unravel_index(np.arange(whole.n), [axis.size for axis in axes])
    found = []
    for i, part in enumerate(recipe.parts):
        asked = chosen[owner == i]
        if isinstance(part, DifferencePart) and len(asked):
            place = [axis.name for axis in axes].index(part.attribute)
            if axes[place].known:
                found.append((asked, [values[place] == axes[place].find(label) for label in (part.first, part.second)]))
    return found
