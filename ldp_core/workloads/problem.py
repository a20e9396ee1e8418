"""The kind of problem that questions pose, found once: it chooses the search for a mechanism, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.workloads.base import Workload, check_workload
from ldp_core.workloads.surveyed import as_tables
from ldp_core.workloads.surveys import Survey

ONE = 1e-9
"""The share of what is asked that may lie outside one direction."""

Kind = Literal["strata", "secret", "alike", "question", "survey", "hamming", "types"]


@dataclass(frozen=True, eq=False)
class Problem:
    """``workload`` for people spread over the types as ``prior`` (n,), None for evenly."""

    workload: Workload
    prior: np.ndarray | None = None

    @classmethod
    def of(cls, workload: Workload, prior: np.ndarray | None = None) -> Problem:
        """ValueError for anything but a workload, weights that are spread too far, and a prior out of range."""
        check_workload(workload)
        if reason := workload.spread_too_far:
            raise ValueError(reason)
        return cls(workload, None if prior is None else check_prior(prior, workload.spread_over))

    @property
    def shares(self) -> np.ndarray:
        """(n,) the prior, written out."""
        n = self.workload.n
        return np.full(n, 1 / n) if self.prior is None else self.prior

    @cached_property
    def kind(self) -> Kind:
        """The first of these: the collector knows attributes ("strata"); only some values are "secret"; all types are "alike"; one real-valued "question"; a "survey", also of
        questions that are best seen as one; yes-or-no attributes are alike ("hamming"); all others go by "types"."""
        if self.workload.strata is not None:
            return "strata"
        if self.workload.all_secret is not self.workload:
            return "secret"
        if self.prior is None and self.workload.symmetry == "exchangeable":
            return "alike"
        if self.along is not None:
            return "question"
        if self.survey is not None:
            return "survey"
        return "hamming" if self.prior is None and self.workload.symmetry == "hamming" else "types"

    @cached_property
    def survey(self) -> Survey | None:
        """The same questions as a `Survey`, where they are one or are best seen as one."""
        return self.workload.survey if self.workload.n <= MOST_FITTED_TYPES else as_tables(self.workload)

    @property
    def questions(self) -> Workload:
        """The workload, as a `survey` where it is one."""
        return self.survey or self.workload

    @cached_property
    def along(self) -> np.ndarray | None:
        """The `direction` of one real-valued question, None where more is asked or types are too many."""
        return direction(self.workload) if self.workload.n <= MOST_MATRIX_TYPES else None


def direction(workload: Workload) -> np.ndarray | None:
    """z (n,), of sum 0, such that the questions are multiples of G z and of constants; None where they are not of this kind. It is
    scaled so that z'Gz = 1."""
    n = workload.n
    sums = workload.gram_sums / n
    diagonal = workload.gram_diag - 2 * sums + sums.mean()
    j = int(np.argmax(diagonal))
    if not diagonal[j] > ONE * workload.gram_diag.max():
        return None
    column = workload.apply_gram(np.eye(1, n, j)[0]) - sums
    column = (column - column.mean()) / np.sqrt(diagonal[j])
    # What remains of a semidefinite matrix has entries no larger than the roots of its diagonal.
    if np.abs(diagonal - column**2).max() > ONE * diagonal[j]:
        return None
    z = column / (column @ column)
    return np.asarray(z / np.sqrt(z @ workload.apply_gram(z)))
