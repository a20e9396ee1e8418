"""Sets of attributes: which of them others hold."""

from __future__ import annotations

from collections.abc import Iterable

from ldp_core.anova import Set
from ldp_core.workloads import Survey, Workload

NO_SURVEY = "It is for surveys, where questions are about a few of several columns at a time."
"""Why mechanisms that are for surveys only do not answer other workloads."""


class Holding:
    """Finds the sets of attributes that hold given attributes."""

    def __init__(self, sets: Iterable[Set]):
        self._all = dict.fromkeys(sets)
        self._with: dict[int, list[Set]] = {}
        for members in self._all:
            for i in members:
                self._with.setdefault(i, []).append(members)

    def every(self, wanted: Set) -> list[Set]:
        """All sets that hold ``wanted`` (not empty)."""
        candidates = min((self._with.get(i, []) for i in wanted), key=len)
        return [members for members in candidates if set(wanted) <= set(members)]


def maximal_sets(survey: Survey) -> tuple[Set, ...]:
    """The sets of attributes that a survey asks about, without those that another one holds and without attributes of one value.
    ValueError where none is left."""
    asked = {tuple(i for i in group.attributes if survey.shape[i] > 1) for group in survey.groups} - {()}
    if not asked:
        raise ValueError("All attributes asked about have only one value: there is nothing to find out.")
    return without_held(asked)


def without_held(sets: Iterable[Set]) -> tuple[Set, ...]:
    """``sets`` in order, without those that another one holds."""
    different = set(sets)
    held, longest = Holding(different), max(map(len, different))
    return tuple(
        sorted(members for members in different if len(members) == longest or held.every(members) == [members])
    )


def only_survey(workload: Workload) -> Survey:
    """``workload``, a survey, or a ValueError."""
    if workload.survey is None:
        raise ValueError(f"{NO_SURVEY} Make one with workloads.survey.")
    return workload.survey
