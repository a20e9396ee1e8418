"""Surveys: questions about a few attributes at a time, on domains of any size.

The joint domain of eleven columns has 10^9 types, and nothing here needs a vector over them. Each
group of queries lives on the table of the attributes it is about; where it treats the values of
each attribute alike (marginals, parities), its Gram matrix is a sum of the projections P_A of
`ldp_core.anova`, one number for each set A of attributes:

    G = sum_A g_A P_A,    g_A / n = sum over groups B that contain A of weight^2 lambda_A(B) / n_B

with n_B the cells of the table, and lambda_A(B) the eigenvalue of the group's own Gram matrix
there: 1 for a marginal.
Source: this project; for the eigenvalues of marginals McKenna et al. 2020, Section 6.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.limits import (
    MOST_ATTRIBUTES,
    MOST_COMBINATIONS,
    MOST_EXACT_TYPES,
    MOST_SETS,
    MOST_TABLE_CELLS,
    MOST_WORKLOAD_ENTRIES,
)
from ldp_core.people import Tables, check_cells
from ldp_core.wording import magnitude, shortened
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Together
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.symmetry import SymmetryGroup


@dataclass(frozen=True, eq=False)
class Group:
    """Queries of ``base``, a workload on the cells of the table of ``attributes``
    (in increasing order), with a weight."""

    attributes: tuple[int, ...]
    base: Workload
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Components:
    """A Gram matrix as numbers by attribute set: the non-empty ``sets`` A that some query depends
    on, the dimensions ``dims`` (k,) of P_A, and ``gram`` (k,) with g_A / n; ``constant`` is
    g_0 / n, that of the total."""

    sets: tuple[Set, ...]
    dims: np.ndarray
    gram: np.ndarray
    constant: float


class Survey(Together):
    """Groups of queries about some of the attributes, of the sizes ``shape``, each on the table of
    its own."""

    kind = "survey"
    title = "Survey"
    meaning = "Questions about a few attributes at a time, however many there are in all."
    recipe: ClassVar[tuple[str, ...]] = ("shape", "groups")

    def __init__(self, shape: Sequence[int], groups: Sequence[Group], axes: Sequence[Axis] | None = None):
        self.shape = _checked_sizes(shape)
        super().__init__(math.prod(self.shape), axes)
        if not 1 <= len(groups) <= MOST_SETS:
            raise ValueError(f"A survey asks about 1 to {MOST_SETS:,} sets of attributes; got {len(groups):,}.")
        names = None if self.axes is None else [axis.name for axis in self.axes]
        for group in groups:
            places = group.attributes
            if list(places) != sorted(set(places)) or not set(places) <= set(range(len(self.shape))):
                raise ValueError(
                    f"Attributes of a set must be different ones, from 0 to {len(self.shape) - 1}; got {places}."
                )
            check_cells(self.shape, places, names)
            cells = math.prod(self.shape[i] for i in places)
            if group.base.n != cells:
                raise ValueError(
                    f"The queries are about {group.base.n:,} types, the table of their attributes has {cells:,}."
                )
            if not (math.isfinite(group.weight) and group.weight > 0):
                raise ValueError(
                    f"A weight must be a positive number; got {group.weight}: leave out what does not count."
                )
        self.groups, self.weights = tuple(groups), tuple(group.weight for group in groups)
        if sum(math.prod(self.shape[i] for i in group.attributes) for group in self.groups) > MOST_WORKLOAD_ENTRIES:
            raise ValueError(
                f"The tables asked for have more than {MOST_WORKLOAD_ENTRIES:,} cells together: ask about fewer sets, or use coarser values."
            )

    # --- what follows from the components -----------------------------------------------------------------------

    @property
    def survey(self) -> Survey:
        return self

    @property
    def symmetric(self) -> bool:
        """True if the queries treat the values of each attribute alike, so that `components` are
        all of G."""
        return not self.ordered_groups

    def _worked_out(self, groups: Sequence[Group], of: Callable[[Workload, Sequence[int]], Any]) -> list[Any]:
        """``of`` the queries and the table of each group, once for groups that have the same."""
        known: dict[tuple[object, ...], Any] = {}
        for group in groups:
            sizes = tuple(self.shape[i] for i in group.attributes)
            if (key := (group.base.digest, sizes)) not in known:
                known[key] = of(group.base, sizes)
        return [known[group.base.digest, tuple(self.shape[i] for i in group.attributes)] for group in groups]

    @cached_property
    def spectra(self) -> list[dict[Set, float] | None]:
        """The eigenvalues of each group's own Gram matrix by set of attributes; None for a group
        that does not treat the values of each of its attributes alike."""
        found = zip(self.groups, self._worked_out(self.groups, eigenvalues), strict=True)
        return [None if values is None else _placed(values, group) for group, values in found]

    @cached_property
    def ordered_groups(self) -> list[Group]:
        """The groups that do not treat the values of each of their attributes alike."""
        return [group for group, values in zip(self.groups, self.spectra, strict=True) if values is None]

    @cached_property
    def components(self) -> Components:
        """The components that the cost of a mechanism depends on if it treats the values of each
        attribute alike. If questions do not treat them alike (totals along an order, conditions;
        then not `symmetric`), g_A is the mean of G on the component, ``tr(P_A G) / dim_A``. The
        information of such a mechanism is diagonal, and its objective ``sum_A tr(P_A G) / m_A`` the
        same. ValueError if that takes too large tables."""
        gram, means = dict[Set, float](), iter(self._worked_out(self.ordered_groups, averages))
        for group, values in zip(self.groups, self.spectra, strict=True):
            scale = group.weight**2 / group.base.n
            for members, value in (_placed(next(means), group) if values is None else values).items():
                if value > 0:
                    gram[members] = gram.get(members, 0.0) + scale * value
        constant = gram.pop((), 0.0)
        sets = tuple(sorted(gram, key=lambda members: (len(members), members)))
        dims = np.array([anova.dimensions(self.shape, members) for members in sets])
        return Components(sets, dims, np.array([gram[members] for members in sets]), constant)

    @cached_property
    def _known_symmetry(self) -> SymmetryGroup:
        shifts = tuple((size, self.symmetric) for size in self.shape)
        if not self.symmetric:
            return SymmetryGroup("none", shifts)
        return SymmetryGroup("hamming" if self._bits_alike() else "translation", shifts)

    def _bits_alike(self) -> bool:
        """True if attributes of two values each can be swapped, of as many types as have a number
        each."""
        bits = [i for i, size in enumerate(self.shape) if size > 1]
        if any(self.shape[i] != 2 for i in bits) or len(bits) < 2 or self.n > MOST_TABLE_CELLS:
            return False
        c = self.components
        levels = np.array([len(members) for members in c.sets])
        for level in set(levels.tolist()):
            gram = c.gram[levels == level]
            if len(gram) < math.comb(len(bits), level) or np.ptp(gram) > 1e-13 * gram.max():
                return False
        return True

    @cached_property
    def trace(self) -> float:
        return math.fsum(g.weight**2 * g.base.trace * (self.n / g.base.n) for g in self.groups)

    @cached_property
    def even_square(self) -> float:
        return math.fsum(group.weight**2 * group.base.even_square for group in self.groups)

    @cached_property
    def radius(self) -> float:
        """The largest length of a column of W, or an upper bound where groups peak at different
        values."""
        return math.sqrt(math.fsum(group.weight**2 * group.base.radius**2 for group in self.groups))

    @cached_property
    def working_types(self) -> int:
        return max(group.base.n for group in self.groups)

    def prepare(self, check: Callable[[], None]) -> None:
        check()
        _ = self.components

    # --- queries ------------------------------------------------------------------------------------------------

    @cached_property
    def members(self) -> Sequence[Workload]:
        return [group.base for group in self.groups]

    @cached_property
    def parts(self) -> tuple[Workload, ...]:
        if self.n > MOST_TABLE_CELLS:
            raise ValueError(
                f"The survey has {magnitude(self.n)} possible combinations of values; vectors over them are formed for at most "
                f"{MOST_TABLE_CELLS:,}. Use a mechanism made for surveys."
            )
        return tuple(OnAttributes(self.shape, group.attributes, group.base) for group in self.groups)

    def query_name(self, query: int, labels: Sequence[str] | None = None) -> str:
        k, local = self.member_of(query)
        group = self.groups[k]
        if self.axes is not None or not isinstance(group.base, Histogram):
            return group.base.query_name(local)
        values = np.unravel_index(local, [self.shape[i] for i in group.attributes])
        return ", ".join(f"x{i + 1} = {value}" for i, value in zip(group.attributes, values, strict=True))

    def answers(self, x: np.ndarray | Tables, queries: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """W x: (p,) answers, or those of the given query indices, for counts by attribute set, or
        (..., n) for counts ``x`` (..., n). In users, with weights."""
        if isinstance(x, np.ndarray) or not isinstance(x, Tables):
            return super().answers(np.asarray(x), queries)
        if queries is None:
            parts = [group.weight * group.base.answers(x.table(group.attributes)) for group in self.groups]
            return np.concatenate(parts)

        def answers(k: int, local: np.ndarray) -> np.ndarray:
            group = self.groups[k]
            return group.weight * group.base.answers(x.table(group.attributes), local)

        return self.gathered(self.checked_queries(queries), answers)

    def squared_distance(self, first: Tables, second: Tables) -> float:
        """Squared difference of the answers, summed over all queries (squared users)."""
        return math.fsum(
            group.weight**2
            * float(group.base.quadratic(first.table(group.attributes) - second.table(group.attributes)))
            for group in self.groups
        )

    # --- vectors over all types, where there are few enough -----------------------------------------------------

    @property
    def gram_roundings(self) -> int:
        return len(self.groups) + 2 + max(group.base.gram_roundings for group in self.groups)

    def singular_values(self) -> np.ndarray:
        _ = self.parts  # for as many types only
        if not self.symmetric:
            if self.n > MOST_EXACT_TYPES:
                raise ValueError(
                    f"The singular values of questions that follow an order or single out values are worked out for at most "
                    f"{MOST_EXACT_TYPES:,} types; there are {self.n:,}. The centred SVD bound needs none of them."
                )
            return super().singular_values()
        c = self.components
        values = np.repeat(np.sqrt(self.n * c.gram), c.dims.astype(np.int64))
        values = np.concatenate([values, [math.sqrt(self.n * c.constant)]])
        spectrum = np.zeros(min(self.n, self.num_queries))
        kept = np.sort(values)[::-1][: len(spectrum)]
        spectrum[: len(kept)] = kept
        return spectrum

    @property
    def rank(self) -> int:
        """Number of linearly independent queries: the dimensions of the components that they depend
        on. ValueError where these do not say it, and there are too many types for the matrix."""
        if not self.symmetric:
            return super().rank
        return round(math.fsum(self.components.dims)) + (self.components.constant > 0)

    def __repr__(self) -> str:
        return f"<survey workload: {self.num_queries:,} queries on {len(self.groups):,} sets of {len(self.shape)} attributes>"

    def _repr_html_(self) -> str | None:
        return super()._repr_html_() if self.n <= MOST_TABLE_CELLS else None


def _placed(values: dict[Set, float], group: Group) -> dict[Set, float]:
    """``values`` by places among the attributes of the ``group``, by those of the survey."""
    return {tuple(group.attributes[i] for i in members): value for members, value in values.items()}


def eigenvalues(base: Workload, sizes: Sequence[int]) -> dict[Set, float] | None:
    """{A: lambda_A} with ``G = sum_A lambda_A P_A`` of a workload on a table of these ``sizes``;
    None where G is none of these."""
    places = tuple(i for i, size in enumerate(sizes) if size > 1)
    if isinstance(base, Histogram):
        return dict.fromkeys(anova.subsets(places), 1.0)
    # Is the column of type 0 a sum of components of the unit vector?
    column = base.gram_column.reshape(sizes)
    unit = np.zeros(sizes)
    unit.flat[0] = 1.0
    left, values = column.copy(), {}
    for members in anova.subsets(places):
        part = anova.component(unit, members).reshape([size if i in members else 1 for i, size in enumerate(sizes)])
        square = float((part**2).sum()) * (base.n // part.size)  # it is the same along the other attributes
        value = float((column * part).sum()) / square
        values[members] = max(0.0, value) if value > -1e-9 * abs(column).max() * base.n else math.nan
        left = left - value * part
    rounding = 1e-10 * float(np.abs(column).max())
    if np.abs(left).max() > rounding or any(map(math.isnan, values.values())):
        return None
    if not _shifted(base, sizes):  # no other matrix takes a vector at random where theirs does
        vector = np.random.default_rng(0).standard_normal(base.n)
        parts = [
            value
            * anova.component(vector.reshape(sizes), members).reshape(
                [n if i in members else 1 for i, n in enumerate(sizes)]
            )
            for members, value in values.items()
        ]
        image = base.apply_gram(vector).reshape(sizes)
        if np.abs(image - sum(parts)).max() > 1e-9 * np.abs(image).max():
            return None
    largest = max(values.values())
    return {members: value if value > 1e-12 * largest else 0.0 for members, value in values.items()}


def _shifted(base: Workload, sizes: Sequence[int]) -> bool:
    """True if shifts along every attribute leave G as it is, so that its column of type 0 says
    everything."""
    group = base.symmetry_group
    return group.kind == "exchangeable" or (
        group.fixed_types == 1 and tuple(n for n, _ in group.shifts) == tuple(sizes)
    )


def averages(base: Workload, sizes: Sequence[int]) -> dict[Set, float]:
    """{A: tr(P_A G) / dim_A} of any workload on a table of these ``sizes``. ValueError where its
    Gram matrix is too large."""
    squares = anova.squared_norms(base.gram_root.reshape(-1, *sizes)).sum(axis=0).reshape((2,) * len(sizes))
    found = {
        members: float(squares[tuple(int(i in members) for i in range(len(sizes)))])
        for members in anova.subsets(i for i, size in enumerate(sizes) if size > 1)
    }
    most = max(found.values())
    return {
        members: value / anova.dimensions(sizes, members) if value > 1e-12 * most else 0.0
        for members, value in found.items()
    }


def _checked_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """The sizes of a survey's attributes, or a ValueError that says which number is too large."""
    shape = _whole(sizes, "The sizes of attributes must be a list of whole numbers")
    if not 1 <= len(shape) <= MOST_ATTRIBUTES:
        raise ValueError(f"A survey has 1 to {MOST_ATTRIBUTES} attributes; got {len(shape):,}.")
    if min(shape) < 1:
        raise ValueError(
            f"Each attribute needs at least one value; attribute {shape.index(min(shape)) + 1} has {min(shape)}."
        )
    if math.prod(shape) > MOST_COMBINATIONS:
        raise ValueError(
            f"The {len(shape)} attributes have {magnitude(math.prod(shape))} combinations of values, more than {magnitude(MOST_COMBINATIONS)}: "
            f"use fewer or coarser values, attribute {shape.index(max(shape)) + 1} with {max(shape):,} first."
        )
    return shape


def _whole(values: Any, what: str) -> tuple[int, ...]:
    """``values``, all of them whole numbers, or a ValueError that begins with ``what`` they must
    be: no part of a number is dropped."""
    number = None
    with suppress(TypeError, ValueError, OverflowError):
        given = tuple(values)
        number = tuple(map(int, given))
    if number is None or number != given:
        raise ValueError(f"{what}; got {shortened(repr(values))}.")
    return number


def marginal(
    shape: Sequence[int], attributes: Iterable[int], weight: float = 1.0, axes: Sequence[Axis] | None = None
) -> Group:
    """The joint counts of some attributes: a query for each combination of their values."""
    places = tuple(sorted(attributes))
    chosen = None if axes is None else [axes[i] for i in places]
    check_cells(shape, places, None if axes is None else [axis.name for axis in axes])
    return Group(places, Histogram(math.prod(shape[i] for i in places), chosen), weight)


def survey(
    sizes: Sequence[int],
    ways: int | Iterable[Iterable[int]] = 2,
    weights: Sequence[float] | None = None,
    axes: Sequence[Axis] | None = None,
) -> Survey:
    """Marginals over attributes of these ``sizes``: of every ``ways`` attributes, or of the given
    sets of attribute places (from 0), with a weight for each set, in the order of
    `itertools.combinations`; 0 leaves a set out. ValueError for sets that are empty or named twice,
    and tables that are too large.

    >>> survey = ldp.workloads.survey([16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2], ways=2)
    >>> survey
    <survey workload: 3,794 queries on 55 sets of 11 attributes>
    >>> f"{survey.n:,}"
    '1,451,520,000'
    """
    shape = _checked_sizes(sizes)
    sets = _every(len(shape), ways) if isinstance(ways, (int, np.integer)) else _named(shape, ways)
    scales = [1.0] * len(sets) if weights is None else _scales(weights, len(sets))
    # A set whose attributes have one value only leaves nothing to count.
    kept = [
        (members, scale)
        for members, scale in zip(sets, scales, strict=True)
        if scale != 0 and any(shape[i] > 1 for i in members)
    ]
    if not kept:
        raise ValueError(
            "All weights are 0, or every attribute has one value only, so nothing is asked: add an attribute, or give a set a positive weight."
        )
    given = None if axes is None else axes_of(axes)
    return Survey(shape, [marginal(shape, members, scale, given) for members, scale in kept], given)


def _every(attributes: int, ways: int) -> list[Set]:
    if isinstance(ways, bool) or not 1 <= ways <= attributes:
        raise ValueError(f"ways must be a whole number from 1 to the {attributes} attributes; got {ways!r}.")
    if math.comb(attributes, ways) > MOST_SETS:
        raise ValueError(
            f"Every {ways} of {attributes} attributes are {math.comb(attributes, ways):,} sets; at most {MOST_SETS:,} are "
            "asked about. Choose the sets that matter."
        )
    return list(combinations(range(attributes), int(ways)))


def _named(shape: tuple[int, ...], ways: Any) -> list[Set]:
    listed = None
    with suppress(TypeError):
        listed = list(ways)
    if not listed or isinstance(ways, str):
        raise ValueError(
            f"ways must be a whole number, or a list of sets of attributes such as [(0, 1), (2,)]; got {shortened(repr(ways))}."
        )
    last = len(shape) - 1
    sets = [
        tuple(sorted(_whole(set_given, f"Each set must list its attributes, whole numbers from 0 to {last}")))
        for set_given in listed
    ]
    if any(not members for members in sets) or len(set(sets)) < len(sets):
        raise ValueError("Each set of attributes must have a member, and be there once.")
    if any(len(set(members)) < len(members) or members[0] < 0 or members[-1] > last for members in sets):
        raise ValueError(f"The sets must name different attributes, from 0 to {last}.")
    return sets


def _scales(weights: Any, sets: int) -> list[float]:
    scales = None
    with suppress(TypeError, ValueError):
        scales = [float(weight) for weight in weights]
    if scales is None:
        raise ValueError(
            f"weights must be a list of numbers, one for each set of attributes; got {shortened(repr(weights))}."
        )
    if len(scales) != sets:
        raise ValueError(f"There are {sets:,} sets of attributes and {len(scales):,} weights; give each set one.")
    return scales
