"""Questions about people of whom the collector knows some attributes already.

Known attributes are no secrets: they split people into strata z, each with a mechanism of its own
for the types x of the secret attributes. The information matrix is block diagonal then, and
``L = tr(M^-1 G) = sum_z tr(M_z^-1 G_zz)``, G_zz the block of
G within a stratum: entries of G between strata do not count, since no report is about two strata. A
question that only asks how many people are in a stratum adds a multiple of the ones to G_zz, and no
variance: ``tr(M_z^-1 1 1') = m`` for m secret types. Where the blocks are multiples of each other
there is one design and one proof. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_STRATA, MOST_TABLE_CELLS
from ldp_core.wording import magnitude
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Product, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.representatives import Representatives
from ldp_core.workloads.secret import PartlySecret
from ldp_core.workloads.surveyed import by_tables, few_at_a_time, groups_of, surveyed
from ldp_core.workloads.surveys import Group, Survey

ALIKE = 1e-12
"""Weights are equal up to this share, which rounding leaves."""

Question = tuple[tuple[int, ...], Workload]
"""Places among the secret attributes, and what is asked about them."""
Case = tuple[Workload, np.ndarray | None]
"""Questions about the m secret types of some strata, and the shares (m,) of these types, None where
people are spread evenly."""


@dataclass(frozen=True, eq=False)
class Strata:
    """K strata of m secret types each: ``G_zz = scale_z^2 G_d + constant_z 1 1'``, d = ``which``
    (K,) of the ``designs``.

    They are those of a table of ``shape`` whose columns ``known`` the collector knows, the last of
    these running fastest. A scale is 0 where only the size of a stratum is asked for.
    """

    shape: tuple[int, ...]
    known: tuple[int, ...]
    designs: tuple[Workload, ...]
    which: np.ndarray
    scale: np.ndarray
    constant: np.ndarray

    @property
    def size(self) -> int:
        """m."""
        return self.designs[0].n

    @cached_property
    def types(self) -> np.ndarray:
        """(K, m) the types of each stratum. ValueError where they are too many to have a number
        each."""
        if math.prod(self.shape) > MOST_TABLE_CELLS:
            raise ValueError(f"Types have numbers where there are at most {MOST_TABLE_CELLS:,} of them.")
        order = np.arange(math.prod(self.shape)).reshape(self.shape)
        return order.transpose(self.known + secret_of(self.shape, self.known)).reshape(len(self.which), self.size)

    def pooled(self, prior: np.ndarray | None) -> list[Case]:
        """What to design for: each of the designs, for the people of all its strata together, those
        of each counted as often as its squared scale says. What they come to has the same
        `objective` as the sum over the strata, each with its own people."""
        if prior is None or len(prior) == len(self.which):
            return [(design, None) for design in self.designs]
        weighed = self.scale[:, None] ** 2 * prior[self.types]
        sums = [weighed[self.which == d].sum(axis=0) for d in range(len(self.designs))]
        return [(design, _uneven(summed)) for design, summed in zip(self.designs, sums, strict=True)]

    def cases(self, prior: np.ndarray | None) -> tuple[list[Case], np.ndarray]:
        """What to prove: workloads on the m secret types, each with the shares of these under
        ``prior``, None where these are even; and (K,) which of them is for each stratum. Strata
        without people have even shares."""
        if prior is None or len(prior) == len(self.which):
            return [(design, None) for design in self.designs], self.which
        found: dict[tuple[int, bytes], int] = {}
        cases: list[Case] = []
        index = np.zeros(len(self.which), dtype=np.int64)
        for z, shares in enumerate(prior[self.types]):
            uneven = _uneven(shares)
            key = (int(self.which[z]), b"" if uneven is None else uneven.round(12).tobytes())
            if key not in found:
                found[key] = len(cases)
                cases.append((self.designs[key[0]], uneven))
            index[z] = found[key]
        return cases, index

    def shares(self, prior: np.ndarray | None) -> np.ndarray:
        """(K,) the shares of the strata under ``prior``: (n,), or these shares themselves, spread
        evenly within each stratum."""
        count = len(self.which)
        if prior is None or len(prior) == count:
            return np.full(count, 1 / count) if prior is None else prior
        return prior[self.types].sum(axis=1)

    def objective(
        self, values: Sequence[float], prior: np.ndarray | None = None, which: np.ndarray | None = None
    ) -> float:
        """L, or n tr(M_p^-1 G) for the ``prior`` p, from that of each design or, with ``which``
        (K,), of each of the `cases`."""
        index, shares = self.which if which is None else which, self.shares(prior)
        within = self.scale**2 * np.array(values)[index] + self.size * self.constant
        return math.fsum(len(self.which) * shares * within)

    def own_answers(self, shares: np.ndarray) -> float:
        """What a person's own answers take off the variance, ``sum_u p_u G_uu``, for ``shares``
        (K,) of the strata, each spread evenly."""
        means = np.array([design.trace / design.n for design in self.designs])
        return math.fsum(shares * (self.scale**2 * means[self.which] + self.constant))


def _uneven(shares: np.ndarray) -> np.ndarray | None:
    """(m,) ``shares`` (m,) of their sum; None where all are the same."""
    return None if np.ptp(shares) <= ALIKE * shares.max() else shares / shares.sum()


def secret_of(shape: Sequence[int], known: Sequence[int]) -> tuple[int, ...]:
    """The places of the columns that the collector does not know."""
    return tuple(i for i in range(len(shape)) if i not in known)


class Stratified(Representatives):
    """The queries of ``base`` about types in a table of ``shape``, the attributes at the places
    ``known`` known to the collector."""

    kind = "stratified"
    recipe = ("base", "shape", "known")

    def __init__(self, base: Workload, shape: Sequence[int], known: Sequence[int]):
        self.shape, self.known = tuple(map(int, shape)), tuple(map(int, known))
        self.unknown = secret_of(self.shape, self.known)
        if math.prod(self.shape) != base.n or not set(self.known) < set(range(len(self.shape))):
            raise ValueError("The attributes that are known must be some of those that the types are made of, not all.")
        if base.n > MOST_TABLE_CELLS:
            raise ValueError(
                f"Questions about all secret columns at once are answered for at most {MOST_TABLE_CELLS:,} combinations of values and groups; there "
                f"are {magnitude(base.n)}. Ask about a few columns at a time, or use coarser values."
            )
        super().__init__(base, np.arange(base.n))

    @property
    def without_strata(self) -> Workload:
        return self.base

    @property
    def secret(self) -> np.ndarray:
        return self.base.secret

    @property
    def all_secret(self) -> Workload:
        return self if self.base.all_secret is self.base else Stratified(self.base.all_secret, self.shape, self.known)

    @property
    def distinguished(self) -> None:
        """Strata have classes of their own."""
        return None

    @cached_property
    def strata(self) -> Strata:
        return strata_of(groups_of(self.base.all_secret, self.shape), self.shape, self.known, self._design)

    def _design(self, weights: dict[Question, float]) -> Workload:
        sizes = [self.shape[i] for i in self.unknown]
        whole = tuple(range(len(sizes)))
        parts = [base if places == whole else OnAttributes(sizes, places, base) for places, base in weights]
        made = parts[0] if len(parts) == 1 else Union(parts, list(weights.values()))
        if self.base.all_secret is self.base:
            return made
        order = np.arange(self.n).reshape(self.shape).transpose(self.known + self.unknown)
        return PartlySecret(made, self.secret[order.reshape(-1, made.n)[0]])


class StratifiedSurvey(Survey):
    """A survey of attributes of sizes ``shape``, those at the places ``known`` known to the
    collector: each stratum has a survey of the others."""

    kind = "stratified_survey"
    recipe = ("shape", "groups", "known")

    def __init__(
        self, shape: Sequence[int], groups: Sequence[Group], known: Sequence[int], axes: Sequence[Axis] | None = None
    ):
        super().__init__(shape, groups, axes)
        self.known = tuple(map(int, known))

    @property
    def spread_over(self) -> int:
        return math.prod(self.shape[i] for i in self.known)

    @cached_property
    def without_strata(self) -> Workload:
        return Survey(self.shape, self.groups, self.axes)

    @cached_property
    def strata(self) -> Strata:
        return strata_of(self.groups, self.shape, self.known, self._design)

    def _design(self, weights: dict[Question, float]) -> Survey:
        secret = secret_of(self.shape, self.known)
        groups = [Group(places, base, weight) for (places, base), weight in weights.items()]
        axes = None if self.axes is None else [self.axes[i] for i in secret]
        return Survey([self.shape[i] for i in secret], groups, axes)


def strata_of(
    groups: Iterable[Group],
    shape: tuple[int, ...],
    known: tuple[int, ...],
    design: Callable[[dict[Question, float]], Workload],
) -> Strata:
    """The strata of questions about the columns of a table.

    Parameters
    ----------
    groups : iterable of Group
        The questions, each about some columns.
    shape : tuple of int
        The sizes of all columns.
    known : tuple of int
        The places of those that the collector knows.
    design : callable
        Makes a workload of what is asked within one stratum, with weights.

    Returns
    -------
    Strata
        Those that ask the same, but for a factor, share a design.

    Raises
    ------
    ValueError
        One sentence, where strata are too many, or nothing is asked of what is secret.
    """
    groups, secret = list(groups), secret_of(shape, known)
    count, types = (math.prod(shape[i] for i in places) for places in (known, secret))
    if types < 2:
        raise ValueError("The secret attributes have one value, so there is nothing to protect; add one with more.")
    if count > MOST_STRATA:
        raise ValueError(
            f"The known attributes make {magnitude(count)} groups; at most {MOST_STRATA:,} are handled. Use fewer attributes or coarser "
            "values."
        )

    def within(values: Sequence[int]) -> tuple[dict[Question, float], float]:
        """The weights of what is asked in the stratum with these ``values`` of the known columns,
        and the constant that every entry of G has besides."""
        fixed, squares, constant = dict(zip(known, values, strict=True)), dict[Question, float](), 0.0
        for group in groups:
            sizes = [shape[i] for i in group.attributes]
            inside = {k: fixed[i] for k, i in enumerate(group.attributes) if i in fixed}
            places = tuple(secret.index(i) for i in group.attributes if i in secret)
            if math.prod(shape[secret[k]] for k in places) == 1:
                constant += group.weight**2 * float(group.base.gram_diag[_inside(sizes, inside)[0]])
            elif (found := restricted(group.base, sizes, inside)) is not None:
                squares[places, found[0]] = squares.get((places, found[0]), 0.0) + (group.weight * found[1]) ** 2
        return {question: math.sqrt(square) for question, square in squares.items()}, constant

    strata = [within(values) for values in np.ndindex(*(shape[i] for i in known))]
    scales = [next(iter(weights.values()), 0.0) for weights, _ in strata]
    designs: list[tuple[dict[Question, float], Workload]] = []
    which = np.zeros(count, dtype=np.int64)
    for z, ((weights, _), scale) in enumerate(zip(strata, scales, strict=True)):
        if not scale:
            continue  # any design serves
        relative = {question: weight / scale for question, weight in weights.items()}
        which[z] = next((k for k, (other, _) in enumerate(designs) if _alike(other, relative)), len(designs))
        if which[z] == len(designs):
            designs.append((relative, design(relative)))
    if not designs:
        raise ValueError("The questions are about what the collector knows already; ask about a secret attribute.")
    constants = np.array([constant for _, constant in strata])
    return Strata(shape, known, tuple(workload for _, workload in designs), which, np.array(scales), constants)


def stratified(base: Workload, axes: Sequence[Axis]) -> Workload:
    """``base`` with its strata, as a survey past `MOST_TABLE_CELLS` types and where those of each
    stratum are best seen as one (see `surveyed`); without strata where the known attributes have
    one value only."""
    shape = tuple(axis.size for axis in axes)
    known = tuple(i for i, axis in enumerate(axes) if axis.known)
    if math.prod(shape[i] for i in known) == 1:
        return surveyed(base, axes)
    secret = [shape[i] for i in secret_of(shape, known) if shape[i] > 1]
    if len(secret) > 1 and math.prod(secret) > MOST_FITTED_TYPES:
        try:
            survey = StratifiedSurvey(shape, by_tables(base, shape, axes).groups, known, axes)
        except ValueError:  # tables that are too large
            if base.n > MOST_TABLE_CELLS:
                raise
        else:
            surveys = [design.survey for design in survey.strata.designs]
            if base.n > MOST_TABLE_CELLS or all(one and few_at_a_time(one) for one in surveys):
                return survey
    made = Stratified(base, shape, known)
    assert made.strata  # says what is wrong with the questions
    return made


def restricted(base: Workload, sizes: Sequence[int], fixed: dict[int, int]) -> tuple[Workload, float] | None:
    """A workload, and the factor of its weight, with the Gram matrix of ``base``, on types in a
    table of ``sizes``, among the types with the values ``fixed`` at some places; None where no
    query is about these."""
    if not fixed:
        return base, 1.0
    left = [size for i, size in enumerate(sizes) if i not in fixed]
    if isinstance(base, Histogram):
        return Histogram(math.prod(left)), 1.0
    if isinstance(base, OnAttributes) and base.shape == tuple(sizes):
        return _restricted_on(base, fixed)
    if isinstance(base, Product) and (parts := _by_factor(base, sizes, fixed)) is not None:
        factors, scale = parts
        if scale == 0 or not factors:
            return None
        return (factors[0] if len(factors) == 1 else Product(factors)), scale
    made = Representatives(base, _inside(sizes, fixed))
    return (made, 1.0) if made.gram_diag.any() else None


def _restricted_on(base: OnAttributes, fixed: dict[int, int]) -> tuple[Workload, float] | None:
    fixed_here = {k: fixed[i] for k, i in enumerate(base.kept) if i in fixed}
    if any(value >= base.used[k] for k, value in fixed_here.items()):
        return None
    found = restricted(base.base, base.used, fixed_here)
    if found is None:
        return None
    left = [i for i in range(len(base.shape)) if i not in fixed]
    kept = [left.index(i) for i in base.kept if i not in fixed]
    used = [size for k, size in enumerate(base.used) if k not in fixed_here]
    if kept == list(range(len(left))) and used == [base.shape[i] for i in left]:
        return found
    return OnAttributes([base.shape[i] for i in left], kept, found[0], used), found[1]


def _by_factor(base: Product, sizes: Sequence[int], fixed: dict[int, int]) -> tuple[list[Workload], float] | None:
    """Each factor restricted, and the product of the factors of their weights; None where factors
    are not about whole attributes."""
    factors: list[Workload] = []
    place, scale = 0, 1.0
    for factor in base.factors:
        start = place
        while place < len(sizes) and math.prod(sizes[start:place]) < factor.n:
            place += 1
        shape, within = sizes[start:place], {i - start: fixed[i] for i in range(start, place) if i in fixed}
        if math.prod(shape) != factor.n:
            return None
        if math.prod(size for i, size in enumerate(shape) if i not in within) == 1:
            scale *= math.sqrt(float(factor.gram_diag[_inside(shape, within)[0]]))
            continue
        found = restricted(factor, shape, within)
        if found is None:
            return [], 0.0
        factors.append(found[0])
        scale *= found[1]
    return factors, scale


def _inside(sizes: Sequence[int], fixed: dict[int, int]) -> np.ndarray:
    """The types in a table of ``sizes`` with the values ``fixed`` at some places."""
    table = np.arange(math.prod(sizes)).reshape(tuple(sizes))
    return table[tuple(fixed.get(i, slice(None)) for i in range(len(sizes)))].ravel()


def _alike(one: dict[Question, float], other: dict[Question, float]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(weight, other[key], rel_tol=ALIKE) for key, weight in one.items()
    )
