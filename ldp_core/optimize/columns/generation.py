"""Column generation over two-valued rows, without use of symmetry."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import blas

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.bounds.general.hardest_prior import moved
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.optimize.columns.rows import climb, exchanged, query_rows, threshold_rows
from ldp_core.optimize.columns.weights import (
    BOLD,
    MONOTONE,
    DoublePrecision,
    RowBlock,
    SinglePrecision,
    Singular,
    Update,
    update,
)
from ldp_core.optimize.strategy import of_strategy, type_variances
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.run import Check, Interrupted, unchecked
from ldp_core.workloads import Workload


@dataclass(frozen=True)
class RowOptions:
    """How `RowSearch` spends a round. Benchmark: `tests/benchmarks/test_bench_generic.py`, totals and ranges over 32 to 1,024
    types at epsilon 0.25 to 4."""

    starts: int = 64
    """New rows are climbed to from at least so many rows held."""
    light: float = 0.3
    """They take the places of rows below this share of the average weight."""
    exchanges: int = 8
    """Updates a round, of which the second and later ones follow an exchange as long as these pay."""
    smaller: float = 0.6
    larger: float = 1.1
    """In every column a share of half of the rows goes up, and as many down: ``larger`` than last time, or ``smaller`` where
    the objective rose."""
    exchanged: float = 0.1
    """That share is at least that of so many rows."""
    types: int = 16
    """Fewer types, and fewer rows for each type, are left alone: each row counts too much there. All updates are then plain
    ones, and so few types get new rows as if all were light, from rows held alone."""
    step: float = 1.0
    """The weight of a type changes every round by this multiple of how far its variance is off the average."""
    response: float = 1e-2
    """Weight of randomized response, as a share of the average, when the rows held cannot balance their columns any more."""


OPTIONS = RowOptions()


def rows_held(n: int) -> int:
    """How many rows a strategy for ``n`` types has."""
    # With four for each type the search gets nowhere: second moments are then mostly chance.
    return min(max(16 * n, 256), max(MOST_STRATEGY_ENTRIES // n, 4 * n))


@dataclass(frozen=True)
class Mixture:
    """A feasible measure: rows ``high`` (k, n) of booleans, their ``weights`` (k,) and the objective there. The
    first ``anchors`` rows are randomized response with fixed weights, and as many after them are the
    same rows with other weights."""

    high: np.ndarray
    weights: np.ndarray
    ratio: float
    objective: float
    anchors: int = field(default=0, kw_only=True)

    @property
    def strategy(self) -> np.ndarray:
        """(m, n)."""
        a = self.anchors
        weights = self.weights[a:].copy()
        weights[:a] += self.weights[:a]
        return strategy_of(self.high[a:], weights, self.ratio)

    @property
    def transposed(self) -> np.ndarray:
        return self.strategy.T


@dataclass(frozen=True)
class Saddle(Mixture):
    """A feasible measure with the ``prior`` (n,) that its reconstruction is for; its objective is that of the worst type."""

    prior: np.ndarray = field(kw_only=True)


def strategy_of(high: np.ndarray, weights: np.ndarray, ratio: float) -> np.ndarray:
    """(k, n) the strategy whose row k is its weight w_k where low and E w_k where ``high``, but for rows that updates have made almost impossible. No
    sum changes noticeably without them, but their entries are stored with few digits, so that their ratio can exceed e^epsilon."""
    kept = weights > 1e-300
    return weights[kept, None] * np.where(high[kept], ratio, 1.0)


class RowSearch:
    """Column generation for ``workload``, from rows ``first`` (k, n) and their weights (k,) where these are given, or thresholded Gaussian fields;
    ``reference`` is r = n p (n,)."""

    finished = False
    _still = 0
    """How many types, the last ones, are never high, and how many rows, the first ones, stay as they are."""

    def __init__(
        self,
        workload: Workload,
        epsilon: float,
        reference: np.ndarray,
        rng: np.random.Generator,
        check: Check = unchecked,
        first: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        self._given = first
        self._workload, self._ratio, self._reference = workload, fitted_exp_epsilon(epsilon), reference
        self._rng, self._check = rng, check
        self._size = rows_held(workload.n)
        self._anchors = 0
        self._weights = np.zeros(0)
        # The share of rows to exchange, the objective before the last update, and what the last round gained.
        self._share, self._objective, self._gain = 0.01, np.inf, 0.0
        self._rough = True  # whether updates may be in single precision
        self._hessian: np.ndarray | None = None
        self._power = MONOTONE  # of the ratio by which weights change: bold where the last update did not raise L
        self._shifts = Shifts.of(workload)
        self.best = self._at_once()

    def _at_once(self) -> Mixture:
        """The mixture before any search."""
        orbits = first_orbits(self._workload.gram_dense(), self._ratio, self._shifts)
        first = Mixture(*orbits.rows(), self._ratio, orbits.objective)
        if np.ptp(self._reference) == 0:  # what orbits cost is for the uniform prior
            return first
        return replace(first, objective=of_strategy(first.strategy, self._workload, self._reference / self._workload.n))

    def prepare(self) -> None:
        """The first rows, and their weights."""
        n = self._workload.n
        self._take_root()
        self._check()
        # Randomized response distinguishes all types, also where few draws are high anywhere, and
        # balances any columns.
        eye = np.eye(n, dtype=bool)
        given, self._given = self._given or self._following_queries(), None
        if given is not None:
            drawn, weights = given
            self._anchor(
                np.vstack([eye, drawn]), np.concatenate([np.full(n, OPTIONS.response * weights.mean()), weights])
            )
        else:
            high = np.vstack([eye, self._drawn(self._size - n)])
            self._anchor(high, np.ones(len(high)))
            masses = DoublePrecision(self._rows).images(self._reference)[self._anchors :]
            # Outputs are equally likely; the first update balances the columns.
            self._weights[self._anchors :] = n / len(masses) / masses
        for _ in range(2):
            try:
                return self._begin()
            except Singular:
                self._restart()
        self.finished = True  # what is known without a search stays the best

    def _begin(self) -> None:
        """The first updates of the rows held, which balance the columns."""
        first = self._updated(None)
        self._weights, self._multipliers, self._hessian = first.weights, first.multipliers, first.hessian
        self._measure(self._step())

    def _drawn(self, rows: int) -> np.ndarray:
        return threshold_rows(self._workload.gram_dense(), self._ratio, rows, self._rng, self._check)

    def _following_queries(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows that follow the queries and rows drawn, half of the reports for each, and their weights; None without the former."""
        following = query_rows(self._workload)
        if not len(following):
            return None
        drawn = self._drawn(self._size - self._workload.n - len(following))
        high = np.vstack([following, drawn])
        share = np.repeat([1 / 2 / len(following), 1 / 2 / len(drawn)], [len(following), len(drawn)])
        return high, self._workload.n * share / np.where(high, self._ratio, 1.0).sum(axis=1)

    def _take_root(self) -> None:
        """The root of G; where that is blind to something, randomized response stays."""
        self._roots = [self._workload.gram_root]
        self._anchors = self._workload.n if len(self._roots[0]) < self._workload.n else 0

    def round(self) -> None:
        """New rows, exchanges of single entries while these pay, and updates of all weights; the best feasible mixture is kept."""
        if self.finished:
            return
        before, objective = self._objective, self.best.objective
        self._price()
        try:
            self._step(exact=False)
            self._objective = max(self._objective, before)  # with the weights of new rows, columns sum to more than 1
            done, least = 1, OPTIONS.exchanged / self._size
            n = self._high.shape[1]
            many = n >= OPTIONS.types and len(self._high) - self._spared >= 2 * n
            while many and done < OPTIONS.exchanges and self._share >= least and self._exchange():
                done += 1
            self._share = max(self._share, least)
            # The weights measured are those before an update, balanced by the update before that:
            # these two updates are exact.
            for left in reversed(range(max((6 if many else OPTIONS.exchanges) - done, 2))):
                objective = self._step(exact=left < 2)
            self._measure(objective)
            self._gain = max(0.0, before - objective)
        except Singular:
            self._share *= OPTIONS.smaller
            self._rough = self._rough and not self._anchors
            self._restart()
        if self._anchors and self._rough and self.best.objective < objective:
            # Rounding in single precision hides the directions that a workload of low rank needs.
            self._rough = False
            self._restart()

    def _exchange(self) -> bool:
        """Exchanges of single entries and an update; False, and all as it was, where the objective rose by more than the last round
        gained."""
        before, first = vars(self).copy(), self._spared
        chosen = self._rng.choice(np.arange(first, len(self._high)), (len(self._high) - first) // 2, replace=False)
        held, pairs = self._high[chosen], self._share * len(chosen)
        X, _, reference = self._priced()
        rows = exchanged(held, X, reference, self._ratio - 1, max(1, round(pairs)), self._check)
        left = self._rng.random(held.shape[1]) >= pairs  # columns left alone where there is less than a pair for each
        left[held.shape[1] - self._still :] = True
        rows[:, left] = held[:, left]
        # Rows of more than twice the average weight keep half of it as they are.
        heavy = (self._weights[chosen] > 2.0 * self._weights[first:].mean()) & (rows != held).any(axis=1)
        high, weights, split = self._high.copy(), self._weights.copy(), chosen[heavy]
        high[chosen[~heavy]] = rows[~heavy]
        weights[split] /= 2
        self._hold(np.vstack([high, rows[heavy]]), np.concatenate([weights, weights[split]]))
        rise = self._step(exact=False) - before["_objective"]
        kept = rise <= self._gain
        if not kept:
            vars(self).update(before | {"_power": self._power})
        self._share = self._share * OPTIONS.smaller if rise > 0 else min(self._share * OPTIONS.larger, 0.02)
        return kept

    @property
    def _spared(self) -> int:
        """How many rows, the first ones, are neither changed nor left out."""
        return 2 * self._anchors

    def _aim(self, prior: np.ndarray) -> None:
        """From now on the reconstruction is for people spread as ``prior`` (n,)."""
        self._prior, self._reference = prior, len(prior) * prior

    def finish(self, at_once: bool) -> tuple[np.ndarray, float]:
        """The best strategy and its objective."""
        if self.best.anchors != self._anchors:
            return self.best.strategy, self.best.objective
        try:
            self._check()
            return self._trimmed()
        except (Singular, Interrupted):
            return self.best.strategy, self.best.objective

    def _trimmed(self) -> tuple[np.ndarray, float]:
        """The best strategy without rows that carry nothing, and its objective."""
        best = self.best
        kept = best.weights > 1e-9 * best.weights.mean()
        kept[: self._spared] = True
        self._hold(best.high[kept], best.weights[kept])
        self._step()  # balances the columns, which leaving rows out moved a little
        weights = self._weights
        objective = self._step()
        return self._mixture(weights, objective).strategy, objective

    def _restart(self) -> None:
        """Go on from the best mixture and a little randomized response, which alone can balance any columns."""
        n, held = self._workload.n, slice(self.best.anchors, None)
        weights = self.best.weights[held]
        balancing = np.full(n, OPTIONS.response * weights.mean())
        self._anchor(np.vstack([np.eye(n, dtype=bool), self.best.high[held]]), np.concatenate([balancing, weights]))
        self._power, self._hessian = MONOTONE, None
        self._multipliers = np.full(self._rows.shape[1], self.best.objective / self._rows.shape[1])

    def _anchor(self, high: np.ndarray, weights: np.ndarray) -> None:
        """Hold rows ``high`` (k, n) with their ``weights`` (k,), and anchors where there are any."""
        n = self._workload.n
        share = 1e-5 / (n + self._ratio - 1)  # M is regular whatever the other rows are, and L at most 1e-5 larger
        anchors = np.eye(n, dtype=bool)[: self._anchors]
        self._hold(np.vstack([anchors, high]), np.concatenate([np.full(len(anchors), share), weights]))

    def _hold(self, high: np.ndarray, weights: np.ndarray) -> None:
        """Rows ``high`` (k, n) with their weights (k,); repetitions are left out, but for anchors, which other rows may repeat."""
        _, free = np.unique(np.packbits(high[self._anchors :], axis=1), axis=0, return_index=True)
        first = np.concatenate([np.arange(self._anchors), np.sort(free) + self._anchors])
        self._high, self._weights = high[first], weights[first]
        fits = self._rough and SinglePrecision.fits(high.shape[1], self._ratio)
        single = SinglePrecision(self._high, self._ratio) if fits else None
        self._blocks = [RowBlock(np.where(self._high, self._ratio, 1.0), self._roots[0], single)]

    @property
    def _rows(self) -> np.ndarray:
        return self._blocks[0].rows

    def _step(self, exact: bool = True) -> float:
        """One update of the weights; returns the objective before it."""
        done = self._updated(self._multipliers, exact)
        self._previous, self._weights = self._weights, done.weights
        self._multipliers, self._solved, self._hessian = done.multipliers, done.solved, done.hessian
        self._power = BOLD if done.objective <= self._objective else MONOTONE
        self._objective = done.objective
        return done.objective

    def _updated(self, multipliers: np.ndarray | None, exact: bool = True) -> Update:
        # A row of next to no weight holds no multipliers back from the border of the cone, where Newton steps are short.
        least = 1e-6 * self._weights.mean() if self._anchors else 0.0
        try:
            return update(
                self._blocks,
                DoublePrecision(self._rows).images(self._reference),
                self._weights,
                multipliers,
                self._power,
                self._check,
                floor=least,
                fixed=self._anchors,
                hessian=self._hessian,
                exact=exact,
            )
        except Singular:
            if self._blocks[0].single is None:
                raise
        self._blocks = [replace(block, single=None) for block in self._blocks]  # its rounding can hide directions
        self._hessian = None
        return self._updated(multipliers, exact)

    def _measure(self, objective: float) -> None:
        """Keep the weights before the last update if they are the best so far: their objective is the one known."""
        if objective < self.best.objective:
            self.best = self._mixture(self._previous, objective)

    def _mixture(self, weights: np.ndarray, objective: float) -> Mixture:
        return Mixture(self._high, weights, self._ratio, objective, anchors=self._anchors)

    def _price(self) -> None:
        """New rows, climbed to from some of those held, in the places of light ones."""
        n = self._high.shape[1]
        # Where the workload is blind to some directions, the best rows are few, and far from those drawn first.
        share = 1 if self._anchors else 1 / 4
        # More than 256 starts gain no more, and take most of the time.
        count = min(max(round(share * n), OPTIONS.starts), 256, len(self._high))
        if n >= OPTIONS.types:
            light = self._weights < OPTIONS.light * self._weights.mean()
            free = self._size - len(light) + int(light.sum())
            count = min(count, max(free, 2))
        held = self._high[self._still :]
        chosen = self._rng.choice(len(held), min(count, len(held)), replace=False)
        climbed, gains = climb(held[chosen], *self._priced(), self._ratio - 1, self._check, self._still)
        climbed = climbed[gains > 1e-6]
        rank = self._weights.copy()
        rank[: self._spared] = np.inf
        heaviest = np.sort(np.argsort(-rank, kind="stable")[: self._size])
        if self._anchors:
            heaviest = heaviest[rank[heaviest] > 1e-5 * self._weights.mean()]
        high = np.vstack([self._high[heaviest], climbed])
        new = np.full(len(climbed), 0.3 * self._weights.mean())
        self._hold(high, np.concatenate([self._weights[heaviest], new]))

    def _priced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X (n, n), mu and r (both (n,)): the values and costs of rows."""
        return blas.dgemm(1.0, self._solved[0], self._solved[0], trans_b=1), self._multipliers, self._reference


class MovingPrior(RowSearch):
    """A search for the least variance of the worst type: after each round the prior moves towards
    the types that are worse off than the average, and the weights of the rows held follow."""

    best: Saddle
    _variances: np.ndarray
    _moves: ClassVar[int]
    """How often the prior moves in a round."""

    def round(self) -> None:
        super().round()
        try:
            for _ in range(self._moves):
                self._aim(moved(self._prior, self._variances, OPTIONS.step))
                self._step()
                self._measure(self._step())
        except Singular:
            self._restart()

    def _trimmed(self) -> tuple[np.ndarray, float]:
        """The best strategy for the prior of ``best``, and n times its worst type's variance + tr G."""
        prior = self.best.prior
        self._aim(prior)
        strategy, _ = super()._trimmed()
        worst_case = type_variances(strategy, self._workload, prior).max()
        return strategy, equivalent_objective(float(worst_case), self._workload)
