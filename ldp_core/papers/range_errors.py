"""Errors of ranges and prefixes as Cormode, Kulkarni and Srivastava 2019 measured them (their Section 5).

N = 2^26 users spread like a Cauchy distribution with centre P n and scale n/10 over n types, cut at
the ends; trees of OUE with consistency (HH2, HH4, HH16) and HaarHRR. The paper's "mean squared
errors", times 1000, are **roots** of mean squared errors of shares, times 1000: that is the unit
here too, "thousandths".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from ldp_core.data.population import expected_counts
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.hierarchical import ConsistentTree
from ldp_core.mechanisms.trees.levels import OrderedEstimate, Tree
from ldp_core.papers.panel import Row, frame_of
from ldp_core.papers.stored import FOLDER
from ldp_core.run import Budget, Callback, Cancel
from ldp_core.workloads import Workload

USERS = 2**26
CENTRE = 0.4
EPSILON = 1.1
EPSILONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.1, 1.2, 1.4)
TRIALS = 5
"""Collections simulated for each point, as many as the paper took."""
BRANCHINGS = {"HH2": 2, "HH4": 4, "HH16": 16}

Measure = Callable[[OrderedEstimate, np.ndarray], float]
"""(estimate, counts) -> what is to be averaged over the trials."""


def mechanism(series: str, n: int, epsilon: float) -> ConsistentTree | Haar:
    """The collection that the paper calls HH2, HH4, HH16 (each with a superscript c) or HaarHRR."""
    return Haar(n, epsilon) if series == "HaarHRR" else ConsistentTree(Tree(n, BRANCHINGS[series]), epsilon, "oue")


@cache
def printed() -> Mapping[tuple[int, int, str, float], float]:
    """Every number of Figures 5 and 6, by figure, log2 of the number of types, series and epsilon; NaN where none is printed."""
    table = pd.read_csv(FOLDER / "cormode_printed.csv").set_index(["figure", "log2_types", "epsilon"])
    return {
        (figure, size, series, epsilon): value
        for (figure, size, epsilon), row in table.iterrows()
        for series, value in row.items()
    }


def thousandths(mean_squared_error: float) -> float:
    """The root of a mean squared error of shares, times 1000."""
    return 1000 * math.sqrt(mean_squared_error)


def exact(collection: ConsistentTree | Haar, workload: Workload, counts: np.ndarray) -> float:
    """The exact error of a query of ``workload``, in thousandths."""
    total = float(counts @ collection.variance_profile(workload))
    return thousandths(total / workload.num_queries / float(counts.sum()) ** 2)


# --- what is measured of a simulated collection ---------------------------------------------------------------------


def _running_errors(estimate: OrderedEstimate, counts: np.ndarray) -> np.ndarray:
    """(n + 1,) errors of the shares below each type, from 0 to 0."""
    errors = np.cumsum(estimate.counts() - counts) / counts.sum()
    return np.concatenate([[0.0], errors])


def prefix_errors(estimate: OrderedEstimate, counts: np.ndarray) -> float:
    """Mean squared error of all n prefixes."""
    return float(np.mean(_running_errors(estimate, counts)[1:] ** 2))


def range_errors(estimate: OrderedEstimate, counts: np.ndarray) -> float:
    """Mean squared error of all n(n + 1)/2 ranges: sum over i < j of (r_j - r_i)^2 = (n + 1) sum r^2 - (sum r)^2."""
    r = _running_errors(estimate, counts)
    return float((r.size * np.sum(r**2) - np.sum(r) ** 2) / (r.size * (r.size - 1) / 2))


@dataclass(frozen=True)
class RangesFromStarts:
    """Mean squared error of all ranges that begin at multiples of ``spacing``, as the paper samples them."""

    spacing: int

    def __call__(self, estimate: OrderedEstimate, counts: np.ndarray) -> float:
        r = _running_errors(estimate, counts)
        starts = np.arange(0, r.size - 1, self.spacing)
        # Sums over all ends after each start, from those after 0.
        ends, sums, squares = (
            r.size - 1 - starts,
            r.sum() - np.cumsum(r)[starts],
            np.sum(r**2) - np.cumsum(r**2)[starts],
        )
        return float(np.sum(squares - 2 * r[starts] * sums + ends * r[starts] ** 2) / ends.sum())


# --- frames ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasuredCollection:
    """A collection to measure: ``x`` is where it is drawn and ``printed`` what the paper has there."""

    series: str
    x: float
    epsilon: float = EPSILON
    centre: float = CENTRE
    printed: float = math.nan

    def rng(self, n: int, trial: int) -> np.random.Generator:
        """The random stream of a collection and trial, independent of all others."""
        branching = BRANCHINGS.get(self.series, 0)
        return np.random.default_rng([n, branching, round(1000 * self.epsilon), round(1000 * self.centre), trial])


def exact_errors(
    n: int, points: Sequence[MeasuredCollection], workload: Workload, callback: Callback | None, cancel: Cancel | None
) -> pd.DataFrame:
    """A panel's frame of exact errors over a small domain."""
    budget, rows = Budget(None, len(points), cancel, callback), list[Row]()
    for point in points:
        if budget.stopped() is not None:
            break
        counts = expected_counts("cauchy", n, USERS, centre=point.centre, spread=False)
        here = exact(mechanism(point.series, n, point.epsilon), workload, counts)
        rows.append((point.series, point.x, here, math.nan, point.printed))
        budget.tell()
    return frame_of(rows)


def simulated_errors(
    n: int,
    points: Sequence[MeasuredCollection],
    measures: Mapping[str, Measure],
    callback: Callback | None,
    cancel: Cancel | None,
) -> pd.DataFrame:
    """A panel's frame of errors over `TRIALS` simulated collections, with their standard errors: the root of the mean of each
    measure, whose name is appended to the series. The printed value stands beside the first
    measure."""
    rows = list[Row]()

    def measured(estimate: OrderedEstimate, counts: np.ndarray) -> np.ndarray:
        return np.array([measure(estimate, counts) for measure in measures.values()])

    for point, collected in _collections(n, points, measured, callback, cancel):
        for place, (name, column) in enumerate(zip(measures, collected.T, strict=True)):
            here = thousandths(column.mean())
            # d sqrt(m) = dm / (2 sqrt(m))
            deviation = here / 2 * column.std(ddof=1) / column.mean() / math.sqrt(TRIALS)
            rows.append((point.series + name, point.x, here, deviation, math.nan if place else point.printed))
    return frame_of(rows)


def quantile_errors(
    n: int,
    points: Sequence[MeasuredCollection],
    shares: Sequence[float],
    error: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    callback: Callback | None,
    cancel: Cancel | None,
) -> pd.DataFrame:
    """A panel's frame of mean ``error`` (found types, shares, counts) of the quantiles that bisection finds, by share (k,)."""
    rows, asked = list[Row](), np.array(shares)

    def measured(estimate: OrderedEstimate, counts: np.ndarray) -> np.ndarray:
        return error(estimate.quantile(asked), asked, counts)

    for point, collected in _collections(n, points, measured, callback, cancel):
        deviations = collected.std(axis=0, ddof=1) / math.sqrt(TRIALS)
        for share, here, deviation in zip(shares, collected.mean(axis=0), deviations, strict=True):
            rows.append((point.series, share, float(here), float(deviation), math.nan))
    return frame_of(rows)


def value_errors(values_answered: np.ndarray, shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(k,) distances in types of the quantiles ``found`` (k,) from the true ones."""
    return np.abs(values_answered - np.searchsorted(np.cumsum(counts), shares * counts.sum()))


def share_errors(values_answered: np.ndarray, shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(k,) differences of the ``shares`` (k,) asked for and those of the users at or below the types ``found`` (k,)."""
    return np.abs(np.cumsum(counts)[values_answered] / counts.sum() - shares)


def _collections(
    n: int,
    points: Sequence[MeasuredCollection],
    measured: Callable[[OrderedEstimate, np.ndarray], np.ndarray],
    callback: Callback | None,
    cancel: Cancel | None,
) -> Iterator[tuple[MeasuredCollection, np.ndarray]]:
    """Each point with (trials, k) of what is measured of its collections, until somebody cancels."""
    budget, counts = Budget(None, TRIALS * len(points), cancel, callback), dict[float, np.ndarray]()
    for point in points:
        if budget.stopped() == "cancelled":
            return
        if point.centre not in counts:
            counts = {point.centre: expected_counts("cauchy", n, USERS, centre=point.centre, spread=False)}
        x, collected = counts[point.centre], []
        collection = mechanism(point.series, n, point.epsilon)
        for trial in range(TRIALS):
            if budget.stopped() == "cancelled":
                return
            collected.append(measured(collection.estimate(collection.simulate(x, point.rng(n, trial))), x))
            budget.tell()
        yield point, np.array(collected)
