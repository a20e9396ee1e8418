"""What a collected survey says: tables over the sets of attributes that were asked about, and no counts of all types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core import anova
from ldp_core.mechanisms.base import Estimate
from ldp_core.people import People, people_of
from ldp_core.workloads import Survey, Workload


@dataclass(frozen=True, kw_only=True, repr=False)
class SurveyEstimate(Estimate):
    """Estimated counts by sets of attributes, a `ldp_core.people.Tables`.

    ``tables`` {set of attributes, in increasing order: (n_B,) estimated counts of the combinations of their values}; the table
    of fewer attributes is a sum of one of these. Attributes with one value are left out.
    """

    sizes: tuple[int, ...]
    users: int
    tables: Mapping[anova.Set, np.ndarray]

    @classmethod
    def of(cls, sizes: Sequence[int], users: int, tables: Mapping[anova.Set, np.ndarray]) -> SurveyEstimate:
        """Unbiased estimates from ``users`` reports."""
        return cls(np.zeros(0), True, identified=False, sizes=tuple(sizes), users=users, tables=tables)

    @property
    def total(self) -> float:
        """N, which is known."""
        return float(self.users)

    @cached_property
    def _held(self) -> Holding:
        return Holding(self.tables)

    def table(self, attributes: Sequence[int]) -> np.ndarray:
        """(cells,) estimated users by the values of the attributes at these places, in row-major order of the places as given.
        ValueError where no set asked about holds them."""
        places = [i for i in map(int, attributes) if self.sizes[i] > 1]
        if not places:
            return np.array([float(self.users)])
        wanted = tuple(sorted(places))
        owner = self._held.first(wanted)
        if owner is None:
            raise ValueError(f"Reports say nothing about attributes {list(attributes)} (from 0) together.")
        table = self.tables[owner]
        if owner == tuple(places):
            return table
        shaped = table.reshape([self.sizes[i] for i in owner])
        summed = shaped.sum(axis=tuple(k for k, i in enumerate(owner) if i not in wanted))
        return summed.transpose([wanted.index(i) for i in places]).ravel()

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) estimated answers in users, or those of the given query indices. ValueError for anything but a survey."""
        return self._checked(workload).answers(self, queries)

    def fitted(self, workload: Workload) -> np.ndarray:
        raise ValueError("A survey estimates tables of a few attributes, not the counts of all types.")

    def squared_error(self, workload: Workload, counts: np.ndarray | People) -> float:
        """Squared error summed over all queries (squared users); ``counts`` are people, counts of all types, or records."""
        return self._checked(workload).squared_distance(self, people_of(counts, self.sizes))

    def _checked(self, workload: Workload) -> Survey:
        if not isinstance(workload, Survey) or workload.shape != self.sizes:
            raise ValueError(f"The estimate answers surveys over attributes of sizes {list(self.sizes)} only.")
        return workload

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.tables):,} sets of attributes, {self.users:,} users, unbiased>"


class Holding:
    """Which of some sets of attributes hold the ones that are wanted."""

    def __init__(self, sets: Iterable[anova.Set]):
        self._with: dict[int, list[anova.Set]] = {}
        self._all = dict.fromkeys(sets)
        for one in self._all:
            for i in one:
                self._with.setdefault(i, []).append(one)

    def every(self, wanted: anova.Set) -> list[anova.Set]:
        """All sets that hold ``wanted`` (not empty), in their order."""
        candidates = min((self._with.get(i, []) for i in wanted), key=len)
        return [one for one in candidates if set(wanted) <= set(one)]

    def first(self, wanted: anova.Set) -> anova.Set | None:
        """``wanted`` itself where it is one of the sets, else the first that holds it, None where there is none."""
        return wanted if wanted in self._all else next(iter(self.every(wanted)), None)


def maximal_sets(survey: Survey) -> tuple[anova.Set, ...]:
    """The sets of attributes that a survey asks about, without those that another one holds and without attributes of one value."""
    asked = {tuple(i for i in group.attributes if survey.shape[i] > 1) for group in survey.groups} - {()}
    held = Holding(asked)
    longest = max(map(len, asked), default=0)
    return tuple(sorted(one for one in asked if len(one) == longest or held.every(one) == [one]))


def combined(
    tables: Mapping[anova.Set, np.ndarray], weights: Mapping[anova.Set, float], sizes: Sequence[int], users: float
) -> dict[anova.Set, np.ndarray]:
    """``tables`` made consistent: each component of what they share is the mean of theirs, by ``weights``, and the total ``users``.

    Where every table is unbiased with errors alike in all its components and independent of the others', weights in proportion to
    one over the variance make it the optimal linear reconstruction.
    """
    sums: dict[anova.Set, np.ndarray] = {}
    totals: dict[anova.Set, float] = {}
    for members, table in tables.items():
        shaped = table.reshape([sizes[i] for i in members])
        for within in anova.subsets(range(len(members))):
            if within:
                found = tuple(members[i] for i in within)
                rest = math.prod(sizes[i] for i in members) // math.prod(sizes[i] for i in found)
                part = weights[members] * rest * anova.component(shaped, within)
                sums[found] = sums[found] + part if found in sums else part
                totals[found] = totals.get(found, 0.0) + weights[members]
    result = {}
    for members in tables:
        cells = math.prod(sizes[i] for i in members)
        table = np.full([sizes[i] for i in members], users / cells)
        for found in anova.subsets(members):
            if found:
                spread = sums[found].reshape([sizes[i] if i in found else 1 for i in members])
                table += spread * (spread.size / cells / totals[found])
        result[members] = table.ravel()
    return result
