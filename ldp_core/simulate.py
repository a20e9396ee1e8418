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

SHOWN_QUERIES = 400
"""Most queries whose single answers are kept and drawn; more are thinned evenly. Total errors are always of all."""


@dataclass(frozen=True)
class Trials:
    """Answers of repeated simulations of users ``counts`` (n,).

    ``answers[name]`` is (trials, q): the answers in users, in each trial by that estimator, to the q queries whose indices are
    ``queries``. ``frame`` is tidy, one row a trial and estimator, with ``total_squared_error`` in squared users summed over
    *all* queries, and ``root_mean_squared_error`` of a typical query as a share of all users.
    """

    counts: np.ndarray
    queries: np.ndarray
    answers: dict[str, np.ndarray]
    frame: pd.DataFrame


def shown_queries(workload: Workload) -> np.ndarray:
    """At most `SHOWN_QUERIES` query indices, evenly spread."""
    kept = min(workload.num_queries, SHOWN_QUERIES)
    return np.unique(np.linspace(0, workload.num_queries - 1, kept).astype(np.int64))


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
    queries = shown_queries(workload)
    kept: dict[str, list[np.ndarray]] = {name: [] for name in estimators}
    rows = []
    for trial, stream in enumerate(np.random.SeedSequence(seed).spawn(trials)):
        if trial and cancelled and cancelled():
            break
        unbiased = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(stream)))
        for name in estimators:
            estimate = estimation.improve(name, unbiased, workload, users)
            error = estimate.squared_error(workload, counts)
            rows.append((mechanism.name, name, trial, users, error, np.sqrt(error / workload.num_queries) / users))
            kept[name].append(estimate.answers(workload, queries))
        if callback:
            callback(trial + 1, trials)
    columns = ["mechanism", "estimator", "trial", "users", "total_squared_error", "root_mean_squared_error"]
    answers = {name: np.array(values) for name, values in kept.items()}
    return Trials(counts, queries, answers, pd.DataFrame(rows, columns=columns))


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
