"""Workloads: sets of linear counting queries over the n types of a domain.

A workload is the p x n matrix W of the papers, but hardly anything needs W itself: variances,
bounds and the optimisers speak in terms of the Gram matrix ``G = W'W``, and answers come from
running sums. A workload is therefore a set of operations with known structure, and the explicit
matrix exists only for small sizes and for pictures.

Vectors over types always have the types on their *last* axis, so a batch of count vectors is
``(batch, n)``.

Source of the named workloads: McKenna et al. 2020, Section 6.1; Cormode et al. 2019 for ranges.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from ldp_core import pictures
from ldp_core.limits import MOST_MATRIX_TYPES, MOST_SPREAD, MOST_WORKLOAD_ENTRIES
from ldp_core.people import Tables, dense
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.symmetry import Kind, Shifts, SymmetryGroup, deviation_from_exchangeable

PICTURED_ENTRIES = 2**20
"""Largest number of entries of a workload matrix that is drawn whole, averaged over neighbours, in
a notebook."""

_ROW_ENTRIES = 2**22  # of queries written out at once


def in_chunks(queries: np.ndarray, types: int) -> Iterator[np.ndarray]:
    """The ``queries`` (q,) in runs short enough to write out their rows over ``types`` types."""
    chunk = max(1, _ROW_ENTRIES // types)
    for start in range(0, len(queries), chunk):
        yield queries[start : start + chunk]


class Workload(ABC):
    """p linear queries over n types. Subclasses say how to apply G, answer queries and name
    them."""

    kind: ClassVar[str]
    title: str
    meaning: str
    questionnaire: Any = None
    """The questions that it was made of by `over_attributes`, an
    `ldp_core.workloads.answers.Questionnaire`; None for others."""
    recipe: ClassVar[tuple[str, ...]] = ("n",)
    """What it is made of again, by the names of its constructor's parameters; names of attributes
    and queries are no part of it."""

    def __init__(self, n: int, axes: Sequence[Axis] | None = None):
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
            raise ValueError(f"A workload needs a whole number of at least 2 types; got n = {n!r}.")
        self.n = int(n)
        self.axes = None if axes is None else axes_of(axes)
        if self.axes is not None and math.prod(axis.size for axis in self.axes) != self.n:
            raise ValueError(
                f"The attributes have {' x '.join(str(axis.size) for axis in self.axes)} types, the workload has {self.n}."
            )

    # --- what a subclass provides -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def num_queries(self) -> int:
        """p, the number of queries."""

    @abstractmethod
    def apply_gram(self, x: np.ndarray) -> np.ndarray:
        """G applied along the last axis of ``x`` (..., n), in O(n) per vector."""

    @property
    @abstractmethod
    def gram_diag(self) -> np.ndarray:
        """(n,) diagonal of G: in how many queries (weighted) each type counts."""

    @abstractmethod
    def rows(self, queries: np.ndarray) -> np.ndarray:
        """(k, n) the rows of W with the given indices."""

    @abstractmethod
    def _answers(self, x: np.ndarray, queries: np.ndarray | None) -> np.ndarray:
        """Answers for counts ``x`` (..., n); ``queries`` None means all of them."""

    def query_variances(self, covariance: np.ndarray) -> np.ndarray:
        """(p,) diag(W C W') for an (n, n) covariance C of the counts."""
        chunks = (self.rows(some) for some in in_chunks(np.arange(self.num_queries), self.n))
        return np.concatenate([np.einsum("qi,qi->q", rows @ covariance, rows) for rows in chunks])

    @abstractmethod
    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        """Readable name of one query: by the attributes the workload was built with, else in the
        domain's labels when given."""

    @property
    def survey(self) -> Any:
        """The questions as an `ldp_core.workloads.surveys.Survey`, where they are one: answered
        table by table, whatever the number of types; None for others."""
        return None

    @property
    def strata(self) -> Any:
        """The groups of people that the collector knows, an `ldp_core.workloads.strata.Strata`;
        None where it knows none."""
        return None

    @property
    def secret(self) -> np.ndarray:
        """(n,) which types are secret: all of them, but for
        `ldp_core.workloads.secret.PartlySecret`."""
        return np.broadcast_to(np.True_, (self.n,))

    @property
    def all_secret(self) -> Workload:
        """The same questions where every value is secret: itself, where that is so."""
        return self

    @property
    def without_strata(self) -> Workload:
        """The same questions, whatever the collector knows."""
        return self

    @property
    def spread_over(self) -> int:
        """How many shares say how people are spread: n, or one for each of the `strata` of a
        survey, in which they are spread evenly."""
        return self.n

    @property
    def working_types(self) -> int:
        """How many numbers what is computed of the workload goes through: n, for a survey the cells
        of its largest table."""
        return self.n

    @property
    def gram_roundings(self) -> int:
        """How many units of rounding u = 2^-53, times sqrt(G_ii G_jj), the entries of G may be off
        by, as `apply_gram` and `gram_dense` compute them: none where they are whole numbers (below
        2^53)."""
        return 0

    # --- what follows from it -----------------------------------------------------------------------------------

    @property
    def spec(self) -> dict[str, Any]:
        """A serialisable recipe; `from_spec` rebuilds the queries."""
        return {"kind": self.kind, **{name: _written(getattr(self, name), _recipe_of) for name in self.recipe}}

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of what the queries are: equal for equal ones, quick even for large ones.
        Names do not count."""
        made_of = [_written(getattr(self, name), _digest_of) for name in self.recipe]
        return hashlib.sha256(repr([self.kind, *made_of]).encode()).hexdigest()

    @cached_property
    def symmetry_group(self) -> SymmetryGroup:
        """Permutations of the types that leave G unchanged: those that the class knows of, and all
        of them where G is a multiple of the identity plus one of the matrix of ones."""
        known = self._known_symmetry
        if known.kind == "exchangeable" or self.n > MOST_MATRIX_TYPES or self.num_queries < self.n - 1:
            return known
        apart = deviation_from_exchangeable(self.gram_diag, self.apply_gram(np.ones(self.n)), self.gram_dense)
        if apart is None:
            return known
        return SymmetryGroup("exchangeable", tuple((size, True) for size, _ in known.shifts), apart)

    @property
    def _known_symmetry(self) -> SymmetryGroup:
        """The `symmetry_group` as far as the class knows it: no permutations by default."""
        return SymmetryGroup("none", ((self.n, False),))

    def _seen(self, shifts: Shifts) -> SymmetryGroup:
        """The group of a G that ``shifts`` leave unchanged, and perhaps more permutations do."""
        group = SymmetryGroup("none", shifts)
        return group if group.fixed_types > 1 else SymmetryGroup.seen(shifts, self.gram_column)

    @property
    def symmetry(self) -> Kind:
        """The kind of the `symmetry_group`: exchangeable, hamming, translation or none."""
        return self.symmetry_group.kind

    def query_weights(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """(p,) weights that the rows of W, and with them the answers, carry (1 except in unions),
        or those of the given queries."""
        return np.ones(self.num_queries if queries is None else len(queries))

    @cached_property
    def squared_weights(self) -> float:
        """Sum of the squared `query_weights`, p without weights: what divides a total squared error
        into its mean."""
        return float(self.num_queries)

    @property
    def extent(self) -> tuple[float, float]:
        """The largest entry, without its sign, of the query where it is least, and of that where it
        is most, weights and all."""
        return 1.0, 1.0

    @property
    def spread_too_far(self) -> str | None:
        """Why no strategy is fitted to these queries, nor a bound proved, for their weights; None
        where that is done."""
        least, most = self.extent
        if most <= MOST_SPREAD * least * (1 + 1e-9) or self.symmetry == "exchangeable":
            return None
        return (
            f"The weights of these questions are too far apart: the largest is {most / least:.1e} times the smallest, and the errors of small ones "
            f"are lost in rounding past {MOST_SPREAD:,.0f} times. Bring the weights closer together, or make two designs."
        )

    @property
    def gram(self) -> LinearOperator:
        """G = W'W as an (n, n) symmetric `LinearOperator`."""

        def apply(x: np.ndarray) -> np.ndarray:
            return self.apply_gram(np.asarray(x).T).T

        return LinearOperator((self.n, self.n), matvec=apply, matmat=apply, rmatvec=apply, rmatmat=apply, dtype=float)

    def gram_dense(self) -> np.ndarray:
        """(n, n) G as an array. ValueError past `MOST_MATRIX_TYPES` types."""
        if self.n > MOST_MATRIX_TYPES:
            raise ValueError(
                f"The {self.title} workload has {self.n:,} types; n x n matrices are formed for at most {MOST_MATRIX_TYPES:,}. "
                "Use coarser bins, or a mechanism and view that work without one."
            )
        return self._gram_dense

    @cached_property
    def _gram_dense(self) -> np.ndarray:
        G = self._written_gram()
        G.flags.writeable = False  # shared by every caller
        return G

    def _written_gram(self) -> np.ndarray:
        known = self._known_symmetry  # `symmetry_group` may need this matrix
        if known.fixed_types == self.n:
            return self.apply_gram(np.eye(self.n))
        return known.dense(self._columns_of(known.fixing()))

    def _columns_of(self, types: np.ndarray) -> np.ndarray:
        """(m, n) the columns of G of ``types`` (m,): the first type alone, all of them, or some."""
        if len(types) in (1, self.n):
            return self.gram_column[None] if len(types) == 1 else self.gram_dense()
        units = np.zeros((len(types), self.n))
        units[np.arange(len(types)), types] = 1.0
        return self.apply_gram(units)

    @cached_property
    def gram_root(self) -> np.ndarray:
        """(r, n) R with R'R = G, r the rank of G: the workload squeezed into at most n queries of
        equal total error."""
        return root_of(self.gram_dense())

    def singular_values(self) -> np.ndarray:
        """(min(n, p),) singular values of W, largest first. ValueError where the matrices would be
        too large."""
        return self._spectrum.copy()

    def centred_singular_values(self) -> np.ndarray | None:
        """(n - 1,) singular values of W P, largest first, P the projection off the ones; None where
        they have no closed form."""
        return None

    @cached_property
    def _spectrum(self) -> np.ndarray:
        m = self.symmetry_group.fixed_types
        if m > MOST_MATRIX_TYPES or m * self.n > MOST_MATRIX_TYPES**2:
            raise ValueError(
                f"The singular values of the {self.title} workload on {self.n:,} types take {m:,} columns of its Gram matrix, "
                f"too many. Use coarser bins, or fewer attributes with ranges."
            )
        values = self.symmetry_group.eigenvalues(self._columns_of(self.symmetry_group.fixing()))
        return np.sqrt(np.sort(values)[::-1][: min(self.n, self.num_queries)])

    @property
    def rank(self) -> int:
        """Number of linearly independent queries."""
        values = self.singular_values()
        return int(np.count_nonzero(values > values[0] * self.n * np.finfo(float).eps))

    @cached_property
    def trace(self) -> float:
        """tr G = |W|_F^2."""
        return float(self.gram_diag.sum())

    @property
    def gram_column(self) -> np.ndarray:
        """(n,) the column of G of type 0. It fixes all of G where G may be shifted along every
        axis, see `SymmetryGroup`."""
        unit = np.zeros(self.n)
        unit[0] = 1.0
        return self.apply_gram(unit)

    @cached_property
    def gram_sums(self) -> np.ndarray:
        """(n,) row sums G 1."""
        if self.symmetry_group.fixed_types == 1:  # rows are shifts of each other
            return np.full(self.n, self.gram_column.sum())
        return self.apply_gram(np.ones(self.n))

    @property
    def even_square(self) -> float:
        """1'G1 / n^2: the squared length of the answers of one user who is spread evenly over the
        types."""
        return float(self.gram_sums.sum()) / self.n**2

    def prepare(self, check: Callable[[], None]) -> None:
        """Work out, and keep, what figures start from. ``check`` is called in between, and may
        raise to stop it."""
        for what in ("gram_diag", "gram_sums", "symmetry_group"):
            check()
            getattr(self, what)

    def quadratic(self, x: np.ndarray) -> np.ndarray:
        """x'Gx for every vector along the last axis of ``x`` (..., n): the squared length of its
        answers."""
        x = np.asarray(x, dtype=float)
        return np.einsum("...i,...i->...", x, self.apply_gram(x))

    def answers(self, x: np.ndarray | Tables, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """W x for counts ``x`` (..., n): (..., p), or only the given query indices. In users.
        People that are known by their attributes have (p,) answers too."""
        x = dense(x).astype(float, copy=False)
        if x.shape[-1] != self.n:
            raise ValueError(f"Counts have {x.shape[-1]} types, the workload has {self.n}.")
        if queries is None and x.size // self.n * self.num_queries > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"All {self.num_queries:,} answers at once would not fit in memory; ask for the queries you need."
            )
        return self._answers(x, None if queries is None else self.checked_queries(queries))

    def checked_queries(self, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """(q,) the indices of some ``queries``, of all by default. ValueError for others than there
        are."""
        queries = np.arange(self.num_queries) if queries is None else np.asarray(queries, dtype=np.int64)
        if queries.size and (queries.min() < 0 or queries.max() >= self.num_queries):
            raise ValueError(f"Query indices run from 0 to {self.num_queries - 1:,}.")
        return queries

    @cached_property
    def radius(self) -> float:
        """The largest length of a column of W."""
        return math.sqrt(float(self.gram_diag.max()))

    @property
    def matrix(self) -> np.ndarray:
        """(p, n) W, only when small. ValueError past `MOST_WORKLOAD_ENTRIES` entries."""
        if self.num_queries * self.n > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"The {self.title} matrix has {self.num_queries:,} x {self.n:,} entries, too many to write out. "
                "Use the Gram matrix, or rows() for some of the queries."
            )
        return self.rows(np.arange(self.num_queries))

    def __repr__(self) -> str:
        """One line: what it is, its size, and what else sets it apart."""
        words = [
            f"{name.replace('_', ' ')} {getattr(self, name)}"
            for name in ("width", "k", "max_weight")
            if hasattr(self, name)
        ]
        words += [f"{len(getattr(self, name))} {name}" for name in ("parts", "factors") if hasattr(self, name)]
        facts = "".join(f", {fact}" for fact in words)
        return f"<{self.kind} workload: {self.num_queries:,} queries on {self.n:,} types{facts}>"

    def _repr_html_(self) -> str | None:
        """The matrix as a picture, of evenly thinned queries where it is large, for notebooks; None
        where even a few rows are too large."""
        shown = np.arange(min(self.num_queries, PICTURED_ENTRIES))
        if self.num_queries * self.n > PICTURED_ENTRIES:
            shown = np.unique(np.linspace(0, self.num_queries - 1, pictures.SIDE).astype(np.int64))
        if len(shown) * self.n > MOST_WORKLOAD_ENTRIES:
            return None
        some = "" if len(shown) == self.num_queries else f"{len(shown)} of {self.num_queries:,} "
        return pictures.heat_map(self.rows(shown), f"{self!r} · {some}queries (rows) by type (columns)")

    def __getstate__(self) -> dict[str, Any]:
        """What it is, without what has been worked out of that: to other processes it travels
        light."""
        return {
            name: held
            for name, held in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def _written(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A value of a recipe in lists, tables of fields, and what ``leaf`` makes of workloads and
    arrays."""
    if isinstance(value, Workload | np.ndarray):
        return leaf(value)
    if is_dataclass(value):
        return {field.name: _written(getattr(value, field.name), leaf) for field in fields(value)}
    return [_written(item, leaf) for item in value] if isinstance(value, tuple) else value


def _recipe_of(value: Workload | np.ndarray) -> Any:
    return value.spec if isinstance(value, Workload) else value.tolist()


def _digest_of(value: Workload | np.ndarray) -> Any:
    if isinstance(value, Workload):
        return value.digest
    return [value.shape, hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()]


def root_of(gram: np.ndarray) -> np.ndarray:
    """(r, n) R with R'R = G (n, n), r the rank of G."""
    factor, failed = linalg.lapack.dpotrf(gram)
    pivots = np.abs(np.diag(factor))
    # A singular G can get through a Cholesky factorisation with pivots that are nothing but rounding.
    if not failed and pivots.min() > 1e-6 * pivots.max():
        return np.triu(factor)
    values, vectors = linalg.eigh(gram)
    kept = values > values[-1] * len(gram) * np.finfo(float).eps
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def check_workload(workload: object) -> None:
    """ValueError for anything but a workload."""
    if not isinstance(workload, Workload):
        raise ValueError(
            f"Questions are a workload; got {type(workload).__name__}. Make one with ldp_core.workloads: custom(matrix) asks the rows of a matrix."
        )
