"""Trials of a mechanism on data: what would the collector have seen?

Every trial has its own random stream derived from the seed and its number, so the first ten trials of a hundred are the
ten of a run of ten, and results do not depend on how far a cancelled run got.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import estimators as estimation
from ldp_core.mechanisms.base import Mechanism, check_counts
from ldp_core.workloads import Workload


@dataclass(frozen=True)
class Trials:
    """Estimated counts of repeated simulations.

    ``estimates[name]`` is (trials, n): users per type estimated in each trial by that estimator. ``frame`` is tidy, one
    row a trial and estimator, with ``total_squared_error`` in squared users summed over the queries, and
    ``root_mean_squared_error`` of a typical query as a share of all users.
    """

    counts: np.ndarray
    estimates: dict[str, np.ndarray]
    frame: pd.DataFrame


def collect(
    mechanism: Mechanism,
    workload: Workload,
    counts: np.ndarray,
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
    callback: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Trials:
    """Simulate ``trials`` collections from users ``counts`` (n,). ``callback(done, trials)`` follows; a cancelled run keeps
    what it has (at least one trial). ValueError for bad counts, numbers or names, or a workload that cannot be answered."""
    counts = check_counts(counts, workload.n)
    users = int(counts.sum())
    if users == 0:
        raise ValueError("There are no users to simulate.")
    if isinstance(trials, bool) or not isinstance(trials, (int, np.integer)) or trials < 1:
        raise ValueError(f"The number of trials must be a whole number of at least 1; got {trials!r}.")
    if reason := mechanism.supports(workload):
        raise ValueError(reason)
    kept: dict[str, list[np.ndarray]] = {name: [] for name in estimators}
    rows = []
    for trial, stream in enumerate(np.random.SeedSequence(seed).spawn(trials)):
        if trial and cancelled and cancelled():
            break
        unbiased = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(stream)))
        for name in estimators:
            estimate = estimation.improve(name, unbiased, workload)
            error = estimate.squared_error(workload, counts)
            rows.append((mechanism.name, name, trial, users, error, np.sqrt(error / workload.num_queries) / users))
            kept[name].append(estimate.counts())
        if callback:
            callback(trial + 1, trials)
    columns = ["mechanism", "estimator", "trial", "users", "total_squared_error", "root_mean_squared_error"]
    return Trials(counts, {k: np.array(v) for k, v in kept.items()}, pd.DataFrame(rows, columns=columns))


def run(
    mechanism: Mechanism,
    workload: Workload,
    counts: np.ndarray,
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
) -> pd.DataFrame:
    """The tidy frame of `collect`: a row per trial and estimator."""
    return collect(mechanism, workload, counts, trials, seed, estimators).frame
