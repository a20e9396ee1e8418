"""Trials of a mechanism on data: what would the collector have seen?

Every trial has its own random stream derived from the seed and its number. The first ten trials of
a hundred are therefore the trials of a run of ten, and results do not depend on how far a cancelled
run got.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import estimators as estimation
from ldp_core.arguments import check_whole
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports, check_counts
from ldp_core.people import Counts, People, dense, drawn_anew, people_of, users_of
from ldp_core.run import Budget, Callback, Cancel, check_seed
from ldp_core.workloads import Workload
from ldp_core.workloads.shown import shown_queries

_BLOCK = 32  # trials whose answers are computed together
_BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class View:
    """A further statistic of every trial: ``reduce`` turns the answers (trials, q) to the given
    ``queries`` of ``workload`` (None: all of them), in users and without their weights, into
    (trials, k). Each row may depend on the same row only."""

    workload: Workload
    queries: np.ndarray | None
    reduce: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Trials:
    """Answers of repeated simulations of users ``counts`` (n,).

    ``answers[name]`` (trials, q) are the answers by that estimator in each trial, in users and without their weights, to the q
    queries whose indices are ``queries``. ``frame`` is tidy, one row per trial and estimator, with
    ``total_squared_error`` in squared users summed over *all* queries with their weights, and
    ``root_mean_squared_error`` of a typical query as a share of all users: the mean has the weights too; ``estimated_users`` is how many
    people the answers add up to (see `ldp_core.estimators.estimated_total`).
    ``views[view][name]`` (trials, k) is what that `View` makes of the answers by that estimator. With ``new_people``, every
    trial had people of its own, drawn from the distribution of ``counts``.
    """

    counts: Counts
    queries: np.ndarray
    answers: dict[str, np.ndarray]
    frame: pd.DataFrame
    views: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    new_people: bool = False

    def __repr__(self) -> str:
        trials, users = self.frame["trial"].nunique(), users_of(self.counts)
        by = f"{users:,} users by {self.frame['mechanism'].iloc[0]}"
        return f"<Trials: {trials:,} trials of {by}, {len(self.queries):,} queries, {len(self.answers)} estimators>"


def collect(
    mechanism: Mechanism,
    workload: Workload,
    counts: Counts,
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    views: Mapping[str, View] | None = None,
    new_people: bool = False,
    prior: float | np.ndarray | None = None,
) -> Trials:
    """Simulate ``trials`` collections from users ``counts`` (n,), for a survey also records (N, d) or `People`.

    With ``new_people``, as many people are drawn for each trial from the distribution that ``counts`` are of, and errors are
    those of the distribution: the chance of who takes part is in them. Otherwise the same people report every time.
    ``prior`` is that of the posterior mean (see `ldp_core.priors.dirichlet`; None: Jeffreys').

    ``callback`` (after each trial) and ``cancel`` are as in `ldp_core.run`; a cancelled run keeps what it has (at least one
    trial). ``views`` are kept besides the answers. ValueError for bad counts, numbers or names, a workload that cannot be
    answered, or an estimator that does not suit (see `EstimatorSpec.unsuitable`).
    """
    if workload.survey is not None and (isinstance(counts, People) or np.ndim(counts) == 2):
        counts = people_of(counts, workload.survey.shape)  # people of a survey as such, however they are given
    else:
        counts = check_counts(counts, workload.n)
    users = users_of(counts)
    if users == 0:
        raise ValueError("There are no users to simulate.")
    check_whole("number of trials", trials, 1)
    mechanism.check_supports(workload)
    estimators = tuple(dict.fromkeys(estimators))
    if not estimators:
        raise ValueError(f"Choose at least one estimator: {', '.join(estimation.names())}.")
    for entry in map(estimation.spec, estimators):
        if reason := entry.unsuitable(mechanism, workload):
            raise ValueError(f"{entry.title}: {reason}")
    given: dict[str, Any] = {} if prior is None else {"prior": prior}
    options = {name: {k: v for k, v in given.items() if k in estimation.spec(name).options} for name in estimators}
    queries = shown_queries(workload)
    views = dict(views or {})
    wanted = [View(workload, queries, lambda answers: answers), *views.values()]
    kept = {name: _Kept(workload, counts, wanted) for name in estimators}
    budget = Budget(None, int(trials), cancel, callback, least_rounds=1)
    for stream in np.random.SeedSequence(check_seed(seed)).spawn(trials):
        if budget.stopped() is not None:
            break
        reports = one_collection(mechanism, counts, stream, new_people)[1]
        unbiased = mechanism.estimate(reports)
        for name in estimators:
            kept[name].add(estimation.apply(name, reports, mechanism, workload, unbiased, **options[name]))
        budget.tell()
    finished = {name: one.finish() for name, one in kept.items()}
    answers, *seen = ({name: arrays[i] for name, arrays in finished.items()} for i in range(len(wanted)))
    frame = _frame(mechanism.name, users, workload.squared_weights, kept)
    return Trials(counts, queries, answers, frame, dict(zip(views, seen, strict=True)), new_people)


def one_collection(
    mechanism: Mechanism, counts: Counts, stream: np.random.SeedSequence, new_people: bool
) -> tuple[Counts, Reports]:
    """The people of a trial and their reports, from its random ``stream``."""
    rng = np.random.default_rng(stream)
    taking_part = drawn_anew(counts, rng) if new_people else counts
    return taking_part, mechanism.simulate(taking_part, rng)


class _Kept:
    """The views of one estimator, and its errors, trial after trial.

    Answers that come from counts are computed for a block of trials at once. The last block is filled up with zeros: the
    size of a block can change the last bit of a product, and no trial may depend on how many others there are.
    """

    def __init__(self, workload: Workload, counts: Counts, views: Sequence[View]):
        self.workload, self.counts, self.views = workload, counts, views
        self.waiting = np.zeros((0, 0))
        self.filled = 0
        self.weights = [view.workload.query_weights(view.queries) for view in views]
        self.parts: list[list[np.ndarray]] = [[] for _ in views]
        self.errors: list[float] = []
        self.totals: list[float] = []

    def add(self, estimate: Estimate) -> None:
        self.totals.append(estimation.estimated_total(estimate, self.workload))
        if type(estimate).answers is not Estimate.answers:
            self._keep(lambda view: estimate.answers(view.workload, view.queries)[None])
            self.errors.append(estimate.squared_error(self.workload, self.counts))
            return
        if not len(self.waiting):
            n = self.workload.n
            self.waiting = np.zeros((min(_BLOCK, max(1, _BLOCK_ENTRIES // n)), n))
        self.waiting[self.filled] = estimate.estimated_counts
        self.filled += 1
        if self.filled == len(self.waiting):
            self._flush()

    def _keep(self, answers: Callable[[View], np.ndarray], rows: int = 1) -> None:
        for view, weights, parts in zip(self.views, self.weights, self.parts, strict=True):
            parts.append(view.reduce(answers(view) / weights)[:rows])

    def _flush(self) -> None:
        self.waiting[self.filled :] = 0.0
        self._keep(lambda view: view.workload.answers(self.waiting, view.queries), self.filled)
        self.errors.extend(self.workload.quadratic(self.waiting - dense(self.counts))[: self.filled])
        self.filled = 0

    def finish(self) -> list[np.ndarray]:
        """(trials, k) of each view."""
        if self.filled:
            self._flush()
        return [np.concatenate(parts) for parts in self.parts]


def _frame(mechanism: str, users: int, squared_weights: float, kept: Mapping[str, _Kept]) -> pd.DataFrame:
    """The tidy frame: trials in order, and within each the estimators."""
    total = np.array([one.errors for one in kept.values()]).T.ravel()
    trials = len(total) // len(kept)
    return pd.DataFrame(
        {
            "mechanism": mechanism,
            "estimator": list(kept) * trials,
            "trial": np.repeat(np.arange(trials), len(kept)),
            "users": users,
            "total_squared_error": total,
            "root_mean_squared_error": np.sqrt(total / squared_weights) / users,
            "estimated_users": np.array([one.totals for one in kept.values()]).T.ravel(),
        }
    )


def run(
    mechanism: Mechanism,
    workload: Workload,
    counts: Counts,
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
    new_people: bool = False,
) -> pd.DataFrame:
    """The tidy frame of `collect`: a row per trial and estimator. With ``new_people``, each trial has people of its own.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=1.0)
    >>> workload, counts = ldp.workloads.prefix(4), np.array([0, 10, 90, 900])
    >>> frame = ldp.simulate.run(mechanism, workload, counts, trials=2, estimators=["unbiased", "wnnls"])
    >>> frame[["estimator", "trial", "users"]]
      estimator  trial  users
    0  unbiased      0   1000
    1     wnnls      0   1000
    2  unbiased      1   1000
    3     wnnls      1   1000
    """
    return collect(mechanism, workload, counts, trials, seed, estimators, new_people=new_people).frame
