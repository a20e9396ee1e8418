"""The best strategy for people of whom only some values are secret: column generation over covered rows.

A strategy that keeps the promise (`ldp_core.workloads.secret`) is a mixture of open rows e_x, x open, and covered rows: 1 at open types, 1 or E at
secret ones. (From a row that is positive on S take what its open entries have above the largest secret one over E: that are open rows.) All
open types send covered reports with the same chance, so the open rows count as one row e_o over S and the open types put together. It is
the first row held here, and no climb changes it. What the questions ask about differences of open types is a second block of M, the number u.

For the worst type the prior moves towards those that are worse off, as in `ldp_core.optimize.columns.reweighting`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ldp_core.bounds.closed_form import equivalent_objective, high_share
from ldp_core.optimize.base import SearchLimits, fields_of
from ldp_core.optimize.columns.generation import MovingPrior, RowSearch, Saddle, rows_held
from ldp_core.optimize.columns.rows import threshold_rows
from ldp_core.optimize.columns.weights import RowBlock, Singular, Update
from ldp_core.optimize.strategy import Optimized, of_strategy, type_variances
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.run import Check, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Custom, Workload
from ldp_core.workloads.secret import Lumped

LITTLE = 1e-8
"""The share of tr G that directions count at least in which nothing is asked, so that M stays regular."""


@dataclass(frozen=True)
class Covered(Saddle):
    """A measure over covered rows ``high`` (k, s + 1), the first one being the open row, of the problem ``lumped``; the ``prior`` (n,) is the one it is
    for."""

    lumped: Lumped = field(kw_only=True)

    @cached_property
    def strategy(self) -> np.ndarray:
        n, ratio = len(self.lumped.reference), self.ratio
        kept = self.weights[1:] > 1e-20  # no sum changes without the others
        weights, high = self.weights[1:][kept], self.high[1:][kept, :-1]
        covered = np.repeat(weights[:, None], n, axis=1)
        covered[:, self.lumped.secret] = weights[:, None] * np.where(high, ratio, 1.0)
        openly = np.zeros((len(self.lumped.opened), n))
        openly[np.arange(len(openly)), self.lumped.opened] = self.weights[0]
        return np.vstack([covered, openly])


class SecretSearch(RowSearch):
    """`RowSearch` over covered rows, for people spread as ``prior`` (n,)."""

    best: Covered
    _still = 1

    def __init__(self, workload: Workload, epsilon: float, prior: np.ndarray, rng: np.random.Generator, check: Check):
        self._workload = workload
        self._high = np.zeros((0, int(workload.secret.sum()) + 1), dtype=bool)
        self._aim(prior)
        super().__init__(workload, epsilon, self._reference, rng, check)

    def _aim(self, prior: np.ndarray) -> None:
        self._prior, self._lumped = prior, Lumped.of(self._workload, prior)
        root, s = self._lumped.root, len(self._lumped.secret)
        scale = (np.square(root).sum() + self._lumped.within / self._workload.n) / (s + 1)
        self._lump = Custom(np.vstack([root, np.sqrt(LITTLE * scale) * np.eye(s + 1)]))
        self._reference = self._lumped.masses
        self._roots = [self._lump.gram_root]
        if len(self._high):
            self._hold(self._high, self._weights)

    @property
    def _spared(self) -> int:
        return 1

    def _at_once(self) -> Covered:
        """Randomized response over S, extended to the open types: utility-optimised randomized response."""
        s = len(self._lumped.secret)
        high, weights = _singles(s), np.full(s + 1, 1 / (s + self._ratio - 1))
        weights[0] = (self._ratio - 1) / (s + self._ratio - 1)
        first = Covered(high, weights, self._ratio, 0.0, lumped=self._lumped, prior=self._prior)
        return Covered(high, weights, self._ratio, self._objective_of(first), lumped=self._lumped, prior=self._prior)

    def _objective_of(self, mixture: Covered) -> float:
        return of_strategy(mixture.strategy, self._workload, self._prior)

    def prepare(self) -> None:
        s, n, size = len(self._lumped.secret), self._workload.n, rows_held(len(self._lumped.secret) + 1)
        self._size = size
        if 2**s <= size:
            high = _all_rows(s)
        else:
            share = min(high_share(self._ratio, n) * n / s, 0.6)
            gram = self._lump.gram_dense()[:-1, :-1]
            drawn = threshold_rows(gram, self._ratio, size - s - 2, self._rng, self._check, share)
            high = np.vstack([np.eye(s, dtype=bool), np.ones((1, s), dtype=bool), drawn])
        rows = np.vstack([_singles(0, s), np.column_stack([high, np.zeros(len(high), dtype=bool)])])
        even = 0.5 / len(high)
        self._hold(rows, np.append(0.5, even / np.where(high, self._ratio, 1.0).mean(axis=1)))
        try:
            self._begin()
        except Singular:
            self.finished = True

    def _hold(self, high: np.ndarray, weights: np.ndarray) -> None:
        _, places = np.unique(np.packbits(high, axis=1), axis=0, return_index=True)
        places = np.sort(places)  # the open row stays the first
        self._high, self._weights = high[places], weights[places]
        rows = np.where(self._high, self._ratio, 1.0)
        rows[0] = self._high[0]
        self._blocks = [RowBlock(rows, self._roots[0])]
        if self._lumped.within > 1e-12 * self._workload.trace:
            alone = np.zeros((len(rows), 1))
            alone[0] = np.sqrt(self._reference[-1])
            self._blocks.append(RowBlock(alone, np.array([[np.sqrt(self._lumped.within)]])))

    def _updated(self, multipliers: np.ndarray | None, exact: bool = True) -> Update:
        try:
            return super()._updated(multipliers, exact)
        except Singular:
            return super()._updated(None, exact)

    def _restart(self) -> None:
        s, best = len(self._lumped.secret), self.best
        added = np.full(s, 1e-2 * best.weights[1:].mean())
        self._hold(np.vstack([best.high, _singles(s)[1:]]), np.concatenate([best.weights, added]))
        self._hessian, self._multipliers = None, np.full(s + 1, best.objective / (s + 1))

    def _mixture(self, weights: np.ndarray, objective: float) -> Covered:
        return Covered(self._high, weights, self._ratio, objective, lumped=self._lumped, prior=self._prior)


def _singles(s: int, width: int | None = None) -> np.ndarray:
    """The open row, and rows (s, width + 1) with one secret type high."""
    width = s if width is None else width
    rows = np.zeros((s + 1, width + 1), dtype=bool)
    rows[0, -1] = True
    rows[np.arange(1, s + 1), np.arange(s)] = True
    return rows


def _all_rows(s: int) -> np.ndarray:
    """(2^s - 1, s) all rows with one high entry or more."""
    return (np.arange(1, 2**s)[:, None] >> np.arange(s) & 1).astype(bool)


class WorstCaseSecretSearch(MovingPrior, SecretSearch):
    """`SecretSearch` for the worst type."""

    best: Covered
    _moves = 2

    def _objective_of(self, mixture: Covered) -> float:
        self._variances = type_variances(mixture.strategy, self._workload, self._prior)
        return equivalent_objective(float(self._variances.max()), self._workload)

    def _measure(self, objective: float) -> None:
        """Keep the weights before the last update if their worst type is the best off so far, whatever the average is."""
        mixture = self._mixture(self._previous, 0.0)
        if (objective := self._objective_of(mixture)) < self.best.objective:
            self.best = replace(mixture, objective=objective)


def design_secret(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    prior: np.ndarray | None = None,
    target: Literal["average", "worst_case"] = "average",
) -> Optimized:
    """Strategy (m, n) of least L for people spread as ``prior`` (n,), or of least variance of the worst type, that keeps the promise about the secret
    types of ``workload``."""
    budget, epsilon = limits.budget(), check_epsilon(epsilon)
    kind = SecretSearch if target == "average" else WorstCaseSecretSearch
    with blas_threads(workload.n):
        shares = check_prior(prior, workload.n)
        search = kind(workload, epsilon, shares, generator(limits.seed), budget.check)
        run = drive(search, budget, 60)
    about = fields_of(run, epsilon, limits)
    if target == "average":
        about["objective"] = of_strategy(run.found[0], workload, prior)
    else:
        prior = search.best.prior
    return Optimized(run.found[0], prior, workload=workload, target=target, **about)
