"""Certificates for surveys about attributes of equally many values, by what is known of three records at a time.

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
from ldp_core.privacy import exp_epsilon
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Survey, Workload

MANY = 10
"""A solution takes seconds for more attributes of three values or more."""


@dataclass(frozen=True, repr=False)
class TripleSurveyCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey` about attributes that have equally many values each, or one.
    The proof is ``duals``."""

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
            ratio = self.duals.ratio(self.epsilon, max(self.workload.shape))
        if not 0 < ratio < np.inf:
            return -np.inf
        return bound(self.workload, self.duals.weights[_levels(self.workload) - 1], ratio)


def length(survey: Survey) -> int:
    """How many attributes have two values or more."""
    return sum(size > 1 for size in survey.shape)


def fits(survey: Survey) -> bool:
    """True if the questions are about attributes of equally many values, few enough, and not too
    many of them at once."""
    d, alike = length(survey), len({size for size in survey.shape if size > 1}) == 1
    if not (alike and survey.symmetric and d >= FEWEST_BITS and known_of(d, max(survey.shape))):
        return False
    return bool(0 < _levels(survey).max(initial=0) <= HIGHEST_DEGREE * d)


def promising(survey: Survey, epsilon: float) -> bool:
    """True if proofs for a survey that `fits` may pay for their time. They do not for many
    attributes of three or more values, unless one cell of a table in a question exceeds the best
    share of a set, 1/(E + 1). The closed form is then far from tight."""
    values, d = max(survey.shape), length(survey)
    return values == 2 or d <= MANY or values ** int(_levels(survey).max()) < exp_epsilon(epsilon) + 1


def best(
    survey: Survey, epsilon: float, beyond: float = 0.0, check: Check = unchecked
) -> Iterator[TripleSurveyCertificate]:
    """Ever better certificates for a survey that `fits`, with bounds above ``beyond``."""
    c, value = survey.components, beyond
    worth = np.bincount(_levels(survey) - 1, c.dims * np.sqrt(c.gram), length(survey)) ** 2
    search = TriplesSearch(len(worth), epsilon, worth, check, max(survey.shape))
    for duals in search.rounds(beyond / survey.n - c.constant):
        certificate = TripleSurveyCertificate(survey, epsilon, 0.0, duals)
        certificate = replace(certificate, value=certificate.claim())
        if certificate.value > value:
            value = certificate.value
            yield certificate


def _levels(survey: Survey) -> np.ndarray:
    """How many attributes each set of `Survey.components` holds, one at least."""
    return np.array([len(members) for members in survey.components.sets], dtype=np.int64)
