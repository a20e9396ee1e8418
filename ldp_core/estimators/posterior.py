"""The posterior distribution of the users' true counts, given the reports, by Gibbs sampling.

Model: shares p ~ Dirichlet(alpha), each user's type is drawn from p, and reports from types by the
strategy Q. It is about the counts x of *these N users*: an interval says where the answer of a full,
unprotected count may lie. With ``of_distribution`` it is about the shares p that they were drawn from: given x their mean is
``(alpha + x)/(sum alpha + N)``, so that of the posterior is the same with E[x | reports] for x (Lopuhaä-Zwakenberg
et al. 2020).

Let l_y be the smallest entry of row y. A report y is *uninformative* with probability l_y/(Q p)_y:
its user's type is then distributed as p, whatever y. Only the types of the other reports are drawn;
given those, p is Dirichlet, and the types of the uninformative reports are a multinomial draw from
the new p. Leaving these out of the chain is exact (a collapsed Gibbs sampler), and the smaller the
part of the data that is imputed, the faster it mixes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldp_core.estimators import mle
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.priors import JEFFREYS
from ldp_core.workloads import Workload

_FEWEST_DRAWS = 100


@dataclass(frozen=True, kw_only=True, repr=False)
class PosteriorEstimate(Estimate):
    """Posterior mean of the counts, with the draws (draws, n) it comes from.

    ``expected`` (draws, n) holds the mean counts given the shares of each draw: their average is the posterior mean, with less
    Monte Carlo error than that of the draws.
    """

    draws: np.ndarray
    expected: np.ndarray

    def intervals(self, workload: Workload, level: float = 0.95, queries: np.ndarray | None = None) -> np.ndarray:
        """(q, 2) central credible intervals, in users, of the true answers among these users."""
        tail = (1 - check_level(level)) / 2
        return self._per_query(
            workload, queries, lambda part: np.quantile(workload.answers(self.draws, part), (tail, 1 - tail), axis=0).T
        )

    def standard_errors(self, workload: Workload, queries: np.ndarray | None = None) -> np.ndarray:
        """(q,) Monte Carlo standard error of the posterior mean of each answer, in users, by batch means."""
        return self._per_query(
            workload, queries, lambda part: np.sqrt(_variance_of_mean(workload.answers(self.expected, part)))
        )

    def _per_query(
        self, workload: Workload, queries: np.ndarray | None, of: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        queries = workload.checked_queries(queries)
        chunk = max(1, 2**23 // len(self.draws))
        starts = range(0, max(1, queries.size), chunk)
        return np.concatenate([of(queries[start : start + chunk]) for start in starts])


def check_level(level: float) -> float:
    """``level`` strictly between 0 and 1, or a ValueError."""
    if not 0 < level < 1:
        raise ValueError(f"The level of an interval must lie between 0 and 1, such as 0.95; got {level}.")
    return float(level)


def _variance_of_mean(values: np.ndarray) -> np.ndarray:
    """(q,) variance of the mean of dependent ``values`` (draws, q), from the means of about sqrt(draws) batches."""
    size = math.isqrt(len(values))
    batches = values[len(values) % size :].reshape(-1, size, values.shape[1]).mean(axis=1)
    return batches.var(axis=0, ddof=1) / len(batches)


def estimate(
    reports: Reports,
    mechanism: Mechanism,
    unbiased: Estimate,
    prior: float | np.ndarray = JEFFREYS,
    draws: int = 1000,
    burn_in: int = 200,
    seed: int = 0,
    of_distribution: bool = False,
) -> PosteriorEstimate:
    """Posterior mean of the counts over ``draws`` rounds, after ``burn_in`` rounds that are left out; the same for the same
    ``seed``. The chain begins at the most likely shares.

    ``prior`` holds the Dirichlet parameters alpha, one for all types or (n,): 1/2 is Jeffreys' choice (see
    `ldp_core.priors.dirichlet`). With ``of_distribution`` it is the mean of the distribution that people are drawn from, as counts of
    the N users. ValueError for parameters that are not positive, or too few draws.
    """
    n = mechanism.n
    alpha = np.asarray(prior, dtype=float)
    if alpha.shape not in ((), (n,)) or not (np.all(np.isfinite(alpha)) and np.all(alpha > 0)):
        raise ValueError(f"The prior must be one positive number, or one for each of the {n} types; got {prior}.")
    if draws < _FEWEST_DRAWS or burn_in < 0:
        raise ValueError(
            f"Draw at least {_FEWEST_DRAWS} times, with a burn-in of 0 or more; got {draws} and {burn_in}."
        )
    likely = mle.estimate(reports, mechanism, unbiased).estimated_counts
    shares = (likely + alpha) / (likely + alpha).sum()
    tally = mechanism.tally(reports)
    sent = tally > 0
    chain = _Chain(mle.written_out(mechanism.channel)[sent], tally[sent], np.broadcast_to(alpha, n), shares, seed)
    for _ in range(burn_in):
        chain.step()
    kept, expected = np.empty((draws, n), dtype=float if of_distribution else np.int64), np.empty((draws, n))
    for i in range(draws):
        counts = chain.step()
        kept[i] = reports.users * chain.shares if of_distribution else counts
        expected[i] = chain.expected()
    if of_distribution:
        expected = (alpha + expected) * (reports.users / (chain.alpha.sum() + reports.users))
    return PosteriorEstimate(
        expected.mean(axis=0), unbiased=False, identified=unbiased.identified, draws=kept, expected=expected
    )


class _Chain:
    """The sampler's state: the shares."""

    def __init__(self, Q: np.ndarray, tally: np.ndarray, alpha: np.ndarray, shares: np.ndarray, seed: int):
        self.tally, self.alpha, self.shares = tally, alpha, shares
        self.lowest = Q.min(axis=1, initial=1.0)
        self.rest = Q - self.lowest[:, None]
        self.rng = np.random.default_rng(seed)

    def step(self) -> np.ndarray:
        """(n,) a draw of the counts of all users, with the shares redrawn on the way."""
        telling = self.rest @ self.shares
        informative = self.rng.binomial(self.tally, telling / (self.lowest + telling))
        outputs = np.flatnonzero(informative)
        types = _draw_rows(informative[outputs], self.rest[outputs] * self.shares, self.rng)
        self.shares = self.rng.dirichlet(self.alpha + types)
        return types + self.rng.multinomial(self.tally.sum() - informative.sum(), self.shares)

    def expected(self) -> np.ndarray:
        """(n,) mean counts given the shares: p_u sum_y s_y Q_yu/(Q p)_y."""
        ratio = self.tally / (self.lowest + self.rest @ self.shares)
        return self.shares * (ratio @ self.lowest + ratio @ self.rest)


def _draw_rows(counts: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) columns drawn, ``counts`` (m,) of them from each row of ``weights`` (m, n) in proportion: all rows together."""
    m, n = weights.shape
    if counts.sum() > weights.size:
        return rng.multinomial(counts, weights / weights.sum(axis=1)[:, None]).sum(axis=0)
    running = np.cumsum(weights)
    ends = np.concatenate([[0.0], running[n - 1 :: n]])
    rows = np.repeat(np.arange(m), counts)
    draws = np.sort(ends[rows] + rng.random(rows.size) * np.diff(ends)[rows])  # sorted ones are found faster
    columns = np.searchsorted(running, draws, side="right") - rows * n
    return np.bincount(np.clip(columns, 0, n - 1), minlength=n)
