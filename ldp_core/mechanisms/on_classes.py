"""Mechanisms whose reports are about classes of types, those that the questions distinguish.

A person's type becomes its class first, and a mechanism for the classes draws the report. Answers
to these questions, their variances and the guarantee are those of that mechanism: see
`ldp_core.workloads.quotient`. Reports say nothing about the types within a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ldp_core.limits import MOST_DRAWN_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import (
    Audit,
    Estimate,
    Mechanism,
    Reports,
    check_counts,
    check_reports,
    check_values,
)
from ldp_core.mechanisms.files import STRATEGY, MechanismFile
from ldp_core.mechanisms.moments import TYPES, Contributions, Ends, Moments, Rows, as_rows
from ldp_core.mechanisms.report_table import ReportTable, too_many_types
from ldp_core.people import Counts, checked_counts, dense
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload, distinguished
from ldp_core.workloads.representatives import Representatives


class OnClasses(Mechanism):
    """The reports of ``drawn``, a mechanism for c classes, about the class of each of n types.

    ``classes`` (n,) is the class of each type, numbered from 0 to c - 1 by their first types;
    ``about`` the workload they come from. Estimated counts are spread evenly over the types of a
    class, and are marked as not identified. Answers to the questions do not depend on that.
    ValueError for other classes, and for mechanisms of surveys.
    """

    def __init__(
        self,
        drawn: Mechanism,
        classes: np.ndarray,
        parameters: Mapping[str, Any] | None = None,
        about: Workload | None = None,
    ):
        self.name, self.delta, self.lost = drawn.name, drawn.delta, drawn.lost
        self._drawn, self.classes = drawn, _checked_classes(classes, drawn)
        super().__init__(len(self.classes), drawn.epsilon, drawn.parameters if parameters is None else parameters)
        self.class_sizes = np.bincount(self.classes)
        self.first = np.unique(self.classes, return_index=True)[1]
        self._known: dict[str, Workload | None] = {}
        found = None if about is None else distinguished(about)
        if about is not None and found is not None and np.array_equal(found.classes, self.classes):
            self._known[about.digest] = found.workload

    @property
    def drawn(self) -> Mechanism:
        return self._drawn

    def _identity(self) -> dict[str, Any]:
        return {"drawn": self.drawn.digest}

    def _content(self) -> bytes:
        return self.classes.astype(np.int64).tobytes()

    @property
    def bits_per_report(self) -> float:
        return self.drawn.bits_per_report

    @property
    def bytes_held(self) -> int:
        return self.drawn.bytes_held + self.classes.nbytes

    @property
    def strategy(self) -> np.ndarray | None:
        """(m, n) Q where it is small enough to write out."""
        Q = self.drawn.strategy
        return None if Q is None or len(Q) * self.n > MOST_STRATEGY_ENTRIES else Q[:, self.classes]

    @cached_property
    def channel(self) -> np.ndarray | LinearOperator | None:
        """(m, n) Q where reports keep how often each of m outputs was sent."""
        if (Q := self.drawn.channel) is None:
            return None
        if isinstance(Q, np.ndarray) and len(Q) * self.n <= MOST_STRATEGY_ENTRIES:
            return Q[:, self.classes]
        every = sparse.csr_array((np.ones(self.n), (self.classes, np.arange(self.n))))
        return aslinearoperator(Q) @ aslinearoperator(every)

    def report_table(self) -> ReportTable:
        """That of the mechanism that draws reports, with the column of its class for each type."""
        if self.n > MOST_DRAWN_TYPES:
            raise ValueError(too_many_types(self.n))
        table = self.drawn.report_table()
        return replace(table, entries=table.entries[:, self.classes])

    @property
    def consistent(self) -> Mechanism:
        """The same collection with answers that add up."""
        drawn = self.drawn.consistent
        if drawn is self.drawn:
            return self
        mechanism = OnClasses(drawn, self.classes, {**self.parameters, **drawn.parameters})
        mechanism._known = self._known
        return mechanism

    # --- questions about classes ----------------------------------------------------------------

    def _sums(self, x: np.ndarray) -> np.ndarray:
        """(..., c) numbers ``x`` (..., n) added up by class."""
        x = np.asarray(x, dtype=float)
        flat = x.reshape(-1, self.n)
        sums = np.array([np.bincount(self.classes, row, len(self.first)) for row in flat])  # there may be no row
        return sums.reshape(*x.shape[:-1], len(self.first))

    def _spread(self, x: np.ndarray) -> np.ndarray:
        """(..., n) counts of classes ``x`` (..., c), spread evenly over their types."""
        return (x / self.class_sizes)[..., self.classes]

    def about_classes(self, workload: Workload) -> Workload | None:
        """``workload`` about the classes; None if it has other types, or distinguishes those within
        one."""
        if workload.n != self.n:
            return None
        if workload.digest not in self._known:
            image = workload.apply_gram(np.random.default_rng(0).random(self.n))
            alike = np.abs(image - image[self.first][self.classes]).max() <= 1e-9 * np.abs(image).max()
            self._known[workload.digest] = Representatives(workload, self.first) if alike else None
        return self._known[workload.digest]

    def supports(self, workload: Workload) -> str | None:
        if (reduced := self.about_classes(workload)) is not None:
            return self.drawn.supports(reduced)
        return super().supports(workload) or (
            "This mechanism sends the same reports for types that the workload distinguishes, so it cannot "
            "answer it. Keep all types for questions asked later."
        )

    # --- errors ---------------------------------------------------------------------------------

    def variance_profile(self, workload: Workload, check: Check = unchecked) -> np.ndarray:
        return self.drawn.variance_profile(self._of_classes(workload), check)[self.classes]

    def query_variances(self, workload: Workload, counts: Counts, queries: np.ndarray | None = None) -> np.ndarray:
        if (reduced := self.about_classes(workload)) is not None:
            return self.drawn.query_variances(reduced, self._sums(dense(checked_counts(counts, self.n))), queries)
        return super().query_variances(
            workload, counts, np.arange(workload.num_queries) if queries is None else queries
        )

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts, spread as they are, when the users are
        ``counts`` (n,)."""
        return self._spread(self._spread(self.drawn.covariance(self._sums(counts))).T)

    def _of_classes(self, questions: Any) -> Any:
        """The same questions about classes; of those that distinguish types in one, the mean over
        each class, as counts are spread."""
        if isinstance(questions, Rows):
            if questions.source is not None and (reduced := self.about_classes(questions.source[0])) is not None:
                return Rows.of(reduced, questions.source[1])
            return Rows(self._sums(questions.rows) / self.class_sizes)
        if (reduced := self.about_classes(questions)) is None:
            raise ValueError(self.supports(questions))
        return reduced

    def central_moments(self, questions: Any, columns: Any = TYPES) -> Moments:
        return [(TYPES, self.drawn.profile_of(self._of_classes(questions))[..., self.classes])]

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        return Ends(*self.drawn.ends(self._of_classes(rows), TYPES))

    def contributions(self, rows: Rows | np.ndarray, columns: Any = TYPES) -> Contributions:
        by_class = self.drawn.contributions(self._of_classes(as_rows(rows)))
        return replace(by_class, means=by_class.means[:, self.classes], variances=by_class.variances[:, self.classes])

    # --- reports --------------------------------------------------------------------------------

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One report per user, about the class of their type. Simulation only."""
        return self.drawn.privatize(self.classes[check_values(values, self.n, rng)], rng)

    @property
    def outcomes(self) -> float:
        return self.drawn.outcomes

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return self.drawn.possible(rows)

    def aggregate(self, raw: np.ndarray) -> Reports:
        return replace(self.drawn.aggregate(raw), mechanism_digest=self.digest)

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """The reports of a collection, about the classes of the users. Simulation only."""
        totals = self._sums(check_counts(counts, self.n, rng)).astype(np.int64)
        return replace(self.drawn.simulate(totals, rng), mechanism_digest=self.digest)

    def estimate(self, reports: Reports) -> Estimate:
        check_reports(reports, self.digest)
        return ClassEstimate.of(self.drawn.estimate(replace(reports, mechanism_digest=self.drawn.digest)), self)

    def tally(self, reports: Reports) -> np.ndarray:
        return self.drawn.tally(reports)

    def files(self) -> tuple[MechanismFile, ...]:
        """The files of the mechanism that draws reports, with the classes beside its strategy."""
        return tuple(self._with_classes(file) for file in self.drawn.files())

    def _with_classes(self, file: MechanismFile) -> MechanismFile:
        if file.name != STRATEGY:
            raise ValueError("This mechanism has no file that also holds classes of types: keep all types.")
        about = f"{file.about}, and the class of each of {self.n:,} types"
        return replace(
            file, about=about, content=lambda: {**file.content(), "classes": self.classes.astype(np.float64)}
        )

    def audit(self) -> Audit:
        """That of the mechanism that draws reports: two types of one class have the same
        reports."""
        audited = self.drawn.audit()
        one, other = (int(self.first[k]) for k in audited.worst_pair)
        return replace(audited, worst_pair=(one, other))

    def explain(self) -> str:
        about = f"The questions distinguish {len(self.first):,} of {self.n:,} types; reports are about these."
        return f"{self.drawn.explain()} {about}"


@dataclass(frozen=True)
class ClassEstimate(Estimate):
    """An estimate ``of_classes``, whose counts are spread evenly over the types of a class. Answers
    to questions that treat the types of a class alike are those of the estimate of the classes."""

    of_classes: Estimate
    mechanism: OnClasses

    @classmethod
    def of(cls, estimate: Estimate, mechanism: OnClasses) -> ClassEstimate:
        counts = mechanism._spread(estimate.estimated_counts)
        return cls(counts, estimate.unbiased, estimate, mechanism, identified=False)

    @property
    def adds_up(self) -> bool:  # type: ignore[override]
        return self.of_classes.adds_up

    @property
    def total(self) -> float:
        return self.of_classes.total

    def answers(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        reduced = self.mechanism.about_classes(workload)
        return super().answers(workload, queries) if reduced is None else self.of_classes.answers(reduced, queries)

    def fitted(self, workload: Workload) -> np.ndarray:
        reduced = self.mechanism.about_classes(workload)
        if reduced is None:
            return self.estimated_counts
        return self.mechanism._spread(self.of_classes.fitted(reduced))

    def consistent(self, users: float) -> Estimate:
        return ClassEstimate.of(self.of_classes.consistent(users), self.mechanism)

    def squared_error(self, workload: Workload, counts: Counts) -> float:
        reduced = self.mechanism.about_classes(workload)
        if reduced is None:
            return super().squared_error(workload, counts)
        return self.of_classes.squared_error(reduced, self.mechanism._sums(dense(counts)))

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, about {len(self.mechanism.first):,} classes>"


def on_classes(mechanism: Mechanism, workload: Workload, estimate: Estimate) -> tuple[Mechanism, Workload, Estimate]:
    """The mechanism that draws reports, and the workload and estimate about its types. They are
    those given, unless the mechanism is an `OnClasses` and the workload treats the types of its
    classes alike."""
    if not isinstance(mechanism, OnClasses) or not isinstance(estimate, ClassEstimate):
        return mechanism, workload, estimate
    reduced = mechanism.about_classes(workload)
    return (mechanism, workload, estimate) if reduced is None else (mechanism.drawn, reduced, estimate.of_classes)


def _checked_classes(classes: np.ndarray, drawn: Mechanism) -> np.ndarray:
    if drawn.survey is not None:
        raise ValueError("Mechanisms of surveys go by attributes, not by classes of types.")
    numbers = np.asarray(classes)
    whole = numbers.astype(np.int64)
    if numbers.ndim != 1 or (whole != numbers).any() or not np.array_equal(np.unique(whole), np.arange(drawn.n)):
        raise ValueError(f"Classes must be whole numbers from 0 to {drawn.n - 1:,}, one for each type and none unused.")
    if (np.diff(np.unique(whole, return_index=True)[1]) <= 0).any():
        raise ValueError("Classes must be numbered in the order of their first types.")
    whole.flags.writeable = False
    return whole
