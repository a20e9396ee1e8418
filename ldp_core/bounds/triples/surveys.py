"""Certificates for surveys about yes-or-no attributes, by what is known of three records at a time.

Weights of sets of attributes depend on how many attributes they hold, which the argument of `ldp_core.bounds.surveys.certificate` allows: the Fourier weight of
all sets of l attributes is at least that of those asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldp_core.bounds.proof import Arrays, Document, Proof
from ldp_core.bounds.surveys.certificate import bound, survey_of, tables_about
from ldp_core.bounds.triples.certificate import FEWEST_BITS, HIGHEST_DEGREE
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.moments import known_of
from ldp_core.bounds.triples.search import TriplesSearch
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Survey, Workload


@dataclass(frozen=True, repr=False)
class TripleSurveyCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey` about yes-or-no attributes (others have
    one value). The proof is ``duals``."""

    proves_by: ClassVar[str] = "inequalities and matrices for three types at a time"

    workload: Survey
    epsilon: float
    value: float
    duals: Duals

    file_kinds = (("tables", "intervals"),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        about = tables_about(self.workload, self._about(epsilon))
        return {**about, "proof": {"intervals": len(self.duals.values)}}, self.duals.to_file()

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> TripleSurveyCertificate:
        return cls(survey_of(workload), epsilon, 0.0, Duals.from_file(data))

    def proven(self) -> float:
        if not fits(self.workload) or np.shape(self.duals.weights) != (length(self.workload),):
            return -np.inf
        with np.errstate(all="ignore"):  # overflow shows as inf or nan, which prove nothing
            ratio = self.duals.ratio(self.epsilon)
        if not 0 < ratio < np.inf:
            return -np.inf
        return bound(self.workload, self.duals.weights[_levels(self.workload) - 1], ratio)


def length(survey: Survey) -> int:
    """How many attributes have two values or more."""
    return sum(size > 1 for size in survey.shape)


def fits(survey: Survey) -> bool:
    """True if the questions are about yes-or-no attributes, few enough, and not too many of them at once."""
    d = length(survey)
    if not (survey.symmetric and max(survey.shape) == 2 and d >= FEWEST_BITS and known_of(d)):
        return False
    return bool(0 < _levels(survey).max(initial=0) <= HIGHEST_DEGREE * d)


def best(
    survey: Survey, epsilon: float, beyond: float = 0.0, check: Check = unchecked
) -> Iterator[TripleSurveyCertificate]:
    """Ever better certificates for a survey that `fits`, with bounds above ``beyond``."""
    c, value = survey.components, beyond
    worth = np.bincount(_levels(survey) - 1, c.dims * np.sqrt(c.gram), length(survey)) ** 2
    search = TriplesSearch(len(worth), epsilon, worth, check)
    for duals in search.rounds(beyond / survey.n - c.constant):
        certificate = TripleSurveyCertificate(survey, epsilon, 0.0, duals)
        certificate = replace(certificate, value=certificate.claim())
        if certificate.value > value:
            value = certificate.value
            yield certificate


def _levels(survey: Survey) -> np.ndarray:
    """How many attributes each set of `Survey.components` holds, one at least."""
    return np.array([len(members) for members in survey.components.sets], dtype=np.int64)
