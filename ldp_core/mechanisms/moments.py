"""What a report adds to questions: the one thing from which all errors follow.

The answer to a question r, a row over the types, is a sum over people of what their reports add to
it, and of what each person adds by being counted, r times the ``root``. A mechanism tells, for the
cells of a few tables, the mean square of the former (`Mechanism.second_moments`) and its ends.
Variances, of single questions or summed over all of a workload, contributions and intervals follow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ldp_core.people import Counts, checked_counts, dense
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload, in_chunks

Place = tuple[int, ...]
"""Names the table whose cells a moment is by: columns of surveys, levels of trees; `TYPES`,
`EVERYBODY`."""
TYPES = (0,)
"""The table of all types: the only column of those that are a plain list."""
EVERYBODY = ()
"""The table of no column, with one cell, which everybody is in."""

Moments = Sequence[tuple[Place, np.ndarray]]
"""Functions of the cells of tables, (..., cells), whose sum over the tables is meant."""


class QuadraticForm(Protocol):
    """Questions, as the form x'Gx over the types that adds up the squares of their answers; a
    `Workload` is one.

    `Rows` are q forms at once: what others have as a number, they have as (q, 1), and vectors (n,)
    as (q, n).
    """

    @property
    def gram_diag(self) -> np.ndarray: ...
    @property
    def gram_sums(self) -> np.ndarray: ...
    @property
    def trace(self) -> Any: ...
    def quadratic(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Rows:
    """Single questions ``rows`` (q, n), each of them a form of its own; ``source`` is the workload
    that has them, with their numbers there (q,)."""

    rows: np.ndarray
    source: tuple[Workload, np.ndarray] | None = None

    @classmethod
    def of(cls, workload: Workload, queries: np.ndarray) -> Rows:
        return cls(workload.rows(queries), (workload, np.asarray(queries)))

    @property
    def gram_diag(self) -> np.ndarray:
        return self.rows**2

    @property
    def gram_sums(self) -> np.ndarray:
        return self.rows * self.rows.sum(axis=1, keepdims=True)

    @property
    def trace(self) -> np.ndarray:
        return np.sum(self.rows**2, axis=1, keepdims=True)

    def quadratic(self, x: np.ndarray) -> np.ndarray:
        """(q, m) the squared answers for each of ``x`` (m, n)."""
        return (self.rows @ x.T) ** 2


@dataclass(frozen=True)
class Gram:
    """The form of an (n, n) Gram matrix."""

    gram: np.ndarray

    @property
    def gram_diag(self) -> np.ndarray:
        return np.diagonal(self.gram)

    @property
    def gram_sums(self) -> np.ndarray:
        return self.gram.sum(axis=1)

    @property
    def trace(self) -> float:
        return float(np.trace(self.gram))

    def quadratic(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("...i,...i->...", x, x @ self.gram)


def as_rows(questions: Rows | np.ndarray) -> Rows:
    """Questions given as an array (q, n), or as they are."""
    return questions if isinstance(questions, Rows) else Rows(questions)


def squared_means(questions: Any, root: np.ndarray | None) -> np.ndarray:
    """(..., n) the squared mean of what the report of a person of each type adds, beside the
    ``root`` (n,): ``(e_u - root)' G (e_u - root)``."""
    if root is None:
        return np.asarray(questions.gram_diag)
    if isinstance(questions, Rows):
        return (questions.rows - (questions.rows @ root)[:, None]) ** 2
    squares: np.ndarray = questions.gram_diag - 2 * questions.apply_gram(root) + questions.quadratic(root)
    return squares


def traced(questions: Any, matrix: np.ndarray) -> np.ndarray:
    """(1,) or (q, 1) tr(G C) of a ``matrix`` C (n, n)."""
    if isinstance(questions, Rows):
        return np.einsum("qi,qi->q", questions.rows @ matrix, questions.rows)[:, None]
    return np.einsum("ij,ij->", questions.gram_dense(), matrix)[None]


class Ends(NamedTuple):
    """(q,) the least and the most that a report adds to questions, or beyond; ``two`` where it adds
    one of these two alone."""

    low: np.ndarray
    high: np.ndarray
    two: np.ndarray | bool = False


@dataclass(frozen=True)
class Contributions:
    """The contribution of one user's report to the answers of q queries: all that intervals need of
    a mechanism.

    Attributes:
        means: (q, n) what a user of each type adds on average, their true answer.
        variances: (q, n) exact variance of what a user of each type adds.
        up, down: (q,) the most by which one independent part of a report can exceed its mean, and fall short of it.
        parts: independent parts of a report.
        low, high: (q,) the two values a report adds where it adds one of two, else NaN.
    """

    means: np.ndarray
    variances: np.ndarray
    up: np.ndarray
    down: np.ndarray
    low: np.ndarray
    high: np.ndarray
    parts: int = 1

    @classmethod
    def between(
        cls,
        means: np.ndarray,
        variances: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        two: np.ndarray | bool = False,
    ) -> Contributions:
        """Those of reports that add at least ``low`` (q,) and at most ``high``, and nothing between
        the two where ``two``."""
        up, down = np.maximum(high - means.min(axis=1), 0), np.maximum(means.max(axis=1) - low, 0)
        return cls(means, variances, up, down, np.where(two, low, np.nan), np.where(two, high, np.nan))

    def among(self, places: np.ndarray) -> Contributions:
        """The contributions to these answers, and to others to which a report adds nothing.

        Parameters
        ----------
        places : (q,) True for these answers, in their order, among all.

        Returns
        -------
        The contributions to all q answers.
        """
        placed: dict[str, Any] = {
            name: np.zeros((len(places), *array.shape[1:])) for name, array in vars(self).items() if name != "parts"
        }
        for name, whole in placed.items():
            whole[places] = getattr(self, name)
        return replace(self, **placed)


def two_values(values: np.ndarray) -> np.ndarray:
    """(q,) whether a row of ``values`` (q, k) has only two values, up to rounding."""
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    off = np.minimum(values - low, high - values).max(axis=1)
    return off <= 1e-9 * (high - low)[:, 0]


class Errors(ABC):
    """All errors of a mechanism, from what its report adds to questions about ``n`` types."""

    n: int

    @abstractmethod
    def supports(self, workload: Workload) -> str | None:
        """None, or why the workload cannot be answered."""

    def check_supports(self, workload: Workload) -> None:
        """ValueError for a workload that cannot be answered."""
        if reason := self.supports(workload):
            raise ValueError(reason)

    @property
    def root(self) -> np.ndarray | None:
        """(n,) what each person adds to the counts by being counted; None for nothing."""
        return None

    def second_moments(self, questions: Any, columns: Any, /) -> Moments:
        """The mean square of what a person's report adds to questions, beside the `root`.

        A mechanism has this method or `central_moments`, from which the other follows.

        Parameters
        ----------
        questions : `Rows` on a table, or another `QuadraticForm` over the types.
        columns : those of the table; the types are one column but for surveys.

        Returns
        -------
        Functions (..., cells) of the cells of some tables, in squared users, whose sum it is.
        """
        return [*self.central_moments(questions, columns), (TYPES, squared_means(questions, self.root))]

    def central_moments(self, questions: Any, columns: Any, /) -> Moments:
        """The variance of what a person's report adds to questions, as `second_moments` has the
        mean square."""
        return [*self.second_moments(questions, columns), (TYPES, -squared_means(questions, self.root))]

    def ends(self, rows: Any, columns: Any, /) -> tuple[Any, ...]:
        """`Ends`: (q,) the least and the most that a report adds to `Rows`, or beyond."""
        raise NotImplementedError

    def spread(self, place: Place, moments: np.ndarray) -> np.ndarray:
        """(..., n) for each type, ``moments`` (..., cells) of the cells of the table at
        ``place``."""
        return moments if place else np.broadcast_to(moments, (*moments.shape[:-1], self.n))

    def cells(self, counts: Counts) -> Callable[[Place], np.ndarray]:
        """(cells,) the people in each cell of the table at a place, when they are ``counts``
        (n,)."""
        x = np.asarray(dense(counts), dtype=float)
        return lambda place: x if place else x.sum(keepdims=True)

    def by_type(self, moments: Moments, columns: Any = TYPES) -> np.ndarray:
        """(..., n) what functions of the cells of tables add up to for each type, of surveys for
        each cell of the table of ``columns``."""
        first, *others = (self.spread(place, part) for place, part in moments)
        return np.asarray(sum(others, first))

    def profile_of(self, questions: Any) -> np.ndarray:
        """(..., n) the variance that a person of each type adds, summed over the questions of each
        `QuadraticForm`."""
        return self.by_type(self.central_moments(questions, TYPES))

    def variance_profile(self, workload: Workload, check: Check = unchecked) -> np.ndarray:
        """(n,) exact total variance over all queries (squared users) that one user of each type
        adds. If that takes seconds, ``check`` is called in between, and may raise to stop it.
        ValueError for a workload that cannot be answered, or takes matrices
        that are too large."""
        self.check_supports(workload)
        return self.profile_of(workload)

    def totals(self, workload: Workload) -> Moments:
        """What a user adds to the total variance over all queries, in squared users. ValueError as
        for `variance_profile`."""
        return [(TYPES, self.variance_profile(workload))]

    def average_of(self, workload: Workload) -> float:
        """Total variance (squared users) that one user adds, on average over the types."""
        return math.fsum(float(part.mean()) for _, part in self.totals(workload))

    def variance_on(self, workload: Workload, counts: Counts) -> float:
        """Total variance (squared users) when the users are ``counts``."""
        totals, people = self.totals(workload), self.cells(checked_counts(counts, self.n))
        return math.fsum(float(part @ people(place)) for place, part in totals)

    def query_variances(self, workload: Workload, counts: Counts, queries: np.ndarray | None = None) -> np.ndarray:
        """(p,) exact variance (squared users) of the answer to each query, or to those with the
        given indices, when the users are ``counts`` (n,). Given indices take no n x n matrix where
        the mechanism has none."""
        counts = dense(checked_counts(counts, self.n))
        if queries is None:
            return workload.query_variances(self.covariance(counts))
        parts = in_chunks(np.asarray(queries, dtype=np.int64), workload.n)
        return np.concatenate([np.zeros(0), *(self.linear_variances(Rows.of(workload, q), counts) for q in parts)])

    @abstractmethod
    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts`` (n,)."""

    def linear_variances(self, rows: Any, counts: Any, columns: Any = TYPES) -> np.ndarray:
        """Exact variances of linear questions.

        Parameters
        ----------
        rows : (q, cells) the questions, on the table of ``columns``.
        counts : (n,) the users of each type, or people.

        Returns
        -------
        (q,) the variance, in squared users, of each row times the estimated table.
        """
        people = self.cells(counts)
        parts = [part @ people(place) for place, part in self.central_moments(as_rows(rows), columns)]
        return np.maximum(np.sum(parts, axis=0), 0.0)

    def variances_by_type(self, rows: Any, columns: Any = TYPES) -> np.ndarray:
        """The variance that a person adds to linear questions.

        Parameters
        ----------
        rows : (q, cells) the questions, on the table of ``columns``.

        Returns
        -------
        (q, cells) in squared users, by the cell that the person is in. Where it depends on further
        columns of a survey, it is the most over their values.
        """
        return np.maximum(self.by_type(self.central_moments(as_rows(rows), columns), columns), 0.0)

    def query_contributions(self, workload: Workload, queries: np.ndarray) -> Contributions:
        """The contribution of a report to the answers of a few ``queries`` (q,): see
        `Contributions`."""
        return self.contributions(Rows.of(workload, queries))

    def contributions(self, rows: Rows | np.ndarray, columns: Any = TYPES) -> Contributions:
        """The contribution of a report to ``rows`` (q, cells) times the estimated table of
        ``columns``."""
        questions = as_rows(rows)
        return Contributions.between(
            questions.rows, self.variances_by_type(questions, columns), *self.ends(questions, columns)
        )

    def cost_dimension(self, workload: Workload) -> int:
        """How many numbers the errors of each query go through: all types, whatever is asked."""
        return workload.n
