"""The design for one real-valued question, such as a mean or a contrast: the best mechanism itself, see `ldp_core.bounds.question`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldp_core.bounds.question.search import Exchange, Primal
from ldp_core.optimize.base import SearchLimits, fields_of
from ldp_core.optimize.strategy import Optimized, of_strategy
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon, fitted_exp_epsilon
from ldp_core.run import Check, Run, drive
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

_LEAST_ENTRY = 2.0**-52
"""Smaller entries of a strategy could not be written in steps of 2^-53."""


@dataclass(frozen=True)
class _Best:
    """A mechanism for the question, and randomized response in this ``share`` of reports."""

    objective: float
    primal: Primal
    share: float
    ratio: float
    n: int

    @property
    def transposed(self) -> np.ndarray:
        """(n, m), whose rows keep epsilon, and whose columns sum to 1, as stored."""
        E, n = self.ratio, self.n
        response = np.where(np.eye(n, dtype=bool), E, 1.0) / (E + n - 1)
        found, lows = self.primal.rows, self.primal.lows
        # Rows are added to the next where all of them together are fewer reports than a hundredth of randomized response's.
        rare = (found.mean(axis=1) < 1e-2 * self.share / len(found)) | (lows < 8 * _LEAST_ENTRY)
        kept = np.flatnonzero(~rare)
        place = np.minimum(np.searchsorted(kept, np.arange(len(found))), len(kept) - 1)
        starts = np.searchsorted(place, np.arange(len(kept)))
        lows = np.add.reduceat(lows, starts)[:, None]
        rows = np.clip(np.add.reduceat(found, starts), lows, E * lows)
        sums = rows.sum(axis=0)
        rows += 2 * (sums.max() / sums.min() - 1 + 1e-15) * E / (E - 1) * (lows - rows)
        columns = np.vstack(
            [(1 - self.share) * self.primal.nodes.spread(rows / rows.sum(axis=0)), self.share * response]
        ).T
        return np.ascontiguousarray(columns / columns.sum(axis=1, keepdims=True))


class _Search:
    """The exchange of values, to be driven: for a ``prior`` or, without one, for the worst type."""

    def __init__(self, workload: Workload, epsilon: float, prior: np.ndarray | None, along: np.ndarray, check: Check):
        self._workload, self._ratio = workload, fitted_exp_epsilon(epsilon)
        self._known = workload.trace / workload.n if prior is None else float(prior @ workload.gram_diag)
        self._exchange = Exchange(workload.apply_gram(along), prior, epsilon, check)

    @property
    def best(self) -> _Best:
        primal, n = self._exchange.primal, self._workload.n
        variance = self._exchange.on_scale(primal.value)
        moment = self._known + variance
        # A little randomized response distinguishes all types, for questions asked later. The variance grows by 1e-4 for it.
        share = max(_LEAST_ENTRY * (self._ratio + n - 1), 1e-4 * variance / moment)
        return _Best(n * moment / (1 - share), primal, share, self._ratio, n)

    @property
    def finished(self) -> bool:
        return self._exchange.finished

    def prepare(self) -> None:
        """Randomized response is there at once."""

    def round(self) -> None:
        self._exchange.round()

    def finish(self, at_once: bool) -> tuple[tuple[np.ndarray, np.ndarray], float]:
        """The strategy, and the prior that its answers are best for."""
        best = self.best
        return (np.ascontiguousarray(best.transposed.T), best.primal.prior), best.objective


def design_question(
    workload: Workload, epsilon: float, along: np.ndarray, limits: SearchLimits, prior: np.ndarray | None = None
) -> Optimized:
    """The strategy (m, n) for questions ``along`` one direction (`ldp_core.bounds.question.search.direction`)."""
    run = _driven(workload, epsilon, check_prior(prior, workload.n), along, limits)
    strategy = run.found[0][0]
    fields = fields_of(run, epsilon, limits) | {"objective": of_strategy(strategy, workload, prior)}
    return Optimized(strategy, prior, workload=workload, **fields)


def worst_question(
    workload: Workload, epsilon: float, along: np.ndarray, limits: SearchLimits
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The strategy (m, n) of least worst-case variance, the prior (n,) that its answers are for, and the fields of the search."""
    run = _driven(workload, epsilon, None, along, limits)
    return *run.found[0], fields_of(run, epsilon, limits)


def _driven(
    workload: Workload, epsilon: float, prior: np.ndarray | None, along: np.ndarray, limits: SearchLimits
) -> Run:
    budget = limits.budget()
    with blas_threads(workload.n):
        return drive(_Search(workload, check_epsilon(epsilon), prior, along, budget.check), budget)
