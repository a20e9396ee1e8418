"""Types that no query distinguishes are searched as one type: a strategy for the few types that are left,
given to all types, loses nothing.

Choosing one type of each class at random turns a strategy for all types into one for the classes, with
the same variance on average over a class. So the best strategy for the classes, whose people are added
up, is the best for all types (`ldp_core.bounds.general.merged` has the same for bounds). A little
randomized response on top keeps all types distinguished, as in `ldp_core.optimize.columns.generation`.
Source: this project.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ldp_core.optimize.columns.generation import ANCHORED, Mixture, RowSearch, strategy_of
from ldp_core.optimize.columns.weights import second_moments
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Custom, Workload


def alike(workload: Workload) -> np.ndarray | None:
    """(n,) the number of the class of each type; None unless some types have equal answers to all queries
    and there are at least two classes."""
    if len(workload.gram_root) == workload.n:
        return None
    classes = np.unique(workload.gram_dense(), axis=0, return_inverse=True)[1].ravel()
    return classes if 1 < classes.max() + 1 < workload.n else None


@dataclass(frozen=True)
class Expanded:
    """A ``mixture`` for classes of types, given to all types by the ``classes`` (n,) of these; ``objective`` is
    at least that for all types."""

    mixture: Mixture
    classes: np.ndarray
    objective: float

    @property
    def transposed(self) -> np.ndarray:
        return expanded(self.mixture.strategy, self.classes, self.mixture.ratio).T


def expanded(strategy: np.ndarray, classes: np.ndarray, ratio: float) -> np.ndarray:
    """(m + n, n) the ``strategy`` (m, c) for classes given to all types, with a little randomized response."""
    n = len(classes)
    anchors = strategy_of(np.eye(n, dtype=bool), np.full(n, ANCHORED / (n + ratio - 1)), ratio)
    return np.vstack([(1 - ANCHORED) * strategy[:, classes], anchors])


class AlikeSearch:
    """`RowSearch` over the ``classes`` (n,) of types of a ``workload``."""

    def __init__(
        self,
        workload: Workload,
        epsilon: float,
        reference: np.ndarray,
        rng: np.random.Generator,
        classes: np.ndarray,
        check: Check = unchecked,
    ):
        first = np.unique(classes, return_index=True)[1]
        few = Custom(workload.gram_root[:, first])
        people = np.bincount(classes, reference) * (few.n / workload.n)
        self._search = RowSearch(few, epsilon, people, rng, check)
        self._workload, self._classes, self._reference = workload, classes, reference
        self._unit = workload.n / few.n

    @property
    def finished(self) -> bool:
        return self._search.finished

    @property
    def best(self) -> Expanded:
        best = self._search.best
        return Expanded(best, self._classes, self._unit * best.objective / (1 - ANCHORED))

    def prepare(self) -> None:
        self._search.prepare()

    def round(self) -> None:
        self._search.round()

    def finish(self, at_once: bool) -> tuple[np.ndarray, float]:
        """The best strategy for all types and its objective."""
        found, objective = self._search.finish(at_once)
        strategy = expanded(found, self._classes, self._search.best.ratio)
        information = second_moments(strategy, 1 / (strategy @ self._reference), unchecked)
        factor, failed = lapack.dpotrf(information, lower=1)
        if failed:
            return strategy, self._unit * objective / (1 - ANCHORED)
        root = self._workload.gram_root
        solved, _ = lapack.dpotrs(factor, root.T, lower=1)
        return strategy, float(np.einsum("ij,ji->", solved, root))
