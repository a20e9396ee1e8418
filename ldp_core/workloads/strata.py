"""Questions about people of whom the collector knows some attributes already.

Known attributes are no secrets: they split people into strata z, each with a mechanism of its own for the types x of the secret
attributes. The information matrix is block diagonal then, and ``L = tr(M^-1 G) = sum_z tr(M_z^-1 G_zz)``, G_zz the block of
G within a stratum: entries of G between strata do not count, since no report is about two strata. A question that only asks how many
people are in a stratum adds a multiple of the ones to G_zz, and no variance: ``tr(M_z^-1 1 1') = m`` for m secret types. Where the
blocks are multiples of each other there is one design and one proof. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_STRATA
from ldp_core.wording import magnitude
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Product, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import Histogram
from ldp_core.workloads.representatives import Representatives
from ldp_core.workloads.secret import PartlySecret
from ldp_core.workloads.surveyed import groups

ALIKE = 1e-12
"""Weights are equal up to this share, which rounding leaves."""

Asked = tuple[tuple[int, ...], Workload]
"""Places among the secret attributes, and what is asked about them."""


@dataclass(frozen=True, eq=False)
class Strata:
    """K strata of m secret types each: ``G_zz = scale_z^2 G_d + constant_z 1 1'``, d = ``which`` (K,) of the ``designs``.

    ``types`` (K, m) are the types of each stratum. A scale is 0 where only the size of a stratum is asked for.
    """

    types: np.ndarray
    designs: tuple[Workload, ...]
    which: np.ndarray
    scale: np.ndarray
    constant: np.ndarray

    def cases(self, prior: np.ndarray | None) -> tuple[list[tuple[Workload, np.ndarray | None]], np.ndarray]:
        """What to design for: workloads on the m secret types, each with the shares of these under ``prior`` (n,), None where these are
        even; and (K,) which of them is for each stratum. Strata without people have even shares."""
        if prior is None:
            return [(design, None) for design in self.designs], self.which
        found: dict[tuple[int, bytes], int] = {}
        cases: list[tuple[Workload, np.ndarray | None]] = []
        index = np.zeros(len(self.which), dtype=np.int64)
        for z, shares in enumerate(prior[self.types]):
            own = None if np.ptp(shares) <= ALIKE * shares.max() else shares / shares.sum()
            key = (int(self.which[z]), b"" if own is None else own.round(12).tobytes())
            if key not in found:
                found[key] = len(cases)
                cases.append((self.designs[key[0]], own))
            index[z] = found[key]
        return cases, index

    def shares(self, prior: np.ndarray | None) -> np.ndarray:
        """(K,) the shares of the strata under ``prior`` (n,)."""
        count = len(self.types)
        return np.full(count, 1 / count) if prior is None else prior[self.types].sum(axis=1)

    def objective(self, values: Sequence[float], prior: np.ndarray | None = None) -> float:
        """L, or n tr(M_p^-1 G) for the ``prior`` p (n,), from those of the `cases`."""
        count, m = self.types.shape
        index, shares = self.cases(prior)[1], self.shares(prior)
        own = self.scale**2 * np.array(values)[index] + m * self.constant
        return math.fsum(count * shares * own)


class Stratified(Representatives):
    """The queries of ``base`` about types in a table of ``shape``, the attributes at the places ``known`` known to the collector."""

    kind = "stratified"
    recipe = ("base", "shape", "known")

    def __init__(self, base: Workload, shape: Sequence[int], known: Sequence[int]):
        self.shape, self.known = tuple(map(int, shape)), tuple(map(int, known))
        self.unknown = tuple(i for i in range(len(self.shape)) if i not in self.known)
        if math.prod(self.shape) != base.n or not set(self.known) < set(range(len(self.shape))):
            raise ValueError("The attributes that are known must be some of those that the types are made of, not all.")
        sizes = [math.prod(self.shape[i] for i in places) for places in (self.known, self.unknown)]
        if sizes[1] < 2:
            raise ValueError("The secret attributes have one value, so there is nothing to protect; add one with more.")
        if sizes[0] > MOST_STRATA or sizes[1] > MOST_FITTED_TYPES:
            raise ValueError(
                f"The known attributes make {magnitude(sizes[0])} groups and the others {magnitude(sizes[1])} types; at most "
                f"{MOST_STRATA:,} groups of {MOST_FITTED_TYPES:,} types are handled. Use fewer attributes or coarser values."
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
        order = np.arange(self.n).reshape(self.shape).transpose(self.known + self.unknown)
        types = order.reshape(-1, math.prod(self.shape[i] for i in self.unknown))
        asked = [self._asked(values) for values in np.ndindex(*(self.shape[i] for i in self.known))]
        leading = [next(iter(weights.values()), 0.0) for weights, _ in asked]
        designs: list[tuple[dict[Asked, float], Workload]] = []
        which = np.zeros(len(asked), dtype=np.int64)
        for z, ((weights, _), scale) in enumerate(zip(asked, leading, strict=True)):
            if not scale:
                continue  # any design serves
            relative = {key: weight / scale for key, weight in weights.items()}
            found = (k for k, (held, _) in enumerate(designs) if _alike(held, relative))
            which[z] = next(found, len(designs))
            if which[z] == len(designs):
                designs.append((relative, self._design(relative)))
        if not designs:
            raise ValueError("The questions are about what the collector knows already; ask about a secret attribute.")
        constant = np.array([constant for _, constant in asked])
        return Strata(types, tuple(design for _, design in designs), which, np.array(leading), constant)

    def _asked(self, values: Sequence[int]) -> tuple[dict[Asked, float], float]:
        """The weights of what is asked within the stratum with these ``values`` of the known attributes, and the constant that every
        entry of G has besides."""
        fixed = dict(zip(self.known, values, strict=True))
        squares: dict[Asked, float] = {}
        constant = 0.0
        for group in groups(self.base.all_secret, self.shape):
            sizes = [self.shape[i] for i in group.attributes]
            own = {k: fixed[i] for k, i in enumerate(group.attributes) if i in fixed}
            left = tuple(self.unknown.index(i) for i in group.attributes if i in self.unknown)
            if math.prod(self.shape[self.unknown[k]] for k in left) == 1:
                constant += group.weight**2 * float(group.base.gram_diag[_inside(sizes, own)[0]])
            elif (found := restricted(group.base, sizes, own)) is not None:
                squares[left, found[0]] = squares.get((left, found[0]), 0.0) + (group.weight * found[1]) ** 2
        return {key: math.sqrt(square) for key, square in squares.items()}, constant

    def _design(self, weights: dict[Asked, float]) -> Workload:
        sizes = [self.shape[i] for i in self.unknown]
        whole = tuple(range(len(sizes)))
        parts = [base if places == whole else OnAttributes(sizes, places, base) for places, base in weights]
        made = parts[0] if len(parts) == 1 else Union(parts, list(weights.values()))
        if self.base.all_secret is self.base:
            return made
        order = np.arange(self.n).reshape(self.shape).transpose(self.known + self.unknown)
        return PartlySecret(made, self.secret[order.reshape(-1, made.n)[0]])


def stratified(base: Workload, axes: Sequence[Axis]) -> Workload:
    """``base`` with its strata; itself where the known attributes have one value only."""
    known = [i for i, axis in enumerate(axes) if axis.known]
    if math.prod(axes[i].size for i in known) == 1:
        return base
    made = Stratified(base, [axis.size for axis in axes], known)
    assert made.strata  # says what is wrong with the questions
    return made


def restricted(base: Workload, sizes: Sequence[int], fixed: dict[int, int]) -> tuple[Workload, float] | None:
    """A workload, and the factor of its weight, with the Gram matrix of ``base``, on types in a table of ``sizes``, among the types with the
    values ``fixed`` at some places; None where no query is about these."""
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
    own = {k: fixed[i] for k, i in enumerate(base.kept) if i in fixed}
    if any(value >= base.used[k] for k, value in own.items()):
        return None
    found = restricted(base.base, base.used, own)
    if found is None:
        return None
    left = [i for i in range(len(base.shape)) if i not in fixed]
    kept = [left.index(i) for i in base.kept if i not in fixed]
    used = [size for k, size in enumerate(base.used) if k not in own]
    if kept == list(range(len(left))) and used == [base.shape[i] for i in left]:
        return found
    return OnAttributes([base.shape[i] for i in left], kept, found[0], used), found[1]


def _by_factor(base: Product, sizes: Sequence[int], fixed: dict[int, int]) -> tuple[list[Workload], float] | None:
    """Each factor restricted, and the product of the factors of their weights; None where factors are not about whole attributes."""
    factors: list[Workload] = []
    place, scale = 0, 1.0
    for factor in base.factors:
        start = place
        while place < len(sizes) and math.prod(sizes[start:place]) < factor.n:
            place += 1
        own, within = sizes[start:place], {i - start: fixed[i] for i in range(start, place) if i in fixed}
        if math.prod(own) != factor.n:
            return None
        if math.prod(size for i, size in enumerate(own) if i not in within) == 1:
            scale *= math.sqrt(float(factor.gram_diag[_inside(own, within)[0]]))
            continue
        found = restricted(factor, own, within)
        if found is None:
            return [], 0.0
        factors.append(found[0])
        scale *= found[1]
    return factors, scale


def _inside(sizes: Sequence[int], fixed: dict[int, int]) -> np.ndarray:
    """The types in a table of ``sizes`` with the values ``fixed`` at some places."""
    table = np.arange(math.prod(sizes)).reshape(tuple(sizes))
    return table[tuple(fixed.get(i, slice(None)) for i in range(len(sizes)))].ravel()


def _alike(one: dict[Asked, float], other: dict[Asked, float]) -> bool:
    return one.keys() == other.keys() and all(
        math.isclose(weight, other[key], rel_tol=ALIKE) for key, weight in one.items()
    )
