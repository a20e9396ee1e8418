"""The effect of forged reports: a device that does not follow the mechanism sends the report that
moves an answer most.

An answer is a sum over reports of what each adds, R r. An honest person of type u adds the true answer w_u on average; the forger
adds the least or the most that a report can. The stronger the privacy, the further a single report reaches: what hides one person
lets one person speak for many (Cheu, Smith and Ullman 2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldp_core.errors import largest_variances
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.moments import TYPES, Contributions, Rows
from ldp_core.mechanisms.noise.additive import VectorMechanism
from ldp_core.run import Cancel, Interrupted, cancellation
from ldp_core.workloads import Workload, in_chunks


@dataclass(frozen=True)
class Manipulation:
    """How far forged reports move the answers to ``queries`` (q,).

    Attributes:
        reach: (q,) the most, in people, by which one forged report moves each answer from what the person's honest report would
            add on average; infinite where reports are vectors without limits.
        honest: (q,) the most by which an honest report moves each answer on average: the largest true answer of one person.
        deviation: (q,) the largest standard error that one person adds to each answer; that of N people is sqrt(N) times it.
    """

    queries: np.ndarray
    reach: np.ndarray
    honest: np.ndarray
    deviation: np.ndarray

    @property
    def farthest(self) -> int:
        """The query whose answer one forged report moves the most people."""
        return int(self.queries[np.argmax(self.reach)])

    @property
    def worst(self) -> int:
        """The query that the fewest forged reports move by one standard error."""
        return int(self.queries[np.argmin(self._standard_errors_each)])

    def share(self, users: int) -> float:
        """Forged reports that move the worst answer by one standard error, as a share of those of ``users`` people. Infinite where
        no report moves anything."""
        return float(self._standard_errors_each.min()) / math.sqrt(users)

    def reports(self, users: int) -> float:
        """The least whole number of forged reports among those of ``users`` people that moves the worst answer by one standard error."""
        needed = float(self._standard_errors_each.min()) * math.sqrt(users)
        return math.ceil(needed * (1 - 1e-12)) if math.isfinite(needed) else math.inf

    @property
    def _standard_errors_each(self) -> np.ndarray:
        """(q,) deviation / reach; infinite for answers that no report moves."""
        moved = self.reach > 0
        return np.divide(self.deviation, self.reach, out=np.full(len(moved), math.inf), where=moved)


def manipulation(
    mechanism: Mechanism, workload: Workload, queries: np.ndarray | None = None, cancel: Cancel | None = None
) -> Manipulation:
    """How far one forged report moves each answer to a ``workload`` (or to the ``queries`` given), unbiased and in people, without
    the weights of the queries.

    Exact where the mechanism knows the ends of what a report adds, an upper bound where it bounds them (local hashing,
    sampled sets and patterns with several attributes). ValueError for a workload that cannot be answered; `Interrupted` once
    cancelled.
    """
    cancelled = cancellation(cancel)
    mechanism.check_supports(workload)
    chosen = np.arange(workload.num_queries) if queries is None else np.asarray(queries, dtype=np.int64)
    if isinstance(mechanism.drawn, VectorMechanism):
        infinite = np.full(len(chosen), math.inf)
        spread = np.sqrt(largest_variances(mechanism, workload, chosen)) / workload.query_weights(chosen)
        return Manipulation(chosen, infinite, infinite, spread)
    reach, honest, variances = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for some in in_chunks(chosen, mechanism.cost_dimension(workload)):
        if cancelled():
            raise Interrupted("The search for what forged reports can do was cancelled.")
        adds = mechanism.query_contributions(workload, some)
        reach.append(_reach(mechanism, workload, some, adds))
        honest.append(np.abs(adds.means).max(axis=1))
        variances.append(adds.variances.max(axis=1))
    weights = workload.query_weights(chosen)
    sums = (np.concatenate(reach), np.concatenate(honest), np.sqrt(np.concatenate(variances)))
    return Manipulation(chosen, *(part / weights for part in sums))


def _reach(mechanism: Mechanism, workload: Workload, queries: np.ndarray, adds: Contributions) -> np.ndarray:
    """(q,) the larger of how far a whole report can exceed the mean of a type, and fall short of it."""
    up, down = adds.up, adds.down
    if adds.parts > 1:  # these are the limits of one part of a report
        low, high, _ = mechanism.ends(Rows.of(workload, queries), TYPES)
        up, down = high - adds.means.min(axis=1), adds.means.max(axis=1) - low
    reach = np.maximum(up, down)
    return np.where(reach > 1e-9 * np.abs(adds.means).max(axis=1), reach, 0.0)
