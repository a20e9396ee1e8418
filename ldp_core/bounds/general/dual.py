"""The search for the multipliers of a large bound (`ldp_core.bounds.general.multipliers`).

The bound's logarithm, ``log(tr (W A W')^(1/2))^2 - log b``, is maximised by SciPy's L-BFGS-B. A must be positive semidefinite
on all vectors x with p'x = 0. The best A is singular where W says nothing about most of them, as with few questions, and c vanishes where
all good rows have one size. A small multiple of log det A + log c, smaller from stage to stage, keeps both away from that.

The slopes by the multipliers are values of their quadratic functions at three arrays, which stand for the moments of (1, y) of a
strategy. This is the dual of a relaxation: it keeps of a strategy only its moments, and that these functions are not negative on average.
Cuts on few types that the moments violate are added, round after round.

Where permutations of single types change nothing, multipliers of one orbit are one number, and cuts come with all their images
(`ldp_core.bounds.general.orbits`).

Many types are put together in blocks of alike ones, over which q and N are even (as multiples of the shares). Within a block, that part
of K counts with the nuclear norm of its own. This estimate ignores the coupling of blocks with their interiors. It only serves to choose
q and N.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg, optimize

from ldp_core.bounds.general.few_types import Cuts, violated
from ldp_core.bounds.general.multipliers import NOISE, Multipliers, definite, held, plain
from ldp_core.bounds.general.orbits import Averaged, Orbits, automorphisms
from ldp_core.definite import inverse_and_logarithm
from ldp_core.priors import check_prior
from ldp_core.run import Check, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

BLOCKS = 128
"""More types are put together in so many blocks first."""
SINGLE_TYPES = 1024
"""Up to this number of types q and N are looked for type by type."""
FEW_TYPES = 256
BETWEEN = 0.6
"""More than `FEW_TYPES` types are not looked at one by one where blocks suffice: where at least this share of the nuclear norm is
between them. Single types then gain a thousandth."""
BARRIERS = (1.0, 0.1, 0.01, 3e-4)
"""The weights of log det A + log c in turn, for all types together. The first helps where questions are few."""
CUTTING = 0.01
"""The weight while cuts are added: where it is smaller, violated cuts are many, those that hold in the end among few."""
AFTER_CUTS = (3e-3, 1e-3, 3e-4)
"""The weights once cuts stay as they are."""
_MOST_EVALUATIONS = 200
"""For each barrier."""
FARTHEST = 60.0
"""q is at most e to this power times what it is in the closed form."""
FEW_HIGH = 4
"""The best rows, with a share 1 / (E + 1) of high entries or so, have one or a few where E is above this multiple of n."""
_TURN_BACK = 0.1
"""How much worse than its start a search is told that a point is which proves nothing: a line search cannot take infinity, nor very much."""
# Workload -> digest of the prior -> True if blocks suffice.
_KEPT: WeakKeyDictionary[Workload, dict[str, bool]] = WeakKeyDictionary()


def suffice(workload: Workload, prior: np.ndarray | None = None) -> bool:
    """True if blocks complete a certificate for this workload. The certificate then
    takes half a second for 1,024 types; this check takes hundredths. ValueError past
    `ldp_core.limits.MOST_MATRIX_TYPES` types."""
    n = workload.n
    p, known = check_prior(prior, n), _KEPT.setdefault(workload, {})
    about = hashlib.sha256(p.tobytes()).hexdigest()
    if about not in known:
        root = workload.gram_root
        known[about] = Dual.over_blocks(root - (root @ p)[:, None], p, 1.0, BLOCKS).share_between >= BETWEEN
    return known[about]


def alike(columns: np.ndarray, shares: np.ndarray, count: int) -> np.ndarray:
    """(n,) the block of each type, ``count`` at most: halves of about the same ``shares`` (n,), by the direction in which the
    ``columns`` (r, n) differ most, then halves of these."""
    n = columns.shape[1]
    blocks, weights = [np.arange(n)], held(shares)
    while len(blocks) < min(count, n):
        blocks = [half for block in blocks for half in _halved(columns, weights, block)]
    block = np.empty(n, dtype=int)
    for number, members in enumerate(blocks):
        block[members] = number
    return block


def _halved(columns: np.ndarray, shares: np.ndarray, block: np.ndarray) -> list[np.ndarray]:
    if len(block) == 1:
        return [block]
    centred, p = columns[:, block], shares[block]
    centred = centred - (centred @ p / p.sum())[:, None]
    direction = centred[:, np.square(centred).sum(axis=0).argmax()]
    for _ in range(12):
        direction = centred @ (p * (direction @ centred))
        direction /= np.linalg.norm(direction) or 1.0
    ordered = np.argsort(direction @ centred, kind="stable")
    before = np.cumsum(p[ordered])
    middle = int(np.clip(np.searchsorted(before, before[-1] / 2 * (1 + 1e-12)), 1, len(block) - 1))
    return [np.sort(block[ordered[:middle]]), np.sort(block[ordered[middle:]])]


def searched(
    workload: Workload,
    epsilon: float,
    prior: np.ndarray,
    stop: Callable[[], object] = lambda: None,
    check: Check = unchecked,
    near: tuple[Multipliers, np.ndarray] | None = None,
) -> Iterator[Multipliers]:
    """Better and better multipliers by types: from many types put together in blocks, then from single ones, one after each barrier; then
    with cuts on few types, round after round, until two rounds gain little of what L is above tr G, and after a few barriers more. Or at once
    from those of single types that are ``near``, which were found for another prior (n,)."""
    n, ratio, root = workload.n, float(np.exp(epsilon)), workload.gram_root
    root = root - (root @ prior)[:, None]
    if near is not None and len(near[0].sizes):
        dual = Dual(root, held(prior), ratio)
        x = dual.taken_over(*near)
        for barrier in BARRIERS[-2:]:
            x = dual.improved(x, barrier / n, stop, check)
            yield dual.of_types(x, prior)
        return
    check()
    # Where few are high, the best multipliers are far from the closed form.
    first = (10.0, 2.0, 0.5) if ratio > FEW_HIGH * n else ()
    if n > (FEW_TYPES if first else BLOCKS):
        blocks = Dual.over_blocks(root, prior, ratio, BLOCKS)
        x = blocks.start
        for barrier in first + BARRIERS:
            x = blocks.improved(x, barrier / blocks.m, stop, check)
        yield blocks.of_types(x, prior)
        enough = blocks.share_between >= BETWEEN and ratio <= 2.5 * n  # blocks say little where few entries are high
        if n > SINGLE_TYPES or (n > FEW_TYPES and enough):
            return
        check()
    dual = Dual(root, held(prior), ratio, orbits=Orbits.of(automorphisms(root.T @ root, prior)))
    x = centre = dual.start
    for barrier in first + (BARRIERS if len(dual.columns) < n / 2 else BARRIERS[1:]):
        if stop():
            return
        briefly = bool(first) and n > 128 and barrier > BARRIERS[-2]
        x = dual.improved(x, barrier / n, stop, check, 120 if briefly else _MOST_EVALUATIONS)
        yield dual.of_types(x, prior)
        centre = x if barrier == CUTTING else centre
    earlier, before, trivial = -np.inf, -np.inf, float(dual.shares @ np.square(dual.columns).sum(axis=0))
    for _ in range(12 if n <= 512 else 0):  # a look takes n^2 steps from many starts
        value = dual.value(centre)
        # Two rounds of cuts that gain less than this together are the last.
        least = 2e-4 * max(1 - trivial / max(np.exp(value), 1e-300), 2e-4)
        if value < earlier + least or stop() or (cut := dual.with_cuts(centre, CUTTING / n)) is None:
            break
        centre, earlier, before = dual.improved(cut, CUTTING / n, stop, check), before, value
        yield dual.of_types(centre, prior)
    for barrier in AFTER_CUTS if len(dual.cuts) else ():
        if stop():
            return
        centre = dual.improved(centre, barrier / n, stop, check)
        yield dual.of_types(centre, prior)


@dataclass(frozen=True)
class Point:
    """The ``value`` of the bound's logarithm (up to a constant) and the barrier, its ``slopes`` by all multipliers, and the moments: ``second`` (m, m),
    ``first`` (m,) and ``mass``, which stand for those of y y', y and 1."""

    value: float
    slopes: np.ndarray
    second: np.ndarray
    first: np.ndarray
    mass: float
    a: float = 0.0
    """The best a there, where only some types are secret (`ldp_core.bounds.secret`)."""


class Dual:
    """The bound as a function of multipliers over blocks of types: the columns of W (r, m), the ``shares`` p (m,) of the blocks, and the
    nuclear norm ``within`` each (m,), None where blocks are single types; cuts on all types are of ``sizes`` (s,), near those of the
    best rows where none are given; multipliers are the same over ``orbits``, each a type or pair by default. A point is one vector of
    all multipliers, scaled."""

    def __init__(
        self,
        columns: np.ndarray,
        shares: np.ndarray,
        ratio: float,
        within: np.ndarray | None = None,
        sizes: np.ndarray | None = None,
        orbits: Orbits | None = None,
    ):
        self.m, self.D, self.within = len(shares), ratio - 1, within
        self.orbits = Orbits.of(np.arange(self.m)[None]) if orbits is None else orbits
        self._kinds = int(self.orbits.types.max()) + 1
        self.free = self._kinds  # numbers of a point that may have any sign: the logarithms of q
        r, near = len(columns), int(self.m / (ratio + 1)) + np.arange(-1, 2)
        # As many rows as types have the same products of columns.
        self.columns = columns if r <= self.m else linalg.qr(columns, mode="r", check_finite=False)[0][: self.m]
        self.shares, self.block = shares, np.arange(self.m)
        if sizes is None:
            sizes = near[(near >= 1) & (near < self.m)] if within is None else np.zeros(0)
            sizes = np.ones(1) if within is None and not len(sizes) else sizes
        self.sizes = sizes.astype(float)
        self._pairs = self.orbits.pairs.copy()
        if within is not None:  # a block has pairs of types too
            self._pairs[np.diag_indices(self.m)] += np.arange(self.m)
        self._pair_sizes = np.bincount(self._pairs.ravel())[: int(self._pairs.max()) + (within is not None)]
        self._rng = np.random.default_rng(0)
        self.allow(Cuts.none(self.m))

    @classmethod
    def over_blocks(cls, root: np.ndarray, prior: np.ndarray, ratio: float, count: int) -> Dual:
        """About ``count`` blocks of types whose columns of W, ``root`` (r, n), are alike."""
        block, p = alike(root, prior, count), held(prior)
        shares = np.bincount(block, p)
        columns = np.zeros((len(root), len(shares)))
        np.add.at(columns.T, block, (root * p).T)
        columns /= shares
        inside = (root - columns[:, block]) * np.sqrt(p)
        within = np.array([np.linalg.svd(inside[:, block == b], compute_uv=False).sum() for b in range(len(shares))])
        dual = cls(columns, shares, ratio, within)
        dual.block = block
        return dual

    def allow(self, cuts: Cuts) -> None:
        """Cuts that points have multipliers for from now on."""
        self.cuts = cuts
        self._averaged = (
            cuts if self.orbits.order == 1 else Averaged(cuts.types, cuts.signs, cuts.floors, cuts.n, self.orbits)
        )
        m, even = self.m, np.sqrt(self.m) * self.shares
        self._scales = np.concatenate(
            [
                self._sums(even[:, None] * self.shares) / self._pair_sizes,
                np.full(len(self.sizes), 1 / m**2),
                np.full(len(cuts), self.orbits.order * np.sqrt(m) / m**2),
            ]
        )

    def taken_over(self, found: Multipliers, shares: np.ndarray) -> np.ndarray:
        """The point of multipliers ``found`` for single types with other ``shares`` (m,), as near to it as proves something; their cuts are
        allowed from now on."""
        self.allow(found.cuts)
        ratios, even = self.shares / held(shares), held(shares) * found.q.sum()
        pairs = self._sums(found.pairs * np.outer(ratios, ratios)) / self._pair_sizes
        others = np.concatenate([pairs, found.size_multipliers, found.cut_multipliers])
        x = np.concatenate([np.log(found.q / even), others / found.q.sum() / self._scales])
        while np.abs(x).max() > 1e-5 and self.at(x, 0.0) is None:
            x = 0.8 * x  # towards the closed form, which proves something
        return x

    @property
    def start(self) -> np.ndarray:
        """The closed form."""
        return np.zeros(self.free + len(self._scales))

    @property
    def share_between(self) -> float:
        """The share of the nuclear norm of K, as estimated here, that is between blocks."""
        if self.within is None:
            return 1.0
        between = float(np.linalg.svd(self.columns * np.sqrt(self.shares), compute_uv=False).sum())
        return between / (between + float(self.within.sum()) or 1.0)

    def multipliers(self, x: np.ndarray) -> Multipliers:
        """Those of a point, by blocks."""
        pairs, sizes = len(self._pair_sizes), len(self.sizes)
        others = x[self.free :] * self._scales
        N = np.append(others[:pairs], 0.0)[self._pairs]
        kappa, nu = np.split(others[pairs:], [sizes])
        q = self.shares * np.exp(x[: self._kinds])[self.orbits.types]
        return Multipliers(q, N, self.sizes, kappa, self._averaged, nu)

    def of_types(self, x: np.ndarray, prior: np.ndarray) -> Multipliers:
        """Those of a point, by types."""
        found = self.multipliers(x)
        if self.within is None:
            order = self.orbits.order
            return replace(
                found,
                cuts=self.orbits.all_of(self.cuts),
                cut_multipliers=np.tile(found.cut_multipliers / order, order),
            )
        p = held(prior) / self.shares[self.block]
        return plain(p * found.q[self.block], p[:, None] * p * found.pairs[self.block][:, self.block])

    def value(self, x: np.ndarray) -> float:
        """The bound's logarithm, up to a constant; -inf where the multipliers prove nothing."""
        at = self.at(x, 0.0)
        return -np.inf if at is None else at.value

    def at(self, x: np.ndarray, barrier: float) -> Point | None:
        """The value, slopes and moments at a point; None where its multipliers prove nothing."""
        m, p, D = self.m, self.shares, self.D
        if not np.abs(x[: self._kinds]).max() < FARTHEST:
            return None
        found = self.multipliers(x)
        form = found.form(D)
        A, g, w, c, top = form.A, float(found.q.sum()), form.w, form.c, form.top
        if A is None or (parts := self._decomposed(A, definite(A, p, g))) is None:
            return None
        inverse, logarithm, nuclear, half = parts
        if self.within is not None:
            inner = self.within * np.sqrt(found.q / p)
            nuclear += float(inner.sum())
        T = half @ half.T / nuclear + barrier * (inverse - 1 / g)
        value = 2 * np.log(nuclear) - np.log(top / c) + barrier * (logarithm + np.log(c) - (m + 1) * np.log(g))
        u = T @ w
        along, less = float(w @ u) / c**2 + (1 + barrier) / c, 1 / top
        second = T - np.add.outer(u, u) / c + (along - less * form.h)
        first = u / c + (form.t * less - along)
        mass = along + less * form.total
        slope = (second.diagonal() - D * first - barrier * m / g) * found.q
        if self.within is not None:
            slope += inner / nuclear
        slope = np.bincount(self.orbits.types, slope)
        return Point(value, np.append(slope, self._by_others(second, first, mass)), second, first, mass)

    def _decomposed(self, A: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, float, float, np.ndarray] | None:
        """The inverse and log det of a ``positive`` matrix, ``tr (W A W')^(1/2)``, and H (m, r) such that
        H H' is its slope by A; None where one of the matrices is not positive."""
        if (inverted := inverse_and_logarithm(positive)) is None:
            return None
        values, vectors = linalg.eigh(self.columns @ A @ self.columns.T, check_finite=False)
        if not values[-1] > 0:
            return None
        roots = np.sqrt(np.maximum(values, values[-1] * NOISE * len(values)))
        return *inverted, float(roots.sum()), self.columns.T @ (vectors / np.sqrt(roots))

    def _by_others(self, second: np.ndarray, first: np.ndarray, mass: float) -> np.ndarray:
        """The slopes by all multipliers but q, at moments."""
        D, k = self.D, self.sizes
        sizes = second.sum() - (2 * k + 1) * D * first.sum() + k * (k + 1) * D**2 * mass
        cuts = self._averaged.values(second, first, mass, D) if len(self.cuts) else self.sizes[:0]
        return -np.concatenate([self._sums(second), sizes, cuts]) * self._scales

    def _sums(self, table: np.ndarray) -> np.ndarray:
        """The sums of a ``table`` (m, m) over each orbit of pairs."""
        return np.bincount(self._pairs.ravel(), table.ravel())[: len(self._pair_sizes)]

    def improved(
        self,
        x: np.ndarray,
        barrier: float,
        stop: Callable[[], object] = lambda: None,
        check: Check = unchecked,
        most: int = _MOST_EVALUATIONS,
    ) -> np.ndarray:
        """A better point than ``x``; this where it proves nothing."""
        if (start := self.at(x, barrier)) is None:
            return x
        turned_back = _TURN_BACK - start.value, np.zeros_like(x)

        def falling(x: np.ndarray) -> tuple[float, np.ndarray]:
            check()
            at = self.at(x, barrier)
            return turned_back if at is None else (-at.value, -at.slopes)

        def ended(_: np.ndarray) -> None:
            if stop():
                raise StopIteration

        signs = optimize.Bounds(
            np.repeat([-np.inf, 0.0], [self.free, len(x) - self.free]), np.inf
        )  # all but q are not negative
        options = {"maxfun": most, "maxiter": most, "ftol": 1e-9, "gtol": 0.0}
        with blas_threads(self.m):
            return np.asarray(
                optimize.minimize(
                    falling, x, jac=True, method="L-BFGS-B", bounds=signs, callback=ended, options=options
                ).x
            )

    def with_cuts(self, x: np.ndarray, barrier: float) -> np.ndarray | None:
        """The same point, where cuts on few types that it violates may get multipliers; None if it violates none."""
        at = self.at(x, barrier)
        if at is None:
            return None
        deep = 0.03 * self.D * float(at.first.mean())  # a share of an average y, in units of D
        new = violated(at.second, at.first, at.mass, self.D, deep, 40 * self.m, self._rng)
        if not len(new):
            return None
        others, nu = np.split(x, [len(x) - len(self.cuts)])
        cuts, nu = self.cuts.kept(nu > 0) + new, np.append(nu[nu > 0], np.zeros(len(new)))
        first = self.orbits.different(cuts)
        self.allow(cuts.kept(first))
        return np.concatenate([others, nu[first]])
