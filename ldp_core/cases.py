"""Whose error counts: that of the worst type, or an average over people."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ldp_core.people import People
from ldp_core.workloads import Workload


@dataclass(frozen=True, eq=False)
class Case:
    """Whose error counts: that of users spread over the types like ``prior`` (n,), or of the worst
    type where it is None.

    A profile of one number, as mechanisms for surveys have, is that of the worst type alone; of
    their average see `average_variance`.
    """

    name: str
    prior: np.ndarray | None = field(default=None, repr=False)

    @property
    def uniform(self) -> bool:
        """True if the users are spread evenly, so that the bounds on L hold."""
        return self.prior is not None and bool(np.ptp(self.prior) <= 1e-12 / len(self.prior))

    def variance(self, profile: np.ndarray) -> float:
        """Total variance per user in this case, of a mechanism with the variance profile
        ``profile`` (n,). ValueError where a profile of the worst type alone would have to stand for
        others."""
        if self.prior is None:
            return float(profile.max())
        if len(profile) != len(self.prior):
            raise ValueError(
                f"The errors of {len(self.prior):,} types are not known one by one: ask for the worst case, or for the average by "
                "ldp_core.analysis.average_variance."
            )
        return float(self.prior @ profile)


WORST_CASE = Case("worst_case")
CASES = {
    WORST_CASE.name: "whatever people answer",
    "average": "averaged over people spread evenly over the types",
}
"""Names of the cases that are the same for everyone."""


def cases_of(people: People, workload: Workload | None = None) -> dict[str, Case]:
    """Whose error can count, by name: past `people.MOST_CELLS` types, and for surveys of any size,
    only the worst case: nothing is known type by type there, and what is made for surveys has the
    same error for all. Where the collector knows groups, how many people each of them has can count
    as well."""
    counts, only = people.by_type, {WORST_CASE.name: WORST_CASE}
    if workload is not None and workload.strata is not None and workload.survey is not None:
        return {**only, "people": Case("people", people.table(workload.strata.known) / people.users)}
    if counts is None or (workload is not None and workload.survey is not None):
        return only
    return {**only, "average": average_case(len(counts)), "people": Case("people", counts / people.users)}


def only_case(people: People, workload: Workload) -> str:
    """Why there is one case only, in a sentence; empty where there are several."""
    if len(cases_of(people, workload)) > 1:
        return ""
    if workload.survey is not None and workload.survey.symmetric:
        return (
            "What is optimised for makes no difference here: the questions, and mechanisms for surveys, treat all values of a column alike, so "
            "that the worst case, the average and your people are one."
        )
    if workload.survey is not None:
        return (
            "The worst case counts here. Questions that follow an order or single out values have errors that differ from one combination of "
            "values to another, and surveys have too many combinations to compute them all."
        )
    return (
        "The worst case counts here: there are too many combinations of values to know the error of each, and so no average "
        "of them is known."
    )


def average_case(n: int) -> Case:
    """Users spread evenly over ``n`` types."""
    return Case("average", np.full(n, 1 / n))
