"""The best strategy for lists of at most m of k items, where questions treat items alike.

Averaging a strategy over all ways to rename items never raises L, so that reports come in orbits: a row with all its images. The rows looked for are
high at the lists that share at least so many items with a set of items, a number for each size of lists. With ones, and noughts for short
lists, these are the reports of PrivSet (Wang et al. 2018): "meets the set, or is shorter than so much". Such a row counts one number for each size
in every block of M (`ldp_core.workloads.lists`), so that the search is about a few thousand orbits of a few numbers, however many types there are.
Minutes of single flips from there gained 0.2 % for 2 of 12 items and nothing for 3 of 12, at epsilon 0.5 (this project).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any, Literal

import numpy as np

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.bounds.general.hardest_prior import moved
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.optimize.base import SearchLimits, fields_of
from ldp_core.optimize.columns.generation import rows_held, strategy_of
from ldp_core.optimize.columns.weights import BOLD, MONOTONE, RowBlock, SinglePrecision, Singular, update
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.rows import Rows, first_rows
from ldp_core.privacy import check_epsilon, fitted_exp_epsilon
from ldp_core.run import Budget, Check, Interrupted, drive, generator
from ldp_core.workloads import Workload
from ldp_core.workloads.lists import Lists, lists_of

ANCHORS = 1e-6
"""The share of randomized response, which keeps M regular where the questions are blind to some directions."""
UPDATES, ADDED = 20, 12
"""Updates of the weights, and orbits added, in a round."""
LIGHTEST = 1e-8
"""Orbits below this share of all reports are left out."""
RARE, LOST = 1e-4, 1e-5
"""Orbits that end below the share RARE of all reports are left out where that raises L by the share LOST at most."""
FEW_TYPES = 192
"""So few types have better rows than these orbits': by a tenth for 2 of 3 items at epsilon 2."""
WORTH_DRAWING = 0.02
"""Orbits that fit are kept where their noise is at most this share above that of orbits of any size."""
PATIENCE = 150
"""Rounds that gain next to nothing together, after which a search ends."""
GAIN = 1e-6
"""Orbits that are worth this share more than they cost join."""
ANY_NUMBERS = 4
"""For longer lists only numbers of shared items that do not fall with the size are tried."""


@dataclass(frozen=True)
class Mixture:
    """Orbits of rows: ``sizes`` (k,) of their sets of items, the ``least`` (k, most + 1) numbers of items that lists of each size share with a
    set where a row is high, ``weights`` (k,) of whole orbits, and the ``objective``; ``prior`` (most + 1,) is that of a list of each size."""

    lists: Lists
    sizes: np.ndarray
    least: np.ndarray
    weights: np.ndarray
    ratio: float
    objective: float
    prior: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """(k,) how many rows each orbit has."""
        return np.array([math.comb(self.lists.items, size) for size in self.sizes.tolist()])

    @cached_property
    def transposed(self) -> np.ndarray:
        """(n, m) the strategy."""
        orbits = zip(self.sizes.tolist(), self.least, strict=True)
        high = np.vstack([self._high(self.lists.sets(size), least) for size, least in orbits])
        strategy = strategy_of(high, np.repeat(self.weights / self.rows, self.rows), self.ratio)
        return np.ascontiguousarray((strategy / strategy.sum(axis=0)).T)

    def _high(self, sets: np.ndarray, least: np.ndarray) -> np.ndarray:
        """(sets, n) the rows of ``sets`` (sets, items)."""
        return sets @ self.lists.members.T >= least[self.lists.sizes]

    def drawn(self, most: int, rng: np.random.Generator) -> Rows:
        """About ``most`` rows: those of small orbits, and of larger ones some sets of items with all their shifts, and weights."""
        items, high, weights = self.lists.items, list[np.ndarray](), list[np.ndarray]()
        for size, least, weight, many in zip(self.sizes.tolist(), self.least, self.weights, self.rows, strict=True):
            share = weight / self.weights.sum()
            if many <= max(items, share * most):
                sets = self.lists.sets(size)
            else:
                base = rng.permuted(np.tile(np.arange(items) < size, (math.ceil(share * most / items), 1)), axis=1)
                sets = np.vstack([np.roll(base, shift, axis=1) for shift in range(items)]).astype(float)
            high.append(self._high(sets, least))
            weights.append(np.full(len(sets), weight / len(sets)))
        return np.vstack(high), np.concatenate(weights)


def from_lists(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    search: Callable[[SearchLimits, Rows | None], Optimized],
    prior: np.ndarray | None = None,
    worst_case: bool = False,
) -> Optimized:
    """What ``search`` comes to, which begins with rows of lists or of tables; the strategy for lists where that is better or nothing can be gained."""
    budget, lists = limits.budget(), lists_of(workload) if prior is None else None
    if lists is None:
        first = first_rows(workload, epsilon, limits)
        return search(limits.within(budget.left()), first)
    found, first = design_lists(workload, lists, epsilon, limits, worst_case)
    if first is None:
        return found
    made = search(limits.within(budget.left()), first)
    return made if made.objective <= found.objective else found


def design_lists(
    workload: Workload, lists: Lists, epsilon: float, limits: SearchLimits, worst_case: bool = False
) -> tuple[Optimized, Rows | None]:
    """The strategy of least L, or of least worst-case variance, among those of whole orbits that there is room for.

    Where larger orbits would be better, some of their rows are drawn, and weighted anew: a hundred rows for each type come to what all of them do.
    Besides, rows and weights to go on from for at most `FEW_TYPES` types, where single flips still gain; else None."""
    budget, room = limits.budget(), MOST_STRATEGY_ENTRIES // workload.n
    for most in (math.inf, room):
        search = ListSearch(workload, lists, check_epsilon(epsilon), worst_case, most, budget.check)
        run = drive(search, Budget(budget.left(), limits.max_rounds, limits.cancel, limits.callback), PATIENCE)
        best: Mixture = run.found[0]
        if most == math.inf:
            ideal = best
        if best.rows.sum() <= room:
            break
    noise, least = (one.objective - workload.trace for one in (best, ideal))
    found, rows = (best.transposed, best.objective, best.prior[lists.sizes]), None
    if noise > (1 + WORTH_DRAWING) * least:
        drawn = ideal.drawn(room // 2, generator(limits.seed))
        made = weighted(workload, drawn, ideal, limits.within(budget.left()), worst_case)
        found = min(found, made, key=lambda one: one[1])
    elif workload.n <= FEW_TYPES:
        rows = ideal.drawn(rows_held(workload.n) - workload.n, generator(limits.seed))
    about, prior = fields_of(replace(run, found=found[:2]), epsilon, limits), found[2] if worst_case else None
    target: Literal["average", "worst_case"] = "worst_case" if worst_case else "average"
    return Optimized(found[0].T, prior, workload=workload, target=target, **about), rows


def weighted(
    workload: Workload, rows: Rows, ideal: Mixture, limits: SearchLimits, worst_case: bool
) -> tuple[np.ndarray, float, np.ndarray]:
    """(n, m) the strategy of rows drawn from ``ideal`` with the best weights that some updates find in time, at least two, its objective, and the
    prior (n,) that this is under."""
    budget, first = limits.budget(), limits.within(None).budget()
    high, weights, ratio = rows[0] > 0, rows[1], ideal.ratio
    values, prior = np.where(high, ratio, 1.0), ideal.prior[ideal.lists.sizes]
    single = SinglePrecision(high, ratio) if SinglePrecision.fits(workload.n, ratio) else None
    blocks, found, least = [RowBlock(values, workload.gram_root, single)], (weights, prior), math.inf
    weights = weights * workload.n / (weights @ values.sum(axis=1))
    multipliers = hessian = None
    with suppress(Interrupted, Singular):
        for step in range(1 + min(UPDATES, budget.max_rounds or UPDATES)):
            masses = workload.n * (values @ prior)
            floor, check = LIGHTEST * weights.mean(), (first if step < 2 else budget).check
            updated = update(blocks, masses, weights, multipliers, BOLD, check, floor=floor, hessian=hessian)
            objective, here = updated.objective, prior
            if worst_case:
                lengths = np.square(values @ updated.solved[0]).sum(axis=1)
                variances = values.T @ (weights * lengths / masses**2) - workload.gram_diag
                objective, prior = equivalent_objective(float(variances.max()), workload), moved(prior, variances, 1.0)
            if step and objective < least:  # columns are balanced by the update before
                found, least = (weights, here), objective
            weights, multipliers, hessian = updated.weights, updated.multipliers, updated.hessian
    strategy = strategy_of(high, found[0], ratio)
    return np.ascontiguousarray((strategy / strategy.sum(axis=0)).T), least, found[1]


def orbits_of(lists: Lists, most_rows: float) -> tuple[np.ndarray, np.ndarray]:
    """(k,) sizes of sets and (k, most + 1) least numbers of shared items of all orbits of at most ``most_rows`` rows."""
    most = lists.most
    ends: Iterable[tuple[int, ...]] = product(*(range(size + 2) for size in range(most + 1)))
    if most > ANY_NUMBERS:
        rising = combinations_with_replacement(range(most + 2), most + 1)
        ends = (least for least in rising if all(number <= size + 1 for size, number in enumerate(least)))
    numbers = np.array(list(ends))
    sizes = [size for size in range(lists.items + 1) if math.comb(lists.items, size) <= most_rows]
    sizes += [size for size in range(lists.most + 1) if size not in sizes]  # of randomized response
    return np.repeat(sizes, len(numbers)), np.tile(numbers, (len(sizes), 1))


class ListSearch:
    """Column generation over orbits, all of which are priced in every round; for the worst case under a prior that moves towards the sizes that are
    worse off than the average."""

    finished = False

    def __init__(self, workload: Workload, lists: Lists, epsilon: float, worst_case: bool, room: float, check: Check):
        self._workload, self._lists, self._worst, self._check = workload, lists, worst_case, check
        self._ratio, self._room = fitted_exp_epsilon(epsilon), room
        self._sizes, self._least = orbits_of(lists, self._room / 8)
        every = np.arange(lists.most + 1)
        alone = [(self._sizes == size) & (self._least == every + (every != size)).all(axis=1) for size in every]
        self._anchors = np.flatnonzero(np.any(alone, axis=0))[np.argsort(self._sizes[np.any(alone, axis=0)])]
        self._prior = np.full(len(every), 1 / workload.n)
        self._response = lists.counts / (workload.n + self._ratio - 1)
        self._multipliers: np.ndarray | None = None
        self.best = self._mixture(self._anchors, self._response, math.inf)

    def prepare(self) -> None:
        """All orbits in the blocks that the questions are about, and the weights of all of PrivSet's to begin with."""
        lists, gram, most = self._lists, self._workload.gram_dense(), self._lists.most + 1
        values = np.where(np.arange(most) >= self._least[:, :, None], self._ratio, 1.0)
        many = np.array([[lists.shared(size, length) for length in range(most)] for size in range(lists.items + 1)])
        self._every: list[RowBlock] = []
        for block in range(min(lists.most, lists.items // 2) + 1):
            self._check()
            lengths = lists.lengths(block)
            # In these coordinates the first block holds averages over the lists of each size, which are column sums.
            scale = np.ones(len(lengths)) if block else lists.counts**-0.5
            root = _root(lists.block(gram, block) * lists.copies(block) ** 2 * np.outer(scale, scale))
            if block == 0 or len(root):
                counted = many * np.array([lists.vectors(size, block) for size in range(lists.items + 1)])
                rows = np.einsum("ksi,ksi->ks", values, counted[self._sizes])[:, lengths] * scale
                self._every.append(RowBlock(rows, root))
        fresh = (
            (self._least <= 1).all(axis=1)
            & (np.diff(self._least, axis=1) >= 0).all(axis=1)
            & (self._least.max(axis=1) > 0)
        )
        # Randomized response is there twice: with fixed weights, and with others that can balance any columns.
        held = np.concatenate([self._anchors, self._anchors, np.setdiff1d(np.flatnonzero(fresh), self._anchors)])
        self._aim(self._prior)
        weights = self._workload.n / len(held) / self._masses[held]
        weights[: len(self._anchors)] = ANCHORS * self._response
        self._hold(held, weights)
        self._steps(2 * UPDATES)

    def round(self) -> None:
        """Orbits that gain join, light ones leave, and weights are updated."""
        assert self._multipliers is not None
        worth = self._lengths(self._every, self._solved) / self._masses
        cost = self._every[0].rows @ self._multipliers
        gains = np.where(cost > 0, worth / np.maximum(cost, 1e-300) - 1, math.inf)
        gains[self._held] = -math.inf
        best = np.argsort(-gains)[:ADDED]
        joining = best[gains[best] > GAIN]
        kept = self._weights * self._masses[self._held] > LIGHTEST * self._workload.n
        kept[: self._spared] = True
        kept &= self._within(self._held, self._weights)
        mean = self._weights[kept][self._spared :].mean()
        self._hold(
            np.concatenate([self._held[kept], joining]),
            np.concatenate([self._weights[kept], np.full(len(joining), mean / 10)]),
        )
        before = self.best.objective
        try:
            self._steps(UPDATES)
        except Singular:
            self.finished = True
            return
        self.finished = not self._worst and not len(joining) and self.best.objective > before * (1 - GAIN)

    def finish(self, at_once: bool) -> tuple[Mixture, float]:
        """The best orbits and its objective, with fewer reports where rare ones gain next to nothing."""
        best = self.best
        if not at_once and math.isfinite(best.objective):
            held, weights = self._found
            self._aim(best.prior)
            kept = weights * self._masses[held] > RARE * self._workload.n
            kept[: self._spared] = True
            self._hold(held[kept], weights[kept])
            self.best = replace(best, objective=best.objective * (1 + LOST))
            with suppress(Singular, Interrupted):
                self._steps(2 * UPDATES)
            self.best = best if self.best.sizes is best.sizes else self.best
        return self.best, self.best.objective

    @property
    def _spared(self) -> int:
        """How many orbits, the first ones, are never left out."""
        return 2 * len(self._anchors)

    def _within(self, held: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Which orbits there is room for: those sent most often for their rows."""
        rows = np.array([math.comb(self._lists.items, size) for size in self._sizes[held].tolist()])
        rank = weights / rows
        rank[: self._spared] = math.inf
        order = np.argsort(-rank)
        kept = np.zeros(len(held), dtype=bool)
        kept[order] = np.cumsum(rows[order]) <= self._room
        return kept

    def _hold(self, held: np.ndarray, weights: np.ndarray) -> None:
        self._held, self._weights = held, weights
        self._blocks = [replace(block, rows=np.ascontiguousarray(block.rows[held])) for block in self._every]
        self._hessian: np.ndarray | None = None

    def _steps(self, many: int) -> None:
        """Updates of the weights; those known to be the best so far are kept, and for the worst case the prior moves."""
        last, power = math.inf, MONOTONE
        for step in range(many):
            self._check()
            before, given = self._weights, (self._multipliers, power, self._check)
            about: dict[str, Any] = {
                "hessian": self._hessian,
                "floor": LIGHTEST * before.mean(),
                "fixed": len(self._anchors),
            }
            updated = update(self._blocks, self._masses[self._held], before, *given, **about)
            power = BOLD if updated.objective <= last else MONOTONE
            last, self._weights, self._multipliers = updated.objective, updated.weights, updated.multipliers
            self._solved, self._hessian = updated.solved, updated.hessian
            if step:  # columns are balanced by the update before
                self._measure(before, updated.objective)

    def _measure(self, weights: np.ndarray, objective: float) -> None:
        lengths, sizes = self._lengths(self._blocks, self._solved), self._lists.sizes
        variances = self._blocks[0].rows.T @ (weights * lengths / self._masses[self._held] ** 2)
        variances = variances[sizes] - self._workload.gram_diag
        if self._worst:
            objective = equivalent_objective(float(variances.max()), self._workload)
        if objective < self.best.objective and self._within(self._held, weights).all():
            self.best, self._found = self._mixture(self._held, weights, objective), (self._held, weights)
        if self._worst:
            self._aim(moved(self._prior[sizes], variances, 1.0)[np.unique(sizes, return_index=True)[1]])

    def _aim(self, prior: np.ndarray) -> None:
        self._prior = prior
        self._masses = self._every[0].rows @ (self._workload.n * prior * self._lists.counts)

    def _lengths(self, blocks: list[RowBlock], solved: list[np.ndarray]) -> np.ndarray:
        return np.sum(
            [((block.rows @ part) ** 2).sum(axis=1) for block, part in zip(blocks, solved, strict=True)], axis=0
        )

    def _mixture(self, held: np.ndarray, weights: np.ndarray, objective: float) -> Mixture:
        once, place = np.unique(held, return_inverse=True)
        sizes, least, whole = self._sizes[once], self._least[once], np.bincount(place, weights)
        return Mixture(self._lists, sizes, least, whole, self._ratio, objective, self._prior)


def _root(block: np.ndarray) -> np.ndarray:
    """(rank, lengths) R with ``block`` R'R."""
    values, vectors = np.linalg.eigh(block)
    kept = values > 1e-11 * max(values.max(), 1e-300)
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T
